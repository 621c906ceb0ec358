//! Rounds until steady: the rate of each, with the window that is looked at, its mean and the range that is allowed.

use super::chart::{Area, Axis, Chart, px};
use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{PhaseRun, Run, SteadyRecord, StopRule, Unit};

fn rate(round: &model::SteadyRound) -> f64 {
    round.bytes as f64 * 1e9 / round.length_ns.max(1) as f64
}

fn drawing(record: &SteadyRecord, allowed: Option<f64>) -> Markup {
    let rounds = &record.rounds;
    let first = rounds.len().saturating_sub(record.window_rounds as usize);
    let window = &rounds[first..];
    let mean = window.iter().map(rate).sum::<f64>() / window.len().max(1) as f64;
    let whole = record.window_rounds as usize <= rounds.len();
    let edges = allowed.map(|range| [1.0 + range / 2.0, 1.0 - range / 2.0].map(|of| ("allowed", mean * of)));
    let levels: Vec<_> = std::iter::once(("mean", mean)).chain(edges.into_iter().flatten()).filter(|_| whole).collect();
    let marks = |area: &Area<'_>| {
        let from = area.x(first as f64);
        html! {
            @if whole { rect.window x=(px(from)) y=(px(area.top)) width=(px(area.right - from)) height=(px(area.bottom - area.top)) {} }
            @for (i, round) in rounds.iter().enumerate() {
                @let [x, end] = [0.14, 0.86].map(|part| area.x(i as f64 + part));
                @let y = area.y(rate(round));
                rect.round.counted[i >= first && whole] x=(px(x)) width=(px(end - x)) y=(px(y)) height=(px(area.bottom - y)) {
                    title { "round " (i + 1) ": " (quantity::rate(rate(round))) }
                }
            }
            @for (look, level) in &levels { line.(look) x1=(px(from)) x2=(px(area.right)) y1=(px(area.y(*level))) y2=(px(area.y(*level))) {} }
        }
    };
    let ticks = (0..rounds.len()).map(|i| (i as f64 + 0.5, (i + 1).to_string())).collect();
    let chart = Chart {
        label: "Rate of each round; the window that is looked at is marked".to_owned(),
        x: Axis { high: rounds.len() as f64, ticks, name: "round".to_owned(), ..Axis::default() },
        y: Axis::from_zero(
            rounds.iter().map(rate).chain(levels.iter().map(|l| l.1)).fold(0.0, f64::max),
            Unit::BytesPerS,
        ),
        marks: Some(&marks),
        height: 260.0,
        ..Chart::default()
    };
    html! { figure { (chart.draw()) } }
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
        (drawing(record, allowed))
        p.hint { (words(record)) " The window is shaded; the solid line is its mean, the dashed ones the range allowed around it." }
    })
}

/// All phases that go by rounds; `None` if there are none.
pub(super) fn rounds(run: &Run) -> Option<Markup> {
    let all: Vec<Markup> = run.phases.iter().filter_map(of_phase).collect();
    (!all.is_empty()).then(|| html! { @for one in &all { (one) } })
}
