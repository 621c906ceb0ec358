//! Jobs whose operations are on files: which files each copy has, and those that must be made before.

use super::{ResolveError, Resolver};
use crate::job::{Job, Phase};
use model::{
    EngineKind, FileOperation, FilesPlan, NS_PER_S, PhaseKind, PhasePlan, PlanError, StopRule, StreamPlan, TargetKind,
};
use std::collections::BTreeMap;

/// Making files is given up below these rates.
const MIN_FILES_PER_S: u64 = 50;
const MIN_BYTES_PER_S: u64 = 1_000_000;

/// Which files there are, phase by phase.
#[derive(Default)]
pub(super) struct FileSets {
    /// The numbers of sets, by job, copy, and what makes their members.
    numbers: BTreeMap<(String, u32, &'static str), u32>,
    /// Members that are there.
    there: BTreeMap<u32, u64>,
    /// What the phase that is being planned finds missing.
    missing: Vec<FilesPlan>,
}

impl FileSets {
    /// The files of a copy, for this phase and those that follow.
    fn of(&mut self, files: &FilesPlan, job: &str, copy: u32) -> FilesPlan {
        let operation = files.file_operation;
        let maker = files.file_operation.maker();
        let next = self.numbers.len() as u32;
        let file_set = *self.numbers.entry((job.to_owned(), copy, maker.name())).or_insert(next);
        let files = FilesPlan { file_set, ..files.clone() };
        let there = self.there.entry(file_set).or_default();
        if !operation.makes() && *there < files.file_count {
            let bare =
                FilesPlan { file_shuffle: false, file_by_directory: false, sync_directory: false, ..files.clone() };
            self.missing.push(FilesPlan { file_operation: maker, ..bare });
        }
        *there = match operation {
            FileOperation::Delete | FileOperation::Rmdir => 0,
            _ if operation.makes() => files.file_count,
            _ => files.file_count.max(*there),
        };
        files
    }
}

impl Resolver<'_> {
    pub(super) fn file_stream(
        &mut self,
        files: &FilesPlan,
        phase: &Phase,
        job: &Job,
        number: u32,
        copy: u32,
    ) -> Result<StreamPlan, ResolveError> {
        self.needs_directory(phase, job)?;
        let files = self.used.file_sets.of(files, &job.stream.name, copy);
        let mut stream = self.base_stream(job, number, copy);
        if !job.time_based && stream.limits.total_operations.is_none() {
            stream.limits.total_operations = Some(files.members().saturating_mul(u64::from(job.loops)));
        }
        stream.kind = files.into();
        Ok(stream)
    }

    /// Where there is a file system.
    pub(super) fn needs_directory(&self, phase: &Phase, job: &Job) -> Result<(), ResolveError> {
        let simulated = self.inputs.kind == TargetKind::Sim && job.stream.replay().is_some();
        if self.inputs.kind != TargetKind::Directory && !simulated {
            let what = match self.inputs.kind {
                TargetKind::Sim => "a simulated device has no file system; operations on files need a directory",
                TargetKind::Null => "null: has no file system; operations on files need a directory",
                _ => "operations on files need a directory as the target",
            };
            let phase = phase.name.clone();
            let stream = job.stream.name.clone();
            return Err(ResolveError::Plan(vec![PlanError::Stream { phase, stream, what: what.into() }]));
        }
        Ok(())
    }

    /// The phase that makes what the phase of this name needs and no phase before it made.
    pub(super) fn missing_files(&mut self, phase: &str) -> Option<PhasePlan> {
        let missing = std::mem::take(&mut self.used.file_sets.missing);
        let seconds = |f: &FilesPlan| {
            let bytes = f.file_count.saturating_mul(f.file_bytes) / MIN_BYTES_PER_S;
            (f.file_count / MIN_FILES_PER_S).saturating_add(bytes)
        };
        let longest = missing.iter().map(seconds).fold(60, u64::saturating_add);
        let stream = |files: FilesPlan| {
            let seed = self.inputs.seed.wrapping_add(u64::from(files.file_set));
            StreamPlan { kind: files.into(), seed, ..StreamPlan::default() }
        };
        let streams: Vec<StreamPlan> = missing.into_iter().map(stream).collect();
        (!streams.is_empty()).then(|| {
            PhasePlan {
                name: format!("{phase}-files"),
                kind: PhaseKind::Layout,
                engine: EngineKind::Files,
                streams,
                time_limit_ns: longest.saturating_mul(NS_PER_S),
                stop: StopRule::RegionOnce,
                ..PhasePlan::default()
            }
            .alike()
        })
    }
}
