//! Writes that send no data and change the file all the same.

use super::one_call::without_data;
use std::os::fd::OwnedFd;
use sys::errno::ENXIO;
use workload::{BlockOp, FileSpace, OpKind};

/// Files whose blocks writes reserve (fallocate), or whose length they set to their offset (ftruncate).
#[derive(Debug)]
pub struct Metadata {
    files: Vec<OwnedFd>,
    space: FileSpace,
    truncates: bool,
}

impl Metadata {
    /// Files whose addresses are those of `space`.
    pub fn new(files: Vec<OwnedFd>, space: FileSpace, truncates: bool) -> Self {
        Self { files, space, truncates }
    }

    /// Carries one out; the bytes that it names, or the errno.
    pub fn execute(&self, op: &BlockOp) -> Result<u32, i32> {
        let (index, offset) = self.space.locate(op.offset);
        let file = self.files.get(index).ok_or(ENXIO)?;
        match op.kind {
            OpKind::Write | OpKind::WriteSync if self.truncates => sys::set_length(file, offset)?,
            OpKind::Write | OpKind::WriteSync => sys::allocate(file, offset, op.len.into())?,
            _ => return without_data(file, &BlockOp { offset, ..*op }),
        }
        if op.kind == OpKind::WriteSync {
            sys::sync_data(file)?;
        }
        Ok(op.len)
    }
}
