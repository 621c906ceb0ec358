//! `null:`: nothing is done, so that what remains is our own overhead.

use super::buffer_cache::BufferCache;
use super::execute::execute;
use super::on_files::no_file_system;
use super::work::{OpenTarget, PhaseWork};
use crate::copy::run_copy;
use crate::{Control, FileOptions, Rig};
use model::{EngineKind, Failure, Ns, PhasePlan, PhaseRecord};
use sys::Epoch;

/// Size that `null:` claims: any plan fits.
const BYTES: u64 = 1 << 40;

/// Executes phases against nothing.
#[derive(Debug)]
pub struct NullRig {
    epoch: Epoch,
    options: FileOptions,
    buffer_cache: BufferCache,
}

impl NullRig {
    /// With intervals of this length, and buffers of this size for the memory copy.
    pub fn new(interval_ns: Ns, copy_bytes: u64) -> Self {
        let options = FileOptions { interval_ns, copy_bytes, ..FileOptions::default() };
        Self { epoch: Epoch::start(), options, buffer_cache: BufferCache::default() }
    }
}

impl Rig for NullRig {
    fn now(&self) -> Ns {
        self.epoch.elapsed_ns()
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        if phase.engine == EngineKind::Memory {
            return run_copy(self.epoch, phase, self.options.interval_ns, self.options.copy_bytes, control);
        }
        if phase.operates_on_files() || phase.replays_calls() {
            return Err(no_file_system(phase, "null:"));
        }
        let epoch = self.epoch;
        let options = &self.options;
        let buffer_cache = &self.buffer_cache;
        let job = PhaseWork { plan: phase, reads_back: false, epoch, device: false, options, buffer_cache, control };
        Ok(execute(job, &vec![OpenTarget::default(); phase.streams.len()], Vec::new())?.record)
    }

    fn readable_bytes(&self) -> u64 {
        BYTES
    }
}
