//! A setting of the machine: a value below /sys, /proc/sys or /proc/irq, the options of a mount, what a command sets. It is read, applied,
//! verified and undone; the journal of this machine undoes it after a crash.
//!
//! Invariants:
//! - What undoes a change is on the disk before the change is made, in a directory of this user alone, never in an archive.
//! - Values are written only below /sys, /proc/sys and /proc/irq, judged by what a descriptor refers to, and on the way back only those
//!   that were read before. A register is written only while its driver is bound.
//! - Values that clear or reset one another are saved and restored together, and each way back is verified by reading.
//! - A journal is bound to one machine, and what a reboot undoes to one start of it.
//! - Looking for journals changes nothing.
//!
//! Deliberately absent: a decision which setting is good, whether a user agreed to a command, and a terminal.

mod applied;
mod change;
mod command;
mod error;
mod group;
mod journal;
mod journal_directories;
mod machine;
mod mount;
mod mount_option;
mod path;
mod private_directory;
mod register;
mod running;
mod together;
mod tunable;
mod value;

pub use applied::{AppliedSettings, Setting};
pub use change::Change;
pub use command::{CommandLimits, CommandLine};
pub use error::{Result, SettingError};
pub use group::{Group, Saved, rank, side_effect};
pub use journal::{Head, Journal, OrphanedJournals, UndoReport, find};
pub use journal_directories::{JournalDirectories, Persistence};
pub use machine::Machine;
pub use mount::{Mounted, mount_at, with_option};
pub use mount_option::{MOUNT_OPTIONS, MountOption};
pub use path::paths;
pub use private_directory::PrivateDirectory;
pub use register::RegisterBits;
pub use running::RunningCommand;
pub use together::{leader_of, set_with};
pub use tunable::{Felt, TUNABLES, Tunable, TunableState};
pub use value::{Tree, ValuePath, same_value};
