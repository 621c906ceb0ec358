//! The monotonic clock, counted from the start of a run.

use rustix::time::{ClockId, clock_gettime};

/// A moment of CLOCK_MONOTONIC from which everything of a run is counted. All devices of a run share one, so that their
/// times can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    base_ns: u64,
}

/// CLOCK_MONOTONIC in nanoseconds. Never fails on Linux (clock_gettime(2): the clock always exists); read through the
/// vDSO where the kernel offers one.
#[inline]
pub fn monotonic_ns() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    // Monotonic time since boot is never negative, and 2^64 ns are 584 years.
    (t.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(t.tv_nsec as u64)
}

impl Epoch {
    /// Starts counting now.
    pub fn start() -> Self {
        Self { base_ns: monotonic_ns() }
    }

    /// Nanoseconds since the epoch.
    #[inline]
    pub fn elapsed_ns(&self) -> u64 {
        monotonic_ns().wrapping_sub(self.base_ns)
    }

    /// Sleeps until the clock shows `until_ns`; returns early on a signal.
    pub fn sleep_until(&self, until_ns: u64) {
        let now = self.elapsed_ns();
        if until_ns <= now {
            return;
        }
        let left = until_ns - now;
        let wait = rustix::time::Timespec {
            // Longer than the type of the seconds can say is for ever in any case.
            tv_sec: (left / 1_000_000_000).min(i32::MAX as u64) as _,
            tv_nsec: (left % 1_000_000_000) as _,
        };
        // A signal that ends the sleep early is what the caller wants to hear of: it looks at its stop flag.
        let _ = rustix::thread::nanosleep(&wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_runs_forward_and_sleeps_long_enough() {
        let epoch = Epoch::start();
        let a = epoch.elapsed_ns();
        epoch.sleep_until(a + 2_000_000);
        assert!(epoch.elapsed_ns() >= a + 2_000_000);
        epoch.sleep_until(0);
    }
}
