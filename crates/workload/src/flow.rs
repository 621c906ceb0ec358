//! Streams that keep their shares of what they do together: operations in proportion to weights.

use model::{Flow, Ns};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A wait that is asked for without a length: short beside any operation of a disk.
const MIN_WAIT_NS: Ns = 20_000;

/// What the streams of one flow know of each other: the weights of those that run, and what those have done.
#[derive(Debug, Default)]
pub struct FlowTotal {
    weights: AtomicU64,
    operations: AtomicU64,
}

/// A stream's part. When it ends it takes its weight and its operations with it, so that the others go on among themselves.
#[derive(Debug)]
pub(crate) struct FlowShare {
    total: Arc<FlowTotal>,
    weight: u64,
    wait_ns: Ns,
    own: u64,
}

impl FlowShare {
    /// Takes part from now on.
    pub fn new(flow: Flow, total: Arc<FlowTotal>) -> Self {
        let weight = u64::from(flow.weight.max(1));
        total.weights.fetch_add(weight, Ordering::Relaxed);
        Self { total, weight, wait_ns: flow.sleep_ns.max(MIN_WAIT_NS), own: 0 }
    }

    /// Until when it waits, where it is ahead of its share by more than one round of all weights.
    pub fn must_wait(&self, now: Ns) -> Option<Ns> {
        let weights = self.total.weights.load(Ordering::Relaxed);
        let all = u128::from(self.total.operations.load(Ordering::Relaxed)) + u128::from(weights);
        (u128::from(self.own) * u128::from(weights) >= all * u128::from(self.weight)).then(|| now + self.wait_ns)
    }

    /// An operation was given out.
    pub fn record(&mut self) {
        self.own += 1;
        self.total.operations.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for FlowShare {
    fn drop(&mut self) {
        self.total.weights.fetch_sub(self.weight, Ordering::Relaxed);
        self.total.operations.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_keep_to_the_weights_and_who_is_left_goes_on() {
        let total = Arc::new(FlowTotal::default());
        let share = |weight| FlowShare::new(Flow { id: 0, weight, sleep_ns: 0 }, Arc::clone(&total));
        let (mut one, mut eight) = (share(1), share(8));
        let mut done = [0u32; 2];
        for _ in 0..9_000 {
            for (share, done) in [&mut one, &mut eight].into_iter().zip(&mut done) {
                if share.must_wait(5).is_none() {
                    share.record();
                    *done += 1;
                }
            }
        }
        assert!(done[1] / 8 <= done[0] + 1 && done[0] <= done[1] / 8 + 2, "{done:?}");
        while one.must_wait(5).is_none() {
            one.record();
        }
        assert_eq!(one.must_wait(5), Some(5 + MIN_WAIT_NS));
        drop(eight);
        assert_eq!(one.must_wait(5), None);
    }
}
