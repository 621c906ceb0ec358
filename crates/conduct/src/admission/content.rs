//! What is known of a device's content before it is lost: the signatures of file systems, containers, arrays and partition
//! tables; where there is none, whether the device is empty.

use super::signatures::{End, SIGNATURES, Signature};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Places that are looked at beside the start and the end.
const SAMPLES: u64 = 64;
/// Bytes of each.
const SAMPLE_BYTES: usize = 4096;
/// More of the start, where most devices that are not empty have something.
const START_BYTES: usize = 64 << 10;

/// What is on an open device of `size` bytes, for the person who allowed it to be lost. Never empty.
pub(super) fn found_on(file: &File, size: u64) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let device = Device { file, size };
    for signature in SIGNATURES {
        if device.has(signature) && !found.iter().any(|f| f == signature.what) {
            found.push(signature.what.to_owned());
        }
    }
    if device.has_zfs_label() {
        found.push("a member of a ZFS pool".to_owned());
    }
    if found.is_empty() && device.has_partition_entries() {
        found.push("a partition table (MBR)".to_owned());
    }
    if found.is_empty() {
        found.push(match device.sampled() {
            Ok(Sampled::All(0)) => "reads as zeros where sampled".to_owned(),
            Ok(Sampled::All(byte)) => format!("reads as 0x{byte:02x} where sampled"),
            Ok(Sampled::Mixed) => "unknown content".to_owned(),
            Err(e) => format!("unknown content: it could not be read ({e})"),
        });
    }
    found
}

/// What samples of a device hold.
#[derive(Debug, PartialEq, Eq)]
enum Sampled {
    /// Nothing but this byte.
    All(u8),
    /// More than one.
    Mixed,
}

struct Device<'a> {
    file: &'a File,
    size: u64,
}

impl Device<'_> {
    /// Whether these bytes are there. What cannot be read has no signature; the samples tell of the error.
    fn at(&self, offset: u64, magic: &[u8]) -> bool {
        let mut bytes = [0; 32];
        let Some(bytes) = bytes.get_mut(..magic.len()) else { return false };
        self.file.read_exact_at(bytes, offset).is_ok() && bytes == magic
    }

    fn has(&self, signature: &Signature) -> bool {
        let from = match signature.end {
            End::Start => Some(0),
            End::Last { unit, back } => (self.size / unit * unit).checked_sub(back),
        };
        from.is_some_and(|from| self.at(from + signature.offset, signature.magic))
    }

    /// A ZFS label is 256 KiB; two lie at the start and two at the end of the device, cut to whole labels. Its second half
    /// is a ring of uberblocks of at least 1 KiB, each with the magic 0x00bab10c in the order of bytes of its writer
    /// (OpenZFS, ZFS On-Disk Specification 1.2 and 1.3).
    fn has_zfs_label(&self) -> bool {
        const LABEL: u64 = 256 << 10;
        const RING: u64 = 128 << 10;
        let end = self.size / LABEL * LABEL;
        let places = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
        let mut ring = vec![0; RING as usize];
        places.into_iter().flatten().any(|label| {
            let read = self.file.read_exact_at(&mut ring, label + RING).is_ok();
            let is_uberblock = |block: &[u8]| {
                let magic = block.first_chunk::<8>().copied().unwrap_or_default();
                [u64::from_le_bytes(magic), u64::from_be_bytes(magic)].contains(&0x00ba_b10c)
            };
            read && ring.chunks(1024).any(is_uberblock)
        })
    }

    /// Whether the first sector ends as a boot sector does and has a partition with a type and a length.
    fn has_partition_entries(&self) -> bool {
        let mut sector = [0; 512];
        if self.file.read_exact_at(&mut sector, 0).is_err() || sector[510..] != [0x55, 0xaa] {
            return false;
        }
        sector[446..510].chunks(16).any(|entry| entry[4] != 0 && entry[12..16] != [0; 4])
    }

    /// The start, the end and places spread between.
    fn sampled(&self) -> io::Result<Sampled> {
        let mut first = None;
        let last = self.size.saturating_sub(SAMPLE_BYTES as u64);
        let spread = (0..=SAMPLES).map(|i| (last / SAMPLES * i).min(last) / SAMPLE_BYTES as u64 * SAMPLE_BYTES as u64);
        let mut bytes = vec![0; START_BYTES];
        for (offset, len) in spread.map(|offset| (offset, SAMPLE_BYTES)).chain([(last, SAMPLE_BYTES), (0, START_BYTES)])
        {
            let len = len.min(usize::try_from(self.size - offset).unwrap_or(len));
            self.file.read_exact_at(&mut bytes[..len], offset)?;
            for byte in &bytes[..len] {
                if *byte != *first.get_or_insert(*byte) {
                    return Ok(Sampled::Mixed);
                }
            }
        }
        Ok(Sampled::All(first.unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 8 << 20;

    fn device(content: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(SIZE).unwrap();
        for (offset, bytes) in content {
            file.write_all_at(bytes, *offset).unwrap();
        }
        file
    }

    fn on(content: &[(u64, &[u8])]) -> Vec<String> {
        found_on(&device(content), SIZE)
    }

    #[test]
    fn every_signature_is_found_where_it_lies() {
        for signature in SIGNATURES {
            let from = match signature.end {
                End::Start => 0,
                End::Last { unit, back } => SIZE / unit * unit - back,
            };
            let found = on(&[(from + signature.offset, signature.magic)]);
            assert!(found.iter().any(|f| f == signature.what), "{}: {found:?}", signature.what);
        }
    }

    #[test]
    fn an_empty_device_is_told_from_one_with_something_on_it() {
        assert_eq!(on(&[]), ["reads as zeros where sampled"]);
        assert_eq!(on(&[(3 << 20, &[0xff; 1 << 20])]), ["unknown content"]);
        assert_eq!(on(&[(SIZE - 1, b"x")]), ["unknown content"], "the last byte");
        assert_eq!(on(&[(0, &vec![0xff; SIZE as usize])]), ["reads as 0xff where sampled"]);
        assert_eq!(on(&[(100, b"some text")]), ["unknown content"]);
    }

    #[test]
    fn a_boot_sector_without_partitions_is_no_table() {
        let mut sector = [0; 512];
        sector[510..].copy_from_slice(&[0x55, 0xaa]);
        assert_eq!(on(&[(0, &sector)]), ["unknown content"]);
        sector[446 + 4] = 0x83;
        sector[446 + 12] = 1;
        assert_eq!(on(&[(0, &sector)]), ["a partition table (MBR)"]);
    }

    #[test]
    fn zfs_is_found_by_any_of_its_labels() {
        let magic = 0x00ba_b10c_u64.to_le_bytes();
        for label in [0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)] {
            assert_eq!(on(&[(label + (128 << 10) + 5 * 1024, &magic)]), ["a member of a ZFS pool"]);
        }
        let strange = 0x00ba_b10c_u64.to_be_bytes();
        assert_eq!(on(&[((128 << 10) + 1024, &strange)]), ["a member of a ZFS pool"]);
    }

    #[test]
    fn a_tiny_device_is_no_error() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(b"tiny", 0).unwrap();
        assert_eq!(found_on(&file, 4), ["unknown content"]);
    }
}
