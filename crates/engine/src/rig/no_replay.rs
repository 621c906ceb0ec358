//! Calls of a recording where the program was built without `file_trace`: none is made, and who asks for them is told so first.

use super::file::FileRig;
use super::own_directory::OwnDirectory;
use super::stream_worker::Worker;
use super::work::StreamOutcome;
use crate::{Control, DeviceError, without_file_traces};
use model::{Failure, PhasePlan, PhaseRecord, RealPackages, ReplayPlan};
use std::path::Path;

pub(super) fn check(phase: &PhasePlan) -> Result<(), Failure> {
    if phase.replays_calls() { Err(without_file_traces(&phase.name)) } else { Ok(()) }
}

pub(super) fn room_of(replay: &ReplayPlan) -> [u64; 2] {
    replay.replay_most
}

pub(super) fn prepare(_: &OwnDirectory, phase: &PhasePlan, _: &ReplayPlan, _: &Path) -> Result<u64, Failure> {
    Err(without_file_traces(&phase.name))
}

impl FileRig {
    pub(super) fn run_dpkg(
        &mut self,
        phase: &PhasePlan,
        _: &RealPackages,
        _: &Control,
    ) -> Result<PhaseRecord, Failure> {
        Err(without_file_traces(&phase.name))
    }
}

impl Worker<'_> {
    pub(super) fn replayed(&mut self) -> Result<StreamOutcome, DeviceError> {
        Err(DeviceError::BadOperation(without_file_traces("replay").message))
    }
}
