//! What a loop device stands on, told by the kernel and not by a name (loop(4), k:include/uapi/linux/loop.h).
#![allow(unsafe_code)]

use rustix::ioctl::{Getter, Opcode, ioctl};
use std::fs::File;
use std::io;

/// LOOP_GET_STATUS64: a plain number, from before the encoding of directions and sizes.
const LOOP_GET_STATUS64: Opcode = 0x4c05;

#[repr(C)]
#[derive(Clone, Copy)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const _: () = assert!(size_of::<LoopInfo64>() == 232);

/// What a loop device stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopStatus {
    /// Device of the file system that the file lies on, major and minor: `st_dev`.
    pub file_system: (u32, u32),
    /// The file: `st_ino`.
    pub inode: u64,
    /// Where the file is a device node, its device: `st_rdev`; else 0:0.
    pub device: (u32, u32),
    /// Where the loop device begins in the file, bytes.
    pub offset_bytes: u64,
    /// How much of the file it is at most, bytes; 0 for all.
    pub limit_bytes: u64,
}

/// Asks an open loop device.
///
/// # Errors
/// ENXIO where no file is attached; ENOTTY where it is no loop device.
pub fn loop_status(device: &File) -> io::Result<LoopStatus> {
    // SAFETY: LOOP_GET_STATUS64 writes one struct loop_info64, whose layout is asserted above; all its bit patterns are
    // valid values.
    let info: LoopInfo64 = unsafe { ioctl(device, Getter::<LOOP_GET_STATUS64, LoopInfo64>::new())? };
    Ok(LoopStatus {
        file_system: decoded(info.device),
        inode: info.inode,
        device: decoded(info.rdevice),
        offset_bytes: info.offset,
        limit_bytes: info.size_limit,
    })
}

/// The kernel's own encoding of a device number (k:include/linux/kdev_t.h, new_encode_dev), which is not the C library's.
fn decoded(device: u64) -> (u32, u32) {
    let device = device as u32;
    ((device & 0xf_ff00) >> 8, (device & 0xff) | ((device >> 12) & 0xf_ff00))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_kernels() {
        assert_eq!(decoded(0x0801), (8, 1));
        assert_eq!(decoded(0x0011_03ab), (259, 0x1ab - 0x100 + 0x100));
        assert_eq!(decoded(0x1b), (0, 27));
    }

    #[test]
    fn a_regular_file_is_none() {
        assert!(loop_status(&tempfile::tempfile().unwrap()).is_err());
    }
}
