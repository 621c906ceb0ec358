//! What a block device tells of itself (k:include/uapi/linux/fs.h).
#![allow(unsafe_code)]

use rustix::ioctl::{Getter, NoArg, Opcode, ioctl, opcode};
use std::fs::File;
use std::io;

/// BLKGETSIZE64: `_IOR(0x12, 114, size_t)`; the number carries size_t, the value is always 64 bits.
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
/// BLKSSZGET: `_IO(0x12, 104)`.
const BLKSSZGET: Opcode = opcode::none(0x12, 104);
/// BLKPBSZGET: `_IO(0x12, 123)`.
const BLKPBSZGET: Opcode = opcode::none(0x12, 123);
/// BLKROGET: `_IO(0x12, 94)`.
const BLKROGET: Opcode = opcode::none(0x12, 94);
/// BLKSECTGET: `_IO(0x12, 103)`.
const BLKSECTGET: Opcode = opcode::none(0x12, 103);
/// BLKFLSBUF: `_IO(0x12, 97)`.
const BLKFLSBUF: Opcode = opcode::none(0x12, 97);

/// Size of the device in bytes.
pub fn device_size(device: &File) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64.
    Ok(unsafe { ioctl(device, Getter::<BLKGETSIZE64, u64>::new())? })
}

/// Size of a logical block (the unit of addressing) in bytes.
pub fn logical_block_size(device: &File) -> io::Result<u32> {
    // SAFETY: BLKSSZGET writes one int.
    Ok(unsafe { ioctl(device, Getter::<BLKSSZGET, u32>::new())? })
}

/// Size of a physical block (the unit that the device writes without reading first) in bytes.
pub fn physical_block_size(device: &File) -> io::Result<u32> {
    // SAFETY: BLKPBSZGET writes one unsigned int.
    Ok(unsafe { ioctl(device, Getter::<BLKPBSZGET, u32>::new())? })
}

/// Whether the kernel holds the device to be read-only.
pub fn device_read_only(device: &File) -> io::Result<bool> {
    // SAFETY: BLKROGET writes one int.
    Ok(unsafe { ioctl(device, Getter::<BLKROGET, i32>::new())? } != 0)
}

/// The largest request that the queue takes, bytes (`queue/max_sectors_kb`).
pub fn max_request_bytes(device: &File) -> io::Result<u32> {
    // SAFETY: BLKSECTGET writes one unsigned short: sectors of 512 bytes, no more than it can say.
    Ok(u32::from(unsafe { ioctl(device, Getter::<BLKSECTGET, u16>::new())? }) * 512)
}

/// Writes back and drops the device's page cache. Needs CAP_SYS_ADMIN.
///
/// # Errors
/// EACCES without the capability.
pub fn flush_device_cache(device: &File) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(device, NoArg::<BLKFLSBUF>::new()) }.map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_kernels() {
        if cfg!(all(
            target_pointer_width = "64",
            any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
        )) {
            assert_eq!(BLKGETSIZE64, 0x8008_1272);
        }
        if cfg!(target_arch = "arm") {
            assert_eq!(BLKGETSIZE64, 0x8004_1272);
        }
        assert_eq!((BLKSSZGET, BLKPBSZGET, BLKROGET, BLKFLSBUF), (0x1268, 0x127b, 0x125e, 0x1261));
        assert_eq!(BLKSECTGET, 0x1267);
    }

    #[test]
    fn a_regular_file_is_none() {
        let file = tempfile::tempfile().unwrap();
        assert!(device_size(&file).is_err());
        assert!(flush_device_cache(&file).is_err());
    }
}
