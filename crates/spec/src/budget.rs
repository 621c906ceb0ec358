//! What a text says of its budget of time.

use crate::share::MIN_SHARE_NS;
use model::{NS_PER_S, Warmup};

/// What a text says of its budget.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Budget {
    /// All the time there is; `None`: each phase says its own.
    pub total_ns: Option<u64>,
    /// What layout may take of it, per cent.
    pub layout_percent: u32,
    /// A phase that cannot have this much is left out.
    pub least_share_ns: u64,
    /// What does not count at the beginning of each phase that says no `ramp`.
    pub warmup: Warmup,
    /// The most that layout may write; `None`: as much as it has time for.
    pub layout_bytes: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        let warmup = Warmup { min_ns: NS_PER_S / 5, share: 0.05, max_ns: NS_PER_S };
        Self { total_ns: None, layout_percent: 25, least_share_ns: MIN_SHARE_NS, warmup, layout_bytes: None }
    }
}
