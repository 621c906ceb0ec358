//! How the time of a search is spent: measurements of a few seconds, and enough left for pairs that prove what they found.

use judge::search::{Design, GUARDED_PAIRS, LEAST_PAIRS};
use model::{NS_PER_S, Ns};

/// A measurement takes this part of the time, but no less and no more than this: more and shorter ones tell more, until what each takes
/// beside its measuring is most of it.
const CELLS_OF_BUDGET: u64 = 150;
const LEAST_CELL_NS: Ns = 1_200_000_000;
const MOST_CELL_NS: Ns = 3_600_000_000;
/// A row more guards for each minute.
const NS_PER_GUARD: Ns = 60 * NS_PER_S;
const GUARDS: (u64, u64) = (3, 6);
/// Opening the target and looking at the machine, before it was measured how long they take here.
pub(super) const OVERHEAD_NS: Ns = 300_000_000;
/// Pairs that a confirmation is foreseen to take; the noise may ask for more.
const USUAL_PAIRS: u32 = 16;
/// The search has this share of the time at least.
const LEAST_SEARCH: f64 = 0.4;
/// One more measurement comes first, which shows how long one takes.
const FIRST: usize = 1;

/// How long one measurement of a row of the check takes.
pub fn cell_ns(budget_ns: Ns) -> Ns {
    (budget_ns / CELLS_OF_BUDGET).clamp(LEAST_CELL_NS, MOST_CELL_NS)
}

/// How many rows of the check guard.
pub fn guard_rows(budget_ns: Ns) -> usize {
    (budget_ns / NS_PER_GUARD).clamp(GUARDS.0, GUARDS.1) as usize
}

/// What a budget holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    /// Measurements of the search.
    pub cells: usize,
    /// When the search has to end, after its beginning.
    pub search_ns: Ns,
    /// Pairs for which there is time.
    pub pairs: u32,
}

/// What a confirmation of so many pairs takes.
fn confirmation_ns(pairs: u32, cell_ns: Ns, guards_ns: Ns) -> Ns {
    2 * (u64::from(pairs) * cell_ns + u64::from(pairs.min(GUARDED_PAIRS)) * guards_ns)
}

impl Schedule {
    /// With measurements, and guards, that take so long; where the budget is too short to prove anything, the least one that is
    /// not.
    pub fn new(budget_ns: Ns, cell_ns: Ns, guards_ns: Ns) -> Result<Self, Ns> {
        let least = (Design::least_cells() + FIRST) as u64 * cell_ns + confirmation_ns(LEAST_PAIRS, cell_ns, guards_ns);
        if budget_ns < least {
            return Err(least);
        }
        let usual = confirmation_ns(USUAL_PAIRS, cell_ns, guards_ns);
        let most = (budget_ns as f64 * (1.0 - LEAST_SEARCH)) as Ns;
        let confirmation = usual.min(most).max(confirmation_ns(LEAST_PAIRS, cell_ns, guards_ns));
        let search_ns = budget_ns - confirmation;
        let cells = (search_ns / cell_ns.max(1)) as usize - FIRST;
        Ok(Self { cells, search_ns, pairs: pairs_in(confirmation, cell_ns, guards_ns).max(LEAST_PAIRS) })
    }
}

/// Pairs that so much time holds.
pub(super) fn pairs_in(ns: Ns, cell_ns: Ns, guards_ns: Ns) -> u32 {
    let guarded = ns / confirmation_ns(1, cell_ns, guards_ns).max(1);
    let more = ns.saturating_sub(confirmation_ns(GUARDED_PAIRS, cell_ns, guards_ns)) / (2 * cell_ns.max(1));
    let pairs = if guarded < u64::from(GUARDED_PAIRS) { guarded } else { u64::from(GUARDED_PAIRS) + more };
    u32::try_from(pairs).unwrap_or(u32::MAX)
}

/// Of so many pairs as many have guards as the time holds.
pub(super) fn guarded_in(ns: Ns, pairs: u32, cell_ns: Ns, guards_ns: Ns) -> u32 {
    let guarded = ns.saturating_sub(2 * u64::from(pairs) * cell_ns) / (2 * guards_ns.max(1));
    u32::try_from(guarded).unwrap_or(u32::MAX).max(GUARDED_PAIRS).min(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_holds_the_whole_design_and_three_minutes_a_short_one() {
        let minutes = |n: u64| n * 60 * NS_PER_S;
        let cell = cell_ns(minutes(20)) + OVERHEAD_NS;
        let whole = Schedule::new(minutes(20), cell, 6 * NS_PER_S).unwrap();
        assert!(whole.cells >= 200 && whole.pairs >= 8, "{whole:?}");
        let cell = cell_ns(minutes(3)) + OVERHEAD_NS;
        let short = Schedule::new(minutes(3), cell, 3_500_000_000).unwrap();
        assert!(short.cells >= 40 && short.pairs > GUARDED_PAIRS, "{short:?}");
    }

    #[test]
    fn a_budget_that_proves_nothing_says_which_would() {
        let (cell, guards) = (2_500_000_000, 3 * NS_PER_S);
        let needed = Schedule::new(20 * NS_PER_S, cell, guards).unwrap_err();
        assert!(Schedule::new(needed - 1, cell, guards).is_err());
        let least = Schedule::new(needed, cell, guards).unwrap();
        assert!(least.cells >= Design::least_cells() && least.pairs == LEAST_PAIRS, "{least:?}");
    }
}
