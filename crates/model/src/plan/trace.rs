//! Operations on blocks as somebody did them once, to be done again.

use crate::Ns;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TraceKind {
    /// Bytes were read.
    #[default]
    Read,
    /// Bytes were written.
    Write,
    /// Bytes were discarded.
    Trim,
    /// fsync, or a flush of the device.
    Fsync,
    Fdatasync,
}

/// One operation of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceOp {
    /// When it started, from the first one on.
    pub at_ns: Ns,
    /// What it was.
    pub kind: TraceKind,
    /// First byte, from the start of the region.
    pub offset: u64,
    /// Bytes; 0 for syncs.
    pub len: u32,
}

/// The operations of a trace, in the order in which they started. A plan that was written and read again has none: which
/// trace it was is said by its digest.
#[derive(Clone, Debug, Default)]
pub struct TraceOps(pub Arc<[TraceOp]>);

impl PartialEq for TraceOps {
    /// Traces are told apart by their digests.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A trace, and how fast it is done again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// SHA-256 of the text that it was read from, hexadecimal.
    pub trace_digest: String,
    /// Operations, syncs among them.
    pub trace_operations: u64,
    /// From the first start to the last.
    pub trace_span_ns: Ns,
    /// Speed in thousandths of the recorded one; 0: as fast as possible, at the depth of its stream.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trace_speed_milli: u32,
    /// Not the moments are kept, but the pauses.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub trace_pauses: bool,
    /// The operations.
    #[serde(skip)]
    pub ops: TraceOps,
}

impl Trace {
    /// Of these operations, at their speed.
    pub fn of(ops: Vec<TraceOp>) -> Self {
        Self {
            trace_operations: ops.len() as u64,
            trace_span_ns: ops.last().map_or(0, |op| op.at_ns),
            trace_speed_milli: 1000,
            ops: TraceOps(ops.into()),
            ..Self::default()
        }
    }
}
