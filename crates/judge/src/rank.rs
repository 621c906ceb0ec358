//! Many targets side by side: places with ties by verdict, and which metric predicts which.

mod prediction;

pub use prediction::predict;

use crate::compare::{Asked, compare};
use model::{Better, Metric, MetricStatus, RankedMetric, RankedTarget, Ranking, Run, Unit, Verdict};

/// Fewer targets than this say nothing about what predicts what.
pub const LEAST_TARGETS: usize = 5;
/// Below so many targets few predictors can be told apart.
pub const FEW_TARGETS: usize = 20;

/// The runs of one target.
#[derive(Clone, Debug)]
pub struct TargetRuns {
    /// Its name.
    pub name: String,
    /// Its runs.
    pub runs: Vec<Run>,
}

/// Ranks targets; `predicted`: the metric that is to be predicted from the others.
///
/// # Errors
/// Where no target has the metric that is to be predicted, the ids that there are.
pub fn rank(targets: &[TargetRuns], predicted: Option<&str>) -> Result<Ranking, Vec<String>> {
    let ids = metric_ids(targets);
    let mut ranked: Vec<RankedTarget> =
        targets.iter().map(|t| RankedTarget { name: t.name.clone(), metrics: Vec::new() }).collect();
    for id in &ids {
        for (target, metric) in ranked.iter_mut().zip(one_metric(targets, id)) {
            target.metrics.push(metric);
        }
    }
    let mut reasons = Vec::new();
    if targets.iter().any(|t| t.runs.len() == 1) {
        reasons.push(
            "single: some targets have one run each: ties are by usual noise (5 %, worst latencies a factor of 3)"
                .to_owned(),
        );
    }
    let mut ranking = Ranking { targets: ranked, prediction: Vec::new(), reasons };
    if let Some(predicted) = predicted {
        if !ids.iter().any(|id| id == predicted) {
            return Err(ids);
        }
        predict(&mut ranking, predicted);
    }
    Ok(ranking)
}

/// All metrics of any target, in the order in which they appear.
fn metric_ids(targets: &[TargetRuns]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let all = targets.iter().flat_map(|t| &t.runs).flat_map(Run::metrics);
    all.filter(|m| m.status == MetricStatus::Measured && !matches!(m.phase(), "layout" | "copy"))
        .filter(|m| seen.insert(m.id.clone()))
        .map(|m| m.id.clone())
        .collect()
}

fn one_metric(targets: &[TargetRuns], id: &str) -> Vec<RankedMetric> {
    let of = |t: &TargetRuns| -> Vec<Metric> {
        let metrics = t.runs.iter().filter_map(|r| r.metrics().find(|m| m.id == id));
        metrics.filter(|m| m.status == MetricStatus::Measured && m.value.is_some()).cloned().collect()
    };
    let measured: Vec<Vec<Metric>> = targets.iter().map(of).collect();
    let first = measured.iter().flatten().next();
    let (unit, better) = first.map_or((Unit::Ratio, None), |m| (m.unit, m.better));
    let values: Vec<Option<f64>> = measured
        .iter()
        .map(|m| stats::median(&m.iter().filter(|m| m.unit == unit).filter_map(|m| m.value).collect::<Vec<_>>()))
        .collect();
    let places = places(targets, id, &values, better);
    let best = best(&values, better);
    values
        .iter()
        .zip(places)
        .zip(&measured)
        .map(|((value, place), runs)| RankedMetric {
            id: id.to_owned(),
            unit,
            better,
            value: *value,
            ratio_to_best: value.zip(best).map(|(v, b)| v / b).filter(|r| r.is_finite()),
            place,
            n: u32::try_from(runs.len()).unwrap_or(u32::MAX),
        })
        .collect()
}

fn best(values: &[Option<f64>], better: Option<Better>) -> Option<f64> {
    let known = values.iter().flatten().copied();
    match better? {
        Better::Higher => known.max_by(f64::total_cmp),
        Better::Lower => known.min_by(f64::total_cmp),
    }
}

/// Places from 1: a group begins with its best target, and whoever cannot be told apart from that one is in it.
fn places(targets: &[TargetRuns], id: &str, values: &[Option<f64>], better: Option<Better>) -> Vec<Option<u32>> {
    let mut places = vec![None; targets.len()];
    let Some(better) = better else { return places };
    let mut order: Vec<usize> = (0..targets.len()).filter(|i| values[*i].is_some()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (values[a].unwrap_or(f64::NAN), values[b].unwrap_or(f64::NAN));
        match better {
            Better::Higher => b.total_cmp(&a),
            Better::Lower => a.total_cmp(&b),
        }
    });
    let asked = Asked { primary: vec![id.to_owned()], ..Asked::default() };
    let mut leader: Option<(usize, u32)> = None;
    for (position, &i) in order.iter().enumerate() {
        let place = match leader {
            Some((first, place)) if !apart(&targets[first].runs, &targets[i].runs, id, &asked) => place,
            _ => {
                let place = u32::try_from(position + 1).unwrap_or(u32::MAX);
                leader = Some((i, place));
                place
            }
        };
        places[i] = Some(place);
    }
    places
}

/// Whether two targets can be told apart: by verdict, or where no lot was drawn by intervals or noise that do not overlap.
fn apart(a: &[Run], b: &[Run], id: &str, asked: &Asked) -> bool {
    let comparison = compare(a, b, asked);
    let Some(metric) = comparison.metrics.iter().find(|m| m.id == id) else { return false };
    match metric.verdict {
        Verdict::Better | Verdict::Worse => true,
        Verdict::Same | Verdict::Invalid => false,
        Verdict::Unclear => metric.beyond_noise.unwrap_or_else(|| {
            let outside = metric.low.zip(metric.high).is_some_and(|(low, high)| low > 1.0 || high < 1.0);
            metric.basis == model::Basis::Unpaired && outside
        }),
    }
}

#[cfg(test)]
mod tests;
