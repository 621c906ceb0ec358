//! Copies of memory, in the calling thread.

use super::check_room;
use crate::{Completion, Device, DeviceError};
use model::Ns;
use sys::{BufferPool, Epoch};
use workload::CopyOp;

/// Copies from one buffer to another, far larger than the last-level cache where the figure is to be that of the memory. The
/// copy is the C library's memcpy, as programs use it; the kernel's own copies may be faster or slower.
#[derive(Debug)]
pub struct MemoryDevice {
    epoch: Epoch,
    from: BufferPool,
    to: BufferPool,
    done: Option<Completion>,
}

impl MemoryDevice {
    /// From the first buffer of a pool to that of another.
    pub fn new(epoch: Epoch, from: BufferPool, to: BufferPool) -> Self {
        Self { epoch, from, to, done: None }
    }
}

impl Device for MemoryDevice {
    type Op = CopyOp;

    const STAMPED_ON_RETURN: bool = true;

    #[inline]
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.to.buffer_mut(index)
    }

    #[inline]
    fn submit(&mut self, ops: &[CopyOp]) -> Result<(), DeviceError> {
        check_room(usize::from(self.done.is_some()), ops.len(), 1)?;
        for op in ops {
            let outside = || DeviceError::BadOperation(format!("{} bytes at {} are outside", op.len, op.offset));
            let start = usize::try_from(op.offset).map_err(|_| outside())?;
            let range = start..start.checked_add(op.len as usize).ok_or_else(outside)?;
            let from = self.from.buffer(0).get(range.clone()).ok_or_else(outside)?;
            let to = self.to.buffer_mut(0).get_mut(range).ok_or_else(outside)?;
            to.copy_from_slice(std::hint::black_box(from));
            std::hint::black_box(to);
            self.done = Some(Completion { buffer: op.buffer, result: Ok(op.len), at_ns: self.epoch.elapsed_ns() });
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        match self.done.take() {
            Some(done) => out.push(done),
            None if min > 0 => self.epoch.sleep_until(until),
            None => {}
        }
        Ok(())
    }

    fn features(&self) -> Vec<String> {
        vec![format!("memcpy between two buffers of {} MiB", self.to.buffer_bytes() >> 20)]
    }
}
