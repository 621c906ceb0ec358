//! What a path leads to.

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use std::io;
use std::path::Path;

/// What a path leads to; numbers are major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A block device.
    Block((u32, u32)),
    /// A regular file.
    File {
        /// `st_dev`.
        device: (u32, u32),
        /// `st_ino`.
        inode: u64,
    },
    /// Neither a block device nor a regular file.
    Other,
}

/// Looks at a path; links are followed. A server that does not answer is not waited for where the kernel knows the file
/// (AT_STATX_DONT_SYNC), and nothing is mounted by looking (AT_NO_AUTOMOUNT).
///
/// # Errors
/// Those of statx(2).
pub fn node_at(path: &Path) -> io::Result<Node> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let s = rustix::fs::statx(CWD, path, flags, StatxFlags::TYPE | StatxFlags::INO)?;
    Ok(match FileType::from_raw_mode(u32::from(s.stx_mode)) {
        FileType::BlockDevice => Node::Block((s.stx_rdev_major, s.stx_rdev_minor)),
        FileType::RegularFile => Node::File { device: (s.stx_dev_major, s.stx_dev_minor), inode: s.stx_ino },
        _ => Node::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_is_known_by_its_inode_and_a_directory_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "x").unwrap();
        let meta = std::fs::metadata(&path).unwrap();
        let device = crate::device_number(meta.dev());
        let inode = meta.ino();
        assert_eq!(node_at(&path).unwrap(), Node::File { device, inode });
        assert_eq!(node_at(directory.path()).unwrap(), Node::Other);
    }
}
