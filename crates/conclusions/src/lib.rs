//! What kept runs say: one run ([`of_run`]), an archive over time and what people acknowledged of it ([`history`]), the bundles of a site
//! ([`site`]).
//!
//! Invariants:
//! - Nothing is measured and no run is changed. What is concluded is drawn anew from what was recorded, so that an old run gains from
//!   what is learned later; what is kept beside the bundles is a cache, or what people said.
//! - Whether a number is valid, what changed and what limits is decided by `judge` and `diagnose` alone.
//! - Bundles are untrusted input: one that cannot be read is named and left out.
//!
//! Deliberately absent: targets, the machine that this runs on, a clock, arguments, wording.

pub mod history;
pub mod site;

use model::{Conclusions, Run};

/// All that is concluded of a run: what the judge says of it goes to the diagnosis.
pub fn of_run(run: &Run) -> Conclusions {
    diagnose::conclusions(run, judge::judged(run))
}

/// The same where one of its causes was measured and does not hold.
pub fn of_run_without(run: &Run, refuted: &diagnose::Cause) -> Conclusions {
    diagnose::conclusions_without(run, judge::judged(run), refuted)
}
