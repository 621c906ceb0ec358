//! Flags of an inode that decide how its data travel.

use rustix::fs::{IFlags, ioctl_getflags};
use std::fs::File;
use std::io;

/// FS_ENCRYPT_FL, FS_VERITY_FL, FS_INLINE_DATA_FL (k:include/uapi/linux/fs.h).
const ENCRYPT: u32 = 0x800;
const VERITY: u32 = 0x0010_0000;
const INLINE_DATA: u32 = 0x1000_0000;

/// The flags that matter to a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InodeFlags {
    /// No copy-on-write (`chattr +C`); on btrfs this also means no data checksums.
    pub no_copy_on_write: bool,
    /// Compressed (`chattr +c`).
    pub compressed: bool,
    /// Data go through the journal (`chattr +j`).
    pub journalled_data: bool,
    /// Encrypted by the file system.
    pub encrypted: bool,
    /// Protected by fs-verity.
    pub verity: bool,
    /// Data within the inode.
    pub inline_data: bool,
    /// Writes are synchronous (`chattr +S`).
    pub sync: bool,
}

/// Reads the flags (FS_IOC_GETFLAGS).
///
/// # Errors
/// ENOTTY or EOPNOTSUPP where the file system has none.
pub fn inode_flags(file: &File) -> io::Result<InodeFlags> {
    let f = ioctl_getflags(file)?;
    let bit = |b| f.bits() & b != 0;
    Ok(InodeFlags {
        no_copy_on_write: f.contains(IFlags::NOCOW),
        compressed: f.contains(IFlags::COMPRESSED),
        journalled_data: f.contains(IFlags::JOURNALING),
        encrypted: bit(ENCRYPT),
        verity: bit(VERITY),
        inline_data: bit(INLINE_DATA),
        sync: f.contains(IFlags::SYNC),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_file_has_no_special_flags_or_none_at_all() {
        let file = tempfile::tempfile().unwrap();
        match inode_flags(&file) {
            Ok(f) => assert!(!f.journalled_data && !f.verity),
            Err(e) => println!("SKIPPED: no inode flags on this file system: {e}"),
        }
    }
}
