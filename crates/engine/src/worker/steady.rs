//! When a phase that may stop before its limit has seen enough.

use crate::recorder::Recorder;
use model::{Ns, StopCause, StopRule};

/// The least that a steady phase has: 2 s, 1,000 operations, 20 batches (DESIGN, "Measuring truthfully").
const MIN_NS: Ns = 2_000_000_000;
const MIN_OPERATIONS: u64 = 1_000;
const BATCHES: usize = 20;
/// Batch means whose lag-1 correlation is beyond this are too alike for their spread to tell the error of the mean. With
/// 20 independent batches its standard deviation is about 0.22.
const MAX_LAG1: f64 = 0.3;

/// Looks at the series when it has doubled since the last look: looking after each interval would stop at the first lucky
/// one.
#[derive(Debug)]
pub(crate) struct Steadiness {
    rule: StopRule,
    next_look: usize,
    rates: Vec<f64>,
}

impl Steadiness {
    pub fn new(rule: &StopRule, recorder: &Recorder) -> Self {
        let looks = matches!(rule, StopRule::EarlyWhenSteady { .. });
        let rates = Vec::with_capacity(if looks { recorder.interval_capacity() } else { 0 });
        Self { rule: *rule, next_look: BATCHES, rates }
    }

    /// Why the phase ends, `elapsed` after its start, if it does. Called when an interval has ended; allocates nothing.
    pub fn ends(&mut self, recorder: &Recorder, elapsed: Ns) -> Option<StopCause> {
        match self.rule {
            StopRule::LeastOperations { time_ns, operations } => {
                (elapsed >= time_ns && recorder.counted_operations() >= operations).then_some(StopCause::TimeUsed)
            }
            StopRule::EarlyWhenSteady { half_width_ratio } => {
                self.is_known(recorder, half_width_ratio).then_some(StopCause::Steady)
            }
            _ => None,
        }
    }

    /// Whether the mean is known to within this ratio.
    fn is_known(&mut self, recorder: &Recorder, ratio: f64) -> bool {
        let intervals = recorder.counted_intervals();
        let time: Ns = intervals.iter().map(|i| i.length_ns).sum();
        if intervals.len() < self.next_look || time < MIN_NS || recorder.counted_operations() < MIN_OPERATIONS {
            return false;
        }
        self.next_look = intervals.len() * 2;
        self.rates.clear();
        self.rates.extend(intervals.iter().map(|i| i.operations as f64 / i.length_ns as f64));
        let Some(interval) = stats::batch_interval(&self.rates, BATCHES) else { return false };
        let Some(half_width) = interval.half_width_ratio() else { return false };
        // The correlation of a constant series is that of its rounding errors.
        let constant = half_width < 1e-9;
        half_width <= ratio && (constant || interval.lag1.abs() <= MAX_LAG1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Warmup;

    const MS: u64 = 1_000_000;

    /// The interval (counted from 1) after which it stops, if it does.
    fn stops_after(per_interval: impl Fn(u64) -> u64) -> Option<u64> {
        let mut recorder = Recorder::new(0, 60_000 * MS, 100 * MS, &Warmup { min_ns: 0, share: 0.0, max_ns: 0 });
        let mut steady = Steadiness::new(&StopRule::EarlyWhenSteady { half_width_ratio: 0.02 }, &recorder);
        for i in 0..200 {
            for _ in 0..per_interval(i) {
                recorder.record_transfer(i * 100 * MS + 1, i * 100 * MS, i * 100 * MS, 1, 1);
            }
            recorder.roll((i + 1) * 100 * MS);
            if steady.ends(&recorder, (i + 1) * 100 * MS).is_some() {
                return Some(i + 1);
            }
        }
        None
    }

    #[test]
    fn a_constant_rate_stops_at_two_seconds_and_not_before() {
        assert_eq!(stops_after(|_| 100), Some(20));
    }

    /// The interval (counted from 1) after which so many operations in each are enough: 20 in 2 s, half a second of ramp.
    fn enough_after(per_interval: impl Fn(u64) -> u64) -> Option<u64> {
        let warmup = Warmup { min_ns: 500 * MS, share: 0.0, max_ns: 500 * MS };
        let mut recorder = Recorder::new(0, 25_000 * MS, 100 * MS, &warmup);
        let rule = StopRule::LeastOperations { time_ns: 2_500 * MS, operations: 20 };
        let mut steady = Steadiness::new(&rule, &recorder);
        (0..250).find_map(|i| {
            for _ in 0..per_interval(i) {
                recorder.record_transfer(i * 100 * MS + 1, i * 100 * MS, i * 100 * MS, 1, 1);
            }
            recorder.roll((i + 1) * 100 * MS);
            let cause = steady.ends(&recorder, (i + 1) * 100 * MS)?;
            assert_eq!(cause, StopCause::TimeUsed);
            Some(i + 1)
        })
    }

    #[test]
    fn slow_operations_get_the_time_that_their_number_needs() {
        assert_eq!(enough_after(|_| 100), Some(25));
        // Every third interval has one: the twentieth after the ramp comes in the interval 63.
        assert_eq!(enough_after(|i| u64::from(i % 3 == 0)), Some(64));
        // What was done in the ramp is none of them.
        assert_eq!(enough_after(|i| if i < 5 { 100 } else { 0 }), None);
    }

    #[test]
    fn few_operations_go_on() {
        // 1,000 operations are there after 100 intervals of 10.
        assert_eq!(stops_after(|_| 10), Some(100));
        assert_eq!(stops_after(|_| 4), None);
    }

    #[test]
    fn a_drift_never_counts_as_steady_and_noise_is_looked_at_in_doublings() {
        assert_eq!(stops_after(|i| 100 + i * 10), None);
        // Wild for 3 s, then calm: the looks at 20 and 40 intervals fail, later ones are at 80 and 160.
        let late = stops_after(|i| if i < 30 { 50 + (i * 7919) % 100 } else { 100 });
        assert!(matches!(late, None | Some(80 | 160)), "{late:?}");
    }
}
