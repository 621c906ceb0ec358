//! Calls of a recording in the directory of the run, by `file_trace`.

use super::file::FileRig;
use super::own_directory::{OwnDirectory, own_directory};
use super::refusal::{Attempt, no_links, refusal};
use super::stream_worker::Worker;
use super::work::StreamOutcome;
use crate::device::{Calls, InThread, ThreadPool};
use crate::worker::DataGenerator;
use crate::{Control, Device, DeviceError, StreamConfig};
use file_trace::{CallOp, Dpkg, MadeData, ReplaySource, ReplayedCalls};
use model::{CallKind, EngineKind, Failure, FileKind, FilesPlan, PhasePlan, PhaseRecord, RealPackages, ReplayPlan};
use std::io;
use std::path::Path;
use sys::{BufferPool, OpenAs};
use workload::{EntryNames, LINKED, PathText};

/// Data of files are made in pieces of this.
const WRITTEN_BYTES: usize = 1 << 20;

impl Calls for ReplayedCalls {
    type Op = CallOp;

    fn execute(&self, op: &CallOp, buffer: &mut [u8]) -> Result<u32, i32> {
        Self::execute(self, op, buffer)
    }

    fn remarks(&self, _: &BufferPool) -> (Option<String>, Option<String>) {
        (None, None)
    }
}

/// With data of this seed.
fn with_data<T>(seed: u64, does: impl FnOnce(&mut MadeData<'_>) -> T) -> T {
    let mut content = DataGenerator::new(seed);
    let mut piece = vec![0; WRITTEN_BYTES];
    content.fill(0, &mut piece);
    does(&mut MadeData { piece, stamp: &mut |data, offset| content.stamp(data, offset) })
}

/// Whether a phase can be replayed at all.
///
/// # Errors
/// dpkg is to do it, and is not here.
pub(super) fn check(phase: &PhasePlan) -> Result<(), Failure> {
    if phase.runs_dpkg() { file_trace::dpkg_is_there(phase) } else { Ok(()) }
}

/// Entries and bytes that a replay takes at most.
pub(super) fn room_of(replay: &ReplayPlan) -> [u64; 2] {
    let [entries, held] = replay.replay_most;
    match replay.replay_real.as_ref().map(|real| real.archives.as_deref()) {
        None => [entries, held],
        // Archives that are made hold as much as what they become.
        Some(None) => [entries, held.saturating_mul(2)],
        // Of named ones nobody knows how many files they hold.
        Some(Some(named)) => [0, file_trace::room_for(named)],
    }
}

/// Makes a link of this kind, and removes it.
fn try_link(own: &OwnDirectory, set: u32, file_kind: FileKind) -> io::Result<()> {
    let directory = own.handle();
    let files = FilesPlan { file_set: set, file_kind, ..FilesPlan::default() };
    let mut text = PathText::default();
    let linked = EntryNames::of(&files).top(LINKED, &mut text);
    let new = OpenAs { write: true, create: true, ..OpenAs::default() };
    sys::open_as(&*directory, linked, new).map_err(io::Error::from_raw_os_error)?;
    let tried = own.try_link(&files);
    sys::remove_file(&*directory, linked).map_err(io::Error::from_raw_os_error)?;
    tried
}

/// Makes what a recording finds there; bytes that were written.
pub(super) fn prepare(own: &OwnDirectory, phase: &PhasePlan, replay: &ReplayPlan, path: &Path) -> Result<u64, Failure> {
    let (directory, set, trace) = (own.handle(), replay.replay_set, &replay.trace.0);
    if set > 0 && trace.before.is_empty() && !file_trace::directory::has(&directory, set) {
        return Err(file_trace::needs_preinstall(phase));
    }
    for (call, kind) in [(CallKind::Link, FileKind::HardLink), (CallKind::Symlink, FileKind::Symlink)] {
        if replay.replay_calls.contains_key(&call) {
            try_link(own, set, kind).map_err(|e| no_links(phase, path, kind, &e))?;
        }
    }
    let made = with_data(set.into(), |data| file_trace::directory::make_before(&directory, trace, set, data));
    made.map_err(|e| refusal(Attempt::Create, path, &e))
}

impl FileRig {
    /// A phase that the machine's own dpkg does.
    pub(super) fn run_dpkg(
        &mut self,
        phase: &PhasePlan,
        real: &RealPackages,
        control: &Control,
    ) -> Result<PhaseRecord, Failure> {
        let directory = own_directory(&mut self.own_directory, &self.target)?.handle();
        let dpkg = Dpkg::new(phase, real, &*directory);
        let stopped = || control.stopped();
        with_data(phase.streams[0].seed, |data| dpkg.prepare(&directory, data, &stopped))?;
        self.unsettled = true;
        self.bytes_written += dpkg.bytes();
        dpkg.run(self.epoch, &stopped)
    }
}

impl Worker<'_> {
    /// Calls of a recording, by as many threads as made them, in the directory that is its way.
    pub(super) fn replayed(&mut self) -> Result<StreamOutcome, DeviceError> {
        let (job, stream) = (self.job, self.stream);
        let (Some(directory), Some(replay)) = (self.target.files.first(), stream.replay()) else {
            return Err(DeviceError::BadOperation("a replay without a recording".into()));
        };
        let calls = ReplayedCalls::new(directory.clone(), replay.trace.0.clone(), replay.replay_set);
        let mut source = ReplaySource::new(replay);
        let pool = self.pool(EngineKind::Files)?;
        let mut data = Some(DataGenerator::new(stream.seed));
        let settings = StreamConfig::of(job.plan, stream, job.options.interval_ns);
        self.started = true;
        let (record, pool) = if self.depth() == 1 {
            let mut device = InThread::with_calls(job.epoch, calls, pool);
            (self.run_loop(&mut device, &mut source, &mut data, &settings)?, device.into_pool())
        } else {
            let mut device = ThreadPool::with_calls(job.epoch, calls, pool, None)?;
            (self.run_loop(&mut device, &mut source, &mut data, &settings)?, device.into_pool())
        };
        job.buffer_cache.put(pool);
        Ok(StreamOutcome { record, kind: EngineKind::Files, features: Vec::new(), missing: Vec::new() })
    }
}
