//! Predictor against predicted, one point a target.

use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{Prediction, RankedMetric, Ranking, Unit};

/// From so large a ratio of largest to smallest an axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 8.0;

struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    unit: Unit,
}

impl Axis {
    fn of(values: &[f64], unit: Unit) -> Self {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let logarithmic = low > 0.0 && high / low >= LOGARITHMIC_FROM;
        Self { low, high, logarithmic, unit }
    }

    /// 0 at the smallest value, 1 at the largest.
    fn share(&self, v: f64) -> f64 {
        let of = |v: f64| if self.logarithmic { v.ln() } else { v };
        let room = of(self.high) - of(self.low);
        if room > 0.0 { (of(v) - of(self.low)) / room } else { 0.5 }
    }
}

/// The closest predictors, as many as are wanted and have their values on the page.
pub(super) fn plots(ranking: &Ranking, predicted: &str, closest: &[&Prediction], most: usize) -> Vec<Markup> {
    closest.iter().filter_map(|p| plot(ranking, predicted, p)).take(most).collect()
}

fn plot(ranking: &Ranking, predicted: &str, prediction: &Prediction) -> Option<Markup> {
    let points: Vec<(&str, &RankedMetric, f64, f64, Unit)> = ranking
        .targets
        .iter()
        .filter_map(|target| {
            let of = |id: &str| target.metrics.iter().find(|m| m.id == id);
            let (x, y) = (of(&prediction.predictor)?, of(predicted)?);
            Some((target.name.as_str(), x, x.value?, y.value?, y.unit))
        })
        .collect();
    let (unit_x, unit_y) = points.first().map(|p| (p.1.unit, p.4))?;
    let x = Axis::of(&points.iter().map(|p| p.2).collect::<Vec<_>>(), unit_x);
    let y = Axis::of(&points.iter().map(|p| p.3).collect::<Vec<_>>(), unit_y);
    let (width, height, left, bottom, pad) = (260.0, 190.0, 12.0, 34.0, 10.0);
    let at_x = |v: f64| left + pad + x.share(v) * (width - left - 2.0 * pad - 6.0);
    let at_y = |v: f64| height - bottom - pad - y.share(v) * (height - bottom - 2.0 * pad - 16.0);
    let words = |axis: &Axis, v: f64| quantity::quantity(v, axis.unit);
    Some(html! {
        figure {
            figcaption {
                (t(&prediction.predictor)) " "
                small { "tau " (prediction.tau.map_or_else(|| "-".to_owned(), |tau| format!("{tau:.2}"))) @if x.logarithmic || y.logarithmic { ", logarithmic" } }
            }
            svg.scatter viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(t(&format!("{predicted} against {}", prediction.predictor))) {
                rect.frame x=(left) y="14" width=(width - left - 6.0) height=(height - bottom - 14.0) {}
                text x=(left) y="10" { (words(&y, y.high)) }
                text x=(left + 4.0) y=(height - bottom - 4.0) { (words(&y, y.low)) }
                text x=(left) y=(height - 18.0) { (words(&x, x.low)) }
                text x=(width - 6.0) y=(height - 18.0) text-anchor="end" { (words(&x, x.high)) }
                @for (name, _, vx, vy, _) in &points {
                    circle cx=(format!("{:.1}", at_x(*vx))) cy=(format!("{:.1}", at_y(*vy))) r="4.6" {
                        title { (t(name)) ": " (words(&x, *vx)) ", " (words(&y, *vy)) }
                    }
                }
            }
        }
    })
}
