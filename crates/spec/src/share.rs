//! Sharing time among phases.

/// A phase that cannot have this much is skipped: five intervals of 100 ms are the least that says anything.
pub const MIN_SHARE_NS: u64 = 500_000_000;

/// Shares `available_ns` by weight among phases, each of which also costs a window of `quiet_ns`; those that cannot have
/// `least_ns` are given up, highest priority number first. `None` for a phase that gets nothing.
pub(crate) fn share(available_ns: u64, least_ns: u64, quiet_ns: u64, phases: &[(f64, u32)]) -> Vec<Option<u64>> {
    let mut open: Vec<usize> = (0..phases.len()).collect();
    while open.len() as u64 * (least_ns + quiet_ns) > available_ns {
        let Some(at) = (0..open.len()).max_by_key(|&k| phases[open[k]].1) else { break };
        open.remove(at);
    }
    let mut shares = vec![None; phases.len()];
    let mut left = available_ns.saturating_sub(open.len() as u64 * quiet_ns);
    // Those whose weighted share is below the least get the least; the rest is shared among the others.
    loop {
        let weights: f64 = open.iter().map(|&i| phases[i].0).sum();
        let share_of = |i: usize| (left as f64 * phases[i].0 / weights) as u64;
        let Some(at) = open.iter().position(|&i| share_of(i) < least_ns) else {
            open.iter().for_each(|&i| shares[i] = Some(share_of(i)));
            return shares;
        };
        shares[open.remove(at)] = Some(least_ns);
        left -= least_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn shares_follow_weights() {
        assert_eq!(share(9 * S, S, 0, &[(1.0, 1), (2.0, 2)]), [Some(3 * S), Some(6 * S)]);
    }

    #[test]
    fn the_highest_number_is_given_up_first() {
        assert_eq!(share(2 * S, S, 0, &[(1.0, 3), (1.0, 1), (1.0, 2)]), [None, Some(S), Some(S)]);
        assert_eq!(share(0, S, 0, &[(1.0, 3)]), [None]);
    }

    #[test]
    fn windows_cost_only_the_phases_that_have_them() {
        assert_eq!(share(3 * S, S, S / 2, &[(1.0, 1), (1.0, 2), (1.0, 3)]), [Some(S), Some(S), None]);
    }

    #[test]
    fn nobody_falls_below_the_least() {
        let shares = share(4 * S, S, 0, &[(0.1, 1), (1.0, 2), (1.0, 3)]);
        assert_eq!(shares, [Some(S), Some(3 * S / 2), Some(3 * S / 2)]);
    }
}
