//! The stations that a simulated command passes, each of which knows when it is free.
//!
//! Commands reach every station in the order of their submission, so the whole way of a command is computed when it is
//! submitted, exactly, without an event queue: a station with one server keeps one moment, a pool keeps one for each
//! server that is at work.

use model::{Ns, SimStalls};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One server, and how long it has been at work.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    total: Ns,
    run_start: Ns,
    /// End of the last work.
    pub(super) end: Ns,
}

impl Busy {
    /// Adds work from `start` to `end`; what overlaps earlier work counts once. Starts never go backwards.
    pub(super) fn add(&mut self, start: Ns, end: Ns) {
        if start > self.end {
            self.run_start = start;
        }
        let from = start.max(self.end);
        if end > from {
            self.total += end - from;
            self.end = end;
        }
    }

    /// All work, that which lies ahead included.
    pub(super) fn spent(&self) -> Ns {
        self.total
    }

    /// Work done until `now`: all of it without the part of the last unbroken stretch that lies ahead.
    pub(super) fn until(&self, now: Ns) -> Ns {
        self.total - self.end.saturating_sub(now.max(self.run_start))
    }
}

/// Equal servers that take the next command as soon as one is free.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    limit: usize,
    /// There are never more commands than servers: nothing waits, and nothing need be remembered.
    ample: bool,
    free_at: BinaryHeap<Reverse<Ns>>,
}

impl Pool {
    pub(super) fn new(limit: u32) -> Self {
        let limit = limit as usize;
        Self { limit, ample: false, free_at: BinaryHeap::with_capacity(limit.min(2_048) + 1) }
    }

    /// Says how many commands there are at most from now on, with none under way; `None`: unknown.
    pub(super) fn expect(&mut self, commands: Option<u32>) {
        self.ample = commands.is_some_and(|c| c as usize <= self.limit);
    }

    /// When a command that is there at `at` can begin. Must be followed by [`Pool::give_back`].
    #[inline]
    pub(super) fn take(&mut self, at: Ns) -> Ns {
        if self.ample {
            return at;
        }
        // Servers that are free by then need not be remembered.
        while self.free_at.peek().is_some_and(|f| f.0 <= at) {
            self.free_at.pop();
        }
        if self.free_at.len() < self.limit {
            return at;
        }
        self.free_at.pop().map_or(at, |f| f.0)
    }

    /// Says when the server that was taken is free again.
    #[inline]
    pub(super) fn give_back(&mut self, at: Ns) {
        if !self.ample {
            self.free_at.push(Reverse(at));
        }
    }
}

/// When work of `work` nanoseconds that begins at `start` ends on a device that stands still at regular times.
#[inline]
pub(super) fn after_stalls(stalls: Option<SimStalls>, start: Ns, work: Ns) -> Ns {
    let Some(SimStalls { period_ns: period, duration_ns: duration }) = stalls else { return start + work };
    let working = period - duration;
    // Before the first stall the device works without a break.
    let (mut now, mut left) = (start, work);
    if now < period {
        if left <= period - now {
            return now + left;
        }
        left -= period - now;
        now = period;
    }
    // From here on each period begins with its stall. Work that ends as the next stall begins is done.
    let into = (now % period).max(duration) - duration;
    let begun = now / period * period;
    let done = into + left;
    let whole = done.saturating_sub(1) / working;
    begun + whole * period + duration + (done - whole * working)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_counts_overlaps_once_and_knows_the_past() {
        let mut busy = Busy::default();
        busy.add(10, 20);
        busy.add(15, 30);
        busy.add(50, 60);
        assert_eq!(busy.until(100), 30);
        assert_eq!(busy.until(55), 25);
        assert_eq!(busy.until(40), 20);
    }

    #[test]
    fn a_pool_serves_in_order_as_servers_become_free() {
        let mut pool = Pool::new(2);
        let mut serve = |at, time| {
            let start = pool.take(at);
            pool.give_back(start + time);
            start
        };
        assert_eq!(serve(0, 10), 0);
        assert_eq!(serve(0, 30), 0);
        assert_eq!(serve(0, 10), 10);
        assert_eq!(serve(0, 10), 20);
        assert_eq!(serve(100, 10), 100);
    }

    #[test]
    fn work_waits_for_stalls() {
        let stalls = Some(SimStalls { period_ns: 100, duration_ns: 30 });
        assert_eq!(after_stalls(stalls, 0, 100), 100);
        assert_eq!(after_stalls(stalls, 0, 101), 131);
        assert_eq!(after_stalls(stalls, 110, 5), 135);
        assert_eq!(after_stalls(stalls, 95, 75), 200);
        assert_eq!(after_stalls(None, 95, 75), 170);
        assert_eq!(after_stalls(stalls, 150, 50), 200);
        assert_eq!(after_stalls(stalls, 150, 51), 231);
        assert_eq!(after_stalls(stalls, 99, 1 + 70 * 1_000_000), 100 + 100_000_000);
        assert_eq!(after_stalls(stalls, 100, 0), 130);
    }
}
