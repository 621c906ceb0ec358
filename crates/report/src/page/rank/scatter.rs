//! Predictor against predicted, one point a target.

use super::t;
use crate::page::chart::{Area, Axis, Chart, px};
use crate::quantity;
use maud::{Markup, html};
use model::{Prediction, RankedMetric, Ranking, Unit};

/// From so large a ratio of largest to smallest an axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 8.0;

fn axis(values: impl Iterator<Item = f64>, unit: Unit) -> Axis {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let names = [low, high].map(|v| quantity::quantity(v, unit));
    Axis { logarithmic: low > 0.0 && high / low >= LOGARITHMIC_FROM, grid: true, ..Axis::between(low, high, names) }
}

/// The closest predictors, as many as are wanted and have their values on the page.
pub(super) fn plots(ranking: &Ranking, predicted: &str, closest: &[&Prediction], most: usize) -> Vec<Markup> {
    closest.iter().filter_map(|p| plot(ranking, predicted, p)).take(most).collect()
}

fn plot(ranking: &Ranking, predicted: &str, prediction: &Prediction) -> Option<Markup> {
    let points: Vec<(&str, &RankedMetric, &RankedMetric, [f64; 2])> = ranking
        .targets
        .iter()
        .filter_map(|target| {
            let of = |id: &str| target.metrics.iter().find(|m| m.id == id);
            let (x, y) = (of(&prediction.predictor)?, of(predicted)?);
            Some((target.name.as_str(), x, y, [x.value?, y.value?]))
        })
        .collect();
    let units = points.first().map(|(_, x, y, _)| [x.unit, y.unit])?;
    let [x, y] = [0, 1].map(|i| axis(points.iter().map(|p| p.3[i]), units[i]));
    let logarithmic = x.logarithmic || y.logarithmic;
    let marks = |area: &Area<'_>| {
        html! {
            @for (name, _, _, [x, y]) in &points {
                circle cx=(px(area.x(*x))) cy=(px(area.y(*y))) r="4.6" {
                    title { (t(name)) ": " (quantity::quantity(*x, units[0])) ", " (quantity::quantity(*y, units[1])) }
                }
            }
        }
    };
    let label = format!("{predicted} against {}", prediction.predictor);
    let chart = Chart { label, x, y, marks: Some(&marks), height: 220.0, ..Chart::default() };
    Some(html! {
        figure {
            figcaption {
                (t(&prediction.predictor)) " "
                small { "tau " (prediction.tau.map_or_else(|| "-".to_owned(), |tau| format!("{tau:.2}"))) @if logarithmic { ", logarithmic" } }
            }
            (chart.small())
        }
    })
}
