//! One small drawing a phase: its rate from start to end, with stalls marked. Works without scripts and on paper.

use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{Interval, PhaseRun, PhaseStatus, Run, Unit, json_name};

/// Columns of a strip; several intervals share one where there are more.
const COLUMNS: usize = 240;

/// Lowest and mean rate of each column, 0 to 1 of the highest.
struct Column {
    mean: f64,
    stalled: bool,
}

fn columns(intervals: &[Interval]) -> Vec<Column> {
    let whole: Vec<&Interval> = intervals.iter().filter(|i| i.length_ns > 0).collect();
    let group = whole.len().div_ceil(COLUMNS).max(1);
    let mut out: Vec<Column> = whole
        .chunks(group)
        .map(|c| {
            let (operations, time) = c.iter().fold((0, 0), |(o, t), i| (o + i.operations, t + i.length_ns));
            Column { mean: operations as f64 / time.max(1) as f64, stalled: c.iter().any(|i| i.operations == 0) }
        })
        .collect();
    let highest = out.iter().map(|c| c.mean).fold(0.0, f64::max);
    if highest > 0.0 {
        out.iter_mut().for_each(|c| c.mean /= highest);
    }
    out
}

fn strip(run: &Run, phase: &PhaseRun) -> Option<Markup> {
    let record = phase.record.as_ref()?;
    let columns = columns(&record.whole_intervals());
    if columns.len() < 2 {
        return None;
    }
    let step = 1000.0 / columns.len() as f64;
    let mut area = String::from("M0 100");
    for (i, c) in columns.iter().enumerate() {
        let (x, y) = (i as f64 * step, 100.0 - c.mean * 96.0);
        area.push_str(&format!(" L{x:.1} {y:.1} H{:.1}", x + step));
    }
    area.push_str(" V100 Z");
    let stalls: String = columns
        .iter()
        .enumerate()
        .filter(|(_, c)| c.stalled)
        .map(|(i, _)| format!("M{:.1} 90 h{step:.1} v10 h-{step:.1} Z ", i as f64 * step))
        .collect();
    // What a recording and a soak did has no plan: they write.
    let writes =
        phase.plan.is_write() || phase.plan.streams.is_empty() && ["record", "soak"].contains(&run.command.as_str());
    let look = match (phase.status, writes) {
        (PhaseStatus::Refused, _) => "untrue",
        (_, true) => "write",
        (_, false) => "read",
    };
    let cut = record.warmup.cut_ns as f64 / record.duration_ns().max(1) as f64 * 1000.0;
    let share = |ns: u64| ns as f64 / record.duration_ns().max(1) as f64 * 1000.0;
    let changes: Vec<String> = phase.changes.iter().map(|c| format!("{:.1}", share(c.at_ns).min(1000.0))).collect();
    Some(html! {
        svg.strip viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label=(format!("Rate of {} over time", t(&phase.plan.name))) {
            path.area.(look) d=(area) {}
            @if !stalls.is_empty() { path.stall d=(stalls) {} }
            @for x in &changes { line.changed x1=(x) x2=(x) y1="0" y2="100" {} }
            @if cut > 0.0 { rect.warmup x="0" y="0" width=(format!("{:.1}", cut.min(1000.0))) height="100" {} }
        }
    })
}

/// What stands for the phase in one line.
fn main_number(phase: &PhaseRun) -> Option<String> {
    let random =
        phase.plan.streams.first().is_some_and(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes < 65_536));
    let wanted = if random { [Unit::OpsPerS, Unit::FilesPerS] } else { [Unit::BytesPerS; 2] };
    phase.metrics.iter().find(|m| wanted.contains(&m.unit)).and_then(quantity::metric).map(|s| s.with_interval("±"))
}

/// All phases, in order.
pub(super) fn strips(run: &Run) -> Markup {
    html! {
        ol.strips {
            @for p in &run.phases {
                li {
                    p.name { b { (t(&p.plan.name)) }
                        @if p.plan.copies_memory() && p.plan.name != "memory-copy" { " " span.quiet { "memory copy" } }
                    }
                    p.amount {
                        @if p.status == PhaseStatus::Measured {
                            (main_number(p).unwrap_or_default())
                            @if p.steady == Some(false) { " " span.chip.unsure { "not steady" } }
                        } @else {
                            span.status.(if p.status == PhaseStatus::Refused { "refused" } else { "skipped" }) { (json_name(&p.status).replace('-', " ")) }
                        }
                    }
                    @if let Some(strip) = strip(run, p) { (strip) }
                    @for r in &p.reasons { p.reason { (t(&r.to_string())) } }
                }
            }
        }
        p.hint { span.key.warmup {} " warm-up, not counted  " span.key.stall {} " no operation completed"
            @if run.phases.iter().any(|p| !p.changes.is_empty()) { "  " span.dash {} " the rate changed for good" }
        }
    }
}
