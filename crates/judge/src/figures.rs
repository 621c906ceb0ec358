//! Figures that a phase, a job and a direction have alike: latencies, stall, processor.

use crate::quantity::{CpuTime, QUANTILES, Quantity};
use crate::scope::Scope;
use model::{EngineKind, Histogram, Metric, MetricStatus, Reason, WorkerUsage};

/// Mean, percentiles and maximum of a histogram; a percentile needs operations that carry it.
pub(crate) fn of_latency(scope: &Scope, quantity: Quantity, latency: &Histogram) -> Metric {
    let count = latency.count();
    let value = match quantity {
        Quantity::Mean => latency.mean(),
        Quantity::Max => latency.max().map(|v| v as f64),
        _ => match QUANTILES.into_iter().find(|(which, ..)| *which == quantity) {
            Some((_, _, least)) if count < least => {
                return scope.skipped(quantity, Reason::TooFewOperations { operations: count, least });
            }
            Some((_, q, _)) => latency.quantile(q).map(|v| v as f64),
            None => None,
        },
    };
    let mut metric =
        value.map_or_else(|| scope.skipped(quantity, Reason::NoData {}), |v| scope.measured(quantity, v, count));
    let of_quantile = QUANTILES.into_iter().any(|(which, ..)| which == quantity);
    if let Some(share) = within_a_tick(latency).filter(|_| of_quantile && metric.value.is_some()) {
        metric.refuse(&[Reason::ClockTooCoarse { percent: share * 100.0 }]);
    }
    metric
}

/// Share of operations that took no time at all, where there are more than chance gives a clock that counts nanoseconds: a
/// clock of jiffies makes percentiles of whole jiffies. Its mean and its rates stay right.
fn within_a_tick(latency: &Histogram) -> Option<f64> {
    const CHANCE: f64 = 0.01;
    let none: u64 = latency.buckets().take_while(|b| b.high_ns == 0).map(|b| b.count).sum();
    let share = none as f64 / latency.count().max(1) as f64;
    (share > CHANCE).then_some(share)
}

pub(crate) fn stall(scope: &Scope, gap_ns: Option<u64>, counted: u64) -> Metric {
    match gap_ns {
        Some(gap) => scope.measured(Quantity::Stall, gap as f64, counted),
        None if counted == 0 => scope.skipped(Quantity::Stall, Reason::NoData {}),
        None => {
            let why = Reason::of("not-recorded", "the version that made this run did not look for stalls");
            scope.skipped(Quantity::Stall, why)
        }
    }
}

pub(crate) fn cpu(
    scope: &Scope,
    what: CpuTime,
    engine: EngineKind,
    usage: WorkerUsage,
    time_ns: u64,
    operations: u64,
) -> Metric {
    let quantity = Quantity::Cpu(what);
    if engine == EngineKind::Sim && usage.user_ns + usage.system_ns == 0 {
        return scope.absent(quantity, MetricStatus::NotApplicable, Reason::of("simulated", "the model burns no CPU"));
    }
    let percent = |used: u64| (time_ns > 0).then(|| used as f64 / time_ns as f64 * 100.0);
    let value = match what {
        CpuTime::Share => percent(usage.user_ns + usage.system_ns),
        CpuTime::User => percent(usage.user_ns),
        CpuTime::System => percent(usage.system_ns),
        CpuTime::PerOperation => (operations > 0).then(|| (usage.user_ns + usage.system_ns) as f64 / operations as f64),
    };
    value
        .map_or_else(|| scope.skipped(quantity, Reason::NoData {}), |value| scope.measured(quantity, value, operations))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn metric(metrics: &[Metric], id: &str) -> Metric {
        metrics.iter().find(|m| m.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
    }

    #[test]
    fn percentiles_by_a_clock_of_jiffies_are_refused_and_the_mean_stays() {
        let metrics = |zeros: u64, steps: u64| {
            let mut f = Fixture::random_read();
            f.record.latency.clear();
            f.record.latency.record_n(0, zeros);
            f.record.latency.record_n(4_000_000, steps);
            f.judge().metrics
        };
        let coarse = metrics(30_000, 2_000);
        for id in ["rand-read-qd32.latency_ns_p50", "rand-read-qd32.latency_ns_p99"] {
            let m = metric(&coarse, id);
            assert_eq!(m.status, MetricStatus::Refused, "{m:?}");
            assert!(
                m.rejected_value.is_some() && m.reasons[0].to_string().starts_with("clock-too-coarse: 94 %"),
                "{m:?}"
            );
        }
        assert_eq!(metric(&coarse, "rand-read-qd32.latency_ns_mean").value, Some(250_000.0));
        assert_eq!(metric(&coarse, "rand-read-qd32.iops").status, MetricStatus::Measured);
        assert_eq!(metric(&metrics(300, 31_700), "rand-read-qd32.latency_ns_p50").status, MetricStatus::Measured);
    }
}
