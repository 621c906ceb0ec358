//! Several runs of each side: estimate, interval, test, equivalence.

use super::processor::{a_share, is_share};
use super::sides::{MAX_UNEVEN, Values};
use model::{Basis, Better, Compared, Reason, Verdict};
use stats::{Shift, hodges_lehmann, normal_quantile, signed_rank};

/// Nothing on either side: no ratio, and no difference.
pub(super) fn both_zero() -> Reason {
    Reason::of("both-zero", "both are zero")
}

/// Zeros among other values have no ratio.
pub(super) fn some_zero() -> Reason {
    Reason::of("zero", "some of the values are zero, so that there is no ratio")
}

/// Why a difference between an arm and itself is no verdict.
fn same_arms() -> Reason {
    let text = "both arms are the same, so this difference is of the rig, not of an arm; something on this machine changes \
                between runs, or it is the false alarm that alpha allows";
    Reason::of("same-arm", text)
}

/// A comparison that lost more than this share of its runs is no longer the one that was asked.
const MAX_MISSING: f64 = 0.34;
/// More runs of a side nobody does.
const MOST_RUNS: u32 = 50;
/// Power at which the number of pairs that would decide is told.
const POWER_Z: f64 = 0.841_621_233_572_914_2;
/// Variance of the signed-rank test's estimate against that of the mean under normal noise: pi / 3.
const RANK_COST: f64 = std::f64::consts::PI / 3.0;

/// Logarithms of ratios are told apart down to 1 in 10^12: coarser than the rounding of what went into them, finer than
/// anything that was measured.
const STEPS_PER_UNIT: f64 = 1e12;

/// Fills ratio, interval and raw p. What cannot be is invalid, and stays so; of zeros only, both sides are the same.
pub(super) fn estimate(compared: &mut Compared, values: &Values, alpha: f64, margin_percent: f64) {
    compared.reasons.extend(values.warning());
    compared.reasons.extend(values.no_value_reasons());
    let mut invalid = |reason: Reason| {
        compared.verdict = Verdict::Invalid;
        compared.reasons.push(reason);
    };
    if values.units_differ {
        return invalid(Reason::of("units-differ", "the two sides give it in different units"));
    }
    let all = values.a.len() + values.b.len();
    let known: Vec<f64> = values.known_a().into_iter().chain(values.known_b()).collect();
    if known.is_empty() {
        return invalid(Reason::of("no-values", "no run has it"));
    }
    if (all - known.len()) as f64 > MAX_MISSING * all as f64 {
        return invalid(Reason::of("too-much-missing", format!("{} of {all} runs have no value", all - known.len())));
    }
    if known.iter().all(|v| *v == 0.0) {
        compared.verdict = Verdict::Same;
        return compared.reasons.push(both_zero());
    }
    if known.iter().any(|v| *v <= 0.0) {
        return invalid(some_zero());
    }
    let apart = LogDifferences::of(values);
    let Some(moved) = apart.shift(1.0 - alpha) else {
        return invalid(Reason::of("no-pairs", "no pair has both values, or a side has none"));
    };
    let ratio = moved.estimate.exp();
    compared.ratio = Some(ratio);
    (compared.a, compared.b) = levels(compared.a, compared.b, ratio);
    (compared.low, compared.high) = (moved.low.map(f64::exp), moved.high.map(f64::exp));
    compared.p = Some(moved.p);
    compared.pairs_needed = apart.needed(moved.estimate, alpha, margin_percent);
}

/// The levels of both sides that lie as far apart as the estimate says, and together where the medians do: medians of values that vary
/// are further apart, or the other way round, and a change beside them that is not theirs is not believed.
fn levels(a: Option<f64>, b: Option<f64>, ratio: f64) -> (Option<f64>, Option<f64>) {
    let middle = a.zip(b).map(|(a, b)| (a.ln() + b.ln()) / 2.0);
    let half = ratio.ln() / 2.0;
    (middle.map(|m| (m - half).exp()), middle.map(|m| (m + half).exp()))
}

/// Logarithms of the values: of pairs their differences, of sets each for itself.
enum LogDifferences {
    Paired(Vec<f64>),
    Sets(Vec<f64>, Vec<f64>),
}

impl LogDifferences {
    fn of(values: &Values) -> Self {
        if values.drawn {
            let both = values.a.iter().zip(&values.b).filter_map(|(a, b)| Some(log_ratio(a.value?, b.value?)));
            return Self::Paired(both.collect());
        }
        let ln = |values: Vec<f64>| values.iter().map(|v| v.ln()).collect();
        Self::Sets(ln(values.known_a()), ln(values.known_b()))
    }

    /// The same of what a metric keeps.
    fn of_metric(metric: &Compared) -> Self {
        let ln = |values: &[Option<f64>]| values.iter().flatten().map(|v| v.ln()).collect();
        match metric.basis {
            Basis::Paired => {
                let both = metric.values_a.iter().zip(&metric.values_b);
                Self::Paired(both.filter_map(|(a, b)| Some(log_ratio((*a)?, (*b)?))).collect())
            }
            Basis::Unpaired | Basis::Single => Self::Sets(ln(&metric.values_a), ln(&metric.values_b)),
        }
    }

    /// How far B is from A, with an interval of this level and the exact p.
    fn shift(&self, level: f64) -> Option<Shift> {
        match self {
            Self::Paired(differences) => {
                let centre = hodges_lehmann(differences, level)?;
                // Differences that are all zero are no evidence of a difference.
                let p = signed_rank(differences).map_or(1.0, |t| t.p);
                Some(Shift { estimate: centre.estimate, low: centre.low, high: centre.high, p })
            }
            Self::Sets(a, b) => stats::shift(a, b, level),
        }
    }

    /// Pairs, or runs of the smaller side.
    fn count(&self) -> usize {
        match self {
            Self::Paired(differences) => differences.len(),
            Self::Sets(a, b) => a.len().min(b.len()),
        }
    }

    /// Whether so many can reject `questions` hypotheses at all, and how many are the least that can.
    fn least(&self, questions: usize, alpha: f64) -> (bool, usize) {
        match self {
            Self::Paired(differences) => {
                let least = least_pairs(questions, alpha);
                (differences.len() >= least, least)
            }
            Self::Sets(a, b) => {
                let at_most = alpha / questions.max(1) as f64;
                let least = (2..).find(|n| smallest_p(*n, *n) <= at_most).unwrap_or(usize::MAX);
                (smallest_p(a.len(), b.len()) <= at_most, least)
            }
        }
    }

    /// Pairs, or runs of each side, that would show the difference that was seen, or that it lies inside the margin,
    /// whichever needs fewer; with a power of 80 %, at the spread seen.
    fn needed(&self, centre: f64, alpha: f64, margin_percent: f64) -> Option<u32> {
        let variance = match self {
            Self::Paired(differences) => stats::variance(differences)?,
            Self::Sets(a, b) => stats::variance(a)? + stats::variance(b)?,
        };
        let sigma = variance.sqrt();
        if !(sigma.is_finite() && sigma > 0.0) {
            return None;
        }
        let margin = (1.0 + margin_percent / 100.0).ln();
        let count = |z_alpha: f64, distance: f64| RANK_COST * ((z_alpha + POWER_Z) * sigma / distance).powi(2);
        let to_differ =
            (centre.abs() > margin).then(|| count(normal_quantile(1.0 - alpha).unwrap_or(1.96), centre.abs()));
        let inside = margin - centre.abs();
        let to_be_same = (inside > 0.0).then(|| count(normal_quantile(1.0 - 2.0 * alpha).unwrap_or(1.645), inside));
        let fewest = [to_differ, to_be_same].into_iter().flatten().fold(f64::INFINITY, f64::min);
        let more = fewest.max(self.count() as f64 + 1.0);
        (more < 1e6).then(|| more.ceil() as u32)
    }
}

/// Smallest two-sided p of two sets of these sizes: wholly apart, 2 of all ways to choose them.
fn smallest_p(a: usize, b: usize) -> f64 {
    let ways: f64 = (1..=a.min(b)).map(|k| (a.max(b) + k) as f64 / k as f64).product();
    (2.0 / ways).min(1.0)
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
        if alone <= alpha && p > alpha {
            let tried =
                if primary { format!("among {questions} questions") } else { "among all that were looked at".into() };
            metric
                .reasons
                .push(Reason::of("adjusted", format!("alone it would be shown (p {alone:.3}), {tried} it is not")));
        }
        if !primary {
            metric.reasons.push(Reason::of("exploratory", "not one of the questions that were fixed before"));
        }
        one(metric, p, alpha, margin_percent(&metric.id), if primary { questions } else { 1 });
        if same_arm && matches!(metric.verdict, Verdict::Better | Verdict::Worse) {
            metric.verdict = Verdict::Unclear;
            metric.reasons.push(same_arms());
        }
    }
}

fn one(metric: &mut Compared, p: f64, alpha: f64, margin_percent: f64, questions: usize) {
    let share = is_share(&metric.id);
    let Some(better) = metric.better.filter(|_| !share) else {
        let neither = || Reason::of("not-judged", "neither direction is better");
        metric.reasons.push(if share { a_share() } else { neither() });
        metric.pairs_needed = None;
        return;
    };
    let apart = LogDifferences::of_metric(metric);
    let (enough, least) = apart.least(questions, alpha);
    let differs = p <= alpha && enough;
    let same = equivalent(&apart, alpha, margin_percent);
    metric.verdict = match (differs, same) {
        (true, true) => {
            metric.reasons.push(Reason::of(
                "negligible",
                format!("the difference is real, and within the margin of {margin_percent} %"),
            ));
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
    let of = if metric.basis == Basis::Paired { "pairs" } else { "runs a side" };
    if enough {
        let more = metric.pairs_needed.map_or_else(String::new, |n| match n {
            ..=MOST_RUNS => format!("; about {n} {of} would decide"),
            _ => format!("; more than {MOST_RUNS} {of} would be needed"),
        });
        metric.reasons.push(Reason::of("undecided", format!("neither a difference nor its absence is shown{more}")));
    } else {
        let (code, there) = match metric.basis {
            Basis::Paired => ("too-few-pairs", format!("{} pairs", apart.count())),
            _ => ("too-few-runs", format!("{} and {} runs", metric.values_a.len(), metric.values_b.len())),
        };
        let asked = if questions == 1 { "one question".to_owned() } else { format!("{questions} questions") };
        let text = format!("{there} cannot decide {asked} at {alpha}; {least} {of} are the least");
        metric.reasons.push(Reason::of(code, text));
        metric.pairs_needed = Some(metric.pairs_needed.unwrap_or(0).max(u32::try_from(least).unwrap_or(u32::MAX)));
    }
}

/// Takes back what one side's being slowed more often than the other's may be the reason of: only a randomised order spreads that
/// over both.
pub(super) fn slowed_alike(metric: &mut Compared, values: &Values) {
    let [a, b] = values.slowed_shares();
    let uneven = match metric.verdict {
        Verdict::Worse => b - a,
        Verdict::Better => a - b,
        Verdict::Same => (a - b).abs(),
        Verdict::Unclear | Verdict::Invalid => return,
    };
    if uneven > MAX_UNEVEN {
        metric.verdict = Verdict::Unclear;
        metric.reasons.push(Reason::of(
            "slowed-unevenly",
            format!(
                "{:.0} % of the runs of A were slowed and {:.0} % of those of B, which may be all the difference",
                a * 100.0,
                b * 100.0
            ),
        ));
    }
}

/// Two one-sided tests at alpha: the 1 - 2 alpha interval lies inside the margin.
fn equivalent(apart: &LogDifferences, alpha: f64, margin_percent: f64) -> bool {
    let margin = (1.0 + margin_percent / 100.0).ln();
    apart
        .shift(1.0 - 2.0 * alpha)
        .and_then(|s| Some((s.low?, s.high?)))
        .is_some_and(|(low, high)| -margin < low && high < margin)
}

/// So many pairs that Holm can reject at all: the smallest p of n pairs is 2 / 2^n.
pub fn least_pairs(questions: usize, alpha: f64) -> usize {
    let questions = questions.max(1) as f64;
    (1.0 + (questions / alpha).log2()).ceil() as usize
}
