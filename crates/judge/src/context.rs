//! What a phase is judged against, besides its plan and its record.

use model::{
    BlockPlan, CpuShare, Direction, GroupPhase, Ns, Operation, PhasePlan, PhaseRecord, ProcessIo, QuietWindow, Stack,
    SystemSample, TargetKind, cpu_share, disk_rate,
};

/// Everything around a phase. Facts that are missing switch the rules off that need them.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub target: TargetKind,
    /// The path below it, with ceilings and counted layers.
    pub stack: &'a Stack,
    /// The observer's samples around the phase: the last one before its start to the first one after its end
    /// ([`model::Run::samples_of`]).
    pub samples: &'a [SystemSample],
    /// The first sample of the run: how the machine was before we did anything.
    pub at_start: Option<&'a SystemSample>,
    /// Rate of the memory copy of the same run, if it was measured.
    pub memory_bytes_per_s: Option<f64>,
    /// Steps of the wall clock against the monotonic clock during the phase, absolute sum; `None` if not watched.
    pub clock_step_ns: Option<Ns>,
    /// Whether this process was stopped (SIGSTOP, Ctrl-Z) and continued during the phase.
    pub process_stopped: bool,
    /// Bytes that this program wrote to the measured disks beside the phase, to keep it while it ran.
    pub kept_bytes: u64,
    /// All quiet windows of the run so far, those of this phase among them.
    pub windows: &'a [QuietWindow],
    /// The best sequential rate of the run so far: what bytes of others cost beside small operations of ours.
    pub sequential_bytes_per_s: Option<f64>,
    /// What other processes moved around and during the phase, as far as they may be looked at, the largest first.
    pub others: &'a [ProcessIo],
    /// What the ranks of the group did together in this phase; their bytes may be in the counters of this machine's disks.
    pub group: Option<&'a GroupPhase>,
}

/// Traffic of the lowest counting layers over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DeviceTraffic {
    pub from_ns: Ns,
    pub to_ns: Ns,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub writes: u64,
    pub reads: u64,
    /// Requests in flight at the devices, mean, summed over them.
    pub mean_in_flight: f64,
}

impl DeviceTraffic {
    pub fn seconds(&self) -> f64 {
        (self.to_ns - self.from_ns) as f64 / 1e9
    }
}

impl Context<'_> {
    /// The samples at the ends of a phase, the first one earlier than the last. They must fit it: either they lie at its ends (within
    /// 2 % of its length; or 20 ms before it, where our own preparations may still write, and 150 ms after it, where we are silent), or
    /// those inside it span at least four fifths.
    pub(crate) fn samples_at_ends(&self, record: &PhaseRecord) -> Option<(&SystemSample, &SystemSample)> {
        let (start, end) = (record.started_ns, record.ended_ns);
        let slack = (record.duration_ns() / 50).max(20_000_000);
        let slack_after = slack.max(150_000_000);
        let first = self.samples.iter().rev().find(|s| s.at_ns <= start && start - s.at_ns <= slack);
        let first = first.or_else(|| self.samples.iter().find(|s| s.at_ns >= start))?;
        let last = self.samples.iter().find(|s| s.at_ns >= end && s.at_ns - end <= slack_after);
        let last = last.or_else(|| self.samples.iter().rev().find(|s| s.at_ns <= end))?;
        if last.at_ns <= first.at_ns || (last.at_ns - first.at_ns) < record.duration_ns() / 5 * 4 {
            return None;
        }
        Some((first, last))
    }

    /// What the devices did during the phase. `None` where nothing counts or no samples fit.
    pub(crate) fn device_traffic(&self, record: &PhaseRecord) -> Option<DeviceTraffic> {
        let (first, last) = self.samples_at_ends(record)?;
        let layers = self.stack.lowest_counted();
        if layers.is_empty() {
            return None;
        }
        let elapsed = last.at_ns - first.at_ns;
        let mut sum = DeviceTraffic {
            from_ns: first.at_ns,
            to_ns: last.at_ns,
            read_bytes: 0,
            write_bytes: 0,
            writes: 0,
            reads: 0,
            mean_in_flight: 0.0,
        };
        for layer in layers {
            let before = first.disks.iter().find(|d| d.name == layer.name)?;
            let after = last.disks.iter().find(|d| d.name == layer.name)?;
            let rate = disk_rate(before, after, elapsed)?;
            sum.read_bytes += rate.read_bytes;
            sum.write_bytes += rate.write_bytes;
            sum.writes += after.writes.saturating_sub(before.writes);
            sum.reads += after.reads.saturating_sub(before.reads);
            sum.mean_in_flight += rate.mean_in_flight;
        }
        Some(sum)
    }

    /// Shares of each CPU's time over the samples; empty if CPUs came or went.
    pub(crate) fn cpu_shares(&self) -> Vec<CpuShare> {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else { return Vec::new() };
        if first.cpus.len() != last.cpus.len() {
            return Vec::new();
        }
        first.cpus.iter().zip(&last.cpus).filter_map(|(a, b)| cpu_share(a, b)).collect()
    }
}

/// Shares of a phase's bytes that were read and that were sent; what trims and zeroing took away was never transferred.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transferred {
    pub read: f64,
    pub written: f64,
}

/// From the streams where they are told apart, else from the phase's one direction.
pub(crate) fn transferred(plan: &PhasePlan, record: &PhaseRecord) -> Transferred {
    if record.streams.is_empty() {
        let sends = |block: &BlockPlan| matches!(block.operation, Operation::Read | Operation::Write);
        let sends = plan.streams.iter().all(|s| s.blocks().is_none_or(|s| sends(s.block)));
        return match (plan.is_write(), sends) {
            (false, _) => Transferred { read: 1.0, written: 0.0 },
            (true, true) => Transferred { read: 0.0, written: 1.0 },
            (true, false) => Transferred { read: 0.0, written: 0.0 },
        };
    }
    let of = |direction: Direction| {
        let all = record.streams.iter().flat_map(|s| &s.directions);
        all.filter(|d| d.direction == direction).map(|d| d.bytes).sum::<u64>() as f64
    };
    let all = (record.bytes as f64).max(1.0);
    Transferred { read: of(Direction::Read) / all, written: of(Direction::Write) / all }
}

/// Bytes that the phase itself moved between two moments, from the series; an interval counts by its part inside.
pub(crate) fn own_bytes_between(record: &PhaseRecord, from: Ns, to: Ns) -> f64 {
    record
        .intervals
        .iter()
        .filter(|i| i.length_ns > 0)
        .map(|i| {
            let inside = to.min(i.start_ns + i.length_ns).saturating_sub(from.max(i.start_ns));
            i.bytes as f64 * inside as f64 / i.length_ns as f64
        })
        .sum()
}
