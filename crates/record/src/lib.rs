//! Recordings: streams of frames onto a file or a device that may be written to, and what was recorded ([`record()`],
//! [`open_recording`], [`export()`]); the same frames written in other ways, to compare ([`frames`]).
//!
//! The container, its writer and the producers are those of `recorder`. Here it is decided where a recording goes, what it may write,
//! with which priority, and what other users of the disk are held back meanwhile; and what came of it becomes a run.
//!
//! Invariants:
//! - A target is opened by [`conduct::admission`] alone, and what is there already is overwritten only where the user said so.
//! - What is done to others (pauses, limits of control groups) is undone however the recording ends: where this program is killed,
//!   by a process of its own.
//! - What is asked of the kernel is read back: priorities, limits and CPUs count as in effect only if they are.
//! - Pins and superblocks are changed by one process at a time, and one of the two copies is always whole.
//!
//! Deliberately absent: the form of a container and the loop that writes it (`recorder`), arguments, a terminal, the wording of
//! results.

mod bounds;
mod bundle;
mod course;
mod defer;
mod export;
pub mod frames;
mod inputs;
mod limits;
mod others;
mod pins;
mod place;
mod priority;
mod read;
mod recording;
mod ring;
mod room;
mod scheduling;
mod simulated;
mod superblocks;
mod watcher;

pub use bundle::{begun_run, run_of};
pub use course::record;
pub use defer::Deferred;
pub use export::{Export, ExportFormat, Exported, Into as ExportInto, export, moment_ns};
pub use inputs::bind;
pub use limits::{GroupLimit, Limit, Limited, Rate};
pub use pins::{Pinned, pin};
pub(crate) use place::open_device;
pub use place::{RECORDING_SUFFIX, repair_recording, room_bytes};
pub use priority::Priority;
pub use read::{Read, open_recording};
pub use recording::{CpuPerGb, Input, RecordEvent, RecordProgress, Recorded, Recording};
pub use ring::RingLevel;
pub use scheduling::Scheduling;
