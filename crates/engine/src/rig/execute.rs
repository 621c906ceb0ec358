//! Chooses the device for each stream of a phase, runs the streams side by side, and makes one record of theirs.

use super::own_files::Files;
use super::refusal::refusal_of_device;
use super::shelf::Shelf;
use super::verify::{Again, Caches, ReadsSeen, make_cold, not_started, past_cache};
use crate::device::OwnThread;
use crate::recorder::{says_all, stream_summary};
use crate::worker::Checking;
use crate::{
    Calls, Content, Control, Crew, Data, Device, DeviceError, FileSet, LoopSettings, MappedFiles, NullDevice, Part,
    PsyncDevice, PsyncThreads, Shaped, StreamRecord, UringDevice, phase_record, run_worker,
};
use model::{
    BufferPages, Buffers, EngineKind, EngineRecord, Failure, FailureKind, IoClass, IoPriority, Ns, Operation,
    PhasePlan, PhaseRecord, RwFlags, StopCause, StopRule, StreamPlan, Sync, Warmup,
};
use std::cell::Cell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use sys::{BufferPool, Epoch, Pages, PoolOptions};
use workload::{BlockOp, Checked, FileSpace, Pattern, Verified};

/// Why a ring does not poll although RWF_HIPRI was asked for.
const NO_POLLED_PAIRS: &str = "polled completions (RWF_HIPRI): each write is one operation with its fdatasync, and a ring \
     that polls takes no syncs";

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
struct Ran {
    record: StreamRecord,
    kind: EngineKind,
    features: Vec<String>,
    missing: Vec<String>,
    verified: Option<Verified>,
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
    let mut engine = EngineRecord {
        kind: ran[0].kind,
        features: ran[0].features.clone(),
        missing: Vec::new(),
        batch_submit: 0,
        batch_complete: 0,
    };
    let summaries: Vec<_> = ran.iter().zip(streams).map(|(r, s)| stream_summary(&r.record, s, r.kind)).collect();
    let mut records = Vec::with_capacity(ran.len());
    let mut verified = Vec::with_capacity(ran.len());
    for one in ran {
        engine.missing.extend(one.missing.into_iter().filter(|m| !engine.missing.contains(m)).collect::<Vec<_>>());
        records.push(one.record);
        verified.push(one.verified);
    }
    let all_said = says_all(&records, streams);
    let mut record = phase_record(records, engine);
    if !all_said {
        record.streams = summaries;
    }
    record.steady = crew.steady();
    let (checked, read_back) = read_back(job, verified, &mut record, control);
    Ok(Executed { record, checked, own_reads, read_back })
}

/// What the lowest layers read between two looks at them.
fn delivered(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).map(|(before, after)| after.saturating_sub(before))
}

/// How a stream ran; if it could not, why, and what it knew of its data.
type Outcome = Result<Ran, (DeviceError, Option<Box<Verified>>)>;

/// A stream, its way, and what it knows of its data.
type Work<'a> = (&'a StreamPlan, &'a Way, Option<Verified>);

fn run_all(job: &Job<'_>, phase: &PhasePlan, mut works: Vec<Work<'_>>, crew: &Crew, control: &Control) -> Vec<Outcome> {
    let worker = |stream, known, reads_back| Worker {
        job,
        phase,
        stream,
        crew,
        control,
        started: Cell::new(false),
        files: Files::new(),
        known: Cell::new(known),
        reads_back,
    };
    // What is read back has a phase of its own.
    let reads_back = !std::ptr::eq(phase, job.plan);
    if works.len() == 1 && works[0].0.path.cpus.is_empty() && works[0].0.path.io_priority.is_none() {
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

/// One stream's worker.
struct Worker<'a> {
    job: &'a Job<'a>,
    /// The job's, or that of its read-back.
    phase: &'a PhasePlan,
    stream: &'a StreamPlan,
    crew: &'a Crew,
    control: &'a Control,
    started: Cell<bool>,
    files: Files,
    known: Cell<Option<Verified>>,
    reads_back: bool,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if !self.started.get() {
            // The others wait for this one's start.
            self.crew.leave();
        }
    }
}

/// Why the system gives no further thread now, if it gives none.
fn no_thread() -> Option<String> {
    let thread = std::thread::Builder::new().name("trial".into()).stack_size(16 * 1024).spawn(|| ());
    match thread {
        Ok(thread) => {
            // It does nothing that could panic.
            let _ = thread.join();
            None
        }
        Err(source) => Some(DeviceError::NoThread { purpose: "them".into(), source }.to_string()),
    }
}

fn own(file: &File) -> Result<OwnedFd, DeviceError> {
    file.try_clone().map(Into::into).map_err(|source| DeviceError::Call { call: "dup of the target", source })
}

/// Sizes beyond the address space are beyond what the kernel has.
fn pool_options(buffers: Buffers) -> PoolOptions {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let pages = match buffers.pages {
        BufferPages::Huge => Pages::Huge,
        BufferPages::Ordinary => Pages::Ordinary,
        BufferPages::Reserved { page_bytes } => Pages::Reserved { bytes: page_bytes.map(size) },
    };
    PoolOptions { pages, alignment_bytes: size(buffers.alignment_bytes) }
}

impl Worker<'_> {
    fn engine(&self) -> EngineKind {
        self.stream.path.engine.unwrap_or(self.phase.engine)
    }

    fn depth(&self) -> u32 {
        self.stream.path.queue_depth.max(1)
    }

    fn pool(&self) -> Result<BufferPool, DeviceError> {
        let bytes = usize::try_from(self.stream.block().block_size_bytes).unwrap_or(usize::MAX);
        self.job.shelf.take(self.depth(), bytes, pool_options(self.stream.path.buffers))
    }

    fn run(mut self, way: &Way) -> Outcome {
        self.files = way.files();
        let ran = self.take(way).map_err(|error| (error, self.known.take().map(Box::new)));
        if self.stream.limits.ends_phase {
            self.crew.end(StopCause::TimeUsed);
        }
        ran
    }

    fn take(&self, way: &Way) -> Result<Ran, DeviceError> {
        if !self.stream.path.cpus.is_empty() {
            sys::set_affinity(&self.stream.path.cpus)
                .map_err(|source| DeviceError::Call { call: "sched_setaffinity (cpus of the stream)", source })?;
        }
        if let Some(IoPriority { class, level }) = self.stream.path.io_priority {
            let class = match class {
                IoClass::RealTime => 1,
                IoClass::BestEffort => 2,
                IoClass::Idle => 3,
            };
            sys::set_io_priority(class, level)
                .map_err(|source| DeviceError::Call { call: "ioprio_set (priority of the stream)", source })?;
        }
        let epoch = self.job.epoch;
        match (way, self.engine()) {
            (Way::Null, _) | (_, EngineKind::Null) => {
                self.drive(NullDevice::new(epoch, self.pool()?), EngineKind::Null)
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
        if files.len() == 1 && self.stream.path.rw_flags == RwFlags::default() { files.first() } else { None }
    }

    fn set(&self, files: &Files) -> Result<FileSet, DeviceError> {
        let own: Result<Vec<OwnedFd>, DeviceError> = files.iter().map(|f| own(f)).collect();
        Ok(FileSet::new(own?, FileSpace::of(self.stream), self.stream.path.rw_flags))
    }

    fn psync(&self, files: &Files) -> Result<Ran, DeviceError> {
        match self.only(files) {
            Some(file) => self.psync_over(own(file)?),
            None => self.psync_over(self.set(files)?),
        }
    }

    fn psync_over(&self, calls: impl Calls) -> Result<Ran, DeviceError> {
        self.drive(PsyncDevice::new(self.job.epoch, calls, self.pool()?), EngineKind::Psync)
    }

    fn mapped(&self, files: &Files) -> Result<Ran, DeviceError> {
        let stream = self.stream;
        let (end, writes) =
            (stream.block().region_start_bytes.saturating_add(stream.block().region_bytes), stream.changes_data());
        for file in files.iter().filter(|_| writes) {
            let regular = file.metadata().is_ok_and(|m| m.is_file());
            // A store into a hole for which there is no room would end the program; this says ENOSPC instead.
            if regular {
                sys::reserve(file, 0, end)
                    .map_err(|source| DeviceError::Call { call: "fallocate of what is to be mapped", source })?;
            }
        }
        let mapped = MappedFiles::new(files.iter().map(|f| f.as_ref()), FileSpace::of(stream), end, writes)?;
        self.drive(PsyncDevice::new(self.job.epoch, mapped, self.pool()?), EngineKind::Mmap)
    }

    fn threads(&self, files: &Files, why: Option<String>) -> Result<Ran, DeviceError> {
        self.threads_with(files, self.pool()?, why)
    }

    fn threads_with(&self, files: &Files, pool: BufferPool, why: Option<String>) -> Result<Ran, DeviceError> {
        let device = match self.only(files) {
            Some(file) => PsyncThreads::new(self.job.epoch, own(file)?, pool, why.clone()),
            None => PsyncThreads::new(self.job.epoch, self.set(files)?, pool, why.clone()),
        };
        match device {
            // One operation at a time needs no second thread.
            Err(error @ DeviceError::NoThread { .. }) if self.depth() == 1 => {
                let mut ran = self.psync(files)?;
                ran.missing.extend(why);
                ran.missing.push(format!("{error}: the job's own thread carried it out"));
                Ok(ran)
            }
            device => self.drive(device?, EngineKind::PsyncThreads),
        }
    }

    fn ring(&self, files: &Files) -> Result<Ran, DeviceError> {
        let mut pool = Some(self.pool()?);
        let own: Vec<OwnedFd> = files.iter().map(|f| own(f)).collect::<Result<_, _>>()?;
        let mut flags = self.stream.path.rw_flags;
        let pairs = flags.hipri && self.stream.durability.sync == Sync::FdatasyncEach;
        flags.hipri &= !pairs;
        let space = if own.len() == 1 { FileSpace::alone() } else { FileSpace::of(self.stream) };
        match (UringDevice::over(self.job.epoch, &own, space, flags, &mut pool), pool) {
            (Ok(device), _) => {
                let device = device.without(pairs.then_some(NO_POLLED_PAIRS));
                let Some(why) = no_thread() else { return self.drive(device, EngineKind::IoUring) };
                self.drive(OwnThread::new(device, self.set(files)?, self.depth(), why), EngineKind::IoUring)
            }
            (Err(error @ DeviceError::NoRing(_)), Some(pool)) => {
                self.threads_with(files, pool, Some(format!("io_uring: {error}")))
            }
            (Err(error), _) => Err(error),
        }
    }

    fn drive<D: Device<Op = BlockOp>>(&self, mut device: D, kind: EngineKind) -> Result<Ran, DeviceError> {
        let (job, stream) = (self.job, self.stream);
        let settings = LoopSettings::of(self.phase, stream, job.interval_ns);
        self.started.set(true);
        let (record, verified) = match self.known.take() {
            Some(known) => {
                let (record, known) = self.verifying(&mut device, known, &settings)?;
                (record, Some(known))
            }
            None if Shaped::is_unique(stream) => {
                let mut data = settings.content_seed.map(Content::new);
                (self.work(&mut device, &mut data, &settings)?, None)
            }
            None => (self.work(&mut device, &mut Shaped::of(stream, settings.content_seed), &settings)?, None),
        };
        let (features, missing) = (device.features(), device.missing());
        job.shelf.put(device.into_pool());
        Ok(Ran { record, kind, features, missing, verified })
    }

    /// The stream, with data of some making.
    fn work<D, C>(&self, device: &mut D, data: &mut C, settings: &LoopSettings) -> Result<StreamRecord, DeviceError>
    where
        D: Device<Op = BlockOp>,
        C: Data,
    {
        let (stream, once) = (self.stream, self.phase.stop == StopRule::RegionOnce);
        let part = Part::of(stream, self.crew);
        run_worker(device, &mut Pattern::new(stream, once), data, settings, &part, self.control)
            .inspect_err(|_| self.crew.end(StopCause::Failed))
    }

    /// A stream that verifies, or its read-back.
    fn verifying<D: Device<Op = BlockOp>>(
        &self,
        device: &mut D,
        known: Verified,
        settings: &LoopSettings,
    ) -> Result<(StreamRecord, Verified), DeviceError> {
        let again = Again::new(self.files.clone());
        if !self.reads_back {
            let writes = self.stream.changes_data() && self.stream.block().operation == Operation::Write;
            let mut data = Checking::new(known, again, writes);
            let result = self.work(device, &mut data, settings);
            return self.keep(result, data.verified);
        }
        let mut data = Checking::new(known, again, false);
        let lost = data.verified.reads_lost();
        let mut source = data.verified.read_back(self.stream.block().block_size_bytes);
        let part = Part::of(self.stream, self.crew);
        let result = run_worker(device, &mut source, &mut data, settings, &part, self.control)
            .inspect_err(|_| self.crew.end(StopCause::Failed));
        let (bytes, ns) = result.as_ref().map_or((0, 0), |r| (r.bytes, r.ended_ns.saturating_sub(r.started_ns)));
        data.verified.was_read_back(source, bytes, ns);
        let complete = data.verified.reads_lost() == lost;
        data.verified.read_back_is(complete && result.is_ok());
        self.keep(result, data.verified)
    }

    /// What is known of the data outlives a device that failed.
    fn keep(
        &self,
        result: Result<StreamRecord, DeviceError>,
        known: Verified,
    ) -> Result<(StreamRecord, Verified), DeviceError> {
        match result {
            Ok(record) => Ok((record, known)),
            Err(error) => {
                self.known.set(Some(known));
                Err(error)
            }
        }
    }
}
