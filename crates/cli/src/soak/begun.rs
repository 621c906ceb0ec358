//! What the archive has of a soak that goes on: where the program is killed, it is a run all the same.

use crate::report_page;
use archive::{Archive, Partial};
use conduct::Opened;
use model::{Environment, Target};
use soak::SoakState;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// How often it is kept anew: a pass may be over at once.
const KEEP_EVERY: Duration = Duration::from_secs(60);

/// The run of a soak as far as it was kept.
pub struct BegunSoak<'a> {
    archive: &'a Archive,
    target: Target,
    environment: Environment,
    kept: RefCell<Option<(Instant, Partial)>>,
}

impl<'a> BegunSoak<'a> {
    pub fn new(archive: &'a Archive, opened: &Opened, state: &SoakState) -> Self {
        let (target, environment) = (opened.target.clone(), opened.environment.clone());
        let begun = Self { archive, target, environment, kept: RefCell::new(None) };
        begun.keep(state);
        begun
    }

    fn keep(&self, state: &SoakState) {
        let run = soak::run_of(state, None, self.target.clone(), self.environment.clone());
        let run = run.map(|mut run| {
            run.remarks.push(format!("narrows soak --resume {} continues", state.id));
            run
        });
        self.discard();
        *self.kept.borrow_mut() = report_page::begin(self.archive, run).map(|partial| (Instant::now(), partial));
    }

    /// A pass is whole.
    pub fn pass(&self, state: &SoakState) {
        if self.kept.borrow().as_ref().is_some_and(|(at, _)| at.elapsed() >= KEEP_EVERY) {
            self.keep(state);
        }
    }

    /// What comes of it is kept by whoever ends it.
    pub fn discard(&self) {
        // What cannot be removed is recovered later.
        let _ = self.kept.take().map(|(_, partial)| partial.discard());
    }
}
