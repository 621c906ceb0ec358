//! One execution of a plan on one machine, with all that was observed; immutable once archived.

use crate::{
    Environment, Metric, PhaseKind, PhasePlan, PhaseRecord, Plan, RateChange, Reason, SystemSample, Target, TargetKind,
};
use serde::{Deserialize, Serialize};

/// How far the run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// All phases of the plan were executed or skipped for a stated reason.
    Complete,
    /// Ended by the user; what was measured before is whole.
    Interrupted,
    /// Ended by an error of the target or the machine.
    Failed,
    /// Recovered from a partial bundle after a crash.
    Truncated,
}

/// One uninterrupted stretch of a run (a resumable run has several).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Wall clock at the start, RFC 3339 in UTC.
    pub started: String,
    /// Wall clock at the end; `None` if it never ended in order.
    pub ended: Option<String>,
    /// Boot id of the machine.
    pub boot_id: Option<String>,
    /// Steps of the wall clock against the monotonic clock during the session, nanoseconds, absolute sum.
    pub clock_step_ns: Option<u64>,
}

/// Status of one phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseStatus {
    /// Measured and valid.
    Measured,
    /// Measured, and refused as untrue.
    Refused,
    /// Not executed.
    Skipped,
    /// Has no meaning on this target.
    NotApplicable,
}

/// A phase as executed and judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRun {
    /// What was asked, final (a share of time that was shortened shows here).
    pub plan: PhasePlan,
    /// Status as a whole.
    pub status: PhaseStatus,
    /// Why refused or skipped.
    pub reasons: Vec<Reason>,
    /// Whether the phase was steady (SNIA PTS terms); `None` where it cannot be told.
    pub steady: Option<bool>,
    /// Where the phase lastingly left the rate at which it went (a cache ran out, heat throttled it), in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<RateChange>,
    /// Derived metrics with their validity.
    pub metrics: Vec<Metric>,
    /// What the engine recorded; `None` if not executed.
    pub record: Option<PhaseRecord>,
}

impl PhaseRun {
    /// One that was measured.
    pub fn measured(plan: PhasePlan, metrics: Vec<Metric>, record: Option<PhaseRecord>) -> Self {
        let (status, reasons, changes) = (PhaseStatus::Measured, Vec::new(), Vec::new());
        Self { plan, status, reasons, steady: None, changes, metrics, record }
    }
}

/// One execution of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// `narrows/bundle/1`.
    pub schema: String,
    /// `<UTC>-<8 hex>`.
    pub id: String,
    /// Which command made it: `check`, `run`.
    pub command: String,
    pub program_version: String,
    /// How far it came.
    pub state: RunState,
    /// The plan as resolved.
    pub plan: Plan,
    /// The machine.
    pub environment: Environment,
    /// The target and the stack below it.
    pub target: Target,
    /// Stretches of execution.
    pub sessions: Vec<Session>,
    /// Experiment, arm, pair and order, where the run belongs to one.
    pub experiment: Option<crate::ExperimentPlace>,
    /// Rank, size and what all did together, where the run is one of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<crate::GroupPlace>,
    /// Wall time from start to end.
    pub duration_ns: u64,
    /// Bytes this run wrote to the target (layout and probes included): cards wear.
    pub bytes_written: u64,
    /// How large the target really is, where that was measured before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<crate::Capacity>,
    /// Remarks that concern the whole run.
    pub remarks: Vec<String>,
    /// The phases, in order.
    pub phases: Vec<PhaseRun>,
    /// What the observer saw (stored as system.csv).
    #[serde(skip)]
    pub samples: Vec<SystemSample>,
    /// Kernel messages during the run (stored as kernel.log); `None` if they could not be read.
    #[serde(skip)]
    pub kernel_log: Option<Vec<String>>,
}

impl Run {
    /// Schema of run.json.
    pub const SCHEMA: &'static str = "narrows/bundle/1";

    /// A complete run of this command without anything in it.
    pub fn blank(command: &str, target: Target, environment: Environment) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: String::new(),
            command: command.to_owned(),
            program_version: String::new(),
            state: RunState::Complete,
            plan: Plan::default(),
            environment,
            target,
            sessions: Vec::new(),
            experiment: None,
            group: None,
            duration_ns: 0,
            bytes_written: 0,
            capacity: None,
            remarks: Vec::new(),
            phases: Vec::new(),
            samples: Vec::new(),
            kernel_log: None,
        }
    }

    /// Whether a phase shows what the machine can do, and not the target: the memory copy of a storage target.
    pub fn is_reference(&self, plan: &PhasePlan) -> bool {
        plan.copies_memory() && self.target.kind != TargetKind::Region
    }

    /// All metrics, in the order of the phases.
    pub fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.phases.iter().flat_map(|p| p.metrics.iter())
    }

    /// Metrics that are results: not those of layout and of the memory copy.
    pub fn results(&self) -> impl Iterator<Item = &Metric> {
        let overhead = |p: &&PhaseRun| p.plan.kind == PhaseKind::Layout || self.is_reference(&p.plan);
        self.phases.iter().filter(move |p| !overhead(p)).flat_map(|p| p.metrics.iter())
    }

    pub fn metric(&self, id: &str) -> Option<&Metric> {
        self.metrics().find(|m| m.id == id)
    }

    /// The value of a metric that was measured and stands.
    pub fn value(&self, id: &str) -> Option<f64> {
        self.metric(id).and_then(|m| m.value)
    }

    pub fn phase(&self, name: &str) -> Option<&PhaseRun> {
        self.phases.iter().find(|p| p.plan.name == name)
    }

    /// The observer's samples within a phase: the last one at or before its start to the first at or after its end.
    pub fn samples_of(&self, phase: &PhaseRun) -> &[SystemSample] {
        let Some(record) = &phase.record else { return &[] };
        let first = self.samples.partition_point(|s| s.at_ns <= record.started_ns).saturating_sub(1);
        let last = self.samples.partition_point(|s| s.at_ns < record.ended_ns);
        self.samples.get(first..(last + 1).min(self.samples.len())).unwrap_or(&[])
    }
}
