//! Room on a file system.

use std::fs::File;
use std::io;

/// Room and name of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system, bytes; 0 where it has none (some FUSE servers).
    pub total_bytes: u64,
    /// Free for us, without what is reserved for root, bytes.
    pub available_bytes: u64,
    /// Mounted read-only.
    pub read_only: bool,
    /// Magic number of the file system (statfs f_type, k:include/uapi/linux/magic.h).
    pub magic: u32,
}

/// Asks the file system of an open file or directory.
pub fn space_of(file: &File) -> io::Result<Space> {
    let v = rustix::fs::fstatvfs(file)?;
    let s = rustix::fs::fstatfs(file)?;
    Ok(Space {
        total_bytes: v.f_blocks.saturating_mul(v.f_frsize),
        available_bytes: v.f_bavail.saturating_mul(v.f_frsize),
        read_only: v.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        // f_type is signed and of the machine's width; the magic is its low 32 bits.
        magic: s.f_type as u32,
    })
}

/// The largest file that this process may write (RLIMIT_FSIZE); beyond it the kernel sends SIGXFSZ. `None`: unlimited.
pub fn file_size_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Fsize).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_is_within_total() {
        let file = tempfile::tempfile().unwrap();
        let space = space_of(&file).unwrap();
        assert!(!space.read_only);
        assert!(space.total_bytes == 0 || space.available_bytes <= space.total_bytes);
    }
}
