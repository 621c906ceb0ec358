//! What was done without a plan of phases, and is kept as a run all the same: a soak, a recording.

use crate::clock::{WallClock, random_u64};
use model::{
    Environment, Failure, Metric, PhasePlan, PhaseRecord, PhaseRun, Plan, Run, Session, Stack, Target, TargetKind,
};
use observe::Root;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// A run of a command without anything in it; its id says when it was kept.
///
/// # Errors
/// The kernel gives no random numbers.
pub fn blank(command: &str, started: &str, target: Target, environment: Environment) -> Result<Run, Failure> {
    let boot_id = environment.boot_id.clone();
    let ended = Some(WallClock::now());
    Ok(Run {
        id: WallClock::start().run_id(random_u64()? as u16),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        plan: Plan { name: command.to_owned(), ..Plan::default() },
        sessions: vec![Session { started: started.to_owned(), ended, boot_id, clock_step_ns: None }],
        ..Run::blank(command, target, environment)
    })
}

/// Adds a part of it: nothing is planned of it, and what was measured of it stands.
pub fn push(run: &mut Run, name: String, metrics: Vec<Metric>, record: Option<PhaseRecord>) {
    let plan = PhasePlan { name, ..PhasePlan::default() };
    run.plan.phases.push(plan.clone());
    run.phases.push(PhaseRun::measured(plan, metrics, record));
}

/// What a path stands for, as a target of that name, and the machine.
pub fn describe_target(name: &str, path: &Path, simulated: bool) -> (Target, Environment) {
    let root = Root::new("/");
    let metadata = std::fs::metadata(path).ok().filter(|_| !simulated);
    let is_device = metadata.as_ref().is_some_and(|m| m.file_type().is_block_device());
    let place = path.to_str().filter(|_| metadata.is_some()).and_then(|path| observe::locate(&root, path).ok());
    let kind = match (simulated, is_device) {
        (true, _) => TargetKind::Sim,
        (false, true) => TargetKind::BlockDevice,
        (false, false) => TargetKind::File,
    };
    let target = Target {
        name: name.to_owned(),
        kind,
        path: path.to_str().filter(|_| !simulated).map(str::to_owned),
        size_bytes: metadata.filter(|_| !is_device).map(|m| m.len()),
        writable: true,
        stack: place.map_or_else(Stack::default, |place| observe::inventory(&root, &place).stack),
    };
    (target, observe::environment(&root))
}
