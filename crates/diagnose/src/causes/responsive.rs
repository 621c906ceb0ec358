//! What a small operation waits for beside a writer: the queue of what is being written back, the device itself, dirty memory.

use super::{Cause, CauseKind, CauseNature};
use crate::stack_view::{self, Facts as _};
use crate::{machine, phrase};
use model::{
    DiskRate, Evidence, Layer, LimitLayer, MemorySample, PhaseRun, Run, SmallOperations, Step, Work, facts as names,
    traffic,
};

/// What is not at least so many times as long as alone, and longer by so much, is felt by nobody.
const FELT: f64 = 2.0;
const FELT_NS: f64 = 5e6;
/// What takes this share of a wait, on average, explains it.
const EXPLAINS: f64 = 0.25;
/// With fewer requests in flight, on average, there is no queue.
const QUEUE: f64 = 2.0;

/// What was seen while the writer wrote.
struct Seen<'a> {
    phase: &'a PhaseRun,
    disk: Option<&'a Layer>,
    moved: Option<DiskRate>,
    dirty: Option<f64>,
    writeback: Option<f64>,
    /// At which what is dirty goes away, bytes per second.
    rate: Option<f64>,
}

impl<'a> Seen<'a> {
    fn of(run: &'a Run) -> Option<Self> {
        let (phase, _) = machine::phase_of_work(run, Work::ResponsiveLoaded)?;
        let samples = run.samples_of(phase);
        let names: Vec<String> = run.target.stack.lowest_counted().iter().map(|l| l.name.clone()).collect();
        let moved = samples.first().zip(samples.last()).and_then(|(a, b)| traffic(a, b, &names));
        let mean = |of: fn(&MemorySample) -> Option<u64>| {
            let known: Vec<f64> = samples.iter().filter_map(|s| of(&s.memory)).map(|b| b as f64).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let written = moved.as_ref().map(|m| m.write_bytes_per_s).filter(|r| *r > 0.0);
        Some(Self {
            phase,
            disk: stack_view::disks(&run.target.stack).first().map(|path| path.disk),
            dirty: mean(|m| m.dirty_bytes),
            writeback: mean(|m| m.writeback_bytes),
            rate: written.or(run.responsiveness()?.copy_bytes_per_s),
            moved,
        })
    }

    /// How long it takes to write so much.
    fn time_ns(&self, bytes: Option<f64>) -> f64 {
        bytes.zip(self.rate).map_or(0.0, |(bytes, rate)| bytes * 1e9 / rate)
    }

    /// All that was seen, beside how long the operations took.
    fn evidence(&self, run: &Run, what: &str, of: &SmallOperations) -> Vec<Evidence> {
        let latency = |when, ns, job: &String| {
            let what = format!("{} of a small {what} {when}, ns", of.percentile);
            Evidence::measured(what, ns, format!("{job}.latency_ns_{}", of.percentile))
        };
        let source = |file: &str| format!("{} {file}", self.phase.plan.name);
        let mean = |what: &str, value: Option<f64>, file: &str| match value {
            Some(value) => Evidence::measured(what, value, source(file)),
            None => Evidence::absence(what, source(file)),
        };
        let fact = |name| self.disk.filter(|d| d.fact(name).is_some()).map(|d| d.evidence(name));
        let settings = run
            .environment
            .dirty_settings
            .iter()
            .filter(|(name, _)| name.contains("dirty_b") || name.contains("ratio"));
        [latency("alone", of.idle_ns, &of.jobs[0]), latency("beside a writer", of.loaded_ns, &of.jobs[1])]
            .into_iter()
            .chain([
                mean("Dirty on average, bytes", self.dirty, "meminfo"),
                mean("Writeback on average, bytes", self.writeback, "meminfo"),
                mean("requests in flight", self.moved.as_ref().map(|m| m.mean_in_flight), "diskstats"),
                mean("written meanwhile, bytes per second", self.rate, "diskstats"),
            ])
            .chain(
                [names::SCHEDULER, names::NR_REQUESTS, names::WBT_LAT_USEC, names::WRITE_CACHE]
                    .map(fact)
                    .into_iter()
                    .flatten(),
            )
            .chain(
                settings.filter_map(|(name, value)| Some(Evidence::fact(name, (*value).filter(|v| *v > 0)?, "sysctl"))),
            )
            .collect()
    }

    /// The setting to try first.
    fn step(&self) -> Step {
        let is = |name, value: &str| self.disk.and_then(|d| d.text(name)) == Some(value);
        if is(names::SCHEDULER, "none") {
            return Step::SchedulerForReads;
        }
        match self.disk.and_then(|d| d.int(names::WBT_LAT_USEC)) {
            Some(0) => Step::ThrottleWriteback,
            _ => Step::LessDirtyMemory,
        }
    }
}

/// `waits_for`: what a row says; then what that costs.
fn cause(layer: LimitLayer, waits_for: &str, cost: &str, of: &SmallOperations, evidence: Vec<Evidence>) -> Cause {
    Cause::new(layer, CauseNature::Setting, format!("{waits_for}: {cost}"))
        .with_short(waits_for)
        .of_kind(CauseKind::BesideWriter)
        .by_time()
        .speedup_without(Some(of.ratio))
        .with_evidence(evidence)
        .decided_by("the same with vm.dirty_bytes=16777216, and with another scheduler")
}

fn is_felt(of: &&SmallOperations) -> bool {
    of.ratio >= FELT && of.loaded_ns - of.idle_ns >= FELT_NS
}

/// What small reads, and small appends, wait for while something writes.
pub fn waits(run: &Run) -> Vec<Cause> {
    let Some((small, seen)) = run.responsiveness().zip(Seen::of(run)) else { return Vec::new() };
    let read = small.read.as_ref().filter(is_felt).map(|read| {
        let (loaded, idle) = (phrase::time(read.loaded_ns), phrase::time(read.idle_ns));
        let evidence = seen.evidence(run, "read", read);
        let in_flight = seen.moved.as_ref().map(|m| m.mean_in_flight);
        let queued = seen.time_ns(seen.writeback) >= EXPLAINS * (read.loaded_ns - read.idle_ns);
        // Requests in flight are also our own that wait.
        if queued || seen.writeback.is_none() && in_flight.is_none_or(|n| n >= QUEUE) {
            let bytes = seen.writeback.filter(|_| queued).map(|b| format!(", {} on average", phrase::bytes(b as u64)));
            let cost = format!(
                "beside a writer a small read takes {loaded} instead of {idle}, behind what is being written back{}",
                bytes.unwrap_or_default()
            );
            return cause(LimitLayer::BlockLayer, "one queue for all", &cost, read, evidence).step(seen.step(), None);
        }
        let cost = format!(
            "beside a writer a small read takes {loaded} instead of {idle}, with {} requests in flight: it is busy \
             with its own write cache, or with moving data",
            phrase::count(in_flight.unwrap_or(0.0))
        );
        cause(LimitLayer::Device, "the device itself", &cost, read, evidence).step(Step::LessDirtyMemory, None)
    });
    let append = small.append.as_ref().filter(is_felt).and_then(|append| {
        let wait = append.loaded_ns - append.idle_ns;
        let of_read = small.read.as_ref().map_or(0.0, |r| r.loaded_ns - r.idle_ns);
        let dirty = seen.dirty.map(|dirty| dirty + seen.writeback.unwrap_or(0.0));
        let explains = wait >= FELT * of_read && seen.time_ns(dirty) >= EXPLAINS * wait;
        let cost = format!(
            "beside a writer a small synced append takes {} instead of {}, as long as a part of {} takes to be written",
            phrase::time(append.loaded_ns),
            phrase::time(append.idle_ns),
            phrase::bytes(dirty? as u64)
        );
        let evidence = seen.evidence(run, "append", append);
        let named = || cause(LimitLayer::PageCache, "dirty memory", &cost, append, evidence);
        explains.then(|| named().step(Step::LessDirtyMemory, None))
    });
    read.into_iter().chain(append).collect()
}
