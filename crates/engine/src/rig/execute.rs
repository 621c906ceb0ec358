//! Runs the streams of a phase side by side, reads back what is to be read back, and makes one record of theirs.

use super::refusal::refusal_of_device;
use super::stream_worker::Worker;
use super::verify::{ReadEvidence, make_cold, reopen_direct};
use super::work::{OpenTarget, PhaseWork, StreamOutcome, StreamWork};
use crate::recorder::phase_record;
use crate::{DeviceError, PhaseShared};
use model::{EngineRecord, Failure, IoPath, Ns, Numa, PhasePlan, PhaseRecord, StopRule, Warmup};
use std::thread::ScopedJoinHandle;
use workload::{Verified, VerifyOutcome};

/// What came out.
#[derive(Debug)]
pub(crate) struct Executed {
    pub record: PhaseRecord,
    /// Of each stream that verifies.
    pub checked: Vec<VerifyOutcome>,
    /// How the phase's own reads went; what was left in the caches before is not known here.
    pub own_reads: ReadEvidence,
    /// How the read-back's went, where there was one.
    pub read_back: Option<ReadEvidence>,
}

/// Runs all streams of the phase, one worker each; they start at one moment, when all are ready. When all have ended, what
/// is to be read back is. `known` has, for each stream that verifies, what it knows of its data; it may be empty where none
/// does.
///
/// # Errors
/// Where a worker could not be started, or a device's interface failed. Failed operations are in the record.
pub(crate) fn execute(
    job: PhaseWork<'_>,
    targets: &[OpenTarget],
    mut known: Vec<Option<Verified>>,
) -> Result<Executed, Failure> {
    let streams = &job.plan.streams;
    if streams.is_empty() || streams.len() != targets.len() {
        let message = format!("{}: a phase of {} streams and {} ways", job.plan.name, streams.len(), targets.len());
        return Err(Failure::internal(message));
    }
    known.resize_with(streams.len(), || None);
    let barrier = PhaseShared::new(streams.len() as u32, &job.plan.stop);
    let works = streams.iter().zip(targets).zip(&mut known).map(|((stream, target), known)| StreamWork {
        stream,
        target,
        known,
    });
    let before = job.device_read_bytes();
    let results = run_all(job, works.collect(), &barrier);
    let own_reads = ReadEvidence {
        direct: targets.iter().all(|target| target.direct),
        resident_pages: None,
        device_read_bytes: delivered(before, job.device_read_bytes()),
    };
    let outcome: Vec<StreamOutcome> =
        results.into_iter().collect::<Result<_, _>>().map_err(|e| refusal_of_device(&job.plan.name, &e))?;
    let mut engine =
        EngineRecord { kind: outcome[0].kind, features: outcome[0].features.clone(), ..EngineRecord::default() };
    for missing in outcome.iter().flat_map(|r| &r.missing) {
        if !engine.missing.contains(missing) {
            engine.missing.push(missing.clone());
        }
    }
    let records = outcome.into_iter().map(|outcome| (outcome.record, outcome.kind)).collect();
    let mut record = phase_record(records, streams, engine, &barrier);
    let (checked, read_back) = read_back(job, targets, known, &mut record);
    Ok(Executed { record, checked, own_reads, read_back })
}

/// What the lowest layers read between two looks at them.
fn delivered(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).map(|(before, after)| after.saturating_sub(before))
}

fn run_all(
    job: PhaseWork<'_>,
    mut works: Vec<StreamWork<'_>>,
    barrier: &PhaseShared,
) -> Vec<Result<StreamOutcome, DeviceError>> {
    let run = |work: &mut StreamWork<'_>| Worker::new(job, barrier, work).run();
    // Processors, priority and memory policy belong to a thread, and would stay with the caller's: such a stream gets one of its own.
    let confined = |path: &IoPath| {
        let prioritised = path.io_priority.is_some() || !path.priority_shares.is_empty();
        prioritised || !path.cpus.is_empty() || path.numa != Numa::default()
    };
    if let [only] = &mut works[..]
        && !confined(&only.stream.path)
    {
        return vec![run(only)];
    }
    let streams = works.len();
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let start = |(number, work)| {
            let thread = std::thread::Builder::new().name(format!("stream-{number}"));
            thread.spawn_scoped(scope, move || run(work)).map_err(|source| {
                if streams > 1 {
                    // The others wait for its start.
                    barrier.leave();
                }
                DeviceError::NoThread { purpose: format!("each of {streams} jobs"), source }
            })
        };
        let threads: Vec<_> = works.iter_mut().enumerate().map(start).collect();
        // A worker that panicked is a defect of ours: it goes on here.
        let ended = |t: ScopedJoinHandle<'_, _>| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p));
        threads.into_iter().map(|thread| thread.and_then(ended)).collect()
    });
    if let ([only], [Err(DeviceError::NoThread { .. })]) = (&mut works[..], &outcomes[..])
        && only.stream.path.numa.memory.is_none()
        && let Ok(cpus) = sys::affinity()
    {
        // One thread is enough to measure with: ours is confined for as long. A memory policy could not be restored.
        let priority = sys::io_priority();
        outcomes = vec![run(only)];
        // They were ours before; should a processor have gone offline, the others serve.
        let _ = sys::set_affinity(&cpus);
        let _ = sys::set_io_priority(priority);
    }
    outcomes
}

/// A phase that goes through all that a phase wrote, however long that takes.
pub(crate) fn reading_back(plan: &PhasePlan) -> PhasePlan {
    let warmup = Warmup { min_ns: 0, share: 0.0, max_ns: 0 };
    PhasePlan { time_limit_ns: Ns::MAX / 2, stop: StopRule::RegionOnce, warmup, ..plan.clone() }
}

/// Reads back what the streams wrote, where that is asked for: after all of them have ended, so that it disturbs nobody's
/// figures; its own are in none of the phase's. It goes past the page cache wherever that can be, whatever way the stream
/// took: what is in memory says nothing of the device. Its errors are counted with the phase's.
fn read_back(
    job: PhaseWork<'_>,
    targets: &[OpenTarget],
    known: Vec<Option<Verified>>,
    record: &mut PhaseRecord,
) -> (Vec<VerifyOutcome>, Option<ReadEvidence>) {
    let ends = known.iter().flatten().any(Verified::ends);
    let mut seen = ReadEvidence { direct: true, resident_pages: Some(0), device_read_bytes: None };
    let (mut checked, mut prepared) = (Vec::new(), Vec::new());
    for ((stream, target), known) in job.plan.streams.iter().zip(targets).zip(known) {
        let Some(mut known) = known else { continue };
        let Some(plan) = stream.read_back().filter(|_| !ends) else {
            checked.push(known.finish());
            continue;
        };
        let mut by = target.clone();
        let mut left = None;
        if let Some(plan) = plan.blocks().filter(|_| !job.control.stopped()) {
            if !target.direct {
                by = reopen_direct(target, plan, known.unit_bytes()).unwrap_or(by);
            }
            left = make_cold(job, &mut known, &target.files, plan, by.direct, &mut record.errors);
        }
        seen.direct &= by.direct;
        seen.resident_pages = seen.resident_pages.zip(left).map(|(a, b)| a + b);
        prepared.push((plan, by, Some(known)));
    }
    if prepared.is_empty() {
        return (checked, None);
    }
    // The series is of the phase's own operations.
    job.control.series.close();
    let phase = reading_back(job.plan);
    let barrier = PhaseShared::new(prepared.len() as u32, &phase.stop);
    let before = job.device_read_bytes();
    let works = prepared.iter_mut().map(|(stream, target, known)| StreamWork { stream, target, known }).collect();
    for result in run_all(PhaseWork { plan: &phase, reads_back: true, ..job }, works, &barrier) {
        match result {
            Ok(outcome) => record.add_errors(&outcome.record.errors),
            // Part of nothing was read back; what was found before stands.
            Err(error) => record.engine.missing.push(format!("not read back: {error}")),
        }
    }
    checked.extend(prepared.into_iter().filter_map(|(_, _, known)| known).map(Verified::finish));
    seen.device_read_bytes = delivered(before, job.device_read_bytes());
    (checked, Some(seen))
}
