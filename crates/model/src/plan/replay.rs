//! Calls on files as a program made them once, to be made again.

use super::{
    FilesPlan, PhasePlan, RealPackages, StopRule, StreamKind, StreamPlan, Trace, calls::PackedCalls, is_default,
};
use crate::{Direction, Ns};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest read or write: longer ones are made in pieces. Buffers are as long.
pub const MOST_CALL_BYTES: u64 = 1 << 20;
/// Calls under way at once at most.
const MOST_THREADS: u32 = 64;
/// No descriptor, and no second path.
pub const NO_NUMBER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallKind {
    /// openat(2); with [`FileCall::flags`].
    #[default]
    Open,
    /// close(2).
    Close,
    /// pread(2), and what reads otherwise.
    Read,
    /// pwrite(2), and what writes otherwise.
    Write,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its flags.
    SyncRange,
    /// syncfs(2), and sync(2).
    SyncFs,
    /// ftruncate(2), and truncate(2) where there is no descriptor.
    Truncate,
    /// fallocate(2) without a mode.
    Allocate,
    /// stat(2) and what else looks a name up: access(2), readlink(2), an open that found nothing.
    Stat,
    /// getdents64(2) until all names are read.
    List,
    /// renameat(2).
    Rename,
    /// linkat(2).
    Link,
    /// symlinkat(2).
    Symlink,
    /// unlinkat(2).
    Unlink,
    /// mkdirat(2).
    Mkdir,
    /// unlinkat(2) of a directory.
    Rmdir,
    /// fchmodat(2).
    Chmod,
    /// fchownat(2).
    Chown,
    /// utimensat(2).
    Utimes,
}

impl CallKind {
    /// What it counts as.
    pub fn direction(self) -> Direction {
        match self {
            Self::Read => Direction::Read,
            Self::Write => Direction::Write,
            Self::Fsync | Self::Fdatasync | Self::SyncRange | Self::SyncFs => Direction::Sync,
            _ => Direction::Names,
        }
    }

    /// Whether it leaves everything as it was; of an open its flags tell.
    pub fn only_looks(self) -> bool {
        matches!(self, Self::Read | Self::Stat | Self::List | Self::Close)
    }

    /// Whether it changes what a directory holds, so that what lies below is reached or not.
    pub fn moves_names(self) -> bool {
        matches!(self, Self::Rename | Self::Mkdir | Self::Rmdir)
    }
}

/// How a file is opened: bits of [`FileCall::flags`].
#[derive(Clone, Copy, Debug)]
pub struct CallFlag;

impl CallFlag {
    /// It may be read.
    pub const READ: u16 = 1;
    /// It may be written.
    pub const WRITE: u16 = 2;
    /// It is made if it is not there.
    pub const CREATE: u16 = 4;
    /// It must not be there.
    pub const EXCLUSIVE: u16 = 8;
    /// It is made empty.
    pub const TRUNCATE: u16 = 16;
    /// O_SYNC.
    pub const SYNC: u16 = 32;
    /// O_DSYNC.
    pub const DSYNC: u16 = 64;
    pub const DIRECTORY: u16 = 128;
    /// It failed when it was recorded, and may again.
    pub const MAY_FAIL: u16 = 256;
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCall {
    /// When it started, from the first one on.
    pub at_ns: Ns,
    /// So long after the end of the call before, of the same thread.
    pub pause_ns: Ns,
    /// First byte; of a truncation the new length.
    pub offset: u64,
    /// Bytes of a read, a write, a sync of a range or a reservation.
    pub bytes: u64,
    /// The path, by its number in [`FileTrace::paths`]: of a call by a descriptor the one that it was opened by.
    pub path: u32,
    /// The new path of a rename or link; [`NO_NUMBER`] elsewhere.
    pub second: u32,
    /// The descriptor: a number for each open; [`NO_NUMBER`] without one.
    pub handle: u32,
    /// Who made it.
    pub thread: u16,
    /// Of an open how, see [`CallFlag`]; of a sync of a range its own.
    pub flags: u16,
    pub kind: CallKind,
}

impl FileCall {
    /// Whether it leaves everything as it was.
    pub fn only_looks(&self) -> bool {
        let makes = CallFlag::CREATE | CallFlag::TRUNCATE;
        self.kind.only_looks() || self.kind == CallKind::Open && self.flags & makes == 0
    }
}

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
    /// Calls of each kind.
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
        let (mut replay_calls, mut replay_bytes, mut pauses) = (BTreeMap::new(), [0, 0], 0u64);
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

impl From<ReplayPlan> for StreamKind {
    fn from(plan: ReplayPlan) -> Self {
        Self::Replay(plan)
    }
}

impl PhasePlan {
    /// How long it pauses between its calls, one after the other; `None` where it keeps no pauses, or several threads do.
    pub fn pauses_ns(&self) -> Option<Ns> {
        let [stream] = &self.streams[..] else { return None };
        if let Some(trace) = stream.trace().filter(|trace| trace.trace_pauses && trace.trace_speed_milli > 0) {
            return Some(trace.trace_span_ns * 1000 / u64::from(trace.trace_speed_milli));
        }
        let keeps = |replay: &&ReplayPlan| replay.replay_pauses && replay.replay_real.is_none();
        let replay = stream.replay().filter(keeps).filter(|replay| replay.replay_pauses_ns > 0)?;
        let pauses = u128::from(replay.replay_pauses_ns) * 1000 / u128::from(replay.replay_speed_milli.max(1));
        u64::try_from(pauses).ok().filter(|_| replay.replay_speed_milli > 0)
    }

    /// Whether what it does is a recording, all of it, so that how long it takes is its result.
    pub fn is_done_again(&self) -> bool {
        self.replays_calls() || matches!(&self.streams[..], [stream] if stream.trace().is_some())
    }

    /// Whether dpkg does it, and makes calls of its own.
    pub fn is_by_dpkg(&self) -> bool {
        self.streams.iter().any(|s| s.replay().is_some_and(|replay| replay.replay_real.is_some()))
    }

    /// Whether it makes calls on files again.
    pub fn replays_calls(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|s| s.replay().is_some())
    }
}

impl StreamPlan {
    /// The operations on blocks that it does again; `None` where it does none.
    pub fn trace(&self) -> Option<&Trace> {
        match &self.kind {
            StreamKind::Block(block) => block.trace.as_ref(),
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Replay(_) => None,
        }
    }

    /// The calls that it makes again; `None` where it is of another kind.
    pub fn replay(&self) -> Option<&ReplayPlan> {
        match &self.kind {
            StreamKind::Replay(replay) => Some(replay),
            StreamKind::Copy(_) | StreamKind::Files(_) | StreamKind::Block(_) => None,
        }
    }

    /// The largest buffer that one of its operations has.
    pub fn buffer_bytes(&self) -> u64 {
        match &self.kind {
            StreamKind::Files(files) => FilesPlan::buffer_bytes(files),
            StreamKind::Replay(replay) if replay.replay_bytes == [0, 0] => 0,
            StreamKind::Replay(_) => MOST_CALL_BYTES,
            StreamKind::Copy(_) | StreamKind::Block(_) => self.block().block_size_bytes,
        }
    }

    /// What cannot be of a replay.
    pub(super) fn replay_can_be(&self, replay: &ReplayPlan, phase: &PhasePlan) -> Result<(), String> {
        let bad = |what: &str| Err(what.to_owned());
        if replay.calls() == 0 {
            return bad("nothing to do again");
        }
        if phase.streams.len() > 1 {
            return bad("a recording is done again alone; make phases of several");
        }
        if self.path.queue_depth == 0 || self.path.queue_depth > MOST_THREADS {
            return Err(format!("{} calls at once; 1 to {MOST_THREADS} are possible", self.path.queue_depth));
        }
        if matches!(phase.stop, StopRule::SteadyRounds(_) | StopRule::EarlyWhenSteady { .. }) {
            return bad("a recording has no steady state");
        }
        if self.verify.is_some() || self.limits.total_bytes.is_some() {
            return bad("what is done again is not verified, and ends with its last call");
        }
        Ok(())
    }
}
