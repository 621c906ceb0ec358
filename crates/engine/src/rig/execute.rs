//! Chooses the device for each stream of a phase, runs the streams side by side, and makes one record of theirs.

use super::refusal::refusal_of_device;
use crate::recorder::{says_all, stream_summary};
use crate::{
    Calls, Content, Control, Crew, Device, DeviceError, FileSet, LoopSettings, MappedFiles, NullDevice, Part,
    PsyncDevice, PsyncThreads, Shaped, StreamRecord, UringDevice, phase_record, run_worker,
};
use model::{
    EngineKind, EngineRecord, Failure, FailureKind, Ns, PhasePlan, PhaseRecord, RwFlags, StopRule, StreamPlan,
};
use std::cell::Cell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::Epoch;
use workload::{BlockOp, FileSpace, Pattern, Stream, is_plain};

/// The files of a stream: the target, or those that it names.
pub(crate) type Files = Vec<Arc<File>>;

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
}

/// How a stream ran.
struct Ran {
    record: StreamRecord,
    kind: EngineKind,
    features: Vec<String>,
    missing: Vec<String>,
}

/// Runs all streams of the phase, one worker each; they start at one moment, when all are ready.
///
/// # Errors
/// Where a worker could not be started, or a device's interface failed. Failed operations are in the record.
pub(crate) fn execute(job: &Job<'_>, control: &Control) -> Result<PhaseRecord, Failure> {
    let failure = |e: DeviceError| refusal_of_device(&job.plan.name, &e);
    let streams = &job.plan.streams;
    if streams.is_empty() || streams.len() != job.ways.len() {
        let message = format!("{}: a phase of {} streams and {} ways", job.plan.name, streams.len(), job.ways.len());
        return Err(Failure::new(FailureKind::Internal, message));
    }
    let crew = Crew::new(streams.len() as u32, &job.plan.stop);
    let works = || streams.iter().zip(&job.ways);
    let ran: Vec<Ran> = if streams.len() == 1 && streams[0].cpus.is_empty() {
        vec![
            Worker { job, stream: &streams[0], crew: &crew, control, started: Cell::new(false) }
                .run(&job.ways[0])
                .map_err(failure)?,
        ]
    } else {
        // A worker that is confined to processors has a thread of its own, so that ours is not.
        let results: Vec<Result<Ran, DeviceError>> = std::thread::scope(|scope| {
            let crew = &crew;
            let run = |(stream, way)| move || Worker { job, stream, crew, control, started: Cell::new(false) }.run(way);
            let threads: Vec<_> = works().map(|work| scope.spawn(run(work))).collect();
            // A worker that panicked is a defect of ours: it goes on here.
            threads.into_iter().map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
        });
        results.into_iter().collect::<Result<_, _>>().map_err(failure)?
    };
    let mut engine = EngineRecord {
        kind: ran[0].kind,
        features: ran[0].features.clone(),
        missing: Vec::new(),
        batch_submit: 0,
        batch_complete: 0,
    };
    let summaries: Vec<_> = ran.iter().zip(streams).map(|(r, s)| stream_summary(&r.record, s, r.kind)).collect();
    let mut records = Vec::with_capacity(ran.len());
    for one in ran {
        engine.missing.extend(one.missing.into_iter().filter(|m| !engine.missing.contains(m)).collect::<Vec<_>>());
        records.push(one.record);
    }
    let all_said = says_all(&records, streams);
    let mut record = phase_record(records, engine);
    if !all_said {
        record.streams = summaries;
    }
    record.steady = crew.steady();
    Ok(record)
}

/// One stream's worker.
struct Worker<'a> {
    job: &'a Job<'a>,
    stream: &'a StreamPlan,
    crew: &'a Crew,
    control: &'a Control,
    started: Cell<bool>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if !self.started.get() {
            // The others wait for this one's start.
            self.crew.leave();
        }
    }
}

fn own(file: &File) -> Result<OwnedFd, DeviceError> {
    file.try_clone().map(Into::into).map_err(|source| DeviceError::Call { call: "dup of the target", source })
}

impl Worker<'_> {
    fn engine(&self) -> EngineKind {
        self.stream.engine.unwrap_or(self.job.plan.engine)
    }

    fn places(&self) -> (u32, usize) {
        (self.stream.queue_depth.max(1), usize::try_from(self.stream.block_size_bytes).unwrap_or(usize::MAX))
    }

    fn run(&self, way: &Way) -> Result<Ran, DeviceError> {
        if !self.stream.cpus.is_empty() {
            sys::set_affinity(&self.stream.cpus)
                .map_err(|source| DeviceError::Call { call: "sched_setaffinity (cpus of the stream)", source })?;
        }
        let epoch = self.job.epoch;
        let (depth, bytes) = self.places();
        match (way, self.engine()) {
            (Way::Null, _) | (_, EngineKind::Null) => {
                self.drive(NullDevice::new(epoch, depth, bytes)?, EngineKind::Null)
            }
            (Way::Buffered { files }, EngineKind::Mmap) => self.mapped(files),
            (Way::Buffered { files }, EngineKind::PsyncThreads) => self.threads(files, None),
            (Way::Buffered { files }, EngineKind::IoUring) => self.ring(files),
            (Way::Buffered { files }, _) | (Way::Direct { files, without_ring: None }, EngineKind::Psync) => {
                self.psync(files)
            }
            (Way::Direct { files, .. }, EngineKind::PsyncThreads) => self.threads(files, None),
            (Way::StandIn { files, reason }, _) => self.threads(files, Some(reason.clone())),
            (Way::Direct { files, without_ring: Some(why) }, _) => {
                self.threads(files, Some(format!("io_uring: {why}")))
            }
            (Way::Direct { files, without_ring: None }, _) => self.ring(files),
        }
    }

    /// The only file, if there is one and calls need no flags: the shortest way.
    fn only<'f>(&self, files: &'f Files) -> Option<&'f Arc<File>> {
        if files.len() == 1 && self.stream.rw_flags == RwFlags::default() { files.first() } else { None }
    }

    fn set(&self, files: &Files) -> Result<FileSet, DeviceError> {
        let own: Result<Vec<OwnedFd>, DeviceError> = files.iter().map(|f| own(f)).collect();
        Ok(FileSet::new(own?, FileSpace::of(self.stream), self.stream.rw_flags))
    }

    fn psync(&self, files: &Files) -> Result<Ran, DeviceError> {
        match self.only(files) {
            Some(file) => self.psync_over(own(file)?),
            None => self.psync_over(self.set(files)?),
        }
    }

    fn psync_over(&self, calls: impl Calls) -> Result<Ran, DeviceError> {
        let (depth, bytes) = self.places();
        self.drive(PsyncDevice::new(self.job.epoch, calls, depth, bytes)?, EngineKind::Psync)
    }

    fn mapped(&self, files: &Files) -> Result<Ran, DeviceError> {
        let stream = self.stream;
        let (end, writes) = (stream.region_start_bytes.saturating_add(stream.region_bytes), stream.changes_data());
        for file in files.iter().filter(|_| writes) {
            let regular = file.metadata().is_ok_and(|m| m.is_file());
            // A store into a hole for which there is no room would end the program; this says ENOSPC instead.
            if regular {
                sys::reserve(file, 0, end)
                    .map_err(|source| DeviceError::Call { call: "fallocate of what is to be mapped", source })?;
            }
        }
        let mapped = MappedFiles::new(files.iter().map(|f| f.as_ref()), FileSpace::of(stream), end, writes)?;
        let (depth, bytes) = self.places();
        self.drive(PsyncDevice::new(self.job.epoch, mapped, depth, bytes)?, EngineKind::Mmap)
    }

    fn threads(&self, files: &Files, why: Option<String>) -> Result<Ran, DeviceError> {
        let (depth, bytes) = self.places();
        let device = match self.only(files) {
            Some(file) => PsyncThreads::new(self.job.epoch, own(file)?, depth, bytes, why)?,
            None => PsyncThreads::new(self.job.epoch, self.set(files)?, depth, bytes, why)?,
        };
        self.drive(device, EngineKind::PsyncThreads)
    }

    fn ring(&self, files: &Files) -> Result<Ran, DeviceError> {
        let (depth, bytes) = self.places();
        let Some(file) = self.only(files) else {
            return self.threads(files, Some("io_uring: several files or flags of calls go through threads".into()));
        };
        match UringDevice::new(self.job.epoch, own(file)?, depth, bytes) {
            Ok(device) => self.drive(device, EngineKind::IoUring),
            Err(error @ DeviceError::NoRing(_)) => self.threads(files, Some(format!("io_uring: {error}"))),
            Err(error) => Err(error),
        }
    }

    fn drive<D: Device<Op = BlockOp>>(&self, mut device: D, kind: EngineKind) -> Result<Ran, DeviceError> {
        let (job, stream) = (self.job, self.stream);
        let settings = LoopSettings::of(job.plan, stream, job.interval_ns);
        let once = job.plan.stop == StopRule::RegionOnce;
        let part = Part::of(stream, self.crew);
        self.started.set(true);
        let result = if is_plain(stream) && stream.content == model::Content::default() {
            let mut data = settings.content_seed.map(Content::new);
            run_worker(&mut device, &mut Stream::new(stream, once), &mut data, &settings, &part, self.control)
        } else {
            let mut data = Shaped::of(stream, settings.content_seed);
            run_worker(&mut device, &mut Pattern::new(stream, once), &mut data, &settings, &part, self.control)
        };
        let record = result.inspect_err(|_| self.crew.end(model::StopCause::Failed))?;
        Ok(Ran { record, kind, features: device.features(), missing: device.missing() })
    }
}
