//! Taking data away without writing: holes and zeroes in files, discards on block devices.
#![allow(unsafe_code)]

use rustix::fs::{FallocateFlags, FileType, fallocate, fstat};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};
use std::os::fd::{AsFd, BorrowedFd};

/// BLKDISCARD: `_IO(0x12, 119)`, takes the start and the length as two u64 (k:include/uapi/linux/fs.h).
const BLKDISCARD: Opcode = opcode::none(0x12, 119);
/// BLKZEROOUT: `_IO(0x12, 127)`, takes the same.
const BLKZEROOUT: Opcode = opcode::none(0x12, 127);

fn is_block_device(fd: BorrowedFd<'_>) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode).is_block_device())
}

/// Discards a range: BLKDISCARD on a block device, a punched hole in a file. A device may ignore it, and what is read
/// afterwards is undefined on some; a hole reads as zeros.
///
/// # Errors
/// The errno: `EOPNOTSUPP` where device or file system cannot, `EINVAL` where the range is not whole sectors.
pub fn discard(fd: impl AsFd, offset: u64, len: u64) -> Result<(), i32> {
    discard_range(fd.as_fd(), offset, len, FallocateFlags::PUNCH_HOLE, |fd, range| {
        // SAFETY: BLKDISCARD reads two u64.
        unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }
    })
}

/// Makes a range read as zeros without sending them: BLKZEROOUT on a block device (where the device cannot, the kernel
/// writes zeros itself), FALLOC_FL_ZERO_RANGE in a file.
///
/// # Errors
/// The errno: `EOPNOTSUPP` where the file system cannot, `EINVAL` where the range is not whole sectors.
pub fn write_zeroes(fd: impl AsFd, offset: u64, len: u64) -> Result<(), i32> {
    discard_range(fd.as_fd(), offset, len, FallocateFlags::ZERO_RANGE, |fd, range| {
        // SAFETY: BLKZEROOUT reads two u64.
        unsafe { ioctl(fd, Setter::<BLKZEROOUT, [u64; 2]>::new(range)) }
    })
}

fn discard_range(
    fd: BorrowedFd<'_>,
    offset: u64,
    len: u64,
    mode: FallocateFlags,
    on_device: impl Fn(BorrowedFd<'_>, [u64; 2]) -> Result<(), Errno>,
) -> Result<(), i32> {
    let device = is_block_device(fd).map_err(Errno::raw_os_error)?;
    loop {
        let result = if device {
            on_device(fd, [offset, len])
        } else {
            fallocate(fd, mode | FallocateFlags::KEEP_SIZE, offset, len)
        };
        match result {
            Err(Errno::INTR) => {}
            other => return other.map_err(Errno::raw_os_error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_is_taken_away_reads_as_zeros() {
        type Take = fn(&std::fs::File, u64, u64) -> Result<(), i32>;
        let takes: [(Take, &str); 2] =
            [(|f, o, l| discard(f, o, l), "hole"), (|f, o, l| write_zeroes(f, o, l), "zeroes")];
        for (take, name) in takes {
            let file = tempfile::tempfile().unwrap();
            file.write_all_at(&[7; 16384], 0).unwrap();
            match take(&file, 4096, 8192) {
                Ok(()) => {}
                Err(errno) if errno == Errno::OPNOTSUPP.raw_os_error() => {
                    println!("SKIPPED: the file system of temporary files has no {name}");
                    continue;
                }
                Err(errno) => panic!("{name}: {errno}"),
            }
            let mut data = [1; 16384];
            file.read_exact_at(&mut data, 0).unwrap();
            assert!(data[4096..12288].iter().all(|b| *b == 0) && data[..4096].iter().all(|b| *b == 7));
            assert_eq!(file.metadata().unwrap().len(), 16384);
        }
    }

    #[test]
    fn numbers_are_the_kernels() {
        assert_eq!((BLKDISCARD, BLKZEROOUT), (0x1277, 0x127f));
    }

    #[test]
    fn a_pipe_has_nothing_to_take_away() {
        let (_reader, writer) = std::io::pipe().unwrap();
        assert!(discard(&writer, 0, 4096).is_err());
    }
}
