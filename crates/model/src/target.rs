//! What the I/O goes to.

use crate::Stack;
use serde::{Deserialize, Serialize};

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A directory: a temporary file in it is used and removed.
    Directory,
    /// A regular file that exists.
    File,
    BlockDevice,
    /// Nothing: operations complete at once, so that our own overhead is what is measured.
    Null,
    /// A simulated device with known truth, in simulated time.
    Sim,
    /// Memory, or a device's memory, whose bytes are copied: by a mapping, by calls, or simulated.
    Region,
    /// What another tool measured on, known only by the name that it gave.
    Foreign,
}

/// A resolved target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// As the user wrote it.
    pub name: String,
    /// What it turned out to be.
    pub kind: TargetKind,
    /// The canonical name in the file system, where it has one.
    pub path: Option<String>,
    /// Size of the file or device; for a directory, what is available to us on its file system.
    pub size_bytes: Option<u64>,
    /// Whether the plan may write to it (always for a directory's temporary file).
    pub writable: bool,
    /// From file system down to controller; empty for `null:`.
    pub stack: Stack,
}

impl Target {
    /// One of this name, of which nothing else is known.
    pub fn named(name: impl Into<String>, kind: TargetKind) -> Self {
        Self { name: name.into(), kind, path: None, size_bytes: None, writable: true, stack: Stack::default() }
    }
}
