//! What happens while a plan or an experiment is executed, told as it happens.

use crate::admission::Loss;
use engine::Control;
use model::{ExperimentPlace, PhasePlan, Plan};

/// Hears what happens. Whoever shows progress, asks a person or keeps a log is one; nothing is printed without one.
///
/// [`Event::PhaseRuns`] comes from a thread of its own, all else from the thread that executes.
pub trait Listener: Sync {
    /// Called for each event, in the order in which they happen.
    fn on_event(&self, event: Event<'_>);
}

/// What happened. The listener makes sentences of it.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// This will be overwritten; nothing has been written yet.
    WillBeLost(&'a Loss),
    /// A plan is about to be executed on the target of this name.
    RunBegins {
        /// The target as the run names it.
        target: &'a str,
        /// What will be done.
        plan: &'a Plan,
        /// Which run of several it is.
        step: Option<Step<'a>>,
    },
    /// It waits for a quiet machine, so long at most.
    WaitsForQuiet(std::time::Duration),
    /// A phase is about to be executed.
    PhaseBegins(&'a PhasePlan),
    /// A phase is being executed; said every few hundredths of a second, with how far it is.
    PhaseRuns(&'a Control),
    /// The phase has ended.
    PhaseEnds,
    /// What was written is about to be made durable.
    SettleBegins,
    /// It is durable, or failed.
    SettleEnds,
    /// The group has ended before its plan did; why.
    GroupEnds(&'a str),
    /// The plan has ended, whatever came of it.
    RunEnds,
    /// A run of an experiment is made and kept: so many of so many are.
    StepMade {
        /// Which it was.
        step: Step<'a>,
        /// Runs that are made.
        made: usize,
        /// Runs of the experiment.
        of: usize,
    },
    /// The next run is a measurement of a search: so many of so many at most.
    Measurement {
        /// From 1 on; 0 for the one before it, which shows how long one takes.
        number: usize,
        of: usize,
    },
    /// A setting could not be put back; the failure that follows says which.
    StillChanged,
}

/// One run of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Where it stands in the experiment.
    pub place: &'a ExperimentPlace,
    /// Pairs of the experiment.
    pub pairs: u32,
}

/// A listener that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullListener;

impl Listener for NullListener {
    fn on_event(&self, _: Event<'_>) {}
}
