//! Calls on files as a program made them once, to be made again.

use super::{CallKind, RealPackages, calls::PackedCalls, is_default};
use crate::{Direction, Ns};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What must be there before the first call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    pub path: u32,
    /// Length of a file; `None` for a directory.
    pub bytes: Option<u64>,
}

/// A path: the one above, and the number of its last name. The first path of a trace is the directory that all lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathNode {
    /// The path above.
    pub parent: u32,
    /// Number of the name, in [`FileTrace::names`].
    pub name: u32,
}

/// Calls, and what they name. Names are kept as numbers, with their lengths only: those that are made have a form of our own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTrace {
    /// In the order in which they started.
    pub calls: PackedCalls,
    pub paths: Vec<PathNode>,
    /// Length of each name in bytes.
    pub names: Vec<u8>,
    /// Directories before what lies in them.
    pub before: Vec<Before>,
    /// Descriptors are numbered from 0 up to this.
    pub handles: u32,
}

impl FileTrace {
    /// Of nothing but the directory that all paths lie in.
    pub fn top() -> Self {
        Self { paths: vec![PathNode::default()], names: vec![0], ..Self::default() }
    }
}

/// The trace; a plan that was written and read again has none: which it was is said by its digest.
#[derive(Clone, Debug, Default)]
pub struct SharedFileTrace(pub Arc<FileTrace>);

impl PartialEq for SharedFileTrace {
    /// Traces are told apart by their digests.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A recording of calls on files, made again in a directory of the run's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayPlan {
    /// SHA-256 of the text that it was read from, hexadecimal; of a model of its name.
    pub replay_digest: String,
    /// From the first start to the last.
    pub replay_span_ns: Ns,
    /// How many threads made them.
    pub replay_threads: u32,
    /// Speed in thousandths of the recorded one; 0: as fast as possible.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_speed_milli: u32,
    /// Not the moments are kept, but the pauses between the calls of a thread.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_pauses: bool,
    /// All pauses of its only thread; 0 where there are several.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_pauses_ns: Ns,
    /// Replays with the same number find what those before them left.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_set: u32,
    /// Not these calls are made: dpkg makes its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_real: Option<RealPackages>,
    pub replay_calls: BTreeMap<CallKind, u64>,
    /// Files that must be there before, and their bytes.
    pub replay_before: [u64; 2],
    /// Files and directories, and bytes of files, that are there at once at most.
    pub replay_most: [u64; 2],
    /// Bytes that are read, and that are written.
    pub replay_bytes: [u64; 2],
    /// The calls.
    #[serde(skip)]
    pub trace: SharedFileTrace,
}

impl ReplayPlan {
    /// With these calls, and what is there at most while they are made: entries, and bytes of files.
    pub fn with(self, trace: FileTrace, replay_most: [u64; 2]) -> Self {
        let mut replay_calls = BTreeMap::new();
        let mut replay_bytes = [0, 0];
        let mut pauses = 0u64;
        for call in trace.calls.iter() {
            pauses = pauses.saturating_add(call.pause_ns);
            *replay_calls.entry(call.kind).or_insert(0) += 1;
            match call.kind {
                CallKind::Read => replay_bytes[0] += call.bytes,
                CallKind::Write => replay_bytes[1] += call.bytes,
                _ => {}
            }
        }
        let before = trace.before.iter().filter_map(|before| before.bytes);
        Self {
            replay_span_ns: trace.calls.last().map_or(0, |call| call.at_ns),
            replay_pauses_ns: if self.replay_threads == 1 { pauses } else { 0 },
            replay_calls,
            replay_before: before.fold([0, 0], |[files, all], bytes| [files + 1, all + bytes]),
            replay_most,
            replay_bytes,
            trace: SharedFileTrace(Arc::new(trace)),
            ..self
        }
    }

    pub fn calls(&self) -> u64 {
        self.replay_calls.values().sum()
    }

    /// Whether nobody recorded them: they are of a model, and its name is the digest.
    pub fn is_model(&self) -> bool {
        self.replay_digest.contains(':')
    }

    /// Whether its calls have moments of their own.
    pub fn has_moments(&self) -> bool {
        self.replay_speed_milli > 0 && !self.replay_pauses
    }

    /// What its calls count as, in order.
    pub fn directions(&self) -> Vec<Direction> {
        let mut all: Vec<Direction> = self.replay_calls.keys().map(|kind| kind.direction()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether any of its calls changes something.
    pub fn changes_data(&self) -> bool {
        self.replay_calls.keys().any(|kind| !kind.only_looks() && *kind != CallKind::Open)
            || self.trace.0.calls.iter().any(|call| !call.only_looks())
    }
}
