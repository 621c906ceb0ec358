//! The node of a device, opened where it is that device.

use crate::block_devices::parse_device;
use crate::read_error::ReadError;
use crate::root::Root;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

/// O_NONBLOCK: an empty drive is opened without waiting (k:include/uapi/asm-generic/fcntl.h; the same number on all
/// architectures this program is built for).
const NONBLOCK: i32 = 0o4000;

/// Opens `/dev/NAME`, if it is the device whose number `number_file` under /sys has.
pub(super) fn open(root: &Root, name: &str, number_file: &str) -> Result<File, ReadError> {
    let wanted = root.text(number_file).as_deref().and_then(parse_device).ok_or(ReadError::Missing)?;
    let node = format!("/dev/{name}");
    let metadata = std::fs::symlink_metadata(&node)?;
    let kind = metadata.file_type();
    // As glibc and musl encode numbers in 64 bits (gnu_dev_major(3)).
    let number = metadata.rdev();
    let major = (number >> 8 & 0xfff) | (number >> 32 & 0xffff_f000);
    let minor = (number & 0xff) | (number >> 12 & 0xffff_ff00);
    let same = (major, minor) == (u64::from(wanted.major), u64::from(wanted.minor));
    if !(kind.is_block_device() || kind.is_char_device()) || !same {
        return Err(ReadError::Missing);
    }
    Ok(OpenOptions::new().read(true).custom_flags(NONBLOCK).open(node)?)
}
