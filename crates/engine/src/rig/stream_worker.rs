//! One stream of a phase: chooses its device, and runs it there.

use super::buffer_cache::BufferCache;
use super::cold_passes::ColdPasses;
use super::own_files::Files;
use super::verify::Rereader;
use super::work::{OpenTarget, PhaseWork, StreamOutcome, StreamWork};
use crate::device::{FileCalls, FileSet, MappedFiles, Metadata, RingWithoutWorkers};
use crate::worker::VerifyingData;
use crate::{
    Data, DataGenerator, Device, DeviceError, FilesDevice, NullDevice, PhaseShared, PsyncDevice, PsyncThreads, Shaped,
    StreamConfig, UringDevice, run_worker,
};
use model::{
    BlockStream, BufferPages, Buffers, EngineKind, IoPriority, PhaseRecord, StopCause, StopRule, StreamPlan, Sync,
};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use sys::{BufferPool, Pages, PoolOptions};
use workload::{BlockOp, FileSpace, FileStream, Pattern, Request, Source, Verified};

/// Why a ring does not poll although RWF_HIPRI was asked for.
const NO_POLLED_PAIRS: &str = "polled completions (RWF_HIPRI): each write is one operation with its fdatasync, and a ring \
     that polls takes no syncs";

/// The thread that carries one stream out: chooses its device and runs the loop over it.
pub(super) struct Worker<'a> {
    pub(super) job: PhaseWork<'a>,
    barrier: &'a PhaseShared,
    pub(super) stream: &'a StreamPlan,
    pub(super) target: &'a OpenTarget,
    known: Option<&'a mut Verified>,
    pub(super) started: bool,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if !self.started {
            // The others wait for this one's start.
            self.barrier.leave();
        }
    }
}

/// Why the system gives no further thread now, if it gives none.
fn no_thread() -> Option<String> {
    let thread = std::thread::Builder::new().name("trial".into()).stack_size(16 * 1024).spawn(|| ());
    // It does nothing that could panic.
    let ended = thread.map(|thread| drop(thread.join()));
    ended.err().map(|source| DeviceError::NoThread { purpose: "them".into(), source }.to_string())
}

/// Descriptors of our own for these files.
fn duplicate(files: &Files) -> Result<Vec<OwnedFd>, DeviceError> {
    let own = |file: &Arc<File>| file.try_clone().map(Into::into);
    files.iter().map(own).collect::<Result<_, _>>().map_err(DeviceError::of("dup of the target"))
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
    pub fn new(job: PhaseWork<'a>, barrier: &'a PhaseShared, work: &'a mut StreamWork<'_>) -> Self {
        Self { job, barrier, stream: work.stream, target: work.target, known: work.known.as_mut(), started: false }
    }

    pub(super) fn depth(&self) -> u32 {
        self.stream.path.queue_depth.max(1)
    }

    /// Buffers beyond the depth. Each buffer is a thread where threads serve, and what is verified is made anew each time.
    fn spare_buffers(&self, kind: EngineKind) -> u32 {
        if matches!(kind, EngineKind::PsyncThreads | EngineKind::Files) || self.known.is_some() {
            0
        } else {
            self.stream.blocks().map_or(0, Shaped::spare_buffers)
        }
    }

    pub(super) fn pool(&self, kind: EngineKind) -> Result<BufferPool, DeviceError> {
        let count = self.depth() + self.spare_buffers(kind);
        let bytes = usize::try_from(self.stream.buffer_bytes()).unwrap_or(usize::MAX);
        let options = pool_options(self.stream.path.buffers);
        match self.stream.path.numa.memory {
            // What waits for another stream lies where that one's memory was to be.
            Some(_) => BufferCache::default().take(count, bytes, options),
            None => self.job.buffer_cache.take(count, bytes, options),
        }
    }

    pub fn run(mut self) -> Result<StreamOutcome, DeviceError> {
        let outcome = self.confine().and_then(|missing| {
            let mut outcome = self.take()?;
            outcome.missing.extend(missing);
            Ok(outcome)
        });
        let limits = self.stream.limits;
        if limits.ends_phase {
            self.barrier.end(StopCause::TimeUsed);
        }
        if limits.ends_group {
            self.barrier.end_group(limits.exit_group);
        }
        outcome
    }

    /// Gives the thread its nodes, processors and priority; what could not be had as asked.
    fn confine(&self) -> Result<Vec<String>, DeviceError> {
        let path = &self.stream.path;
        let missing = super::nodes::confine(&path.numa)?;
        if !path.cpus.is_empty() {
            sys::set_affinity(&path.cpus).map_err(DeviceError::of("sched_setaffinity (cpus of the stream)"))?;
        }
        let before = sys::io_priority();
        // What only some requests are to have is tried: a right that is missing is told before the first of them.
        let tried = path.priority_shares.iter().flat_map(|share| [share.priority.bits(), before]);
        for priority in tried.chain(path.io_priority.map(IoPriority::bits)) {
            sys::set_io_priority(priority).map_err(DeviceError::of("ioprio_set (priority of the stream)"))?;
        }
        Ok(missing)
    }

    fn take(&mut self) -> Result<StreamOutcome, DeviceError> {
        let engine = self.stream.path.engine;
        if self.target.files.is_empty() || engine == EngineKind::Null {
            return self.drive(NullDevice::new(self.job.epoch, self.pool(EngineKind::Null)?), EngineKind::Null);
        }
        match (engine, self.target.direct) {
            (EngineKind::Files, _) if self.stream.replay().is_some() => self.replayed(),
            (EngineKind::Files, _) => self.on_files(),
            (EngineKind::Fallocate | EngineKind::Ftruncate, _) => {
                let truncates = engine == EngineKind::Ftruncate;
                let calls = Metadata::new(duplicate(&self.target.files)?, FileSpace::of(self.blocks()?), truncates);
                self.in_thread(FileCalls::Metadata(calls), engine)
            }
            _ if self.target.threads.is_some() => self.threads(self.target.threads.clone()),
            (EngineKind::PsyncThreads, _) => self.threads(None),
            (EngineKind::Mmap, false) => self.mapped(),
            (EngineKind::Psync, true) => self.psync(),
            (EngineKind::IoUring, _) | (_, true) => self.ring(),
            (_, false) => self.psync(),
        }
    }

    /// The stream, where it is of blocks.
    fn blocks(&self) -> Result<BlockStream<'a>, DeviceError> {
        self.stream.blocks().ok_or_else(|| DeviceError::BadOperation("operations on blocks without blocks".into()))
    }

    fn set(&self) -> Result<FileCalls, DeviceError> {
        let space = FileSpace::of(self.blocks()?);
        let flags = self.stream.path.rw_flags;
        Ok(FileCalls::Read(FileSet::new(duplicate(&self.target.files)?, space, flags)))
    }

    fn in_thread(&mut self, calls: FileCalls, kind: EngineKind) -> Result<StreamOutcome, DeviceError> {
        self.drive(PsyncDevice::new(self.job.epoch, calls, self.pool(kind)?), kind)
    }

    fn psync(&mut self) -> Result<StreamOutcome, DeviceError> {
        self.in_thread(self.set()?, EngineKind::Psync)
    }

    fn mapped(&mut self) -> Result<StreamOutcome, DeviceError> {
        let stream = self.blocks()?;
        let files = &self.target.files;
        let end = stream.block.region_end();
        let writes = stream.changes_data();
        for file in files.iter().filter(|_| writes) {
            let regular = file.metadata().is_ok_and(|m| m.is_file());
            // A store into a hole for which there is no room would end the program; this says ENOSPC instead.
            if regular {
                sys::reserve(file, 0, end).map_err(DeviceError::of("fallocate of what is to be mapped"))?;
            }
        }
        let mapped = MappedFiles::new(files.iter().map(|f| f.as_ref()), FileSpace::of(stream), end, writes)?;
        self.in_thread(FileCalls::Mapped(mapped), EngineKind::Mmap)
    }

    fn threads(&mut self, why: Option<String>) -> Result<StreamOutcome, DeviceError> {
        match PsyncThreads::new(self.job.epoch, self.set()?, self.pool(EngineKind::PsyncThreads)?, why.clone()) {
            // One operation at a time needs no second thread.
            Err(error @ DeviceError::NoThread { .. }) if self.depth() == 1 => {
                let mut outcome = self.psync()?;
                outcome.missing.extend(why);
                outcome.missing.push(format!("{error}: the job's own thread carried it out"));
                Ok(outcome)
            }
            device => self.drive(device?, EngineKind::PsyncThreads),
        }
    }

    fn ring(&mut self) -> Result<StreamOutcome, DeviceError> {
        let mut pool = Some(self.pool(EngineKind::IoUring)?);
        let own = duplicate(&self.target.files)?;
        let mut flags = self.stream.path.rw_flags;
        let pairs = flags.hipri && self.stream.durability.sync == Sync::FdatasyncEach;
        flags.hipri &= !pairs;
        let space = FileSpace::of(self.blocks()?);
        match UringDevice::with_files(self.job.epoch, &own, space, flags, &mut pool) {
            Ok(device) => {
                let device = device.with_missing(pairs.then_some(NO_POLLED_PAIRS));
                let Some(why) = no_thread() else { return self.drive(device, EngineKind::IoUring) };
                let buffers = self.depth() + self.spare_buffers(EngineKind::IoUring);
                self.drive(RingWithoutWorkers::new(device, self.set()?, buffers, why), EngineKind::IoUring)
            }
            Err(error @ DeviceError::NoRing(_)) => {
                self.job.buffer_cache.put(pool);
                let mut outcome = self.threads(Some(format!("io_uring: {error}")))?;
                if !self.stream.path.priority_shares.is_empty() {
                    outcome.missing.push("priorities of single requests: only io_uring has them".into());
                }
                Ok(outcome)
            }
            Err(error) => Err(error),
        }
    }

    fn drive(&mut self, mut device: impl Device<Op = BlockOp>, kind: EngineKind) -> Result<StreamOutcome, DeviceError> {
        let (job, stream) = (self.job, self.stream);
        let spare_buffers = self.spare_buffers(kind);
        let settings = StreamConfig { spare_buffers, ..StreamConfig::of(job.plan, stream, job.options.interval_ns) };
        self.started = true;
        let seed = settings.content_seed;
        let repeats = spare_buffers == 0 && Shaped::repeats(self.blocks()?);
        let record = match self.known.take() {
            Some(known) => self.verifying(&mut device, known, &settings)?,
            None => self.work(&mut device, &mut Shaped::of(self.blocks()?, seed, repeats), &settings)?,
        };
        let (features, missing) = (device.features(), device.missing());
        if stream.path.numa.memory.is_none() {
            job.buffer_cache.put(device.into_pool());
        }
        Ok(StreamOutcome { record, kind, features, missing })
    }

    /// Operations on files, in the directory that is its way.
    fn on_files(&mut self) -> Result<StreamOutcome, DeviceError> {
        let (job, stream) = (self.job, self.stream);
        let (Some(directory), Some(files)) = (self.target.files.first(), stream.files()) else {
            return Err(DeviceError::BadOperation("operations on files without files".into()));
        };
        let sync = stream.durability.sync == Sync::FdatasyncEach;
        let mut device = FilesDevice::new(job.epoch, directory.clone(), files, sync, self.pool(EngineKind::Files)?);
        let order = self.target.order.clone();
        let mut source = FileStream::new(stream, files, job.plan.stop == StopRule::RegionOnce, order);
        let mut data = (files.file_bytes > 0).then(|| DataGenerator::new(stream.seed));
        let settings = StreamConfig::of(job.plan, stream, job.options.interval_ns);
        self.started = true;
        let record = self.run_loop(&mut device, &mut source, &mut data, &settings)?;
        job.buffer_cache.put(device.into_pool());
        Ok(StreamOutcome { record, kind: EngineKind::Files, features: Vec::new(), missing: Vec::new() })
    }

    /// The stream, with data of some making.
    fn work(
        &self,
        device: &mut impl Device<Op = BlockOp>,
        data: &mut impl Data,
        settings: &StreamConfig,
    ) -> Result<PhaseRecord, DeviceError> {
        let stream = self.blocks()?;
        let source = Pattern::new(stream, self.job.plan.stop == StopRule::RegionOnce);
        let source = source.sharing(self.stream, |flow| self.barrier.flow(flow));
        let mut source = ColdPasses::over(source, &self.job, stream, self.target);
        self.run_loop(device, &mut source, data, settings)
    }

    pub(super) fn run_loop<Op: Request>(
        &self,
        device: &mut impl Device<Op = Op>,
        source: &mut impl Source<Op = Op>,
        data: &mut impl Data<Op>,
        settings: &StreamConfig,
    ) -> Result<PhaseRecord, DeviceError> {
        run_worker(device, source, data, settings, self.barrier, self.job.control)
            .inspect_err(|_| self.barrier.end(StopCause::Failed))
    }

    /// A stream that verifies, or its read-back.
    fn verifying(
        &self,
        device: &mut impl Device<Op = BlockOp>,
        known: &mut Verified,
        settings: &StreamConfig,
    ) -> Result<PhaseRecord, DeviceError> {
        let again = Rereader::new(self.target.files.clone());
        let block = self.blocks()?.block;
        if !self.job.reads_back {
            let writes = block.sends_data();
            return self.work(device, &mut VerifyingData::new(known, again, writes), settings);
        }
        let mut source = known.read_back(block.block_size_bytes);
        let result = self.run_loop(device, &mut source, &mut VerifyingData::new(known, again, false), settings);
        let done = result.as_ref().ok().map(|r| (r.bytes, r.ended_ns.saturating_sub(r.started_ns)));
        known.on_read_back(source, done);
        result
    }
}
