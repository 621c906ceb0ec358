//! `narrows run EXPERIMENT.toml --plan`: what would be run, without changing anything.

use crate::output::Output;
use experiments::experiment::{ReadyArm, State, alpha, programs};
use model::{NS_PER_S, PhasePlan};
use report::document::PlanDocument;
use serde::Serialize;
use settings::CommandLine;
use spec::{Experiment, Setting};

/// What `--plan --json` prints of an experiment.
#[derive(Serialize)]
#[serde(tag = "schema", rename = "narrows/plan/1")]
struct Document<'a> {
    experiment: &'a str,
    question: &'a str,
    pairs: u32,
    seed: u64,
    alpha: f64,
    primary: &'a [String],
    order: Vec<Step<'a>>,
    duration_at_most_s: Option<f64>,
    bytes_written_at_most: Option<u64>,
    arms: Vec<Arm<'a>>,
}

#[derive(Serialize)]
struct Step<'a> {
    pair: u32,
    arm: &'a str,
}

#[derive(Serialize)]
struct Arm<'a> {
    name: &'a str,
    target: String,
    settings: Vec<String>,
    waits_for: Option<&'a str>,
    run: Option<PlanDocument<'a>>,
}

impl<'a> Arm<'a> {
    fn of(arm: &'a ReadyArm) -> Self {
        Self {
            name: &arm.arm.name,
            target: arm.target.to_string_lossy().into_owned(),
            settings: resolved(arm),
            waits_for: arm.waits.as_deref(),
            run: arm.target_state.as_ref().map(|state| PlanDocument::new(&state.target, &state.plan)),
        }
    }
}

/// Prints it.
pub fn show(experiment: &Experiment, state: &State, arms: &[ReadyArm], output: &Output) {
    let each_on = |of: &dyn Fn(&model::Plan, Option<&str>) -> Option<u64>| -> Option<u64> {
        let of_arm = |a: &ReadyArm| {
            a.target_state.as_ref().and_then(|target_state| of(&target_state.plan, target_state.target.stack.fstype()))
        };
        let sums = arms.iter().map(of_arm).collect::<Option<Vec<u64>>>()?;
        let one = sums.into_iter().try_fold(0u64, u64::checked_add)?;
        one.checked_mul(u64::from(experiment.pairs))
    };
    let each = |of: &dyn Fn(&model::Plan) -> Option<u64>| each_on(&|plan, _| of(plan));
    let rest = experiment.settle_ns.saturating_mul(state.steps.len().saturating_sub(1) as u64);
    let duration_ns = each(&|p| Some(p.budget_ns)).map(|ns| ns.saturating_add(rest));
    let measuring = |p: &model::Plan| -> u64 {
        let measured = p.phases.iter().filter(|phase| phase.measures_target() && phase.skip.is_none());
        measured.map(PhasePlan::usual_time_ns).sum()
    };
    let measured_ns = each(&|p| Some(measuring(p)));
    let bytes = each_on(&|plan, fstype| plan.device_bytes_at_most(fstype));
    if output.is_json() {
        return output.document(&Document {
            experiment: &experiment.name,
            question: &experiment.question,
            pairs: experiment.pairs,
            seed: state.seed,
            alpha: alpha(experiment),
            primary: &experiment.primary,
            order: state.steps.iter().map(|s| Step { pair: s.pair, arm: &s.arm_name }).collect(),
            duration_at_most_s: duration_ns.map(|ns| ns as f64 / NS_PER_S as f64),
            bytes_written_at_most: bytes,
            arms: arms.iter().map(Arm::of).collect(),
        });
    }
    let mut text = format!("Experiment {}\n", experiment.name);
    if !experiment.question.is_empty() {
        text.push_str(&format!("  {}\n", experiment.question));
    }
    let order: Vec<&str> = state.steps.iter().take(6).map(|s| s.arm_name.as_str()).collect();
    text.push_str(&format!(
        "  {} runs: {} pairs in randomised order (seed {}: {}{})\n",
        state.steps.len(),
        experiment.pairs,
        state.seed,
        order.join(", "),
        if state.steps.len() > order.len() { ", ..." } else { "" }
    ));
    let time = |ns: Option<u64>| ns.map_or_else(|| "not known".to_owned(), |ns| minutes(ns / NS_PER_S));
    let written = bytes.map_or_else(|| "not bounded".to_owned(), |b| format!("{:.1} GB at most", b as f64 / 1e9));
    text.push_str(&format!(
        "  Time: {} of measuring, {} with all else at most; written: {written}\n",
        time(measured_ns),
        time(duration_ns)
    ));
    let primary =
        if experiment.primary.is_empty() { "one of each phase".to_owned() } else { experiment.primary.join(", ") };
    text.push_str(&format!("  Primary metrics: {primary}; alpha {}\n\n", alpha(experiment)));
    for arm in arms {
        text.push_str(&format!("Arm {} on {}\n", arm.arm.name, arm.target.to_string_lossy()));
        resolved(arm).iter().for_each(|s| text.push_str(&format!("  {s}\n")));
        if programs(&arm.arm).next().is_some() {
            text.push_str("  runs commands: --allow-commands, or an answer on the terminal\n");
        }
        if let Some(waits) = &arm.waits {
            text.push_str(&format!("  waits for {waits}\n"));
        }
    }
    output.text(&text);
    if let Some(target_state) = arms.iter().find_map(|a| a.target_state.as_ref()) {
        output.part(&report::plan(&target_state.plan, target_state.target.stack.fstype()));
    }
}

fn minutes(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// What a setting changes.
pub fn change(setting: &Setting) -> String {
    let shown = |arguments: &[String]| CommandLine::new(arguments.to_vec()).map(|c| c.to_string()).unwrap_or_default();
    match setting {
        Setting::Value { path: name, value } | Setting::Named { name, value } => format!("{name} = {value}"),
        Setting::Command { run, undo } => format!("{} (undone by: {})", shown(run), shown(undo)),
        Setting::Register { name, value } => format!("register {name} = {value:#x}"),
        Setting::MountOptions(options) => format!("mounted with {options}"),
    }
}

/// What makes an arm an arm, with the files that its settings mean on its target as it is now.
fn resolved(arm: &ReadyArm) -> Vec<String> {
    let Some(stack) = arm.target_state.as_ref().map(|target_state| target_state.stack_for_settings()) else {
        return changes(&arm.arm);
    };
    let tree = settings::Tree::machine();
    // Which device a setting is of is seen in its path alone.
    let of = |setting: &Setting| {
        let (pattern, value) = match setting {
            Setting::Value { path, value } => (Some(path.as_str()), value),
            Setting::Named { name, value } => (settings::Tunable::named(name).ok().map(|named| named.pattern), value),
            other => return vec![change(other)],
        };
        match pattern.map(|pattern| settings::paths(pattern, &stack, &tree)) {
            Some(Ok(paths)) if !paths.is_empty() => paths.iter().map(|path| format!("{path} = {value}")).collect(),
            _ => vec![change(setting)],
        }
    };
    let of_workload = arm.arm.set.iter().map(|(key, value)| format!("{key} = {value}"));
    arm.arm.settings.iter().flat_map(of).chain(of_workload).collect()
}

/// What makes an arm an arm.
pub fn changes(arm: &spec::Arm) -> Vec<String> {
    let of_workload = arm.set.iter().map(|(key, value)| format!("{key} = {value}"));
    arm.settings.iter().map(change).chain(of_workload).collect()
}
