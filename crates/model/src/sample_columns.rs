//! The numbers of a sample, a row each with its name: tables write and read them by these alone.

use crate::{CpuTicks, DiskCounters, NfsCounters, Pressure, SystemSample};

/// A number of a part of a sample.
pub struct Column<T> {
    /// Its name in a table; of a disk or a CPU, what stands after that one's name.
    pub name: &'static str,
    /// Whether every kernel has it.
    pub always: bool,
    pub get: fn(&T) -> Option<u64>,
    /// Puts it in its place; `false` where the number does not fit there.
    pub set: fn(&mut T, u64) -> bool,
}

macro_rules! columns {
    ($($name:literal $kind:ident $($field:ident).+;)+) => { [$(columns!(@$kind $name, $($field).+)),+] };
    (@always $name:literal, $($field:ident).+) => {
        Column { name: $name, always: true, get: |t| Some(t.$($field).+), set: |t, v| { t.$($field).+ = v; true } }
    };
    (@maybe $name:literal, $($field:ident).+) => {
        Column { name: $name, always: false, get: |t| t.$($field).+, set: |t, v| { t.$($field).+ = Some(v); true } }
    };
    (@some $name:literal, $field:ident) => {
        Column {
            name: $name,
            always: false,
            get: |t| t.$field.map(|p| p.some_us),
            set: |t, v| { t.$field = Some(Pressure { some_us: v, full_us: None }); true },
        }
    };
    // Stands after the other one, without which there is none.
    (@full $name:literal, $field:ident) => {
        Column {
            name: $name,
            always: false,
            get: |t| t.$field.and_then(|p| p.full_us),
            set: |t, v| { t.$field.iter_mut().for_each(|p| p.full_us = Some(v)); true },
        }
    };
    (@bits $name:literal, $($field:ident).+) => {
        Column {
            name: $name,
            always: false,
            get: |t| t.$($field).+.map(u64::from),
            set: |t, v| { t.$($field).+ = u32::try_from(v).ok(); t.$($field).+.is_some() },
        }
    };
}

/// Of the machine as a whole.
pub const MACHINE_COLUMNS: [Column<SystemSample>; 18] = columns! {
    "at_ns" always at_ns;
    "memory_available_bytes" maybe memory.available_bytes;
    "memory_cached_bytes" maybe memory.cached_bytes;
    "memory_dirty_bytes" maybe memory.dirty_bytes;
    "memory_writeback_bytes" maybe memory.writeback_bytes;
    "pressure_io_some_us" some pressure_io;
    "pressure_io_full_us" full pressure_io;
    "pressure_cpu_some_us" some pressure_cpu;
    "pressure_cpu_full_us" full pressure_cpu;
    "throttle_raspberry_pi_bits" bits throttle.raspberry_pi_bits;
    "throttle_x86_events" maybe throttle.x86_throttle_events;
    "throttle_cooling_state" maybe throttle.cooling_state;
    "interrupts" maybe interrupts;
    "context_switches" maybe context_switches;
    "tasks_blocked" maybe tasks_blocked;
    "tcp_segments_out" maybe tcp_segments_out;
    "tcp_segments_again" maybe tcp_segments_again;
    "tcp_segments_late" maybe tcp_segments_late;
};

/// Of a processor, ticks of 1/100 s.
pub const TICK_COLUMNS: [Column<CpuTicks>; 8] = columns! {
    "user_ticks" always user;
    "nice_ticks" always nice;
    "system_ticks" always system;
    "idle_ticks" always idle;
    "iowait_ticks" always iowait;
    "irq_ticks" always irq;
    "softirq_ticks" always softirq;
    "steal_ticks" always steal;
};

/// Of a disk, as /proc/diskstats has them.
pub const DISK_COLUMNS: [Column<DiskCounters>; 15] = columns! {
    "reads" always reads;
    "reads_merged" always reads_merged;
    "sectors_read" always sectors_read;
    "read_ms" always read_ms;
    "writes" always writes;
    "writes_merged" always writes_merged;
    "sectors_written" always sectors_written;
    "write_ms" always write_ms;
    "in_flight" always in_flight;
    "busy_ms" always busy_ms;
    "weighted_ms" always weighted_ms;
    "discards" maybe discards;
    "sectors_discarded" maybe sectors_discarded;
    "flushes" maybe flushes;
    "flush_ms" maybe flush_ms;
};

/// Of an operation of an NFS mount, as /proc/self/mountstats has them.
pub const NFS_COLUMNS: [Column<NfsCounters>; 9] = columns! {
    "operations" always operations;
    "transmissions" always transmissions;
    "timeouts" always timeouts;
    "bytes_sent" always bytes_sent;
    "bytes_received" always bytes_received;
    "queue_ms" always queue_ms;
    "rtt_ms" always rtt_ms;
    "execute_ms" always execute_ms;
    "errors" maybe errors;
};
