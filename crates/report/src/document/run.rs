//! `narrows/run/1`: one run with its phases.

use super::seconds;
use model::{Environment, Metric, PhaseStatus, Plan, Run, RunState, Session, Target};
use serde::Serialize;

/// One phase with its metrics.
#[derive(Clone, Debug, Serialize)]
pub struct RunPhase<'a> {
    /// `seq-write`.
    pub name: &'a str,
    /// Its metrics.
    pub metrics: &'a [Metric],
    /// Whether it was steady.
    pub steady: Option<bool>,
    /// Status as a whole.
    pub status: PhaseStatus,
    /// Why refused or skipped.
    pub reasons: &'a [String],
}

/// What `narrows runs show ID --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct RunDocument<'a> {
    /// `narrows/run/1`.
    pub schema: &'static str,
    /// Id of the run in the archive.
    pub run_id: &'a str,
    /// The target and the stack below it.
    pub target: &'a Target,
    /// The plan, every default explicit.
    pub plan: &'a Plan,
    /// The phases.
    pub phases: Vec<RunPhase<'a>>,
    /// Which command made it.
    pub command: &'a str,
    /// How far it came.
    pub state: RunState,
    /// Version of the program.
    pub program_version: &'a str,
    /// The machine.
    pub environment: &'a Environment,
    /// Stretches of execution.
    pub sessions: &'a [Session],
    /// Wall time.
    pub duration_s: f64,
    /// Bytes written to the target.
    pub bytes_written: u64,
    /// Remarks that concern the whole run.
    pub remarks: &'a [String],
    /// Tags that people gave it.
    pub tags: &'a [String],
}

impl<'a> RunDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/run/1";

    /// The document of a run with the tags it has in the archive.
    pub fn new(run: &'a Run, tags: &'a [String]) -> Self {
        Self {
            schema: Self::SCHEMA,
            run_id: &run.id,
            target: &run.target,
            plan: &run.plan,
            phases: run
                .phases
                .iter()
                .map(|p| RunPhase {
                    name: &p.plan.name,
                    metrics: &p.metrics,
                    steady: p.steady,
                    status: p.status,
                    reasons: &p.reasons,
                })
                .collect(),
            command: &run.command,
            state: run.state,
            program_version: &run.program_version,
            environment: &run.environment,
            sessions: &run.sessions,
            duration_s: seconds(run.duration_ns),
            bytes_written: run.bytes_written,
            remarks: &run.remarks,
            tags,
        }
    }
}
