//! The most operations in flight whose latencies keep to a target: a depth is doubled until it does not hold, then the
//! range between the greatest that held and the least that did not is halved. What was found is held for a window more, which is
//! what counts; if it does not hold then, the search goes on below.

use model::{DepthStep, LatencyTarget, Ns};

/// Steps that are kept: more than a search up to the largest ring has.
const MAX_STEPS: usize = 256;

/// What a window leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The search goes on with another window.
    Next,
    /// The depth was found: what comes counts.
    Counts,
    /// The search is over, and the stream ends.
    Ends,
}

/// The search of one stream.
#[derive(Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    window_ns: Ns,
    most: u32,
    /// The greatest depth that held and the least that did not; 0, and one above all, where there is none.
    low: u32,
    high: u32,
    found: Option<u32>,
    /// The window that runs.
    now: DepthStep,
    record: model::DepthSearch,
}

impl DepthSearch {
    /// Up to `most` operations in flight; it begins at `start`. Takes all its memory.
    pub fn new(target: LatencyTarget, most: u32, interval_ns: Ns, start_ns: Ns) -> Self {
        let steps = Vec::with_capacity(MAX_STEPS);
        Self {
            target,
            // What counts begins with the second interval of a window.
            window_ns: target.window_ns.max(interval_ns.saturating_mul(2)),
            most,
            low: 0,
            high: most.saturating_add(1),
            found: None,
            now: Self::window(1, start_ns),
            record: model::DepthSearch { depth: None, steps },
        }
    }

    fn window(depth: u32, start_ns: Ns) -> DepthStep {
        DepthStep { depth, start_ns, length_ns: 0, operations: 0, late: 0, held: false }
    }

    /// Operations in flight at most, now.
    pub fn depth(&self) -> u32 {
        self.now.depth
    }

    /// An operation completed; those that were handed over at the depth before do not count.
    pub fn on_completion(&mut self, handed: Ns, latency: Ns) {
        if handed >= self.now.start_ns {
            self.now.operations += 1;
            self.now.late += u64::from(latency > self.target.latency_ns);
        }
    }

    /// Whether the window is over.
    pub fn is_over(&self, now: Ns) -> bool {
        now.saturating_sub(self.now.start_ns) >= self.window_ns
    }

    /// Whether an operation that is in flight now is late, and one of the window.
    pub fn is_overdue(&self, handed: Ns, start: Ns, now: Ns) -> bool {
        handed >= self.now.start_ns && now.saturating_sub(start) > self.target.latency_ns
    }

    /// Ends the window, with so many operations that are late though they have not completed. Allocates nothing.
    pub fn judge(&mut self, now: Ns, overdue: u64) -> Step {
        let mut step = self.now;
        step.length_ns = now.saturating_sub(step.start_ns);
        (step.operations, step.late) = (step.operations + overdue, step.late + overdue);
        if step.operations == 0 {
            // Nothing was asked for, or nothing tells yet.
            return Step::Next;
        }
        let all = u64::from(LatencyTarget::ALL_MILLI);
        let may_be_late = all - u64::from(self.target.percent_milli);
        step.held = u128::from(step.late) * u128::from(all) <= u128::from(step.operations) * u128::from(may_be_late);
        if self.record.steps.len() < MAX_STEPS {
            self.record.steps.push(step);
        }
        let counted = self.found == Some(step.depth);
        let depth = step.depth;
        if step.held {
            self.low = depth;
        } else {
            self.high = depth;
            self.low = if self.low < depth { self.low } else { 0 };
        }
        if counted && step.held {
            self.now = Self::window(depth, now);
            self.record.depth = self.found;
            return if self.target.goes_on { Step::Next } else { Step::Ends };
        }
        self.found = (self.high - self.low <= 1).then_some(self.low);
        let next = match self.found {
            Some(0) => {
                // Not even one at a time. Who goes on tries again from there.
                (self.record.depth, self.high) = (Some(0), self.most.saturating_add(1));
                self.found = None;
                if !self.target.goes_on {
                    return Step::Ends;
                }
                1
            }
            Some(found) => found,
            None if self.high > self.most => self.low.saturating_mul(2).min(self.most),
            None => self.low + (self.high - self.low) / 2,
        };
        self.now = Self::window(next, now);
        if self.found.is_some() { Step::Counts } else { Step::Next }
    }

    pub fn into_record(self) -> model::DepthSearch {
        self.record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Ns = 1_000_000;

    /// The depths that are tried, and what is found, where `late` of 1,000 operations are late at a depth in a window.
    fn search(most: u32, percent_milli: u32, late: impl Fn(u32, usize) -> u64) -> (Vec<u32>, Option<u32>) {
        let target = LatencyTarget { latency_ns: MS, window_ns: 10 * MS, percent_milli, goes_on: false };
        let mut search = DepthSearch::new(target, most, MS, 0);
        let mut depths = Vec::new();
        let mut counts = false;
        for window in 1..100 {
            let now = window as u64 * 10 * MS;
            let depth = search.depth();
            depths.push(depth);
            assert!(!search.is_over(now - 1) && search.is_over(now));
            if let Some(before) = (now - 10 * MS).checked_sub(1) {
                // Of the depth before.
                search.on_completion(before, 100 * MS);
            }
            let late = late(depth, window);
            (0..1000).for_each(|i| search.on_completion(now - MS, if i < late { 2 * MS } else { MS }));
            match search.judge(now, 0) {
                Step::Ends => {
                    let record = search.into_record();
                    assert_eq!(record.steps.len(), window);
                    assert!(record.depth == Some(0) || counts, "what was found is held for a window");
                    return (depths, record.depth);
                }
                step => counts = step == Step::Counts,
            }
        }
        panic!("{depths:?}")
    }

    #[test]
    fn the_greatest_depth_that_holds_is_found() {
        let up_to = |limit: u32| move |depth, _| u64::from(depth > limit) * 1000;
        assert_eq!(search(128, 100_000, up_to(21)), (vec![1, 2, 4, 8, 16, 32, 24, 20, 22, 21, 21], Some(21)));
        assert_eq!(search(100, 100_000, up_to(1000)), (vec![1, 2, 4, 8, 16, 32, 64, 100, 100], Some(100)));
        assert_eq!(search(1, 100_000, up_to(1)), (vec![1, 1], Some(1)));
        assert_eq!(search(128, 100_000, up_to(0)), (vec![1], Some(0)));
        for limit in 1..64 {
            assert_eq!(search(64, 99_000, up_to(limit)).1, Some(limit));
        }
    }

    #[test]
    fn a_share_may_be_late() {
        let of_a_thousand = |depth: u32, _| u64::from(depth);
        assert_eq!(search(64, 99_000, of_a_thousand).1, Some(10));
        assert_eq!(search(64, 99_900, of_a_thousand).1, Some(1));
        assert_eq!(search(64, 100_000, of_a_thousand).1, Some(0));
    }

    #[test]
    fn what_does_not_hold_for_another_window_was_not_found() {
        // From the ninth window on less does: found at 8 before, the search goes on below.
        let (depths, found) = search(8, 100_000, |depth, window| u64::from(depth > if window < 5 { 8 } else { 3 }));
        assert_eq!((depths, found), (vec![1, 2, 4, 8, 8, 4, 2, 3, 3], Some(3)));
    }

    #[test]
    fn a_device_that_stands_still_is_late() {
        let target = LatencyTarget { latency_ns: MS, window_ns: 10 * MS, ..LatencyTarget::default() };
        let mut search = DepthSearch::new(target, 8, MS, 0);
        assert_eq!(search.judge(10 * MS, 0), Step::Next, "nothing tells yet");
        assert!(search.is_overdue(0, 0, 2 * MS) && !search.is_overdue(0, 0, MS));
        assert_eq!((search.judge(20 * MS, 1), search.into_record().depth), (Step::Ends, Some(0)));
    }

    #[test]
    fn one_that_goes_on_keeps_the_depth_and_looks_for_another_when_it_does_not_hold() {
        let target = LatencyTarget { latency_ns: MS, window_ns: 10 * MS, goes_on: true, ..LatencyTarget::default() };
        let mut search = DepthSearch::new(target, 64, MS, 0);
        let mut at = |now: u64, limit: u32| {
            let depth = search.depth();
            search.on_completion(now * 10 * MS - 1, if depth > limit { 2 * MS } else { MS });
            search.judge(now * 10 * MS, 0);
            depth
        };
        let depths: Vec<u32> = (1..30).map(|now| at(now, if now < 15 { 5 } else { 2 })).collect();
        assert_eq!(depths[..14], [1, 2, 4, 8, 6, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
        assert_eq!((depths[20], depths[28], search.into_record().depth), (2, 2, Some(2)));
    }
}
