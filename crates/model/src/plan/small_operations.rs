//! Phases that ask how long small operations take which come now and then: reads, and writes with their own sync, alone or beside a
//! writer.

use super::{Access, Operation, PhasePlan, StreamKind, StreamPlan, Sync, Work};
use crate::Direction;

/// Larger ones are not small.
const SMALL_BYTES: u64 = 4096;

/// What a stream of such a phase does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Small reads, at a rate.
    Reads,
    /// Small writes, each with its sync, at a rate.
    Appends,
    /// Writes through the page cache as fast as it may.
    Copies,
}

fn role(stream: &StreamPlan) -> Option<Role> {
    let StreamKind::Block(block) = &stream.kind else { return None };
    let paced = stream.timing.pacing.is_some();
    let small = block.block_size_bytes <= SMALL_BYTES;
    let buffered = stream.path.access == Access::Buffered;
    match (block.operation, paced) {
        (Operation::Read, true) if small => Some(Role::Reads),
        (Operation::Write, true) if small && stream.durability.sync == Sync::FdatasyncEach => Some(Role::Appends),
        (Operation::Write, false) if buffered && stream.durability.sync == Sync::None => Some(Role::Copies),
        _ => None,
    }
}

impl PhasePlan {
    /// The work that it is, where it is that of small operations.
    pub(super) fn small_operations(&self) -> Option<Work> {
        let roles: Vec<Role> = self.streams.iter().map(role).collect::<Option<_>>()?;
        let has = |role| roles.contains(&role);
        let work = if has(Role::Copies) { Work::ResponsiveLoaded } else { Work::Responsive };
        (has(Role::Reads) && has(Role::Appends)).then_some(work)
    }

    /// What the ids of the metrics begin with of its small reads, of its small writes, or (`None`) of the writer beside them.
    pub fn small_operations_of(&self, direction: Option<Direction>) -> Option<String> {
        let wanted = match direction {
            Some(Direction::Read) => Role::Reads,
            Some(_) => Role::Appends,
            None => Role::Copies,
        };
        let job = self.jobs().into_iter().find(|j| role(&self.streams[j.streams[0]]) == Some(wanted))?;
        Some(format!("{}.{}", self.name, job.id))
    }
}
