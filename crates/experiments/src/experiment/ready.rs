//! Everything that can be wrong with an experiment is looked at before anything is changed: texts, targets, plans, the
//! metrics that are asked, settings, conditions.

use super::state::{State, tag_of};
use super::{facts, in_force};
use conduct::admission::{Consent, FileIdentity};
use conduct::destination::destination;
use conduct::{Execution, Opened, Wanted, plan};
use model::{Environment, Failure, MetricKey, Plan, Stack, Target, TargetKind};
use spec::{Arm, Experiment, Workload};
use std::ffi::OsString;

/// An arm with what it runs and whether it can run now.
pub struct ReadyArm {
    /// The arm as the experiment's file has it.
    pub arm: Arm,
    /// What is run.
    pub workload: Workload,
    pub target: OsString,
    /// What is known of its target; `None` where it cannot be reached in this state of the machine.
    pub target_state: Option<ArmTarget>,
    /// Why it cannot run now.
    pub waits: Option<String>,
}

/// An arm's target as it is now.
pub struct ArmTarget {
    /// The target with its stack.
    pub target: Target,
    /// The machine.
    pub environment: Environment,
    /// What one run does.
    pub plan: Plan,
    /// The file whose content the user gave up: each run of the arm must find this one and no other.
    pub file: Option<FileIdentity>,
}

impl ArmTarget {
    /// What settings may name. The disk of a simulation must never be taken for one of this machine with the same name.
    pub fn stack_for_settings(&self) -> Stack {
        if self.target.kind == TargetKind::Sim { Stack::default() } else { self.target.stack.clone() }
    }
}

/// What the user allows, for all arms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowed<'a> {
    /// The content of the regular file TARGET may be lost.
    pub overwrite: bool,
    /// The content of the block device with this identity may be lost.
    pub destroy: Option<&'a str>,
    /// Device registers may be read.
    pub registers: bool,
}

/// Looks at all arms; `workload` reads the workload of one: its keys may differ.
///
/// # Errors
/// What is wrong with an arm, or with its target. Nothing has been changed.
pub fn arms(
    experiment: &Experiment,
    state: &State,
    workload: &dyn Fn(&Arm) -> Result<Workload, Failure>,
    allowed: Allowed<'_>,
    execution: &Execution<'_>,
) -> Result<Vec<ReadyArm>, Failure> {
    let mut out = Vec::with_capacity(experiment.arms.len());
    for arm in &experiment.arms {
        archive::check_tag(&tag_of(&experiment.name, &arm.name, experiment.arms.len()))?;
        let workload = workload(arm)?;
        let given = arm.target.as_ref().or(state.target.as_ref()).or(experiment.target.as_ref()).map(OsString::from);
        let place = destination(given.as_deref(), &workload)?;
        let mut ready = ReadyArm { arm: arm.clone(), workload, target: place.name, target_state: None, waits: None };
        match look(&ready, allowed, state, execution) {
            Ok(target_state) => {
                ready.waits = condition(arm, &target_state)?;
                ready.target_state = Some(target_state);
            }
            Err(failure) => match &arm.when {
                // A card that is not inserted, a disk under another name: part of the state that is waited for.
                Some(when) => ready.waits = Some(format!("{} ({})", when.text, failure.message)),
                None => return Err(named(arm, failure)),
            },
        }
        checked(experiment, &ready)?;
        out.push(ready);
    }
    Ok(out)
}

fn named(arm: &Arm, failure: Failure) -> Failure {
    Failure { message: format!("arm '{}': {}", arm.name, failure.message), ..failure }
}

fn look(
    ready: &ReadyArm,
    allowed: Allowed<'_>,
    state: &State,
    execution: &Execution<'_>,
) -> Result<ArmTarget, Failure> {
    let opened = open(ready, allowed, execution)?;
    let plan = plan::plan(&ready.workload, &opened, state.seed)?;
    let file = opened.object.filter(|_| opened.target.kind == TargetKind::File && opened.target.writable);
    Ok(ArmTarget { target: opened.target, environment: opened.environment, plan, file })
}

/// Opens the target of an arm.
pub(super) fn open(ready: &ReadyArm, allowed: Allowed<'_>, execution: &Execution<'_>) -> Result<Opened, Failure> {
    let Allowed { overwrite, destroy, registers } = allowed;
    let wanted = Wanted {
        consent: Consent { overwrite, destroy, only: ready.target_state.as_ref().and_then(|h| h.file) },
        registers,
        region: ready.workload.copies_region(),
        ..Wanted::new(&ready.target, ready.workload.interval_ns)
    };
    conduct::open(&wanted, execution.control, execution.listener)
}

/// Why the arm has to wait; `None` where it can run.
fn condition(arm: &Arm, target_state: &ArmTarget) -> Result<Option<String>, Failure> {
    let Some(when) = &arm.when else { return Ok(None) };
    Ok(match facts::holds(when, &facts::facts(&target_state.environment, &target_state.target)) {
        Ok(true) => None,
        Ok(false) => Some(when.text.clone()),
        Err(fact) => Some(format!("{} ('{fact}' is not known of this machine and target now)", when.text)),
    })
}

/// The metrics that are asked are in the plan, and the settings can be applied if the arm can run now.
fn checked(experiment: &Experiment, ready: &ReadyArm) -> Result<(), Failure> {
    let Some(target_state) = &ready.target_state else { return Ok(()) };
    let ids: Vec<String> = metric_ids(&target_state.plan).collect();
    for id in experiment.primary.iter().chain(experiment.margins.keys()) {
        if !ids.contains(id) {
            let near: Vec<&str> = ids.iter().filter(|i| same_end(i, id)).map(String::as_str).take(8).collect();
            let all: Vec<&str> = ids.iter().map(String::as_str).take(8).collect();
            let known = if near.is_empty() { all } else { near };
            let failure = Failure::usage(format!("no run of this workload gives the metric '{id}'"));
            return Err(named(&ready.arm, failure.remedy(format!("there are {}, ...", known.join(", ")))));
        }
    }
    if ready.waits.is_some() {
        return Ok(());
    }
    in_force::check(&ready.arm, &target_state.stack_for_settings())
        .map_err(|what| named(&ready.arm, Failure::refused(what).remedy("nothing was changed")))
}

fn same_end(a: &str, b: &str) -> bool {
    let (a, b) = (MetricKey::of(a), MetricKey::of(b));
    a.quantity == b.quantity || a.phase() == b.phase()
}

fn metric_ids(plan: &Plan) -> impl Iterator<Item = String> {
    let measured = plan.phases.iter().filter(|p| p.measures_target() && p.skip.is_none());
    measured.flat_map(judge::metric_ids)
}

/// How many questions are asked of each comparison: those that are named, else the rate of each phase, ten at most.
fn questions(experiment: &Experiment, arms: &[ReadyArm]) -> usize {
    if !experiment.primary.is_empty() {
        return experiment.primary.len();
    }
    let plan = arms.iter().find_map(|a| a.target_state.as_ref()).map(|h| &h.plan);
    let measured = |p: &Plan| p.phases.iter().filter(|p| p.measures_target() && p.skip.is_none()).count();
    plan.map_or(1, measured).clamp(1, 10)
}

/// Fewer pairs than can show a difference.
#[derive(Clone, Copy, Debug)]
pub struct TooFewPairs {
    /// As many as there are to be.
    pub pairs: u32,
    /// The fewest that could show one.
    pub least: usize,
    /// Metrics that are asked.
    pub questions: usize,
    /// Error rate of the experiment.
    pub alpha: f64,
}

/// Whether the pairs can show a difference at all: it should be known before hours are spent.
pub fn too_few_pairs(experiment: &Experiment, arms: &[ReadyArm]) -> Option<TooFewPairs> {
    if experiment.arms.len() < 2 {
        return None;
    }
    let questions = questions(experiment, arms);
    let least = judge::least_pairs(questions, super::declared::alpha(experiment));
    let Experiment { pairs, alpha, .. } = *experiment;
    ((pairs as usize) < least).then_some(TooFewPairs { pairs, least, questions, alpha })
}
