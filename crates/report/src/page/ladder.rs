//! The ladder: memory, link, direct and buffered rates as bars on one scale.

use super::t;
use crate::copy::routine;
use crate::headline::status_word;
use crate::{quantity, storage};
use maud::{Markup, html};
use model::{LayerKind, Metric, Run, Unit, Work};

/// A bar this many times longer than the longest measured one is drawn broken.
const BREAK_RATIO: f64 = 2.5;

struct Rung<'a> {
    name: String,
    kind: &'static str,
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    metric: Option<&'a Metric>,
}

fn rungs(run: &Run) -> Vec<Rung<'_>> {
    let measured = |name: &str, kind: &'static str, work: Work| {
        run.metric_of_work(work, "throughput_bytes_per_s").map(|m| Rung {
            name: name.to_owned(),
            kind,
            value: m.value,
            interval: m.low.zip(m.high),
            metric: Some(m),
        })
    };
    let mut out: Vec<Rung<'_>> = Vec::new();
    out.extend(measured(&format!("memory copy, {}", routine(run)), "memory", Work::MemoryCopy));
    for link in run.target.stack.all(LayerKind::Link).filter(|l| l.ceiling_bytes_per_s.is_some()).take(2) {
        out.push(Rung {
            name: format!("link {}", t(&storage::link_name(link))),
            kind: "ceiling",
            value: link.ceiling_bytes_per_s.map(|c| c as f64),
            interval: None,
            metric: None,
        });
    }
    for (name, kind, work) in [
        ("direct read", "read", Work::SequentialRead),
        ("buffered read", "read", Work::BufferedRead),
        ("direct write", "write", Work::SequentialWrite),
        ("buffered write", "write", Work::BufferedWrite),
    ] {
        out.extend(measured(name, kind, work));
    }
    out
}

/// The ladder as bars with intervals; the lowest ceiling is a dashed line through all.
pub(super) fn ladder(run: &Run) -> Markup {
    let rungs = rungs(run);
    let measured_max = rungs
        .iter()
        .filter(|r| r.kind == "read" || r.kind == "write")
        .filter_map(|r| r.interval.map_or(r.value, |(_, high)| Some(high)))
        .fold(0.0, f64::max);
    let all_max = rungs.iter().filter_map(|r| r.value).fold(0.0, f64::max);
    let base = if measured_max > 0.0 { measured_max } else { all_max };
    let scale = rungs.iter().filter_map(|r| r.value).filter(|v| *v <= base * BREAK_RATIO).fold(base, f64::max) * 1.06;
    let ceiling = run
        .target
        .stack
        .lowest_ceiling()
        .and_then(|l| Some((storage::link_text(l), l.ceiling_bytes_per_s? as f64)))
        .filter(|(_, c)| *c < scale);
    let x = |v: f64| if scale > 0.0 { (v / scale * 1000.0).clamp(0.0, 1000.0) } else { 0.0 };
    html! {
        div.ladder role="list" {
            @for r in &rungs {
                div.rung.(r.kind) role="listitem" {
                    span.name { (r.name) }
                    span.bar {
                        svg viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true" {
                            rect.track x="0" y="0" width="1000" height="20" {}
                            @if let Some(v) = r.value {
                                rect.fill x="0" y="0" width=(format!("{:.1}", x(v))) height="20" {}
                                @if v > scale {
                                    path.break d="M905 -2 L890 8 L905 12 L890 22 L915 22 L930 12 L915 8 L930 -2 Z" {}
                                }
                            }
                            @if let Some((_, c)) = &ceiling {
                                line.limit x1=(format!("{:.1}", x(*c))) x2=(format!("{:.1}", x(*c))) y1="-4" y2="24" {}
                            }
                            @if let Some((low, high)) = r.interval.filter(|(l, h)| x(*h) - x(*l) > 2.0 && r.value.is_some_and(|v| v <= scale)) {
                                path.whisker d=(format!("M{0:.1} 10 H{1:.1} M{0:.1} 4 V16 M{1:.1} 4 V16", x(low), x(high))) {}
                            }
                        }
                    }
                    span.amount {
                        @match (r.metric, r.value) {
                            (Some(m), Some(_)) => { @if let Some(s) = quantity::metric(m) {
                                b { (s.number) } " " (s.unit) @if let Some(h) = &s.half_width { " " span.half { "± " (h) } }
                            } },
                            (None, Some(v)) => { b { (quantity::quantity(v, Unit::BytesPerS)) } " " span.half { "line rate" } },
                            (Some(m), None) => {
                                span.status.(if m.status == model::MetricStatus::Refused { "refused" } else { "skipped" }) { (status_word(m.status)) }
                                @if m.status != model::MetricStatus::NotApplicable && let Some(code) = m.reasons.first().and_then(|r| r.code()) { " " (t(code)) }
                            },
                            (None, None) => {},
                        }
                    }
                }
            }
        }
        @if let Some((name, _)) = &ceiling {
            p.hint { span.dash {} " the lowest ceiling of the path that is known: " (t(name)) }
        }
        @if rungs.iter().any(|r| r.value.is_some_and(|v| v > scale)) {
            p.hint { "A broken bar is longer than the scale." }
        }
    }
}
