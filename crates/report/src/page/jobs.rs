//! Jobs and directions of phases that tell them apart: their numbers and percentiles.

use super::elements;
use crate::presentation::{Cell, Row, Table};
use crate::quantity;
use maud::Markup;
use model::{Histogram, PhaseRun, PhaseStatus, Run};

/// One job, or one direction of a job.
pub(super) struct Side {
    pub name: String,
    pub operations: u64,
    pub bytes: u64,
    pub seconds: f64,
    pub latency: Histogram,
    pub writes: bool,
}

/// The sides of a phase; empty where it is all one.
pub(super) fn sides(phase: &PhaseRun) -> Vec<Side> {
    let Some(record) = phase.record.as_ref().filter(|_| phase.status == PhaseStatus::Measured) else {
        return Vec::new();
    };
    let jobs = phase.plan.jobs();
    let mut out = Vec::new();
    for planned in &jobs {
        let Some(job) = record.job(&phase.plan, planned) else { continue };
        let seconds = job.counted_ns() as f64 / 1e9;
        let name = if jobs.len() > 1 { planned.id.clone() } else { String::new() };
        if !planned.is_per_direction() && jobs.len() < 2 {
            continue;
        }
        for d in job.data() {
            out.push(Side {
                name: [name.as_str(), d.direction.name()].join(" ").trim().to_owned(),
                operations: d.counted_operations,
                bytes: d.counted_bytes,
                seconds,
                latency: d.latency.clone(),
                writes: d.direction != model::Direction::Read,
            });
        }
    }
    out
}

pub(super) fn percentile(h: &Histogram, q: f64) -> String {
    // A percentile needs ten operations beyond it.
    let carried = h.count() as f64 * (1.0 - q) >= 10.0;
    h.quantile(q).filter(|_| carried).map_or_else(|| "–".to_owned(), quantity::latency)
}

/// The sides of all phases, below the names of these; `None` where no phase has jobs or directions.
pub(super) fn jobs(run: &Run) -> Option<Markup> {
    let mut rows = Vec::new();
    for phase in &run.phases {
        let sides = sides(phase);
        rows.extend((!sides.is_empty()).then(|| Row::group(phase.plan.name.clone())));
        rows.extend(sides.into_iter().map(|s| {
            let moved = format!("{} in {}", quantity::size(s.bytes), quantity::duration((s.seconds * 1e9) as u64));
            let percentiles = [0.5, 0.9, 0.99, 0.999].map(|q| percentile(&s.latency, q));
            let longest = s.latency.max().map(quantity::latency).unwrap_or_default();
            let cells = [quantity::count(s.operations), moved].into_iter().chain(percentiles).chain([longest]);
            Row { inner: true, ..Row::new(s.name, cells.map(Cell::Text).collect()) }
        }));
    }
    let head = ["operations", "moved", "p50", "p90", "p99", "p99.9", "max latency"].map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| elements::table(&Table { head, rows, ..Table::default() }))
}
