//! When operations are to start: the arrivals of an open loop.
//!
//! Intended starts follow from the rate alone, whatever became of earlier operations, and none is ever left out: a stream
//! that was held up by the device starts what it owes at once until it has caught up, and each of those operations'
//! latency counts from its own intended start. So a stall of a second shows as a second of waiting in everything that
//! should have been done meanwhile, as it would to users.

use crate::random::Random;
use model::{Arrivals, NS_PER_S, Ns, Rate};

/// The clock of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    rate: Rate,
    arrivals: Arrivals,
    start: Ns,
    /// Operations or bytes that have started, or are next to.
    before: u64,
    /// Poisson arrivals: when the next one is due, since the start, ns.
    drawn_ns: f64,
    /// When the next operation should start.
    pub due: Ns,
}

impl Pace {
    /// The first operation is due as soon as the clock is set.
    pub fn new(rate: Rate, arrivals: Arrivals) -> Self {
        Self { rate, arrivals, start: 0, before: 0, drawn_ns: 0.0, due: 0 }
    }

    /// Starts the clock of the direction.
    pub fn begin(&mut self, start: Ns) {
        self.start = start;
        self.due = start;
    }

    /// The next operation, of `bytes`, has been given out.
    pub fn record(&mut self, bytes: u32, random: &mut Random) {
        let (units, per_s) = match self.rate {
            Rate::BytesPerS(n) => (u64::from(bytes), n.max(1)),
            Rate::OperationsPerS(n) => (1, n.max(1)),
        };
        let since_start = match self.arrivals {
            Arrivals::Fixed => {
                // From the sum, not gap by gap: no rounding adds up over time.
                self.before = self.before.saturating_add(units);
                let ns = u128::from(self.before) * u128::from(NS_PER_S) / u128::from(per_s);
                u64::try_from(ns).unwrap_or(Ns::MAX)
            }
            Arrivals::Poisson => {
                self.drawn_ns += random.exponential() * units as f64 * NS_PER_S as f64 / per_s as f64;
                self.drawn_ns as Ns
            }
        };
        self.due = self.start.saturating_add(since_start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rate: Rate, arrivals: Arrivals, bytes: u32, count: usize) -> Vec<Ns> {
        let mut pace = Pace::new(rate, arrivals);
        let mut random = Random::new(1, 1);
        pace.begin(1_000);
        (0..count)
            .map(|_| {
                let due = pace.due;
                pace.record(bytes, &mut random);
                due - 1_000
            })
            .collect()
    }

    #[test]
    fn fixed_rates_are_exact_over_any_time() {
        // A period of 333,333.33 ns: after a million operations not one nanosecond has been lost.
        let starts = starts(Rate::OperationsPerS(3_000), Arrivals::Fixed, 1, 1_000_001);
        assert_eq!(starts[1_000_000], 1_000_000 * NS_PER_S / 3_000);
        assert_eq!(starts[..3], [0, 333_333, 666_666]);
        let starts = self::starts(Rate::BytesPerS(1 << 20), Arrivals::Fixed, 4096, 257);
        assert_eq!(starts[256], NS_PER_S);
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_an_exponential_spread() {
        let starts = starts(Rate::OperationsPerS(1_000), Arrivals::Poisson, 1, 100_001);
        let gaps: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.02, "{mean} {deviation}");
        // Memoryless: e^-2 of the gaps are longer than two means.
        let long = gaps.iter().filter(|g| **g > 2.0).count() as f64 / gaps.len() as f64;
        assert!((long - (-2.0f64).exp()).abs() < 0.005, "{long}");
    }
}
