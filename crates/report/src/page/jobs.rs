//! Jobs and directions of phases that tell them apart: their numbers and percentiles.

use super::t;
use crate::quantity;
use maud::{Markup, html};
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
        if !planned.told_apart() && jobs.len() < 2 {
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

fn percentile(h: &Histogram, q: f64) -> String {
    // A percentile needs ten operations beyond it.
    let carried = h.count() as f64 * (1.0 - q) >= 10.0;
    h.quantile(q).filter(|_| carried).map_or_else(|| "–".to_owned(), quantity::latency)
}

/// A table a phase; `None` where no phase has jobs or directions.
pub(super) fn jobs(run: &Run) -> Option<Markup> {
    let all: Vec<(&PhaseRun, Vec<Side>)> =
        run.phases.iter().map(|p| (p, sides(p))).filter(|(_, s)| !s.is_empty()).collect();
    (!all.is_empty()).then(|| {
        html! {
            div.scroll tabindex="0" role="region" aria-label="Jobs and directions" {
                table.data.form {
                    thead { tr { td {} @for h in ["operations", "moved", "p50", "p90", "p99", "p99.9", "max latency"] { th scope="col" { (h) } } } }
                    @for (phase, sides) in &all {
                        tbody {
                            tr.group { th scope="rowgroup" colspan="8" { (t(&phase.plan.name)) } }
                            @for s in sides {
                                tr.inner {
                                    th scope="row" { (t(&s.name)) }
                                    td { (quantity::count(s.operations)) }
                                    td { (quantity::size(s.bytes)) " in " (quantity::duration((s.seconds * 1e9) as u64)) }
                                    @for q in [0.5, 0.9, 0.99, 0.999] { td { (percentile(&s.latency, q)) } }
                                    td { (s.latency.max().map(quantity::latency).unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    })
}
