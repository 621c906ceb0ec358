//! How btrfs spreads data: the allocation profile decides whether NOCOW files may be written directly.
#![allow(unsafe_code)]

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
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
