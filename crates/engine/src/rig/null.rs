//! `null:`: nothing is done, so that what remains is our own overhead.

use super::execute::{Job, Way, execute};
use super::shelf::Shelf;
use super::verify::Caches;
use crate::{Control, Rig};
use model::{EngineKind, Failure, Ns, PhasePlan, PhaseRecord, SystemSample};
use sys::Epoch;

/// Size that `null:` claims: any plan fits.
const BYTES: u64 = 1 << 40;

/// Executes phases against nothing.
#[derive(Debug)]
pub struct NullRig {
    epoch: Epoch,
    interval_ns: Ns,
    copy_bytes: u64,
    shelf: Shelf,
}

impl NullRig {
    /// With intervals of this length, and buffers of this size ([`crate::copy_buffer_bytes`]) for the memory copy.
    pub fn new(interval_ns: Ns, copy_bytes: u64) -> Self {
        Self { epoch: Epoch::start(), interval_ns, copy_bytes, shelf: Shelf::default() }
    }

    /// The most that a plan's region may take.
    pub fn max_bytes(&self) -> u64 {
        BYTES
    }

    /// The moment from which the run's times count.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

impl Rig for NullRig {
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if phase.engine == EngineKind::Memory {
            return super::memory_copy(phase, self.epoch, self.interval_ns, self.copy_bytes, control);
        }
        let ways = vec![Way::Null; phase.streams.len()];
        let caches = Caches { device: false, backing: &[], hidden: false, device_reads: None };
        let shelf = &self.shelf;
        let job = Job { ways, plan: phase, epoch: self.epoch, interval_ns: self.interval_ns, caches, shelf };
        Ok(execute(&job, Vec::new(), control)?.record)
    }

    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn idle(&mut self, ns: Ns, control: &Control) {
        super::idle(self.epoch, ns, control);
    }

    fn readable_bytes(&self) -> u64 {
        BYTES
    }

    fn bytes_written(&self) -> u64 {
        0
    }

    fn simulated_sample(&mut self) -> Option<SystemSample> {
        None
    }

    fn take_simulated_samples(&mut self) -> Vec<SystemSample> {
        Vec::new()
    }
}
