//! From a plan on an opened target to a run that is kept.

mod changed;
mod conductor;
mod fitting;
mod grouped;
mod keeping;
mod kernel_messages;
mod observer;
mod quiet;
mod series_reader;

pub use conductor::Executed;

use crate::archive_room::has_room;
use crate::clock::{WallClock, random_u64};
use crate::group::Group;
use crate::listener::{Event, Listener, Step};
use crate::simulated::faults_can_come;
use crate::{Interrupts, Opened};
use archive::Archive;
use conductor::Conductor;
use engine::Control;
use model::{ExperimentPlace, Failure, Plan, Run, Session};
use std::time::Duration;

/// What the plan's budget means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// The time was given as a whole: phases that would come too late are shortened or left out.
    Kept,
    /// Each phase has been given its own time, and gets it.
    Foreseen,
}

/// What plans are executed with.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Ends phases, and sees them.
    pub control: &'a Control,
    /// Whether somebody wants it to end.
    pub interrupts: &'a Interrupts,
    /// Hears what happens.
    pub listener: &'a dyn Listener,
    /// Where runs are kept; `None` where nobody wants them kept.
    pub archive: Option<&'a Archive>,
    /// How often what a long phase brings goes to the archive while it runs; zero: when it has ended.
    pub keep_every: Duration,
    /// Whether also where the archive lies on the disks that a phase measures; else what it brings is held until it has ended.
    pub keep_shared: bool,
    /// How long each run waits for a quiet machine at most before it begins; zero: not at all.
    pub wait_quiet: Duration,
    /// The ranks that execute it together, this one among them.
    pub group: Option<&'a Group>,
    /// When the run began.
    pub clock: WallClock,
}

impl Execution<'_> {
    /// The same for a run that begins now: each of several has its own beginning and its own clock steps.
    pub fn from_now(&self) -> Self {
        Self { clock: WallClock::start(), ..*self }
    }

    /// Executes the plan. A run that is stopped or fails half-way is a run too. Whether it could be kept stands beside it.
    ///
    /// # Errors
    /// Nothing at all was executed; why.
    pub fn execute(
        &self,
        command: &str,
        plan: Plan,
        budget: Budget,
        opened: &mut Opened,
        step: Option<Step<'_>>,
    ) -> Result<Executed, Failure> {
        faults_can_come(&plan, opened)?;
        self.archive.map_or(Ok(()), has_room)?;
        let run = self.begin(command, plan, opened, step.map(|s| s.place.clone()))?;
        let _elsewhere = self.interrupts.mask_signals();
        self.listener.on_event(Event::RunBegins { target: &opened.target.name, plan: &run.plan, step });
        let partial = self.archive.map(|archive| archive.begin(&run)).transpose();
        let executed =
            partial.map_err(Failure::from).and_then(|p| Conductor::new(self, budget, opened).conduct(run, p));
        self.listener.on_event(Event::RunEnds);
        executed
    }

    fn begin(
        &self,
        command: &str,
        plan: Plan,
        opened: &Opened,
        experiment: Option<ExperimentPlace>,
    ) -> Result<Run, Failure> {
        Ok(Run {
            id: self.clock.run_id(random_u64()? as u16),
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            plan,
            sessions: vec![Session {
                started: self.clock.started(),
                ended: None,
                boot_id: opened.environment.boot_id.clone(),
                clock_step_ns: None,
            }],
            experiment,
            group: self.group.map(Group::so_far),
            capacity: opened.capacity.clone(),
            remarks: opened.remarks.clone(),
            ..Run::blank(command, opened.target.clone(), opened.environment.clone())
        })
    }
}
