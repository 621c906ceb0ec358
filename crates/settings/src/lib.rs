//! A setting of the machine: a value below /sys, /proc/sys or /proc/irq, the options of a mount, what a command sets. It is read, applied,
//! verified and undone; the journal of this machine undoes it after a crash.
//!
//! Invariants:
//! - What undoes a change is on the disk before the change is made, in a directory of this user alone, never in an archive.
//! - Values are written only below /sys, /proc/sys and /proc/irq, judged by what a descriptor refers to, and on the way back only those
//!   that were read before.
//! - Values that clear or reset one another are saved and restored together, and each way back is verified by reading.
//! - A journal is bound to one machine, and what a reboot undoes to one start of it.
//! - Looking for journals changes nothing.
//!
//! Deliberately absent: a decision which setting is good, whether a user agreed to a command, and a terminal.

mod change;
mod command;
mod error;
mod group;
mod in_force;
mod journal;
mod machine;
mod mount;
mod path;
mod places;
mod private_directory;
mod running;
mod tunable;
mod value;

pub use change::Change;
pub use command::{CommandLine, Patience};
pub use error::{Result, SettingError};
pub use group::{Group, Saved, rank};
pub use in_force::{InForce, Setting};
pub use journal::{Found, Head, Journal, Undone, find};
pub use machine::Machine;
pub use mount::{Mounted, mounted_at};
pub use path::paths;
pub use places::{Lasting, Places};
pub use private_directory::PrivateDirectory;
pub use running::Running;
pub use tunable::{TUNABLES, Tunable, Tuned};
pub use value::{Tree, ValuePath};
