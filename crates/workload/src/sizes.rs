//! How large the next operation is.

use crate::random::Random;
use model::BlockSize;

/// Sizes of the operations of one direction.
#[derive(Clone, Debug)]
pub(crate) enum Sizes {
    Fixed(u32),
    Range {
        min: u32,
        step: u32,
        count: u64,
    },
    /// Each size with the end of its part of the weights.
    Split {
        ends: Vec<(u64, u32)>,
        sum: u64,
    },
}

/// What a buffer can be: plans are checked before they get here, and more is cut.
fn size(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Sizes {
    pub fn of(sizes: &BlockSize) -> Self {
        match sizes {
            BlockSize::Fixed { bytes } => Self::Fixed(size(*bytes)),
            BlockSize::Range { min_bytes, max_bytes, step_bytes } => {
                let step = (*step_bytes).max(1);
                let count = max_bytes.saturating_sub(*min_bytes) / step + 1;
                Self::Range { min: size(*min_bytes), step: size(step), count }
            }
            BlockSize::Split(shares) => {
                let mut sum = 0;
                let ends = shares
                    .iter()
                    .filter(|s| s.weight > 0)
                    .map(|s| {
                        sum += u64::from(s.weight);
                        (sum, size(s.bytes))
                    })
                    .collect();
                Self::Split { ends, sum: sum.max(1) }
            }
        }
    }

    /// The next size, bytes.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u32 {
        match self {
            Self::Fixed(bytes) => *bytes,
            Self::Range { min, step, count } => min + step * random.below(*count) as u32,
            Self::Split { ends, sum } => {
                let at = random.below(*sum);
                ends.iter().find(|(end, _)| at < *end).or(ends.last()).map_or(0, |(_, bytes)| *bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::BlockShare;

    fn shares(sizes: &BlockSize) -> Vec<(u32, f64)> {
        let (sizes, mut random) = (Sizes::of(sizes), Random::new(5, 5));
        let mut counts = std::collections::BTreeMap::new();
        (0..100_000).for_each(|_| *counts.entry(sizes.draw(&mut random)).or_insert(0.0) += 1.0 / 100_000.0);
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
