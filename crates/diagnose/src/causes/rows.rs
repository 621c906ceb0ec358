//! What the rows of a card ask of the causes: the same rules, of one direction or one rate.

use super::{Cause, depth, link, page_cache, write_cache};
use model::{Direction, Evidence, Run};

/// Random reads or writes at depth over those at depth 1.
pub(crate) struct Scaling {
    /// Rate at depth over rate at depth 1.
    pub ratio: f64,
    pub depth: f64,
    /// The two rates that are compared.
    pub evidence: Vec<Evidence>,
}

/// What a direct rate, with where it was measured, says of the link; `None` where the link is cleared, or not known.
pub(crate) fn link(run: &Run, rate: (f64, Evidence), other: Option<f64>) -> Option<Cause> {
    link::at(run, rate, other)
}

/// Whether what the link carries is known at all.
pub(crate) fn link_is_known(run: &Run) -> bool {
    link::narrowest_link(run).is_some()
}

/// A write cache that ran out.
pub(crate) fn write_cache(run: &Run) -> Option<Cause> {
    write_cache::exhausted(run)
}

/// Buffered writes well below direct ones.
pub(crate) fn buffered_writes(run: &Run) -> Option<Cause> {
    page_cache::buffered_writes(run)
}

/// Buffered reads well below direct ones.
pub(crate) fn buffered_reads(run: &Run) -> Option<Cause> {
    page_cache::buffered_reads(run)
}

/// Whether a cause is of how a rate grows with depth.
pub(crate) fn is_of_depth(cause: &Cause) -> bool {
    cause.evidence.iter().any(|e| e.what == "rate at depth 1")
}

/// How random operations of a direction scale, where the depth was in flight.
pub(crate) fn scaling(run: &Run, direction: Direction) -> Option<Scaling> {
    let scaling = depth::scaling(run, direction).filter(|s| s.depth_was_there() != Some(false))?;
    Some(Scaling { ratio: scaling.ratio(), depth: scaling.depth, evidence: scaling.evidence() })
}
