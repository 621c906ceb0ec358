//! The run as evidence: values that stand, the processors during a phase, our own share of them, what others did.

use crate::guard::{exclude, require};
use model::{
    CpuShare, CpuTicks, DirectProof, Metric, MetricStatus, Ns, PhaseRecord, PhaseRun, PhaseStatus, Run, SystemSample,
    Work, cpu_share, disk_rate, traffic,
};

/// A phase that stands, with its record.
pub fn valid_phase<'a>(run: &'a Run, name: &str) -> Option<(&'a PhaseRun, &'a PhaseRecord)> {
    run.phase(name).filter(|p| p.status == PhaseStatus::Measured).and_then(|p| p.record.as_ref().map(|r| (p, r)))
}

/// The phase that does this work, where it stands, with its record.
pub fn phase_of_work(run: &Run, work: Work) -> Option<(&PhaseRun, &PhaseRecord)> {
    run.phase_of_work(work).and_then(|p| valid_phase(run, &p.plan.name))
}

/// A quantity of the phase that does this work, where it stands.
pub fn value_of_work(run: &Run, work: Work, quantity: &str) -> Option<f64> {
    value(run, &run.metric_of_work(work, quantity)?.id)
}

/// The id of the throughput of the phase that does this work; that of the check where none does.
pub fn rate_id(run: &Run, work: Work) -> String {
    run.metric_id_of_work(work, "throughput_bytes_per_s")
}

/// Throughput of the phase that does this work.
pub fn rate(run: &Run, work: Work) -> Option<f64> {
    value_of_work(run, work, "throughput_bytes_per_s")
}

/// As [`rate`], where direct I/O did not fall back to the page cache.
pub fn direct_rate(run: &Run, work: Work) -> Option<f64> {
    direct_throughput(run, &run.phase_of_work(work)?.plan.name)
}

/// A metric that stands, with a positive value.
pub fn metric<'a>(run: &'a Run, id: &str) -> Option<(&'a Metric, f64)> {
    // A refused metric must not be evidence even if somebody left a value in it, nor one of a phase that was refused.
    let metric = run.metric(id).filter(|m| m.status == MetricStatus::Measured)?;
    let phase_stands = run.phase(metric.key().phase()).is_some_and(|p| p.status == PhaseStatus::Measured);
    metric.value.filter(|v| *v > 0.0 && phase_stands).map(|v| (metric, v))
}

/// The value of a metric that stands.
pub fn value(run: &Run, id: &str) -> Option<f64> {
    metric(run, id).map(|m| m.1)
}

/// `<phase>.throughput_bytes_per_s`.
pub fn throughput(run: &Run, phase: &str) -> Option<f64> {
    value(run, &throughput_id(phase))
}

/// The id of a phase's throughput.
pub fn throughput_id(phase: &str) -> String {
    format!("{phase}.throughput_bytes_per_s")
}

/// Throughput of a phase whose direct I/O did not fall back to the page cache.
pub fn direct_throughput(run: &Run, phase: &str) -> Option<f64> {
    let (_, record) = valid_phase(run, phase)?;
    exclude(record.direct.as_ref().is_some_and(DirectProof::is_from_cache))?;
    throughput(run, phase)
}

/// Whether two metrics differ by more than their own within-run intervals. Where an interval is missing the values alone
/// decide.
pub fn below_beyond_noise(run: &Run, lower: &str, upper: &str) -> bool {
    match (metric(run, lower), metric(run, upper)) {
        (Some((l, lv)), Some((u, uv))) => l.high.unwrap_or(lv) < u.low.unwrap_or(uv),
        _ => false,
    }
}

/// The processors during a phase.
#[derive(Clone, Copy, Debug)]
pub struct Cpus {
    /// Number of the busiest one.
    pub busiest: usize,
    pub share: CpuShare,
    /// System and interrupt time over all processors, in whole processors.
    pub kernel_processors: f64,
    /// Busy time over all processors, in whole processors.
    pub all: f64,
    /// How many there are.
    pub processors: usize,
    /// Time taken by the hypervisor, share of all processors.
    pub steal: f64,
}

impl Cpus {
    /// How much of the time that the busiest processor had was used: what the hypervisor took was not there to be used.
    pub fn full(&self) -> f64 {
        let had = 1.0 - self.share.steal;
        if had > 0.0 { (self.share.busy() / had).min(1.0) } else { 1.0 }
    }
}

fn cpus_between(before: &SystemSample, after: &SystemSample) -> Option<Cpus> {
    require(before.cpus.len() == after.cpus.len())?;
    let share = |(b, a): (&CpuTicks, &CpuTicks)| cpu_share(b, a);
    let shares: Vec<Option<CpuShare>> = before.cpus.iter().zip(&after.cpus).map(share).collect();
    let known = || shares.iter().enumerate().filter_map(|(i, s)| s.map(|s| (i, s)));
    let (busiest, top) = known().max_by(|a, b| a.1.busy().total_cmp(&b.1.busy()))?;
    let count = known().count() as f64;
    Some(Cpus {
        busiest,
        share: top,
        kernel_processors: known().map(|(_, s)| s.system + s.irq).sum(),
        all: known().map(|(_, s)| s.busy()).sum(),
        processors: known().count(),
        steal: known().map(|(_, s)| s.steal).sum::<f64>() / count,
    })
}

/// The processors from the sample before a phase to the one after it; `None` without samples, or where the samples are
/// so far apart that most of what they show is not the phase.
pub fn cpus_during(run: &Run, phase: &PhaseRun) -> Option<Cpus> {
    let record = phase.record.as_ref()?;
    let samples = run.samples_of(phase);
    let (first, last) = (samples.first()?, samples.last()?);
    let span = last.at_ns.saturating_sub(first.at_ns);
    exclude(span == 0 || span > record.duration_ns().saturating_mul(2))?;
    cpus_between(first, last)
}

/// Share of all interrupts of a phase that arrived at one processor; `None` where they are not counted by processor, or
/// where there is only one.
pub fn interrupts_on(run: &Run, phase: &PhaseRun, cpu: usize) -> Option<f64> {
    let counted: Vec<&SystemSample> =
        run.samples_of(phase).iter().filter(|s| !s.interrupts_by_cpu.is_empty()).collect();
    let (before, after) = (counted.first()?, counted.last()?);
    require(before.interrupts_by_cpu.len() == after.interrupts_by_cpu.len() && after.interrupts_by_cpu.len() >= 2)?;
    let more: Vec<u64> =
        before.interrupts_by_cpu.iter().zip(&after.interrupts_by_cpu).map(|(b, a)| a.saturating_sub(*b)).collect();
    let all: u64 = more.iter().sum();
    (all > 0).then(|| more.get(cpu).copied().unwrap_or(0) as f64 / all as f64)
}

/// How busy the busiest processor was in the quiet window before the phase: what is not ours.
pub fn busy_before(run: &Run, record: &PhaseRecord) -> Option<f64> {
    let quiet = record.quiet_before?;
    let from = record.started_ns.saturating_sub(quiet.length_ns);
    let window: Vec<&SystemSample> =
        run.samples.iter().filter(|s| s.at_ns >= from && s.at_ns <= record.started_ns).collect();
    cpus_between(window.first()?, window.last()?).map(|c| c.share.busy())
}

/// Largest share of a processor that was taken away during a phase.
pub fn steal(run: &Run, phase: &PhaseRun) -> f64 {
    let samples = run.samples_of(phase);
    let cpus = samples.first().zip(samples.last()).map(|(a, b)| a.cpus.iter().zip(&b.cpus));
    cpus.into_iter().flatten().filter_map(|(a, b)| cpu_share(a, b)).map(|s| s.steal).fold(0.0, f64::max)
}

/// USER_HZ, in which /proc/stat counts.
const TICK_NS: f64 = 1e7;
/// In shorter times the ticks are too coarse.
const LEAST_NS: Ns = 200_000_000;

/// The share of the time between two looks for which the processors ran, by the ticks that they have accounted: as user, system, idle or
/// stolen. An emulator on a busy host has no steal time to tell; what is missing to the time that passed it did not run through.
pub fn ran_between(before: &SystemSample, after: &SystemSample) -> Option<f64> {
    let passed = after.at_ns.checked_sub(before.at_ns).filter(|ns| *ns >= LEAST_NS)?;
    require(!before.cpus.is_empty() && before.cpus.len() == after.cpus.len())?;
    let ticks: u64 = before.cpus.iter().zip(&after.cpus).map(|(b, a)| a.total().saturating_sub(b.total())).sum();
    // One that never counted anything is none that stood still.
    (ticks > 0).then(|| ticks as f64 * TICK_NS / (passed as f64 * before.cpus.len() as f64))
}

/// As [`ran_between`], during a phase.
pub fn ran_during(run: &Run, phase: &PhaseRun) -> Option<f64> {
    let samples = run.samples_of(phase);
    ran_between(samples.first()?, samples.last()?)
}

/// The share of a phase for which this machine had its processors: it ran, and no hypervisor gave them to others.
pub fn had_processors(run: &Run, phase: &PhaseRun) -> Option<f64> {
    let ran = ran_during(run, phase)?.min(1.0);
    Some(ran * (1.0 - cpus_during(run, phase).map_or(0.0, |c| c.steal)))
}

/// What our workers computed in the kernel for certain, as a share of the time of one processor per worker: the time for which the machine had
/// no processors is accounted to whoever was running.
pub fn own_system_for_certain(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<f64> {
    let (_, system) = own_share(phase, record)?;
    let away = had_processors(run, phase).map_or(0.0, |had| 1.0 - had).max(steal(run, phase));
    Some((system - away).max(0.0))
}

/// CPU that our workers used, user and system, as a share of the time of one processor per worker.
pub fn own_share(phase: &PhaseRun, record: &PhaseRecord) -> Option<(f64, f64)> {
    let available = record.duration_ns() as f64 * f64::from(record.engine_threads(&phase.plan).max(1));
    (available > 0.0).then(|| (record.usage.user_ns as f64 / available, record.usage.system_ns as f64 / available))
}

/// Bytes that reached the lowest layers that count during a phase; `None` where none counts, or not over the phase.
pub fn device_bytes_written(run: &Run, phase: &PhaseRun) -> Option<u64> {
    let samples = run.samples_of(phase);
    let (first, last) = (samples.first()?, samples.last()?);
    let disks: Vec<String> = run.target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    traffic(first, last, &disks).map(|t| t.write_bytes)
}

/// Requests that a disk completed for each operation of a phase; `None` where it does not count.
pub fn requests_per_operation(run: &Run, phase: &PhaseRun, disk: &str) -> Option<f64> {
    let operations = phase.record.as_ref()?.operations;
    let samples = run.samples_of(phase);
    let count = |sample: &SystemSample| sample.disks.iter().find(|d| d.name == disk).map(|d| d.reads + d.writes);
    let requests = count(samples.last()?)?.checked_sub(count(samples.first()?)?)?;
    (operations > 0).then(|| requests as f64 / operations as f64)
}

/// Share of the phase in which a whole disk of the stack had requests in flight (the largest, of several).
pub fn disk_busy(run: &Run, phase: &PhaseRun) -> Option<f64> {
    let samples = run.samples_of(phase);
    let (first, last) = (samples.first()?, samples.last()?);
    run.target
        .stack
        .lowest_counted()
        .iter()
        .filter_map(|layer| {
            let before = first.disks.iter().find(|d| d.name == layer.name)?;
            let after = last.disks.iter().find(|d| d.name == layer.name)?;
            disk_rate(before, after, last.at_ns.saturating_sub(first.at_ns)).map(|r| r.busy_ratio)
        })
        .max_by(f64::total_cmp)
}

/// What others moved in the quiet windows around a phase, relative to the phase's own rate, as far as it is there with
/// confidence (the rule by which phases are refused, DESIGN.md "Measuring truthfully"): the end of a read-ahead or a journal
/// commit that falls into one of the two windows is nobody's use. Events of refused phases count: this is why they were
/// refused.
pub fn foreign_ratio(record: &PhaseRecord) -> Option<f64> {
    /// Fewer operations in one window alone are a single burst.
    const LONE_BURST_OPERATIONS: u64 = 16;
    const LEVEL: f64 = 0.95;
    let own = record.bytes as f64 / record.duration_ns().max(1) as f64;
    let windows = [record.quiet_before, record.quiet_after];
    let windows: Vec<_> = windows.into_iter().flatten().filter(|w| w.length_ns > 0).collect();
    exclude(own <= 0.0 || windows.is_empty())?;
    let operations: u64 = windows.iter().map(|w| w.operations).sum();
    let in_both = windows.len() == 2 && windows.iter().all(|w| w.operations > 0);
    if operations == 0 || (!in_both && operations < LONE_BURST_OPERATIONS) {
        return Some(0.0);
    }
    let bytes: u64 = windows.iter().map(|w| w.read_bytes.saturating_add(w.write_bytes)).sum();
    let length: u64 = windows.iter().map(|w| w.length_ns).sum();
    let sure = stats::poisson_lower(operations, LEVEL)? / operations as f64;
    Some(bytes as f64 * sure / length as f64 / own)
}

/// Phases that moved data to or from the target, whether they stand or not.
pub fn executed(run: &Run) -> impl Iterator<Item = (&PhaseRun, &PhaseRecord)> {
    run.phases
        .iter()
        .filter(|p| !p.plan.copies_memory() && p.plan.moves_data() && p.status != PhaseStatus::Skipped)
        .filter_map(|p| p.record.as_ref().map(|r| (p, r)))
}
