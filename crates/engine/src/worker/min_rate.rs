//! The least rate of a stream.

use crate::recorder::Tally;
use model::{NS_PER_S, Ns, Rate};

/// What the stream had done when the second began that is looked at.
#[derive(Debug)]
pub(super) struct MinRate {
    rate: Rate,
    since: Ns,
    done: u64,
}

impl MinRate {
    /// Looked at from `start` on.
    pub fn new(rate: Rate, start: Ns) -> Self {
        Self { rate, since: start, done: 0 }
    }

    /// Whether a second or more has ended in which the stream did less than it has to.
    pub fn is_below(&mut self, now: Ns, all: Tally) -> bool {
        let (done, least) = match self.rate {
            Rate::BytesPerS(least) => (all.bytes, least),
            Rate::OperationsPerS(least) => (all.operations, least),
        };
        let length = now.saturating_sub(self.since);
        if length < NS_PER_S {
            return false;
        }
        let below = u128::from(done - self.done) * u128::from(NS_PER_S) < u128::from(least) * u128::from(length);
        (self.since, self.done) = (now, done);
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_is_looked_at_from_the_start_on() {
        let tally = |bytes| Tally { operations: bytes / 10, bytes, ..Tally::default() };
        let s = |tenths: u64| tenths * NS_PER_S / 10;
        let mut min_rate = MinRate::new(Rate::BytesPerS(100), s(5));
        assert!(!min_rate.is_below(s(10), tally(0)) && !min_rate.is_below(s(15), tally(100)));
        assert!(!min_rate.is_below(s(20), tally(100)) && min_rate.is_below(s(25), tally(199)));
        let mut min_rate = MinRate::new(Rate::OperationsPerS(10), 0);
        // Two seconds in one look need twice as many.
        assert!(!min_rate.is_below(s(10), tally(100)) && min_rate.is_below(s(30), tally(290)));
    }
}
