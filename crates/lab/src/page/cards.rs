//! Cards as their files say and as they were measured, drawn metric by metric.

use crate::card::Against;
use maud::{Markup, html};
use model::Unit;
use report::{quantity, text_of as t};

const WIDTH: f64 = 400.0;
/// Where the axis begins, behind the names, and ends.
const AXIS: (f64, f64) = (152.0, 366.0);
const ROW: f64 = 22.0;

/// One small chart a metric.
pub(super) fn figures(all: &[Against], apart: f64) -> Markup {
    html! { div.pile { @for against in all { (figure(against, apart)) } } }
}

fn figure(against: &Against, apart: f64) -> Markup {
    let (pairs, reversed) = against.order(apart);
    let values = against.points.iter().flat_map(|p| [Some(p.own), p.measured]).flatten().filter(|v| *v > 0.0);
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
    // Whole decades, so that the lines of the grid have round numbers.
    let (low, high) = (low.log10().floor(), high.log10().ceil().max(low.log10().floor() + 1.0));
    let x = |value: f64| at(AXIS.0 + (value.max(f64::MIN_POSITIVE).log10() - low) / (high - low) * (AXIS.1 - AXIS.0));
    let height = 26.0 + ROW * against.points.len() as f64;
    let decades = (low as i32)..=(high as i32);
    html! {
        figure {
            figcaption { (t(&against.metric)) " " small { (pairs - reversed.len()) " of " (pairs) " pairs in order" } }
            svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(format!("{} of each card, by its file and measured", against.metric)) {
                @for decade in decades {
                    @let value = 10f64.powi(decade);
                    line.grid x1=(x(value)) x2=(x(value)) y1="16" y2=(at(height)) {}
                    text.tick x=(x(value)) y="11" text-anchor="middle" { (tick(value, against.unit)) }
                }
                @for (i, point) in against.points.iter().enumerate() {
                    @let y = at(26.0 + ROW * (i as f64 + 0.4));
                    text.card x="0" y=(y) dy="4" { (t(&point.card)) }
                    @if let Some(measured) = point.measured {
                        line.between x1=(x(point.own)) x2=(x(measured)) y1=(y) y2=(y) {}
                        circle.measured cx=(x(measured)) cy=(y) r="4" {}
                    }
                    circle.own cx=(x(point.own)) cy=(y) r="5" {}
                    title { (title(point.own, point.measured, against)) }
                }
            }
        }
    }
}

/// A decade of operations a second, or of bytes.
fn tick(value: f64, unit: Unit) -> String {
    if unit == Unit::OpsPerS && value >= 1.0 { quantity::count(value as u64) } else { quantity::quantity(value, unit) }
}

fn title(own: f64, measured: Option<f64>, against: &Against) -> String {
    let measured = measured.map_or_else(|| "not measured".to_owned(), |m| quantity::quantity(m, against.unit));
    format!("{} by its file, {measured}", quantity::quantity(own, against.unit))
}

/// A coordinate.
fn at(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Point;

    #[test]
    fn each_card_has_a_row_also_one_that_was_not_measured() {
        let point = |card: &str, own, measured| Point { card: card.into(), own, measured };
        let points = vec![point("fast", 2000.0, Some(1500.0)), point("slow<", 2.0, None)];
        let page = figures(&[Against { metric: "w.iops".into(), unit: Unit::OpsPerS, points }], 1.25).into_string();
        assert_eq!(page.matches("class=\"own\"").count(), 2);
        assert_eq!(page.matches("class=\"measured\"").count(), 1);
        assert!(page.contains("0 of 1 pairs in order"), "what was not measured is in no order: {page}");
        assert!(
            page.contains("slow&lt;") && page.contains("2 000 IOPS by its file") && !page.contains("NaN"),
            "{page}"
        );
    }
}
