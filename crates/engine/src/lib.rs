//! Carries a phase out against a device.
//!
//! Two seams: [`DataSource`] says what is asked and has the data of it, [`Device`] carries it out and owns the clock, so that a
//! simulated device runs in simulated time and nothing downstream can tell. A [`Rig`] is a whole target with all its
//! ways in: it executes one [`model::PhasePlan`] after the other and returns what it recorded, raw.
//!
//! Invariants:
//! - One thread, one device, one short loop a worker; no allocation, lock or print in it after the ramp.
//! - Every completion's latency goes into a histogram, measured from the intended start.
//! - Intervals without completions are kept, as zeros.
//!
//! Deliberately absent: printing, parsing text, judging what was recorded.

mod control;
mod copy;
mod device;
mod feed;
mod recorder;
mod region;
mod rig;
mod sim;
mod stream_config;
mod worker;

pub use control::{Control, Progress};
pub use device::{
    Completion, Device, DeviceError, FilesDevice, MemoryDevice, NO_THREAD_REMEDY, NullDevice, PsyncDevice,
    PsyncThreads, UringDevice,
};
pub use feed::{CAPACITY as SERIES_CAPACITY, SampleFeed, SeriesFeed, SeriesSender};
pub use region::{Region, RegionRig};
pub use rig::{
    Attempt, DeviceReads, FileOptions, FileRig, FileTarget, NullRig, Rig, Sharing, SharingStep, WriteProbe, classify,
    refusal, usable_bytes,
};
pub use sim::{Jitter, SimData, SimDevice, SimLimit, SimRig, SimTruth};
pub use stream_config::StreamConfig;
pub use worker::{
    Data, DataGenerator, DataSource, NoData, PhaseShared, Shaped, WithData, run_data_source, run_stream, run_worker,
};

/// What a build without `file_trace` says where it would be needed.
pub fn without_file_traces(what: &str) -> model::Failure {
    let message =
        format!("{what}: this build does not replay what programs do to files (it is without the feature file-trace)");
    model::Failure::environment(message).remedy("build it with its default features: cargo build --release")
}
