//! One measurement: settings applied through the journal, read back, workloads run, settings restored, whatever happens.

use crate::experiment::{Allowed, SettingsInForce};
use conduct::admission::{Consent, FileIdentity};
use conduct::{Budget, Execution, Opened, Wanted, WriteAllowance, plan};
use conduct::{Event, Step};
use model::{ExperimentPlace, Failure, FailureKind, Run, RunState, Stack, TargetKind};
use spec::{Arm, Setting, Workload};
use std::ffi::OsStr;

/// With what measurements are made.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub execution: Execution<'a>,
    /// Where the settings in force are, for whoever has to restore them meanwhile.
    pub slot: &'a SettingsInForce,
    pub target: &'a OsStr,
    pub allowed: Allowed<'a>,
}

/// What came of a measurement.
pub(super) enum Tested {
    /// A run of each workload.
    Runs(Vec<Run>),
    /// The settings could not be applied, and what was is restored.
    NotApplied,
}

/// What a trial is of.
pub(super) struct Cell<'a> {
    /// Names the search.
    pub id: &'a str,
    pub settings: Vec<Setting>,
    pub workloads: &'a [&'a Workload],
    pub seed: u64,
    /// Where its runs are in the confirmation; they are kept then.
    pub place: Option<ExperimentPlace>,
    pub pairs: u32,
}

impl Trial<'_> {
    /// Opens the target.
    pub(super) fn open(&self, workload: &Workload, file: Option<FileIdentity>) -> Result<Opened, Failure> {
        let Allowed { overwrite, destroy, registers } = self.allowed;
        let wanted = Wanted {
            consent: Consent { overwrite, destroy, only: file },
            registers,
            ..Wanted::new(self.target, workload.interval_ns)
        };
        conduct::open(&wanted, self.execution.control, self.execution.listener)
    }

    /// Why settings cannot be applied, if they cannot; they are restored at once.
    pub(super) fn try_applying(
        &self,
        settings: Vec<Setting>,
        id: &str,
        stack: &Stack,
    ) -> Result<Option<String>, Failure> {
        let arm = arm("search", settings);
        match self.apply(&arm, id, stack)? {
            None => self.restored(&arm).map(|()| None),
            refused => Ok(refused),
        }
    }

    /// Applies an arm; where it cannot be applied, why, and what was is restored.
    fn apply(&self, arm: &Arm, id: &str, stack: &Stack) -> Result<Option<String>, Failure> {
        let interrupts = self.execution.interrupts;
        match self.slot.apply(arm, id, stack, interrupts) {
            Ok(()) => Ok(None),
            Err(failure) if failure.kind == FailureKind::Refused && !interrupts.end() => Ok(Some(failure.message)),
            Err(failure) => {
                if failure.kind == FailureKind::Invalid {
                    self.execution.listener.on_event(Event::StillChanged);
                }
                Err(failure)
            }
        }
    }

    fn restored(&self, arm: &Arm) -> Result<(), Failure> {
        let interrupts = self.execution.interrupts;
        let restored = if arm.settings.is_empty() { Ok(()) } else { self.slot.undo(&|| interrupts.asked_twice()) };
        if restored.is_err() {
            self.execution.listener.on_event(Event::StillChanged);
        }
        restored
    }

    /// Makes one. `file` is the one whose content the user gave up: each has to find that one.
    pub(super) fn run(&self, cell: &Cell<'_>, stack: &Stack, file: Option<FileIdentity>) -> Result<Tested, Failure> {
        let arm = arm(cell.place.as_ref().map_or("search", |place| place.arm.as_str()), cell.settings.clone());
        if self.apply(&arm, cell.id, stack)?.is_some() {
            return Ok(Tested::NotApplied);
        }
        let made: Result<Vec<Run>, Failure> =
            cell.workloads.iter().enumerate().map(|(index, workload)| self.one(cell, workload, index, file)).collect();
        let restored = self.restored(&arm);
        match (made, restored) {
            (Ok(runs), Ok(())) => Ok(Tested::Runs(runs)),
            (Err(failure), Ok(())) | (Ok(_), Err(failure)) => Err(failure),
            (Err(first), Err(failure)) => {
                Err(Failure { message: format!("{}; {}", failure.message, first.message), ..failure })
            }
        }
    }

    fn one(
        &self,
        cell: &Cell<'_>,
        workload: &Workload,
        index: usize,
        file: Option<FileIdentity>,
    ) -> Result<Run, Failure> {
        let execution = self.execution.from_now();
        let archive = if cell.place.is_some() { execution.archive } else { None };
        let execution = Execution { archive, ..execution };
        let mut opened = self.open(workload, file)?;
        let allowance = (opened.target.kind != TargetKind::Sim).then_some(WriteAllowance::Usual);
        let plan = plan::plan_within(workload, &opened, cell.seed, allowance)?;
        // Guards are an experiment of their own: a pair has one run of each side.
        let place = cell.place.clone().map(|place| match index {
            0 => place,
            _ => ExperimentPlace { id: format!("{}-guards", place.id), ..place },
        });
        let step = place.as_ref().map(|place| Step { place, pairs: cell.pairs });
        let run = execution.execute("tune", plan, Budget::Foreseen, &mut opened, step)?.into_kept()?;
        match run.state {
            RunState::Complete => Ok(run),
            RunState::Interrupted => Err(Failure::invalid("interrupted: all settings are as they were")),
            RunState::Failed | RunState::Truncated => {
                let why = run.phases.iter().flat_map(|p| &p.reasons).next_back().map(ToString::to_string);
                let why = why.or_else(|| run.remarks.last().cloned()).unwrap_or_default();
                Err(Failure::device(format!("a measurement failed: {why}")))
            }
        }
    }
}

fn arm(name: &str, settings: Vec<Setting>) -> Arm {
    Arm { name: name.to_owned(), settings, set: Vec::new(), target: None, when: None }
}
