//! What the workers of one phase share: their start, their end, and how far they are together.

use super::rounds_watch::RoundsWatch;
use model::{Ns, SteadyRecord, StopCause, StopRule};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use workload::FlowTotal;

/// The workers of one phase. In the loop only relaxed atomics are used, and a lock that is tried, never waited for.
#[derive(Debug)]
pub struct Crew {
    gate: Mutex<Gate>,
    opened: Condvar,
    /// 0: goes on.
    ended: AtomicU8,
    operations: AtomicU64,
    bytes: AtomicU64,
    latency_sum_ns: AtomicU64,
    /// Groups of streams of which one has ended that takes the others with it.
    ended_groups: Mutex<BTreeSet<u32>>,
    flows: Mutex<BTreeMap<u32, Arc<FlowTotal>>>,
    watch: Option<Mutex<RoundsWatch>>,
}

#[derive(Debug)]
struct Gate {
    awaited: u32,
    start: Option<Ns>,
}

/// Causes for which one worker ends all.
const CAUSES: [StopCause; 3] = [StopCause::Steady, StopCause::Failed, StopCause::TimeUsed];

impl Crew {
    /// For so many workers, each of which calls `start` or `leave` once.
    pub fn new(workers: u32, stop: &StopRule) -> Self {
        Self {
            gate: Mutex::new(Gate { awaited: workers, start: None }),
            opened: Condvar::new(),
            ended: AtomicU8::new(0),
            operations: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            latency_sum_ns: AtomicU64::new(0),
            ended_groups: Mutex::default(),
            flows: Mutex::default(),
            watch: RoundsWatch::of(stop).map(Mutex::new),
        }
    }

    /// Waits until every worker is ready; the moment at which all start. `now` is the clock that they share.
    pub(crate) fn start(&self, now: impl FnOnce() -> Ns) -> Ns {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        gate.awaited = gate.awaited.saturating_sub(1);
        if gate.awaited == 0 && gate.start.is_none() {
            gate.start = Some(now());
            self.opened.notify_all();
            return gate.start.unwrap_or(0);
        }
        loop {
            match gate.start {
                Some(start) => return start,
                // The last one that was awaited has left without starting.
                None if gate.awaited == 0 => {
                    let start = now();
                    gate.start = Some(start);
                    self.opened.notify_all();
                    return start;
                }
                None => gate = self.opened.wait(gate).unwrap_or_else(PoisonError::into_inner),
            }
        }
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
        let code = CAUSES.iter().position(|c| *c == cause).map_or(2, |i| i as u8 + 1);
        // Whoever comes second does not change it.
        let _ = self.ended.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the phase has ended for all, if it has.
    #[inline]
    pub(crate) fn ended(&self) -> Option<StopCause> {
        match self.ended.load(Ordering::Relaxed) {
            0 => None,
            code => CAUSES.get(usize::from(code) - 1).copied(),
        }
    }

    /// Ends the streams of this group.
    pub(crate) fn end_group(&self, group: u32) {
        self.ended_groups.lock().unwrap_or_else(PoisonError::into_inner).insert(group);
    }

    /// Why a stream of this group has to end, if it has. Called once an interval.
    pub(crate) fn ended_for(&self, group: u32) -> Option<StopCause> {
        let group_ended =
            || self.ended_groups.try_lock().is_ok_and(|g| g.contains(&group)).then_some(StopCause::TimeUsed);
        self.ended().or_else(group_ended)
    }

    /// What the streams of this flow share.
    pub(crate) fn flow(&self, id: u32) -> Arc<FlowTotal> {
        Arc::clone(self.flows.lock().unwrap_or_else(PoisonError::into_inner).entry(id).or_default())
    }

    /// A worker has come so much further at an interval's end; operations and bytes of all. Looks at the rounds.
    pub(crate) fn advance(
        &self,
        now: Ns,
        started: Ns,
        (operations, bytes): (u64, u64),
        latency_sum_ns: u64,
    ) -> (u64, u64) {
        let operations = self.operations.fetch_add(operations, Ordering::Relaxed) + operations;
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let latency_sum_ns = self.latency_sum_ns.fetch_add(latency_sum_ns, Ordering::Relaxed) + latency_sum_ns;
        if let Some(watch) = &self.watch
            && let Ok(mut watch) = watch.try_lock()
            && let Some(cause) = watch.look(now, started, (operations, bytes), latency_sum_ns)
        {
            self.end(cause);
        }
        (operations, bytes)
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
            let crew = Crew::new(4, &StopRule::Time);
            let calls = AtomicU32::new(0);
            let starts: Vec<Ns> = std::thread::scope(|scope| {
                let stay = || crew.start(|| 100 + Ns::from(calls.fetch_add(1, Ordering::SeqCst)));
                let threads: Vec<_> = (leavers..4).map(|_| scope.spawn(stay)).collect();
                (0..leavers).for_each(|_| crew.leave());
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            assert_eq!(starts, vec![100; 4 - leavers]);
            assert_eq!(crew.ended(), (leavers > 0).then_some(StopCause::Failed));
        }
    }

    #[test]
    fn the_first_cause_counts_and_progress_is_summed() {
        let crew = Crew::new(2, &StopRule::Time);
        assert_eq!(crew.ended(), None);
        assert_eq!(crew.advance(10, 0, (3, 30), 0), (3, 30));
        assert_eq!(crew.advance(10, 0, (4, 40), 0), (7, 70));
        crew.end(StopCause::Steady);
        crew.end(StopCause::Failed);
        assert_eq!((crew.ended(), crew.steady()), (Some(StopCause::Steady), None));
    }
}
