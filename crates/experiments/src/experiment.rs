//! Experiments: arms run in pairs whose order was drawn by lot, settings put back on every way out, and a state in the
//! archive from which it goes on after a crash or a reboot. docs/experiments.md describes the form of the text.

mod declared;
mod facts;
mod in_force;
mod lock;
mod noise;
mod order;
mod outcome;
mod own_executions;
mod pending_restores;
mod ready;
mod state;
mod steps;

pub use declared::{Declaration, alpha, declared};
pub use in_force::{SettingsInForce, restore_in_panic};
pub use noise::{noise_floor_of, refuse_small_margins};
pub use order::order;
pub use outcome::ExperimentResult;
pub use pending_restores::{PendingRestores, RestoreReport};
pub use ready::{Allowed, ArmTarget, ReadyArm, TooFewPairs, arms, too_few_pairs};
pub use state::{CommandLineOverrides, DIRECTORY, State, StepState, tag_of};
pub use steps::Runner;

use archive::Archive;
use conduct::Source;
use model::Failure;
use spec::{Arm, Experiment, Setting};

/// Reads an experiment; for a calibration its arms are the first one twice.
///
/// # Errors
/// All mistakes of the text, a line each.
pub fn parse(source: &Source, calibrate: bool) -> Result<Experiment, Failure> {
    let mut experiment = spec::parse_experiment(&source.name, &source.text).map_err(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Failure::usage(lines.join("\n")).remedy("docs/experiments.md describes the form")
    })?;
    if calibrate {
        experiment.arms = arms_of(&experiment, true);
        experiment.name = format!("{}-calibrate", experiment.name);
    }
    Ok(experiment)
}

/// The arms that are run: those of the text, or the first one under two names.
fn arms_of(experiment: &Experiment, calibrate: bool) -> Vec<Arm> {
    match experiment.arms.first() {
        Some(first) if calibrate => {
            ["1", "2"].iter().map(|n| Arm { name: format!("{}-{n}", first.name), ..first.clone() }).collect()
        }
        _ => experiment.arms.clone(),
    }
}

/// What an arm has run: commands, and values because of which the kernel starts a program.
pub fn programs(arm: &Arm) -> impl Iterator<Item = &Setting> {
    arm.settings.iter().filter(|setting| match setting {
        Setting::Command { .. } => true,
        Setting::Value { path, .. } => settings::ValuePath::new(path).is_ok_and(|p| p.runs_programs()),
        Setting::MountOptions(_) | Setting::Named { .. } | Setting::Register { .. } => false,
    })
}

/// An execution that this process has to itself: another one is refused while this lives.
pub struct ActiveExecution {
    /// How far it is.
    pub state: State,
    _held: lock::Lock,
}

impl ActiveExecution {
    /// Starts a new one: its state is in the archive when this returns.
    ///
    /// # Errors
    /// Another process has it, or the archive cannot be written to.
    pub fn start(archive: &Archive, state: State) -> Result<Self, Failure> {
        let held = lock::Lock::take(archive, &state.id)?;
        state.save(archive)?;
        Ok(Self { state, _held: held })
    }

    /// Goes on with one.
    ///
    /// # Errors
    /// Another process has it, or its state cannot be read any longer.
    pub fn resume(archive: &Archive, mut state: State) -> Result<Self, Failure> {
        let held = lock::Lock::take(archive, &state.id)?;
        // Another process may have made runs until this moment.
        if let Some(now) = State::load(archive, &state.id)? {
            state.steps = now.steps;
        }
        Ok(Self { state, _held: held })
    }

    /// Makes the runs that are left, as far as the state of the machine allows, and gives them the tags of their arms and
    /// `more`. Whether all data that were verified came back as they were written.
    ///
    /// # Errors
    /// What stopped it; the state is kept, and [`Self::resume`] goes on.
    pub fn run_steps(&mut self, runner: &Runner<'_>, more: &[String]) -> Result<bool, Failure> {
        own_executions::remember(&self.state);
        let walked = steps::run_steps(runner, &mut self.state);
        // Why it stopped matters more than a tag that could not be given.
        let tagged = outcome::tag(runner.archive, &self.state, more);
        let clean = walked?;
        tagged?;
        own_executions::forget(&self.state);
        Ok(clean)
    }
}
