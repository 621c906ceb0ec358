//! The loop: one thread, one device, one stream.

mod content;
mod steady;

pub use content::Content;
pub(crate) use steady::Steadiness;

use crate::device::worker_usage;
use crate::recorder::{Recorder, StreamRecord};
use crate::{Completion, Control, Device, DeviceError};
use model::{Ns, Operation, PhasePlan, StopCause, StopRule, StreamPlan, Warmup};
use std::sync::atomic::Ordering;
use workload::{BlockOp, Next, OpKind, Outcome, Source};

/// The signal and "try again" are no verdict on the device: the operation is handed over again.
const EINTR: i32 = 4;
const EAGAIN: i32 = 11;
/// How what never came back is counted (ETIMEDOUT on all architectures but MIPS, PA-RISC and Alpha).
const ETIMEDOUT: i32 = 110;

/// Completions and submissions between two readings of the clock at most, where the stamp of a completion also stands for
/// the submission that follows it. See [`run_stream`].
const UNTIMED_OPERATIONS: usize = 4;

/// How a stream is run: everything that a plan says of it, and how it is batched.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopSettings {
    /// Operations in flight at most; the device has at least as many buffers.
    pub depth: u32,
    /// Operations submitted in one call at most.
    pub batch_submit: u32,
    /// Completions that a full queue waits for in one call.
    pub batch_complete: u32,
    /// Common start of a phase's workers, by the device's clock; `None`: now.
    pub started_ns: Option<Ns>,
    /// Its share of time.
    pub time_limit_ns: Ns,
    /// When it may end before.
    pub stop: StopRule,
    /// Which part of the beginning does not count.
    pub warmup: Warmup,
    /// Length of the intervals of the series.
    pub interval_ns: Ns,
    /// Seed of the data written; `None` where nothing is written, or the caller made the data.
    pub content_seed: Option<u64>,
    /// Whether the first failed operation ends the phase.
    pub stop_on_error: bool,
    /// How long operations in flight are waited for at the end.
    pub drain_limit_ns: Ns,
}

impl LoopSettings {
    /// As planned: the queue is kept as full as it can be (all free places are filled in one call, which then waits for
    /// one completion), the first error ends the phase, and a device may take a minute to answer at the end.
    pub fn of(phase: &PhasePlan, stream: &StreamPlan, interval_ns: Ns) -> Self {
        Self {
            depth: stream.queue_depth,
            batch_submit: stream.queue_depth,
            batch_complete: 1,
            started_ns: None,
            time_limit_ns: phase.time_limit_ns,
            stop: phase.stop,
            warmup: phase.warmup,
            interval_ns,
            content_seed: (stream.operation == Operation::Write).then_some(stream.seed),
            stop_on_error: true,
            drain_limit_ns: 60_000_000_000,
        }
    }
}

/// An operation in flight.
#[derive(Clone, Copy)]
struct Flight {
    op: BlockOp,
    /// When the device got it.
    handed_ns: Ns,
    /// Where its latency counts from.
    start_ns: Ns,
}

const EMPTY: Flight = Flight {
    op: BlockOp { kind: OpKind::Read, offset: 0, len: 0, buffer: 0, intended_ns: None },
    handed_ns: 0,
    start_ns: 0,
};

/// Runs a stream until its time is used, its source is done, it is steady, it fails, or `control` stops it.
///
/// The ramp (buffers filled, all memory taken) comes first; the loop after it allocates nothing, takes no lock and prints
/// nothing. Latency counts from the operation's intended start, else from the moment its batch was handed over; the clock
/// is read once a batch submitted and once a batch reaped. Batches of one or two are handed over with the stamp of the reap
/// before them, unless an interval ended or data were made in between: their latencies then hold our own work between the
/// two calls, some tens of nanoseconds, and are never too short. Operations in flight at the end are waited for and
/// recorded.
///
/// # Errors
/// Only where the device's interface fails; failed operations are in the record.
pub fn run_stream<D, S>(
    device: &mut D,
    source: &mut S,
    settings: &LoopSettings,
    control: &Control,
) -> Result<StreamRecord, DeviceError>
where
    D: Device<Op = BlockOp>,
    S: Source<Op = BlockOp>,
{
    let depth = settings.depth.max(1);
    let batch_submit = settings.batch_submit.clamp(1, depth);
    let batch_complete = settings.batch_complete.clamp(1, depth);
    let places = depth as usize;

    let mut content = settings.content_seed.map(Content::new);
    if let Some(content) = &content {
        for index in 0..depth {
            content.fill(index, device.buffer(index));
        }
    }
    let mut flights = vec![EMPTY; places];
    // Taken from the end: the first operations use the first buffers.
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let mut batch: Vec<BlockOp> = Vec::with_capacity(places);
    let mut done: Vec<Completion> = Vec::with_capacity(places);
    let mut again: Vec<BlockOp> = Vec::with_capacity(places);
    let helpers_before = device.helper_usage();
    let usage_before = sys::thread_usage();
    let started = settings.started_ns.unwrap_or_else(|| device.now());
    let deadline = started.saturating_add(settings.time_limit_ns);
    let mut recorder = Recorder::new(started, settings.time_limit_ns, settings.interval_ns, &settings.warmup);
    let mut steadiness = Steadiness::new(&settings.stop, &recorder);
    // The end of the interval for which progress was last shown.
    let mut shown = recorder.interval_end();
    let mut stop: Option<StopCause> = None;
    let mut drain_until = Ns::MAX;
    let mut now = started;
    // Whether `now` is the present, but for the handling of the operations in `done`.
    let mut fresh = false;

    loop {
        if stop.is_none() {
            if now >= deadline {
                stop = Some(StopCause::TimeUsed);
            } else if control.stopped() {
                stop = Some(StopCause::Interrupted);
            }
        }

        // Refill. `wake` is the moment before which the source has nothing.
        let mut wake = deadline;
        let mut blocked = false;
        batch.clear();
        if stop.is_none() {
            while batch.len() < batch_submit as usize
                && let Some(&buffer) = free.last()
            {
                match source.next(now) {
                    Next::Op(mut op) => {
                        free.pop();
                        op.buffer = buffer;
                        if let Some(content) = &mut content
                            && matches!(op.kind, OpKind::Write | OpKind::WriteSync)
                        {
                            content.stamp(&mut device.buffer(buffer)[..op.len as usize], op.offset);
                        }
                        batch.push(op);
                    }
                    Next::WaitUntil(moment) => {
                        wake = wake.min(moment);
                        blocked = true;
                        break;
                    }
                    // With nothing in flight there is nothing to wait for: the source is at its end.
                    Next::WaitForCompletion if batch.is_empty() && free.len() == places => {
                        stop = Some(StopCause::RegionDone);
                        break;
                    }
                    Next::WaitForCompletion => {
                        blocked = true;
                        break;
                    }
                    Next::Done => {
                        stop = Some(StopCause::RegionDone);
                        break;
                    }
                }
            }
        }
        if !batch.is_empty() {
            let few = done.len() + batch.len() <= UNTIMED_OPERATIONS;
            let handed = if fresh && few && content.is_none() { now } else { device.now() };
            if free.len() + batch.len() == places {
                recorder.resumed(handed);
            }
            for op in &batch {
                flights[op.buffer as usize] =
                    Flight { op: *op, handed_ns: handed, start_ns: op.intended_ns.unwrap_or(handed) };
            }
            device.submit(&batch)?;
        }
        if !again.is_empty() {
            device.submit(&again)?;
            again.clear();
        }

        let in_flight = places - free.len();
        if stop.is_some() {
            if in_flight == 0 {
                break;
            }
            if drain_until == Ns::MAX {
                drain_until = device.now().saturating_add(settings.drain_limit_ns);
            }
        }
        // Room that the source could still fill is filled before anything is waited for.
        let min = if stop.is_none() && !blocked && !free.is_empty() {
            0
        } else {
            (batch_complete as usize).min(in_flight).max(1)
        };
        let until = if stop.is_some() { drain_until } else { wake }.min(recorder.interval_end());
        done.clear();
        device.reap(min, until, &mut done)?;
        (now, fresh) = match done.last() {
            Some(last) => (last.at_ns, D::STAMPED_ON_RETURN),
            None => (device.now(), true),
        };

        for completion in &done {
            let flight = &flights[completion.buffer as usize];
            match completion.result {
                Ok(_) if flight.op.kind == OpKind::Fsync => recorder.synced(completion.at_ns, flight.handed_ns),
                Ok(bytes) => {
                    let at = completion.at_ns;
                    recorder.transferred(at, flight.start_ns, flight.handed_ns, bytes, flight.op.len);
                    if flight.op.kind != OpKind::Read {
                        recorder.wrote(flight.handed_ns, bytes);
                    }
                }
                Err(EINTR | EAGAIN) if stop.is_none() => {
                    again.push(flight.op);
                    continue;
                }
                Err(errno) => {
                    recorder.failed(completion.at_ns, flight.handed_ns, errno);
                    if settings.stop_on_error && stop.is_none() {
                        stop = Some(StopCause::Failed);
                    }
                }
            }
            free.push(completion.buffer);
            source.completed(&flight.op, Outcome { at_ns: completion.at_ns, result: completion.result });
        }

        recorder.roll(now);
        if recorder.interval_end() != shown {
            shown = recorder.interval_end();
            fresh = false;
            let (operations, bytes) = recorder.progress();
            control.progress.operations.store(operations, Ordering::Relaxed);
            control.progress.bytes.store(bytes, Ordering::Relaxed);
            control.progress.elapsed_ns.store(now.saturating_sub(started), Ordering::Relaxed);
            if stop.is_none() && steadiness.reached(&recorder) {
                stop = Some(StopCause::Steady);
            }
        }
        if stop.is_some() && now >= drain_until {
            // The device does not answer. What is out stays out; the device keeps its buffers.
            for _ in free.len()..places {
                recorder.failed(now, now, ETIMEDOUT);
            }
            break;
        }
    }

    let used = sys::thread_usage().since(&usage_before);
    let helpers = device.helper_usage();
    let mut record = recorder.finish(now, stop.unwrap_or(StopCause::TimeUsed));
    let mut usage = worker_usage(used);
    usage.user_ns += helpers.user_ns.saturating_sub(helpers_before.user_ns);
    usage.system_ns += helpers.system_ns.saturating_sub(helpers_before.system_ns);
    usage.voluntary_switches += helpers.voluntary_switches.saturating_sub(helpers_before.voluntary_switches);
    usage.involuntary_switches += helpers.involuntary_switches.saturating_sub(helpers_before.involuntary_switches);
    record.usage = usage;
    record.batch_submit = batch_submit;
    record.batch_complete = batch_complete;
    Ok(record)
}
