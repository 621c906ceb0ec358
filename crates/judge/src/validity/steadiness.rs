//! Whether the phase was steady, and what of it counts therefore.

use super::{RuleInput, Validity};
use model::{Reason, SteadyRecord};

/// Whether the phase was steady: by its rounds where it goes by rounds, else by five parts of its series (SNIA PTS);
/// `None` where it cannot be told.
pub(crate) fn steady(case: RuleInput<'_>) -> Option<bool> {
    match &case.record.steady {
        Some(rounds) => Some(rounds.reached),
        // Its pauses are meant, or what it does is one thing after the other.
        None if case.plan.has_bursts() || case.plan.is_replay() => None,
        None => case.rate.and_then(|r| r.steadiness).map(|s| s.is_steady()),
    }
}

pub(super) fn steadiness_remark(case: RuleInput<'_>, out: &mut Validity) {
    let count = |n: usize| n as u64;
    let percent = |ratio: Option<f64>| ratio.map(|r| r * 100.0);
    out.remarks.push(match (&case.record.steady, steady(case)) {
        (Some(SteadyRecord { rounds, window_rounds, .. }), Some(true)) => {
            Reason::SteadyWindow { rounds: count(rounds.len()), window_rounds: u64::from(*window_rounds) }
        }
        (Some(steady), _) => Reason::NotSteady {
            rounds: Some(count(steady.rounds.len())),
            window_rounds: u64::from(steady.window_rounds),
            range_percent: percent(steady.range_ratio),
            slope_percent: percent(steady.slope_ratio),
        },
        (None, Some(false)) => {
            Reason::NotSteady { rounds: None, window_rounds: 5, range_percent: None, slope_percent: None }
        }
        (None, _) => return,
    });
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use model::{NS_PER_S, SteadyRecord, SteadyRound};

    /// Ten rounds of 0.4 s: 2,000 operations a second in the first five, 1,000 in the last five.
    fn falling(reached: bool) -> Fixture {
        let mut f = Fixture::random_read();
        for i in &mut f.record.intervals[..20] {
            (i.operations, i.bytes) = (200, 200 * 4096);
        }
        f.record.operations += 2_000;
        f.record.bytes += 2_000 * 4096;
        let rounds: Vec<SteadyRound> = f
            .record
            .intervals
            .chunks(4)
            .map(|c| SteadyRound {
                start_ns: c[0].start_ns,
                length_ns: NS_PER_S / 10 * 4,
                operations: c.iter().map(|i| i.operations).sum(),
                bytes: c.iter().map(|i| i.bytes).sum(),
                latency_ns_mean: None,
            })
            .collect();
        f.record.steady = Some(SteadyRecord {
            reached,
            window_rounds: 5,
            range_ratio: Some(if reached { 0.0 } else { 0.31 }),
            slope_ratio: Some(0.04),
            rounds,
        });
        f
    }

    #[test]
    fn with_steady_state_the_last_window_is_the_rate() {
        let judged = falling(true).judge();
        let value = |id: &str| judged.metrics.iter().find(|m| m.id.ends_with(id)).unwrap().clone();
        assert_eq!((value("iops").value, value("iops").n), (Some(1_000.0), 2_000));
        assert_eq!(value("throughput_bytes_per_s").value, Some(4_096_000.0));
        let (low, high) = (value("iops").low.unwrap(), value("iops").high.unwrap());
        assert!(low > 999.0 && high < 1_001.0, "{low} {high}");
        assert_eq!(value("latency_ns_p99").n, falling(true).record.latency.count());
        assert_eq!(judged.steady, Some(true));
        assert!(
            judged.reasons[0]
                .to_string()
                .starts_with("steady-window: steady after 10 rounds; rates are those of the last 5")
        );
    }

    #[test]
    fn without_it_the_numbers_are_kept_with_the_reason() {
        let judged = falling(false).judge();
        let iops = judged.metrics.iter().find(|m| m.id.ends_with(".iops")).unwrap();
        assert_eq!(iops.value, Some(1_500.0));
        assert_eq!(judged.steady, Some(false));
        assert!(judged.reasons[0].is("not-steady") && judged.reasons[0].to_string().contains("31 %"));
        let mut f = falling(false);
        let steady = f.record.steady.as_mut().unwrap();
        steady.rounds.truncate(3);
        (steady.range_ratio, steady.slope_ratio) = (None, None);
        assert!(f.judge().reasons[0].to_string().contains("3 rounds were done, 5 are compared"));
    }
}
