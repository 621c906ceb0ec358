//! What the parts of a stream cannot be, each by itself.

use super::{
    FileKind, FileOperation, FilesPlan, IoPath, IoPriority, LatencyTarget, Limits, PhasePlan, PriorityShare,
    ReplayPlan, StopRule, StreamPlan,
};
use crate::bytes_text;

/// The largest file that is created; larger ones are written by streams of blocks.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// Directories above a file at most: paths stay far below the 4,096 bytes of a path.
const MAX_LEVELS: u32 = 16;
/// Files of one stream at most: what the largest file systems have inodes for.
const MAX_FILES: u64 = 1 << 32;

/// Calls under way at once at most.
const MAX_THREADS: u32 = 64;

impl IoPath {
    pub(super) fn priorities_can_be(&self) -> Result<(), String> {
        let shares = &self.priority_shares;
        let mut priorities = self.io_priority.iter().chain(shares.iter().map(|s| &s.priority));
        if priorities.any(|p| p.level > 7 || p.hint > IoPriority::LAST_HINT) {
            return Err("levels of priority go from 0 to 7, hints to 1023".into());
        }
        for one in shares {
            // Those that a request of this one's kind can have.
            let beside = |s: &&PriorityShare| {
                s.operation == one.operation && (s.block_bytes.is_none() || s.block_bytes == one.block_bytes)
            };
            let sum = shares.iter().filter(beside).fold(0, |sum: u32, s| sum.saturating_add(s.percent));
            if sum > 100 {
                return Err(format!("shares of requests with priorities sum to {sum} %; 100 is the most"));
            }
        }
        Ok(())
    }
}

impl Limits {
    pub(super) fn latencies_can_be(&self, stop: &StopRule) -> Result<(), String> {
        let Some(target) = self.latency_target else { return Ok(()) };
        if target.latency_ns == 0 {
            return Err("the search for a depth has no latency-target (fio: latency_target)".into());
        }
        if !(1..=LatencyTarget::ALL_MILLI).contains(&target.percent_milli) {
            return Err("a latency target is one of above 0 to 100 % of the operations".into());
        }
        if !matches!(stop, StopRule::Time | StopRule::Amount) {
            return Err("the search for a depth ends by itself: no steady state, no least number of operations".into());
        }
        Ok(())
    }
}

impl StreamPlan {
    /// What cannot be of operations on files.
    pub(super) fn files_can_be(&self, files: &FilesPlan, phase: &PhasePlan) -> Result<(), String> {
        let bad = |what: &str| Err(what.to_owned());
        let FilesPlan { file_operation, file_count, file_bytes, .. } = *files;
        match file_count {
            0 => return bad("there are no files; say how many (own-files; fio: nrfiles)"),
            1..=MAX_FILES => {}
            n => return Err(format!("{n} files; {MAX_FILES} are possible")),
        }
        if files.file_kind != FileKind::File && file_bytes > 0 {
            return bad("links have no length of their own (file-size)");
        }
        if files.file_bytes_least.is_some_and(|least| least > file_bytes) {
            return bad("the smallest file is larger than the largest");
        }
        if files.levels() > MAX_LEVELS {
            return Err(format!("{} directories above each file; {MAX_LEVELS} are possible", files.levels()));
        }
        if files.directory_files == 0 && files.directory_levels > 0 {
            return bad(
                "directories above each file, and none that holds them; say how many files lie in one (directory-files)",
            );
        }
        if files.file_kind != FileKind::File && file_operation.sends_data() && file_operation != FileOperation::Create {
            return Err(format!("{}: links have no data", file_operation.name()));
        }
        if files.file_by_directory && (file_operation.makes() || file_operation == FileOperation::List) {
            return Err(format!("{}: no directory has an order of them (file-order)", file_operation.name()));
        }
        if file_bytes > MAX_FILE_BYTES {
            let (given, most) = (bytes_text(file_bytes), bytes_text(MAX_FILE_BYTES));
            return Err(format!("files of {given} each; up to {most} are possible: write larger ones by blocks"));
        }
        let done = self.limits.total_operations.unwrap_or(0);
        if file_operation.once() && done > file_count {
            let name = file_operation.name();
            return Err(format!("{name}: {done} times for {file_count} files; each is there once (no loops)"));
        }
        if phase.streams.iter().any(|s| s.files().is_none()) {
            return bad("operations on files and on blocks are not done side by side; make phases of them");
        }
        if self.path.queue_depth > 1 {
            return Err(format!("depth {} of operations on files; use jobs side by side", self.path.queue_depth));
        }
        if matches!(phase.stop, StopRule::SteadyRounds(_) | StopRule::EarlyWhenSteady { .. }) {
            return bad("operations on files have no steady state here; give them a time");
        }
        if self.verify.is_some() || self.limits.total_bytes.is_some() {
            return bad("operations on files are not verified, and end by time or number");
        }
        Ok(())
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
        if self.path.queue_depth == 0 || self.path.queue_depth > MAX_THREADS {
            return Err(format!("{} calls at once; 1 to {MAX_THREADS} are possible", self.path.queue_depth));
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
