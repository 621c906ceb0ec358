//! Pairs as lines from A to B, between the values of the two sides.

use super::super::t;
use crate::compare::quantity_words;
use crate::page::px;
use crate::quantity;
use maud::{Markup, html};
use model::{Basis, Compared};

/// More lines than this are a grey area.
const MOST_PAIRS: usize = 200;

/// Whether there is a pair of values.
pub(super) fn can_draw(metric: &Compared) -> bool {
    let known = |values: &[Option<f64>]| values.iter().flatten().any(|v| v.is_finite());
    known(&metric.values_a) && known(&metric.values_b) && metric.values_a.len() + metric.values_b.len() > 2
}

/// The drawing of one metric.
pub(super) fn figure(metric: &Compared, a: &str, b: &str) -> Markup {
    let all = metric.values_a.iter().chain(&metric.values_b).flatten().copied().filter(|v| v.is_finite());
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let room = ((high - low) * 0.08).max(high.abs() * 0.005).max(f64::MIN_POSITIVE);
    let (low, high) = (low - room, high + room);
    let y = |v: f64| px(12.0 + (high - v) / (high - low) * 186.0);
    let paired = metric.basis == Basis::Paired;
    let pairs: Vec<(f64, f64)> = metric
        .values_a
        .iter()
        .zip(&metric.values_b)
        .filter_map(|(a, b)| Some(((*a)?, (*b)?)))
        .take(MOST_PAIRS)
        .collect();
    let (of, words) = quantity_words(&metric.id);
    let label = format!("{}: A and B run by run", metric.id);
    html! {
        figure.plot {
            figcaption { (t(&of)) " " (t(&words)) }
            svg viewBox="0 0 340 226" width="340" role="img" aria-label=(t(&label)) {
                @for (at, anchor) in [(high - room, "start"), (low + room, "start")] {
                    line.grid x1="70" x2="330" y1=(y(at)) y2=(y(at)) {}
                    text.tick x="2" y=(y(at)) dy="4" text-anchor=(anchor) { (quantity::quantity(at, metric.unit)) }
                }
                @if paired {
                    @for (a, b) in &pairs {
                        path.curve.thin.(if b >= a { "c1" } else { "c2" }) d=(format!("M120 {} L280 {}", y(*a), y(*b))) {}
                    }
                }
                @for (x, values) in [("120", &metric.values_a), ("280", &metric.values_b)] {
                    @for v in values.iter().flatten().filter(|v| v.is_finite()).take(MOST_PAIRS) {
                        circle cx=(x) cy=(y(*v)) r="3.2" fill="currentColor" opacity=".75" {}
                    }
                }
                text.tick x="120" y="220" text-anchor="middle" { (t(&cut(a))) }
                text.tick x="280" y="220" text-anchor="middle" { (t(&cut(b))) }
            }
        }
    }
}

/// A name that fits below its column.
fn cut(name: &str) -> String {
    crate::text::shorten(name, 17, false)
}
