//! Entries of a capture as a tar archive: POSIX ustar with pax headers for what is longer (IEEE Std 1003.1-2017, pax).
//! Times, owners and modes say nothing, so that equal captures are equal archives.

use super::{CapturedContent, CapturedFile};
use std::io::{self, Write};

const BLOCK: usize = 512;
/// Longest name and link target of a plain header.
const NAME_BYTES: usize = 100;

/// Writes a whole archive. Everything lies below the directory `top` (`narrows-capture`), which may be empty.
///
/// # Errors
/// What the sink says.
pub fn write_tar(top: &str, entries: impl Iterator<Item = CapturedFile>, sink: &mut impl Write) -> io::Result<()> {
    let top = top.trim_matches('/');
    if !top.is_empty() {
        header(sink, &format!("{top}/"), Kind::Directory, 0, "")?;
    }
    for entry in entries {
        let path = if top.is_empty() { entry.path } else { format!("{top}/{}", entry.path) };
        match &entry.content {
            CapturedContent::Directory => write_entry(sink, &format!("{path}/"), Kind::Directory, "", &[])?,
            CapturedContent::File(bytes) => write_entry(sink, &path, Kind::File, "", bytes)?,
            CapturedContent::Link(target) => write_entry(sink, &path, Kind::Link, target, &[])?,
        }
    }
    sink.write_all(&[0; 2 * BLOCK])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Link,
    Directory,
    Extended,
}

fn write_entry(sink: &mut impl Write, path: &str, kind: Kind, target: &str, bytes: &[u8]) -> io::Result<()> {
    let mut records = String::new();
    for (key, value) in [("path", path), ("linkpath", target)] {
        if value.len() > NAME_BYTES {
            records.push_str(&record(key, value));
        }
    }
    if !records.is_empty() {
        header(sink, "pax", Kind::Extended, records.len(), "")?;
        padded(sink, records.as_bytes())?;
    }
    header(sink, path, kind, bytes.len(), target)?;
    padded(sink, bytes)
}

/// `LENGTH key=value\n`, where the length counts itself.
fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

fn padded(sink: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    sink.write_all(bytes)?;
    sink.write_all(&[0; BLOCK][..bytes.len().next_multiple_of(BLOCK) - bytes.len()])
}

fn header(sink: &mut impl Write, path: &str, kind: Kind, size: usize, target: &str) -> io::Result<()> {
    let mut block = [0; BLOCK];
    put(&mut block, 0, NAME_BYTES, path.as_bytes());
    let mode: &[u8] = if kind == Kind::Directory { b"0000755" } else { b"0000644" };
    put(&mut block, 100, 7, mode);
    put(&mut block, 108, 7, b"0000000");
    put(&mut block, 116, 7, b"0000000");
    // A file is at most FILE_LIMIT_BYTES, or 16 MiB of mounts: eleven octal digits hold eight GiB.
    put(&mut block, 124, 11, format!("{size:011o}").as_bytes());
    put(&mut block, 136, 11, b"00000000000");
    block[156] = match kind {
        Kind::File => b'0',
        Kind::Link => b'2',
        Kind::Directory => b'5',
        Kind::Extended => b'x',
    };
    put(&mut block, 157, NAME_BYTES, target.as_bytes());
    put(&mut block, 257, 8, b"ustar\x0000");
    // The checksum is taken with its own field as spaces.
    block[148..156].fill(b' ');
    let sum: u32 = block.iter().map(|b| u32::from(*b)).sum();
    put(&mut block, 148, 8, format!("{sum:06o}\0 ").as_bytes());
    sink.write_all(&block)
}

fn put(block: &mut [u8; BLOCK], at: usize, most: usize, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(most)];
    block[at..at + bytes.len()].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_itself() {
        assert_eq!(record("path", "x"), "9 path=x\n");
        let long = record("path", &"x".repeat(91));
        assert_eq!(long.len(), 101, "{long}");
        assert!(long.starts_with("101 path="), "the length of the length grew");
    }

    #[test]
    fn what_tar_unpacks_is_what_was_captured() {
        let long = format!("sys/{}/file", "directory/".repeat(30));
        let target = "../".repeat(80) + "there";
        let file = |path: &str, bytes: &[u8]| CapturedFile {
            path: path.into(),
            content: CapturedContent::File(bytes.to_vec()),
        };
        let entries = vec![
            CapturedFile { path: "sys".into(), content: CapturedContent::Directory },
            file("sys/size", b"2048\n"),
            file(&long, &[7; 1_000]),
            CapturedFile { path: "sys/link".into(), content: CapturedContent::Link(target.clone()) },
        ];
        let mut archive = Vec::new();
        write_tar("machine", entries.into_iter(), &mut archive).unwrap();
        assert!(archive.len().is_multiple_of(BLOCK));
        let directory = tempfile::tempdir().unwrap();
        let tar = directory.path().join("x.tar");
        std::fs::write(&tar, archive).unwrap();
        let unpack = std::process::Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(directory.path()).status();
        let Ok(status) = unpack else {
            eprintln!("SKIPPED: no tar on this machine");
            return;
        };
        assert!(status.success());
        let at = |path: &str| directory.path().join("machine").join(path);
        assert_eq!(std::fs::read(at("sys/size")).unwrap(), b"2048\n");
        assert_eq!(std::fs::read(at(&long)).unwrap(), [7; 1_000]);
        assert_eq!(std::fs::read_link(at("sys/link")).unwrap().to_str(), Some(target.as_str()));
    }
}
