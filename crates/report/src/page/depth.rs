//! A depth curve as drawings: the rate, and latencies below it, on one logarithmic axis of depth, with the knee marked.

use super::chart::{Area, Axis, Chart, Line, px};
use super::t;
use maud::{Markup, html};
use model::{DepthCurve, Knee, Metric, Run, Unit};

/// The drawings; a sentence where no rate is valid.
pub(super) fn plot(run: &Run, curve: &DepthCurve, places: &[usize]) -> Markup {
    let metrics = |quantity: &str| -> Vec<(f64, Option<&Metric>)> {
        let of = |(i, depth): (&usize, &u32)| {
            (f64::from(*depth), run.metric(&format!("{}.{quantity}", run.phases[*i].plan.name)))
        };
        places.iter().zip(&curve.depths).map(of).collect()
    };
    let line = |name: &str, class: &str, quantity: &str| {
        let points = metrics(quantity).into_iter().map(|(depth, m)| (depth, m.and_then(|m| m.value))).collect();
        Line { name: name.to_owned(), class: format!("curve {class}"), points }
    };
    let rates: Vec<(f64, [f64; 3])> = metrics("iops")
        .into_iter()
        .filter_map(|(depth, m)| {
            let v = m?.value?;
            Some((depth, [m?.low.unwrap_or(v), v, m?.high.unwrap_or(v)]))
        })
        .collect();
    if rates.len() < 2 {
        return html! { p.hint { (t("Too few depths have a valid rate to draw a curve.")) } };
    }
    let depths: Vec<f64> = curve.depths.iter().map(|d| f64::from(*d)).collect();
    let depth = Axis {
        low: depths[0],
        high: depths[depths.len() - 1],
        logarithmic: true,
        ticks: depths.iter().map(|d| (*d, d.to_string())).collect(),
        name: "queue depth".to_owned(),
        ..Axis::default()
    };
    let knee = match &curve.knee {
        Knee::At { depth, .. } => Some(*depth),
        _ => None,
    };
    let knee_line = |area: &Area<'_>| {
        let x = knee.map(|depth| px(area.x(f64::from(depth))));
        html! { @if let Some(x) = x { line.kneeline x1=(x) x2=(x) y1=(px(area.top)) y2=(px(area.bottom)) {} } }
    };
    let knee_named = |area: &Area<'_>| {
        let Some(depth) = knee else { return html! {} };
        let x = area.x(f64::from(depth));
        let end = x > area.right - 94.0;
        html! {
            (knee_line(area))
            text.kneelabel x=(px(if end { x - 6.0 } else { x.max(area.left + 60.0) + 6.0 })) y="14" text-anchor=(if end { "end" } else { "start" }) { "knee at " (depth) }
        }
    };
    let marks = |area: &Area<'_>| {
        html! {
            (knee_named(area))
            @for (depth, [low, v, high]) in &rates {
                @let x = px(area.x(*depth));
                @if area.y(*low) - area.y(*high) > 3.0 { path.whisker d=(format!("M{x} {} V{}", px(area.y(*low)), px(area.y(*high)))) {} }
                circle.dot.c1 cx=(x) cy=(px(area.y(*v))) r="3.6" {}
            }
        }
    };
    let highest = rates.iter().map(|r| r.1[2]).fold(0.0, f64::max);
    let rate = Chart {
        label: "Operations per second by depth; the table below has the numbers".to_owned(),
        x: Axis { name: String::new(), ..depth.clone() },
        y: Axis::from_zero(highest, Unit::OpsPerS).named("rate"),
        lines: vec![line("IOPS", "c1", "iops")],
        marks: Some(&marks),
        height: 246.0,
        letters: 0,
    };
    let lines = vec![line("latency p50", "c3", "latency_ns_p50"), line("latency p99", "c2 dash", "latency_ns_p99")];
    let waits = Axis::times(lines.iter().flat_map(|l| &l.points).filter_map(|p| p.1)).map(|y| Chart {
        label: "Latency by depth; the table below has the numbers".to_owned(),
        x: depth,
        y: y.named("latency"),
        lines,
        marks: Some(&knee_line),
        height: 220.0,
        letters: rate.longest(),
    });
    html! { figure { (rate.draw()) @if let Some(waits) = waits { (waits.draw()) (waits.legend(0)) } } }
}
