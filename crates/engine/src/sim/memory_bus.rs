//! A simulated bus: copies take the time that [`model::SimMemoryBus`] says, in simulated time.

use crate::{Completion, Device, DeviceError};
use model::{CopyMethod, CopyPlan, Ns, PhaseRecord, SimMemoryBus};
use sys::BufferPool;
use workload::BlockOp;

/// EIO, the same on every Linux architecture.
const EIO: i32 = 5;

/// Copies over the bus, one after the other.
#[derive(Debug)]
pub struct MemoryBusDevice {
    bus: SimMemoryBus,
    plan: CopyPlan,
    started_ns: Ns,
    /// Since the start, with what does not make a whole nanosecond.
    elapsed_ns: f64,
    faulted: bool,
    pool: BufferPool,
    done: Vec<Completion>,
}

impl MemoryBusDevice {
    /// At this simulated moment.
    ///
    /// # Errors
    /// Where there is no memory for its buffer.
    pub fn new(bus: SimMemoryBus, plan: CopyPlan, started_ns: Ns) -> Result<Self, DeviceError> {
        let pool = BufferPool::new(1, 4096).map_err(DeviceError::of("mmap of copy buffers"))?;
        Ok(Self { bus, plan, started_ns, elapsed_ns: 0.0, faulted: false, pool, done: Vec::with_capacity(1) })
    }

    /// The simulated moment at which it stopped.
    pub fn ended_ns(&self) -> Ns {
        self.started_ns + self.elapsed_ns as Ns
    }

    /// The record with the simulated machine's processor time: copies are all that it does, in the kernel where they are calls.
    pub fn with_usage(&self, mut record: PhaseRecord) -> PhaseRecord {
        let (ns, in_kernel) = (record.duration_ns(), self.plan.copy_by == CopyMethod::Call);
        record.usage = model::WorkerUsage::default();
        *(if in_kernel { &mut record.usage.system_ns } else { &mut record.usage.user_ns }) = ns;
        record
    }
}

impl Device for MemoryBusDevice {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.ended_ns()
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.pool.buffer_mut(index)
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        for op in ops {
            self.elapsed_ns += self.bus.time_ns(&self.plan, op.len.into());
            let faults = self.bus.fault_at > 0 && op.offset + u64::from(op.len) > self.bus.fault_at;
            self.faulted |= faults;
            let result = if faults { Err(EIO) } else { Ok(op.len) };
            self.done.push(Completion { buffer: op.buffer, result, at_ns: self.ended_ns() });
        }
        Ok(())
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.done.is_empty() && min > 0 {
            self.elapsed_ns = self.elapsed_ns.max(until.saturating_sub(self.started_ns) as f64);
        }
        let count = self.done.len().min(out.capacity() - out.len());
        out.extend(self.done.drain(..count));
        Ok(())
    }

    fn into_pool(self) -> Option<BufferPool> {
        Some(self.pool)
    }

    fn features(&self) -> Vec<String> {
        vec!["simulated-time".to_owned()]
    }

    fn missing(&self) -> Vec<String> {
        let fault = |at| format!("SIGBUS in the page at offset {at:#x}: the device does not answer there");
        Some(self.bus.fault_at).filter(|_| self.faulted).map(fault).into_iter().collect()
    }
}
