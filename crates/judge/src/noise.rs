//! Noise of a rig: what two arms that are the same differ by.

use model::{Comparison, Verdict};
use stats::hodges_lehmann;
use std::collections::BTreeMap;

/// What an A/A calibration says of one metric. Both figures are ratios above 0: 0.03 is 3 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Half of the 90 % interval of the ratio over [`Self::pairs`] pairs: no smaller margin can be decided with as many.
    pub paired: f64,
    /// 95 of 100 pairs of single runs differ by less.
    pub single: f64,
    /// Pairs that it rests on.
    pub pairs: u32,
}

impl Noise {
    /// The smallest margin that `pairs` pairs can decide, percent: the interval shrinks with the root of their number.
    pub fn least_margin_percent(&self, pairs: u32) -> f64 {
        self.paired * (f64::from(self.pairs) / f64::from(pairs.max(1))).sqrt() * 100.0
    }
}

/// Noise by metric, of a comparison of an arm with itself. Metrics without enough pairs are left out.
pub fn noise(same_arm_twice: &Comparison) -> BTreeMap<String, Noise> {
    let metrics = same_arm_twice.metrics.iter().filter(|m| m.verdict != Verdict::Invalid);
    metrics
        .filter_map(|m| {
            let both = m.values_a.iter().zip(&m.values_b).filter_map(|(a, b)| Some(((*a)?, (*b)?)));
            let differences: Vec<f64> = both.map(|(a, b)| b.ln() - a.ln()).filter(|d| d.is_finite()).collect();
            let interval = hodges_lehmann(&differences, 0.90)?;
            let half = (interval.high? - interval.low?) / 2.0;
            let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            let at = ((sizes.len() as f64 * 0.95).ceil() as usize).clamp(1, sizes.len());
            let noise = Noise {
                paired: half.exp_m1(),
                single: sizes.get(at - 1)?.exp_m1(),
                pairs: u32::try_from(differences.len()).ok()?,
            };
            Some((m.id.clone(), noise))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Asked;
    use model::{Basis, Better, Compared, Question, Unit};

    fn comparison(a: &[f64], b: &[f64]) -> Comparison {
        let compared = Compared {
            id: "m".into(),
            unit: Unit::BytesPerS,
            better: Some(Better::Higher),
            a: None,
            b: None,
            ratio: None,
            low: None,
            high: None,
            p: None,
            verdict: Verdict::Unclear,
            basis: Basis::Paired,
            beyond_noise: None,
            reasons: Vec::new(),
            primary: true,
            pairs_needed: None,
            values_a: a.iter().map(|v| Some(*v)).collect(),
            values_b: b.iter().map(|v| Some(*v)).collect(),
        };
        Comparison {
            question: Question::default(),
            compared: Vec::new(),
            metrics: vec![compared],
            environment_differences: Vec::new(),
            overall: Verdict::Unclear,
            counts: model::Counts::default(),
            cause: None,
            cause_reasons: Vec::new(),
            drift: Vec::new(),
            reasons: Vec::new(),
        }
    }

    #[test]
    fn noise_is_the_spread_of_pairs_of_the_same() {
        let a = [100.0; 10];
        let b = [101.0, 99.0, 102.0, 98.0, 100.5, 99.5, 101.5, 98.5, 103.0, 97.0];
        let n = noise(&comparison(&a, &b))["m"];
        assert!((n.single - 0.0309).abs() < 0.001 && n.pairs == 10, "{n:?}");
        assert!(n.paired > 0.005 && n.paired < 0.02, "{n:?}");
        assert!((n.least_margin_percent(40) - n.paired * 50.0).abs() < 1e-9);
        // Two pairs carry no 90 % interval.
        assert!(noise(&comparison(&a[..2], &b[..2])).is_empty());
        assert_eq!(crate::margin_percent("m", &Asked::default()), 5.0);
    }
}
