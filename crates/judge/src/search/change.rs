//! A change of one setting.

/// Which candidate, and which of its other values, both from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    pub candidate: usize,
    pub alternative: usize,
}
