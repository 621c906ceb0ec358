//! `narrows/check/1`.

use super::seconds;
use crate::ranks::GroupDocument;
use crate::{Check, NextStep};
use model::{
    Cause, ColdProof, DataProof, DirectProof, EngineRecord, Environment, Finding, Fit, Limit, Metric, PhaseStatus,
    Plan, RankedUse, Rating, Reason, RowLimit, RunState, StopCause, Target, WarmupCut,
};
use serde::Serialize;

/// One phase without its metrics, which stand in one list for the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary<'a> {
    /// `seq-write`.
    pub name: &'a str,
    /// Status as a whole.
    pub status: PhaseStatus,
    /// Why refused or skipped.
    pub reasons: &'a [Reason],
    pub steady: Option<bool>,
    /// Wall time; null if not executed.
    pub duration_s: Option<f64>,
    /// Operations, warm-up included; null if not executed.
    pub operations: Option<u64>,
    /// Bytes, warm-up included; null if not executed.
    pub bytes: Option<u64>,
    /// Why it ended; null if not executed.
    pub stop: Option<StopCause>,
    /// What was cut at the beginning; null if not executed.
    pub warmup: Option<&'a WarmupCut>,
    /// Who carried the operations out; null if not executed.
    pub engine: Option<&'a EngineRecord>,
    /// Whether O_DIRECT was granted; null where it was not asked for.
    pub direct: Option<&'a DirectProof>,
    /// What speaks for a cold cache; null where none was asked for.
    pub cold: Option<&'a ColdProof>,
    /// Whether what was read was real data; null where nothing was read or nobody looked.
    pub data: Option<&'a DataProof>,
}

/// What `narrows check --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/check/1")]
pub struct CheckDocument<'a> {
    /// Id of the run in the archive.
    pub run_id: &'a str,
    /// The target and the stack below it.
    pub target: &'a Target,
    /// The machine.
    pub environment: &'a Environment,
    /// The plan, every default explicit.
    pub plan: &'a Plan,
    /// Wall time.
    pub duration_s: f64,
    /// Bytes written to the target.
    pub bytes_written: u64,
    /// All metrics, in the order of the phases.
    pub metrics: Vec<&'a Metric>,
    /// The bottleneck.
    pub limit: &'a Limit,
    pub limits: &'a [RowLimit],
    /// What the target is good for; first what was asked about.
    pub fit: &'a [Fit],
    /// That in one sentence; null where nothing was held against it.
    pub verdict: Option<String>,
    /// The answer in a sentence, as every other output of this run has it.
    pub answer: Option<String>,
    /// Whether the target is good for all that was asked about (`--for`): false where it is not for one of them, null where that is
    /// not known, and where nothing was asked about.
    pub met: Option<bool>,
    /// All that may hold the run back, the most telling first.
    pub causes: &'a [Cause],
    /// Named conditions.
    pub findings: &'a [Finding],
    /// Speed classes.
    pub ratings: &'a [Rating],
    /// Path of the page; null if none was written.
    pub report: Option<&'a str>,
    /// How far the run came.
    pub state: RunState,
    /// Start, RFC 3339 in UTC; null if the run has no session.
    pub started: Option<&'a str>,
    pub program_version: &'a str,
    /// Remarks that concern the whole run.
    pub remarks: &'a [String],
    /// What to do next; null without advice.
    pub next_step: Option<&'a NextStep>,
    pub phases: Vec<PhaseSummary<'a>>,
    /// What the ranks of its group did together; absent where the run is none of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupDocument<'a>>,
}

impl<'a> CheckDocument<'a> {
    /// The document of a check.
    pub fn new(check: &Check<'a>) -> Self {
        let run = check.run;
        Self {
            run_id: &run.id,
            target: &run.target,
            environment: &run.environment,
            plan: &run.plan,
            duration_s: seconds(run.duration_ns),
            bytes_written: run.bytes_written,
            metrics: run.metrics().collect(),
            limit: check.limit,
            limits: check.limits,
            fit: check.fit,
            verdict: check.answer(),
            answer: check.answer(),
            met: met(check),
            causes: check.causes,
            findings: check.findings,
            ratings: check.ratings,
            report: check.page,
            state: run.state,
            started: run.sessions.first().map(|s| s.started.as_str()),
            program_version: &run.program_version,
            remarks: &run.remarks,
            next_step: check.next_step,
            group: GroupDocument::of(run),
            phases: run
                .phases
                .iter()
                .map(|p| PhaseSummary {
                    name: &p.plan.name,
                    status: p.status,
                    reasons: &p.reasons,
                    steady: p.steady,
                    duration_s: p.record.as_ref().map(|r| seconds(r.duration_ns())),
                    operations: p.record.as_ref().map(|r| r.operations),
                    bytes: p.record.as_ref().map(|r| r.bytes),
                    stop: p.record.as_ref().map(|r| r.stop),
                    warmup: p.record.as_ref().map(|r| &r.warmup),
                    engine: p.record.as_ref().map(|r| &r.engine),
                    direct: p.record.as_ref().and_then(|r| r.direct.as_ref()),
                    cold: p.record.as_ref().and_then(|r| r.cold.as_ref()),
                    data: p.record.as_ref().and_then(|r| r.data.as_ref()),
                })
                .collect(),
        }
    }
}

fn met(check: &Check<'_>) -> Option<bool> {
    let names = check.asked_for?;
    let asked: Vec<Option<bool>> = check.fit.iter().filter(|f| f.is_one_of(names)).map(|f| f.met).collect();
    match () {
        () if asked.contains(&Some(false)) => Some(false),
        () if asked.is_empty() || asked.contains(&None) => None,
        () => Some(true),
    }
}

/// What `narrows check A B --json` prints: a check of each target, and who is good for what.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/checks/1")]
pub struct ChecksDocument<'a> {
    /// Which to buy, and each target's verdict in a few words; of what was asked about (`--for`) the verdicts alone.
    pub answer: Option<String>,
    /// In the order of the command line.
    pub checks: Vec<CheckDocument<'a>>,
    /// Who is good for which use, in order, and who is not.
    pub uses: &'a [RankedUse],
}

impl<'a> ChecksDocument<'a> {
    /// The document of several checks.
    pub fn new(checks: &[Check<'a>], uses: &'a [RankedUse], not_checked: &[String]) -> Self {
        let answer =
            Some(crate::side_by_side::answers(checks, uses, not_checked).join(" ")).filter(|said| !said.is_empty());
        Self { answer, checks: checks.iter().map(CheckDocument::new).collect(), uses }
    }
}
