//! Operations on files, each as a whole.

use crate::op::in_fields;
use crate::shaping::Shaping;
use crate::{Next, OpResult, Permutation, Request, Source};
use model::random::mix;
use model::{Direction, FileKind, FileOperation, FilesPlan, Ns, Operation, StreamPlan};
use std::sync::Arc;

/// What is done to one file or directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOp {
    pub operation: FileOperation,
    /// Which of the stream's files, from 0 on.
    pub index: u64,
    /// What stands under its name.
    pub kind: FileKind,
    /// Bytes that it has: those that are written to it or read.
    pub len: u32,
    /// Not an operation on it, but all that was done made durable.
    pub sync: bool,
    /// Its name while it is under way.
    pub buffer: u32,
    /// When it should start.
    pub intended_ns: Option<Ns>,
}

impl Request for FileOp {
    in_fields!();

    #[inline]
    fn content_key(&self) -> u64 {
        self.index
    }

    #[inline]
    fn direction(&self) -> Direction {
        match (self.sync, self.operation.changes_data()) {
            (true, _) => Direction::Sync,
            (false, true) => Direction::Write,
            (false, false) => Direction::Read,
        }
    }

    #[inline]
    fn sends_data(&self) -> bool {
        self.len > 0 && self.operation.sends_data()
    }
}

/// File after file, in the order of their numbers or in a random one; look-ups pass after pass, what makes or removes files
/// once. One operation at a time.
#[derive(Debug)]
pub struct FileStream {
    next: FileOp,
    count: u64,
    /// Bytes by which their lengths differ at most, and what they are drawn with: a file has the same in all phases.
    spread: Option<(u64, u64)>,
    closes: bool,
    order: Order,
    once: bool,
    shaping: Option<Box<Shaping>>,
}

/// Which file comes at which place.
#[derive(Debug)]
enum Order {
    Numbers,
    Random(Permutation),
    Listed(Arc<[u64]>),
}

impl Order {
    #[inline]
    fn at(&self, place: u64) -> u64 {
        match self {
            Self::Numbers => place,
            Self::Random(order) => order.at(place),
            Self::Listed(order) => order[place as usize],
        }
    }
}

impl FileStream {
    /// The operations that `plan` asks for on `files`, of which there is at least one, in the order of these numbers if there are some;
    /// with `once` a single pass.
    pub fn new(plan: &StreamPlan, files: &FilesPlan, once: bool, listed: Option<Arc<[u64]>>) -> Self {
        let operation = files.file_operation;
        // Plans with larger files are refused.
        let has_data = operation.sends_data() || operation == FileOperation::ReadFile;
        let len = if has_data { files.buffer_bytes() as u32 } else { 0 };
        let least = files.file_bytes_least.filter(|least| *least < files.file_bytes && has_data);
        Self {
            next: FileOp { operation, kind: files.file_kind, len, ..FileOp::default() },
            spread: least.map(|least| (files.file_bytes - least + 1, mix(u64::from(files.file_set)))),
            closes: plan.durability.flush.fsync_at_end,
            count: listed.as_ref().map_or(files.members(), |listed| listed.len() as u64),
            order: match listed {
                Some(listed) => Order::Listed(listed),
                None if files.file_shuffle => Order::Random(Permutation::new(files.members().max(1), plan.seed)),
                None => Order::Numbers,
            },
            once: once || operation.once(),
            shaping: Shaping::of(plan, Operation::Read),
        }
    }
}

impl Source for FileStream {
    type Op = FileOp;

    #[inline]
    fn next(&mut self, now: Ns) -> Next<FileOp> {
        if self.next.index == self.count {
            if self.once || self.count == 0 {
                return Next::Done;
            }
            self.next.index = 0;
        }
        let mut op = self.next;
        if let Some(shaping) = &mut self.shaping {
            if let Some(held) = shaping.is_held_back(now) {
                return held;
            }
            op.intended_ns = shaping.record(0, op.len);
        }
        self.next.index += 1;
        op.index = self.order.at(op.index);
        if let Some((spread, seed)) = self.spread {
            let less = (mix(seed ^ op.index) % spread) as u32;
            // A transaction's are written twice.
            op.len -= if op.operation == FileOperation::Journal { 2 * less } else { less };
        }
        Next::Op(op)
    }

    fn closing_op(&mut self) -> Option<FileOp> {
        std::mem::take(&mut self.closes).then_some(FileOp { sync: true, len: 0, ..self.next })
    }

    #[inline]
    fn on_completion(&mut self, _op: &FileOp, outcome: OpResult) {
        if let Some(shaping) = &mut self.shaping {
            shaping.on_completion(outcome.at_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Limits, Pacing, Rate, Timing};

    fn indices(operation: FileOperation, file_shuffle: bool, limits: Limits, most: usize) -> Vec<u64> {
        let files = FilesPlan { file_operation: operation, file_count: 5, file_shuffle, ..FilesPlan::default() };
        let plan = StreamPlan { kind: files.clone().into(), limits, seed: 3, ..StreamPlan::default() };
        let mut stream = FileStream::new(&plan, &files, false, None);
        let next = |_| match stream.next(0) {
            Next::Op(op) => Some(op.index),
            Next::Done => None,
            other => panic!("{other:?}"),
        };
        (0..most).map_while(next).collect()
    }

    #[test]
    fn each_file_is_made_once_and_looked_up_as_long_as_is_asked() {
        let free = Limits::default();
        assert_eq!(indices(FileOperation::Create, false, free, 9), [0, 1, 2, 3, 4]);
        assert_eq!(indices(FileOperation::Stat, false, free, 7), [0, 1, 2, 3, 4, 0, 1]);
        let limited = Limits { total_operations: Some(6), ..free };
        assert_eq!(indices(FileOperation::Stat, false, limited, 9), [0, 1, 2, 3, 4, 0]);
        let mut shuffled = indices(FileOperation::Delete, true, free, 9);
        assert_ne!(shuffled, [0, 1, 2, 3, 4]);
        shuffled.sort_unstable();
        assert_eq!(shuffled, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_list_is_gone_through_pass_after_pass() {
        let files = FilesPlan { file_operation: FileOperation::Stat, file_count: 5, ..FilesPlan::default() };
        let plan = StreamPlan { kind: files.clone().into(), ..StreamPlan::default() };
        let indices = |listed: &[u64]| -> Vec<u64> {
            let mut stream = FileStream::new(&plan, &files, false, Some(listed.into()));
            (0..7).map_while(|_| if let Next::Op(op) = stream.next(0) { Some(op.index) } else { None }).collect()
        };
        assert_eq!(indices(&[4, 0, 3]), [4, 0, 3, 4, 0, 3, 4]);
        assert!(indices(&[]).is_empty());
    }

    #[test]
    fn paced_ones_keep_their_intended_starts() {
        let files = FilesPlan { file_count: 3, file_bytes: 10, ..FilesPlan::default() };
        let pacing = Pacing { read: Some(Rate::OperationsPerS(1000)), ..Pacing::default() };
        let timing = Timing { pacing: Some(pacing), ..Timing::default() };
        let plan = StreamPlan { kind: files.clone().into(), timing, ..StreamPlan::default() };
        let mut stream = FileStream::new(&plan, &files, false, None);
        let op = |index, due| Next::Op(FileOp { index, len: 10, intended_ns: Some(due), ..FileOp::default() });
        assert_eq!(stream.next(0), op(0, 0));
        assert_eq!(stream.next(10), Next::WaitUntil(1_000_000));
        assert_eq!(stream.next(2_500_000), op(1, 1_000_000));
    }
}
