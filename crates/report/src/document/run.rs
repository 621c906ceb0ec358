//! `narrows/run/1`: one run with its phases.

use super::seconds;
use crate::ranks::GroupDocument;
use model::{
    DepthCurve, DepthSearch, Environment, Metric, PhaseStatus, Plan, RateChange, Reason, Run, RunState, RunValidity,
    ScaleCurve, Session, SteadyRecord, StreamSummary, Target, VerifyRecord, VerifySource,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One phase with its metrics.
#[derive(Clone, Debug, Serialize)]
pub struct RunPhase<'a> {
    /// `seq-write`.
    pub name: &'a str,
    pub metrics: &'a [Metric],
    pub steady: Option<bool>,
    /// Status as a whole.
    pub status: PhaseStatus,
    /// Why refused or skipped.
    pub reasons: &'a [Reason],
    /// Where it lastingly left the rate at which it went.
    pub changes: &'a [RateChange],
    /// Failed operations by errno name; null if not executed.
    pub errors: Option<&'a BTreeMap<String, u64>>,
    /// What the verification found; null where nothing was to be verified.
    pub verify: Option<&'a VerifyRecord>,
    /// How its rounds went; null where it does not go by rounds.
    pub rounds: Option<&'a SteadyRecord>,
    /// Searches of its streams for the depth at which latencies keep to a target; absent where there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depth_searches: Vec<RunDepthSearch<'a>>,
}

/// The search of one stream for a depth.
#[derive(Clone, Debug, Serialize)]
pub struct RunDepthSearch<'a> {
    /// Name of the stream; empty where the phase is all one job.
    pub job: &'a str,
    /// What was found, and its windows.
    #[serde(flatten)]
    pub search: &'a DepthSearch,
}

impl<'a> RunDepthSearch<'a> {
    fn of(stream: &'a StreamSummary) -> Option<Self> {
        Some(Self { job: &stream.name, search: stream.depth_search.as_ref()? })
    }
}

/// The verification of all phases together.
#[derive(Clone, Debug, Serialize)]
pub struct RunVerify {
    /// Whether nothing that was read was wrong.
    pub clean: bool,
    /// Bytes that were compared with what must be there.
    pub bytes_verified: u64,
    /// Places found wrong, by class.
    pub mismatches: BTreeMap<&'static str, u64>,
    /// Where what was verified came from: of the phases that verified something, the one that shows least. Null where nothing
    /// was verified.
    pub read_from: Option<VerifySource>,
}

/// What `narrows run` and `narrows runs show ID` print under `--json`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/run/1")]
pub struct RunDocument<'a> {
    /// The answer in a sentence, as every other output of this run has it; null where nothing was asked that one answers.
    pub answer: Option<String>,
    /// How long small operations took, alone and beside a writer; absent where that was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responsiveness: Option<model::Responsiveness>,
    /// Id of the run in the archive.
    pub run_id: &'a str,
    /// The target and the stack below it.
    pub target: &'a Target,
    /// The plan, every default explicit.
    pub plan: &'a Plan,
    pub phases: Vec<RunPhase<'a>>,
    /// Which command made it.
    pub command: &'a str,
    /// How far it came.
    pub state: RunState,
    /// Whether the run as a whole may be used.
    pub validity: RunValidity,
    /// The workload's name.
    pub workload: &'a str,
    /// What the text asked for and the plan does otherwise, or leaves out, with the reason.
    pub notes: &'a [String],
    /// All phases' verification together; null where nothing was to be verified.
    pub verify: Option<RunVerify>,
    /// Failed operations of all phases by errno name.
    pub errors: BTreeMap<&'a str, u64>,
    /// Phases that differ only in depth, and where more of it stops to pay.
    pub depth_curves: &'a [DepthCurve],
    /// How the rate grows with the ranks of a group; absent where that was not asked.
    #[serde(skip_serializing_if = "<[ScaleCurve]>::is_empty")]
    pub scale: &'a [ScaleCurve],
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
    /// What the ranks of its group did together; absent where the run is none of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupDocument<'a>>,
    /// Tags that people gave it.
    pub tags: &'a [String],
}

impl<'a> RunDocument<'a> {
    /// The document of a run with the tags it has in the archive and its depth curves (`judge::depth_curves`).
    pub fn new(run: &'a Run, tags: &'a [String], depth_curves: &'a [DepthCurve]) -> Self {
        Self {
            answer: None,
            responsiveness: run.responsiveness(),
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
                    changes: &p.changes,
                    errors: p.record.as_ref().map(|r| &r.errors),
                    verify: p.record.as_ref().and_then(|r| r.verify.as_ref()),
                    rounds: p.record.as_ref().and_then(|r| r.steady.as_ref()),
                    depth_searches: p.record.iter().flat_map(|r| &r.streams).filter_map(RunDepthSearch::of).collect(),
                })
                .collect(),
            command: &run.command,
            state: run.state,
            validity: run.validity(),
            workload: &run.plan.name,
            notes: &run.plan.notes,
            verify: verify(run),
            errors: errors(run),
            depth_curves,
            scale: &[],
            program_version: &run.program_version,
            environment: &run.environment,
            sessions: &run.sessions,
            duration_s: seconds(run.duration_ns),
            bytes_written: run.bytes_written,
            remarks: &run.remarks,
            group: GroupDocument::of(run),
            tags,
        }
    }
}

impl RunDocument<'_> {
    /// With the answer of the run, [`crate::Check::answer`].
    pub fn answering(self, answer: Option<String>) -> Self {
        Self { answer, ..self }
    }
}

fn verify(run: &Run) -> Option<RunVerify> {
    let mut records = run.phases.iter().filter_map(|p| p.record.as_ref()?.verify.as_ref()).peekable();
    records.peek()?;
    let mut all = RunVerify { clean: true, bytes_verified: 0, mismatches: BTreeMap::new(), read_from: None };
    for record in records {
        all.clean &= record.is_clean();
        all.bytes_verified = all.bytes_verified.saturating_add(record.bytes_verified);
        all.read_from = match (all.read_from.take(), record.read_from.clone()) {
            (Some(one), Some(other)) => Some(one.weaker(other)),
            (one, other) => one.or(other),
        };
        for (class, n) in &record.mismatches {
            *all.mismatches.entry(class.name()).or_default() += n;
        }
    }
    Some(all)
}

fn errors(run: &Run) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for (name, n) in run.phases.iter().filter_map(|p| p.record.as_ref()).flat_map(|r| &r.errors) {
        let sum: &mut u64 = all.entry(name.as_str()).or_default();
        *sum = sum.saturating_add(*n);
    }
    all
}
