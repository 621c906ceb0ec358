//! Rounds until steady: the rate of each, with the window that is looked at, its mean and the range that is allowed.

use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{PhaseRun, Run, SteadyRecord, StopRule};

fn rate(round: &model::SteadyRound) -> f64 {
    round.bytes as f64 * 1e9 / round.length_ns.max(1) as f64
}

fn drawing(record: &SteadyRecord, allowed: Option<f64>, class: &str, width: f64) -> Markup {
    let (left, right, top, bottom, height) = (84.0, 14.0, 12.0, 212.0, 260.0);
    let rounds = &record.rounds;
    let highest = rounds.iter().map(rate).fold(1.0, f64::max) * 1.08;
    let slot = (width - left - right) / rounds.len().max(1) as f64;
    let y = |v: f64| bottom - v / highest * (bottom - top);
    let first = rounds.len().saturating_sub(record.window_rounds as usize);
    let window = &rounds[first..];
    let mean = window.iter().map(rate).sum::<f64>() / window.len().max(1) as f64;
    let whole = record.window_rounds as usize <= rounds.len();
    let at = |v: f64| format!("{v:.1}");
    let wx = left + first as f64 * slot;
    html! {
        svg.curves.(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Rate of each round; the window that is looked at is marked" {
            @for share in [0.0, 0.5, 1.0] {
                @let v = highest / 1.08 * share;
                line.grid x1=(left) x2=(width - right) y1=(at(y(v))) y2=(at(y(v))) {}
                text.tick x=(left - 8.0) y=(at(y(v))) dy="4" text-anchor="end" { (quantity::rate(v)) }
            }
            @if whole {
                rect.window x=(at(wx)) y=(top) width=(at(width - right - wx)) height=(at(bottom - top)) {}
            }
            @for (i, round) in rounds.iter().enumerate() {
                rect.round.counted[i >= first && whole] x=(at(left + i as f64 * slot + slot * 0.14)) width=(at(slot * 0.72)) y=(at(y(rate(round)))) height=(at(bottom - y(rate(round)))) {
                    title { "round " (i + 1) ": " (quantity::rate(rate(round))) }
                }
                @if rounds.len() <= 12 || i % 5 == 4 || i == 0 { text.tick x=(at(left + (i as f64 + 0.5) * slot)) y="230" text-anchor="middle" { (i + 1) } }
            }
            text.axis x=((left + width - right) / 2.0) y="250" text-anchor="middle" { "round" }
            @if whole {
                line.mean x1=(at(wx)) x2=(at(width - right)) y1=(at(y(mean))) y2=(at(y(mean))) {}
                @if let Some(range) = allowed {
                    @for edge in [mean * (1.0 + range / 2.0), mean * (1.0 - range / 2.0)] {
                        line.allowed x1=(at(wx)) x2=(at(width - right)) y1=(at(y(edge))) y2=(at(y(edge))) {}
                    }
                }
            }
        }
    }
}

fn words(record: &SteadyRecord) -> String {
    let n = record.rounds.len();
    let reached = if record.reached { "Steady" } else { "Not steady" };
    let percent = |v: Option<f64>| v.map_or("unknown".to_owned(), crate::run::percent);
    format!(
        "{reached} after {n} rounds. Of the window's mean, its range is {} and the rise of its line {}.",
        percent(record.range_ratio),
        percent(record.slope_ratio)
    )
}

fn of_phase(phase: &PhaseRun) -> Option<Markup> {
    let record = phase.record.as_ref()?.steady.as_ref().filter(|r| !r.rounds.is_empty())?;
    let allowed = match phase.plan.stop {
        StopRule::SteadyRounds(steady) if steady.range_permille != u32::MAX => {
            Some(f64::from(steady.range_permille) / 1000.0)
        }
        _ => None,
    };
    Some(html! {
        h3.form { (t(&phase.plan.name)) }
        figure { (drawing(record, allowed, "wide", 760.0)) (drawing(record, allowed, "narrow", 350.0)) }
        p.hint { (words(record)) " The window is shaded; the solid line is its mean, the dashed ones the range allowed around it." }
    })
}

/// All phases that go by rounds; `None` if there are none.
pub(super) fn rounds(run: &Run) -> Option<Markup> {
    let all: Vec<Markup> = run.phases.iter().filter_map(of_phase).collect();
    (!all.is_empty()).then(|| html! { @for one in &all { (one) } })
}
