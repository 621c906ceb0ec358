//! A setting of the machine: a value file below /sys or /proc/sys, the options of a mount, a command. How it is read, applied
//! and undone.
//!
//! Invariants:
//! - What undoes a change is known before the change is made.
//!
//! Deliberately absent: a decision which setting is good, words for people beyond what was done to what, and a terminal.

mod command;
mod mount;
mod undo;
mod value;

pub use command::shell;
pub use mount::{mounted_with, opposite, remount};
pub use undo::Undo;
pub use value::read_value;
