//! Which metric puts the targets in the order of another: rank correlation over targets, not over runs.

use super::{FEW_TARGETS, LEAST_TARGETS};
use model::{Prediction, Ranking};
use stats::{kendall, kendall_interval, tau_b};

/// Up to so many targets all ways of exchanging two predictors are looked at.
const EXCHANGE_UP_TO: usize = 14;
/// Beyond that, so many drawn by lot.
const DRAWN_EXCHANGES: u64 = 20_000;

/// Fills the predictions of one metric from all others, the closest first.
pub fn predict(ranking: &mut Ranking, predicted: &str) {
    let ids: Vec<String> =
        ranking.targets.first().map(|t| t.metrics.iter().map(|m| m.id.clone()).collect()).unwrap_or_default();
    let column = |id: &str| -> Vec<Option<f64>> {
        ranking.targets.iter().map(|t| t.metrics.iter().find(|m| m.id == id).and_then(|m| m.value)).collect()
    };
    let wanted = column(predicted);
    let names: Vec<&str> = ranking.targets.iter().map(|t| t.name.as_str()).collect();
    let mut all: Vec<(Prediction, Vec<Option<f64>>)> = ids
        .iter()
        .filter(|id| *id != predicted)
        .map(|id| {
            let values = column(id);
            (one(id, predicted, &values, &wanted, &names), values)
        })
        .collect();
    all.sort_by(|(a, _), (b, _)| strength(b).total_cmp(&strength(a)));
    if let Some((_, best)) = all.iter().find(|(p, _)| p.tau.is_some()).cloned() {
        for (prediction, values) in all.iter_mut().skip(1).filter(|(p, _)| p.tau.is_some()) {
            prediction.as_close_as_best_p = exchange(&best, values, &wanted);
        }
    }
    ranking.prediction = all.into_iter().map(|(p, _)| p).collect();
    warn(ranking);
}

fn strength(prediction: &Prediction) -> f64 {
    prediction.tau.map_or(-1.0, f64::abs)
}

/// What few targets can and cannot say.
fn warn(ranking: &mut Ranking) {
    let n = ranking.targets.len();
    if n < LEAST_TARGETS {
        ranking.reasons.push(format!(
            "too-few-targets: {n} targets cannot show that anything predicts anything; {LEAST_TARGETS} are the least"
        ));
        return;
    }
    let known = ranking.prediction.iter().filter(|p| p.tau.is_some());
    let close: Vec<&str> = known
        .enumerate()
        .filter(|(i, p)| *i == 0 || p.as_close_as_best_p.is_some_and(|p| p > 0.05))
        .map(|(_, p)| p.predictor.as_str())
        .collect();
    if close.len() > 1 {
        ranking.reasons.push(format!(
            "not-separated: {n} targets cannot separate {}: each may be the closest predictor",
            close.join(", ")
        ));
    }
    if n < FEW_TARGETS {
        ranking.reasons.push(format!(
            "few-targets: with {n} targets intervals are wide, and what predicts among these may not among others"
        ));
    }
    ranking.reasons.push(
        "correlation: what goes together need not be cause and effect; one family of devices can make it".to_owned(),
    );
}

fn one(id: &str, predicted: &str, values: &[Option<f64>], wanted: &[Option<f64>], names: &[&str]) -> Prediction {
    let both: Vec<(usize, f64, f64)> =
        values.iter().zip(wanted).enumerate().filter_map(|(i, (x, y))| Some((i, (*x)?, (*y)?))).collect();
    let without = |left_out: Option<usize>| -> (Vec<f64>, Vec<f64>) {
        both.iter().filter(|(i, ..)| Some(*i) != left_out).map(|(_, x, y)| (*x, *y)).unzip()
    };
    let n = both.len();
    let (x, y) = without(None);
    let found = kendall(&x, &y);
    let mut prediction = Prediction {
        predictor: id.to_owned(),
        predicted: predicted.to_owned(),
        tau: found.map(|k| k.tau),
        p: found.map(|k| k.p),
        low: None,
        high: None,
        n: u32::try_from(n).unwrap_or(u32::MAX),
        agreement: found.map(|k| (k.tau + 1.0) / 2.0),
        leave_one_out: None,
        most_influential: None,
        as_close_as_best_p: None,
        reasons: Vec::new(),
    };
    let Some(found) = found else {
        prediction.reasons.push(match n {
            0..LEAST_TARGETS => format!("too-few-targets: {n} have both; {LEAST_TARGETS} are the least"),
            _ => "constant: one of the two is the same for all".to_owned(),
        });
        return prediction;
    };
    if let Some((low, high)) = kendall_interval(found.tau, n, 0.95) {
        (prediction.low, prediction.high) = (Some(low), Some(high));
    }
    let left: Vec<(f64, usize)> = both
        .iter()
        .filter_map(|(i, ..)| {
            let (x, y) = without(Some(*i));
            Some((tau_b(&x, &y)?, *i))
        })
        .collect();
    let extreme = |by: fn(f64, f64) -> f64| left.iter().map(|l| l.0).reduce(by);
    prediction.leave_one_out = extreme(f64::min).zip(extreme(f64::max));
    let distance = |l: &&(f64, usize)| (l.0 - found.tau).abs();
    prediction.most_influential =
        left.iter().max_by(|a, b| distance(a).total_cmp(&distance(b))).map(|l| names[l.1].to_owned());
    prediction
}

/// Whether a predictor could be as close as the best: if the two say the same about each target, exchanging their ranks
/// target by target changes nothing. Two-sided, exact up to [`EXCHANGE_UP_TO`] targets.
fn exchange(best: &[Option<f64>], other: &[Option<f64>], wanted: &[Option<f64>]) -> Option<f64> {
    let rows: Vec<(f64, f64, f64)> =
        best.iter().zip(other).zip(wanted).filter_map(|((a, b), y)| Some(((*a)?, (*b)?, (*y)?))).collect();
    let n = rows.len();
    let y: Vec<f64> = rows.iter().map(|r| r.2).collect();
    // The two have units of their own: only their ranks can be exchanged. A predictor of the opposite direction is turned.
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let sign = tau_b(&values, &y).map_or(1.0, f64::signum);
        values
            .iter()
            .map(|v| {
                values
                    .iter()
                    .map(|w| sign * f64::from(u8::from(w < v)) * 2.0 + sign * f64::from(u8::from(w == v)))
                    .sum::<f64>()
            })
            .collect()
    };
    let (a, b) = (ranks(rows.iter().map(|r| r.0).collect()), ranks(rows.iter().map(|r| r.1).collect()));
    let difference = |pattern: u64| -> Option<f64> {
        let pick = |first: bool| -> Vec<f64> {
            (0..n).map(|i| if (pattern >> i & 1 == 1) == first { b[i] } else { a[i] }).collect()
        };
        Some(tau_b(&pick(true), &y)? - tau_b(&pick(false), &y)?)
    };
    let observed = difference(0)?.abs();
    let patterns: Box<dyn Iterator<Item = u64>> = if n <= EXCHANGE_UP_TO {
        Box::new(0..1u64 << n)
    } else {
        let mut state = 0x5eed_u64;
        Box::new((0..DRAWN_EXCHANGES).map(move |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 1
        }))
    };
    let (mut all, mut as_far) = (0u64, 0u64);
    for pattern in patterns {
        all += 1;
        // A pattern that leaves one side all alike separates nothing.
        as_far += u64::from(difference(pattern).is_none_or(|d| d.abs() >= observed - 1e-12));
    }
    Some(as_far as f64 / all as f64)
}
