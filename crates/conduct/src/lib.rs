//! Where the rooms meet. Today: from the text of a target to a rig that is open, locked and known down to its controller.
//!
//! Invariants:
//! - One way to a target for all commands: [`admission`] opens it once, decides about the open descriptor, and hands
//!   descriptors on. Nothing after it goes by the name again.
//! - What would be lost is told to the caller before the first byte is written.
//!
//! Deliberately absent: arguments, a terminal, the wording of results.

pub mod admission;
mod target;

pub use target::{Opened, Wanted, open};
