//! `tree`: a directory, such as an unpacked capture, as the text of a `.tree` file (crates/observe/tests/trees/README.md).

use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// Options of `cargo xtask tree`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The top of the tree: `narrows-capture` of an unpacked `narrows inspect --capture FILE.tar`
    directory: PathBuf,
}

/// Prints it.
///
/// # Errors
/// As [`of()`].
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    print!("# captured from ...\n{}", of(&arguments.directory)?);
    Ok(())
}

/// The text of all that is below a directory.
///
/// # Errors
/// A file, link or directory cannot be read.
pub fn of(top: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    describe(top, top, &mut String::new(), &mut text)?;
    Ok(text)
}

/// A file's content as the value of a line.
fn value(content: &[u8]) -> String {
    let escape = |byte: u8| match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\\' => "\\\\".to_owned(),
        0x20..=0x7e => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    let escaped = |bytes: &[u8]| bytes.iter().map(|b| escape(*b)).collect::<String>();
    // A line end follows by itself, unless the last byte is a number. Blanks at the end of a line would be lost.
    let plain = |body: &[u8]| body.last().is_none_or(|b| matches!(b, 0x21..=0x7e | b'\n' | b'\t'));
    let text = match content.split_last() {
        None => String::new(),
        Some((b'\n', body)) if plain(body) => escaped(body),
        Some((last, body)) => format!("{}\\x{last:02x}", escaped(body)),
    };
    // Else the line would be that of a link.
    text.replace(" => ", " =\\x3e ")
}

/// Where a link leads, from the top of the tree.
fn target_of(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    for part in target.split('/') {
        match part {
            ".." => {
                parts.pop();
            }
            "" | "." => {}
            part => parts.push(part),
        }
    }
    parts.retain(|p| !p.is_empty());
    format!("/{}", parts.join("/"))
}

/// Appends the text of a directory, its own entries first.
fn describe(top: &Path, directory: &Path, base: &mut String, out: &mut String) -> anyhow::Result<()> {
    let here = format!("/{}", directory.strip_prefix(top).unwrap_or(directory).display());
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    if entries.is_empty() {
        out.push_str(&format!("{here} /\n"));
    }
    let mut directories = Vec::new();
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            directories.push(path);
            continue;
        }
        if *base != here {
            out.push_str(&format!("@ {here}\n"));
            *base = here.clone();
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_symlink() {
            let target = fs::read_link(&path).with_context(|| format!("cannot read {}", path.display()))?;
            out.push_str(&format!("{name} => {}\n", target_of(&here, &target.to_string_lossy())));
        } else {
            let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            out.push_str(format!("{name} = {}", value(&content)).trim_end());
            out.push('\n');
        }
    }
    directories.iter().try_for_each(|directory| describe(top, directory, base, out))
}

#[cfg(test)]
#[allow(dead_code, reason = "the test uses its part of the builder")]
#[path = "../../observe/tests/observe/tree/mod.rs"]
mod tree;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_builds_the_same_tree() {
        let source = tempfile::tempdir().expect("a directory");
        let contents: [&[u8]; 12] = [
            b"2048\n",
            b"no line end",
            b"two\nlines\n",
            b"\n",
            b"blank at the end \n",
            b"tab\t\n",
            b"back\\slash\n",
            b"\x00\xff",
            b"zero at the end\0\n",
            b"a => b\n",
            b"a = b\n",
            b"blank \n\n",
        ];
        fs::create_dir_all(source.path().join("sys/devices/x/empty")).expect("directories");
        for (i, content) in contents.iter().enumerate() {
            fs::write(source.path().join(format!("sys/devices/x/file{i}")), content).expect("a file");
        }
        std::os::unix::fs::symlink("../../bus/y", source.path().join("sys/devices/x/driver")).expect("a link");
        let text = of(source.path()).expect("a text");
        let built = tree::Tree::build(&text);
        for (i, content) in contents.iter().enumerate() {
            let read = fs::read(built.host(&format!("/sys/devices/x/file{i}"))).expect("a file");
            assert_eq!(read, *content, "{text}");
        }
        assert!(built.host("/sys/devices/x/empty").is_dir());
        let link = fs::read_link(built.host("/sys/devices/x/driver")).expect("a link");
        assert!(link.ends_with("sys/bus/y"), "{}", link.display());
    }

    #[test]
    fn links_are_followed_in_words() {
        assert_eq!(target_of("/sys/devices/x", "../../bus/y"), "/sys/bus/y");
        assert_eq!(target_of("/sys/block", "../devices/../devices/z"), "/sys/devices/z");
        assert_eq!(target_of("/etc", "/usr/lib/os-release"), "/usr/lib/os-release");
    }
}
