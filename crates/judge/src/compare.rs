//! Two sides, one question: better, worse, same, unclear or invalid, metric by metric.
//!
//! The procedure: log ratios of pairs whose order was drawn by lot, Hodges-Lehmann estimate with the interval of the exact
//! signed-rank test, Holm over the primary metrics, equivalence by two one-sided tests at the same level. Sets whose order
//! was not randomised are held apart in the same way, by the rank-sum test: the verdict says whether they differ, and
//! `cause` that this does not show what made them differ. One run of a side never separates anything from noise.

mod cause;
mod differences;
mod processor;
mod sides;
#[cfg(test)]
mod sides_tests;
mod single;
#[cfg(test)]
mod slowed_tests;
#[cfg(test)]
pub(crate) mod tests;
mod verdict;

pub(crate) use cause::temperature;
pub use differences::environment_differences;
pub(crate) use sides::question;
pub(crate) use single::usual_factor;
pub use verdict::least_pairs;

use model::{
    Basis, Better, CompactSort as _, Compared, Comparison, Counts, EnvironmentDifference, MetricKey, Question, Reason,
    Run, Verdict,
};
use sides::{Sides, Values};
use std::collections::BTreeMap;

/// Error rate over all primary metrics together, unless told otherwise.
pub const DEFAULT_ALPHA: f64 = 0.05;
/// More questions than this ask for more pairs than anybody makes.
pub const MAX_PRIMARY: usize = 10;
/// Margin of rates, means and medians, percent.
pub const MARGIN_PERCENT: f64 = 5.0;
/// Margin of tails from the 90th percentile on, percent.
pub const TAIL_MARGIN_PERCENT: f64 = 10.0;

/// What is asked of two sides.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Error rate over all primary metrics; `None`: [`DEFAULT_ALPHA`].
    pub alpha: Option<f64>,
    /// Margin of all metrics, percent; `None`: by the kind of metric.
    pub margin_percent: Option<f64>,
    /// Margins by metric, percent; they go before the others.
    pub margins: BTreeMap<String, f64>,
    /// Primary metrics; empty: the rate of each phase (of a paced one its mean latency), ten at most.
    pub primary: Vec<String>,
    /// Both sides are the same arm under two names: whatever differs is noise, and nothing is better or worse.
    pub same_arm: bool,
    /// What was set on the one side and otherwise on the other, where that is known.
    pub compared: Vec<EnvironmentDifference>,
    /// Whether runs that something slowed have no value in sets either.
    pub strict: bool,
    /// Noise of single runs by metric, as a ratio above 0 (0.03: 3 %), where the archive knows it.
    pub noise_floor: BTreeMap<String, f64>,
}

/// Compares the runs of B with those of A. Runs of one experiment are paired by its pairs; others are not paired.
pub fn compare(a: &[Run], b: &[Run], asked: &Asked) -> Comparison {
    let sides = Sides::of(a, b);
    let alpha = asked.alpha.unwrap_or(DEFAULT_ALPHA);
    let [ids, only_a, only_b] = sides.metric_ids();
    let primary = primary(&sides, asked, &ids);
    let mut reasons = Vec::new();
    if ids.is_empty() {
        reasons.push(Reason::of("nothing-in-common", "the two sides have no metric in common"));
    } else {
        reasons.extend(only_in("A", &only_a));
        reasons.extend(only_in("B", &only_b));
        reasons.extend(unanswered(&only_a, &sides));
    }
    reasons.extend(sides.incomplete());
    reasons.extend(sides.different_plans());
    reasons.extend(sides.parts_of_groups());
    if sides.left_out() > 0 {
        reasons.push(Reason::of(
            "left-out",
            format!("{} of the runs belong to no pair that both sides have", sides.left_out()),
        ));
    }
    let mut metrics = judged(&sides, &ids, &primary, asked);
    metrics.compact_sort_by_key(|m| !m.primary);
    let cause = (!metrics.is_empty()).then(|| cause::of(&sides, &metrics));
    let question = Question {
        margin_percent: metrics.iter().map(|m| (m.id.clone(), margin_percent(&m.id, asked))).collect(),
        alpha,
        pairs: sides.pairs(),
        seed: sides.seed(),
    };
    Comparison {
        overall: overall(&metrics),
        counts: counts(&metrics),
        cause: cause.as_ref().map(|c| c.cause),
        cause_reasons: cause.as_ref().map_or_else(Vec::new, |c| c.reasons.clone()),
        drift: cause.map_or_else(Vec::new, |c| c.drift),
        question,
        compared: asked.compared.clone(),
        metrics,
        environment_differences: environment_differences(a, b),
        reasons,
    }
}

/// Compares one metric of two sides, as their only question.
pub(crate) fn compare_one(a: &[&Run], b: &[&Run], id: &str, asked: &Asked) -> Option<Compared> {
    let only = [id.to_owned()];
    judged(&Sides::of(a.iter().copied(), b.iter().copied()), &only, &only, asked).pop()
}

/// The metrics of these ids, with their verdicts.
fn judged(sides: &Sides<'_>, ids: &[String], primary: &[String], asked: &Asked) -> Vec<Compared> {
    let alpha = asked.alpha.unwrap_or(DEFAULT_ALPHA);
    let all: Vec<Values> = ids.iter().map(|id| sides.values(id, asked.strict)).collect();
    let mut metrics: Vec<Compared> = ids
        .iter()
        .zip(&all)
        .map(|(id, values)| {
            let mut compared = begin(id, values, sides.basis(), primary.contains(id));
            let margin = margin_percent(id, asked);
            match sides.basis() {
                Basis::Single => single::judge(&mut compared, values, asked.noise_floor.get(id).copied()),
                Basis::Paired | Basis::Unpaired => verdict::estimate(&mut compared, values, alpha, margin),
            }
            compared
        })
        .collect();
    if sides.basis() != Basis::Single {
        for family in [true, false] {
            verdict::decide(metrics.iter_mut().filter(|m| m.primary == family), family, alpha, asked.same_arm, &|id| {
                margin_percent(id, asked)
            });
        }
    }
    if sides.basis() == Basis::Unpaired {
        metrics.iter_mut().zip(&all).for_each(|(metric, values)| verdict::slowed_alike(metric, values));
    }
    metrics
}

/// Metrics that cannot be compared as the other side does not have them.
fn only_in(side: &str, ids: &[String]) -> Option<Reason> {
    let shown = ids.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    let more = if ids.len() > 3 { format!(" and {} others", ids.len() - 3) } else { String::new() };
    (!ids.is_empty()).then(|| Reason::of(&format!("only-in-{}", side.to_lowercase()), format!("{shown}{more}")))
}

/// What A was asked for and B does not have, so that no verdict covers all of A.
fn unanswered(only_a: &[String], sides: &Sides<'_>) -> Option<Reason> {
    let asked: Vec<&str> = only_a.iter().map(String::as_str).filter(|id| sides.is_question_of_a_phase(id)).collect();
    let text = || format!("B does not have {} of the results that A was made for: {}", asked.len(), asked.join(", "));
    (!asked.is_empty()).then(|| Reason::of("not-in-b", text()))
}

/// The margin of a metric, percent.
pub fn margin_percent(id: &str, asked: &Asked) -> f64 {
    let quantity = MetricKey::of(id).quantity;
    let tail = ["_p90", "_p99", "_p999", "_max"].iter().any(|end| quantity.ends_with(end));
    let usual = if tail { TAIL_MARGIN_PERCENT } else { MARGIN_PERCENT };
    asked.margins.get(id).copied().or(asked.margin_percent).unwrap_or(usual)
}

/// The questions: those that were declared, else the rate of each phase in the order of the plan; where the rate is
/// demanded, the latency.
fn primary(sides: &Sides<'_>, asked: &Asked, ids: &[String]) -> Vec<String> {
    if !asked.primary.is_empty() {
        return ids.iter().filter(|id| asked.primary.contains(id)).cloned().collect();
    }
    let rates = ids.iter().filter(|id| sides.is_question_of_a_phase(id));
    rates.take(MAX_PRIMARY).cloned().collect()
}

fn begin(id: &str, values: &Values, basis: Basis, primary: bool) -> Compared {
    let [a, b] = values.compared();
    Compared {
        id: id.to_owned(),
        unit: values.unit,
        better: values.better,
        a: stats::median(&a),
        b: stats::median(&b),
        ratio: None,
        low: None,
        high: None,
        p: None,
        verdict: Verdict::Unclear,
        basis,
        beyond_noise: None,
        reasons: Vec::new(),
        primary,
        pairs_needed: None,
        values_a: values.a.iter().map(|v| v.value).collect(),
        values_b: values.b.iter().map(|v| v.value).collect(),
    }
}

/// Worse if anything that was asked is; a gain elsewhere does not outweigh it.
fn overall(metrics: &[Compared]) -> Verdict {
    let primary: Vec<Verdict> = metrics.iter().filter(|m| m.primary).map(|m| m.verdict).collect();
    let all = if primary.is_empty() { metrics.iter().map(|m| m.verdict).collect() } else { primary };
    let any = |v: Verdict| all.contains(&v);
    match () {
        () if any(Verdict::Worse) => Verdict::Worse,
        () if any(Verdict::Better) => Verdict::Better,
        () if all.is_empty() || all.iter().all(|v| *v == Verdict::Invalid) => Verdict::Invalid,
        () if all.iter().all(|v| *v == Verdict::Same) => Verdict::Same,
        () => Verdict::Unclear,
    }
}

/// The primary metrics by verdict, with the largest change of each direction. Single runs have no verdict: those that are
/// beyond noise count as unclear, and may be the largest.
fn counts(metrics: &[Compared]) -> Counts {
    let primary = || metrics.iter().filter(|m| m.primary);
    let of = |v: Verdict| u32::try_from(primary().filter(|m| m.verdict == v).count()).unwrap_or(u32::MAX);
    let largest = |gain: bool| {
        let moved = primary().filter(|m| is_apart(m) && is_gain(m) == Some(gain));
        let by = |m: &&Compared| m.ratio.map_or(0.0, |r| r.ln().abs());
        moved.max_by(|x, y| by(x).total_cmp(&by(y))).map(|m| m.id.clone())
    };
    Counts {
        better: of(Verdict::Better),
        worse: of(Verdict::Worse),
        same: of(Verdict::Same),
        unclear: of(Verdict::Unclear),
        invalid: of(Verdict::Invalid),
        largest_better: largest(true),
        largest_worse: largest(false),
    }
}

fn is_apart(metric: &Compared) -> bool {
    matches!(metric.verdict, Verdict::Better | Verdict::Worse) || metric.beyond_noise == Some(true)
}

/// Whether a change is one for the better.
fn is_gain(metric: &Compared) -> Option<bool> {
    let up = metric.ratio? > 1.0;
    metric.better.map(|better| up == (better == Better::Higher))
}
