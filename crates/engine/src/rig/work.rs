//! What a phase is to do, on which open targets, and what came of a stream of it.

use super::buffer_cache::BufferCache;
use super::own_files::Files;
use crate::{Control, FileOptions};
use model::{EngineKind, PhasePlan, PhaseRecord, StreamPlan};
use std::sync::Arc;
use sys::Epoch;
use workload::Verified;

/// The files of a stream, opened as the stream accesses them.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTarget {
    /// The descriptors; none where nothing is done.
    pub files: Files,
    /// Whether it goes past the page cache.
    pub direct: bool,
    /// Why threads serve instead of io_uring, if they do.
    pub threads: Option<String>,
    /// Of files as a whole: their order, where their directories say it.
    pub order: Option<Arc<[u64]>>,
}

/// What is to be done, where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhaseWork<'a> {
    /// The phase, with its streams within what may be touched.
    pub plan: &'a PhasePlan,
    /// Whether it is the read-back of what a phase wrote.
    pub reads_back: bool,
    /// The run's clock.
    pub epoch: Epoch,
    /// Whether the target is a block device.
    pub device: bool,
    /// What the rig was told of it.
    pub options: &'a FileOptions,
    /// Where buffers wait between phases.
    pub buffer_cache: &'a BufferCache,
    pub control: &'a Control,
}

impl PhaseWork<'_> {
    /// Bytes that the lowest layers have read so far; `None` where none counts.
    pub(super) fn device_read_bytes(&self) -> Option<u64> {
        self.options.device_reads.as_ref()?.bytes()
    }
}

/// What came of a stream: its record, and the engine that carried it out.
pub(super) struct StreamOutcome {
    pub record: PhaseRecord,
    pub kind: EngineKind,
    pub features: Vec<String>,
    pub missing: Vec<String>,
}

/// A stream, its open target, and where it verifies what it knows of its data.
pub(super) struct StreamWork<'a> {
    pub stream: &'a StreamPlan,
    pub target: &'a OpenTarget,
    pub known: &'a mut Option<Verified>,
}
