//! Tau of each predictor with its interval, on one axis from -1 to 1.

use super::t;
use crate::text;
use maud::{Markup, html};
use model::Prediction;

/// More lines than this are no drawing; the table has them all.
const MOST: usize = 40;

pub(super) fn forest(predictions: &[&Prediction], class: &str, width: f64) -> Markup {
    let names = if width < 500.0 { 130.0 } else { 230.0 };
    let rows: Vec<&Prediction> = predictions.iter().copied().take(MOST).collect();
    let (top, step) = (24.0, 20.0);
    let height = top + step * rows.len() as f64 + 8.0;
    let x = |v: f64| names + (v.clamp(-1.0, 1.0) + 1.0) / 2.0 * (width - names - 14.0);
    let at = |v: f64| format!("{v:.1}");
    let letters = if width < 500.0 { 19 } else { 34 };
    html! {
        svg.curves.forest.(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Tau of each predictor with its interval; the table below has the numbers" {
            text.axis x="2" y="12" { "tau" }
            @for v in [-1.0, -0.5, 0.0, 0.5, 1.0] {
                line class=(if v == 0.0 { "zero" } else { "grid" }) x1=(at(x(v))) x2=(at(x(v))) y1=(at(top - 6.0)) y2=(at(height)) {}
                text.tick x=(at(x(v))) y="12" text-anchor="middle" { (v) }
            }
            @for (i, p) in rows.iter().enumerate() {
                @let y = top + step * (i as f64 + 0.5);
                @let shown = p.p_adjusted.is_some_and(|p| p <= 0.05);
                g class=(format!("{} {}", if p.work { "work" } else { "synthetic" }, if shown { "shown" } else { "open" })) {
                    text x=(at(names - 10.0)) y=(at(y)) dy="4" text-anchor="end" { (t(&text::shorten(&p.predictor, letters, false))) }
                    @if let (Some(low), Some(high)) = (p.low, p.high) {
                        line.interval x1=(at(x(low))) x2=(at(x(high))) y1=(at(y)) y2=(at(y)) {}
                    }
                    @if let Some(tau) = p.tau { circle cx=(at(x(tau))) cy=(at(y)) r="4.4" {} }
                }
            }
        }
    }
}
