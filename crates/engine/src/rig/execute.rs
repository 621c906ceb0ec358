//! Runs the streams of a phase side by side, reads back what is to be read back, and makes one record of theirs.

use super::own_files::Files;
use super::refusal::refusal_of_device;
use super::shelf::Shelf;
use super::stream_worker::Worker;
use super::verify::{Caches, ReadsSeen, make_cold, not_started, past_cache};
use crate::recorder::phase_record;
use crate::{Control, Crew, DeviceError, StreamRecord};
use model::{
    EngineKind, EngineRecord, Failure, FailureKind, Ns, Numa, PhasePlan, PhaseRecord, StopRule, StreamPlan, Warmup,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use sys::Epoch;
use workload::{Checked, Verified};

/// The way that a stream takes.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Nothing is done.
    Null,
    /// Past the page cache: io_uring, else threads. `without_ring`: why io_uring must not be used.
    Direct { files: Files, without_ring: Option<String> },
    /// Through the page cache: pread and pwrite in the worker's own thread, unless the plan asks for more at once.
    Buffered { files: Files },
    /// Direct was asked and refused, for this reason: threads through the page cache, so that the depth is kept.
    StandIn { files: Files, reason: String },
}

impl Way {
    pub(super) fn files(&self) -> Files {
        match self {
            Self::Null => Files::new(),
            Self::Direct { files, .. } | Self::Buffered { files } | Self::StandIn { files, .. } => files.clone(),
        }
    }
}

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// By which way, for each stream of the plan.
    pub ways: Vec<Way>,
    /// The phase, with its streams within what may be touched.
    pub plan: &'a PhasePlan,
    /// The run's clock.
    pub epoch: Epoch,
    /// Length of the intervals of the series.
    pub interval_ns: Ns,
    /// The caches between the streams and their medium.
    pub caches: Caches<'a>,
    /// Where buffers wait between phases.
    pub shelf: &'a Shelf,
}

/// What came out.
#[derive(Debug)]
pub(crate) struct Executed {
    pub record: PhaseRecord,
    /// Of each stream that verifies.
    pub checked: Vec<Checked>,
    /// How the phase's own reads went; what was left in the caches before is not known here.
    pub own_reads: ReadsSeen,
    /// How the read-back's went, where there was one.
    pub read_back: Option<ReadsSeen>,
}

/// How a stream ran.
pub(super) struct Ran {
    pub record: StreamRecord,
    pub kind: EngineKind,
    pub features: Vec<String>,
    pub missing: Vec<String>,
    pub verified: Option<Verified>,
}

/// Runs all streams of the phase, one worker each; they start at one moment, when all are ready. When all have ended, what
/// is to be read back is. `known` has, for each stream that verifies, what it knows of its data; it may be empty where none
/// does.
///
/// # Errors
/// Where a worker could not be started, or a device's interface failed. Failed operations are in the record.
pub(crate) fn execute(job: &Job<'_>, mut known: Vec<Option<Verified>>, control: &Control) -> Result<Executed, Failure> {
    let streams = &job.plan.streams;
    if streams.is_empty() || streams.len() != job.ways.len() {
        let message = format!("{}: a phase of {} streams and {} ways", job.plan.name, streams.len(), job.ways.len());
        return Err(Failure::new(FailureKind::Internal, message));
    }
    known.resize_with(streams.len(), || None);
    let crew = Crew::new(streams.len() as u32, &job.plan.stop);
    let works: Vec<_> = streams.iter().zip(&job.ways).zip(known).map(|((s, w), k)| (s, w, k)).collect();
    let before = job.caches.device_read_bytes();
    let results = run_all(job, job.plan, works, &crew, control);
    let own_reads = ReadsSeen {
        direct: job.ways.iter().all(|way| matches!(way, Way::Direct { .. })),
        resident_pages: None,
        device_read_bytes: delivered(before, job.caches.device_read_bytes()),
    };
    let ran: Vec<Ran> =
        results.into_iter().collect::<Result<_, _>>().map_err(|(e, _)| refusal_of_device(&job.plan.name, &e))?;
    let mut engine = EngineRecord { kind: ran[0].kind, features: ran[0].features.clone(), ..EngineRecord::default() };
    let mut records = Vec::with_capacity(ran.len());
    let mut verified = Vec::with_capacity(ran.len());
    for one in ran {
        engine.missing.extend(one.missing.into_iter().filter(|m| !engine.missing.contains(m)).collect::<Vec<_>>());
        records.push((one.record, one.kind));
        verified.push(one.verified);
    }
    let mut record = phase_record(records, streams, engine, &crew);
    let (checked, read_back) = read_back(job, verified, &mut record, control);
    Ok(Executed { record, checked, own_reads, read_back })
}

/// What the lowest layers read between two looks at them.
fn delivered(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).map(|(before, after)| after.saturating_sub(before))
}

/// How a stream ran; if it could not, why, and what it knew of its data.
pub(super) type Outcome = Result<Ran, (DeviceError, Option<Box<Verified>>)>;

/// A stream, its way, and what it knows of its data.
type Work<'a> = (&'a StreamPlan, &'a Way, Option<Verified>);

fn run_all(job: &Job<'_>, phase: &PhasePlan, mut works: Vec<Work<'_>>, crew: &Crew, control: &Control) -> Vec<Outcome> {
    let worker = |stream, known, reads_back| Worker::new(job, phase, stream, (crew, control), known, reads_back);
    // What is read back has a phase of its own.
    let reads_back = !std::ptr::eq(phase, job.plan);
    let confined =
        |s: &StreamPlan| !s.path.cpus.is_empty() || s.path.io_priority.is_some() || s.path.numa != Numa::default();
    if works.len() == 1 && !confined(works[0].0) {
        let (stream, way, known) = works.remove(0);
        return vec![worker(stream, known, reads_back).run(way)];
    }
    let streams = works.len();
    let only = works.first().map(|(stream, way, _)| (*stream, *way)).filter(|_| streams == 1);
    // A worker that is confined to processors, or has a priority, has a thread of its own, so that ours is not.
    let mut outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let mut threads: Vec<Result<ScopedJoinHandle<'_, Outcome>, _>> = Vec::with_capacity(streams);
        for (number, (stream, way, known)) in works.into_iter().enumerate() {
            // The closure is gone where it could not be handed over; what is known of the data must not be.
            let known = Arc::new(Mutex::new(known));
            let kept = Arc::clone(&known);
            let take = |known: &Mutex<Option<Verified>>| known.lock().unwrap_or_else(PoisonError::into_inner).take();
            let run = move || worker(stream, take(&known), reads_back).run(way);
            let thread = std::thread::Builder::new().name(format!("stream-{number}")).spawn_scoped(scope, run);
            threads.push(thread.map_err(|source| {
                if streams > 1 {
                    // The others wait for its start.
                    crew.leave();
                }
                (
                    DeviceError::NoThread { purpose: format!("each of {streams} jobs"), source },
                    take(&kept).map(Box::new),
                )
            }));
        }
        // A worker that panicked is a defect of ours: it goes on here.
        let ended = |t: ScopedJoinHandle<'_, Outcome>| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        threads.into_iter().map(|thread| thread.and_then(ended)).collect()
    });
    if let Some((stream, way)) = only
        && let Some((_, known)) =
            outcomes.pop_if(|o| matches!(o, Err((DeviceError::NoThread { .. }, _)))).and_then(Result::err)
        && let Ok(cpus) = sys::affinity()
    {
        // One thread is enough to measure with: ours is confined for as long.
        outcomes.push(worker(stream, known.map(|k| *k), reads_back).run(way));
        // They were ours before; should one have gone offline, the others serve.
        let _ = sys::set_affinity(&cpus);
    }
    outcomes
}

/// Reads back what the streams wrote, where that is asked for: after all of them have ended, so that it disturbs nobody's
/// figures; its own are in none of the phase's. It goes past the page cache wherever that can be, whatever way the stream
/// took: what is in memory says nothing of the device. Its errors are counted with the phase's.
fn read_back(
    job: &Job<'_>,
    verified: Vec<Option<Verified>>,
    record: &mut PhaseRecord,
    control: &Control,
) -> (Vec<Checked>, Option<ReadsSeen>) {
    let mut checked = Vec::new();
    let ends = verified.iter().flatten().any(Verified::ends);
    let mut works = Vec::new();
    for (i, known) in verified.into_iter().enumerate() {
        let Some(known) = known else { continue };
        match job.plan.streams[i].read_back(job.plan.engine).filter(|_| !ends) {
            Some(plan) => works.push((&job.ways[i], plan, known)),
            None => checked.push(known.finish()),
        }
    }
    if works.is_empty() {
        return (checked, None);
    }
    // The series is of the phase's own operations.
    control.series.close();
    let mut seen = ReadsSeen { direct: true, resident_pages: Some(0), device_read_bytes: None };
    let mut prepared = Vec::with_capacity(works.len());
    for (way, plan, mut known) in works {
        let direct = matches!(way, Way::Direct { .. });
        let other = if direct || control.stopped() { None } else { past_cache(way, &plan, known.unit_bytes()) };
        let direct = direct || other.is_some();
        let mut left = None;
        if !control.stopped() {
            let path;
            (path, left) = make_cold(&mut known, &way.files(), &plan, job.caches, direct);
            known.reads_by(path);
        }
        seen.direct &= direct;
        seen.resident_pages = seen.resident_pages.zip(left).map(|(a, b)| a + b);
        prepared.push((plan, other.unwrap_or_else(|| way.clone()), known));
    }
    let mut known = Vec::with_capacity(prepared.len());
    let prepared: Vec<(StreamPlan, Way)> = prepared
        .into_iter()
        .map(|(plan, way, verified)| {
            known.push(verified);
            (plan, way)
        })
        .collect();
    let ready: Vec<Work<'_>> =
        prepared.iter().zip(known).map(|((plan, way), known)| (plan, way, Some(known))).collect();
    let phase = PhasePlan {
        streams: Vec::new(),
        time_limit_ns: Ns::MAX / 2,
        stop: StopRule::RegionOnce,
        warmup: Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
        ..job.plan.clone()
    };
    let crew = Crew::new(ready.len() as u32, &phase.stop);
    let before = job.caches.device_read_bytes();
    for result in run_all(job, &phase, ready, &crew, control) {
        match result {
            Ok(ran) => {
                for (name, count) in ran.record.errors {
                    *record.errors.entry(name).or_default() += count;
                }
                checked.extend(ran.verified.map(Verified::finish));
            }
            // Part of nothing was read back; what was found before stands.
            Err((error, known)) => {
                record.engine.missing.push(not_started(&error));
                checked.extend(known.map(|known| known.finish()));
            }
        }
    }
    seen.device_read_bytes = delivered(before, job.caches.device_read_bytes());
    (checked, Some(seen))
}
