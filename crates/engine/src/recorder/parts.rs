//! What was done before the warm-up cut and after it, of a stream or of one of its directions.

use model::{Direction, DirectionSummary, Histogram, Interval, Ns};

/// Latencies and bytes on both sides of the cut.
#[derive(Debug, Default)]
pub(super) struct Parts {
    warm: Histogram,
    counted: Histogram,
    bytes: u64,
    warm_bytes: u64,
}

impl Parts {
    pub fn new() -> Self {
        Self { warm: Histogram::new(), counted: Histogram::new(), ..Self::default() }
    }

    /// Counts bytes; `warm`: before the cut. Where their latencies go.
    #[inline]
    pub fn add(&mut self, bytes: u64, warm: bool) -> &mut Histogram {
        self.bytes += bytes;
        if warm {
            self.warm_bytes += bytes;
            return &mut self.warm;
        }
        &mut self.counted
    }

    /// All so far was before the cut.
    pub fn restart(&mut self) {
        self.warm.merge(&self.counted);
        self.counted.clear();
        self.warm_bytes = self.bytes;
    }

    pub fn operations(&self) -> u64 {
        self.warm.count() + self.counted.count()
    }

    pub fn counted_operations(&self) -> u64 {
        self.counted.count()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn latency_sum_ns(&self) -> u128 {
        self.warm.sum_ns() + self.counted.sum_ns()
    }

    /// `uncut`: the phase ended before the cut, and nothing is left out.
    pub fn finish(self, direction: Direction, uncut: bool) -> DirectionSummary {
        let operations = self.operations();
        let (latency, left_out) = if uncut { (self.warm, 0) } else { (self.counted, self.warm_bytes) };
        DirectionSummary {
            direction,
            operations,
            bytes: self.bytes,
            counted_operations: latency.count(),
            counted_bytes: self.bytes - left_out,
            latency,
        }
    }
}

/// An interval that has ended.
pub(super) fn interval(start_ns: Ns, length_ns: Ns, latencies: &Histogram, bytes: u64) -> Interval {
    Interval {
        start_ns,
        length_ns,
        operations: latencies.count(),
        bytes,
        latency_ns_p50: latencies.quantile(0.5),
        latency_ns_p99: latencies.quantile(0.99),
        latency_ns_max: latencies.max(),
    }
}
