//! Ranks, and exact distributions of sums of ranks.

use crate::robust::midranks;

/// Twice the mean ranks of the values, in their order: mean ranks of ties are then whole.
pub(crate) fn doubled_ranks(values: &[f64]) -> Vec<u64> {
    midranks(values).into_iter().map(|rank| (rank * 2.0) as u64).collect()
}

/// Probability of each sum of a random subset of `ranks`, each taken with probability 1/2.
pub(crate) fn exact_sums(ranks: &[u64]) -> Vec<f64> {
    let all: u64 = ranks.iter().sum();
    let mut shares = vec![0.0; all as usize + 1];
    shares[0] = 1.0;
    let mut reached = 0;
    for &rank in ranks {
        let rank = rank as usize;
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= rank { shares[sum - rank] } else { 0.0 };
            shares[sum] = (shares[sum] + with) / 2.0;
        }
    }
    shares
}

/// How many values are left out on a side whose exact distribution has these shares from its end on, each tail at most `tail`;
/// `None` where even the outermost one is too likely.
pub(crate) fn left_out_of(shares: &[f64], tail: f64) -> Option<usize> {
    let mut below = 0.0;
    let within = shares.iter().take_while(|share| {
        below += **share;
        below <= tail * (1.0 + 1e-12)
    });
    within.count().checked_sub(1)
}

/// Probability of each sum of a random subset of `size` of the `ranks`.
pub(crate) fn exact_subset_sums(ranks: &[u64], size: usize) -> Vec<f64> {
    let all = ranks.iter().sum::<u64>() as usize;
    // by[k][s]: probability, after i ranks, that k of them were drawn with sum s, drawing without replacement.
    let mut by = vec![vec![0.0; all + 1]; size + 1];
    by[0][0] = 1.0;
    for (i, &rank) in ranks.iter().enumerate() {
        let left = (ranks.len() - i) as f64;
        for k in (0..=size).rev() {
            for s in (0..=all).rev() {
                let stays = by[k][s] * (1.0 - (size - k) as f64 / left).max(0.0);
                let joins = match (k.checked_sub(1), s.checked_sub(rank as usize)) {
                    (Some(k), Some(s)) => by[k][s] * ((size - k) as f64 / left).min(1.0),
                    _ => 0.0,
                };
                by[k][s] = stays + joins;
            }
        }
    }
    by.swap_remove(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 2.0]), [7, 2, 7, 4]);
        assert_eq!(doubled_ranks(&[]), Vec::<u64>::new());
    }

    #[test]
    fn distributions_sum_to_one() {
        let ranks = doubled_ranks(&[1.0, 2.0, 2.0, 5.0, 9.0, 9.0]);
        for shares in [exact_sums(&ranks), exact_subset_sums(&ranks, 2), exact_subset_sums(&ranks, 6)] {
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        // Two of 1, 2, 3: sums 3, 4, 5, a third each.
        let shares = exact_subset_sums(&[1, 2, 3], 2);
        assert!([3, 4, 5].iter().all(|&s| (shares[s] - 1.0 / 3.0).abs() < 1e-12), "{shares:?}");
    }
}
