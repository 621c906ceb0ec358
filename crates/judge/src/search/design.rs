//! How many measurements each step of a search has. The whole design takes 240 for 20 settings with two other values each; with fewer
//! to spend or less to try, steps become smaller or are left out. Where there is no room for single changes and a screen, a brief
//! search is a screen and a halving: in a screen each measurement serves all settings.

/// A measurement of the present values for so many single changes: the reference, and the noise.
const CHANGES_FOR_A_REFERENCE: usize = 4;
/// Below so many references there is no noise to speak of.
const LEAST_REFERENCES: usize = 4;
/// Where few changes are tried, each is measured up to so often.
const MOST_ROUNDS: usize = 4;
/// A screen of fewer measurements tells less than its time is worth.
const LEAST_SCREEN: usize = 48;
/// A larger one finds a pair at 5 % of noise in 99 instead of 90 of 100 (docs/tuning.md), for half as many measurements again.
const MOST_SCREEN: usize = 96;
/// Settings that have to be left for a screen: fewer have so few pairs that they are tried themselves.
const LEAST_SCREENED: usize = 3;
/// A brief search of fewer measurements has single changes alone.
const LEAST_BRIEF: usize = 16;
/// The screen's share of a brief search.
const BRIEF_SCREEN: (usize, usize) = (3, 5);
/// Single changes that a brief search compares at last.
const BRIEF_ARMS: usize = 6;
/// So many single changes and so many pairs come into the halving.
pub(super) const SINGLES_KEPT: usize = 12;
pub(super) const PAIRS_KEPT: usize = 21;
/// Settings whose pairs come into the halving where there was no screen.
pub(super) const SETTINGS_KEPT: usize = 4;
/// How often a winning pair and each of its changes are measured beside one another.
pub(super) const REDUCTION_ROUNDS: usize = 4;
/// All that the reduction of a pair takes.
const REDUCTION: usize = 3 * REDUCTION_ROUNDS;

/// Sizes of the steps, in measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Design {
    /// Single changes that are tried: of more, the first ones.
    pub changes: usize,
    /// Of the present values between them.
    pub references: usize,
    /// How often all of these are measured; 0 in a brief search.
    pub rounds: usize,
    /// Of the screen; 0 where there is none.
    pub screen: usize,
    /// Combinations with which the halving begins, at most.
    pub arms: usize,
    /// Whether pairs of changes are among them.
    pub pairs: bool,
}

impl Design {
    /// For so many changes of so many settings and so many measurements; `None` where these are too few for one change.
    pub fn new(all: usize, settings: usize, cells: usize) -> Option<Self> {
        let fits = |n: &usize| n + references(*n) + halving(comparable(*n)) <= cells;
        let changes = (1..=all).rev().find(fits)?;
        let references = references(changes);
        let left = cells - changes - references;
        let whole = halving(SINGLES_KEPT + PAIRS_KEPT) + REDUCTION;
        let screen = left.saturating_sub(whole).min(MOST_SCREEN) / 4 * 4;
        let screen = if screen >= LEAST_SCREEN && settings >= LEAST_SCREENED { screen } else { 0 };
        let left = left - screen;
        let pairs = settings > 1 && left >= halving(SETTINGS_KEPT) + REDUCTION;
        let arms = most_arms(left - if pairs { REDUCTION } else { 0 }).max(comparable(changes));
        let once =
            Self { changes, references, rounds: 1, screen, arms: arms.min(most_combinations(changes, pairs)), pairs };
        let rounds = 1 + (cells.saturating_sub(once.cells()) / (changes + references)).min(MOST_ROUNDS - 1);
        let is_brief = screen == 0 && rounds == 1 && settings >= LEAST_SCREENED && cells >= LEAST_BRIEF;
        Some(if is_brief { Self::brief(all, cells) } else { Self { rounds, ..once } })
    }

    /// A screen and a halving.
    fn brief(changes: usize, cells: usize) -> Self {
        let screen = cells * BRIEF_SCREEN.0 / BRIEF_SCREEN.1;
        let arms = most_arms(cells - screen).min(BRIEF_ARMS).min(changes);
        Self { changes, references: 0, rounds: 0, screen, arms, pairs: false }
    }

    /// Whether nothing is measured alone before the screen.
    pub fn is_brief(&self) -> bool {
        self.rounds == 0
    }

    /// The fewest measurements with which one change can be found.
    pub fn least_cells() -> usize {
        1 + references(1)
    }

    /// All measurements at most.
    pub fn cells(&self) -> usize {
        self.rounds * (self.changes + self.references)
            + self.screen
            + halving(self.arms)
            + if self.pairs { REDUCTION } else { 0 }
    }
}

/// Whether a brief search's screen has had its share, where so many measurements are left after it.
pub(super) fn has_share(screened: usize, left: usize) -> bool {
    screened * BRIEF_SCREEN.1 >= screened.saturating_add(left).saturating_mul(BRIEF_SCREEN.0)
}

/// As many combinations as there can be in a halving.
fn most_combinations(changes: usize, pairs: bool) -> usize {
    if pairs { changes + changes * (changes - 1) / 2 } else { changes }
}

fn references(changes: usize) -> usize {
    changes.div_ceil(CHANGES_FOR_A_REFERENCE).max(LEAST_REFERENCES)
}

/// Of so many single changes as many as are compared again, at least.
fn comparable(changes: usize) -> usize {
    changes.min(3)
}

/// As many combinations as a halving of this size can begin with.
pub(super) fn most_arms(cells: usize) -> usize {
    let most = SINGLES_KEPT + PAIRS_KEPT;
    (1..=most).rev().find(|n| halving(*n) <= cells).unwrap_or(1)
}

/// How often each of so many is measured in a round.
pub(super) fn repeats(arms: usize) -> usize {
    if arms <= 4 { 2 } else { 1 }
}

/// Measurements of the present values in a round.
pub(super) fn round_references(arms: usize) -> usize {
    (arms * repeats(arms)).div_ceil(8).max(2)
}

/// How many are left after a round.
pub(super) fn halved(arms: usize) -> usize {
    arms / 2
}

/// Measurements of a halving down to one.
fn halving(arms: usize) -> usize {
    let mut left = arms;
    let mut cells = 0;
    while left > 1 {
        cells += left * repeats(left) + round_references(left);
        left = halved(left);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_design_keeps_to_its_measurements() {
        let whole = Design::new(40, 20, 240).unwrap();
        assert_eq!((whole.changes, whole.references, whole.screen, whole.arms, whole.rounds), (40, 10, 96, 33, 1));
        assert_eq!(Design::new(3, 1, 60).unwrap().rounds, 4, "three changes are measured several times");
        assert!(whole.cells() <= 240, "{}", whole.cells());
        for (changes, settings) in [(1, 1), (2, 2), (3, 1), (7, 3), (40, 20), (90, 30)] {
            for cells in 1..300 {
                match Design::new(changes, settings, cells) {
                    Some(design) => {
                        assert!(design.cells() <= cells.max(Design::least_cells()), "{changes} {cells} {design:?}");
                        assert!(design.changes >= 1 && design.arms >= 1 && design.changes <= changes, "{design:?}");
                    }
                    None => assert!(cells < Design::least_cells(), "{changes} {cells}"),
                }
            }
        }
    }

    #[test]
    fn few_measurements_have_a_brief_search_and_very_few_single_changes_alone() {
        let brief = Design::new(40, 20, 36).unwrap();
        assert!(brief.is_brief() && brief.changes == 40 && (18..=24).contains(&brief.screen), "{brief:?}");
        let short = Design::new(40, 20, 15).unwrap();
        assert!(!short.is_brief() && short.screen == 0 && (3..=11).contains(&short.changes), "{short:?}");
        assert_eq!(Design::new(1, 1, Design::least_cells()).unwrap().changes, 1);
        assert_eq!(Design::new(1, 1, Design::least_cells() - 1), None);
        assert!(!has_share(26, 18) && has_share(27, 18) && !has_share(3, usize::MAX));
        // Two settings have one pair.
        assert_eq!(Design::new(4, 2, 240).unwrap().screen, 0);
    }
}
