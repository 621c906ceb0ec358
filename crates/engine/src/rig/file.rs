//! A real target: a directory's temporary file, a regular file, a block device.

use super::access::DirectWay;
use super::cold::{drop_caches, sync_backing};
use super::content::{judge_extents, judge_own, judge_sample, remark, sample};
use super::direct::{DirectFacts, kernel_version, proof};
use super::execute::{Job, Way, execute};
use super::own_files::OwnFiles;
use super::probe::{WriteProbe, round_probe, write_probe};
use super::refusal::{Attempt, refusal};
use super::target::{FileOptions, FileTarget, MIB, Opened, open};
use crate::{Control, Rig};
use model::{
    Access, ColdProof, DataProof, DirectProof, Direction, Failure, FailureKind, Ns, OpenSync, PhaseKind, PhasePlan,
    PhaseRecord, StopCause, StreamPlan, SystemSample, TargetKind,
};
use std::fs::File;
use std::io;
use std::sync::Arc;
use sys::{DirectAlignment, Durable, Epoch};

/// Executes phases against a file or device.
#[derive(Debug)]
pub struct FileRig {
    target: FileTarget,
    options: FileOptions,
    opened: Opened,
    epoch: Epoch,
    direct: DirectWay,
    /// Bytes from the start that this run's layout has written; `None` before any layout.
    laid_out: Option<u64>,
    /// Errors of the layout, by name.
    layout_errors: Vec<String>,
    bytes_written: u64,
    unsettled: bool,
    /// Files that streams name.
    own: OwnFiles,
}

impl FileRig {
    /// Opens and locks the target. Nothing is written yet.
    ///
    /// # Errors
    /// Whatever makes the target unusable, with the remedy: see [`super::classify`]; no permission, no room, read-only,
    /// in use, too small, locked by another check.
    pub fn open(target: FileTarget, options: FileOptions) -> Result<Self, Failure> {
        let opened = open(&target, &options)?;
        Ok(Self {
            target,
            options,
            opened,
            epoch: Epoch::start(),
            direct: DirectWay::default(),
            laid_out: None,
            layout_errors: Vec::new(),
            bytes_written: 0,
            unsettled: false,
            own: OwnFiles::default(),
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

    /// The moment from which the run's times count, for observers that share the clock.
    pub fn epoch(&self) -> Epoch {
        self.epoch
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
            return Err(Failure::new(FailureKind::Refused, message));
        }
        self.direct.try_write(&self.opened.file, 0, MIB, &mut self.bytes_written);
        let limit = max_bytes.min(self.opened.max_bytes).max(MIB);
        let direct = self.direct.open(&self.opened.file, true).ok();
        let file = direct.as_ref().unwrap_or(&self.opened.file);
        let result = write_probe(file, direct.is_some(), limit, max_ns, 0x5eed, control);
        self.direct.close(&self.opened.file);
        self.unsettled = true;
        let temporary = self.target.kind == TargetKind::Directory;
        let result = result.and_then(|mut probe| {
            self.bytes_written += probe.bytes;
            if probe.direct && !control.stopped() {
                let (bytes, rate) = round_probe(&self.opened.file, limit, 0x5eee, control)?;
                self.bytes_written += bytes;
                probe.round_bytes_per_s = rate;
            }
            Ok(probe)
        });
        match result {
            Ok(probe) => {
                if temporary {
                    // The layout is to allocate, as it does without a probe.
                    self.opened.file.set_len(0).map_err(|e| self.failed(&e))?;
                }
                Ok(probe)
            }
            Err((bytes, errno)) => {
                self.bytes_written += bytes;
                Err(self.failed(&io::Error::from_raw_os_error(errno)))
            }
        }
    }

    fn writable(&self) -> bool {
        self.target.writable || self.target.kind == TargetKind::Directory
    }

    fn is_device(&self) -> bool {
        self.target.kind == TargetKind::BlockDevice
    }

    fn failed(&self, error: &io::Error) -> Failure {
        refusal(if self.writable() { Attempt::OpenWrite } else { Attempt::OpenRead }, &self.target.path, error)
    }

    /// The phase's streams within what may be touched, and what was clipped.
    fn clip(&self, phase: &PhasePlan) -> Result<(Vec<StreamPlan>, Option<String>), Failure> {
        let mut clipped = None;
        let mut streams = phase.streams.clone();
        for stream in &mut streams {
            let block = stream.min_block_bytes().max(1);
            let bound = self.bound(phase, stream)?;
            let room = bound.saturating_sub(stream.region_start_bytes).min(stream.region_bytes) / block * block;
            if room == 0 {
                return Err(self.nothing_there(phase, bound));
            }
            if room < stream.region_bytes {
                clipped = Some(format!("region clipped from {} to {room} bytes, which hold data", stream.region_bytes));
                stream.region_bytes = room;
            }
        }
        Ok((streams, clipped))
    }

    /// How far into the target, or into each of its files, a stream may go.
    fn bound(&self, phase: &PhasePlan, stream: &StreamPlan) -> Result<u64, Failure> {
        let lays_out = phase.kind == PhaseKind::Layout;
        if stream.files.is_empty() {
            // Who only writes needs no data there, where no layout has said how far it came.
            let fresh = self.laid_out.is_none() && self.opened.size.is_none() && !stream.reads();
            return Ok(if lays_out || fresh { self.opened.max_bytes } else { self.readable_bytes() });
        }
        if self.target.kind != TargetKind::Directory {
            let message = format!(
                "{}: the stream names {} files, but {} is no directory",
                phase.name,
                stream.files.len(),
                self.target.path.display()
            );
            return Err(Failure::new(FailureKind::Refused, message).remedy("name a directory as the target"));
        }
        if lays_out || !stream.reads() {
            return Ok(self.opened.max_bytes / stream.files.len() as u64);
        }
        Ok(self.own.shortest(&stream.files))
    }

    fn nothing_there(&self, phase: &PhasePlan, bound: u64) -> Failure {
        let path = self.target.path.display();
        if !self.layout_errors.is_empty() {
            let errors = self.layout_errors.join(", ");
            let message = format!("{}: nothing to work on: the layout of {path} failed ({errors})", phase.name);
            return Failure::new(FailureKind::Device, message).remedy("look into the kernel log (dmesg) for the cause");
        }
        let message = format!("{}: nothing to work on: {bound} bytes of {path} hold data", phase.name);
        Failure::new(FailureKind::Environment, message)
            .remedy("give the check more time (--budget), so that the layout can write at least 1 MiB")
    }

    /// Direct I/O needs aligned offsets and lengths; a plan that does not fit is told so instead of failing with EINVAL.
    fn check_alignment(&self, phase: &PhasePlan, streams: &[StreamPlan]) -> Result<(), Failure> {
        let (memory, offset) = match self.alignment() {
            DirectAlignment::Supported { memory_bytes, offset_bytes } => (memory_bytes, offset_bytes),
            _ if self.is_device() => (1, sys::logical_block_size(&self.opened.file).unwrap_or(512)),
            _ => return Ok(()),
        };
        // What the buffer pools guarantee.
        let page = sys::page_size();
        let misaligned = |n: u64| !n.is_multiple_of(u64::from(offset));
        for s in streams {
            if u64::from(memory) > page
                || misaligned(s.block_size_bytes)
                || misaligned(s.min_block_bytes())
                || misaligned(s.region_start_bytes)
            {
                let message = format!(
                    "{}: blocks of {} bytes from byte {} do not suit direct I/O here, which needs multiples of {offset} \
                     bytes (buffers: {memory})",
                    phase.name, s.block_size_bytes, s.region_start_bytes
                );
                return Err(Failure::new(FailureKind::Environment, message)
                    .remedy(format!("use block sizes that are multiples of {offset} bytes, or buffered I/O")));
            }
        }
        Ok(())
    }

    fn alignment(&self) -> DirectAlignment {
        sys::file_facts(&self.opened.file).map_or(DirectAlignment::NotTold, |f| f.direct)
    }

    fn direct_proof(&self, phase: &PhasePlan, streams: &[StreamPlan]) -> DirectProof {
        let file = &self.opened.file;
        let write = phase.is_write();
        let facts = sys::file_facts(file).ok();
        let btrfs = self.options.filesystem.as_deref() == Some("btrfs");
        let end = streams.iter().map(|s| s.region_start_bytes + s.region_bytes).max().unwrap_or(0);
        proof(&DirectFacts {
            kind: self.target.kind,
            write,
            extends: phase.kind == PhaseKind::Layout && self.target.kind == TargetKind::Directory,
            filesystem: self.options.filesystem.as_deref(),
            mount_options: &self.options.mount_options,
            kernel: self.options.kernel.as_deref().and_then(kernel_version),
            alignment: facts.map_or(DirectAlignment::NotTold, |f| f.direct),
            dax: facts.and_then(|f| f.dax) == Some(true),
            inode: sys::inode_flags(file).ok(),
            written: if self.is_device() || write { None } else { sys::written(file, 0, end).ok() },
            btrfs_redundant: if btrfs { sys::btrfs_data_redundant(file).ok() } else { None },
            loops_below: !self.options.backing_files.is_empty(),
        })
    }

    /// Why threads serve instead of a ring, if they do. I/O that silently goes through the page cache is copied by the
    /// ring's workers outside our accounting; threads keep the CPU that it costs visible. Memory file systems complete in
    /// the caller and need no workers.
    fn without_ring(&self, proven: Option<&DirectProof>) -> Option<String> {
        let in_memory = matches!(self.options.filesystem.as_deref(), Some("tmpfs" | "ramfs" | "devtmpfs"));
        match (&self.options.without_io_uring, proven) {
            (Some(why), _) => Some(why.clone()),
            (None, Some(DirectProof::Fallback(_))) if !in_memory => Some(
                "not used, because this goes through the page cache and its workers would hide the CPU time".into(),
            ),
            _ => None,
        }
    }

    /// Whether what a stream reads is real, in the worst of its files.
    fn data_proof(&self, stream: &StreamPlan) -> DataProof {
        let (start, len) = (stream.region_start_bytes, stream.region_bytes);
        let of_own = |file: &Arc<File>| match sys::written(file, start, len) {
            Ok(written) => judge_extents(written, len),
            Err(_) => judge_sample(sample(file, start, len, stream.seed)),
        };
        if let Some(worst) = self.own.of(&stream.files).map(of_own).max_by_key(doubt) {
            return worst;
        }
        let file = &self.opened.file;
        let own = self.laid_out.is_some_and(|n| start + len <= n);
        if self.is_device() {
            return match own {
                true => DataProof::Real("written by this run".into()),
                false => judge_sample(sample(file, start, len, stream.seed)),
            };
        }
        let written = sys::written(file, start, len).ok();
        if own {
            return judge_own(written, len);
        }
        match written {
            Some(w) => match judge_extents(w, len) {
                DataProof::Unknown(basis) => remark(judge_sample(sample(file, start, len, stream.seed)), &basis),
                decided => decided,
            },
            None => judge_sample(sample(file, start, len, stream.seed)),
        }
    }

    fn data_proofs(&self, streams: &[StreamPlan], clipped: Option<&str>) -> Option<DataProof> {
        let reads = streams.iter().filter(|s| s.reads());
        let worst = reads.map(|s| self.data_proof(s)).max_by_key(doubt)?;
        Some(clipped.map_or(worst.clone(), |text| remark(worst, text)))
    }

    /// After a layout: makes durable what was written before its time ran out, and notes how far it came.
    fn finish_layout(&mut self, record: &mut PhaseRecord, streams: &[StreamPlan]) {
        let in_flight: u64 = streams.iter().map(|s| u64::from(s.queue_depth) * s.block_size_bytes).sum();
        // Completions arrive out of order: after an error, what lies within the last depth of operations is not certain.
        let certain = if record.errors.is_empty() { record.bytes } else { record.bytes.saturating_sub(in_flight) };
        let start = streams.first().map_or(0, |s| s.region_start_bytes);
        if record.stop != StopCause::RegionDone && record.bytes > 0 {
            if let Err(e) = self.opened.file.sync_all() {
                *record.errors.entry(super::refusal::errno_text(&e)).or_default() += 1;
                record.stop = StopCause::Failed;
            }
            record.ended_ns = self.epoch.elapsed_ns();
        }
        // A failure may mean that the file system is full: give back what later phases will not use.
        let reached = if start == 0 { certain / MIB * MIB } else { 0 };
        if record.stop == StopCause::Failed && self.target.kind == TargetKind::Directory {
            // Where even that fails, the file goes with the rig.
            let _ = self.opened.file.set_len(reached);
        }
        let size = self.opened.file.metadata().map_or(u64::MAX, |m| if self.is_device() { u64::MAX } else { m.len() });
        self.layout_errors = record.errors.keys().cloned().collect();
        self.laid_out = Some(reached.min(size / MIB * MIB));
    }
}

/// How doubtful the data are.
fn doubt(proof: &DataProof) -> u8 {
    match proof {
        DataProof::Real(_) => 0,
        DataProof::Unknown(_) => 1,
        DataProof::NotReal(_) => 2,
    }
}

/// Bytes that a phase wrote: of mixes only what was written, of trims nothing.
fn written_bytes(record: &PhaseRecord) -> u64 {
    if record.streams.is_empty() {
        return record.bytes;
    }
    let sent = |d: &&model::DirectionSummary| matches!(d.direction, Direction::Write | Direction::WriteZeroes);
    record.streams.iter().flat_map(|s| &s.directions).filter(sent).map(|d| d.bytes).sum()
}

/// Whether a stream goes past the page cache.
fn is_direct(phase: &PhasePlan, stream: &StreamPlan) -> bool {
    stream.access.unwrap_or(phase.access) == Access::Direct
}

impl FileRig {
    /// The way of one stream; `direct` is the target's descriptor for direct I/O, or why there is none.
    fn way(
        &mut self,
        phase: &PhasePlan,
        stream: &StreamPlan,
        direct: Option<&Result<File, String>>,
        without_ring: Option<String>,
    ) -> Result<Way, Failure> {
        let buffered: Vec<Arc<File>> = if stream.files.is_empty() {
            vec![Arc::new(self.opened.file.try_clone().map_err(|e| self.failed(&e))?)]
        } else {
            let made = self.own.open(&self.target.path, &stream.files);
            made.map_err(|e| refusal(Attempt::Create, &self.target.path, &e))?
        };
        let direct = direct.filter(|_| is_direct(phase, stream));
        let past_cache = matches!(direct, Some(Ok(_)));
        let durable = match stream.open_sync {
            OpenSync::None => None,
            OpenSync::Dsync => Some(Durable::Data),
            OpenSync::Sync => Some(Durable::All),
        };
        let files = match (durable, direct) {
            (Some(durable), _) if stream.changes_data() => {
                let again = |f: &Arc<File>| sys::reopen_durable(f, past_cache, durable).map(Arc::new);
                buffered.iter().map(again).collect::<io::Result<_>>().map_err(|e| self.failed(&e))?
            }
            (_, Some(Ok(file))) if stream.files.is_empty() => {
                vec![Arc::new(file.try_clone().map_err(|e| self.failed(&e))?)]
            }
            (_, Some(Ok(_))) => {
                let again = |f: &Arc<File>| sys::reopen(f, true, true).map(Arc::new);
                buffered.iter().map(again).collect::<io::Result<_>>().map_err(|e| self.failed(&e))?
            }
            _ => buffered,
        };
        Ok(match direct {
            Some(Ok(_)) => Way::Direct { files, without_ring },
            Some(Err(reason)) => {
                Way::StandIn { files, reason: format!("O_DIRECT: refused ({reason}); buffered I/O stands in") }
            }
            None => Way::Buffered { files },
        })
    }
}

impl Rig for FileRig {
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if phase.kind == PhaseKind::MemoryCopy {
            return super::memory_copy(phase, self.epoch, self.options.interval_ns, self.options.copy_bytes(), control);
        }
        let write = phase.is_write();
        if write && !self.writable() {
            let message = format!("{}: {} is only read", phase.name, self.target.path.display());
            return Err(Failure::new(FailureKind::Refused, message).remedy("allow writing: --overwrite or --destroy"));
        }
        if phase.kind == PhaseKind::Layout && phase.streams.iter().any(|s| s.files.is_empty()) {
            // Until it says how far it came, nothing holds data.
            self.laid_out = self.laid_out.or(Some(0));
        }
        let (streams, clipped) = self.clip(phase)?;
        let mut direct = None;
        let past_cache: Vec<StreamPlan> = streams.iter().filter(|s| is_direct(phase, s)).cloned().collect();
        if !past_cache.is_empty() {
            self.check_alignment(phase, &past_cache)?;
            let (start, block) = (past_cache[0].region_start_bytes, past_cache[0].block_size_bytes);
            if phase.kind == PhaseKind::Layout {
                self.direct.try_write(&self.opened.file, start, block, &mut self.bytes_written);
            } else {
                self.direct.try_read(&self.opened.file, start, block);
            }
            direct = Some(self.direct.open(&self.opened.file, self.writable()));
        }
        let refused = direct.as_ref().and_then(|d| d.as_ref().err().cloned());

        let data = self.data_proofs(&streams, clipped.as_deref());
        let through_loops = !self.options.backing_files.is_empty();
        let stands_in = refused.is_some();
        let dropped = (!write && (phase.cold || through_loops || stands_in)).then(|| {
            let (start, end) = streams.iter().fold((u64::MAX, 0), |(a, b), s| {
                (a.min(s.region_start_bytes), b.max(s.region_start_bytes + s.region_bytes))
            });
            let backing = &self.options.backing_files;
            let len = end.saturating_sub(start);
            let mut dropped = drop_caches(&self.opened.file, self.is_device(), start, len, backing);
            for file in streams.iter().flat_map(|s| self.own.of(&s.files)) {
                let own = drop_caches(file, false, start, len, backing);
                dropped.resident_pages = dropped.resident_pages.zip(own.resident_pages).map(|(a, b)| a + b);
            }
            dropped
        });

        let plan = PhasePlan { streams, ..phase.clone() };
        let mut proven = direct.as_ref().and_then(|d| d.as_ref().ok()).map(|_| self.direct_proof(phase, &plan.streams));
        let without_ring = self.without_ring(proven.as_ref());
        let way = |s: &StreamPlan| self.way(phase, s, direct.as_ref(), without_ring.clone());
        let ways = match plan.streams.iter().map(way).collect::<Result<Vec<Way>, Failure>>() {
            Ok(ways) => ways,
            Err(failure) => {
                self.direct.close(&self.opened.file);
                return Err(failure);
            }
        };
        let job = Job { ways, plan: &plan, epoch: self.epoch, interval_ns: self.options.interval_ns };
        let result = execute(&job, control);
        self.direct.close(&self.opened.file);
        self.unsettled |= write;
        let mut record = result?;

        if write {
            self.bytes_written += written_bytes(&record);
        }
        if phase.kind == PhaseKind::Layout && plan.streams.iter().all(|s| !s.files.is_empty()) {
            if record.stop != StopCause::RegionDone
                && let Err(e) = self.own.sync()
            {
                *record.errors.entry(super::refusal::errno_text(&e)).or_default() += 1;
                record.stop = StopCause::Failed;
            }
        } else if phase.kind == PhaseKind::Layout {
            self.finish_layout(&mut record, &plan.streams);
        }
        let access = if past_cache.is_empty() { Access::Buffered } else { Access::Direct };
        record.direct = match (access, refused) {
            (Access::Buffered, _) => None,
            (Access::Direct, None) => proven.take(),
            (Access::Direct, Some(reason)) => {
                Some(DirectProof::Fallback(format!("O_DIRECT was refused ({reason}); buffered I/O stood in")))
            }
        };
        record.cold = dropped.map(|d| ColdProof {
            resident_pages_before: d.resident_pages,
            device_read_bytes: None,
            phase_read_bytes: record.bytes,
            method: d.method,
        });
        record.data = data;
        Ok(record)
    }

    fn settle(&mut self) -> Result<(), Failure> {
        if !self.unsettled {
            return Ok(());
        }
        self.opened.file.sync_all().map_err(|e| self.failed(&e))?;
        self.own.sync().map_err(|e| self.failed(&e))?;
        sync_backing(&self.options.backing_files);
        self.unsettled = false;
        Ok(())
    }

    fn idle(&mut self, ns: Ns, control: &Control) {
        super::idle(self.epoch, ns, control);
    }

    fn readable_bytes(&self) -> u64 {
        match (self.laid_out, self.opened.size) {
            (Some(n), _) => n,
            (None, Some(_)) => self.opened.max_bytes,
            (None, None) => 0,
        }
    }

    fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    fn simulated_sample(&mut self) -> Option<SystemSample> {
        None
    }

    fn take_simulated_samples(&mut self) -> Vec<SystemSample> {
        Vec::new()
    }
}
