//! How long small operations take that come now and then: alone, and beside something that writes.

use crate::{Direction, Metric, MetricStatus, PhaseRun, Run, Work};
use serde::Serialize;

/// The highest that is valid both times is told.
const PERCENTILES: [&str; 3] = ["p99", "p90", "p50"];

/// What a run shows of small reads, and of small writes with their own sync.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Responsiveness {
    pub read: Option<SmallOperations>,
    pub append: Option<SmallOperations>,
    /// What the writer wrote meanwhile, bytes per second.
    pub copy_bytes_per_s: Option<f64>,
}

/// Those of one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SmallOperations {
    /// `p99`.
    pub percentile: &'static str,
    pub idle_ns: f64,
    pub loaded_ns: f64,
    /// Loaded over idle.
    pub ratio: f64,
    /// The longest of them beside the writer.
    pub loaded_ns_max: Option<f64>,
    /// The longest time without one.
    pub loaded_gap_ns: Option<f64>,
    /// What the ids of their metrics begin with.
    #[serde(skip)]
    pub jobs: [String; 2],
}

fn valid(phase: &PhaseRun, id: &str) -> Option<f64> {
    let metric = phase.metrics.iter().find(|m| m.id == id && m.status == MetricStatus::Measured);
    metric.and_then(|m: &Metric| m.value).filter(|v| *v > 0.0)
}

impl SmallOperations {
    fn of(idle: &PhaseRun, loaded: &PhaseRun, direction: Direction) -> Option<Self> {
        let job = |phase: &PhaseRun| phase.plan.small_operations_of(Some(direction));
        let jobs = [job(idle)?, job(loaded)?];
        let value = |phase, job: &String, what: &str| valid(phase, &format!("{job}.{what}"));
        PERCENTILES.iter().find_map(|percentile| {
            let what = format!("latency_ns_{percentile}");
            let (idle_ns, loaded_ns) = (value(idle, &jobs[0], &what)?, value(loaded, &jobs[1], &what)?);
            Some(Self {
                percentile,
                idle_ns,
                loaded_ns,
                ratio: loaded_ns / idle_ns,
                loaded_ns_max: value(loaded, &jobs[1], "latency_ns_max"),
                loaded_gap_ns: value(loaded, &jobs[1], "stall_ns_max"),
                jobs: jobs.clone(),
            })
        })
    }
}

impl Run {
    /// How long its small operations took, alone and beside a writer; `None` where it did not measure both, or neither has a number.
    pub fn responsiveness(&self) -> Option<Responsiveness> {
        let (idle, loaded) = (self.phase_of_work(Work::Responsive)?, self.phase_of_work(Work::ResponsiveLoaded)?);
        let [read, append] = [Direction::Read, Direction::Write].map(|d| SmallOperations::of(idle, loaded, d));
        let copy = loaded.plan.small_operations_of(None);
        let copy_bytes_per_s = copy.and_then(|job| valid(loaded, &format!("{job}.throughput_bytes_per_s")));
        (read.is_some() || append.is_some()).then_some(Responsiveness { read, append, copy_bytes_per_s })
    }
}
