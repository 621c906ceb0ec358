//! Several runs of each side: estimate, interval, test, equivalence.

use super::sides::Values;
use model::{Better, Compared, Verdict};
use stats::{hodges_lehmann, normal_quantile, shift, signed_rank};

/// Why sets that were not drawn by lot decide nothing.
pub(super) const NOT_RANDOMISED: &str = "not-randomised: the order of the runs was not drawn by lot, so that a drift of the machine would look like a difference; \
     narrows run EXPERIMENT.toml draws it";

/// Why a difference between an arm and itself is no verdict.
pub(super) const SAME_ARM: &str = "same-arm: both arms are the same, so this difference is of the rig, not of an arm; \
     something on this machine changes between runs, or it is the false alarm that alpha allows";

/// A comparison that lost more than this share of its runs is no longer the one that was asked.
const MOST_MISSING: f64 = 0.34;
/// Power at which the number of pairs that would decide is told.
const POWER_Z: f64 = 0.841_621_233_572_914_2;
/// Variance of the signed-rank test's estimate against that of the mean under normal noise: pi / 3.
const RANK_COST: f64 = std::f64::consts::PI / 3.0;

/// Logarithms of ratios are told apart down to 1 in 10^12: coarser than the rounding of what went into them, finer than
/// anything that was measured.
const STEPS_PER_UNIT: f64 = 1e12;

/// Fills ratio, interval and raw p. What cannot be is invalid, and stays so.
pub(super) fn estimate(compared: &mut Compared, values: &Values, alpha: f64, margin_percent: f64) {
    compared.reasons.extend(values.why_not());
    let mut invalid = |reason: String| {
        compared.verdict = Verdict::Invalid;
        compared.reasons.push(reason);
    };
    if values.units_differ {
        return invalid("units-differ: the two sides give it in different units".to_owned());
    }
    let all = values.a.len() + values.b.len();
    let known = values.known_a().len() + values.known_b().len();
    if known == 0 {
        return invalid("no-values: no run has it".to_owned());
    }
    if (all - known) as f64 > MOST_MISSING * all as f64 {
        return invalid(format!("too-much-missing: {} of {all} runs have no value", all - known));
    }
    if values.known_a().iter().chain(&values.known_b()).any(|v| *v <= 0.0) {
        return invalid("zero: a ratio with nothing says nothing".to_owned());
    }
    let ln = |v: &f64| v.ln();
    if values.drawn {
        let both = values.a.iter().zip(&values.b).filter_map(|(a, b)| Some(log_ratio(a.value?, b.value?)));
        let differences: Vec<f64> = both.collect();
        let Some(centre) = hodges_lehmann(&differences, 1.0 - alpha) else {
            return invalid("no-pairs: no pair has both values".to_owned());
        };
        compared.ratio = Some(centre.estimate.exp());
        (compared.low, compared.high) = (centre.low.map(f64::exp), centre.high.map(f64::exp));
        // Differences that are all zero are no evidence of a difference.
        compared.p = Some(signed_rank(&differences).map_or(1.0, |t| t.p));
        compared.pairs_needed = pairs_needed(&differences, centre.estimate, alpha, margin_percent);
    } else {
        let (a, b): (Vec<f64>, Vec<f64>) =
            (values.known_a().iter().map(ln).collect(), values.known_b().iter().map(ln).collect());
        let Some(moved) = shift(&a, &b, 1.0 - alpha) else {
            return invalid("no-values: one side has none".to_owned());
        };
        compared.ratio = Some(moved.estimate.exp());
        (compared.low, compared.high) = (moved.low.map(f64::exp), moved.high.map(f64::exp));
        compared.p = Some(moved.p);
    }
}

/// ln(b / a) of two positive values. Ranks are decided by which differences are equal, and rounding must not decide
/// that: pairs of the same ratio give the same number, the ratio the other way round its negative, and equal values zero.
fn log_ratio(a: f64, b: f64) -> f64 {
    let logarithm = if b >= a { (b / a).ln() } else { -(a / b).ln() };
    (logarithm * STEPS_PER_UNIT).round() / STEPS_PER_UNIT
}

/// Adjusts the p-values of a family and gives the verdicts.
pub(super) fn decide<'c>(
    family: impl Iterator<Item = &'c mut Compared>,
    primary: bool,
    alpha: f64,
    same_arm: bool,
    margin_percent: &dyn Fn(&str) -> f64,
) {
    let mut family: Vec<&mut Compared> = family.filter(|m| m.verdict != Verdict::Invalid && m.p.is_some()).collect();
    let raw: Vec<f64> = family.iter().map(|m| m.p.unwrap_or(f64::NAN)).collect();
    let adjusted = if primary { stats::holm(&raw) } else { stats::benjamini_hochberg(&raw) };
    let questions = family.len();
    for ((metric, p), alone) in family.iter_mut().zip(adjusted).zip(raw) {
        metric.p = Some(p);
        if metric.basis == model::Basis::Paired && alone <= alpha && p > alpha {
            let tried =
                if primary { format!("among {questions} questions") } else { "among all that were looked at".into() };
            metric.reasons.push(format!("adjusted: alone it would be shown (p {alone:.3}), {tried} it is not"));
        }
        if !primary {
            metric.reasons.push("exploratory: not one of the questions that were fixed before".to_owned());
        }
        one(metric, p, alpha, margin_percent(&metric.id), if primary { questions } else { 1 });
        if same_arm && matches!(metric.verdict, Verdict::Better | Verdict::Worse) {
            metric.verdict = Verdict::Unclear;
            metric.reasons.push(SAME_ARM.to_owned());
        }
    }
}

fn one(metric: &mut Compared, p: f64, alpha: f64, margin_percent: f64, questions: usize) {
    if metric.basis == model::Basis::Unpaired {
        metric.reasons.push(NOT_RANDOMISED.to_owned());
        return;
    }
    let Some(better) = metric.better else {
        metric.reasons.push("not-judged: neither direction is better".to_owned());
        metric.pairs_needed = None;
        return;
    };
    let pairs = metric.values_a.iter().zip(&metric.values_b).filter(|(a, b)| a.is_some() && b.is_some()).count();
    let needed = least_pairs(questions, alpha);
    let differs = p <= alpha && pairs >= needed;
    let same = equivalent(metric, alpha, margin_percent);
    metric.verdict = match (differs, same) {
        (true, true) => {
            metric
                .reasons
                .push(format!("negligible: the difference is real, and within the margin of {margin_percent} %"));
            Verdict::Same
        }
        (false, true) => Verdict::Same,
        (true, false) => match (better, metric.ratio.is_some_and(|r| r > 1.0)) {
            (Better::Higher, true) | (Better::Lower, false) => Verdict::Better,
            (Better::Higher, false) | (Better::Lower, true) => Verdict::Worse,
        },
        (false, false) => Verdict::Unclear,
    };
    if metric.verdict != Verdict::Unclear {
        metric.pairs_needed = None;
        return;
    }
    if pairs < needed {
        metric.reasons.push(format!(
            "too-few-pairs: {pairs} pairs cannot decide {questions} questions at {alpha}; {needed} are the least"
        ));
        metric.pairs_needed = Some(metric.pairs_needed.unwrap_or(0).max(u32::try_from(needed).unwrap_or(u32::MAX)));
    } else {
        let more = metric.pairs_needed.map_or_else(String::new, |n| format!("; about {n} pairs would decide"));
        metric.reasons.push(format!("undecided: neither a difference nor its absence is shown{more}"));
    }
}

/// Two one-sided tests at alpha: the 1 - 2 alpha interval lies inside the margin.
fn equivalent(metric: &Compared, alpha: f64, margin_percent: f64) -> bool {
    let both = metric.values_a.iter().zip(&metric.values_b).filter_map(|(a, b)| Some(log_ratio((*a)?, (*b)?)));
    let differences: Vec<f64> = both.collect();
    let margin = (1.0 + margin_percent / 100.0).ln();
    hodges_lehmann(&differences, 1.0 - 2.0 * alpha)
        .and_then(|c| Some((c.low?, c.high?)))
        .is_some_and(|(low, high)| -margin < low && high < margin)
}

/// So many pairs that Holm can reject at all: the smallest p of n pairs is 2 / 2^n.
pub fn least_pairs(questions: usize, alpha: f64) -> usize {
    let questions = questions.max(1) as f64;
    (1.0 + (questions / alpha).log2()).ceil() as usize
}

/// Pairs that would show the difference that was seen, or that it lies inside the margin, whichever needs fewer; with a
/// power of 80 %, at the spread seen.
fn pairs_needed(differences: &[f64], centre: f64, alpha: f64, margin_percent: f64) -> Option<u32> {
    let sigma = stats::variance(differences)?.sqrt();
    if !(sigma.is_finite() && sigma > 0.0) {
        return None;
    }
    let margin = (1.0 + margin_percent / 100.0).ln();
    let count = |z_alpha: f64, distance: f64| RANK_COST * ((z_alpha + POWER_Z) * sigma / distance).powi(2);
    let to_differ = (centre.abs() > margin).then(|| count(normal_quantile(1.0 - alpha).unwrap_or(1.96), centre.abs()));
    let inside = margin - centre.abs();
    let to_be_same = (inside > 0.0).then(|| count(normal_quantile(1.0 - 2.0 * alpha).unwrap_or(1.645), inside));
    let fewest = [to_differ, to_be_same].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let more = fewest.max(differences.len() as f64 + 1.0);
    (more < 1e6).then(|| more.ceil() as u32)
}
