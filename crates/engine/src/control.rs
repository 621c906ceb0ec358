//! What the outside may say to a running phase, and what it may see of it.

use crate::{SampleFeed, SeriesFeed};
use model::Ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the loop and whoever shows progress or ends the phase. Relaxed atomics only: no lock in the loop.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    /// Progress of the phase that runs now.
    pub progress: Progress,
    /// Its intervals as they end, where somebody wants them.
    pub series: SeriesFeed,
    /// The samples of a simulated machine, where somebody wants them.
    pub samples: SampleFeed,
}

/// Counters of the phase that runs now; the loop stores them once an interval.
#[derive(Debug, Default)]
pub struct Progress {
    /// Operations completed.
    pub operations: AtomicU64,
    /// Bytes transferred.
    pub bytes: AtomicU64,
    /// Time since the phase's start, by the device's clock, nanoseconds.
    pub elapsed_ns: AtomicU64,
    /// Sum of the latencies of the operations of the last interval, over all workers, nanoseconds.
    latency_sum_ns: AtomicU64,
    /// Operations of the last interval, over all workers.
    latency_operations: AtomicU64,
    in_flight: AtomicU64,
}

/// What one worker adds to the figures of the last interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    pub operations: u64,
    pub latency_sum_ns: u64,
    pub in_flight: u64,
}

impl Progress {
    /// Mean latency of the operations that completed in the last interval, from their intended start, over all workers,
    /// nanoseconds; `None` while none has.
    pub fn latency_ns(&self) -> Option<Ns> {
        self.latency_sum_ns.load(Ordering::Relaxed).checked_div(self.latency_operations.load(Ordering::Relaxed))
    }

    /// Operations in flight at the end of the last interval, over all workers: a snapshot, not a mean.
    pub fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// A phase begins: what is shown of the one before is taken away.
    pub(crate) fn begin(&self) {
        let Self { operations, bytes, elapsed_ns, latency_sum_ns, latency_operations, in_flight } = self;
        for shown in [operations, bytes, elapsed_ns, latency_sum_ns, latency_operations, in_flight] {
            shown.store(0, Ordering::Relaxed);
        }
    }

    /// How far all workers of the phase are together.
    pub(crate) fn advance(&self, operations: u64, bytes: u64, elapsed_ns: Ns) {
        self.operations.store(operations, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.elapsed_ns.store(elapsed_ns, Ordering::Relaxed);
    }

    /// A worker's interval has ended: what it added before, `old`, makes place for `new`.
    pub(crate) fn replace(&self, old: Recent, new: Recent) {
        // Sums wrap, and come out right: what is taken away was added before.
        let change = |sum: &AtomicU64, old: u64, new: u64| {
            sum.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
        };
        change(&self.latency_sum_ns, old.latency_sum_ns, new.latency_sum_ns);
        change(&self.latency_operations, old.operations, new.operations);
        change(&self.in_flight, old.in_flight, new.in_flight);
    }
}

impl Control {
    /// Asks the phase to end; operations in flight are still reaped.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The flag itself, for signal handlers.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Whether the end was asked for.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_and_depth_are_of_all_workers() {
        let progress = Progress::default();
        assert_eq!((progress.latency_ns(), progress.in_flight()), (None, 0));
        let slow = Recent { operations: 10, latency_sum_ns: 10_000, in_flight: 4 };
        let fast = Recent { operations: 90, latency_sum_ns: 9_000, in_flight: 1 };
        progress.replace(Recent::default(), slow);
        progress.replace(Recent::default(), fast);
        assert_eq!((progress.latency_ns(), progress.in_flight()), (Some(190), 5));
        // The slow one ends.
        progress.replace(slow, Recent::default());
        assert_eq!((progress.latency_ns(), progress.in_flight()), (Some(100), 1));
        progress.begin();
        assert_eq!(progress.latency_ns(), None);
    }
}
