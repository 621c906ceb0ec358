//! A simulated bus with memory behind it: its parameters, and the truth about copies over it.

use crate::{CopyMethod, CopyPlan};

/// A bus of known width. Each access of at most that width is one transaction; a wider one is several.
#[derive(Clone, Debug, PartialEq)]
pub struct SimMemoryBus {
    /// As the user wrote it.
    pub name: String,
    /// Width of the bus, bytes.
    pub width_bytes: u32,
    /// Time of a transaction, nanoseconds.
    pub wait_ns: f64,
    /// Data beside that, bytes per second; 0: they take no time of their own.
    pub bytes_per_s: u64,
    /// Width of the accesses by which the simulated kernel copies, bytes.
    pub kernel_width_bytes: u32,
    /// Time of a call beside its copy, nanoseconds.
    pub call_ns: f64,
    /// Bytes behind the bus.
    pub bytes: u64,
    /// From this offset on the bus does not answer; 0: it always does.
    pub fault_at: u64,
}

impl Default for SimMemoryBus {
    fn default() -> Self {
        Self {
            name: "sim:bus".to_owned(),
            width_bytes: 4,
            wait_ns: 100.0,
            bytes_per_s: 0,
            kernel_width_bytes: 16,
            call_ns: 1000.0,
            bytes: 1 << 20,
            fault_at: 0,
        }
    }
}

impl SimMemoryBus {
    /// Bytes that a transaction moves.
    pub fn transaction_bytes(&self, method: CopyMethod) -> u32 {
        let asked = match method {
            CopyMethod::Plain(bytes) => bytes,
            CopyMethod::Repeat => 1,
            CopyMethod::Call => self.kernel_width_bytes,
            CopyMethod::Memcpy | CopyMethod::Burst | CopyMethod::Streaming => self.width_bytes,
        };
        asked.clamp(1, self.width_bytes.max(1))
    }

    /// Time of one copy of `bytes` bytes, nanoseconds.
    pub fn time_ns(&self, plan: &CopyPlan, bytes: u64) -> f64 {
        let transactions = bytes.div_ceil(u64::from(self.transaction_bytes(plan.copy_by)));
        let data = if self.bytes_per_s > 0 { bytes as f64 * 1e9 / self.bytes_per_s as f64 } else { 0.0 };
        let call = if plan.copy_by == CopyMethod::Call { self.call_ns } else { 0.0 };
        call + transactions as f64 * self.wait_ns + data
    }
}
