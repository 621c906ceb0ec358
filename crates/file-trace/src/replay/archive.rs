//! Archives of packages that are made for the purpose: deb(5) around ustar, not compressed.

use super::MadeData;
use model::{MadePackage, PackageEntry};
use std::io::{self, Write};

/// A block of tar.
const BLOCK: usize = 512;
/// Data are written in pieces of this.
const WRITTEN_BYTES: usize = 64 << 10;

/// An entry of tar: its kind is `0`, `2` or `5`.
fn entry(out: &mut impl Write, path: &str, kind: u8, bytes: u64, owner: [u32; 2]) -> io::Result<()> {
    let mut header = [0u8; BLOCK];
    let mut put = |at: usize, text: &str| header[at..at + text.len()].copy_from_slice(text.as_bytes());
    if path.len() > 100 {
        return Err(io::Error::from(io::ErrorKind::InvalidFilename));
    }
    put(0, path);
    put(100, if kind == b'0' { "0000644" } else { "0000755" });
    put(108, &format!("{:07o}", owner[0].min(0o7_777_777)));
    put(116, &format!("{:07o}", owner[1].min(0o7_777_777)));
    put(124, &format!("{bytes:011o}"));
    put(136, "14000000000");
    put(148, "        ");
    if kind == b'2' {
        put(157, "nowhere");
    }
    put(257, "ustar\x0000");
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    out.write_all(&header)
}

fn filled(out: &mut impl Write, length: u64) -> io::Result<()> {
    let lacks = (BLOCK - (length % BLOCK as u64) as usize) % BLOCK;
    out.write_all(&[0; BLOCK][..lacks])
}

/// The length of a tar with these lengths of files, and so many other entries.
fn tar_bytes(files: impl Iterator<Item = u64>, others: u64) -> u64 {
    let block = BLOCK as u64;
    files.map(|bytes| block + bytes.next_multiple_of(block)).sum::<u64>() + (others + 2) * block
}

/// A member of the archive: its header.
fn member(out: &mut impl Write, name: &str, bytes: u64) -> io::Result<()> {
    writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{bytes:<10}`", 0, 0, 0, 100_644)
}

/// What says of a package what it is: `control`, and four more of which one is read by dpkg.
fn control(package: &MadePackage) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["control", "md5sums", "triggers", "shlibs", "symbols"];
    let text = |name: &str, bytes: u64| {
        let mut text = match name {
            "control" => format!(
                "Package: {}\nVersion: 1\nArchitecture: all\nMaintainer: narrows <nobody@localhost>\nDescription: ",
                package.name
            ),
            "triggers" => "# ".to_owned(),
            _ => String::new(),
        };
        let lacks = (bytes as usize).saturating_sub(text.len() + 1).max(1);
        text.extend(std::iter::repeat_n('x', lacks));
        text.push('\n');
        text.into_bytes()
    };
    names.into_iter().zip(&package.control).map(|(name, bytes)| (name, text(name, *bytes))).collect()
}

/// Writes a package's archive, with data that do not compress; what it holds belongs to `owner`, a user and a group.
///
/// # Errors
/// Those of writing; a path of more than 100 bytes.
pub(super) fn write_package(
    out: &mut impl Write,
    package: &MadePackage,
    data: &mut MadeData<'_>,
    owner: [u32; 2],
) -> io::Result<()> {
    out.write_all(b"!<arch>\n")?;
    member(out, "debian-binary", 4)?;
    out.write_all(b"2.0\n")?;
    let control = control(package);
    member(out, "control.tar", tar_bytes(control.iter().map(|(_, text)| text.len() as u64), 0))?;
    for (name, text) in &control {
        entry(out, &format!("./{name}"), b'0', text.len() as u64, owner)?;
        out.write_all(text)?;
        filled(out, text.len() as u64)?;
    }
    out.write_all(&[0; 2 * BLOCK])?;
    let files = || {
        package.entries.iter().filter_map(|(_, what)| if let PackageEntry::File(n) = what { Some(*n) } else { None })
    };
    let others = package.entries.len() - files().count() + 1;
    member(out, "data.tar", tar_bytes(files(), others as u64))?;
    entry(out, "./", b'5', 0, owner)?;
    for (path, what) in &package.entries {
        match *what {
            PackageEntry::Directory => entry(out, &format!("./{path}/"), b'5', 0, owner)?,
            PackageEntry::Link => entry(out, &format!("./{path}"), b'2', 0, owner)?,
            PackageEntry::File(bytes) => {
                entry(out, &format!("./{path}"), b'0', bytes, owner)?;
                let mut done = 0;
                while done < bytes {
                    let length = ((bytes - done) as usize).min(WRITTEN_BYTES);
                    let piece = &mut data.piece[..length];
                    (data.stamp)(piece, done);
                    out.write_all(piece)?;
                    done += length as u64;
                }
                filled(out, bytes)?;
            }
        }
    }
    out.write_all(&[0; 2 * BLOCK])
}
