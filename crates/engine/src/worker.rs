//! The worker: one thread that carries one stream of a job out on one device. It keeps operations of the stream's source in flight
//! up to the queue depth, submits and reaps them in batches, and records each completion's latency (fio: the loop of one thread).
//! [`worker_loop`] is that loop, [`phase_shared`] what the workers of a phase share, [`data_source`] what it asks
//! for operations and their data, [`data`] who makes and checks data for a source that does not.

mod checking;
mod content;
mod data;
mod data_source;
mod depth_search;
mod limits;
mod min_rate;
mod phase_shared;
mod rounds_watch;
mod shaped;
mod steady;
mod wake_latency;
mod worker_loop;

pub(crate) use checking::VerifyingData;
pub use content::DataGenerator;
pub use data::{Data, NoData};
pub use data_source::{DataSource, WithData};
pub use phase_shared::PhaseShared;
pub use shaped::Shaped;
pub(crate) use steady::Steadiness;

use crate::device::worker_usage;
use crate::{Control, Device, DeviceError};
use model::{
    Direction, ErrorPolicy, Limits, Ns, Operation, PhasePlan, PhaseRecord, StopRule, StreamPlan, Sync, Warmup,
};
use worker_loop::WorkerLoop;
use workload::{BlockOp, Source};

/// How a stream is run: everything that a plan says of it, and how it is batched.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopSettings {
    /// Operations in flight at most; the device has at least as many buffers.
    pub depth: u32,
    /// Buffers beyond the depth. With any, each is used in its turn, so that the data of few small ones are old when they are
    /// written again.
    pub spare_buffers: u32,
    /// Operations submitted in one call at most; `None`: as few as keep the device busy, and as many as there is room for
    /// where it completes them within the call.
    pub batch_submit: Option<u32>,
    /// Completions that a full queue waits for in one call.
    pub batch_complete: u32,
    /// How long the stream may run, as its plan says.
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
    /// As planned: unless the stream says otherwise each completion is waited for alone and the first error ends the phase;
    /// a device may take a minute to answer at the end.
    pub fn of(phase: &PhasePlan, stream: &StreamPlan, interval_ns: Ns) -> Self {
        Self {
            depth: stream.path.queue_depth,
            spare_buffers: 0,
            batch_submit: stream.path.batch_submit,
            batch_complete: stream.path.batch_complete.unwrap_or(1),
            time_limit_ns: phase.time_limit_ns,
            stop: phase.stop,
            warmup: phase.warmup,
            interval_ns,
            content_seed: (stream.block().operation == Operation::Write && stream.moves_data()).then_some(stream.seed),
            stop_on_error: stream.on_error == ErrorPolicy::Stop,
            drain_limit_ns: 60_000_000_000,
        }
    }
}

/// How a worker takes part in its phase.
#[derive(Clone, Debug)]
pub struct WorkerContext<'a> {
    /// What it shares with the others.
    pub barrier: &'a PhaseShared,
    /// Directions that are told apart; none: all is one.
    pub directions: Vec<Direction>,
    /// Whether syncs close rounds; else they are operations of their own.
    pub closes_rounds: bool,
    /// So long without operations in flight ends a burst of writes.
    pub pause_ns: Ns,
    /// What ends it, and what ends with it.
    pub limits: Limits,
    /// From when on it does something, after the phase's start.
    pub start_delay_ns: Ns,
    /// Whether EAGAIN is an answer (RWF_NOWAIT): counted, neither repeated nor the end of the phase.
    pub would_block_is_an_answer: bool,
}

impl<'a> WorkerContext<'a> {
    /// Of the only worker of a phase whose stream does one kind of thing.
    pub fn alone(barrier: &'a PhaseShared) -> Self {
        Self {
            barrier,
            directions: Vec::new(),
            closes_rounds: true,
            pause_ns: Ns::MAX,
            limits: Limits::default(),
            start_delay_ns: 0,
            would_block_is_an_answer: false,
        }
    }

    /// As a stream of a plan asks for.
    pub fn of(stream: &StreamPlan, barrier: &'a PhaseShared) -> Self {
        let think = stream.timing.think.filter(|t| t.after_operations > 1);
        Self {
            barrier,
            directions: Some(stream.directions()).filter(|d| d.len() > 1).unwrap_or_default(),
            closes_rounds: matches!(stream.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd),
            // The sleep may end a little early.
            pause_ns: think.map_or(Ns::MAX, |t| (t.pause_ns / 2).max(1)),
            limits: stream.limits,
            start_delay_ns: stream.timing.start_delay_ns,
            would_block_is_an_answer: stream.path.rw_flags.nowait,
        }
    }
}

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
pub fn run_stream(
    device: &mut impl Device<Op = BlockOp>,
    source: &mut impl Source<Op = BlockOp>,
    settings: &LoopSettings,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    let mut data = settings.content_seed.map(DataGenerator::new);
    let barrier = PhaseShared::new(1, &settings.stop);
    run_worker(device, source, &mut data, settings, &WorkerContext::alone(&barrier), control)
}

/// The same as one worker of several, over any kind of operation, with data of the caller's making. If it fails before its
/// start, the caller releases the others with [`PhaseShared`].
///
/// # Errors
/// As [`run_stream`].
pub fn run_worker<D: Device>(
    device: &mut D,
    source: &mut impl Source<Op = D::Op>,
    data: &mut impl Data<D::Op>,
    settings: &LoopSettings,
    context: &WorkerContext<'_>,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    run_data_source(device, &mut WithData { source, data }, settings, context, control)
}

/// The same, of a source that has the data of its operations.
///
/// # Errors
/// As [`run_stream`].
pub fn run_data_source<D: Device>(
    device: &mut D,
    source: &mut impl DataSource<Op = D::Op>,
    settings: &LoopSettings,
    context: &WorkerContext<'_>,
    control: &Control,
) -> Result<PhaseRecord, DeviceError> {
    if source.generates() {
        for index in 0..settings.depth.max(1) + settings.spare_buffers {
            source.fill(index, device.buffer(index));
        }
    }
    // What is paced starts when it is due, as far as the kernel lets a thread wake.
    let _punctual = sys::MinTimerSlack::new();
    let helpers_before = device.helper_usage();
    let usage_before = sys::thread_usage();
    let mut worker = WorkerLoop::new(device, source, settings, context, control);
    while worker.step()? {}
    let mut record = worker.finish();
    let used = sys::thread_usage().since(&usage_before);
    let helpers = device.helper_usage();
    record.usage = worker_usage(used).plus(&helpers.since(&helpers_before));
    Ok(record)
}
