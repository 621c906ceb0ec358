//! Does nothing, at once: what is left is our own overhead.

use crate::{Completion, Device, DeviceError};
use model::Ns;
use sys::{BufferPool, Epoch};
use workload::BlockOp;

/// A device whose operations succeed in full the moment they are reaped. Transfers nothing; has buffers, so that the
/// cost of making data is part of what it shows.
#[derive(Debug)]
pub struct NullDevice {
    epoch: Epoch,
    pool: BufferPool,
    flying: Vec<(u32, u32)>,
}

impl NullDevice {
    /// With these buffers.
    pub fn new(epoch: Epoch, pool: BufferPool) -> Self {
        Self { epoch, flying: Vec::with_capacity(pool.count() as usize), pool }
    }
}

impl Device for NullDevice {
    type Op = BlockOp;

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
        super::check_room(self.flying.len() + ops.len(), &self.pool)?;
        self.flying.extend(ops.iter().map(|op| (op.buffer, op.len)));
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.flying.is_empty() {
            if min > 0 {
                self.epoch.sleep_until(until);
            }
            return Ok(());
        }
        let at_ns = self.now();
        let count = self.flying.len().min(out.capacity() - out.len());
        out.extend(self.flying.drain(..count).map(|(buffer, len)| Completion { buffer, result: Ok(len), at_ns }));
        Ok(())
    }

    fn into_pool(self) -> Option<BufferPool> {
        Some(self.pool)
    }
}
