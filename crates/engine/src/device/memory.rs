//! Copies of memory, in the calling thread.

use super::in_thread::{Calls, InThread};
use crate::DeviceError;
use std::ops::Range;
use sys::{BufferPool, Epoch};
use workload::BlockOp;

/// Copies from one buffer to another, far larger than the last-level cache where the figure is to be that of the memory. The
/// copy is the C library's memcpy, as programs use it; the kernel's own copies may be faster or slower.
pub type MemoryDevice = InThread<CopyFrom>;

impl MemoryDevice {
    /// From the first buffer of a pool to that of another.
    pub fn new(epoch: Epoch, from: BufferPool, to: BufferPool) -> Self {
        Self::over(epoch, CopyFrom(from), to)
    }
}

/// memcpy from the first buffer of this pool.
#[derive(Debug)]
pub struct CopyFrom(BufferPool);

/// The bytes of an operation, if they lie within the address space.
fn range(op: &BlockOp) -> Option<Range<usize>> {
    let start = usize::try_from(op.offset).ok()?;
    Some(start..start.checked_add(op.len as usize)?)
}

impl Calls for CopyFrom {
    type Op = BlockOp;

    fn check(&self, op: &BlockOp, to: &BufferPool) -> Result<(), DeviceError> {
        let most = self.0.buffer_bytes().min(to.buffer_bytes());
        if range(op).is_none_or(|bytes| bytes.end > most) {
            return Err(DeviceError::BadOperation(format!("{} bytes at {} are outside", op.len, op.offset)));
        }
        Ok(())
    }

    #[inline]
    fn carry_out(&self, op: &BlockOp, to: &mut [u8]) -> Result<u32, i32> {
        let bytes = range(op).unwrap_or_default();
        let to = &mut to[bytes.clone()];
        to.copy_from_slice(std::hint::black_box(&self.0.buffer(0)[bytes]));
        std::hint::black_box(to);
        Ok(op.len)
    }

    fn remarks(&self, to: &BufferPool) -> (Option<String>, Option<String>) {
        (Some(format!("memcpy between two buffers of {} MiB", to.buffer_bytes() >> 20)), None)
    }
}
