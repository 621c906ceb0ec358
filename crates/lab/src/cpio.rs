//! A writer of cpio archives in the `newc` format, which the kernel unpacks as its first root file system
//! (Documentation/driver-api/early-userspace/buffer-format.rst). Not compressed: an emulated processor takes longer to
//! unpack than the emulator to load.

use std::collections::BTreeSet;

/// Type bits of a mode (inode(7)).
const DIRECTORY: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_000;

/// An archive that grows in memory.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    directories: BTreeSet<String>,
}

impl Archive {
    /// A file with its permissions; the directories above it are made.
    pub fn file(&mut self, path: &str, permissions: u32, content: &[u8]) {
        self.parents(path);
        self.entry(path, FILE | permissions, (0, 0), content);
    }

    /// A character device; `number` is (major, minor).
    pub fn character_device(&mut self, path: &str, number: (u32, u32)) {
        self.parents(path);
        self.entry(path, CHARACTER_DEVICE | 0o600, number, &[]);
    }

    fn parents(&mut self, path: &str) {
        for (end, _) in path.match_indices('/') {
            let above = &path[..end];
            if !above.is_empty() && self.directories.insert(above.to_owned()) {
                self.entry(above, DIRECTORY | 0o755, (0, 0), &[]);
            }
        }
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        let links = if mode & 0o170_000 == DIRECTORY { 2 } else { 1 };
        // A file of 4 GiB would not fit the memory of any of the machines.
        let size = u32::try_from(content.len()).expect("a file of an initrd has less than 4 GiB");
        let name_size = u32::try_from(path.len() + 1).expect("a path is short");
        let fields = [self.entries, mode, 0, 0, links, 0, size, 0, 0, device.0, device.1, name_size, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// The archive with its trailer. Another may follow it: the kernel unpacks all of them, later files replace.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes.resize(self.bytes.len().next_multiple_of(512), 0);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (path, mode, content) of each entry, read as the format says.
    fn entries(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let total = bytes.len();
        let mut out = Vec::new();
        loop {
            assert_eq!(&bytes[..6], b"070701");
            let field = |i: usize| {
                let text = std::str::from_utf8(&bytes[6 + 8 * i..14 + 8 * i]).expect("ASCII");
                u32::from_str_radix(text, 16).expect("a number") as usize
            };
            let (mode, size, name_size) = (field(1), field(6), field(11));
            let name = String::from_utf8(bytes[110..110 + name_size - 1].to_vec()).expect("a name");
            let at = total - bytes.len();
            let data = (at + 110 + name_size).next_multiple_of(4) - at;
            if name == "TRAILER!!!" {
                return out;
            }
            out.push((name, mode as u32, bytes[data..data + size].to_vec()));
            let next = (at + data + size).next_multiple_of(4) - at;
            bytes = &bytes[next..];
        }
    }

    #[test]
    fn directories_come_before_what_is_in_them_and_once() {
        let mut archive = Archive::default();
        archive.file("lab/a/one", 0o755, b"12345");
        archive.file("lab/a/two", 0o644, b"");
        archive.file("bin/sh", 0o755, b"#!");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 512, 0);
        let found = entries(&bytes);
        let names: Vec<&str> = found.iter().map(|(n, ..)| n.as_str()).collect();
        assert_eq!(names, ["lab", "lab/a", "lab/a/one", "lab/a/two", "bin", "bin/sh"]);
        assert_eq!(found[0].1, 0o040_755);
        assert_eq!((found[2].1, found[2].2.as_slice()), (0o100_755, &b"12345"[..]));
    }

    #[test]
    fn a_device_node_carries_its_number() {
        let mut archive = Archive::default();
        archive.character_device("dev/console", (5, 1));
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        let node = text.rfind("dev/console").expect("the node") - 110;
        assert_eq!(&text[node + 6 + 8 * 9..node + 6 + 8 * 11], "0000000500000001");
    }
}
