//! Files through shared mappings: reads are loads, writes are stores, syncs are msync.

use crate::DeviceError;
use std::os::fd::AsFd;
use sys::{
    Mapping,
    errno::{EINVAL, ENXIO, EOPNOTSUPP},
};
use workload::{BlockOp, FileSpace, OpKind};

/// Mapped files in one range of addresses; driven by [`crate::PsyncDevice`], one operation at a time.
///
/// An error of the device at a load or store is EIO, whatever the device said: SIGBUS, by which the kernel tells of it,
/// says no more (mmap(2)).
#[derive(Debug)]
pub struct MappedFiles {
    mappings: Vec<Mapping>,
    space: FileSpace,
}

impl MappedFiles {
    /// Maps the first `bytes` of each file, which it must have; to be stored to with `writable`.
    ///
    /// # Errors
    /// Where a mapping cannot be had.
    pub fn new(
        files: impl IntoIterator<Item = impl AsFd>,
        space: FileSpace,
        bytes: u64,
        writable: bool,
    ) -> Result<Self, DeviceError> {
        let map = |file| Mapping::new(file, bytes, writable);
        let mappings: Result<Vec<Mapping>, std::io::Error> = files.into_iter().map(map).collect();
        let mappings = mappings.map_err(DeviceError::of("mmap of the target"))?;
        Ok(Self { mappings, space })
    }

    pub(super) fn execute(&self, op: &BlockOp, buffer: &mut [u8]) -> Result<u32, i32> {
        let (index, offset) = self.space.locate(op.offset);
        let mapping = self.mappings.get(index).ok_or(ENXIO)?;
        let data = buffer.get_mut(..op.len as usize).ok_or(EINVAL)?;
        match op.kind {
            OpKind::Read => mapping.load(offset, data)?,
            OpKind::Write => mapping.store(offset, data)?,
            OpKind::WriteSync => {
                mapping.store(offset, data)?;
                mapping.sync(offset, u64::from(op.len))?;
            }
            OpKind::Fsync | OpKind::Fdatasync => mapping.sync(0, mapping.len())?,
            OpKind::Trim | OpKind::WriteZeroes => return Err(EOPNOTSUPP),
        }
        Ok(op.len)
    }
}
