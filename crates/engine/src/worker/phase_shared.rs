//! What the workers of one phase share: a barrier at the start, the cause of the end, and their progress together.

use super::rounds_watch::RoundsWatch;
use crate::recorder::Tally;
use model::{Ns, SteadyRecord, StopCause, StopRule};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use workload::FlowTotal;

/// The workers of one phase. In the loop only relaxed atomics are used, and a lock that is tried, never waited for.
#[derive(Debug, Default)]
pub struct PhaseShared {
    gate: Mutex<Gate>,
    opened: Condvar,
    ended: OnceLock<StopCause>,
    operations: AtomicU64,
    bytes: AtomicU64,
    latency_sum_ns: AtomicU64,
    /// Groups of streams of which one has ended that takes the others with it.
    ended_groups: Mutex<BTreeSet<u32>>,
    flows: Mutex<BTreeMap<u32, Arc<FlowTotal>>>,
    watch: Option<Mutex<RoundsWatch>>,
}

#[derive(Debug, Default)]
struct Gate {
    awaited: u32,
    start: Option<Ns>,
}

impl PhaseShared {
    /// For so many workers, each of which calls `start` or `leave` once.
    pub fn new(workers: u32, stop: &StopRule) -> Self {
        Self {
            gate: Mutex::new(Gate { awaited: workers, start: None }),
            watch: RoundsWatch::of(stop).map(Mutex::new),
            ..Self::default()
        }
    }

    /// Waits until every worker is ready; the moment at which all start. `now` is the clock that they share.
    pub(crate) fn start(&self, now: impl FnOnce() -> Ns) -> Ns {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.awaited = gate.awaited.saturating_sub(1);
        // The last one that is awaited may also leave without starting.
        while gate.awaited > 0 {
            gate = self.opened.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        self.opened.notify_all();
        *gate.start.get_or_insert_with(now)
    }

    /// A worker will not start: the others do not wait for it, and end at once, since the phase is not what was planned.
    pub(crate) fn leave(&self) {
        self.end(StopCause::Failed);
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.awaited = gate.awaited.saturating_sub(1);
        if gate.awaited == 0 {
            self.opened.notify_all();
        }
    }

    /// Ends the phase for all, for the first cause that is given.
    pub(crate) fn end(&self, cause: StopCause) {
        // Whoever comes second does not change it.
        let _ = self.ended.set(cause);
    }

    /// Why the phase has ended for all, if it has.
    #[inline]
    pub(crate) fn end_cause(&self) -> Option<StopCause> {
        self.ended.get().copied()
    }

    /// Ends the streams of this group.
    pub(crate) fn end_group(&self, group: u32) {
        self.ended_groups.lock().unwrap_or_else(PoisonError::into_inner).insert(group);
    }

    /// Why a stream of this group has to end, if it has. Called once an interval.
    pub(crate) fn ended_for(&self, group: u32) -> Option<StopCause> {
        let group_ended =
            || self.ended_groups.try_lock().is_ok_and(|g| g.contains(&group)).then_some(StopCause::TimeUsed);
        self.end_cause().or_else(group_ended)
    }

    /// What the streams of this flow share.
    pub(crate) fn flow(&self, id: u32) -> Arc<FlowTotal> {
        Arc::clone(self.flows.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default())
    }

    /// A worker has come so much further at an interval's end; what all have done. Looks at the rounds.
    pub(crate) fn advance(&self, now: Ns, started: Ns, more: Tally) -> Tally {
        let add = |sum: &AtomicU64, more: u64| sum.fetch_add(more, Ordering::Relaxed).wrapping_add(more);
        let all = Tally {
            operations: add(&self.operations, more.operations),
            bytes: add(&self.bytes, more.bytes),
            latency_sum_ns: add(&self.latency_sum_ns, more.latency_sum_ns),
        };
        if let Some(watch) = &self.watch
            && let Ok(mut watch) = watch.try_lock()
            && let Some(cause) = watch.look(now, started, all)
        {
            self.end(cause);
        }
        all
    }

    /// What the rounds showed, where the phase goes by rounds.
    pub fn steady(&self) -> Option<SteadyRecord> {
        let watch = self.watch.as_ref()?;
        Some(watch.lock().unwrap_or_else(PoisonError::into_inner).record())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn all_start_at_one_moment_even_if_one_cannot() {
        for leavers in [0, 1, 3] {
            let barrier = PhaseShared::new(4, &StopRule::Time);
            let calls = AtomicU32::new(0);
            let starts: Vec<Ns> = std::thread::scope(|scope| {
                let stay = || barrier.start(|| 100 + Ns::from(calls.fetch_add(1, Ordering::SeqCst)));
                let threads: Vec<_> = (leavers..4).map(|_| scope.spawn(stay)).collect();
                (0..leavers).for_each(|_| barrier.leave());
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            assert_eq!(starts, vec![100; 4 - leavers]);
            assert_eq!(barrier.end_cause(), (leavers > 0).then_some(StopCause::Failed));
        }
    }

    #[test]
    fn the_first_cause_counts_and_progress_is_summed() {
        let barrier = PhaseShared::new(2, &StopRule::Time);
        assert_eq!(barrier.end_cause(), None);
        let tally = |operations| Tally { operations, bytes: 10 * operations, latency_sum_ns: 0 };
        assert_eq!(barrier.advance(10, 0, tally(3)), tally(3));
        assert_eq!(barrier.advance(10, 0, tally(4)), tally(7));
        barrier.end(StopCause::Steady);
        barrier.end(StopCause::Failed);
        assert_eq!((barrier.end_cause(), barrier.steady()), (Some(StopCause::Steady), None));
    }
}
