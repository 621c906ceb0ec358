//! `narrows/runs/1`: what is in the archive.

use super::seconds;
use model::{Metric, PhaseRun, Run, RunState, Work};
use serde::{Deserialize, Serialize};

/// One run in the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEntry {
    /// Id of the run.
    pub run_id: String,
    /// Start, RFC 3339 in UTC; null if unknown.
    pub started: Option<String>,
    /// Which command made it.
    pub command: String,
    /// The target as the user wrote it.
    pub target: String,
    /// How far it came.
    pub state: RunState,
    /// Wall time.
    pub duration_s: f64,
    /// Bytes written to the target.
    pub bytes_written: u64,
    /// The headline metrics.
    pub metrics: Vec<Metric>,
    /// Tags that people gave it.
    pub tags: Vec<String>,
}

impl RunEntry {
    /// Metrics that stand for a run in a list.
    pub const HEADLINES: [(Work, &'static str); 5] = [
        (Work::SequentialRead, "throughput_bytes_per_s"),
        (Work::SequentialWrite, "throughput_bytes_per_s"),
        (Work::BufferedWrite, "throughput_bytes_per_s"),
        (Work::RandomRead, "iops"),
        (Work::RandomWrite, "iops"),
    ];

    /// Headlines of a run that is no check: so many, the rates of its first phases.
    const RATES: usize = 5;

    /// The entry of a run.
    pub fn new(run: &Run, tags: Vec<String>) -> Self {
        let headlines: Vec<Metric> =
            Self::HEADLINES.iter().filter_map(|(work, quantity)| run.metric_doing(*work, quantity)).cloned().collect();
        let rates = || run.phases.iter().filter_map(main_rate).take(Self::RATES).cloned().collect();
        Self {
            run_id: run.id.clone(),
            started: run.sessions.first().map(|s| s.started.clone()),
            command: run.command.clone(),
            target: run.target.name.clone(),
            state: run.state,
            duration_s: seconds(run.duration_ns),
            bytes_written: run.bytes_written,
            metrics: if run.is_overview() && !headlines.is_empty() { headlines } else { rates() },
            tags,
        }
    }
}

/// The rate by which a phase that measures is known: operations where they are small.
fn main_rate(phase: &PhaseRun) -> Option<&Metric> {
    let small = phase.plan.streams.iter().all(|s| s.block().block_size_bytes <= 65_536);
    let quantity = if small { "iops" } else { "throughput_bytes_per_s" };
    let id = format!("{}.{quantity}", phase.plan.name);
    phase.metrics.iter().find(|m| phase.plan.measures_target() && m.id == id)
}

/// What `narrows runs list --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct RunsDocument<'a> {
    /// `narrows/runs/1`.
    pub schema: &'static str,
    /// The runs, oldest first.
    pub runs: &'a [RunEntry],
}

impl<'a> RunsDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/runs/1";

    /// The list.
    pub fn new(runs: &'a [RunEntry]) -> Self {
        Self { schema: Self::SCHEMA, runs }
    }
}
