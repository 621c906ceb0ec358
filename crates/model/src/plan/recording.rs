//! Operations on blocks as somebody did them once, to be done again.

use crate::Ns;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedKind {
    /// Bytes were read.
    #[default]
    Read,
    /// Bytes were written.
    Write,
    /// Bytes were discarded.
    Trim,
    /// fsync, or a flush of the device.
    Fsync,
    /// fdatasync.
    Fdatasync,
}

/// One operation of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordedOp {
    /// When it started, from the first one on.
    pub at_ns: Ns,
    /// What it was.
    pub kind: RecordedKind,
    /// First byte, from the start of the region.
    pub offset: u64,
    /// Bytes; 0 for syncs.
    pub len: u32,
}

/// The operations of a recording, in the order in which they started. A plan that was written and read again has none: which
/// recording it was is said by its digest.
#[derive(Clone, Debug, Default)]
pub struct RecordedOps(pub Arc<[RecordedOp]>);

impl PartialEq for RecordedOps {
    /// Recordings are told apart by their digests.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A recording, and how fast it is done again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// SHA-256 of the text that it was read from, hexadecimal.
    pub recording_digest: String,
    /// Operations, syncs among them.
    pub recorded_operations: u64,
    /// From the first start to the last.
    pub recorded_span_ns: Ns,
    /// Speed in thousandths of the recorded one; 0: as fast as possible, at the depth of its stream.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub recorded_speed_milli: u32,
    /// The operations.
    #[serde(skip)]
    pub ops: RecordedOps,
}
