//! A simulated bus: copies take the time that follows from its parameters, in simulated time.

use crate::DeviceError;
use crate::copy::copy_buffer;
use crate::device::{Calls, InThread, no_answer};
use model::{CopyMethod, CopyPlan, Ns, PhaseRecord, SimMemoryBus};
use std::cell::Cell;
use sys::{BufferPool, Epoch, errno::EIO};
use workload::BlockOp;

/// Copies over the bus, one after the other.
pub type MemoryBusDevice = InThread<BusCopies>;

/// A stream's copies, and the simulated time that they have taken.
#[derive(Debug)]
pub struct BusCopies {
    bus: SimMemoryBus,
    plan: CopyPlan,
    started_ns: Ns,
    /// Since the start, with what does not make a whole nanosecond.
    elapsed_ns: Cell<f64>,
    faulted: Cell<bool>,
}

impl MemoryBusDevice {
    /// At this simulated moment.
    ///
    /// # Errors
    /// Where there is no memory for its buffer.
    pub fn new(bus: SimMemoryBus, plan: CopyPlan, started_ns: Ns) -> Result<Self, DeviceError> {
        let pool = copy_buffer(4096)?;
        let copies = BusCopies { bus, plan, started_ns, elapsed_ns: Cell::new(0.0), faulted: Cell::new(false) };
        Ok(Self::with_calls(Epoch::start(), copies, pool))
    }
}

impl BusCopies {
    /// Bytes that a transaction moves.
    fn transaction_bytes(&self) -> u32 {
        let asked = match self.plan.copy_by {
            CopyMethod::Plain(bytes) => bytes,
            CopyMethod::Repeat => 1,
            CopyMethod::Call => self.bus.kernel_width_bytes,
            CopyMethod::Memcpy | CopyMethod::Burst | CopyMethod::Streaming => self.bus.width_bytes,
        };
        asked.clamp(1, self.bus.width_bytes.max(1))
    }

    /// Time of one copy of `bytes` bytes, nanoseconds.
    fn time_ns(&self, bytes: u64) -> f64 {
        let SimMemoryBus { bytes_per_s, call_ns, wait_ns, .. } = self.bus;
        let transactions = bytes.div_ceil(u64::from(self.transaction_bytes()));
        let data = if bytes_per_s > 0 { bytes as f64 * 1e9 / bytes_per_s as f64 } else { 0.0 };
        let call = if self.plan.copy_by == CopyMethod::Call { call_ns } else { 0.0 };
        call + transactions as f64 * wait_ns + data
    }

    /// The simulated moment at which it stopped.
    pub fn ended_ns(&self) -> Ns {
        self.started_ns + self.elapsed_ns.get() as Ns
    }

    /// The record with the simulated machine's processor time: copies are all that it does, in the kernel where they are calls.
    pub fn with_usage(&self, mut record: PhaseRecord) -> PhaseRecord {
        let (ns, in_kernel) = (record.duration_ns(), self.plan.copy_by == CopyMethod::Call);
        record.usage = model::WorkerUsage::default();
        *(if in_kernel { &mut record.usage.system_ns } else { &mut record.usage.user_ns }) = ns;
        record
    }
}

impl Calls for BusCopies {
    type Op = BlockOp;

    // Nothing passes through its buffer.
    fn check(&self, _op: &BlockOp, _pool: &BufferPool) -> Result<(), DeviceError> {
        Ok(())
    }

    fn now(&self, _epoch: &Epoch) -> Ns {
        self.ended_ns()
    }

    fn sleep_until(&self, _epoch: &Epoch, until: Ns) {
        self.elapsed_ns.set(self.elapsed_ns.get().max(until.saturating_sub(self.started_ns) as f64));
    }

    fn execute(&self, op: &BlockOp, _buffer: &mut [u8]) -> Result<u32, i32> {
        self.elapsed_ns.set(self.elapsed_ns.get() + self.time_ns(op.len.into()));
        if self.bus.fault_at == 0 || op.offset + u64::from(op.len) <= self.bus.fault_at {
            return Ok(op.len);
        }
        self.faulted.set(true);
        Err(EIO)
    }

    fn remarks(&self, _pool: &BufferPool) -> (Option<String>, Option<String>) {
        let faulted = Some(self.bus.fault_at).filter(|_| self.faulted.get());
        (Some("simulated-time".to_owned()), faulted.map(no_answer))
    }
}
