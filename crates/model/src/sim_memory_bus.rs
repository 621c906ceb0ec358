//! A simulated bus with memory behind it: its parameters.

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
