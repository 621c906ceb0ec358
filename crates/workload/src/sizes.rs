//! How large the next operation is.

use crate::random::Random;
use model::{BlockShare, BlockSize};

/// The size of the next operation of a direction, bytes.
#[inline]
pub(crate) fn draw(size: &BlockSize, random: &mut Random) -> u32 {
    let bytes = match size {
        BlockSize::Fixed { bytes } => *bytes,
        BlockSize::Range { min_bytes, max_bytes, step_bytes } => {
            let step = (*step_bytes).max(1);
            min_bytes + step * random.below(max_bytes.saturating_sub(*min_bytes) / step + 1)
        }
        BlockSize::Split(shares) => split(shares, random),
    };
    // What a buffer can be: plans are checked before they get here, and more is cut.
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// One of the sizes, drawn by its weight.
fn split(shares: &[BlockShare], random: &mut Random) -> u64 {
    let all: u64 = shares.iter().map(|s| u64::from(s.weight)).sum();
    random.one_of(all.max(1), shares.iter().map(|s| (s.weight, s.bytes))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(sizes: &BlockSize) -> Vec<(u32, f64)> {
        let mut random = Random::new(5, 5);
        let mut counts = std::collections::BTreeMap::new();
        (0..100_000).for_each(|_| *counts.entry(draw(sizes, &mut random)).or_insert(0.0) += 1.0 / 100_000.0);
        counts.into_iter().collect()
    }

    #[test]
    fn a_split_gets_its_shares() {
        let share = |bytes, weight| BlockShare { bytes, weight };
        let split = BlockSize::Split(vec![share(4096, 50), share(65536, 30), share(512, 0), share(8192, 20)]);
        let got = shares(&split);
        assert_eq!(got.iter().map(|(b, _)| *b).collect::<Vec<_>>(), [4096, 8192, 65536]);
        for ((_, got), wanted) in got.iter().zip([0.5, 0.2, 0.3]) {
            assert!((got - wanted).abs() < 0.006, "{got} {wanted}");
        }
    }

    #[test]
    fn a_range_gives_all_its_steps_alike() {
        let got = shares(&BlockSize::Range { min_bytes: 4096, max_bytes: 16384, step_bytes: 4096 });
        assert_eq!(got.iter().map(|(b, _)| *b).collect::<Vec<_>>(), [4096, 8192, 12288, 16384]);
        assert!(got.iter().all(|(_, share)| (share - 0.25).abs() < 0.006), "{got:?}");
    }
}
