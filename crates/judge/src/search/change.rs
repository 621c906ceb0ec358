//! A change of one setting, and all that a search may change.

/// Which candidate, and which of its other values, both from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    pub candidate: usize,
    pub alternative: usize,
}

/// What a search may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Every change, those of a candidate together, the more promising ones first.
    pub changes: Vec<Change>,
    /// Candidates that findings of the first measurement name: they have a place in the last comparison.
    pub suggested: Vec<usize>,
    /// Changes that cannot be applied.
    pub refused: Vec<Change>,
}

impl Space {
    /// Of candidates with so many other values each.
    pub fn of(alternatives: &[usize]) -> Self {
        let each =
            |(candidate, count): (usize, &usize)| (0..*count).map(move |alternative| Change { candidate, alternative });
        Self { changes: alternatives.iter().enumerate().flat_map(each).collect(), ..Self::default() }
    }

    /// Those that can be applied.
    pub(super) fn usable(&self) -> Vec<Change> {
        self.changes.iter().copied().filter(|change| !self.refused.contains(change)).collect()
    }
}
