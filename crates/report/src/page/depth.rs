//! A depth curve as a drawing: the rate above, latencies below, on one logarithmic axis of depth, with the knee marked.

use super::distribution::tick;
use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{DepthCurve, Knee, Metric, Run};

struct Point {
    depth: f64,
    rate: Option<(f64, f64, f64)>,
    p50: Option<f64>,
    p99: Option<f64>,
}

fn points(run: &Run, curve: &DepthCurve, places: &[usize]) -> Vec<Point> {
    let metric = |place: usize, quantity: &str| run.metric(&format!("{}.{quantity}", run.phases[place].plan.name));
    let interval = |m: &Metric| m.value.map(|v| (m.low.unwrap_or(v), v, m.high.unwrap_or(v)));
    places
        .iter()
        .zip(&curve.depths)
        .map(|(i, depth)| Point {
            depth: f64::from(*depth),
            rate: metric(*i, "iops").and_then(interval),
            p50: metric(*i, "latency_ns_p50").and_then(|m| m.value),
            p99: metric(*i, "latency_ns_p99").and_then(|m| m.value),
        })
        .collect()
}

/// Numbers below which nothing is, evenly spread up to the highest: 0, 20 000, 40 000.
fn even_ticks(highest: f64) -> Vec<f64> {
    let rough = highest / 4.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    (0..=5).map(|i| f64::from(i) * step).take_while(|v| *v <= highest * 1.001 + step * 0.5).collect()
}

struct Panel {
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Panel {
    fn y(&self, v: f64) -> f64 {
        let v = if self.logarithmic { v.max(1.0).log10() } else { v };
        self.bottom - (v - self.low) / (self.high - self.low).max(f64::MIN_POSITIVE) * (self.bottom - self.top)
    }
}

/// A line through the points that are there; a missing one is a gap.
fn line(points: &[(f64, Option<f64>)]) -> String {
    let mut out = String::new();
    let mut open = false;
    for (x, y) in points {
        match y {
            Some(y) => {
                out.push_str(&format!("{}{x:.1} {y:.1} ", if open { "L" } else { "M" }));
                open = true;
            }
            None => open = false,
        }
    }
    out
}

fn drawing(points: &[Point], curve: &DepthCurve, class: &str, width: f64) -> Markup {
    let (left, right) = (64.0, 16.0);
    let height = 446.0;
    let edge = |p: &Point| p.depth.log2();
    let (first, last) = (points.first().map_or(0.0, edge), points.last().map_or(1.0, edge));
    let x = |depth: f64| left + (depth.log2() - first) / (last - first).max(0.1) * (width - left - right);
    let highest = points.iter().filter_map(|p| p.rate).map(|r| r.2).fold(0.0, f64::max);
    let ticks = even_ticks(highest.max(1.0));
    let top = ticks.last().copied().unwrap_or(1.0).max(highest);
    let rates = Panel { top: 26.0, bottom: 215.0, low: 0.0, high: top, logarithmic: false };
    let waits = || points.iter().flat_map(|p| [p.p50, p.p99]).flatten().map(|v| v.max(1.0).log10());
    let low = waits().fold(f64::INFINITY, f64::min).floor();
    let high = waits().fold(f64::NEG_INFINITY, f64::max).ceil().max(low + 1.0);
    let known = low.is_finite() && high.is_finite();
    let latencies = Panel { top: 262.0, bottom: 400.0, low, high, logarithmic: true };
    let knee = if let Knee::At { depth, .. } = &curve.knee { Some(*depth) } else { None };
    let rate_line: Vec<_> = points.iter().map(|p| (x(p.depth), p.rate.map(|r| rates.y(r.1)))).collect();
    let wait_line = |pick: fn(&Point) -> Option<f64>| -> Vec<_> {
        points.iter().map(|p| (x(p.depth), pick(p).map(|v| latencies.y(v)))).collect()
    };
    let at = |v: f64| format!("{v:.1}");
    html! {
        svg.curves.(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Operations per second and latency by depth; the table below has the numbers" {
            text.axis x=(left) y="14" { "IOPS" }
            @for v in &ticks {
                line.grid x1=(left) x2=(width - right) y1=(at(rates.y(*v))) y2=(at(rates.y(*v))) {}
                text.tick x=(left - 8.0) y=(at(rates.y(*v))) dy="4" text-anchor="end" { (quantity::count(*v as u64)) }
            }
            @if known {
                text.axis x=(left) y="252" { "latency: p50 solid, p99 dashed" }
                @for d in low as i32..=high as i32 {
                    @let y = at(latencies.y(10f64.powi(d)));
                    line.grid x1=(left) x2=(width - right) y1=(y) y2=(y) {}
                    text.tick x=(left - 8.0) y=(y) dy="4" text-anchor="end" { (tick(f64::from(d))) }
                }
            }
            @for p in points { text.tick x=(at(x(p.depth))) y="420" text-anchor="middle" { (p.depth) } }
            text.axis x=((left + width - right) / 2.0) y="438" text-anchor="middle" { "queue depth" }
            @if let Some(depth) = knee {
                @let kx = x(f64::from(depth));
                line.kneeline x1=(at(kx)) x2=(at(kx)) y1="20" y2="400" {}
                @let end = kx > width - 110.0;
                text.kneelabel x=(at(if end { kx - 6.0 } else { kx.max(left + 40.0) + 6.0 })) y="14" text-anchor=(if end { "end" } else { "start" }) { "knee at " (depth) }
            }
            path.curve.c1 d=(line(&rate_line)) {}
            @for p in points {
                @if let Some((low, v, high)) = p.rate {
                    @if rates.y(low) - rates.y(high) > 3.0 { path.whisker d=(format!("M{0:.1} {1:.1} V{2:.1}", x(p.depth), rates.y(low), rates.y(high))) {} }
                    circle.dot.c1 cx=(at(x(p.depth))) cy=(at(rates.y(v))) r="3.6" {}
                }
            }
            @if known {
                path.curve.c3 d=(line(&wait_line(|p| p.p50))) {}
                path.curve.c2.dash d=(line(&wait_line(|p| p.p99))) {}
            }
        }
    }
}

/// The drawing, wide and narrow; nothing where no rate stands.
pub(super) fn plot(run: &Run, curve: &DepthCurve, places: &[usize]) -> Markup {
    let points = points(run, curve, places);
    if points.iter().filter(|p| p.rate.is_some()).count() < 2 {
        return html! { p.hint { (t("Too few depths have a valid rate to draw a curve.")) } };
    }
    html! { figure { (drawing(&points, curve, "wide", 760.0)) (drawing(&points, curve, "narrow", 350.0)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_even_and_reach_the_top() {
        assert_eq!(even_ticks(108_000.0), [0.0, 50_000.0, 100_000.0]);
        for highest in [3.0, 17.0, 990.0, 5_000.0, 1e6, 123_456_789.0] {
            let ticks = even_ticks(highest);
            assert!((3..=6).contains(&ticks.len()), "{highest}: {ticks:?}");
            assert!(ticks.windows(2).all(|w| ((w[1] - w[0]) - (ticks[1] - ticks[0])).abs() < 1e-6 * highest));
            assert!(ticks.last().is_some_and(|l| *l >= highest * 0.7), "{highest}: {ticks:?}");
        }
    }

    #[test]
    fn a_missing_point_is_a_gap() {
        assert_eq!(line(&[(1.0, Some(2.0)), (2.0, None), (3.0, Some(4.0))]).trim(), "M1.0 2.0 M3.0 4.0");
    }
}
