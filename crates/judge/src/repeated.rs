//! The runs of one plan, made again and again: what all of them say of each metric, without anything to compare with.

use model::{IntervalKind, Metric, MetricStatus, Reason, Run};
use std::collections::HashSet;

/// Error rate of the intervals.
const LEVEL: f64 = 0.95;

/// Code of the reason that runs count though something slowed them.
const SLOWED: &str = "slowed";

/// Each metric of these runs: the median of its values, with the interval of the Hodges-Lehmann estimate where there are
/// enough of them. Runs that something slowed count, and that is said, as where they are compared. What no run has a value for is there with the reason of the first.
pub fn repeated(runs: &[Run]) -> Vec<Metric> {
    let mut seen = HashSet::new();
    let ids = runs.iter().flat_map(Run::results).filter(|m| seen.insert(m.id.as_str()));
    ids.filter(|m| m.status != MetricStatus::NotApplicable).map(|m| over_runs(runs, m)).collect()
}

fn over_runs(runs: &[Run], like: &Metric) -> Metric {
    let all: Vec<&Metric> = runs.iter().filter_map(|r| r.metric(&like.id)).filter(|m| m.unit == like.unit).collect();
    // The median of those runs that happen to carry a percentile would be beside that of all runs for a lower one.
    if let Some(few) = all.iter().find(|m| m.reasons.iter().any(|r| r.is("too-few-operations"))) {
        return (*few).clone();
    }
    let valid: Vec<f64> =
        all.iter().filter_map(|m| m.value.filter(|v| v.is_finite() && m.failure().is_none())).collect();
    let slowed: Vec<f64> = all.iter().filter_map(|m| m.slowed()).collect();
    // Beside those that nothing slowed the others count, as in a comparison of the same runs.
    let values: Vec<f64> = if valid.is_empty() { Vec::new() } else { [&valid[..], &slowed].concat() };
    let Some(median) = stats::median(&values) else {
        let slowed: Vec<&&Metric> = all.iter().filter(|m| m.bounded().is_some()).collect();
        let bounds: Vec<f64> = slowed.iter().filter_map(|m| m.rejected_value).collect();
        let mut none = slowed.first().map_or(like, |m| **m).clone();
        (none.low, none.high, none.interval) = (None, None, None);
        // All of them were slowed: so is what they say together.
        (none.rejected_value, none.n) = (stats::median(&bounds), bounds.len() as u64);
        none.bound = none.bound.filter(|_| none.rejected_value.is_some());
        return none;
    };
    let mut metric = Metric::measured(&like.id, like.unit, like.better, median, values.len() as u64);
    let ends = stats::hodges_lehmann(&values, LEVEL).and_then(|c| c.low.zip(c.high));
    if let Some((low, high)) = ends.filter(|(low, high)| low.is_finite() && high.is_finite()) {
        (metric.low, metric.high, metric.interval) = (Some(low), Some(high), Some(IntervalKind::AcrossRuns));
    } else {
        metric.reasons.push(Reason::of("no-interval", format!("{} runs are too few for an interval", values.len())));
    }
    if !slowed.is_empty() {
        let was = if slowed.len() == 1 { "was" } else { "were" };
        let why = all.iter().find(|m| m.slowed().is_some()).and_then(|m| m.reasons.first());
        metric.reasons.push(Reason::of(
            SLOWED,
            format!(
                "{} of {} runs {was} slowed and count, as in narrows compare, which leaves them out with --strict{}",
                slowed.len(),
                runs.len(),
                why.map_or_else(String::new, |why| format!(" ({})", why.text()))
            ),
        ));
    }
    if values.len() < runs.len() {
        metric
            .reasons
            .push(Reason::of("missing", format!("{} of {} runs have no value", runs.len() - values.len(), runs.len())));
    }
    metric
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{rate, run};

    #[test]
    fn a_percentile_that_not_all_runs_carry_is_none_of_them_together() {
        let p999 = |value| Metric::measured("p.latency_ns_p999", model::Unit::Ns, None, value, 9_000);
        let few = Metric::absent(
            "p.latency_ns_p999",
            model::Unit::Ns,
            None,
            MetricStatus::Skipped,
            Reason::TooFewOperations { operations: 900, least: 1_000 },
        );
        let all = repeated(&[run(vec![p999(7e6)], None), run(vec![few], None)]);
        assert_eq!((all[0].status, all[0].value), (MetricStatus::Skipped, None));
        assert!(all[0].reasons[0].is("too-few-operations"));
    }

    #[test]
    fn runs_of_one_plan_have_a_median_and_an_interval() {
        let runs: Vec<Run> = (1..=9).map(|v| run(vec![rate("p.iops", f64::from(v))], None)).collect();
        let all = repeated(&runs);
        assert_eq!(
            (all.len(), all[0].value, all[0].n, all[0].interval),
            (1, Some(5.0), 9, Some(IntervalKind::AcrossRuns))
        );
        assert!(all[0].low.unwrap() < 5.0 && all[0].high.unwrap() > 5.0);
        let mut few = runs[..3].to_vec();
        few[0].phases[0].metrics[0].refuse(&[Reason::Throttled { evidence: "heat".into() }]);
        let all = repeated(&few);
        assert_eq!((all[0].value, all[0].low), (Some(2.0), None));
        assert!(all[0].reasons.iter().any(|r| r.is(SLOWED) && r.text().contains("1 of 3 runs was slowed")));
        // What may be too good is left out, here and there.
        let mut wrong = few.clone();
        wrong[0].phases[0].metrics[0].reasons = vec![Reason::of("direct-unproven", "memory")];
        assert_eq!((repeated(&wrong)[0].value, repeated(&wrong)[0].reasons.len()), (Some(2.5), 2));
        few.iter_mut().for_each(|r| r.phases[0].metrics[0].refuse(&[Reason::of("steal", "others")]));
        assert_eq!((repeated(&few)[0].value, repeated(&few)[0].rejected_value), (None, None));
        few.iter_mut().for_each(|r| r.phases[0].metrics[0].bound = Some(model::Bound::AtLeast));
        let all = repeated(&few);
        assert_eq!((all[0].value, all[0].rejected_value, all[0].n), (None, Some(2.0), 3));
        assert_eq!(all[0].bound, Some(model::Bound::AtLeast));
    }
}
