//! Steady state by rounds, as SNIA's Solid State Storage Performance Test Specification has it (2.0.2, section 2.1.24):
//! over a window of rounds, the range of their means and the rise of a line through them stay within shares of their
//! average. Rounds are times, or on slow cards amounts of data, so that each is the same work.

use crate::recorder::Tally;
use model::{Ns, SteadyRecord, SteadyRound, SteadyState, StopCause, StopRule};

/// Looks at each round when it has ended.
#[derive(Debug, Default)]
pub(super) struct RoundsWatch {
    rule: SteadyState,
    window: usize,
    most: usize,
    rounds: Vec<SteadyRound>,
    /// Where the current round began.
    start_ns: Option<Ns>,
    before: Tally,
    reached: bool,
    last: Option<stats::Steadiness>,
    values: Vec<f64>,
}

/// Rounds that are kept at most; a plan for more is no plan.
const MAX_ROUNDS: u32 = 4096;

impl RoundsWatch {
    /// `None` for other rules.
    pub fn of(stop: &StopRule) -> Option<Self> {
        let StopRule::SteadyRounds(rule) = *stop else { return None };
        let most = rule.most_rounds.clamp(1, MAX_ROUNDS) as usize;
        let window = (rule.window_rounds.max(2) as usize).min(most);
        let (rounds, values) = (Vec::with_capacity(most), Vec::with_capacity(window));
        Some(Self { rule, window, most, rounds, values, ..Self::default() })
    }

    /// With `all` done by `now`: whether the phase ends, and why. Allocates nothing.
    pub fn look(&mut self, now: Ns, started: Ns, all: Tally) -> Option<StopCause> {
        let start_ns = *self.start_ns.get_or_insert(started);
        let length_ns = now.saturating_sub(start_ns);
        let Tally { operations, bytes, latency_sum_ns } = all.since(self.before);
        // Where both are given, a round ends when both are reached: it has the amount and is long enough to tell.
        let least = (self.rule.round_ns.unwrap_or(0).max(1), self.rule.round_bytes.unwrap_or(0));
        if self.rounds.len() == self.most || length_ns < least.0 || bytes < least.1 {
            return None;
        }
        let latency_ns_mean = latency_sum_ns.checked_div(operations).filter(|_| self.rule.by_latency);
        self.rounds.push(SteadyRound { start_ns, length_ns, operations, bytes, latency_ns_mean });
        (self.start_ns, self.before) = (Some(now), all);
        self.judge();
        if self.reached {
            Some(StopCause::Steady)
        } else {
            (self.rounds.len() == self.most).then_some(StopCause::TimeUsed)
        }
    }

    fn judge(&mut self) {
        let Some(first) = self.rounds.len().checked_sub(self.window) else { return };
        let window = &self.rounds[first..];
        // Operations where nothing is transferred; with one block size both are the same but for a factor.
        let by_bytes = window.iter().any(|r| r.bytes > 0);
        let rate = |r: &SteadyRound| (if by_bytes { r.bytes } else { r.operations }) as f64 / r.length_ns as f64;
        let by_latency = self.rule.by_latency;
        let value = |r: &SteadyRound| if by_latency { r.latency_ns_mean.map(|ns| ns as f64) } else { Some(rate(r)) };
        self.values.clear();
        self.values.extend(window.iter().filter_map(value));
        // A round without an operation has no latency, and no window with it is steady.
        if self.values.len() < self.window {
            return;
        }
        let Some(seen) = stats::window_steadiness(&self.values) else { return };
        self.last = Some(seen);
        let within = |ratio, permille| ratio <= f64::from(permille) / 1000.0;
        self.reached =
            within(seen.range_ratio, self.rule.range_permille) && within(seen.slope_ratio, self.rule.slope_permille);
    }

    pub fn record(&self) -> SteadyRecord {
        SteadyRecord {
            reached: self.reached,
            window_rounds: self.window as u32,
            range_ratio: self.last.map(|s| s.range_ratio),
            slope_ratio: self.last.map(|s| s.slope_ratio),
            rounds: self.rounds.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Ns = 1_000_000_000;

    fn rule(round_ns: Option<Ns>, round_bytes: Option<u64>) -> StopRule {
        StopRule::SteadyRounds(SteadyState { round_ns, round_bytes, ..SteadyState::default() })
    }

    /// Rounds until it ends, with intervals of a tenth of a second and this many bytes in the interval `i`.
    fn ends(rule: StopRule, bytes: impl Fn(u64) -> u64) -> (usize, Option<StopCause>, SteadyRecord) {
        ends_with(rule, bytes, |operations, _| operations)
    }

    /// The same, with the sum of all latencies after so many operations and intervals.
    fn ends_with(
        rule: StopRule,
        bytes: impl Fn(u64) -> u64,
        latency: impl Fn(u64, u64) -> u64,
    ) -> (usize, Option<StopCause>, SteadyRecord) {
        let mut watch = RoundsWatch::of(&rule).unwrap();
        let mut sum = 0;
        for i in 0..100_000 {
            sum += bytes(i);
            let all = Tally { operations: sum / 10, bytes: sum, latency_sum_ns: latency(sum / 10, i) };
            if let Some(cause) = watch.look(7 + (i + 1) * S / 10, 7, all) {
                return (watch.rounds.len(), Some(cause), watch.record());
            }
        }
        (watch.rounds.len(), None, watch.record())
    }

    #[test]
    fn a_constant_rate_is_steady_after_the_window() {
        let (rounds, cause, record) = ends(rule(Some(S), None), |_| 1000);
        assert_eq!((rounds, cause, record.reached), (5, Some(StopCause::Steady), true));
        assert_eq!(
            record.rounds[4],
            SteadyRound { start_ns: 7 + 4 * S, length_ns: S, operations: 1000, bytes: 10_000, latency_ns_mean: None }
        );
    }

    #[test]
    fn latencies_are_looked_at_where_they_are_what_must_be_steady() {
        let mut rule = rule(Some(S), None);
        let StopRule::SteadyRounds(steady) = &mut rule else { unreachable!() };
        steady.by_latency = true;
        // The rate falls by far; the latency of each operation is 700 ns throughout.
        let (rounds, cause, record) = ends_with(rule, |i| 1000 - 4 * i, |operations, _| operations * 700);
        assert_eq!((rounds, cause), (5, Some(StopCause::Steady)));
        assert_eq!(record.rounds[4].latency_ns_mean, Some(700));
        // A constant rate whose latency rises.
        let (rounds, cause, _) = ends_with(rule, |_| 1000, |operations, i| operations * (700 + 20 * i));
        assert_eq!((rounds, cause), (25, Some(StopCause::TimeUsed)));
    }

    #[test]
    fn a_cache_that_runs_out_is_waited_for() {
        // Full speed for two rounds and a half, a third of it afterwards: the last five are all slow after eight.
        let (rounds, cause, record) = ends(rule(Some(S), None), |i| if i < 25 { 3000 } else { 1000 });
        assert_eq!((rounds, cause), (8, Some(StopCause::Steady)));
        assert!(record.range_ratio.unwrap() < 0.01);
    }

    #[test]
    fn a_drift_is_given_up_and_said() {
        let (rounds, cause, record) = ends(rule(Some(S), None), |i| 1000 + 20 * i);
        assert_eq!((rounds, cause, record.reached), (25, Some(StopCause::TimeUsed), false));
        assert!(record.slope_ratio.unwrap() > 0.10);
    }

    #[test]
    fn rounds_of_bytes_are_as_long_as_the_card_is_slow() {
        let (rounds, cause, record) = ends(rule(None, Some(50_000)), |_| 1000);
        assert_eq!((rounds, cause), (5, Some(StopCause::Steady)));
        assert!(record.rounds.iter().all(|r| r.length_ns == 5 * S && r.bytes == 50_000));
    }
}
