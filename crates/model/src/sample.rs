//! Raw samples of the machine. Counters are stored as the kernel gives them; rates are derived elsewhere.

use crate::{CompactSort as _, Ns, PathCounter};
use serde::{Deserialize, Serialize};

/// Counters of one block device (k:Documentation/admin-guide/iostats.rst). Sectors are 512 bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Kernel name.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    pub reads_merged: u64,
    pub sectors_read: u64,
    /// Milliseconds spent reading.
    pub read_ms: u64,
    /// Writes completed.
    pub writes: u64,
    pub writes_merged: u64,
    pub sectors_written: u64,
    /// Milliseconds spent writing.
    pub write_ms: u64,
    /// Requests in flight now.
    pub in_flight: u64,
    /// Milliseconds with I/O in flight.
    pub busy_ms: u64,
    /// Weighted milliseconds in flight.
    pub weighted_ms: u64,
    /// Discards completed; `None` before kernel 4.18.
    pub discards: Option<u64>,
    /// Discards merged; shown by `watch`, not kept in a run.
    #[serde(default)]
    pub discards_merged: Option<u64>,
    pub sectors_discarded: Option<u64>,
    /// Milliseconds spent discarding; shown by `watch`, not kept in a run.
    #[serde(default)]
    pub discard_ms: Option<u64>,
    /// Flushes completed; `None` before kernel 5.5.
    pub flushes: Option<u64>,
    /// Milliseconds spent flushing.
    pub flush_ms: Option<u64>,
}

/// Counters of one operation of an NFS mount (k:include/linux/sunrpc/metrics.h, struct rpc_iostats), since it was mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NfsCounters {
    /// `READ`, `COMMIT`.
    pub name: String,
    /// Calls that ended.
    pub operations: u64,
    /// Requests that were sent for them; more than calls where some were sent again.
    pub transmissions: u64,
    /// Calls that met a major time-out.
    pub timeouts: u64,
    /// With their headers.
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// Milliseconds between the start of a call and its transmission: it waits for a slot of the client.
    pub queue_ms: u64,
    /// Milliseconds from its transmission to the reply: network and server.
    pub rtt_ms: u64,
    /// Milliseconds of the whole call.
    pub execute_ms: u64,
    /// Calls that ended with an error; `None` before Linux 5.3.
    pub errors: Option<u64>,
}

impl NfsCounters {
    /// What happened between two looks; `None` where a counter fell: it was mounted anew.
    pub fn since(&self, before: &Self) -> Option<Self> {
        let of = |get: fn(&Self) -> u64| get(self).checked_sub(get(before));
        Some(Self {
            name: self.name.clone(),
            operations: of(|c| c.operations)?,
            transmissions: of(|c| c.transmissions)?,
            timeouts: of(|c| c.timeouts)?,
            bytes_sent: of(|c| c.bytes_sent)?,
            bytes_received: of(|c| c.bytes_received)?,
            queue_ms: of(|c| c.queue_ms)?,
            rtt_ms: of(|c| c.rtt_ms)?,
            execute_ms: of(|c| c.execute_ms)?,
            errors: self.errors.zip(before.errors).and_then(|(now, then)| now.checked_sub(then)),
        })
    }
}

/// Time of one CPU by kind, in ticks of 1/100 s (USER_HZ) since boot (proc_stat(5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTicks {
    /// User mode.
    pub user: u64,
    /// User mode, low priority.
    pub nice: u64,
    /// System mode.
    pub system: u64,
    pub idle: u64,
    /// Idle with I/O outstanding.
    pub iowait: u64,
    /// Hardware interrupts.
    pub irq: u64,
    /// Soft interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

impl CpuTicks {
    /// Sum of all states, in ticks.
    pub fn total(&self) -> u64 {
        self.user + self.nice + self.system + self.idle + self.iowait + self.irq + self.softirq + self.steal
    }
}

/// Memory and writeback, bytes, from /proc/meminfo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySample {
    /// MemAvailable.
    pub available_bytes: Option<u64>,
    pub cached_bytes: Option<u64>,
    pub dirty_bytes: Option<u64>,
    pub writeback_bytes: Option<u64>,
}

/// Pressure stall totals, microseconds since boot (k:Documentation/accounting/psi.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pressure {
    /// Time for which some task waited (`some`), microseconds.
    pub some_us: u64,
    /// Time for which all tasks waited (`full`), microseconds.
    pub full_us: Option<u64>,
}

/// One temperature reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temperature {
    /// Zone or sensor, for example `cpu-thermal`, `nvme Composite`.
    pub name: String,
    /// Thousandths of a degree Celsius.
    pub millidegrees_c: i64,
}

/// Throttling as the machine reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThrottleState {
    /// Raspberry Pi `get_throttled` bits.
    pub raspberry_pi_bits: Option<u32>,
    /// Sum of x86 `thermal_throttle/*_throttle_count` over CPUs.
    pub x86_throttle_events: Option<u64>,
    /// Sum of `cooling_device*/cur_state`.
    pub cooling_state: Option<u64>,
}

/// What one process moved to and from block devices (/proc/PID/io, proc(5)): between two looks where it says so, else since it
/// began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Process id.
    pub pid: u32,
    /// Its name, as the kernel has it.
    pub name: String,
    /// Bytes that were fetched for it.
    pub read_bytes: u64,
    /// Bytes that it caused to be written.
    pub write_bytes: u64,
}

impl ProcessIo {
    /// What moved between two looks, the largest first; processes that began meanwhile with all that they did.
    pub fn between(before: &[Self], after: &[Self]) -> Vec<Self> {
        let since = |now: &Self| {
            let then = before.iter().find(|p| p.pid == now.pid && p.name == now.name);
            let less = |of: fn(&Self) -> u64| of(now).saturating_sub(then.map_or(0, of));
            Self { read_bytes: less(|p| p.read_bytes), write_bytes: less(|p| p.write_bytes), ..now.clone() }
        };
        let mut moved: Vec<Self> = after.iter().map(since).filter(|p| p.bytes() > 0).collect();
        moved.compact_sort_by_key(|p| (std::cmp::Reverse(p.bytes()), p.pid));
        moved
    }

    /// Read and written.
    pub fn bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes)
    }
}

/// One look at the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemSample {
    /// When, since the run's start.
    pub at_ns: Ns,
    /// Every layer of the target's stack that counts.
    pub disks: Vec<DiskCounters>,
    /// The operations of the NFS mount that the target lies on, those that were ever used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nfs: Vec<NfsCounters>,
    /// What else is counted of the path: an SMB client's requests, the cache of ZFS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathCounter>,
    /// TCP segments that all connections sent since boot (/proc/net/snmp), and how many of them again; only where the target is on NFS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_segments_out: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_segments_again: Option<u64>,
    /// Segments that the other side said it had already, so that they were late and not lost (/proc/net/netstat, TCPDSACK*Recv).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_segments_late: Option<u64>,
    /// Every online CPU, in order of its number.
    pub cpus: Vec<CpuTicks>,
    /// Current frequency of each CPU in kHz; empty where the machine does not tell.
    pub cpu_khz: Vec<Option<u64>>,
    /// Memory and writeback.
    pub memory: MemorySample,
    /// I/O pressure; `None` where the kernel has no PSI.
    pub pressure_io: Option<Pressure>,
    pub pressure_cpu: Option<Pressure>,
    pub temperatures: Vec<Temperature>,
    /// Throttling.
    pub throttle: ThrottleState,
    /// Interrupts since boot, all kinds.
    pub interrupts: Option<u64>,
    /// Interrupts since boot of each CPU, from /proc/interrupts; empty if unreadable.
    pub interrupts_by_cpu: Vec<u64>,
    /// Context switches since boot.
    pub context_switches: Option<u64>,
    /// Tasks that wait for I/O at this moment, in a sleep that nothing interrupts.
    pub tasks_blocked: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::ProcessIo;

    #[test]
    fn who_moved_data_between_two_looks() {
        let process =
            |pid, name: &str, read_bytes, write_bytes| ProcessIo { pid, name: name.into(), read_bytes, write_bytes };
        let before = [process(1, "a", 100, 0), process(2, "b", 50, 50), process(3, "c", 7, 7)];
        let after = [process(1, "a", 110, 5), process(2, "other", 60, 60), process(3, "c", 7, 7)];
        let moved = ProcessIo::between(&before, &after);
        assert_eq!(
            moved,
            [process(2, "other", 60, 60), process(1, "a", 10, 5)],
            "a number that is used again is another process"
        );
    }
}
