//! What all forms of a ranking share: which metrics are shown, in which order, and the words of a cell.

use super::Rank;
use crate::quantity;
use model::{Better, Prediction, RankedMetric, Ranking, Unit};

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
            let phase = metric.id.rsplit_once('.').map_or("", |(phase, _)| phase);
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
        Some(Better::Higher) => order
            .sort_by(|a, b| value(b).unwrap_or(f64::NEG_INFINITY).total_cmp(&value(a).unwrap_or(f64::NEG_INFINITY))),
        Some(Better::Lower) => {
            order.sort_by(|a, b| value(a).unwrap_or(f64::INFINITY).total_cmp(&value(b).unwrap_or(f64::INFINITY)));
        }
        None => {}
    }
    order
}

/// What a metric of a target is shown as.
pub(crate) struct Cell {
    /// `74 %` of the best, `x 2.3` its time, or the value where there is no best.
    pub words: String,
    /// `2`, `2=` where shared; empty without places.
    pub place: String,
}

/// The cell of one target; `all` are the same metric of every target.
pub(crate) fn cell(metric: &RankedMetric, all: &[&RankedMetric]) -> Cell {
    let place = metric.place.map_or_else(String::new, |place| {
        let shared = all.iter().filter(|m| m.place == Some(place)).count() > 1;
        format!("{place}{}", if shared { "=" } else { "" })
    });
    let words = match (metric.value, metric.ratio_to_best, metric.better) {
        (None, ..) => "-".to_owned(),
        (Some(_), Some(ratio), Some(Better::Higher)) => {
            let percent = ratio * 100.0;
            if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{} %", quantity::significant(percent, 2)) }
        }
        (Some(_), Some(ratio), Some(Better::Lower)) => format!("x {}", quantity::significant(ratio, 3)),
        (Some(value), ..) => quantity::quantity(value, metric.unit),
    };
    Cell { words, place }
}

/// Share of pairs of targets in one order by both, the direction aside, percent.
pub(crate) fn same_order_percent(prediction: &Prediction) -> Option<f64> {
    prediction.agreement.map(|share| 100.0 * share.max(1.0 - share))
}
