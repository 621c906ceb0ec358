//! Latency by percentile on two logarithmic axes, one curve a phase; drawn once wide and once narrow.

use super::chart::{Axis, Chart, Line, sample};
use super::{jobs, t};
use crate::quantity;
use maud::{Markup, html};
use model::{Histogram, PhaseRun, Run, Work};
use std::borrow::Cow;

/// A phase whose latencies are drawn, with its look: colour by access pattern, dashes for writes.
struct Curve<'a> {
    name: String,
    class: String,
    histogram: Cow<'a, Histogram>,
    refused: bool,
}

/// Fewer operations are no distribution.
pub(super) const LEAST_OPERATIONS: u64 = 20;
/// More curves than this cannot be told apart: the table alone is shown.
const MOST_CURVES: usize = 14;

/// Colour classes by access pattern; others take what is left, in order.
fn colour_of(work: Work) -> Option<u8> {
    Some(match work {
        Work::MemoryCopy => return None,
        Work::SequentialRead | Work::SequentialReadPages | Work::SequentialWrite => 1,
        Work::BufferedRead | Work::BufferedWrite => 2,
        Work::RandomRead | Work::RandomWrite => 3,
        Work::QueuedRead | Work::QueuedWrite => 4,
        Work::DurableWrite | Work::LogAppend | Work::Responsive | Work::ResponsiveLoaded => 5,
    })
}

fn curves(run: &Run) -> Vec<Curve<'_>> {
    let mut taken: Vec<String> = Vec::new();
    // Each look once: its own, else what is left of its dashes, then of any, then thin.
    let mut look = |work: Option<Work>, writes: bool| {
        let of = |colour: u8, writes: bool| format!("curve c{colour}{}", if writes { " dash" } else { "" });
        let own = work.and_then(colour_of).map(|colour| of(colour, writes));
        // Those that no kind of work has come first.
        let colours = || [6, 7, 1, 2, 3, 4, 5].into_iter();
        let all = own.into_iter().chain(colours().map(|c| of(c, writes))).chain(colours().map(|c| of(c, !writes)));
        let all: Vec<String> = all.collect();
        let thin = all.iter().map(|class| format!("{class} thin"));
        let free = all.iter().cloned().chain(thin).find(|class| !taken.contains(class));
        let class = free.unwrap_or_else(|| all[0].clone());
        taken.push(class.clone());
        class
    };
    let mut out = Vec::new();
    let measured = |p: &&PhaseRun| p.plan.measures_target();
    for p in run.phases.iter().filter(measured) {
        let Some(record) = &p.record else { continue };
        let sides = jobs::sides(p);
        if sides.is_empty() && record.latency.count() >= LEAST_OPERATIONS {
            let class = look(Work::of(&p.plan), p.plan.is_write());
            let refused = p.status != model::PhaseStatus::Measured;
            out.push(Curve { name: p.plan.name.clone(), class, histogram: Cow::Borrowed(&record.latency), refused });
        }
        // Where a phase tells jobs or directions apart, one curve over all of them would be a mixture.
        for side in sides.into_iter().filter(|s| s.latency.count() >= LEAST_OPERATIONS) {
            let name = format!("{}, {}", p.plan.name, side.name);
            let class = look(None, side.writes);
            out.push(Curve { name, class, histogram: Cow::Owned(side.latency), refused: false });
        }
    }
    out
}

/// Nines that are drawn at most.
const MOST_NINES: f64 = 4.3;
/// Percentiles along the axis: 1 - 10^-nines.
const TICKS: [(f64, &str); 6] = [
    (0.0, "0 %"),
    (std::f64::consts::LOG10_2, "50 %"),
    (1.0, "90 %"),
    (2.0, "99 %"),
    (3.0, "99.9 %"),
    (4.0, "99.99 %"),
];

/// As many nines as its operations carry, at least ten operations beyond each.
fn carried(h: &Histogram) -> f64 {
    (h.count() as f64 / 10.0).log10().clamp(0.3, MOST_NINES)
}

/// Curves with their looks, each as far as its operations carry it; `None` where there is none.
pub(super) fn by_percentile(label: String, curves: Vec<(String, &Histogram)>, height: f64) -> Option<Chart<'static>> {
    const STEPS: u32 = 64;
    let nines = curves.iter().map(|(_, h)| carried(h)).fold(1.0, f64::max);
    let line = |(class, h): (String, &Histogram)| {
        let point = |i| {
            let nines = carried(h) * f64::from(i) / f64::from(STEPS);
            (nines, h.quantile(1.0 - 10f64.powf(-nines)).map(|ns| ns as f64))
        };
        Line { class, points: (0..=STEPS).map(point).collect(), ..Line::default() }
    };
    let first = curves.iter().filter_map(|(_, h)| h.quantile(0.01)).map(|ns| ns as f64).collect::<Vec<_>>();
    let lines: Vec<Line> = curves.into_iter().map(line).collect();
    let times = lines.iter().flat_map(|l| &l.points).filter_map(|p| p.1);
    let ticks = TICKS.iter().filter(|t| t.0 <= nines).map(|(at, name)| (*at, (*name).to_owned())).collect();
    Some(Chart {
        label,
        y: Axis::times(times.chain(first))?,
        x: Axis { high: nines, ticks, grid: true, ..Axis::default() },
        lines,
        height,
        ..Chart::default()
    })
}

/// The curves with their legend as a table; `None` where no phase recorded latencies.
pub(super) fn distribution(run: &Run) -> Option<Markup> {
    let curves = curves(run);
    if curves.iter().all(|c| c.refused) {
        return None;
    }
    let label = "Latency by percentile; the table below has the numbers".to_owned();
    let drawn = || curves.iter().filter(|c| !c.refused).map(|c| (c.class.clone(), c.histogram.as_ref())).collect();
    let chart = (curves.len() <= MOST_CURVES).then(|| by_percentile(label, drawn(), 360.0)).flatten();
    Some(html! {
        @if let Some(chart) = &chart { figure { (chart.draw()) } }
        div.scroll tabindex="0" role="region" aria-label="Latency percentiles" {
            table.data.percentiles {
                thead { tr { th scope="col" { "phase" } @for q in ["p50", "p90", "p99", "p99.9", "max"] { th scope="col" { (q) } } } }
                tbody {
                    @for c in &curves {
                        tr {
                            th scope="row" {
                                @if chart.is_some() { (sample(&c.class)) }
                                (t(&c.name))
                            }
                            @if c.refused { td colspan="5" { span.status.refused { "refused" } } }
                            @else {
                                @for q in [0.5, 0.9, 0.99, 0.999] { td { (jobs::percentile(&c.histogram, q)) } }
                                td { (c.histogram.max().map(quantity::latency).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
        p.hint { @if chart.is_some() { "Solid lines read, dashed lines write. " } "A percentile is shown where at least ten operations lie beyond it." }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Access, Operation, Order, PhaseRecord};

    #[test]
    fn no_two_curves_of_a_drawing_look_alike() {
        let mut latency = Histogram::new();
        latency.record_n(1_000, 100);
        let kinds = [
            ("seq-read", Operation::Read, Order::Sequential, 1 << 20, 8),
            ("small-pages", Operation::Read, Order::Sequential, 1 << 20, 8),
            ("seq-write", Operation::Write, Order::Sequential, 1 << 20, 8),
            ("rand-read", Operation::Read, Order::Random, 4096, 1),
            ("rand-write", Operation::Write, Order::Random, 4096, 1),
        ];
        let phase = |i: usize| {
            let (name, operation, order, block, depth) = kinds[i % kinds.len()];
            let stream = test_runs::stream(operation, order, block << (i / kinds.len()), depth);
            let plan = test_runs::plan(&format!("{name}-{i}"), Access::Direct, vec![stream]);
            let record = PhaseRecord { latency: latency.clone(), ..PhaseRecord::default() };
            test_runs::measured(plan, record, vec![])
        };
        let run = test_runs::run((0..MOST_CURVES).map(phase).collect());
        let mut looks: Vec<String> = curves(&run).into_iter().map(|c| c.class).collect();
        assert_eq!(looks.len(), MOST_CURVES);
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), MOST_CURVES, "{looks:?}");
    }
}
