//! Phases of operations on files.

use super::cold::drop_names;
use super::execute::execute;
use super::file::{FileRig, moved_bytes};
use super::own_directory::own_directory;
use super::refusal::{Attempt, no_links, refusal};
use super::replay;
use super::work::{OpenTarget, PhaseWork};
use crate::Control;
use model::{ColdProof, Direction, Failure, FileOperation, PhasePlan, PhaseRecord, StreamKind, TargetKind};

/// A file system keeps this share of its inodes free.
const KEPT_INODES: u64 = 20;
/// What a small file takes at least.
const UNIT_BYTES: u64 = 4096;

/// Operations on files where there is no file system.
pub(crate) fn no_file_system(phase: &PhasePlan, target: &str) -> Failure {
    let message = format!("{}: {target} has no directory in which files could be created", phase.name);
    Failure::refused(message).remedy("name a directory as the target")
}

impl FileRig {
    pub(super) fn run_on_files(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        self.check_on_files(phase)?;
        let path = self.target.path.clone();
        let cannot = |e: std::io::Error| refusal(Attempt::Create, &path, &e);
        if let Some(real) = phase.streams.iter().find_map(|s| s.replay()?.replay_real.as_ref()) {
            return self.run_dpkg(phase, real, control);
        }
        let own = own_directory(&mut self.own_directory, &self.target)?;
        let mut plan = phase.clone();
        let mut targets = Vec::with_capacity(phase.streams.len());
        for stream in &mut plan.streams {
            let files = match &mut stream.kind {
                StreamKind::Files(files) => files,
                StreamKind::Replay(replay) => {
                    let made = replay::prepare(own, phase, replay, &path)?;
                    self.bytes_written += made;
                    self.unsettled |= made > 0;
                    targets.push(OpenTarget { files: vec![own.handle()], ..OpenTarget::default() });
                    continue;
                }
                StreamKind::Block(_) | StreamKind::Copy(_) => continue,
            };
            if let Some(shared) = &self.shared {
                files.file_set = shared.set(files.file_set).ok_or_else(|| {
                    Failure::usage(format!("{}: too many sets of files for a directory that ranks share", phase.name))
                })?;
            }
            own.prepare(files).map_err(cannot)?;
            if files.file_operation == FileOperation::Create {
                own.try_link(files).map_err(|e| no_links(phase, &path, files.file_kind, &e))?;
            }
            if files.file_count == 0 {
                let message =
                    format!("{}: nothing to {}: no files were made before", phase.name, files.file_operation.name());
                return Err(Failure::environment(message).remedy("let the phase that makes them end"));
            }
            let order = files.file_by_directory.then(|| own.order(files)).transpose().map_err(cannot)?;
            targets.push(OpenTarget { files: vec![own.handle()], order, ..OpenTarget::default() });
        }
        let epoch = self.epoch;
        let options = &self.options;
        let buffer_cache = &self.buffer_cache;
        let job = PhaseWork { plan: &plan, reads_back: false, epoch, device: false, options, buffer_cache, control };
        let prepared = self.prepared.take();
        let dropped = phase.cold.then(|| prepared.unwrap_or_else(|| drop_names(&own.handle())));
        let mut record = execute(job, &targets, Vec::new())?.record;
        for (i, stream) in plan.streams.iter().enumerate() {
            let one = record.streams.get(i);
            let done = one.map_or(record.operations, |s| {
                s.directions.iter().filter(|d| d.direction != Direction::Sync).map(|d| d.operations).sum()
            });
            let errors = one.map_or(&record.errors, |s| &s.errors);
            stream.files().into_iter().for_each(|files| own.conclude(files, done, errors.is_empty()));
        }
        record.cold = dropped.map(|dropped| ColdProof {
            resident_pages_before: dropped.resident_pages,
            device_read_bytes: None,
            phase_read_bytes: moved_bytes(&record, &plan.streams, &[Direction::Read]),
            method: dropped.method,
        });
        self.bytes_written += moved_bytes(&record, &plan.streams, &[Direction::Write]);
        self.unsettled |= phase.is_write();
        Ok(record)
    }

    /// Whether there is a file system with room for all that is to be made, and what makes it, told before anything is.
    pub(super) fn check_on_files(&self, phase: &PhasePlan) -> Result<(), Failure> {
        if self.target.kind != TargetKind::Directory {
            return Err(no_file_system(phase, &self.target.path.display().to_string()));
        }
        if self.shared.is_some() && phase.replays_calls() {
            let what = format!("{}: calls of a recording need a directory of each rank's own", phase.name);
            return Err(Failure::usage(what).remedy("leave out --shared-file"));
        }
        replay::check(phase)?;
        self.check_files_fit(phase)
    }

    fn check_files_fit(&self, phase: &PhasePlan) -> Result<(), Failure> {
        let (mut count, mut bytes) = (0u64, 0u64);
        for files in phase.streams.iter().filter_map(|s| s.files()).filter(|f| f.file_operation.makes()) {
            let empty = files.file_operation == FileOperation::Create && files.file_bytes == 0;
            let each = if empty { 0 } else { files.file_bytes.next_multiple_of(UNIT_BYTES).max(UNIT_BYTES) };
            let directories = files.directories().saturating_mul(files.levels().into());
            count = count.saturating_add(files.file_count).saturating_add(directories);
            bytes = bytes.saturating_add(files.file_count.saturating_mul(each));
        }
        for replay in phase.streams.iter().filter_map(|s| s.replay()) {
            let [entries, held] = replay::room_of(replay);
            (count, bytes) = (count.saturating_add(entries), bytes.saturating_add(held));
        }
        if let Ok(Some(free)) = sys::free_inodes(&self.target.file)
            && count > free - free / KEPT_INODES
        {
            let path = self.target.path.display();
            let message = format!("{}: {count} files or directories; {path} has {free} free inodes", phase.name);
            return Err(Failure::environment(message).remedy("use fewer files; 5 % of the inodes always stay free"));
        }
        let replays = phase.streams.iter().any(|s| s.replay().is_some_and(|replay| replay.replay_set > 0));
        self.check_bytes(phase, bytes, &smaller(phase, replays, bytes, self.opened.max_bytes))
    }
}

/// What to use instead where `needed` bytes of files have no room in `room`.
fn smaller(phase: &PhasePlan, replays: bool, needed: u64, room: u64) -> String {
    match phase.fewer_packages(needed, room).filter(|_| replays) {
        Some(n) => format!("fewer packages (--set package-count={n}), or a larger file system"),
        None if replays => "a larger file system".to_owned(),
        None => "fewer or smaller files".to_owned(),
    }
}
