//! Starting what is paced when it is due, although a thread that sleeps wakes late.
//!
//! A processor that idles takes some microseconds to some tens of them to come back, a virtual one longer: all operations
//! of a paced stream would be late by as much, and their latencies, which count from the intended start, would tell of our
//! waking instead of the device. So the wait ends earlier by what the waits before ended late, and the rest, which is the
//! spread of that only, is computed away. It costs some microseconds of CPU an operation; sleeping costs the same in lateness.

use model::Ns;

/// Never more than this is computed away: on a machine that wakes later than that, what is late is told as late.
const MAX_NS: Ns = 200_000;
/// Waits over which the lateness is averaged.
const MEMORY: Ns = 8;

/// How late the worker's thread wakes from a sleep, as measured so far.
#[derive(Debug, Default)]
pub(super) struct WakeLatency {
    late_ns: Ns,
}

impl WakeLatency {
    /// Until when to sleep for something that is due at `wake`; `None`: it is so near that it is awaited awake.
    #[inline]
    pub fn sleep_until(&self, now: Ns, wake: Ns) -> Option<Ns> {
        let at = wake.saturating_sub(self.late_ns);
        (self.late_ns == 0 || at > now).then_some(at)
    }

    /// A sleep until `meant` has ended `at`. A simulated clock is never late, so that nothing is computed there.
    #[inline]
    pub fn record_wake(&mut self, meant: Ns, at: Ns) {
        let late = at.saturating_sub(meant).min(MAX_NS);
        self.late_ns = (self.late_ns * (MEMORY - 1) + late) / MEMORY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_learns_how_late_it_wakes_within_bounds() {
        let mut wake_latency = WakeLatency::default();
        assert_eq!(wake_latency.sleep_until(0, 100_000), Some(100_000));
        (0..100).for_each(|_| wake_latency.record_wake(1_000, 31_000));
        let at = wake_latency.sleep_until(0, 100_000).unwrap();
        assert!((70_000..71_000).contains(&at), "{at}");
        assert_eq!(wake_latency.sleep_until(75_000, 100_000), None);
        (0..100).for_each(|_| wake_latency.record_wake(0, 1_000_000_000));
        assert!(wake_latency.sleep_until(0, 100_000_000).unwrap() >= 99_800_000);
        (0..100).for_each(|_| wake_latency.record_wake(500, 500));
        assert_eq!(wake_latency.sleep_until(99_999, 100_000), Some(100_000));
    }
}
