//! The names of the columns of system.csv.

/// Of the machine as a whole.
pub(super) const FIXED: [&str; 14] = [
    "at_ns",
    "memory_available_bytes",
    "memory_cached_bytes",
    "memory_dirty_bytes",
    "memory_writeback_bytes",
    "pressure_io_some_us",
    "pressure_io_full_us",
    "pressure_cpu_some_us",
    "pressure_cpu_full_us",
    "throttle_raspberry_pi_bits",
    "throttle_x86_events",
    "throttle_cooling_state",
    "interrupts",
    "context_switches",
];

/// Of a processor, ticks of 1/100 s.
pub(super) const TICKS: [&str; 8] = [
    "user_ticks",
    "nice_ticks",
    "system_ticks",
    "idle_ticks",
    "iowait_ticks",
    "irq_ticks",
    "softirq_ticks",
    "steal_ticks",
];

/// Of a disk, as /proc/diskstats has them.
pub(super) const DISK: [&str; 15] = [
    "reads",
    "reads_merged",
    "sectors_read",
    "read_ms",
    "writes",
    "writes_merged",
    "sectors_written",
    "write_ms",
    "in_flight",
    "busy_ms",
    "weighted_ms",
    "discards",
    "sectors_discarded",
    "flushes",
    "flush_ms",
];

/// How many of [`DISK`] every kernel has.
pub(super) const DISK_ALWAYS: usize = 11;
