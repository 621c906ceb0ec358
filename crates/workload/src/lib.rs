//! Pure, seeded sources of the next operation.
//!
//! A [`Source`] is asked for operations by the engine's loop and hears of their completions, so that replay with
//! dependencies, soak and a recorder fit the same loop as sequential and random streams. Seed in, operations out: the
//! same seed and the same completions give the same operations.
//!
//! [`Pattern`] gives any stream of blocks that a plan can say, of a target or of memory that is copied, [`FileStream`] operations
//! on whole files.
//!
//! [`WrittenData`] is what a run knows of the data that it has written; a stream that verifies has its [`Verified`], which makes
//! stamped data, looks at what was read, and judges what is wrong with it; [`ReadBackOf`] reads again what was written.
//!
//! Deliberately absent: system calls, clocks (the time is a parameter), histograms, the content of data that are not verified.

mod backlog;
mod entry_names;
mod file_space;
mod files;
mod flow;
mod no_overlap;
mod offsets;
mod on_files;
mod op;
mod pace;
mod pattern;
#[cfg(test)]
mod pattern_tests;
mod permutation;
mod popularity;
mod prior_ops;
mod priorities;
mod random;
mod read_back;
mod sequential_share;
mod shaping;
mod sizes;
mod syncs;
mod traced;
mod verified;
mod written;

pub use entry_names::{EntryNames, LINKED, PathText, TraceNames, second_name, set_of};
pub use file_space::FileSpace;
pub use flow::FlowTotal;
pub use integrity::{Armed, Interruption, KnownData, Medium, SECTOR_BYTES};
pub use on_files::{FileOp, FileStream};
pub use op::{BlockOp, Next, OpKind, OpResult, Request, Source};
pub use pattern::Pattern;
pub use permutation::Permutation;
pub use random::Random;
pub use read_back::ReadBackOf;
pub use verified::{ReadAgain, Verified, VerifyOutcome};
pub use written::{VerifyStateError, WrittenData};
