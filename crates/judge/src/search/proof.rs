//! What is shown of a finalist, by randomised pairs that the search never saw, so that nothing is corrected for how long the search
//! was, and the gain is that of these pairs alone. A claim of a gain is one-sided: at a two-sided p of 0.05 it is wrong in 2.5 of 100 where
//! there is none. Two finalists are confirmed at most, so that any claim is wrong in 5 of 100 (Bonferroni). Beside it guards, each of which has to be shown not worse than its
//! margin; since all of them have to pass, none of them is corrected either (intersection-union: Berger, Technometrics 24, 1982).

use model::{Better, TuneGain};
use stats::{hodges_lehmann, normal_quantile, signed_rank};

/// Error rate of the gain, and of each guard.
pub const ALPHA: f64 = 0.05;
/// With fewer pairs the exact signed-rank test shows nothing at 5 %: 2 / 2^6 is the first below.
pub const LEAST_PAIRS: u32 = 6;
/// Guards run beside so many pairs at least, beside all where the time holds that: they take most of a pair's time.
pub const GUARDED_PAIRS: u32 = 10;
/// How much worse another metric may be.
pub const GUARD_MARGIN_PERCENT: f64 = 10.0;
/// Probability with which a true gain is shown.
const POWER: f64 = 0.8;
/// The same of each guard that is not moved: several have to pass.
const GUARD_POWER: f64 = 0.98;
/// Variance of the signed-rank test's estimate against that of the mean under normal noise: pi / 3.
const RANK_COST: f64 = std::f64::consts::PI / 3.0;
/// More is no plan.
const MOST_PAIRS: f64 = 10_000.0;

/// Whether a gain is shown to be one, and worth a setting.
pub fn is_shown(gain: &TuneGain, least_percent: f64) -> bool {
    gain.p <= ALPHA && gain.ratio > 1.0 && gain.ratio >= 1.0 + least_percent / 100.0
}

/// Whether so far the pairs of a finalist look like no gain at all: it is given up, which can make no claim wrong.
pub fn is_futile(pairs: &[(f64, f64)], better: Better) -> bool {
    pairs.len() >= LEAST_PAIRS as usize && gain(pairs, better).is_none_or(|gain| gain.ratio <= 1.0)
}

/// What the pairs say of another metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// How many times as good.
    pub ratio: f64,
    /// Lower end of the one-sided 95 % interval; `None` where so few pairs have none.
    pub low: Option<f64>,
    pub pairs: usize,
    /// Whether it is shown to be no more than the margin worse; of one that is out of reach, whether it is not shown to be more than that worse.
    pub passes: bool,
}

/// ln of how many times as good the second of each pair is; pairs with a value that has no logarithm are none.
fn differences(pairs: &[(f64, f64)], better: Better) -> Vec<f64> {
    let of = |(a, b): &(f64, f64)| if better == Better::Higher { (b / a).ln() } else { (a / b).ln() };
    pairs.iter().filter(|(a, b)| *a > 0.0 && *b > 0.0).map(of).filter(|d| d.is_finite()).collect()
}

/// The gain of the second values of pairs over the first; `None` without pairs.
pub fn gain(pairs: &[(f64, f64)], better: Better) -> Option<TuneGain> {
    let differences = differences(pairs, better);
    let centre = hodges_lehmann(&differences, 1.0 - ALPHA)?;
    Some(TuneGain {
        ratio: centre.estimate.exp(),
        low: centre.low.map(f64::exp),
        high: centre.high.map(f64::exp),
        p: signed_rank(&differences).map_or(1.0, |test| test.p),
        pairs: differences.len(),
    })
}

/// Whether the second values of pairs are shown to be no more than the margin worse than the first; `None` without pairs. What the settings cannot
/// reach needs no such proof, and fails where the contrary is shown: its scatter is no reason against them.
pub fn guard(pairs: &[(f64, f64)], better: Better, margin_percent: f64, in_reach: bool) -> Option<Guard> {
    let differences = differences(pairs, better);
    let centre = hodges_lehmann(&differences, 1.0 - 2.0 * ALPHA)?;
    let margin = (1.0 + margin_percent / 100.0).ln();
    Some(Guard {
        ratio: centre.estimate.exp(),
        low: centre.low.map(f64::exp),
        pairs: differences.len(),
        passes: if in_reach {
            centre.low.is_some_and(|low| low > -margin)
        } else {
            centre.high.is_none_or(|high| high > -margin)
        },
    })
}

/// Standard normal quantiles of the test and of its power, added.
fn quantiles(two_sided: bool, power: f64) -> (f64, f64) {
    let alpha = if two_sided { ALPHA } else { 2.0 * ALPHA };
    let of_test = normal_quantile(1.0 - alpha).unwrap_or(1.96);
    (of_test, of_test + normal_quantile(2.0 * power - 1.0).unwrap_or(0.84))
}

/// Pairs that show a distance with this power where one measurement has this noise; with the correction of the t test for few pairs
/// (Guenther, The American Statistician 35, 1981), which the signed-rank test needs as well.
fn pairs(noise: f64, distance: f64, (of_test, both): (f64, f64)) -> u32 {
    let of_normal = (both * noise * std::f64::consts::SQRT_2 / distance.max(1e-9)).powi(2);
    let pairs = RANK_COST * (of_normal + of_test * of_test / 2.0);
    (pairs.min(MOST_PAIRS).ceil() as u32).max(LEAST_PAIRS)
}

/// Pairs that show a true gain of so many percent in 80 of 100, where one measurement has this noise (0.05: 5 %).
pub fn pairs_needed(noise: f64, gain_percent: f64) -> u32 {
    pairs(noise, (1.0 + gain_percent / 100.0).ln(), quantiles(true, POWER))
}

/// Pairs that show in 98 of 100 that a metric which is not moved is not worse than its margin.
pub fn guard_pairs_needed(noise: f64, margin_percent: f64) -> u32 {
    pairs(noise, (1.0 + margin_percent / 100.0).ln(), quantiles(false, GUARD_POWER))
}

/// A margin beyond this guards nothing: half the rate.
const MOST_MARGIN_PERCENT: f64 = 100.0;

/// The margin of a guard with these values of the present settings: the usual one, or where their scatter is too much for that the one
/// which a metric that is not moved keeps to in 98 of 100. It says nothing of the changed settings, so that they cannot choose it.
pub fn guard_margin_percent(present: &[f64]) -> f64 {
    let logarithms: Vec<f64> = present.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect();
    let noise = stats::variance(&logarithms).map_or(f64::INFINITY, f64::sqrt);
    margin_percent(noise, u32::try_from(logarithms.len()).unwrap_or(u32::MAX))
}

/// With the quantiles of Student's t for both the interval and the power, since so few values know their scatter badly.
fn margin_percent(noise: f64, pairs: u32) -> f64 {
    let degrees = f64::from(pairs) - 1.0;
    let t = |level| stats::t_quantile(level, degrees).unwrap_or(f64::INFINITY);
    let error = noise * std::f64::consts::SQRT_2 * (RANK_COST / f64::from(pairs)).sqrt();
    let shown = (((t(1.0 - 2.0 * ALPHA) + t(2.0 * GUARD_POWER - 1.0)) * error).exp() - 1.0) * 100.0;
    if shown.is_nan() { MOST_MARGIN_PERCENT } else { shown.clamp(GUARD_MARGIN_PERCENT, MOST_MARGIN_PERCENT) }
}

/// The fewest and the most pairs of a confirmation.
const USUAL_PAIRS: (u32, u32) = (10, 30);
/// What is left of the gain that a search saw: what was largest by chance is chosen first (the winner's curse).
const LEFT_OF_GAIN: f64 = 0.6;

/// Pairs of a confirmation: for the gain that the search saw, of which only a part may be true, but no less than is worth a setting;
/// and for guards.
pub fn pairs_of_confirmation(noise: f64, seen_percent: f64, least_percent: f64) -> u32 {
    let for_gain = pairs_needed(noise, (seen_percent * LEFT_OF_GAIN).max(least_percent));
    for_gain.max(guard_pairs_needed(noise, GUARD_MARGIN_PERCENT)).clamp(USUAL_PAIRS.0, USUAL_PAIRS.1)
}

/// The least gain, in percent, that so many pairs show in 80 of 100; `None` where they are too few to show any.
pub fn provable_percent(noise: f64, pairs: u32) -> Option<f64> {
    let (of_test, both) = quantiles(true, POWER);
    let left = f64::from(pairs) / RANK_COST - of_test * of_test / 2.0;
    (pairs >= LEAST_PAIRS && left > 0.0)
        .then(|| ((both * noise * std::f64::consts::SQRT_2 / left.sqrt()).exp() - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_needed_are_those_that_were_simulated() {
        // The exact signed-rank test at 5 %, power 0.8, by simulation; the formula is within a sixth of it.
        for (noise, gains) in [(0.03, [19, 9, 6, 6]), (0.05, [50, 22, 8, 6]), (0.10, [200, 80, 22, 8])] {
            for (percent, simulated) in [3.0, 5.0, 10.0, 20.0].into_iter().zip(gains) {
                let needed = pairs_needed(noise, percent);
                let off = (f64::from(needed) - f64::from(simulated)).abs();
                assert!(off <= (f64::from(simulated) / 6.0).max(2.0), "{noise} {percent}: {needed} for {simulated}");
                let provable = provable_percent(noise, needed).unwrap();
                assert!(provable <= percent * 1.01, "{noise} {percent}: {provable}");
            }
        }
        assert_eq!((provable_percent(0.05, 5), pairs_needed(0.0, 3.0)), (None, LEAST_PAIRS));
        assert_eq!((margin_percent(0.02, 8), margin_percent(0.6, 8)), (10.0, 100.0));
        assert!((15.0..30.0).contains(&margin_percent(0.10, 8)));
        let uneven = [100.0, 90.0, 111.0, 100.0, 90.0, 111.0, 95.0, 104.0];
        assert!((11.0..25.0).contains(&guard_margin_percent(&uneven)), "{}", guard_margin_percent(&uneven));
        assert_eq!((guard_margin_percent(&[100.0; 8]), guard_margin_percent(&[])), (10.0, 100.0));
        assert!(guard_pairs_needed(0.05, 10.0) <= 11, "{}", guard_pairs_needed(0.05, 10.0));
    }

    #[test]
    fn a_gain_has_the_same_sign_for_rates_and_latencies() {
        let pairs: Vec<(f64, f64)> = (0..8).map(|i| (100.0, 200.0 + f64::from(i))).collect();
        let rate = gain(&pairs, Better::Higher).unwrap();
        assert!(is_shown(&rate, 3.0) && rate.ratio > 2.0 && rate.pairs == 8 && rate.p < 0.01, "{rate:?}");
        let latency = gain(&pairs, Better::Lower).unwrap();
        assert!(!is_shown(&latency, 0.0) && latency.ratio < 0.5, "{latency:?}");
        let small: Vec<(f64, f64)> = (0..8).map(|i| (100.0, 102.0 + f64::from(i) * 0.01)).collect();
        assert!(!is_shown(&gain(&small, Better::Higher).unwrap(), 3.0), "real, and not worth a setting");
        assert!(!is_shown(&gain(&pairs[..5], Better::Higher).unwrap(), 3.0), "five pairs show nothing");
        assert_eq!(gain(&[(0.0, 1.0)], Better::Higher), None);
    }

    #[test]
    fn a_guard_passes_only_where_it_is_shown() {
        let moved = |percent: f64, pairs: i32| -> Vec<(f64, f64)> {
            (0..pairs).map(|i| (100.0, 100.0 + percent + f64::from(i % 3))).collect()
        };
        assert!(guard(&moved(-2.0, 6), Better::Higher, 10.0, true).unwrap().passes);
        assert!(!guard(&moved(-20.0, 12), Better::Higher, 10.0, true).unwrap().passes);
        assert!(!guard(&moved(20.0, 12), Better::Lower, 10.0, true).unwrap().passes);
        let few = guard(&moved(0.0, 4), Better::Higher, 10.0, true).unwrap();
        assert_eq!((few.passes, few.low), (false, None));
        // Out of reach: what scatters passes, what is shown to be worse does not.
        let scattered: Vec<(f64, f64)> = (0..10).map(|i| (100.0, if i % 2 == 0 { 40.0 } else { 230.0 })).collect();
        let passes = |in_reach| guard(&scattered, Better::Higher, 10.0, in_reach).unwrap().passes;
        assert_eq!([passes(true), passes(false)], [false, true]);
        assert!(!guard(&moved(-20.0, 12), Better::Higher, 10.0, false).unwrap().passes);
        assert_eq!(guard(&[], Better::Higher, 10.0, true), None);
    }
}
