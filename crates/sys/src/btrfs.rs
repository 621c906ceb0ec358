//! btrfs: how it spreads data (the allocation profile decides whether NOCOW files may be written directly), and its scrub.
#![allow(unsafe_code)]

use rustix::ioctl::{NoArg, Opcode, Updater, ioctl, opcode};
use std::fs::File;
use std::io;

const SLOTS: usize = 32;

#[repr(C)]
struct Header {
    space_slots: u64,
    total_spaces: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SpaceInfo {
    flags: u64,
    total_bytes: u64,
    used_bytes: u64,
}

#[repr(C)]
struct Request {
    header: Header,
    spaces: [SpaceInfo; SLOTS],
}

/// BTRFS_IOC_SPACE_INFO: `_IOWR(0x94, 20, struct btrfs_ioctl_space_args)` (k:include/uapi/linux/btrfs.h).
const BTRFS_IOC_SPACE_INFO: Opcode = opcode::read_write::<Header>(0x94, 20);

const DATA: u64 = 1;
/// RAID0 (1 << 3) is a profile without redundancy; the others copy or compute parity: RAID1, DUP, RAID10, RAID5,
/// RAID6, RAID1C3, RAID1C4 (k:include/uapi/linux/btrfs_tree.h).
const REDUNDANT: u64 = 0x7f0;

/// Whether any data of this btrfs file system are kept in more than one copy or with parity.
///
/// # Errors
/// ENOTTY on another file system.
pub fn btrfs_data_redundant(file: &File) -> io::Result<bool> {
    let mut request = Request {
        header: Header { space_slots: SLOTS as u64, total_spaces: 0 },
        spaces: [SpaceInfo { flags: 0, total_bytes: 0, used_bytes: 0 }; SLOTS],
    };
    // SAFETY: the argument is a struct btrfs_ioctl_space_args with room for `space_slots` entries, which is the layout
    // of `Request`; the kernel writes no more entries than slots, all plain integers.
    unsafe { ioctl(file, Updater::<{ BTRFS_IOC_SPACE_INFO }, Request>::new(&mut request))? };
    let n = (request.header.total_spaces as usize).min(SLOTS);
    Ok(request.spaces[..n].iter().any(|s| s.flags & DATA != 0 && s.flags & REDUNDANT != 0))
}

/// `struct btrfs_scrub_progress` (k:include/uapi/linux/btrfs.h).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BtrfsScrub {
    /// Extents of data, and of metadata, that were read.
    pub extents: [u64; 2],
    /// Bytes of data, and of metadata, that were read.
    pub bytes: [u64; 2],
    /// Reads that failed.
    pub read_errors: u64,
    /// Blocks whose checksum was wrong.
    pub csum_errors: u64,
    /// Blocks of metadata that were not what they must be.
    pub verify_errors: u64,
    /// Blocks of data without a checksum.
    pub no_csum: u64,
    /// Checksums that belonged to nothing.
    pub csum_discards: u64,
    /// Superblocks that were wrong.
    pub super_errors: u64,
    /// Times that there was no memory.
    pub malloc_errors: u64,
    /// Blocks of which no good copy is there.
    pub uncorrectable_errors: u64,
    /// Blocks that were mended.
    pub corrected_errors: u64,
    /// Where it stopped.
    pub last_physical: u64,
    /// Errors that were gone when it looked again.
    pub unverified_errors: u64,
}

/// `struct btrfs_ioctl_scrub_args`: 1,024 bytes.
#[repr(C)]
struct ScrubRequest {
    device: u64,
    start: u64,
    end: u64,
    flags: u64,
    progress: BtrfsScrub,
    unused: [u64; 109],
}

/// The start of `struct btrfs_ioctl_fs_info_args`: 1,024 bytes.
#[repr(C)]
struct FsInfo {
    max_id: u64,
    rest: [u64; 127],
}

const _: () = assert!(size_of::<ScrubRequest>() == 1024 && size_of::<FsInfo>() == 1024);

const BTRFS_IOC_SCRUB: Opcode = opcode::read_write::<ScrubRequest>(0x94, 27);
const BTRFS_IOC_SCRUB_CANCEL: Opcode = opcode::none(0x94, 28);
const BTRFS_IOC_FS_INFO: Opcode = opcode::read::<FsInfo>(0x94, 31);
/// Errors are counted and not repaired.
const BTRFS_SCRUB_READONLY: u64 = 1;

/// Reads all that a device of this btrfs holds and checks it, and mends nothing; ends when that is done. `None` where there is
/// no device of this number (they are counted from 1 to [`btrfs_last_device`]).
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN; ECANCELED after [`btrfs_scrub_cancel`]; EINPROGRESS where one runs already.
pub fn btrfs_scrub(file: &File, device: u64) -> io::Result<Option<BtrfsScrub>> {
    let mut request = ScrubRequest {
        device,
        start: 0,
        end: u64::MAX,
        flags: BTRFS_SCRUB_READONLY,
        progress: BtrfsScrub::default(),
        unused: [0; 109],
    };
    // SAFETY: the argument is a struct btrfs_ioctl_scrub_args, of which the kernel fills the progress with plain integers.
    match unsafe { ioctl(file, Updater::<{ BTRFS_IOC_SCRUB }, ScrubRequest>::new(&mut request)) } {
        Ok(()) => Ok(Some(request.progress)),
        Err(rustix::io::Errno::NODEV) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Ends the scrub that runs.
///
/// # Errors
/// ENOTCONN where none runs.
pub fn btrfs_scrub_cancel(file: &File) -> io::Result<()> {
    // SAFETY: takes no argument.
    Ok(unsafe { ioctl(file, NoArg::<{ BTRFS_IOC_SCRUB_CANCEL }>::new()) }?)
}

/// The highest number of a device of this btrfs.
///
/// # Errors
/// ENOTTY on another file system.
pub fn btrfs_last_device(file: &File) -> io::Result<u64> {
    let mut info = FsInfo { max_id: 0, rest: [0; 127] };
    // SAFETY: the argument is a struct btrfs_ioctl_fs_info_args, which the kernel fills with plain integers.
    unsafe { ioctl(file, Updater::<{ BTRFS_IOC_FS_INFO }, FsInfo>::new(&mut info))? };
    Ok(info.max_id)
}
