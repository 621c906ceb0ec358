//! Operations carried out in the calling thread, one after the other: pread and pwrite, copies of memory.

use super::calls::FileCalls;
use super::one_call::Calls;
use crate::{Completion, Device, DeviceError};
use model::Ns;
use sys::{BufferPool, Epoch};
use workload::Request;

/// A device without a queue: `submit` carries the operations out. All CPU time of an operation is the caller's own, so that
/// getrusage shows who burns it.
#[derive(Debug)]
pub struct InThread<C> {
    epoch: Epoch,
    pub(crate) calls: C,
    pool: BufferPool,
    done: Vec<Completion>,
}

/// pread, pwrite and fdatasync, or loads and stores: what buffered and sync phases use.
pub type PsyncDevice = InThread<FileCalls>;

impl PsyncDevice {
    /// Over an open file, or several, with these buffers (one is what it is for).
    pub fn new(epoch: Epoch, calls: impl Into<FileCalls>, pool: BufferPool) -> Self {
        Self::with_calls(epoch, calls.into(), pool)
    }
}

impl<C: Calls> InThread<C> {
    /// By these calls, with as many in flight as there are buffers.
    pub(crate) fn with_calls(epoch: Epoch, calls: C, pool: BufferPool) -> Self {
        Self { epoch, calls, done: Vec::with_capacity(pool.count() as usize), pool }
    }
}

impl<C: Calls> Device for InThread<C> {
    type Op = C::Op;

    // Nothing but our own few instructions lies between the call that carried the last operation out and the return.
    const STAMPED_ON_RETURN: bool = true;

    #[inline]
    fn now(&self) -> Ns {
        self.calls.now(&self.epoch)
    }

    #[inline]
    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.pool.buffer_mut(index)
    }

    #[inline]
    fn submit(&mut self, ops: &[C::Op]) -> Result<(), DeviceError> {
        super::check_room(self.done.len() + ops.len(), &self.pool)?;
        for op in ops {
            self.calls.check(op, &self.pool)?;
        }
        for op in ops {
            let result = self.calls.execute(op, self.pool.buffer_mut(op.buffer()));
            self.done.push(Completion { buffer: op.buffer(), result, at_ns: self.now() });
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.done.is_empty() {
            if min > 0 {
                self.calls.sleep_until(&self.epoch, until);
            }
            return Ok(());
        }
        let room = out.capacity() - out.len();
        if self.done.len() > room {
            out.extend(self.done.drain(..room));
            return Ok(());
        }
        // Most often there is one: not worth a call that copies any number of bytes.
        for completion in self.done.drain(..) {
            out.push(completion);
        }
        Ok(())
    }

    fn into_pool(self) -> Option<BufferPool> {
        Some(self.pool)
    }

    fn features(&self) -> Vec<String> {
        self.calls.remarks(&self.pool).0.into_iter().collect()
    }

    fn missing(&self) -> Vec<String> {
        self.calls.remarks(&self.pool).1.into_iter().collect()
    }
}
