//! A whole target with all its ways in.

mod access;
mod bounds;
mod buffer_cache;
mod cold;
mod cold_passes;
mod content;
mod data;
mod device_reads;
mod direct;
mod execute;
mod file;
mod limits;
mod nodes;
mod null;
mod on_files;
mod own_directory;
mod own_files;
mod probe;
mod refusal;
#[cfg(not(feature = "file-trace"))]
#[path = "rig/no_replay.rs"]
mod replay;
#[cfg(feature = "file-trace")]
mod replay;
mod shared;
mod stream_worker;
mod target;
mod verify;
mod ways;
mod work;

pub(crate) use bounds::clip;
pub use device_reads::DeviceReads;
pub(crate) use execute::reading_back;
pub use file::FileRig;
pub(crate) use file::moved_bytes;
pub use null::NullRig;
pub(crate) use on_files::no_file_system;
pub use probe::WriteProbe;
pub(crate) use refusal::refusal_of_device;
pub use refusal::{Attempt, refusal};
pub use shared::{Sharing, SharingStep};
pub use target::{FileOptions, FileTarget, classify, usable_bytes};
pub(crate) use verify::{nothing_written, out_of_memory};

use crate::Control;
use model::{Failure, Ns, PhasePlan, PhaseRecord, SystemSample};
use std::time::Duration;
use workload::KnownData;

/// Executes phases against one target. Implemented for real files and devices, for `null:` and for `sim:`; callers
/// cannot tell which.
pub trait Rig {
    /// The clock of the run, nanoseconds since the rig was opened.
    fn now(&self) -> Ns;

    /// Does what takes time before a phase can start, so that several start it at one moment: caches are dropped.
    fn prepare(&mut self, _phase: &PhasePlan) {}

    /// Executes one phase as planned. A phase that was stopped or failed half-way is still a record; `Err` only where
    /// nothing at all was done. The record's `quiet_*` and the device's bytes of `cold` are filled by the caller, from
    /// samples.
    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure>;

    /// Whether the target has what a phase needs, room and a file system, as far as that shows before anything is written: a plan is
    /// refused for what its execution would be.
    ///
    /// # Errors
    /// What [`Self::run`] would refuse.
    fn check(&self, _phase: &PhasePlan) -> Result<(), Failure> {
        Ok(())
    }

    /// Flushes what we have written, so that the following quiet window shows others only.
    fn flush(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Lets time pass without an operation of ours; ends early when stopped.
    fn idle(&mut self, ns: Ns, control: &Control) {
        sleep(&|| self.now(), ns, control);
    }

    /// Bytes that hold real data from the start of the target: what reads may touch. After a layout that ran out of
    /// time this is less than planned.
    fn readable_bytes(&self) -> u64;

    /// Goes on with data that an earlier process wrote: what verifies from now on knows them.
    ///
    /// # Errors
    /// What it does not keep cannot be verified later; there is no memory for what is to be known.
    fn remember_known(&mut self, _known: &KnownData) -> Result<(), Failure> {
        let what = "this target keeps no data, so that none can come back wrong";
        Err(Failure::refused(what).remedy("name a directory, a file or a block device"))
    }

    /// Makes or finds what the ranks of a group share, step by step.
    ///
    /// # Errors
    /// The target is no directory, or something is in the way.
    fn share(&mut self, _sharing: &Sharing, _step: SharingStep) -> Result<(), Failure> {
        Err(Failure::usage("only in a directory can the ranks of a group share a file")
            .remedy("name a directory on storage that all ranks share, or leave out --shared-file"))
    }

    /// Bytes written to the target so far, layout and probes included.
    fn bytes_written(&self) -> u64 {
        0
    }

    /// Faults that were asked for and have not come yet, by their parameters.
    fn pending_faults(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// What was asked for has been shown elsewhere: no fault is to come any more.
    fn clear_pending_faults(&mut self) {}

    /// The machine as this rig simulates it, now; `None` where the real machine is to be observed.
    fn simulated_sample(&mut self) -> Option<SystemSample> {
        None
    }

    /// Samples taken during the last phase in simulated time; empty where the real machine is to be observed.
    fn take_simulated_samples(&mut self) -> Vec<SystemSample> {
        Vec::new()
    }
}

/// Longest sleep before the stop flag is looked at again.
const IDLE_SLICE_NS: Ns = 20_000_000;

/// Sleeps for so long by this clock, or until stopped.
pub(crate) fn sleep(now: &dyn Fn() -> Ns, ns: Ns, control: &Control) {
    let end = now().saturating_add(ns);
    while !control.stopped() && now() < end {
        std::thread::sleep(Duration::from_nanos((end - now().min(end)).min(IDLE_SLICE_NS)));
    }
}
