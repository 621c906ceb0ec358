//! Recordings of file operations: what a program did to files, written down while it does it ([`record_calls`]), read as calls
//! ([`read_recording`]), and made again below a directory of the run's own ([`ReplaySource`], [`ReplayedCalls`]). What apt and dpkg do is
//! known as a model ([`package_calls`]), or done by the machine's own dpkg ([`Dpkg`]).
//!
//! The rest of the program does without it: it is behind the feature `file-trace` of `engine`, `conduct` and the program
//! (docs/design/file-trace.md). Plans and runs of it are values of `model`, which every build reads.
//!
//! Invariants:
//! - Nothing that a recording names is opened: its paths become names of our own form (`workload::TraceNames`).
//! - The loop, the devices and the simulated file system are the engine's; this crate has the source of the calls and makes a single one.
//!
//! Deliberately absent: requests of block devices, whose recordings (fio's iologs, blktrace) are workloads of blocks; what a text of a user
//! says beside the recording (`spec`).

mod packages;
mod record;
mod recording;
mod replay;

pub use packages::package_calls;
pub use record::{Recorded, record_calls};
pub use recording::{KEYS, Recording, RecordingMistake, is_recording, read_recording};
pub use replay::{
    ARCHIVES, CallOp, Dpkg, MadeData, ROOT, ReplaySource, ReplayedCalls, directory, dpkg_is_there, needs_preinstall,
    room_for,
};
