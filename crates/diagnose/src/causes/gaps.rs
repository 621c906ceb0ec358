//! A device that stands still: nothing completes for a while, once or again and again.

use super::{Cause, CauseNature, probes};
use crate::guard::{exclude, require};
use crate::{machine, phrase, stack_view};
use model::{
    Access, Confidence, DiskRate, Evidence, Interval, LimitLayer, Ns, PhaseRecord, PhaseRun, Run, Step, Sync,
    SystemSample, cpu_share, traffic,
};

/// Shorter ones are an interval or two in which nothing happened to complete.
const MIN_NS: Ns = 300_000_000;
/// So many times the usual time between two completions.
const UNUSUAL: f64 = 10.0;
/// Gaps that take this share of the time are what the rate is held by.
const MATTERS: f64 = 0.1;
/// A single one this long is told, whatever it did to the rate: a recorder or a database feels it.
const FELT_NS: Ns = model::NS_PER_S;

/// The gaps of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Gaps {
    /// Number of gaps.
    pub count: u32,
    pub longest_ns: Ns,
    /// Their share of the time.
    pub share: f64,
    /// Bytes that the phase had moved when the first began.
    pub bytes_before_first: u64,
    /// Bytes from one to the next, on average; `None` of a single one.
    pub bytes_between: Option<u64>,
}

impl Gaps {
    /// Whether the rate of the phase is what they leave of it.
    pub fn hold_rate_down(&self) -> bool {
        self.share >= MATTERS
    }
}

/// A disk that moves this share of the phase's own rate is at work.
const AT_WORK: f64 = 0.1;

/// Whether the disks had work and completed none of it, in a time in which nothing of ours completed. What goes past the page
/// cache is work for them all the time, so that only their counters can speak against it (they completed something, or had nothing
/// in flight: our own thread did not run); of what goes through it, only they can speak for it.
fn disks_idle(run: &Run, phase: &PhaseRun, record: &PhaseRecord, from: Ns, to: Ns) -> bool {
    if taken_away(run, phase, from, to) {
        return false;
    }
    let own = record.bytes as f64 * 1e9 / record.duration_ns().max(1) as f64;
    match during(run, phase, from, to) {
        Some((moved, _)) if moved.read_bytes_per_s + moved.write_bytes_per_s >= own * AT_WORK => false,
        // Older kernels count time with requests in flight only when one of them ends.
        Some((moved, in_flight)) => moved.busy_ratio > 0.0 || in_flight,
        None => !may_be_unasked(phase),
    }
}

/// Share of a processor that a hypervisor takes in a time in which nothing else needs to have happened.
const TAKEN: f64 = 0.5;

/// Whether a processor was taken away meanwhile, with a word of the hypervisor or without: then it is this machine that stood still.
fn taken_away(run: &Run, phase: &PhaseRun, from: Ns, to: Ns) -> bool {
    let samples = run.samples_of(phase);
    let before = samples.iter().rev().find(|s| s.at_ns <= from).or(samples.first());
    let after = samples.iter().find(|s| s.at_ns >= to).or(samples.last());
    if before.zip(after).and_then(|(a, b)| machine::ran_between(a, b)).is_some_and(|ran| ran < 1.0 - TAKEN) {
        return true;
    }
    let cpus = before.zip(after).map(|(a, b)| a.cpus.iter().zip(&b.cpus));
    cpus.into_iter().flatten().filter_map(|(a, b)| cpu_share(a, b)).any(|s| s.steal >= TAKEN)
}

/// What the disks did in a time, and whether they had requests in flight all through it; `None` where no samples cover half of it.
fn during(run: &Run, phase: &PhaseRun, from: Ns, to: Ns) -> Option<(DiskRate, bool)> {
    let disks: Vec<String> = run.target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
    let within: Vec<&SystemSample> =
        run.samples_of(phase).iter().filter(|s| s.at_ns >= from && s.at_ns <= to).collect();
    let (first, last) = (*within.first()?, *within.last()?);
    // What lies at the ends of the gap completed there.
    exclude(last.at_ns.saturating_sub(first.at_ns) * 2 < to.saturating_sub(from))?;
    let busy = |s: &SystemSample| s.disks.iter().any(|d| disks.contains(&d.name) && d.in_flight > 0);
    Some((traffic(first, last, &disks)?, within.iter().all(|s| busy(s))))
}

/// Whether a time without a completion of ours may be one in which the device was not asked: through the page cache, what we are
/// given is what was read ahead, and what we write is taken by memory.
fn may_be_unasked(phase: &PhaseRun) -> bool {
    let buffered = |s: &model::StreamPlan| s.path.access == Access::Buffered;
    phase.plan.streams.iter().any(|s| buffered(s) && s.durability.sync == Sync::None)
}

/// Gaps in the counted part of a phase: the device had work, and completed none. `None` where there are none, or where they are
/// meant (rounds that end in a sync).
pub(crate) fn gaps(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<Gaps> {
    let rounds = |s: &model::StreamPlan| matches!(s.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd);
    let paced = |s: &model::StreamPlan| s.timing.think.is_some() || s.timing.pacing.is_some();
    // What is done again pauses and syncs as it did then.
    exclude(
        record.operations == 0 || phase.plan.is_replay() || phase.plan.streams.iter().any(|s| rounds(s) || paced(s)),
    )?;
    let intervals = record.counted_intervals();
    let usual_ns = record.duration_ns() as f64 / record.operations as f64;
    let least = (MIN_NS as f64).max(usual_ns * UNUSUAL) as Ns;
    let mut found = Gaps::default();
    let mut all = 0;
    let mut first = None;
    let mut last = 0;
    let mut moved: u64 = record.intervals.iter().take(record.intervals.len() - intervals.len()).map(|i| i.bytes).sum();
    for stretch in intervals.chunk_by(|a, b| (a.operations == 0) == (b.operations == 0)) {
        let length: Ns = stretch.iter().map(|i| i.length_ns).sum();
        moved += stretch.iter().map(|i| i.bytes).sum::<u64>();
        let (from, to) = (stretch[0].start_ns, stretch[0].start_ns + length);
        let stood = || disks_idle(run, phase, record, from, to);
        if stretch[0].operations == 0 && length >= least && stood() {
            found.count += 1;
            found.longest_ns = found.longest_ns.max(length);
            all += length;
            first.get_or_insert(moved);
            last = moved;
        }
    }
    let time: Ns = intervals.iter().map(|i| i.length_ns).sum();
    found.bytes_before_first = first?;
    found.share = all as f64 / time.max(1) as f64;
    let between = u64::from(found.count - 1);
    found.bytes_between = last.saturating_sub(found.bytes_before_first).checked_div(between);
    Some(found)
}

/// The counted intervals of a phase in which something completed: what the rate was while the device did not stand still.
pub(crate) fn without_gaps(record: &PhaseRecord) -> Vec<Interval> {
    record.counted_intervals().iter().filter(|i| i.operations > 0).copied().collect()
}

/// The gaps of a phase, where they are what holds it: how many, how long, after how much.
pub(crate) fn between_gaps(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<Cause> {
    let gaps = gaps(run, phase, record)?;
    require(gaps.hold_rate_down() || gaps.longest_ns >= FELT_NS)?;
    let name = &phase.plan.name;
    let times = if gaps.count == 1 { "once".to_owned() } else { format!("{} times", gaps.count) };
    let mb = |bytes: u64| phrase::bytes(bytes);
    let then = gaps.bytes_between.filter(|b| *b > 0).map_or(String::new(), |b| format!(", then each {}", mb(b)));
    let what = stack_view::display_name(run);
    let statement = format!(
        "{what} has gaps without a completion: {times} in {name}, up to {}, {} of the time, first after {}{then}",
        phrase::seconds(gaps.longest_ns),
        phrase::percent(gaps.share),
        mb(gaps.bytes_before_first),
    );
    let (standing, sure) = match gaps.hold_rate_down() {
        true => (CauseNature::Path, Confidence::Probable),
        false => (CauseNature::Distortion, Confidence::Low),
    };
    let source = || format!("{name} series");
    Some(
        Cause::new(LimitLayer::Device, standing, statement)
            .with_confidence(sure)
            .speedup_without(Some(1.0 / (1.0 - gaps.share)))
            .with_evidence([
                Evidence::measurement("longest time without a completion, ns", gaps.longest_ns, source()),
                Evidence::measured("share of time without a completion", gaps.share, source()),
                Evidence::measurement("gaps", gaps.count, source()),
                Evidence::measurement("bytes moved before the first", gaps.bytes_before_first, source()),
            ])
            .with_evidence(
                gaps.bytes_between.map(|b| Evidence::measurement("bytes moved from one to the next", b, source())),
            )
            .decided_by("the same phase after some minutes of rest, and on another device")
            .step(Step::LeaveTimeToTidy, None),
    )
}

/// The phase that stands still the most.
pub fn is_stalled(run: &Run) -> Option<Cause> {
    probes::all(run)
        .into_iter()
        .filter_map(|p| Some((gaps(run, p.phase, p.record)?, between_gaps(run, p.phase, p.record)?)))
        .max_by(|a, b| {
            (a.0.hold_rate_down(), a.0.share)
                .partial_cmp(&(b.0.hold_rate_down(), b.0.share))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
        .map(|(_, cause)| cause)
}
