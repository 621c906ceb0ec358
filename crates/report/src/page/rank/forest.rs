//! Tau of each predictor with its interval, on one axis from -1 to 1.

use crate::page::chart::{Area, Axis, Chart, px};
use maud::{Markup, html};
use model::Prediction;

/// More lines than this are no drawing; the table has them all.
const MOST: usize = 40;
/// Height of one.
const STEP: f64 = 20.0;

pub(super) fn forest(predictions: &[&Prediction]) -> Markup {
    let rows = &predictions[..predictions.len().min(MOST)];
    let count = rows.len() as f64;
    let at = |i: usize| count - i as f64 - 0.5;
    let marks = |area: &Area<'_>| {
        html! {
            line.zero x1=(px(area.x(0.0))) x2=(px(area.x(0.0))) y1=(px(area.top)) y2=(px(area.bottom)) {}
            @for (i, p) in rows.iter().enumerate() {
                @let y = px(area.y(at(i)));
                @let shown = p.p_adjusted.is_some_and(|p| p <= 0.05);
                g class=(format!("{} {}", if p.work { "work" } else { "synthetic" }, if shown { "shown" } else { "open" })) {
                    @if let (Some(low), Some(high)) = (p.low, p.high) {
                        line.interval x1=(px(area.x(low))) x2=(px(area.x(high))) y1=(y) y2=(y) {}
                    }
                    @if let Some(tau) = p.tau { circle cx=(px(area.x(tau))) cy=(y) r="4.4" {} }
                }
            }
        }
    };
    let ticks = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|v| (v, format!("{v}")));
    let names = rows.iter().enumerate().map(|(i, p)| (at(i), p.predictor.clone())).collect();
    let chart = Chart {
        label: "Tau of each predictor with its interval; the table below has the numbers".to_owned(),
        x: Axis { low: -1.0, high: 1.0, ticks: ticks.into(), grid: true, name: "tau".to_owned(), ..Axis::default() },
        y: Axis { high: count, ticks: names, ..Axis::default() },
        marks: Some(&marks),
        height: STEP * count + 60.0,
        ..Chart::default()
    };
    html! { figure.forest { (chart.draw()) } }
}
