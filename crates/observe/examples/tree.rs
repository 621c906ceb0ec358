//! Prints a captured tree as the text of a `.tree` file (see `tests/trees/README.md`):
//! `cargo run -p narrows-observe --example tree -- DIRECTORY`. For `/` this machine is captured first, with hashed serial
//! numbers. Binary files are printed in numbers.

use observe::{CaptureOptions, CapturedContent, Look, Root, capture};
use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(top) = std::env::args().nth(1) else {
        eprintln!("usage: tree DIRECTORY");
        std::process::exit(2);
    };
    println!("# captured from ...");
    if top != "/" {
        return print(Path::new(&top), Path::new(&top), &mut String::new());
    }
    let directory = tempfile::tempdir()?;
    let live = Root::new("/");
    let salt =
        std::time::SystemTime::now().elapsed().map_or(0, |d| d.as_nanos() as u64) ^ u64::from(std::process::id());
    let options = CaptureOptions { keep_serials: false, salt, look: Look { kernel_log: true, ..Look::default() } };
    let place: Vec<_> = observe::root_place(&live).into_iter().collect();
    for entry in capture(&live, &place, &options) {
        let path = directory.path().join(entry.path);
        match entry.content {
            CapturedContent::Directory => fs::create_dir(path)?,
            CapturedContent::File(bytes) => fs::write(path, bytes)?,
            CapturedContent::Link(target) => std::os::unix::fs::symlink(target, path)?,
        }
    }
    print(directory.path(), directory.path(), &mut String::new())
}

fn print(top: &Path, directory: &Path, base: &mut String) -> std::io::Result<()> {
    let inside = |path: &Path| format!("/{}", path.strip_prefix(top).unwrap_or(path).display());
    let mut entries: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    if entries.is_empty() {
        println!("{} /", inside(directory));
    }
    let mut directories = Vec::new();
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            directories.push(path);
            continue;
        }
        let here = inside(directory);
        if *base != here {
            println!("@ {here}");
            *base = here.clone();
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_symlink() {
            let target = fs::read_link(&path)?.to_string_lossy().into_owned();
            println!("{name} => {}", absolute(&here, &target));
        } else {
            match String::from_utf8(fs::read(&path)?) {
                Ok(text) if text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\0')) => {
                    let text = text.strip_suffix('\n').unwrap_or(&text);
                    println!(
                        "{name} = {}",
                        text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t").replace('\0', "\\x00")
                    );
                }
                _ => {
                    let bytes: String = fs::read(&path)?.iter().map(|b| format!("\\x{b:02x}")).collect();
                    println!("{name} = {bytes}");
                }
            }
        }
    }
    for directory in directories {
        print(top, &directory, base)?;
    }
    Ok(())
}

/// Where a link leads, from the top of the tree.
fn absolute(from: &str, target: &str) -> String {
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
