//! Which block is drawn next, where some are drawn more often than others: all in constant memory and constant time.

use crate::Permutation;
use crate::random::Random;
use model::{Order, Zone};

/// A distribution over the blocks `0..n`.
#[derive(Clone, Debug)]
pub(crate) struct Popularity {
    n: u64,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    Uniform,
    /// Ranks by a law, and where they lie.
    Zipf(Zipf, Permutation),
    /// The block of rank floor(n u^power), by the power, and where ranks lie.
    SelfSimilar(f64, Permutation),
    /// The standard deviation, blocks.
    Normal(f64),
    Zones(Vec<Part>),
}

/// A zone: operations below `access_end` per cent go to the blocks from `first`, `count` of them.
#[derive(Clone, Copy, Debug)]
struct Part {
    access_end: u64,
    first: u64,
    count: u64,
}

impl Popularity {
    /// The distribution of an order over `n` blocks; `None` for orders that visit each block once a pass.
    pub fn of(order: Order, zones: &[Zone], n: u64, seed: u64) -> Option<Self> {
        let places = || Permutation::new(n, seed);
        let shape = match order {
            Order::Sequential
            | Order::Random
            | Order::Reverse
            | Order::Strided { .. }
            | Order::Sequence { .. }
            | Order::Traced => return None,
            Order::RandomReplace => Shape::Uniform,
            Order::Zipf { theta_milli } => Shape::Zipf(Zipf::new(n, f64::from(theta_milli) / 1000.0), places()),
            // The self-similar law of Gray et al. ("Quickly Generating Billion-Record Synthetic Databases", 1994): a share
            // of 1 - h of the draws falls on a share of h of the blocks, and again so within those.
            Order::Pareto { h_milli } => {
                let h = (f64::from(h_milli) / 1000.0).clamp(1e-6, 1.0 - 1e-6);
                Shape::SelfSimilar(h.ln() / (1.0 - h).ln(), places())
            }
            Order::Normal { deviation_percent } => {
                Shape::Normal(n as f64 * f64::from(deviation_percent.clamp(1, 100)) / 100.0)
            }
            Order::Zoned => zoned(zones, n),
        };
        Some(Self { n, shape })
    }

    /// Draws a block.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        match &self.shape {
            Shape::Uniform => random.below(self.n),
            Shape::Zipf(law, places) => places.at(law.draw(random)),
            Shape::SelfSimilar(power, places) => {
                let rank = (self.n as f64 * random.unit().powf(*power)) as u64;
                places.at(rank.min(self.n - 1))
            }
            Shape::Normal(deviation) => loop {
                // What falls outside is drawn again: the ends of the region are not hot.
                let at = self.n as f64 / 2.0 + random.normal() * deviation;
                if at >= 0.0 && (at as u64) < self.n {
                    break at as u64;
                }
            },
            Shape::Zones(parts) => {
                let percent = random.below(parts.last().map_or(1, |p| p.access_end.max(1)));
                let part = parts.iter().find(|p| percent < p.access_end).or(parts.last());
                part.map_or(0, |p| p.first + random.below(p.count))
            }
        }
    }
}

/// Zones one behind the other; one without operations takes its place only, and every zone has at least a block.
fn zoned(zones: &[Zone], n: u64) -> Shape {
    let mut parts = Vec::with_capacity(zones.len());
    let (mut access, mut region) = (0u64, 0u64);
    for zone in zones {
        let at = |percent: u64| (u128::from(n) * u128::from(percent.min(100)) / 100) as u64;
        let first = at(region).min(n - 1);
        region += u64::from(zone.region_percent);
        access += u64::from(zone.access_percent);
        if zone.access_percent > 0 {
            parts.push(Part { access_end: access, first, count: at(region).saturating_sub(first).max(1) });
        }
    }
    if parts.is_empty() { Shape::Uniform } else { Shape::Zones(parts) }
}

/// Zipf's law by rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
/// discrete distributions", 1996): exact for any exponent, without the sum over all blocks that inversion needs.
#[derive(Clone, Debug)]
struct Zipf {
    n: f64,
    theta: f64,
    /// The integral at n + 1/2, and at 3/2 less 1: between them numbers are drawn.
    high: f64,
    low: f64,
    /// Nearer to the block than this nothing is rejected.
    sure: f64,
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Self {
        let mut law = Self { n: n as f64, theta, high: 0.0, low: 0.0, sure: 0.0 };
        law.high = law.integral(law.n + 0.5);
        law.low = law.integral(1.5) - 1.0;
        law.sure = 2.0 - law.inverse(law.integral(2.5) - law.density(2.0));
        law
    }

    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Integral of x^-theta from 1; the logarithm where theta is 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = 1.0 - self.theta;
        if power.abs() < 1e-9 { log } else { (power * log).exp_m1() / power }
    }

    fn inverse(&self, y: f64) -> f64 {
        let power = 1.0 - self.theta;
        if power.abs() < 1e-9 { y.exp() } else { ((power * y).max(-1.0).ln_1p() / power).exp() }
    }

    /// A rank, 0 the most popular.
    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let u = self.high + random.unit() * (self.low - self.high);
            let x = self.inverse(u);
            let k = x.round().clamp(1.0, self.n);
            if k - x <= self.sure || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 200_000;

    fn counts(order: Order, zones: &[Zone], n: u64) -> Vec<u64> {
        let popularity = Popularity::of(order, zones, n, 5).unwrap();
        let mut random = Random::new(42, 0);
        let mut counts = vec![0u64; n as usize];
        (0..DRAWS).for_each(|_| counts[popularity.draw(&mut random) as usize] += 1);
        counts
    }

    /// Chi-squared per degree of freedom against expected shares.
    fn misfit(counts: &[u64], share: impl Fn(usize) -> f64) -> f64 {
        let term = |(i, c): (usize, &u64)| {
            let expected = share(i) * DRAWS as f64;
            (*c as f64 - expected).powi(2) / expected
        };
        counts.iter().enumerate().map(term).sum::<f64>() / (counts.len() - 1) as f64
    }

    #[test]
    fn with_replacement_all_blocks_are_alike() {
        // 99 degrees of freedom: 1.6 is beyond four standard deviations.
        let misfit = misfit(&counts(Order::RandomReplace, &[], 100), |_| 0.01);
        assert!(misfit < 1.6, "{misfit}");
    }

    #[test]
    fn zipf_follows_its_law_below_and_above_one() {
        for theta_milli in [500, 900, 1200, 2500] {
            let mut counts = counts(Order::Zipf { theta_milli }, &[], 50);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let theta = f64::from(theta_milli) / 1000.0;
            let sum: f64 = (1..=50).map(|k| f64::from(k).powf(-theta)).sum();
            let misfit = misfit(&counts, |i| ((i + 1) as f64).powf(-theta) / sum);
            // Sorting fits the counts to the law a little, so that less than 1 is expected.
            assert!(misfit < 1.8, "theta {theta}: {misfit}");
        }
    }

    #[test]
    fn popular_blocks_are_scattered_and_the_seeds_own() {
        let hottest = |seed| {
            let popularity = Popularity::of(Order::Zipf { theta_milli: 1500 }, &[], 1 << 20, seed).unwrap();
            let mut random = Random::new(1, 0);
            let mut counts = std::collections::HashMap::new();
            (0..5_000).for_each(|_| *counts.entry(popularity.draw(&mut random)).or_insert(0) += 1);
            counts.into_iter().max_by_key(|(_, c)| *c).unwrap().0
        };
        assert!(hottest(1) != hottest(2) && hottest(1) > 1_000);
    }

    #[test]
    fn pareto_gives_eighty_per_cent_to_twenty() {
        let mut counts = counts(Order::Pareto { h_milli: 200 }, &[], 1_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let share = counts[..200].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((share - 0.8).abs() < 0.01, "{share}");
        let share = counts[..40].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((share - 0.64).abs() < 0.01, "{share}");
    }

    #[test]
    fn normal_lies_around_the_middle() {
        let counts = counts(Order::Normal { deviation_percent: 10 }, &[], 1_000);
        let moment = |f: &dyn Fn(f64) -> f64| {
            counts.iter().enumerate().map(|(i, c)| f(i as f64 + 0.5) * *c as f64).sum::<f64>() / DRAWS as f64
        };
        let mean = moment(&|x| x);
        let deviation = moment(&|x| (x - mean).powi(2)).sqrt();
        assert!((mean - 500.0).abs() < 1.0 && (deviation - 100.0).abs() < 1.0, "{mean} {deviation}");
    }

    #[test]
    fn zones_get_their_shares() {
        let zone = |access_percent, region_percent| Zone { access_percent, region_percent };
        let counts = counts(Order::Zoned, &[zone(60, 10), zone(0, 50), zone(40, 40)], 1_000);
        let sum = |r: std::ops::Range<usize>| counts[r].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((sum(0..100) - 0.6).abs() < 0.01 && (sum(600..1000) - 0.4).abs() < 0.01);
        assert_eq!(sum(100..600), 0.0);
        let within = misfit(&counts[..100], |_| 0.006);
        assert!(within < 1.6, "{within}");
    }

    #[test]
    fn the_smallest_and_the_largest_regions() {
        let zone = |access_percent, region_percent| Zone { access_percent, region_percent };
        let zones = [zone(90, 1), zone(10, 99)];
        let orders = [
            Order::RandomReplace,
            Order::Zipf { theta_milli: 900 },
            Order::Pareto { h_milli: 100 },
            Order::Normal { deviation_percent: 100 },
            Order::Zoned,
        ];
        for order in orders {
            for n in [1, 2, 1 << 52] {
                let popularity = Popularity::of(order, &zones, n, 3).unwrap();
                let mut random = Random::new(3, 3);
                assert!((0..1_000).all(|_| popularity.draw(&mut random) < n), "{order:?} {n}");
            }
        }
    }
}
