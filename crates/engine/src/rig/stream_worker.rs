//! One stream of a phase: chooses its device, and runs it there.

use super::execute::{Job, Outcome, Ran, Way};
use super::own_files::Files;
use super::shelf::Shelf;
use super::verify::Again;
use crate::device::OwnThread;
use crate::worker::Checking;
use crate::{
    Calls, Content, Control, Crew, Data, Device, DeviceError, FileSet, LoopSettings, MappedFiles, NullDevice, Part,
    PsyncDevice, PsyncThreads, Shaped, StreamRecord, UringDevice, run_worker,
};
use model::{
    BufferPages, Buffers, EngineKind, IoClass, IoPriority, Operation, PhasePlan, RwFlags, StopCause, StopRule,
    StreamPlan, Sync,
};
use std::cell::Cell;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::{BufferPool, Pages, PoolOptions};
use workload::{BlockOp, FileSpace, Pattern, Verified};

/// Why a ring does not poll although RWF_HIPRI was asked for.
const NO_POLLED_PAIRS: &str = "polled completions (RWF_HIPRI): each write is one operation with its fdatasync, and a ring \
     that polls takes no syncs";

/// One stream's worker.
pub(super) struct Worker<'a> {
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

impl<'a> Worker<'a> {
    /// Of a job's phase, or of that of its read-back.
    pub fn new(
        job: &'a Job<'a>,
        phase: &'a PhasePlan,
        stream: &'a StreamPlan,
        (crew, control): (&'a Crew, &'a Control),
        known: Option<Verified>,
        reads_back: bool,
    ) -> Self {
        let (started, files, known) = (Cell::new(false), Files::new(), Cell::new(known));
        Self { job, phase, stream, crew, control, started, files, known, reads_back }
    }
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
        let options = pool_options(self.stream.path.buffers);
        match self.stream.path.numa.memory {
            // What waits for another stream lies where that one's memory was to be.
            Some(_) => Shelf::default().take(self.depth(), bytes, options),
            None => self.job.shelf.take(self.depth(), bytes, options),
        }
    }

    pub fn run(mut self, way: &Way) -> Outcome {
        self.files = way.files();
        let ran = self.take(way).map_err(|error| (error, self.known.take().map(Box::new)));
        let limits = self.stream.limits;
        if limits.ends_phase {
            self.crew.end(StopCause::TimeUsed);
        }
        if limits.ends_group {
            self.crew.end_group(limits.exit_group);
        }
        ran
    }

    fn take(&self, way: &Way) -> Result<Ran, DeviceError> {
        let missing = super::nodes::confine(&self.stream.path.numa)?;
        let mut ran = self.take_confined(way)?;
        ran.missing.extend(missing);
        Ok(ran)
    }

    fn take_confined(&self, way: &Way) -> Result<Ran, DeviceError> {
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
        if stream.path.numa.memory.is_none() {
            job.shelf.put(device.into_pool());
        }
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
        let mut source = Pattern::new(stream, once);
        if let Some(flow) = stream.timing.flow {
            source = source.sharing(stream, self.crew.flow(flow.id));
        }
        run_worker(device, &mut source, data, settings, &part, self.control)
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
