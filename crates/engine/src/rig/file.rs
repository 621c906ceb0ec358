//! A real target: a directory's temporary file, a regular file, a block device.

use super::access::{DirectWay, is_direct};
use super::buffer_cache::BufferCache;
use super::cold::{Dropped, drop_caches, drop_names, sync_backing};
use super::execute::{Executed, execute};
use super::limits::Limits;
use super::own_directory::OwnDirectory;
use super::own_files::OwnFiles;
use super::probe::{WriteProbe, round_probe, write_probe};
use super::refusal::{Attempt, refusal};
use super::shared::{Shared, Sharing, SharingStep};
use super::target::{FileOptions, FileTarget, MIB, Opened, open};
use super::verify::{nothing_written, out_of_memory};
use super::work::{OpenTarget, PhaseWork};
use crate::copy::run_copy;
use crate::{Control, Rig};
use model::{
    BlockPlan, ColdProof, DirectProof, Direction, EngineKind, Failure, Ns, PhaseKind, PhasePlan, PhaseRecord,
    StreamPlan, TargetKind,
};
use std::io;
use sys::{DirectAlignment, Epoch};
use workload::{KnownData, WrittenData};

/// Executes phases against a file or device.
#[derive(Debug)]
pub struct FileRig {
    pub(super) target: FileTarget,
    pub(super) options: FileOptions,
    pub(super) opened: Opened,
    pub(super) epoch: Epoch,
    direct: DirectWay,
    /// Bytes from the start that this run's layout has written; `None` before any layout.
    pub(super) laid_out: Option<u64>,
    /// Bytes from the start that it was to write.
    pub(super) layout_planned: u64,
    /// Errors of the layout, by name.
    pub(super) layout_errors: Vec<String>,
    pub(super) bytes_written: u64,
    pub(super) unsettled: bool,
    /// Where operations on files take place, from the first one on.
    pub(super) own_directory: Option<OwnDirectory>,
    /// Files that streams name.
    pub(super) own: OwnFiles,
    /// What was dropped from the caches for the phase that comes next.
    pub(super) prepared: Option<Dropped>,
    /// What the ranks of a group share.
    pub(super) shared: Option<Shared>,
    /// What verified data must hold.
    written: WrittenData,
    pub(super) buffer_cache: BufferCache,
}

impl FileRig {
    /// Drops what the page cache holds of all that is used.
    fn drop_cached(&self, streams: &[StreamPlan]) -> Dropped {
        let blocks = || streams.iter().filter_map(|s| Some(s.blocks()?.block));
        let (start, end) =
            blocks().fold((u64::MAX, 0), |(start, end), b| (start.min(b.region_start_bytes), end.max(b.region_end())));
        let backing = &self.options.backing_files;
        let len = end.saturating_sub(start);
        let mut dropped = drop_caches(&self.opened.file, self.is_device(), start, len, backing);
        for file in blocks().flat_map(|block| self.own.of(&block.files)) {
            let own = drop_caches(file, false, start, len, backing);
            dropped.resident_pages = dropped.resident_pages.zip(own.resident_pages).map(|(a, b)| a + b);
        }
        dropped
    }

    /// Takes an open target over and locks it. Nothing is written yet.
    ///
    /// # Errors
    /// Whatever makes the target unusable, with the remedy: no permission, no room, read-only, too small, locked by
    /// another check.
    pub fn open(target: FileTarget, options: FileOptions) -> Result<Self, Failure> {
        // Whoever limits the size of files is to see EFBIG counted, not the program gone.
        sys::ignore_file_size_signal();
        let opened = open(&target, &options)?;
        Ok(Self {
            target,
            options,
            opened,
            epoch: Epoch::start(),
            direct: DirectWay::default(),
            laid_out: None,
            layout_planned: 0,
            layout_errors: Vec::new(),
            bytes_written: 0,
            unsettled: false,
            own_directory: None,
            own: OwnFiles::default(),
            prepared: None,
            shared: None,
            written: nothing_written(),
            buffer_cache: BufferCache::default(),
        })
    }

    /// The most that a plan's region may take: what a directory's file system can spare, or the size of the target.
    /// Whole MiB.
    pub fn max_bytes(&self) -> u64 {
        self.opened.max_bytes
    }

    /// What the run should tell of how the target was opened.
    pub fn remarks(&self) -> &[String] {
        &self.opened.remarks
    }

    /// Unit of direct I/O: offsets and lengths must be multiples of it.
    pub fn sector_bytes(&self) -> u64 {
        match self.alignment() {
            DirectAlignment::Supported { offset_bytes, .. } => u64::from(offset_bytes.max(1)),
            _ => u64::from(sys::logical_block_size(&self.opened.file).unwrap_or(512)),
        }
    }

    /// Measures a short sequential durable write, so that the caller can choose the plan's size. Takes at most about
    /// `max_ns` (one block and one sync more) and writes at least 1 MiB, at most `max_bytes`; then a few small rounds
    /// through the page cache. All is counted in [`Rig::bytes_written`]. A directory's file is emptied again.
    ///
    /// # Errors
    /// Refused for targets that must not be written to; otherwise what the file system or device said.
    pub fn probe_write(&mut self, max_bytes: u64, max_ns: Ns, control: &Control) -> Result<WriteProbe, Failure> {
        if !self.writable() {
            let message = format!("{}: the target is only read", self.target.path.display());
            return Err(Failure::refused(message));
        }
        self.direct.try_first(&self.opened.file, 0, MIB, Some(&mut self.bytes_written));
        let limit = max_bytes.min(self.opened.max_bytes).max(MIB);
        let direct = self.direct.open(&self.opened.file, true).ok();
        let file = direct.as_deref().unwrap_or(&self.opened.file);
        let result = write_probe(file, direct.is_some(), limit, max_ns, control, &mut self.bytes_written);
        drop(direct);
        self.unsettled = true;
        let result = result.and_then(|mut probe| {
            if probe.direct && !control.stopped() {
                let rate = round_probe(&self.opened.file, limit, control, &mut self.bytes_written)?;
                probe.round_bytes_per_s = rate;
            }
            Ok(probe)
        });
        let probe = result.map_err(|errno| self.failed(&io::Error::from_raw_os_error(errno)))?;
        if self.target.kind == TargetKind::Directory {
            // The layout is to allocate, as it does without a probe.
            self.opened.file.set_len(0).map_err(|e| self.failed(&e))?;
        }
        Ok(probe)
    }

    pub(super) fn writable(&self) -> bool {
        self.target.writable || self.target.kind == TargetKind::Directory
    }

    pub(super) fn is_device(&self) -> bool {
        self.target.kind == TargetKind::BlockDevice
    }

    pub(super) fn failed(&self, error: &io::Error) -> Failure {
        refusal(if self.writable() { Attempt::OpenWrite } else { Attempt::OpenRead }, &self.target.path, error)
    }
}

/// Whether nothing of what streams read may be in memory; `indirect`: what is read past the page cache of the target may be there
/// all the same.
fn reads_cold(phase: &PhasePlan, streams: &[StreamPlan], indirect: bool) -> bool {
    // What is read from memory verifies nothing of the device.
    let only_reads = |s: &&StreamPlan| s.reads() && !s.changes_data();
    let verifies = streams.iter().filter(only_reads).any(|s| s.verify.is_some());
    phase.drop_cache || phase.cold || verifies || streams.iter().any(|s| only_reads(&s)) && indirect
}

/// Bytes that a phase moved in these directions.
pub(crate) fn moved_bytes(record: &PhaseRecord, streams: &[StreamPlan], which: &[Direction]) -> u64 {
    if record.streams.is_empty() {
        // One stream that does one thing.
        let does = streams.iter().flat_map(StreamPlan::directions).any(|d| which.contains(&d));
        return if does { record.bytes } else { 0 };
    }
    let directions = record.streams.iter().flat_map(|s| &s.directions);
    directions.filter(|d| which.contains(&d.direction)).map(|d| d.bytes).sum()
}

impl Rig for FileRig {
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn check(&self, phase: &PhasePlan) -> Result<(), Failure> {
        if phase.operates_on_files() || phase.replays_calls() { self.check_on_files(phase) } else { Ok(()) }
    }

    fn prepare(&mut self, phase: &PhasePlan) {
        let on_files = phase.operates_on_files() || phase.replays_calls();
        self.prepared = match self.clip(phase) {
            _ if phase.engine == EngineKind::Memory => None,
            _ if on_files => self.own_directory.as_ref().filter(|_| phase.cold).map(|own| drop_names(&own.handle())),
            Ok((streams, _)) if reads_cold(phase, &streams, !self.options.backing_files.is_empty()) => {
                Some(self.drop_cached(&streams))
            }
            // What is wrong with it is said by what executes it.
            _ => None,
        };
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if phase.engine == EngineKind::Memory {
            return run_copy(self.epoch, phase, self.options.interval_ns, self.options.copy_bytes, control);
        }
        if phase.operates_on_files() || phase.replays_calls() {
            return self.run_on_files(phase, control);
        }
        let write = phase.is_write();
        if write && !self.writable() {
            let message = format!("{}: {} is only read", phase.name, self.target.path.display());
            return Err(Failure::refused(message).remedy("allow writing: --overwrite or --destroy"));
        }
        if phase.kind == PhaseKind::Layout {
            self.begin_layout(phase);
        }
        let (streams, clipped) = self.clip(phase)?;
        let mut direct = None;
        let past_cache: Vec<&BlockPlan> =
            streams.iter().filter(|s| is_direct(s)).filter_map(|s| Some(s.blocks()?.block)).collect();
        if let [first, ..] = past_cache[..] {
            self.check_alignment(phase, &past_cache)?;
            let (start, block) = (first.region_start_bytes, first.block_size_bytes);
            let written = (phase.kind == PhaseKind::Layout).then_some(&mut self.bytes_written);
            self.direct.try_first(&self.opened.file, start, block, written);
            direct = Some(self.direct.open(&self.opened.file, self.writable()));
        }
        let data = self.data_proofs(&streams, clipped.as_deref());
        let through_loops = !self.options.backing_files.is_empty();
        let stands_in = matches!(direct, Some(Err(_)));
        let prepared = self.prepared.take();
        let dropped = reads_cold(phase, &streams, through_loops || stands_in)
            .then(|| prepared.unwrap_or_else(|| self.drop_cached(&streams)));

        let plan = PhasePlan { streams, ..phase.clone() };
        let proof = direct.as_ref().map(|direct| match direct {
            Ok(_) => {
                let past: Vec<StreamPlan> = plan.streams.iter().filter(|s| is_direct(s)).cloned().collect();
                self.direct_proof(past.iter().any(StreamPlan::changes_data), &past)
            }
            Err(reason) => DirectProof::Fallback(format!("O_DIRECT was refused ({reason}); buffered I/O was used")),
        });
        let without_ring = self.without_ring(proof.as_ref());
        let way = |s: &StreamPlan| self.open_target(s, direct.as_ref(), without_ring.clone());
        let targets = plan.streams.iter().map(way).collect::<Result<Vec<OpenTarget>, Failure>>()?;
        let (epoch, device, options, buffer_cache) = (self.epoch, self.is_device(), &self.options, &self.buffer_cache);
        let job = PhaseWork { plan: &plan, reads_back: false, epoch, device, options, buffer_cache, control };
        let limits = self.is_device().then(|| Limits::of(&self.opened.file));
        let known = self.written.prepare(&plan.streams).map_err(|e| out_of_memory(&phase.name, &e));
        let result = known.and_then(|known| execute(job, &targets, known));
        drop(direct);
        self.unsettled |= write;
        let Executed { mut record, checked, mut own_reads, read_back } = result?;
        record.engine.missing.extend(limits.iter().flat_map(|l| l.changes(&Limits::of(&self.opened.file))));
        record.verify = self.written.conclude(checked);
        let read_bytes = moved_bytes(&record, &plan.streams, &[Direction::Read]);
        if let Some(verify) = &mut record.verify {
            own_reads.resident_pages = dropped.as_ref().and_then(|d| d.resident_pages);
            verify.read_from = self.verify_source(&plan, verify, (own_reads, read_bytes), read_back);
        }

        if write && phase.moves_data() {
            let written = [Direction::Write, Direction::WriteZeroes];
            self.bytes_written += moved_bytes(&record, &plan.streams, &written);
        }
        if phase.kind == PhaseKind::Layout {
            self.finish_layout(&mut record, &plan.streams);
        } else if self.opened.size.is_none() && record.errors.is_empty() {
            self.wrote_all(&plan.streams, record.bytes);
        }
        record.direct = proof;
        record.cold = dropped.map(|d| ColdProof {
            resident_pages_before: d.resident_pages,
            device_read_bytes: None,
            phase_read_bytes: read_bytes,
            method: d.method,
        });
        record.data = data;
        Ok(record)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if !self.unsettled {
            return Ok(());
        }
        sys::sync_through_reconnect(&self.opened.file).map_err(|e| self.failed(&e))?;
        self.own.sync().map_err(|e| self.failed(&e))?;
        if let Some(own) = &self.own_directory {
            sys::sync_file_system(&*own.handle()).map_err(|e| self.failed(&e))?;
        }
        sync_backing(&self.options.backing_files);
        self.unsettled = false;
        Ok(())
    }

    fn readable_bytes(&self) -> u64 {
        self.laid_out.unwrap_or(if self.opened.size.is_some() { self.opened.max_bytes } else { 0 })
    }

    fn share(&mut self, sharing: &Sharing, step: SharingStep) -> Result<(), Failure> {
        match (step, &mut self.shared) {
            _ if self.target.kind != TargetKind::Directory => {
                let what = format!("--shared-file is for a directory, and {} is none", self.target.path.display());
                Err(Failure::usage(what).remedy("name the directory: rank 0 makes the file there, and removes it"))
            }
            (SharingStep::Begin { all_here }, Some(shared)) => {
                let begun = shared.begin(&self.opened.file, all_here);
                begun.map_err(|e| refusal(Attempt::Create, &self.target.path, &e))
            }
            _ if (step == SharingStep::Make) != (sharing.rank == 0) => Ok(()),
            _ => {
                let (shared, file, directory) = Shared::open(step, sharing, &self.target.file, &self.target.path)?;
                self.opened.file = file;
                (self.shared, self.own_directory) = (Some(shared), Some(directory));
                Ok(())
            }
        }
    }

    fn remember_known(&mut self, known: &KnownData) -> Result<(), Failure> {
        self.written = WrittenData::from_known(known).map_err(|e| out_of_memory("soak", &e))?;
        Ok(())
    }

    fn bytes_written(&self) -> u64 {
        self.bytes_written
    }
}
