//! Chooses the device for each stream of a phase, runs the streams side by side, and makes one record of theirs.

use super::refusal::refusal_of_device;
use crate::{
    Control, Device, DeviceError, LoopSettings, NullDevice, PsyncDevice, PsyncThreads, StreamRecord, UringDevice,
    phase_record, run_stream,
};
use model::{EngineKind, EngineRecord, Failure, FailureKind, Ns, PhasePlan, PhaseRecord, StopRule, StreamPlan};
use std::fs::File;
use sys::Epoch;
use workload::{BlockOp, Stream};

/// The way that a phase takes.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Nothing is done.
    Null,
    /// Past the page cache: io_uring, else threads. `without_ring`: why io_uring must not be used.
    Direct { file: std::sync::Arc<File>, without_ring: Option<String> },
    /// Through the page cache: pread and pwrite in the worker's own thread.
    Buffered { file: std::sync::Arc<File> },
    /// Direct was asked and refused, for this reason: threads through the page cache, so that the depth is kept.
    StandIn { file: std::sync::Arc<File>, reason: String },
}

/// What is to be done.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// By which way.
    pub way: Way,
    /// The phase, with its streams within what may be touched.
    pub plan: &'a PhasePlan,
    /// The run's clock.
    pub epoch: Epoch,
    /// Length of the intervals of the series.
    pub interval_ns: Ns,
}

/// How a stream ran.
struct Ran {
    record: StreamRecord,
    kind: EngineKind,
    features: Vec<String>,
    missing: Vec<String>,
}

/// Runs all streams of the phase, one worker each.
///
/// # Errors
/// Where no worker could be started, or a device's interface failed. Failed operations are in the record.
pub(crate) fn execute(job: &Job<'_>, control: &Control) -> Result<PhaseRecord, Failure> {
    let failure = |e: DeviceError| refusal_of_device(&job.plan.name, &e);
    let ran: Vec<Ran> = match job.plan.streams.as_slice() {
        [] => {
            let message = format!("{}: a phase without streams", job.plan.name);
            return Err(Failure::new(FailureKind::Internal, message));
        }
        [stream] => vec![run_one(job, stream, None, control).map_err(failure)?],
        streams => {
            let start = Some(job.epoch.elapsed_ns());
            let results: Vec<Result<Ran, DeviceError>> = std::thread::scope(|scope| {
                let spawn = |stream| scope.spawn(move || run_one(job, stream, start, control));
                let threads: Vec<_> = streams.iter().map(spawn).collect();
                // A worker that panicked is a defect of ours: it goes on here.
                threads.into_iter().map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
            });
            results.into_iter().collect::<Result<_, _>>().map_err(failure)?
        }
    };
    let mut engine = EngineRecord {
        kind: ran[0].kind,
        features: ran[0].features.clone(),
        missing: Vec::new(),
        batch_submit: 0,
        batch_complete: 0,
    };
    let mut records = Vec::with_capacity(ran.len());
    for one in ran {
        engine.missing.extend(one.missing.into_iter().filter(|m| !engine.missing.contains(m)).collect::<Vec<_>>());
        records.push(one.record);
    }
    Ok(phase_record(records, engine))
}

fn run_one(job: &Job<'_>, stream: &StreamPlan, start: Option<Ns>, control: &Control) -> Result<Ran, DeviceError> {
    let mut settings = LoopSettings::of(job.plan, stream, job.interval_ns);
    settings.started_ns = start;
    let (depth, bytes) = (stream.queue_depth.max(1), stream.block_size_bytes as usize);
    let once = job.plan.stop == StopRule::RegionOnce;
    let own = |file: &File| {
        file.try_clone().map(Into::into).map_err(|source| DeviceError::Call { call: "dup of the target", source })
    };
    let threads = |file: &File, why: String| -> Result<_, DeviceError> {
        Ok((PsyncThreads::new(job.epoch, own(file)?, depth, bytes, Some(why))?, EngineKind::PsyncThreads))
    };
    match &job.way {
        Way::Null => {
            let device = NullDevice::new(job.epoch, depth, bytes)?;
            drive(device, EngineKind::Null, stream, once, &settings, control)
        }
        Way::Buffered { file } if job.plan.engine == EngineKind::PsyncThreads => {
            let device = PsyncThreads::new(job.epoch, own(file)?, depth, bytes, None)?;
            drive(device, EngineKind::PsyncThreads, stream, once, &settings, control)
        }
        Way::Buffered { file } => {
            let device = PsyncDevice::new(job.epoch, own(file)?, depth, bytes)?;
            drive(device, EngineKind::Psync, stream, once, &settings, control)
        }
        Way::StandIn { file, reason } => {
            let (device, kind) = threads(file, reason.clone())?;
            drive(device, kind, stream, once, &settings, control)
        }
        Way::Direct { file, without_ring: Some(why) } => {
            let (device, kind) = threads(file, format!("io_uring: {why}"))?;
            drive(device, kind, stream, once, &settings, control)
        }
        Way::Direct { file, without_ring: None } if job.plan.engine == EngineKind::Psync => {
            let device = PsyncDevice::new(job.epoch, own(file)?, depth, bytes)?;
            drive(device, EngineKind::Psync, stream, once, &settings, control)
        }
        Way::Direct { file, without_ring: None } => match UringDevice::new(job.epoch, own(file)?, depth, bytes) {
            Ok(device) => drive(device, EngineKind::IoUring, stream, once, &settings, control),
            Err(error @ DeviceError::NoRing(_)) => {
                let (device, kind) = threads(file, format!("io_uring: {error}"))?;
                drive(device, kind, stream, once, &settings, control)
            }
            Err(error) => Err(error),
        },
    }
}

fn drive<D: Device<Op = BlockOp>>(
    mut device: D,
    kind: EngineKind,
    stream: &StreamPlan,
    once: bool,
    settings: &LoopSettings,
    control: &Control,
) -> Result<Ran, DeviceError> {
    let mut source = Stream::new(stream, once);
    let record = run_stream(&mut device, &mut source, settings, control)?;
    Ok(Ran { record, kind, features: device.features(), missing: device.missing() })
}
