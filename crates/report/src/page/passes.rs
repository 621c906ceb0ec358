//! A soak pass by pass: its rate, and how long its writes took.

use super::chart::Line;
use super::reports::figure;
use maud::{Markup, html};
use model::{PhaseRun, Run, Unit};

/// Fewer passes are no line.
const LEAST_PASSES: usize = 3;

fn number(phase: &PhaseRun) -> Option<&str> {
    phase.plan.name.strip_prefix("pass-").filter(|_| phase.record.is_none())
}

/// The drawings; `None` where it is no soak of some passes.
pub(super) fn passes(run: &Run) -> Option<Markup> {
    let passes: Vec<&PhaseRun> = run.phases.iter().filter(|p| run.command == "soak" && number(p).is_some()).collect();
    let ends = [number(passes.first()?)?, number(passes.last()?)?];
    if passes.len() < LEAST_PASSES {
        return None;
    }
    let line = |name: &str, quantity: &str| {
        let value = |p: &PhaseRun| run.metric(&format!("{}.{quantity}", p.plan.name)).and_then(|m| m.value);
        let points = passes.iter().enumerate().map(|(i, p)| (i as f64, value(p))).collect();
        Line { name: name.to_owned(), points, ..Line::default() }
    };
    let rate = vec![line("write", "throughput_bytes_per_s")];
    let times = vec![line("median write", "latency_ns_p50"), line("slowest hundredth of the writes", "latency_ns_p99")];
    Some(html! {
        (figure("Rate of the writes", rate, 0, Unit::BytesPerS, ("pass by pass, without reading back", "number of the pass"), ends))
        (figure("Time of a write", times, 0, Unit::Ns, ("pass by pass", "number of the pass"), ends))
    })
}
