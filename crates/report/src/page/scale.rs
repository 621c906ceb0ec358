//! How the rate of a group grows with its ranks, as a drawing: the sum, and what it would be if each rank did as much as one alone.

use super::chart::{Area, Axis, Chart, Line, px};
use maud::{Markup, html};
use model::{ScaleCurve, ScaleKnee};

/// The drawing; nothing where fewer than two sums are valid.
pub(super) fn plot(curve: &ScaleCurve) -> Markup {
    let points: Vec<(f64, f64)> = curve.points.iter().filter_map(|p| Some((f64::from(p.ranks), p.value?))).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return html! {} };
    if points.len() < 2 {
        return html! {};
    }
    let ranks = Axis {
        low: first.0,
        high: last.0,
        logarithmic: true,
        ticks: points.iter().map(|(ranks, _)| (*ranks, ranks.to_string())).collect(),
        name: "ranks".to_owned(),
        ..Axis::default()
    };
    let highest = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let alone = curve.points.first().filter(|p| p.ranks == 1).and_then(|p| p.value);
    let line = |name: &str, class: &str, points: Vec<(f64, Option<f64>)>| Line {
        name: name.to_owned(),
        class: format!("curve {class}"),
        points,
    };
    let mut lines = vec![line("all together", "c1", points.iter().map(|(x, y)| (*x, Some(*y))).collect())];
    // As far as there is room for it.
    lines.extend(alone.map(|alone| {
        let ideal = points.iter().map(|(ranks, _)| (*ranks, Some(alone * ranks).filter(|y| *y <= highest * 1.02)));
        line("as one alone", "c2 dash", ideal.collect())
    }));
    let knee = match &curve.knee {
        ScaleKnee::At { ranks, .. } => Some(f64::from(*ranks)),
        _ => None,
    };
    let marks = |area: &Area<'_>| {
        html! {
            @if let Some(x) = knee.map(|ranks| area.x(ranks)) {
                line.kneeline x1=(px(x)) x2=(px(x)) y1=(px(area.top)) y2=(px(area.bottom)) {}
            }
            @for (ranks, rate) in &points { circle.dot.c1 cx=(px(area.x(*ranks))) cy=(px(area.y(*rate))) r="3.6" {} }
        }
    };
    let chart = Chart {
        label: format!("Rate of {} by ranks; the table below has the numbers", curve.phase),
        x: ranks,
        y: Axis::from_zero(highest, curve.unit).named("rate"),
        lines,
        marks: Some(&marks),
        height: 246.0,
        letters: 0,
    };
    html! { figure { (chart.draw()) (chart.legend(0)) } }
}
