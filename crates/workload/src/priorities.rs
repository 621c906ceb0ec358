//! Which requests have a priority of their own.

use crate::random::{PRIORITY, Random};
use crate::{BlockOp, OpKind};
use model::{IoPriority, Operation, PriorityShare, StreamPlan};

/// The shares of a stream's requests that have a priority.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    shares: Vec<PriorityShare>,
    random: Random,
}

impl Priorities {
    /// `None` where all requests have that of the stream.
    pub fn of(plan: &StreamPlan) -> Option<Self> {
        let shares = plan.path.priority_shares.clone();
        (!shares.is_empty()).then(|| Self { shares, random: Random::new(plan.seed, PRIORITY) })
    }

    /// That of this request, if it is one of those that have one.
    pub fn draw(&mut self, op: &BlockOp) -> Option<IoPriority> {
        let concerns = |share: &&PriorityShare| {
            let same = if share.operation == Operation::Read { op.kind == OpKind::Read } else { op.kind.sends_data() };
            same && share.block_bytes.is_none_or(|bytes| bytes == u64::from(op.len))
        };
        self.random.one_of(100, self.shares.iter().filter(concerns).map(|s| (s.percent, s.priority)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{IoClass, IoPath};
    use std::collections::BTreeMap;

    fn share(operation: Operation, block_bytes: Option<u64>, percent: u32, class: IoClass) -> PriorityShare {
        PriorityShare { operation, block_bytes, percent, priority: IoPriority { class, level: 1, hint: 0 } }
    }

    /// Shares of priorities, by their classes, among many requests.
    fn drawn(shares: &[PriorityShare], kind: OpKind, len: u32, seed: u64) -> BTreeMap<u16, f64> {
        let path = IoPath { priority_shares: shares.to_vec(), ..IoPath::default() };
        let mut priorities = Priorities::of(&StreamPlan { path, seed, ..StreamPlan::default() }).unwrap();
        let op = BlockOp { kind, len, ..BlockOp::default() };
        let mut shares = BTreeMap::new();
        for _ in 0..100_000 {
            *shares.entry(priorities.draw(&op).map_or(0, |p| p.class as u16)).or_insert(0.0) += 1e-5;
        }
        shares
    }

    #[test]
    fn each_kind_of_request_gets_its_shares() {
        let shares = [
            share(Operation::Read, Some(65_536), 25, IoClass::RealTime),
            share(Operation::Read, Some(65_536), 75, IoClass::Idle),
            share(Operation::Read, Some(4096), 0, IoClass::RealTime),
            share(Operation::Write, None, 20, IoClass::BestEffort),
        ];
        let near = |seen: BTreeMap<u16, f64>, expected: &[(u16, f64)]| {
            assert!(seen.keys().eq(expected.iter().map(|(class, _)| class)), "{seen:?}");
            assert!(expected.iter().all(|(class, share)| (seen[class] - share).abs() < 0.006), "{seen:?}");
        };
        near(drawn(&shares, OpKind::Read, 65_536, 3), &[(1, 0.25), (3, 0.75)]);
        near(drawn(&shares, OpKind::Read, 4096, 3), &[(0, 1.0)]);
        near(drawn(&shares, OpKind::WriteSync, 512, 3), &[(0, 0.8), (2, 0.2)]);
        near(drawn(&shares, OpKind::Fsync, 0, 3), &[(0, 1.0)]);
        assert_eq!(drawn(&shares, OpKind::Write, 512, 7), drawn(&shares, OpKind::Write, 512, 7), "by the seed");
    }
}
