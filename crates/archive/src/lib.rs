//! Run bundles on disk: written so that a crash at any moment leaves something readable, and never edited afterwards.
//!
//! ```text
//! <archive>/
//!   runs/<UTC>-<8 hex>/            a bundle: run.json, series.csv, system.csv, latency.csv, kernel.log, order,
//!                                  SHA256SUMS
//!   runs/.<id>.partial/            a run in progress, or one that a crash cut off
//!   reports/<id>.html              pages; may be deleted at any time
//!   tags.toml                      names that people gave to runs
//!   index.jsonl                    a cache; rebuilt from the bundles whenever it does not agree with them
//!   experiments/<id>.json         how far an experiment came; <id>.restore.json: what has to be put back after a crash
//!   acknowledged.json              events of its history that people know of
//!   noise.json                     the noise of the rig, as calibrated
//!   counter                        the highest number in the order of runs
//!   archive.lock                   held while one of the files above changes
//! ```
//!
//! Invariants:
//! - A directory `runs/<id>` is whole: everything in it was synced before the rename that gave it its name.
//! - What is loaded equals what was saved, to the last bit; floating-point values that JSON cannot say (NaN, infinity)
//!   become absent.
//! - A bundle from a stranger may be wrong in any way: the answer is a typed error with file and line, in bounded
//!   memory, never a panic, and nothing outside the bundle is opened through it.
//! - Nothing outside the archive's own folders is written or removed, whatever lies in them: they are reached by descriptors,
//!   and no link below the archive is followed.
//! - What is created is its owner's alone (0700, 0600), unless the folder that it lies in has another mode.
//! - Several processes may use one archive. A run in progress holds a lock that the kernel drops with the process, so
//!   [`Archive::recover`] never touches it.
//! - Bundles of many machines are merged by copying directories into `runs/`; [`Archive::adopt`] checks them and keeps what is here.
//!
//! Deliberately absent: the meaning of any value, clocks, randomness and environment variables (they are passed in),
//! and anything that prints.

mod archive;
mod bundle;
mod bundle_files;
mod checksums;
mod csv;
mod directory;
mod error;
mod find;
mod folder;
mod id;
mod index;
mod latency;
mod location;
mod lock;
mod merge;
mod order;
mod partial;
mod recover;
mod resolve;
mod series;
mod side_files;
mod storage;
mod sweep;
mod system;
mod table;
mod tags;
mod temporary;
mod upgrade;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod symlink_tests;

pub use bundle::load_bundle;
pub use checksums::Verification;
pub use directory::Archive;
pub use error::{ArchiveError, Result};
pub use find::find_bundles;
pub use id::{is_run_id, run_id};
pub use index::{IndexEntry, IndexedRun};
pub use location::default_directory;
pub use lock::Lock;
pub use merge::{Adopted, Incoming};
pub use partial::Partial;
pub use recover::{Recovered, Recovery};
pub use resolve::{RunRef, only};
pub use tags::check as check_tag;
