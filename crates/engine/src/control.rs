//! What the outside may say to a running phase, and what it may see of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the loop and whoever shows progress or ends the phase. Relaxed atomics only: no lock in the loop.
#[derive(Debug, Default)]
pub struct Control {
    stop: Arc<AtomicBool>,
    /// Progress of the phase that runs now.
    pub progress: Progress,
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
