//! Why a phase or a stream of it ended.

use serde::{Deserialize, Serialize};

/// Why a phase ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopCause {
    /// Its share of time was used.
    #[default]
    TimeUsed,
    /// The early-stop rule was satisfied.
    Steady,
    /// The search for a depth came to its end.
    DepthFound,
    /// The region was covered.
    RegionDone,
    /// Ctrl-C or SIGHUP.
    Interrupted,
    /// An operation failed.
    Failed,
}

impl StopCause {
    /// The graver of two: a phase or a job ended for the gravest of its streams' causes.
    pub fn more_severe(self, other: Self) -> Self {
        let rank = |stop: Self| match stop {
            Self::RegionDone => 0,
            Self::Steady => 1,
            Self::DepthFound => 2,
            Self::TimeUsed => 3,
            Self::Interrupted => 4,
            Self::Failed => 5,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graver_cause_wins() {
        use StopCause::*;
        let all = [RegionDone, Steady, DepthFound, TimeUsed, Interrupted, Failed];
        for (i, a) in all.into_iter().enumerate() {
            for (j, b) in all.into_iter().enumerate() {
                assert_eq!(a.more_severe(b), all[i.max(j)]);
            }
        }
    }
}
