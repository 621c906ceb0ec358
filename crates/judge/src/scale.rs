//! Phases that were done by 1, 2, 4, ... ranks of a group: how their sum grows, and where more ranks stop to pay.

use crate::group::GROUP_PART;
use model::{Metric, Run, ScaleCurve, ScaleKnee, ScalePoint, metric_id};
use stats::KneeAt;

/// Twice the ranks that do not even do a tenth more wait for something else.
const MIN_GAIN: f64 = 0.10;

/// The curves of a run of rank 0, in the order of its plan.
pub fn scale_curves(run: &Run) -> Vec<ScaleCurve> {
    let mut names: Vec<&str> = Vec::new();
    for name in run.phases.iter().filter_map(|p| p.plan.scaled_name()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().filter_map(|name| curve(run, name)).collect()
}

fn curve(run: &Run, name: &str) -> Option<ScaleCurve> {
    let phases = run.phases.iter().filter(|p| p.plan.scaled_name() == Some(name));
    let sums: Vec<(u32, &Metric)> = phases
        .filter_map(|phase| {
            let prefix = metric_id(&phase.plan.name, GROUP_PART);
            let sum = |quantity: &str| phase.metrics.iter().find(|m| m.id == metric_id(&prefix, quantity));
            let moved = sum("throughput_bytes_per_s").or_else(|| sum("files_per_s")).or_else(|| sum("iops"))?;
            Some((phase.plan.ranks?, moved))
        })
        .collect();
    let (first, alone) = sums.first().map(|(ranks, m)| (m.unit, m.value.filter(|_| *ranks == 1)))?;
    let efficiency = |ranks: u32, value: f64| {
        alone.filter(|alone| *alone > 0.0).map(|alone| 100.0 * value / (alone * f64::from(ranks)))
    };
    let points: Vec<ScalePoint> = sums
        .iter()
        .map(|(ranks, metric)| ScalePoint {
            ranks: *ranks,
            metric: metric.id.clone(),
            value: metric.value,
            rejected_value: metric.rejected_value,
            efficiency_percent: metric.value.and_then(|value| efficiency(*ranks, value)),
        })
        .collect();
    let knee = knee(&points);
    Some(ScaleCurve { phase: name.to_owned(), unit: first, points, knee, least_gain_percent: MIN_GAIN * 100.0 })
}

fn knee(points: &[ScalePoint]) -> ScaleKnee {
    let values: Vec<(f64, f64)> = points.iter().filter_map(|p| Some((f64::from(p.ranks), p.value?))).collect();
    let highest = values.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let unknown = ScaleKnee::Unknown { valid: values.len() as u32, of: points.len() as u32 };
    // A point that has no value might be the knee.
    if values.len() < points.len() {
        return unknown;
    }
    match stats::knee(&values, MIN_GAIN) {
        None => unknown,
        Some(KneeAt::Beyond) => ScaleKnee::NotReached { ranks: points.last().map_or(0, |p| p.ranks) },
        Some(KneeAt::Point(at)) => {
            ScaleKnee::At { ranks: points[at].ranks, share_of_highest_percent: 100.0 * values[at].1 / highest }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Better, PhasePlan, Unit};

    fn run(sums: &[(u32, Option<f64>)]) -> Run {
        let phase = |(ranks, sum): &(u32, Option<f64>)| {
            let plan = PhasePlan { name: format!("reads-by-{ranks}"), ranks: Some(*ranks), ..PhasePlan::default() };
            let id = format!("reads-by-{ranks}.group.throughput_bytes_per_s");
            let metric = Metric::measured(id, Unit::BytesPerS, Some(Better::Higher), sum.unwrap_or(1.0), 1000);
            let metric = Metric { value: *sum, ..metric };
            test_runs::measured(plan, Default::default(), vec![metric])
        };
        test_runs::run(sums.iter().map(phase).collect())
    }

    #[test]
    fn more_ranks_pay_until_the_store_is_full() {
        let all = scale_curves(&run(&[(1, Some(100e6)), (2, Some(190e6)), (4, Some(300e6)), (8, Some(310e6))]));
        let [curve] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((curve.phase.as_str(), curve.points.len()), ("reads", 4));
        assert!(
            matches!(curve.knee, ScaleKnee::At { ranks: 4, share_of_highest_percent } if share_of_highest_percent > 96.0)
        );
        assert_eq!(curve.points[1].efficiency_percent, Some(95.0));
        let rising = scale_curves(&run(&[(1, Some(100e6)), (2, Some(190e6)), (4, Some(380e6))]));
        assert_eq!(rising[0].knee, ScaleKnee::NotReached { ranks: 4 });
    }

    #[test]
    fn a_sum_that_is_refused_leaves_the_knee_unknown() {
        let curves = scale_curves(&run(&[(1, Some(100e6)), (2, None), (4, Some(300e6))]));
        assert_eq!(curves[0].knee, ScaleKnee::Unknown { valid: 2, of: 3 });
        assert!(scale_curves(&test_runs::run(Vec::new())).is_empty());
    }
}
