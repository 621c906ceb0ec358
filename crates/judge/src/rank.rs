//! Many targets side by side: places with ties by verdict, and which metric predicts which.

mod group;
mod prediction;
mod selection;
mod uses;

pub use group::{is_same_target, targets};
pub use prediction::MIN_TARGETS;
pub use selection::{is_duration_of_work, matches_pattern};
pub use uses::by_use;

use crate::compare::{Asked, compare_one};
use crate::fit::fake_reason;
use model::{
    Better, Bound, Capacity, CompactSort as _, Metric, MetricStatus, RankedMetric, RankedTarget, Ranking, Reason, Run,
    Unit, Verdict,
};
use prediction::predict;
use selection::selected;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct TargetRuns {
    pub name: String,
    pub runs: Vec<Run>,
}

impl TargetRuns {
    /// The capacity that the newest of the runs that tell it found, where less is there than the target says.
    pub fn fake(&self) -> Option<Capacity> {
        let started = |run: &&Run| run.sessions.first().map(|s| s.started.clone());
        let telling = self.runs.iter().filter(|run| run.capacity_found().is_some());
        telling.max_by_key(started)?.fake()
    }
}

/// What is asked of the targets. Patterns are ids in which `*` stands for anything.
#[derive(Clone, Debug, Default)]
pub struct RankAsked {
    /// The metrics side by side, in this order; empty: all.
    pub metrics: Vec<String>,
    /// The metric that is to be predicted from others.
    pub predicted: Option<String>,
    /// The metrics it is predicted from; empty: all others.
    pub predictors: Vec<String>,
    /// Metrics of which more is better, where their source does not say.
    pub higher: Vec<String>,
    /// Metrics of which less is better, where their source does not say.
    pub lower: Vec<String>,
    /// Whether runs that something slowed have no value.
    pub strict: bool,
    /// The uses that are asked about; empty: all of which anything is known.
    pub uses: Vec<model::UseText>,
    /// Noise of single runs by metric, as [`Asked::noise_floor`].
    pub noise_floor: BTreeMap<String, f64>,
}

/// Why there is no ranking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankError {
    /// Fewer than two targets: the name of the only one.
    OneTarget(Option<String>),
    /// No target has a metric that was measured and stands.
    NothingMeasured,
    /// No metric fits what was asked.
    UnknownMetric {
        /// The pattern as the user wrote it.
        asked: String,
        /// The ids that there are.
        there_are: Vec<String>,
    },
}

/// The metric of this name; `install_s`, as studies write it, is how long the phase `install` took.
fn named(asked: &str, ids: &[String]) -> Result<String, RankError> {
    let time = asked.strip_suffix("_s").map(|phase| format!("{phase}.time_s"));
    let known = [Some(asked.to_owned()), time].into_iter().flatten().find(|id| ids.contains(id));
    known.ok_or_else(|| RankError::UnknownMetric { asked: asked.to_owned(), there_are: ids.to_vec() })
}

/// Ranks targets.
///
/// # Errors
/// [`RankError`], where fewer than two targets or no such metrics are there.
pub fn rank(targets: &[TargetRuns], asked: &RankAsked) -> Result<Ranking, RankError> {
    if targets.len() < 2 {
        return Err(RankError::OneTarget(targets.first().map(|t| t.name.clone())));
    }
    let strict: Vec<TargetRuns>;
    let targets = if asked.strict {
        strict = without_bounds(targets);
        &strict[..]
    } else {
        targets
    };
    let ids = metric_ids(targets);
    if ids.is_empty() {
        return Err(RankError::NothingMeasured);
    }
    let shown = selected(&asked.metrics, &ids)?;
    let predictors = selected(&asked.predictors, &ids)?;
    for patterns in [&asked.higher, &asked.lower] {
        selected(patterns, &ids)?;
    }
    let predicted = asked.predicted.as_ref().map(|p| named(p, &ids)).transpose()?;
    let mut ranking = Ranking {
        targets: targets
            .iter()
            .map(|t| RankedTarget { name: t.name.clone(), fake: t.fake(), metrics: Vec::new() })
            .collect(),
        uses: uses::by_use_as(targets, asked),
        ..Ranking::default()
    };
    for id in &ids {
        let metrics = one_metric(targets, id, asked, shown.contains(id), &mut ranking.reasons);
        for (target, metric) in ranking.targets.iter_mut().zip(metrics) {
            target.metrics.push(metric);
        }
    }
    if targets.iter().any(|t| t.runs.len() == 1) {
        ranking.reasons.push(Reason::of(
            "single",
            "some targets have one run each: ties are by usual noise (5 %, maximum latencies a factor of 3)",
        ));
    }
    if let Some(predicted) = &predicted {
        predict(&mut ranking, predicted, &predictors);
    }
    for target in &mut ranking.targets {
        target.metrics.retain(|m| shown.contains(&m.id) || Some(&m.id) == predicted.as_ref());
        // In the order in which they were asked for; of one pattern, and without any, as they are in the runs.
        target.metrics.compact_sort_by_key(|m| asked.metrics.iter().position(|p| matches_pattern(p, &m.id)));
    }
    Ok(ranking)
}

/// The same targets, whose numbers stand or are none.
fn without_bounds(targets: &[TargetRuns]) -> Vec<TargetRuns> {
    let mut targets = targets.to_vec();
    let phases = targets.iter_mut().flat_map(|t| &mut t.runs).flat_map(|r| &mut r.phases);
    phases.flat_map(|p| &mut p.metrics).for_each(|m| m.bound = None);
    targets
}

/// All metrics of any target, in the order in which they appear.
fn metric_ids(targets: &[TargetRuns]) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let all = targets.iter().flat_map(|t| &t.runs).flat_map(Run::results);
    all.filter(|m| is_valid(m)).filter(|m| seen.insert(m.id.clone())).map(|m| m.id.clone()).collect()
}

fn is_valid(metric: &Metric) -> bool {
    usable(metric).is_some()
}

/// The number of a metric that stands, or that is a bound.
fn usable(metric: &Metric) -> Option<f64> {
    let measured = metric.value.filter(|v| metric.status == MetricStatus::Measured && v.is_finite());
    let bound = metric.rejected_value.filter(|_| metric.bounded().is_some());
    measured.or(bound).filter(|_| metric.failure().is_none())
}

fn one_metric(
    targets: &[TargetRuns],
    id: &str,
    asked: &RankAsked,
    with_places: bool,
    reasons: &mut Vec<Reason>,
) -> Vec<RankedMetric> {
    let found: Vec<Vec<&Metric>> =
        targets.iter().map(|t| t.runs.iter().filter_map(|r| r.metric(id)).collect()).collect();
    let unit = found.iter().flatten().find(|m| is_valid(m)).map_or(Unit::Ratio, |m| m.unit);
    let listed = |patterns: &[String]| patterns.iter().any(|p| matches_pattern(p, id));
    let better = match found.iter().flatten().find_map(|m| m.better) {
        Some(known) => Some(known),
        None if listed(&asked.higher) => Some(Better::Higher),
        None if listed(&asked.lower) => Some(Better::Lower),
        None => None,
    };
    let mut metrics: Vec<RankedMetric> = found
        .iter()
        .map(|runs| {
            let used: Vec<&&Metric> = runs.iter().filter(|m| is_valid(m) && m.unit == unit).collect();
            let good: Vec<f64> = used.iter().filter_map(|m| usable(m)).collect();
            let slowed: Vec<&&&Metric> = used.iter().filter(|m| m.bounded().is_some()).collect();
            let mut reasons = why_not(runs, unit);
            reasons.extend(slowed.first().map(|m| {
                let why = crate::bounded::missing_reason(m).text();
                Reason::of(
                    "slowed",
                    format!(
                        "{} of {} runs were slowed, and it is {} what is shown ({why})",
                        slowed.len(),
                        used.len(),
                        m.bound.map_or("", Bound::words)
                    ),
                )
            }));
            RankedMetric {
                id: id.to_owned(),
                unit,
                better,
                value: stats::median(&good),
                ratio_to_best: None,
                place: None,
                n: u32::try_from(good.len()).unwrap_or(u32::MAX),
                bound: slowed.first().and_then(|m| m.bound),
                reasons,
            }
        })
        .collect();
    if found.iter().flatten().any(|m| is_valid(m) && m.unit != unit) {
        reasons.push(Reason::of(
            "units-differ",
            format!("{id} comes in different units; those unlike the first are left out"),
        ));
    }
    for (metric, _) in metrics.iter_mut().zip(targets).filter(|(_, t)| t.fake().is_some()) {
        metric.reasons.push(fake_reason());
    }
    // What may be too good has no place, nor has a fake.
    let proven = |m: &RankedMetric| {
        m.value.filter(|_| crate::bounded::unproven(&m.reasons).is_none() && !m.reasons.contains(&fake_reason()))
    };
    let values: Vec<Option<f64>> = metrics.iter().map(proven).collect();
    let best = best(&values, better);
    // Whole percents of a processor, as other tools print them, are shown and not judged.
    let judged = with_places && unit != Unit::Percent;
    let bounds: Vec<bool> = metrics.iter().map(|m| m.bound.is_some()).collect();
    let places =
        if judged { places(targets, id, (&values, &bounds), better, asked) } else { vec![None; targets.len()] };
    for (metric, place) in metrics.iter_mut().zip(places) {
        metric.place = place;
        metric.ratio_to_best = metric.value.zip(best).map(|(v, b)| v / b).filter(|r| r.is_finite());
    }
    metrics
}

/// Why runs of a target do not carry a metric.
fn why_not(runs: &[&Metric], unit: Unit) -> Vec<Reason> {
    if runs.is_empty() {
        return vec![Reason::of("missing", "its runs do not have it")];
    }
    let mut reasons: Vec<Reason> = Vec::new();
    for metric in runs {
        if is_valid(metric) && metric.unit == unit {
            let doubt = crate::bounded::unproven(&metric.reasons);
            reasons.extend(doubt.filter(|d| !reasons.contains(d)).cloned());
            continue;
        }
        let because = metric.reasons.first().cloned().unwrap_or_else(|| Reason::uncoded("no reason was kept"));
        let reason = match (metric.status, metric.failure()) {
            (MetricStatus::Measured, Some(failure)) => failure.clone(),
            (MetricStatus::Measured, None) if metric.unit != unit => Reason::of("units-differ", "it has another unit"),
            (MetricStatus::Measured, None) => Reason::of("not-finite", "the value is not a number"),
            (status, _) => status.because(because, 0, 0),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn best(values: &[Option<f64>], better: Option<Better>) -> Option<f64> {
    let known = values.iter().flatten().copied();
    match better? {
        Better::Higher => known.max_by(f64::total_cmp),
        Better::Lower => known.min_by(f64::total_cmp),
    }
}

/// Places from 1: a group begins with its best target, and whoever cannot be told apart from that one is in it.
fn places(
    targets: &[TargetRuns],
    id: &str,
    (values, bounds): (&[Option<f64>], &[bool]),
    better: Option<Better>,
    asked: &RankAsked,
) -> Vec<Option<u32>> {
    let mut places = vec![None; targets.len()];
    let Some(better) = better else { return places };
    let mut order: Vec<usize> = (0..targets.len()).filter(|i| values[*i].is_some()).collect();
    order.compact_sort_by(|&a, &b| {
        let (a, b) = (values[a].unwrap_or(f64::NAN), values[b].unwrap_or(f64::NAN));
        match better {
            Better::Higher => b.total_cmp(&a),
            Better::Lower => a.total_cmp(&b),
        }
    });
    let asked = Asked { noise_floor: asked.noise_floor.clone(), ..Asked::default() };
    let beyond_noise = |a: usize, b: usize| {
        let ratio = values[a].zip(values[b]).map(|(a, b)| (a / b).ln().abs());
        ratio.is_some_and(|r| r > crate::compare::usual_factor(id).ln())
    };
    // Runs of another kind do not have it, and some of those that do may have been refused: neither makes targets alike.
    let with_it =
        |i: usize| targets[i].runs.iter().filter(|r| r.metric(id).is_some_and(is_valid)).collect::<Vec<&Run>>();
    let mut leader: Option<(usize, u32)> = None;
    for (position, &i) in order.iter().enumerate() {
        let apart_from = |first: usize| {
            let slowed = |i: usize| bounds[i] && with_it(i).len() == 1;
            // A single run that was slowed may be as good as the best; one that is best all the same is that at least.
            match (slowed(i), slowed(first)) {
                (true, _) => false,
                (_, true) => beyond_noise(first, i),
                // What is derived from a series has no runs that could be compared.
                _ if with_it(first).is_empty() || with_it(i).is_empty() => beyond_noise(first, i),
                _ => is_different(&with_it(first), &with_it(i), id, &asked),
            }
        };
        let place = match leader {
            Some((first, place)) if !apart_from(first) => place,
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
fn is_different(a: &[&Run], b: &[&Run], id: &str, asked: &Asked) -> bool {
    let Some(metric) = compare_one(a, b, id, asked) else { return false };
    if let (None, Some(a), Some(b)) = (metric.low, metric.a, metric.b)
        && (a == 0.0) != (b == 0.0)
    {
        // Nothing and something have no ratio, and are not the same.
        return true;
    }
    if metric.basis == model::Basis::Unpaired && metric.low.is_none() {
        // Of so few runs no test tells anything apart: as of single ones, by usual noise.
        let factor = crate::compare::usual_factor(id);
        return metric.ratio.is_some_and(|r| r > 0.0 && r.ln().abs() > factor.ln());
    }
    let outside = metric.low.zip(metric.high).is_some_and(|(low, high)| low > 1.0 || high < 1.0);
    match metric.verdict {
        Verdict::Invalid => false,
        // Targets are not run in randomised order, and a rank is no claim about a cause.
        _ if metric.basis == model::Basis::Unpaired => outside,
        // The difference is real whichever direction is the better one.
        Verdict::Better | Verdict::Worse => true,
        Verdict::Same => false,
        Verdict::Unclear => metric.beyond_noise.unwrap_or(metric.better.is_none() && outside),
    }
}

#[cfg(test)]
mod tests;
