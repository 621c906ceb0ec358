//! The session: opens a target after checking that it may be used ([`admission`]), makes a plan for it ([`plan`]), executes that phase by
//! phase under observation and archives the run ([`Execution`]), alone or as a rank of a group ([`group`]).
//!
//! What asks more than one run of it is a crate above this one: `experiments`, `soak`, `record`. They have from here what the session
//! has for itself, too: how a file of ours is said not to be made ([`file_failure`]), how much room may be taken ([`free_bytes`]), the
//! directory of a study ([`workspace`]), and a run of what had no plan of phases ([`kept_run`]).
//!
//! Invariants:
//! - One way to a target for all commands: [`admission`] opens it once, decides about the open descriptor, and hands
//!   descriptors on. Nothing after it goes by the name again.
//! - What would be lost is told before the first byte is written.
//! - Quiet windows, samples, phases and judging are one piece of code for real, null and simulated targets: what is published
//!   about the program's answers was made by [`Execution`], like every run.
//! - What happens is told as typed events to a [`Listener`], and nothing depends on who listens.
//!
//! Deliberately absent: arguments, a terminal, handlers of signals, the wording of results, reading of texts from files, and wrappers of
//! system calls and of files of the kernel (`sys`, `observe`).

pub mod admission;
mod archive_room;
mod clock;
pub mod destination;
mod execution;
pub mod file_failure;
mod free_space;
pub mod group;
mod interrupts;
pub mod kept_run;
mod listener;
mod opened;
mod permission;
pub mod plan;
mod recordings;
pub mod region;
mod requests;
mod simulated;
mod source;
mod target;
pub mod workspace;
mod write_allowance;

pub use archive_room::room_in_archive;
pub use clock::{WallClock, random_u64};
pub use execution::{Budget, Executed, Execution};
pub use free_space::free_bytes;
pub use interrupts::Interrupts;
pub use listener::{Event, Listener, NullListener, Step};
pub use opened::Opened;
pub use permission::may_be_written;
#[cfg(feature = "file-trace")]
pub use recordings::{Recorded, record_calls};
pub use recordings::{is_trace, package_model, parse_trace};
pub use requests::{RecordedRequests, record_requests};
pub use simulated::simulated_bytes;
pub use source::{Language, Source};
pub use target::{Wanted, open};
pub use write_allowance::{DeviceSize, WriteAllowance};
