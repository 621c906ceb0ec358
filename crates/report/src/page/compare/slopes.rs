//! Pairs as lines from A to B, between the values of the two sides.

use crate::compare::quantity_words;
use crate::page::chart::{Area, Axis, Chart, Line, px};
use crate::page::t;
use crate::quantity;
use maud::{Markup, html};
use model::{Basis, Compared, Unit};

/// More lines than this are a grey area.
const MOST_PAIRS: usize = 200;

/// Whether there is a pair of values.
pub(super) fn can_draw(metric: &Compared) -> bool {
    let known = |values: &[Option<f64>]| values.iter().flatten().any(|v| v.is_finite());
    known(&metric.values_a) && known(&metric.values_b) && metric.values_a.len() + metric.values_b.len() > 2
}

/// The drawing of one metric.
pub(super) fn figure(metric: &Compared, a: &str, b: &str) -> Markup {
    let is_paired = metric.basis == Basis::Paired;
    drawing(&metric.id, metric.unit, is_paired, [&metric.values_a, &metric.values_b], [a, b])
}

/// The values of two sides, as lines where they are pairs.
pub(in crate::page) fn drawing(
    id: &str,
    unit: Unit,
    is_paired: bool,
    values: [&[Option<f64>]; 2],
    [a, b]: [&str; 2],
) -> Markup {
    let sides = [(0.0, values[0]), (1.0, values[1])];
    let known = |values: &[Option<f64>]| values.iter().flatten().copied().filter(|v| v.is_finite()).collect::<Vec<_>>();
    let all = known(&values.concat());
    let (low, high) = all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let room = ((high - low) * 0.08).max(high.abs() * 0.005).max(f64::MIN_POSITIVE);
    let paired = values[0].iter().zip(values[1]).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
    let line = |(a, b): (f64, f64)| Line {
        class: format!("curve thin {}", if b >= a { "c1" } else { "c2" }),
        points: vec![(0.0, Some(a)), (1.0, Some(b))],
        ..Line::default()
    };
    let dots = |area: &Area<'_>| {
        html! {
            @for (x, values) in sides {
                @for v in known(values).iter().take(MOST_PAIRS) {
                    circle cx=(px(area.x(x))) cy=(px(area.y(*v))) r="3.2" fill="currentColor" opacity=".75" {}
                }
            }
        }
    };
    let names = [low, high].map(|v| (v, quantity::quantity(v, unit)));
    let (of, words) = quantity_words(id);
    let chart = Chart {
        label: format!("{id}: {a} and {b} run by run"),
        // Room for the names below.
        x: Axis { low: -0.4, high: 1.4, ticks: vec![(0.0, cut(a)), (1.0, cut(b))], ..Axis::default() },
        y: Axis { low: low - room, high: high + room, ticks: names.into(), grid: true, ..Axis::default() },
        lines: paired.take(MOST_PAIRS).filter(|_| is_paired).map(line).collect(),
        marks: Some(&dots),
        height: 226.0,
        ..Chart::default()
    };
    html! { figure.plot { figcaption { (t(&of)) " " (t(&words)) } (chart.small()) } }
}

/// A name that fits below its column.
fn cut(name: &str) -> String {
    crate::text::shorten(name, 17, false)
}
