//! What a run answers, as values; `report` says it in a sentence.

use crate::{Filled, RatedClass, Responsiveness};

/// The answer to what was asked, where it takes more than the metrics of the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A target was written from its start to its end.
    Filled {
        /// While all of it was written; `None` where that was too short to tell.
        filled: Option<Filled>,
        /// What was written after a rest.
        rested: Option<Filled>,
        /// How long it rested, nanoseconds.
        rest_ns: u64,
    },
    /// How long small operations take, alone and beside a writer.
    Responsive(Responsiveness),
    /// How it stands to speed classes.
    Classes(Vec<RatedClass>),
}
