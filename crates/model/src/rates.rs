//! Rates, derived from a sample and the one before it. A counter that ran backwards yields no rate.

mod activity;
mod nfs;
mod path;

pub use activity::{
    Activity, CpuActivity, DiskActivity, PressureActivity, RequestActivity, activity, activity_since_boot,
};
pub use nfs::NfsActivity;
pub use path::PathActivity;

use crate::{CpuTicks, DiskCounters, NS_PER_S, Ns, QuietWindow, SystemSample};

const SECTOR_BYTES: u64 = 512;

/// Traffic of one block device between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiskRate {
    /// Bytes read per second.
    pub read_bytes_per_s: f64,
    /// Bytes written per second.
    pub write_bytes_per_s: f64,
    /// Reads per second.
    pub reads_per_s: f64,
    /// Writes per second.
    pub writes_per_s: f64,
    /// Share of time with I/O in flight, 0 to 1.
    pub busy_ratio: f64,
    /// Mean number in flight.
    pub mean_in_flight: f64,
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Reads, writes, discards and flushes completed.
    pub operations: u64,
}

/// Shares of a CPU's time by kind between two samples, each 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuShare {
    /// User and nice.
    pub user: f64,
    pub system: f64,
    /// Hardware and soft interrupts.
    pub irq: f64,
    /// Idle with I/O outstanding.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    pub idle: f64,
}

impl CpuShare {
    /// User + system + interrupts.
    pub fn busy(&self) -> f64 {
        self.user + self.system + self.irq
    }
}

/// Rate of one disk over `elapsed_ns`; `None` if a counter ran backwards or no time passed.
pub fn disk_rate(before: &DiskCounters, after: &DiskCounters, elapsed_ns: Ns) -> Option<DiskRate> {
    if elapsed_ns == 0 || before.name != after.name {
        return None;
    }
    let seconds = elapsed_ns as f64 / NS_PER_S as f64;
    let reads = after.reads.checked_sub(before.reads)?;
    let writes = after.writes.checked_sub(before.writes)?;
    let read_bytes = after.sectors_read.checked_sub(before.sectors_read)? * SECTOR_BYTES;
    let write_bytes = after.sectors_written.checked_sub(before.sectors_written)? * SECTOR_BYTES;
    let busy_ms = milliseconds_between(before.busy_ms, after.busy_ms)?;
    let weighted_ms = milliseconds_between(before.weighted_ms, after.weighted_ms)?;
    let optional = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (Some(a), Some(b)) => b.checked_sub(a),
        _ => Some(0),
    };
    let discards = optional(before.discards, after.discards)?;
    let flushes = optional(before.flushes, after.flushes)?;
    Some(DiskRate {
        read_bytes_per_s: read_bytes as f64 / seconds,
        write_bytes_per_s: write_bytes as f64 / seconds,
        reads_per_s: reads as f64 / seconds,
        writes_per_s: writes as f64 / seconds,
        busy_ratio: (busy_ms as f64 / 1e3 / seconds).min(1.0),
        mean_in_flight: weighted_ms as f64 / 1e3 / seconds,
        read_bytes,
        write_bytes,
        operations: reads + writes + discards + flushes,
    })
}

/// The kernel prints the times of a disk as `unsigned int` on every architecture (k:block/genhd.c, part_stat_show), so that
/// they start again after 2^32 ms. With 32 requests in flight that is every day and a half: a wrap, not a counter that ran
/// backwards. The next one is beyond any two samples.
fn milliseconds_between(before: u64, after: u64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    match after.checked_sub(before) {
        None if before < WRAP && before - after > WRAP / 2 => Some(after + WRAP - before),
        difference => difference,
    }
}

/// Traffic between two samples summed over the disks named (the lowest counting layers of a stack); `None` if one of
/// them is missing from a sample, ran backwards, or none is named.
pub fn traffic(before: &SystemSample, after: &SystemSample, disks: &[String]) -> Option<DiskRate> {
    let elapsed = after.at_ns.checked_sub(before.at_ns)?;
    let mut sum: Option<DiskRate> = None;
    for name in disks {
        let find = |s: &'_ SystemSample| s.disks.iter().position(|d| &d.name == name);
        let one = disk_rate(&before.disks[find(before)?], &after.disks[find(after)?], elapsed)?;
        let all = sum.get_or_insert_with(DiskRate::default);
        all.read_bytes_per_s += one.read_bytes_per_s;
        all.write_bytes_per_s += one.write_bytes_per_s;
        all.reads_per_s += one.reads_per_s;
        all.writes_per_s += one.writes_per_s;
        all.busy_ratio = all.busy_ratio.max(one.busy_ratio);
        all.mean_in_flight += one.mean_in_flight;
        all.read_bytes += one.read_bytes;
        all.write_bytes += one.write_bytes;
        all.operations += one.operations;
    }
    sum
}

/// What others did between two samples taken while this program was silent.
pub fn quiet_window(before: &SystemSample, after: &SystemSample, disks: &[String]) -> Option<QuietWindow> {
    let rate = traffic(before, after, disks)?;
    let length_ns = after.at_ns - before.at_ns;
    Some(QuietWindow {
        length_ns,
        busy_ns: Some((rate.busy_ratio * length_ns as f64) as Ns),
        read_bytes: rate.read_bytes,
        write_bytes: rate.write_bytes,
        operations: rate.operations,
    })
}

/// Shares of one CPU; `None` if no tick passed. Kinds that ran backwards (iowait may) count as zero.
pub fn cpu_share(before: &CpuTicks, after: &CpuTicks) -> Option<CpuShare> {
    let d = |a: u64, b: u64| b.saturating_sub(a) as f64;
    let user = d(before.user, after.user) + d(before.nice, after.nice);
    let system = d(before.system, after.system);
    let irq = d(before.irq, after.irq) + d(before.softirq, after.softirq);
    let iowait = d(before.iowait, after.iowait);
    let steal = d(before.steal, after.steal);
    let idle = d(before.idle, after.idle);
    let total = user + system + irq + iowait + steal + idle;
    if total == 0.0 {
        return None;
    }
    Some(CpuShare {
        user: user / total,
        system: system / total,
        irq: irq / total,
        iowait: iowait / total,
        steal: steal / total,
        idle: idle / total,
    })
}

/// Shares over all CPUs between two samples, each 0 to 1 of the whole machine; `None` if CPUs came or went.
pub fn cpu_share_total(before: &SystemSample, after: &SystemSample) -> Option<CpuShare> {
    if before.cpus.len() != after.cpus.len() || before.cpus.is_empty() {
        return None;
    }
    let sum = |cpus: &[CpuTicks]| {
        cpus.iter().fold(CpuTicks::default(), |a, c| CpuTicks {
            user: a.user + c.user,
            nice: a.nice + c.nice,
            system: a.system + c.system,
            idle: a.idle + c.idle,
            iowait: a.iowait + c.iowait,
            irq: a.irq + c.irq,
            softirq: a.softirq + c.softirq,
            steal: a.steal + c.steal,
        })
    };
    cpu_share(&sum(&before.cpus), &sum(&after.cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_runs_backwards_yields_no_rate() {
        let before = DiskCounters { name: "sda".into(), reads: 10, ..Default::default() };
        let after = DiskCounters { name: "sda".into(), reads: 9, ..Default::default() };
        assert_eq!(disk_rate(&before, &after, NS_PER_S), None);
    }

    #[test]
    fn times_start_again_after_32_bits() {
        let disk = |weighted_ms| DiskCounters { name: "sda".into(), reads: 10, weighted_ms, ..Default::default() };
        let rate = |a, b| disk_rate(&disk(a), &disk(b), NS_PER_S).map(|r| r.mean_in_flight);
        assert_eq!(rate(u64::from(u32::MAX) - 999, 31_000), Some(32.0));
        assert_eq!(rate(5_000, 4_000), None);
        assert_eq!(rate(1 << 40, 0), None);
    }

    #[test]
    fn sectors_are_512_bytes() {
        let before = DiskCounters { name: "sda".into(), ..Default::default() };
        let after = DiskCounters { name: "sda".into(), sectors_read: 2_000, busy_ms: 500, ..Default::default() };
        let rate = disk_rate(&before, &after, NS_PER_S).unwrap();
        assert_eq!(rate.read_bytes_per_s, 1_024_000.0);
        assert_eq!(rate.busy_ratio, 0.5);
    }

    #[test]
    fn shares_sum_to_one_even_if_iowait_runs_backwards() {
        let before = CpuTicks { user: 10, iowait: 50, ..Default::default() };
        let after = CpuTicks { user: 30, system: 20, idle: 60, iowait: 49, ..Default::default() };
        let share = cpu_share(&before, &after).unwrap();
        assert!((share.user + share.system + share.irq + share.iowait + share.steal + share.idle - 1.0).abs() < 1e-12);
        assert_eq!(share.iowait, 0.0);
    }
}
