//! Cards as their files say and as they were measured, drawn metric by metric.

use crate::card::CardsByMetric;
use maud::{Markup, html};
use report::chart::{Area, Axis, Chart, px};
use report::{quantity, text_of as t};

/// Height of a card.
const ROW: f64 = 22.0;

/// One small chart a metric.
pub(super) fn figures(all: &[CardsByMetric], apart: f64) -> Markup {
    html! { div.pile { @for against in all { (figure(against, apart)) } } }
}

fn figure(against: &CardsByMetric, apart: f64) -> Markup {
    let (pairs, reversed) = against.order(apart);
    let values = against.points.iter().flat_map(|p| [Some(p.own), p.measured]).flatten();
    let count = against.points.len() as f64;
    let at = |i: usize| count - i as f64 - 0.5;
    let marks = |area: &Area<'_>| {
        html! {
            @for (i, point) in against.points.iter().enumerate() {
                @let (own, y) = (px(area.x(point.own)), px(area.y(at(i))));
                @if let Some(measured) = point.measured.map(|m| px(area.x(m))) {
                    line.between x1=(own) x2=(measured) y1=(y) y2=(y) {}
                    circle.measured cx=(measured) cy=(y) r="4" {}
                }
                circle.own cx=(own) cy=(y) r="5" {}
                title { (title(point.own, point.measured, against)) }
            }
        }
    };
    let names = against.points.iter().enumerate().map(|(i, point)| (at(i), point.card.clone()));
    let chart = Chart {
        label: format!("{} of each card, by its file and measured", against.metric),
        x: Axis::rates(values, against.unit).unwrap_or_default(),
        y: Axis { high: count, ticks: names.collect(), ..Axis::default() },
        marks: Some(&marks),
        height: 40.0 + ROW * count,
        ..Chart::default()
    };
    html! {
        figure {
            figcaption { (t(&against.metric)) " " small { (pairs - reversed.len()) " of " (pairs) " pairs in order" } }
            (chart.of_width(400.0))
        }
    }
}

fn title(own: f64, measured: Option<f64>, against: &CardsByMetric) -> String {
    let measured = measured.map_or_else(|| "not measured".to_owned(), |m| quantity::quantity(m, against.unit));
    format!("{} by its file, {measured}", quantity::quantity(own, against.unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::Point;
    use model::Unit;

    #[test]
    fn each_card_has_a_row_also_one_that_was_not_measured() {
        let point = |card: &str, own, measured| Point { card: card.into(), own, measured };
        let points = vec![point("fast", 2000.0, Some(1500.0)), point("slow<", 2.0, None)];
        let page =
            figures(&[CardsByMetric { metric: "w.iops".into(), unit: Unit::OpsPerS, points }], 1.25).into_string();
        assert_eq!(page.matches("class=\"own\"").count(), 2);
        assert_eq!(page.matches("class=\"measured\"").count(), 1);
        assert!(page.contains("0 of 1 pairs in order"), "what was not measured is in no order: {page}");
        assert!(
            page.contains("slow&lt;") && page.contains("2 000 IOPS by its file") && !page.contains("NaN"),
            "{page}"
        );
    }
}
