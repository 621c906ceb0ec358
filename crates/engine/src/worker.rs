//! The loop: one thread, one device, one stream.

mod checking;
mod content;
mod crew;
mod data;
mod rounds_watch;
mod shaped;
mod steady;
mod waking;

pub(crate) use checking::Checking;
pub use content::Content;
pub use crew::Crew;
pub use data::Data;
pub use shaped::Shaped;
pub(crate) use steady::Steadiness;

use crate::control::Recent;
use crate::device::worker_usage;
use crate::recorder::{Recorder, StreamRecord, Tally};
use crate::{Completion, Control, Device, DeviceError};
use model::{Direction, ErrorPolicy, Ns, Operation, PhasePlan, StopCause, StopRule, StreamPlan, Sync, Warmup};
use waking::Waking;
use workload::{BlockOp, Next, OpKind, Outcome, Source};

/// The signal and "try again" are no verdict on the device: the operation is handed over again.
const EINTR: i32 = 4;
const EAGAIN: i32 = 11;
/// How long an operation that is answered by "try again" is handed over again, before the answer counts as an error.
const RETRY_LIMIT_NS: Ns = 5_000_000_000;
/// Failures one after the other, without a success between, after which a stream that goes on after errors gives up: what
/// it measures is how fast the device says no.
const HOPELESS_FAILURES: u32 = 1_000;
/// The device is gone: nothing that follows can succeed (the same on all Linux architectures but MIPS and PA-RISC for the
/// last).
const ENXIO: i32 = 6;
const ENODEV: i32 = 19;
const ENOMEDIUM: i32 = 123;
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
    /// As planned: unless the stream says otherwise the queue is kept as full as it can be (all free places are filled in
    /// one call, which then waits for one completion) and the first error ends the phase; a device may take a minute to
    /// answer at the end.
    pub fn of(phase: &PhasePlan, stream: &StreamPlan, interval_ns: Ns) -> Self {
        Self {
            depth: stream.queue_depth,
            batch_submit: stream.batch_submit.unwrap_or(stream.queue_depth),
            batch_complete: stream.batch_complete.unwrap_or(1),
            started_ns: None,
            time_limit_ns: phase.time_limit_ns,
            stop: phase.stop,
            warmup: phase.warmup,
            interval_ns,
            content_seed: (stream.operation == Operation::Write).then_some(stream.seed),
            stop_on_error: stream.on_error == ErrorPolicy::Stop,
            drain_limit_ns: 60_000_000_000,
        }
    }
}

/// How a worker takes part in its phase.
#[derive(Clone, Debug)]
pub struct Part<'a> {
    /// What it shares with the others.
    pub crew: &'a Crew,
    /// Directions that are told apart; none: all is one.
    pub directions: Vec<Direction>,
    /// Whether syncs close rounds; else they are operations of their own.
    pub closes_rounds: bool,
    /// Whether EAGAIN is an answer (RWF_NOWAIT): counted, neither repeated nor the end of the phase.
    pub would_block_is_an_answer: bool,
}

impl<'a> Part<'a> {
    /// Of the only worker of a phase whose stream does one kind of thing.
    pub fn alone(crew: &'a Crew) -> Self {
        Self { crew, directions: Vec::new(), closes_rounds: true, would_block_is_an_answer: false }
    }

    /// As a stream of a plan asks for.
    pub fn of(stream: &StreamPlan, crew: &'a Crew) -> Self {
        let other = match stream.operation {
            Operation::Read => None,
            Operation::Write => Some(Direction::Write),
            Operation::Trim => Some(Direction::Trim),
            Operation::WriteZeroes => Some(Direction::WriteZeroes),
        };
        let read = stream.reads().then_some(Direction::Read);
        let other = other.filter(|_| stream.changes_data());
        let trim = stream.trim_before_write.then_some(Direction::Trim);
        let flush = stream.flush;
        let syncs = flush.fsync_every > 0 || flush.fdatasync_every > 0 || flush.fsync_at_end;
        let mut directions: Vec<_> =
            [read, other, trim, syncs.then_some(Direction::Sync)].into_iter().flatten().collect();
        directions.dedup();
        if directions.len() < 2 {
            directions.clear();
        }
        Self {
            crew,
            directions,
            closes_rounds: matches!(stream.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd),
            would_block_is_an_answer: stream.rw_flags.nowait,
        }
    }
}

/// How much longer than for an operation is waited for the syncs that close a stream: they write what is dirty.
const CLOSING_PATIENCE: u64 = 10;

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
    let mut data = settings.content_seed.map(Content::new);
    let crew = Crew::new(1, &settings.stop);
    run_worker(device, source, &mut data, settings, &Part::alone(&crew), control)
}

/// The same as one worker of several, with data of the caller's making. If it fails before its start, the caller releases
/// the others with [`Crew`].
///
/// # Errors
/// As [`run_stream`].
pub fn run_worker<D, S, C>(
    device: &mut D,
    source: &mut S,
    data: &mut C,
    settings: &LoopSettings,
    part: &Part<'_>,
    control: &Control,
) -> Result<StreamRecord, DeviceError>
where
    D: Device<Op = BlockOp>,
    S: Source<Op = BlockOp>,
    C: Data,
{
    let depth = settings.depth.max(1);
    let batch_submit = settings.batch_submit.clamp(1, depth);
    let batch_complete = settings.batch_complete.clamp(1, depth);
    let places = depth as usize;

    if data.makes() {
        for index in 0..depth {
            data.fill(index, device.buffer(index));
        }
    }
    let mut flights = vec![EMPTY; places];
    // Taken from the end: the first operations use the first buffers.
    let mut free: Vec<u32> = (0..depth).rev().collect();
    let mut batch: Vec<BlockOp> = Vec::with_capacity(places);
    let mut done: Vec<Completion> = Vec::with_capacity(places);
    let mut again: Vec<BlockOp> = Vec::with_capacity(places);
    // What is paced starts when it is due, as far as the kernel lets a thread wake.
    let _punctual = sys::PunctualTimers::new();
    let helpers_before = device.helper_usage();
    let usage_before = sys::thread_usage();
    let crew = part.crew;
    control.progress.begin();
    let started = settings.started_ns.unwrap_or_else(|| crew.start(|| device.now()));
    let deadline = started.saturating_add(settings.time_limit_ns);
    let mut recorder = Recorder::new(started, settings.time_limit_ns, settings.interval_ns, &settings.warmup);
    recorder.tell_apart(&part.directions);
    recorder.hand_on(control.series.join());
    let mut steadiness = Steadiness::new(&settings.stop, &recorder);
    let told_apart = !part.directions.is_empty();
    // What the crew knows of.
    let mut told = Tally::default();
    // What this worker adds to the figures of the last interval.
    let mut recent = Recent::default();
    // The end of the interval for which progress was last shown.
    let mut shown = recorder.interval_end();
    // Where one of the others could not start, the phase is not what was planned.
    let mut stop: Option<StopCause> = crew.ended();
    let mut drain_until = Ns::MAX;
    let mut waking = Waking::default();
    let mut failures_in_a_row = 0u32;
    let mut nothing_in_a_row = 0u32;
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
        let mut spin = false;
        batch.clear();
        if stop.is_none() {
            while batch.len() < batch_submit as usize
                && let Some(&buffer) = free.last()
            {
                match source.next(now) {
                    Next::Op(mut op) => {
                        free.pop();
                        op.buffer = buffer;
                        if op.kind.sends_data() && data.makes() {
                            data.make(&op, &mut device.buffer(buffer)[..op.len as usize]);
                        } else if C::LOOKS {
                            data.handed(&op);
                        }
                        batch.push(op);
                    }
                    Next::WaitUntil(moment) => {
                        wake = wake.min(moment);
                        blocked = true;
                        break;
                    }
                    Next::SpinUntil(moment) => {
                        wake = wake.min(moment);
                        blocked = true;
                        spin = true;
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
            let handed = if fresh && few && !C::LOOKS && !data.makes() { now } else { device.now() };
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

        let mut in_flight = places - free.len();
        if stop.is_some() {
            if in_flight == 0 {
                // What was written is made durable where the plan says so, whatever ended the stream but a failure.
                let closes = !matches!(stop, Some(StopCause::Failed | StopCause::Interrupted));
                let Some((mut op, buffer)) = closes.then(|| source.closing()).flatten().zip(free.pop()) else { break };
                op.buffer = buffer;
                if C::LOOKS {
                    data.handed(&op);
                }
                let handed = device.now();
                recorder.resumed(handed);
                flights[buffer as usize] = Flight { op, handed_ns: handed, start_ns: handed };
                device.submit(&[op])?;
                drain_until = handed.saturating_add(settings.drain_limit_ns.saturating_mul(CLOSING_PATIENCE));
            }
            if drain_until == Ns::MAX {
                drain_until = device.now().saturating_add(settings.drain_limit_ns);
            }
        }
        in_flight = places - free.len();
        // Room that the source could still fill is filled before anything is waited for.
        let min = if stop.is_none() && !blocked && !free.is_empty() {
            0
        } else {
            (batch_complete as usize).min(in_flight).max(1)
        };
        let mut min = min;
        let mut until = if stop.is_some() { drain_until } else { wake }.min(recorder.interval_end());
        let due = blocked && wake < deadline && until == wake;
        if due && !spin {
            match waking.sleep_until(now, wake) {
                Some(early) => until = early,
                None if in_flight == 0 => spin = true,
                None => min = 0,
            }
        }
        done.clear();
        if spin && in_flight == 0 {
            device.spin_until(until);
        } else {
            device.reap(min, until, &mut done)?;
        }
        (now, fresh) = match done.last() {
            Some(last) => (last.at_ns, D::STAMPED_ON_RETURN),
            None => (device.now(), true),
        };
        if due && !spin && min > 0 && done.is_empty() && now >= until {
            waking.woke(until, now);
        }

        for completion in &done {
            let flight = &flights[completion.buffer as usize];
            match completion.result {
                Ok(_) if flight.op.kind.is_sync() => {
                    if part.closes_rounds && flight.op.kind == OpKind::Fsync {
                        recorder.synced(completion.at_ns, flight.handed_ns);
                    } else {
                        recorder.flushed(flight.op.kind, completion.at_ns, flight.handed_ns);
                    }
                }
                Ok(bytes) => {
                    failures_in_a_row = 0;
                    if bytes == 0 && flight.op.len > 0 {
                        // The end of a file or device that has become shorter, or of one that is gone.
                        nothing_in_a_row = nothing_in_a_row.saturating_add(1);
                        if stop.is_none() && nothing_in_a_row >= HOPELESS_FAILURES {
                            stop = Some(StopCause::Failed);
                        }
                    } else {
                        nothing_in_a_row = 0;
                    }
                    let at = completion.at_ns;
                    recorder.transferred(at, flight.start_ns, flight.handed_ns, bytes, flight.op.len);
                    if told_apart {
                        recorder.went(flight.op.kind, at, flight.start_ns, bytes);
                    }
                    if flight.op.kind != OpKind::Read {
                        recorder.wrote(flight.handed_ns, bytes);
                    } else if C::LOOKS {
                        let seen = bytes.min(flight.op.len) as usize;
                        if !data.look(&flight.op, &device.buffer(completion.buffer)[..seen]) && stop.is_none() {
                            stop = Some(StopCause::Failed);
                            crew.end(StopCause::Failed);
                        }
                    }
                }
                Err(EAGAIN) if part.would_block_is_an_answer => {
                    recorder.failed(completion.at_ns, flight.handed_ns, EAGAIN);
                }
                Err(EINTR | EAGAIN)
                    if stop.is_none() && completion.at_ns.saturating_sub(flight.handed_ns) < RETRY_LIMIT_NS =>
                {
                    again.push(flight.op);
                    continue;
                }
                Err(errno) => {
                    recorder.failed(completion.at_ns, flight.handed_ns, errno);
                    failures_in_a_row = failures_in_a_row.saturating_add(1);
                    let gone = matches!(errno, ENXIO | ENODEV | ENOMEDIUM);
                    // A failed sync while draining means that what was written may not be there.
                    if settings.stop_on_error && (stop.is_none() || flight.op.kind.is_sync()) {
                        stop = Some(StopCause::Failed);
                        crew.end(StopCause::Failed);
                    } else if stop.is_none() && (gone || failures_in_a_row >= HOPELESS_FAILURES) {
                        // The others may have files that answer: they find out for themselves.
                        stop = Some(StopCause::Failed);
                    }
                }
            }
            free.push(completion.buffer);
            let outcome = Outcome { at_ns: completion.at_ns, result: completion.result };
            if flight.op.kind != OpKind::Read || (C::LOOKS && completion.result.is_err()) {
                data.ended(&flight.op, outcome);
            }
            source.completed(&flight.op, outcome);
        }

        recorder.roll(now);
        if recorder.interval_end() != shown {
            shown = recorder.interval_end();
            fresh = false;
            let own = recorder.tally();
            let (operations, bytes) = (own.operations - told.operations, own.bytes - told.bytes);
            let of_all = crew.advance(now, started, operations, bytes);
            control.progress.advance(of_all.0, of_all.1, now.saturating_sub(started));
            let latency_sum_ns = u64::try_from(own.latency_sum_ns - told.latency_sum_ns).unwrap_or(u64::MAX);
            let latest = Recent { operations, latency_sum_ns, in_flight: (places - free.len()) as u64 };
            control.progress.replace(recent, latest);
            (told, recent) = (own, latest);
            if stop.is_none() {
                stop = steadiness.ends(&recorder, now.saturating_sub(started));
            }
            stop = stop.or_else(|| crew.ended());
        }
        if stop.is_some() && now >= drain_until {
            // The device does not answer. What is out stays out; the device keeps its buffers.
            for _ in free.len()..places {
                recorder.failed(now, now, ETIMEDOUT);
            }
            break;
        }
    }

    control.progress.replace(recent, Recent::default());
    let used = sys::thread_usage().since(&usage_before);
    let helpers = device.helper_usage();
    let mut record = recorder.finish(now, stop.unwrap_or(StopCause::TimeUsed));
    record.usage = worker_usage(used).plus(&helpers.since(&helpers_before));
    record.batch_submit = batch_submit;
    record.batch_complete = batch_complete;
    Ok(record)
}
