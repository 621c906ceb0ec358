//! What statx(2) tells of a file beyond stat.

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags};
use std::fs::File;
use std::io;

/// What the kernel says about direct I/O on a file (`STATX_DIOALIGN`, Linux 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectAlignment {
    /// The kernel is too old or the file system does not answer the question.
    NotTold,
    /// The file system says that this file has no direct I/O.
    Unsupported,
    /// Direct I/O is supported with these alignments.
    Supported {
        /// Alignment of buffers in memory, bytes.
        memory_bytes: u32,
        /// Alignment of offsets and lengths, bytes.
        offset_bytes: u32,
    },
}

/// Facts of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Direct I/O.
    pub direct: DirectAlignment,
    /// Size in bytes; 0 for block devices.
    pub size_bytes: u64,
    /// Preferred I/O size, bytes.
    pub block_size_bytes: u32,
    /// Id of the mount, as in /proc/self/mountinfo; `None` before Linux 5.8.
    pub mount_id: Option<u64>,
    /// Device of the file system, major and minor.
    pub device: (u32, u32),
    /// The file system compresses this file; `None` if it does not say.
    pub compressed: Option<bool>,
    /// The file system encrypts this file.
    pub encrypted: Option<bool>,
    /// fs-verity protects this file.
    pub verity: Option<bool>,
    /// The file lies in directly mapped persistent memory.
    pub dax: Option<bool>,
    /// Immutable or append-only (`chattr +i`, `chattr +a`): not even root may write into it.
    pub protected: Option<bool>,
}

/// Reads the facts of an open file.
///
/// # Errors
/// ENOSYS before Linux 4.11.
pub fn file_facts(file: &File) -> io::Result<FileFacts> {
    let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID | StatxFlags::DIOALIGN;
    let s = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, mask)?;
    let reports = |flag: StatxFlags| s.stx_mask & flag.bits() != 0;
    let attribute = |a: StatxAttributes| s.stx_attributes_mask.contains(a).then(|| s.stx_attributes.contains(a));
    let direct = match (reports(StatxFlags::DIOALIGN), s.stx_dio_mem_align, s.stx_dio_offset_align) {
        (false, ..) => DirectAlignment::NotTold,
        (true, 0, _) | (true, _, 0) => DirectAlignment::Unsupported,
        (true, memory_bytes, offset_bytes) => DirectAlignment::Supported { memory_bytes, offset_bytes },
    };
    Ok(FileFacts {
        direct,
        size_bytes: s.stx_size,
        block_size_bytes: s.stx_blksize,
        mount_id: reports(StatxFlags::MNT_ID).then_some(s.stx_mnt_id),
        device: (s.stx_dev_major, s.stx_dev_minor),
        compressed: attribute(StatxAttributes::COMPRESSED),
        encrypted: attribute(StatxAttributes::ENCRYPTED),
        verity: attribute(StatxAttributes::VERITY),
        dax: attribute(StatxAttributes::DAX),
        protected: attribute(StatxAttributes::IMMUTABLE)
            .zip(attribute(StatxAttributes::APPEND))
            .map(|(immutable, append)| immutable || append),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_alignment_are_plausible() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(12345).unwrap();
        let facts = file_facts(&file).unwrap();
        assert_eq!(facts.size_bytes, 12345);
        if let DirectAlignment::Supported { memory_bytes, offset_bytes } = facts.direct {
            assert!(memory_bytes.is_power_of_two() && offset_bytes.is_power_of_two());
        }
    }
}
