//! The key `narrows` of the document: where the numbers come from, which of them stand, and what fio has no place for.

use crate::Options;
use crate::job::ExecutedJob;
use model::{Metric, PhaseStatus, Reason, Run, RunState, StopCause};
use serde::Serialize;

/// Keys whose zeros mean "not recorded".
const NOT_RECORDED: [&str; 6] = ["drop_ios", "slat_ns", "majf", "minf", "eta", "latency_target"];

/// Where the document comes from.
#[derive(Serialize)]
pub(crate) struct Provenance<'a> {
    schema: &'static str,
    run_id: &'a str,
    program_version: &'a str,
    command: &'a str,
    state: RunState,
    target: &'a str,
    kernel: Option<&'a str>,
    bytes_written: u64,
    remarks: &'a [String],
    refused_kept: bool,
    not_recorded: [&'static str; NOT_RECORDED.len()],
    phases: Vec<PhaseNote<'a>>,
}

/// One phase of the run, executed or not.
#[derive(Serialize)]
struct PhaseNote<'a> {
    name: &'a str,
    /// Its place in `jobs`, or that of its first job; `None` if it is not there.
    job: Option<usize>,
    /// The places of all its jobs.
    jobs: Vec<usize>,
    status: PhaseStatus,
    #[serde(serialize_with = "model::reason::as_lines::serialize")]
    reasons: &'a [Reason],
    steady: Option<bool>,
    stop: Option<StopCause>,
    errors: std::collections::BTreeMap<&'a str, u64>,
    metrics: &'a [Metric],
}

impl<'a> Provenance<'a> {
    pub fn new(run: &'a Run, jobs: &[&ExecutedJob], options: &Options) -> Self {
        let note = |(i, phase): (usize, &'a model::PhaseRun)| PhaseNote {
            name: &phase.plan.name,
            job: jobs.iter().position(|j| j.index == i),
            jobs: (0..jobs.len()).filter(|place| jobs[*place].index == i).collect(),
            status: phase.status,
            reasons: &phase.reasons,
            steady: phase.steady,
            stop: phase.record.as_ref().map(|r| r.stop),
            errors: phase.record.iter().flat_map(|r| &r.errors).map(|(name, n)| (name.as_str(), *n)).collect(),
            metrics: &phase.metrics,
        };
        Self {
            schema: "narrows/fio-json/1",
            run_id: &run.id,
            program_version: &run.program_version,
            command: &run.command,
            state: run.state,
            target: &run.target.name,
            kernel: run.environment.kernel.as_deref(),
            bytes_written: run.bytes_written,
            remarks: &run.remarks,
            refused_kept: options.keep_refused,
            not_recorded: NOT_RECORDED,
            phases: run.phases.iter().enumerate().map(note).collect(),
        }
    }
}
