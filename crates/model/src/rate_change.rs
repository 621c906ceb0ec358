//! That a phase left the rate at which it went: a cache ran out, heat throttled it, it recovered.

use crate::Ns;
use serde::{Deserialize, Serialize};

/// One lasting change of a phase's rate. Several of one phase stand in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateChange {
    /// When, since the start of the phase, to within the intervals that were compared.
    pub at_ns: Ns,
    /// Mean rate from the change before (or the end of the warm-up) to this one.
    pub before_bytes_per_s: f64,
    /// Mean rate from this change to the next (or the end of the phase).
    pub after_bytes_per_s: f64,
    /// Bytes that the phase had moved by then, warm-up included. Where a write cache ran out, it is smaller by what drained
    /// meanwhile, and by what was in it before.
    pub bytes_before: u64,
}

impl RateChange {
    /// Rate after over rate before; `None` where the rate before is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.before_bytes_per_s > 0.0).then(|| self.after_bytes_per_s / self.before_bytes_per_s)
    }
}
