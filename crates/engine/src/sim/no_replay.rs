//! The simulated machine of a build without `file_trace`: it has no file system.

use super::machine::Machine;
use super::rig::SimRig;
use crate::{Control, without_file_traces};
use model::{Failure, Ns, PhasePlan, PhaseRecord, ReplayPlan};

/// Of these there is none.
#[derive(Debug)]
pub(super) enum SimFiles {}

impl SimFiles {
    pub fn sync(&mut self, _: &mut Machine, _: Ns) -> Ns {
        match *self {}
    }
}

impl SimRig {
    pub(super) fn replay(&mut self, phase: &PhasePlan, _: &ReplayPlan, _: &Control) -> Result<PhaseRecord, Failure> {
        Err(without_file_traces(&phase.name))
    }
}
