//! What all forms of a ranking share: which metrics are shown, in which order, and the words of a cell.

use super::Rank;
use super::{installation, use_sentences};
use crate::compare::{metric_words, quantity_words};
use crate::quantity;
use crate::rate::fake_sentence;
use model::{Better, CompactSort as _, MetricKey, Prediction, RankedMetric, Ranking, Unit, Work};

/// Metrics that are named of a winner.
const MOST_NAMED: usize = 6;
/// More columns than this are no table that anybody reads: then only the first rate of each phase is shown.
const MOST_METRICS: usize = 20;

/// Places of the metrics that are shown, in each target's list: the predicted one first.
pub(crate) fn shown(rank: &Rank<'_>) -> Vec<usize> {
    let Some(first) = rank.ranking.targets.first() else { return Vec::new() };
    let predicted = first.metrics.iter().position(|m| Some(m.id.as_str()) == rank.predicted);
    let mut phases: Vec<&str> = Vec::new();
    let telling = |m: &RankedMetric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS);
    let mut others: Vec<usize> = (0..first.metrics.len()).filter(|i| Some(*i) != predicted).collect();
    if !rank.chosen && first.metrics.len() > MOST_METRICS {
        others.retain(|i| {
            let metric = &first.metrics[*i];
            let phase = MetricKey::of(&metric.id).of;
            let keep = telling(metric) && !phases.contains(&phase);
            if keep {
                phases.push(phase);
            }
            keep
        });
        others.truncate(MOST_METRICS);
    }
    predicted.into_iter().chain(others).collect()
}

/// Places of the targets, the best by the leading metric first; as given, where that has no direction.
pub(crate) fn order(ranking: &Ranking, lead: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..ranking.targets.len()).collect();
    let Some(lead) = lead else { return order };
    let of = |i: usize| ranking.targets[i].metrics.get(lead);
    let value = |i: &usize| of(*i).and_then(|m| m.value);
    match of(0).and_then(|m| m.better) {
        Some(Better::Higher) => order.compact_sort_by(|a, b| {
            value(b).unwrap_or(f64::NEG_INFINITY).total_cmp(&value(a).unwrap_or(f64::NEG_INFINITY))
        }),
        Some(Better::Lower) => {
            order.compact_sort_by(|a, b| {
                value(a).unwrap_or(f64::INFINITY).total_cmp(&value(b).unwrap_or(f64::INFINITY))
            });
        }
        None => {}
    }
    order
}

/// How a target stands in a metric.
pub(crate) struct RankPlace {
    /// `74 %` of the best, `x 2.3` its time, or the value where there is no best.
    pub of_best: String,
    /// `2`, `2=` where shared; empty without places.
    pub place: String,
}

/// The place of one target; `all` are the same metric of every target.
pub(crate) fn place(metric: &RankedMetric, all: &[&RankedMetric]) -> RankPlace {
    let place = metric.place.map_or_else(String::new, |place| {
        let shared = all.iter().filter(|m| m.place == Some(place)).count() > 1;
        format!("{place}{}", if shared { "=" } else { "" })
    });
    let of_best = match (metric.value, metric.ratio_to_best, metric.better) {
        (None, ..) => "-".to_owned(),
        (Some(_), Some(ratio), Some(Better::Higher)) => {
            let percent = ratio * 100.0;
            if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{} %", quantity::significant(percent, 2)) }
        }
        (Some(_), Some(ratio), Some(Better::Lower)) => format!("x {}", quantity::significant(ratio, 3)),
        (Some(value), ..) => quantity::quantity(value, metric.unit),
    };
    RankPlace { of_best, place }
}

/// Share of pairs of targets in one order by both, the direction aside, percent.
pub(crate) fn same_order_percent(prediction: &Prediction) -> Option<f64> {
    prediction.agreement.map(|share| 100.0 * share.max(1.0 - share))
}

/// A metric as people call it: of the check's kinds of work by what is done, `sequential write`; another by its name.
pub(crate) fn people_words(id: &str) -> String {
    let of = Work::ALL.iter().find(|w| w.name() == MetricKey::of(id).of);
    match (of, quantity_words(id).1.as_str()) {
        (None, _) => metric_words(id),
        (Some(work), "throughput" | "IOPS") => work.words().to_owned(),
        (Some(work), what) => format!("{} {what}", work.words()),
    }
}

/// What is said before any number: who is good for what and how long an installation takes, or else who is best in which metric.
pub(crate) fn answers(rank: &Rank<'_>) -> Vec<String> {
    let targets = &rank.ranking.targets;
    let fakes = targets.iter().filter_map(|t| Some(fake_sentence(t.fake.as_ref()?, Some(&t.name))));
    let said: Vec<String> =
        fakes.chain(use_sentences(&rank.ranking.uses)).chain(installation(rank)).chain(winners_alone(rank)).collect();
    if !said.is_empty() || rank.predicted.is_some() {
        return said;
    }
    let directed = targets.iter().flat_map(|t| &t.metrics).any(|m| m.better.is_some());
    vec![match directed {
        true => "Which to buy is not known: no number decides a use, and none tells these targets apart. A narrows check of each measures what does.",
        false => "Which to buy is not known: nothing says of which number more is better (--better METRIC=higher).",
    }.to_owned()]
}

/// Who is best at what, where nothing says which to buy: else that is a detail of the numbers.
fn winners_alone(rank: &Rank<'_>) -> Vec<String> {
    if rank.ranking.uses.is_empty() { winners(rank) } else { Vec::new() }
}

/// Who is best at what, in words: a sentence for each target that is first, or shares the first place, anywhere.
pub(crate) fn winners(rank: &Rank<'_>) -> Vec<String> {
    let ranking = rank.ranking;
    let shown = shown(rank);
    let words = |i: usize| {
        let metric = &ranking.targets[0].metrics[i];
        let firsts = ranking.targets.iter().filter(|t| t.metrics[i].place == Some(1)).count();
        format!("{}{}", people_words(&metric.id), if firsts > 1 { " (shared)" } else { "" })
    };
    let best = |target: &model::RankedTarget| -> Vec<String> {
        // What all share, and what one alone has a number of, tells none of them apart.
        let apart = |i: &usize| ranking.targets.iter().any(|t| t.metrics[*i].place.is_some_and(|place| place > 1));
        shown.iter().copied().filter(apart).filter(|i| target.metrics[*i].place == Some(1)).map(words).collect()
    };
    let all: Vec<(&str, Vec<String>)> =
        ranking.targets.iter().map(|t| (t.name.as_str(), best(t))).filter(|(_, best)| !best.is_empty()).collect();
    let sentence = |(name, best): (&str, Vec<String>)| {
        let named = best.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
        match best.len().saturating_sub(MOST_NAMED) {
            0 => format!("{name} is best in {named}."),
            more => format!("{name} is best in {named} and {more} more."),
        }
    };
    all.into_iter().map(sentence).collect()
}
