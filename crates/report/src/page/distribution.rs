//! Latency by percentile on two logarithmic axes, one curve a phase; drawn once wide and once narrow.

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
const LEAST_OPERATIONS: u64 = 20;
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

/// Percentiles along the axis: 1 - 10^-nines.
const TICKS: [(f64, &str); 6] = [
    (0.0, "0 %"),
    (std::f64::consts::LOG10_2, "50 %"),
    (1.0, "90 %"),
    (2.0, "99 %"),
    (3.0, "99.9 %"),
    (4.0, "99.99 %"),
];

struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
    nines: f64,
}

impl Frame {
    fn x(&self, nines: f64) -> f64 {
        self.left + nines.min(self.nines) / self.nines * (self.width - self.left - self.right)
    }
    fn y(&self, ns: f64) -> f64 {
        let share = (ns.max(1.0).log10() - self.low) / (self.high - self.low);
        self.height - self.bottom - share * (self.height - self.top - self.bottom)
    }
}

/// Points of a curve: as many nines as its operations carry, at least ten operations beyond each.
fn line(h: &Histogram, frame: &Frame) -> String {
    let carried = (h.count() as f64 / 10.0).log10().min(frame.nines).max(0.3);
    let steps = 64;
    let mut out = String::new();
    for i in 0..=steps {
        let nines = carried * f64::from(i) / f64::from(steps);
        let Some(ns) = h.quantile(1.0 - 10f64.powf(-nines)) else { continue };
        out.push_str(&format!("{}{:.1} {:.1}", if i == 0 { "M" } else { " L" }, frame.x(nines), frame.y(ns as f64)));
    }
    out
}

fn drawing(curves: &[Curve<'_>], class: &str, width: f64, height: f64) -> Markup {
    let edge = |pick: fn(&Histogram) -> Option<u64>, fold: fn(f64, f64) -> f64, start: f64| {
        curves.iter().filter_map(|c| pick(&c.histogram)).map(|ns| (ns.max(1) as f64).log10()).fold(start, fold)
    };
    let low = edge(|h| h.quantile(0.01), f64::min, f64::INFINITY).floor();
    let high = edge(Histogram::max, f64::max, f64::NEG_INFINITY).ceil().max(low + 1.0);
    let most = curves.iter().map(|c| c.histogram.count()).max().unwrap_or(0) as f64;
    let nines = (most / 10.0).log10().clamp(1.0, 4.3);
    let frame = Frame { width, height, left: 58.0, right: 28.0, top: 10.0, bottom: 30.0, low, high, nines };
    let decades: Vec<f64> = (low as i32..=high as i32).map(f64::from).collect();
    html! {
        svg.curves.(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Latency by percentile; the table below has the numbers" {
            @for d in &decades {
                @let y = format!("{:.1}", frame.y(10f64.powf(*d)));
                line.grid x1=(frame.left) x2=(width - frame.right) y1=(y) y2=(y) {}
                text.tick x=(frame.left - 8.0) y=(y) dy="4" text-anchor="end" { (tick(*d)) }
            }
            @for (n, label) in TICKS.iter().filter(|(n, _)| *n <= nines && (*n > 0.0 || width > 500.0)) {
                @let x = format!("{:.1}", frame.x(*n));
                line.grid x1=(x) x2=(x) y1=(frame.top) y2=(height - frame.bottom) {}
                text.tick x=(x) y=(height - 10.0) text-anchor=(if *n == 0.0 { "start" } else { "middle" }) { (label) }
            }
            @for c in curves.iter().filter(|c| !c.refused) { path class=(c.class) d=(line(&c.histogram, &frame)) {} }
        }
    }
}

/// A power of ten in nanoseconds as an axis label.
pub(super) fn tick(decade: f64) -> String {
    let ns = 10f64.powf(decade);
    let (value, unit) = match decade as i32 {
        ..3 => (ns, "ns"),
        3..6 => (ns / 1e3, "us"),
        6..9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{value:.0} {unit}")
}

/// The curves with their legend as a table; `None` where no phase recorded latencies.
pub(super) fn distribution(run: &Run) -> Option<Markup> {
    let curves = curves(run);
    if curves.iter().all(|c| c.refused) {
        return None;
    }
    // A percentile needs ten operations beyond it.
    let cell = |h: &Histogram, q: f64| {
        let carried = h.count() as f64 * (1.0 - q) >= 10.0;
        h.quantile(q).filter(|_| carried).map_or_else(|| "–".to_owned(), quantity::latency)
    };
    Some(html! {
        @if curves.len() <= MOST_CURVES {
            figure {
                (drawing(&curves, "wide", 760.0, 380.0))
                (drawing(&curves, "narrow", 350.0, 330.0))
            }
        }
        div.scroll tabindex="0" role="region" aria-label="Latency percentiles" {
            table.data.percentiles {
                thead { tr { th scope="col" { "phase" } @for q in ["p50", "p90", "p99", "p99.9", "max"] { th scope="col" { (q) } } } }
                tbody {
                    @for c in &curves {
                        tr {
                            th scope="row" {
                                @if curves.len() <= MOST_CURVES { svg.sample viewBox="0 0 30 10" aria-hidden="true" { path class=(c.class) d="M1 5 H29" {} } }
                                (t(&c.name))
                            }
                            @if c.refused { td colspan="5" { span.status.refused { "refused" } } }
                            @else {
                                @for q in [0.5, 0.9, 0.99, 0.999] { td { (cell(&c.histogram, q)) } }
                                td { (c.histogram.max().map(quantity::latency).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
        p.hint { @if curves.len() <= MOST_CURVES { "Solid lines read, dashed lines write. " } "A percentile is shown where at least ten operations lie beyond it." }
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
