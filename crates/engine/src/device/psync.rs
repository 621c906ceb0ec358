//! pread, pwrite and fdatasync in the calling thread, one operation at a time.

use super::calls::{Calls, check};
use super::{check_room, pool_feature};
use crate::{Completion, Device, DeviceError};
use model::Ns;
use std::os::fd::OwnedFd;
use sys::{BufferPool, Epoch};
use workload::BlockOp;

/// What buffered and sync phases use: all CPU time of an operation is the caller's own, so that getrusage shows who
/// burns it. `submit` carries the operations out, one after the other.
#[derive(Debug)]
pub struct PsyncDevice<C = OwnedFd> {
    epoch: Epoch,
    calls: C,
    pool: BufferPool,
    done: Vec<Completion>,
}

impl<C: Calls> PsyncDevice<C> {
    /// Over an open file, or a [`crate::FileSet`], with these buffers (one is what it is for).
    pub fn new(epoch: Epoch, calls: C, pool: BufferPool) -> Self {
        calls.prepare();
        Self { epoch, calls, done: Vec::with_capacity(pool.count() as usize), pool }
    }
}

impl<C: Calls> Device for PsyncDevice<C> {
    type Op = BlockOp;

    // Nothing but our own few instructions lies between the call that carried the last operation out and the return.
    const STAMPED_ON_RETURN: bool = true;

    #[inline]
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    #[inline]
    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.pool.buffer_mut(index)
    }

    #[inline]
    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        check_room(self.done.len(), ops.len(), self.pool.count())?;
        for op in ops {
            check(op, self.pool.count(), self.pool.buffer_bytes())?;
        }
        for op in ops {
            let result = self.calls.carry_out(op, self.pool.buffer_mut(op.buffer));
            self.done.push(Completion { buffer: op.buffer, result, at_ns: self.epoch.elapsed_ns() });
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.done.is_empty() {
            if min > 0 {
                self.epoch.sleep_until(until);
            }
            return Ok(());
        }
        let count = self.done.len().min(out.capacity() - out.len());
        out.extend(self.done.drain(..count));
        Ok(())
    }

    fn into_pool(self) -> Option<BufferPool> {
        Some(self.pool)
    }

    fn features(&self) -> Vec<String> {
        pool_feature(&self.pool).into_iter().collect()
    }

    fn missing(&self) -> Vec<String> {
        self.pool.missing().map(str::to_owned).into_iter().collect()
    }
}
