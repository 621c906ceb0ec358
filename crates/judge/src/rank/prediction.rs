//! Which metric puts the targets in the order of another: rank correlation over targets, not over runs.

use super::is_duration_of_work;
use model::{CompactSort as _, Prediction, Ranking, Reason};
use stats::{benjamini_hochberg, kendall, kendall_interval, tau_b};

/// Fewer targets than this say nothing about what predicts what: of four, the smallest two-sided p is 0.083.
pub const MIN_TARGETS: usize = 5;
/// Below so many targets few predictors can be told apart.
const FEW_TARGETS: usize = 20;
/// Up to so many targets all ways of exchanging two predictors are looked at.
const EXCHANGE_UP_TO: usize = 14;
/// Beyond that, so many drawn by lot.
const DRAWN_EXCHANGES: u64 = 20_000;
/// What is as rare as this by chance is called shown.
const ALPHA: f64 = 0.05;
/// Names in a sentence; the table has them all.
const NAMES: usize = 6;

/// Fills the predictions of one metric from the others.
pub(super) fn predict(ranking: &mut Ranking, predicted: &str, predictors: &[String]) {
    let unit = |id: &str| {
        let metrics = ranking.targets.first().map(|t| t.metrics.as_slice()).unwrap_or_default();
        metrics.iter().find(|m| m.id == id).map(|m| m.unit)
    };
    let column = |id: &str| -> Vec<Option<f64>> {
        ranking.targets.iter().map(|t| t.metrics.iter().find(|m| m.id == id).and_then(|m| m.value)).collect()
    };
    let wanted = column(predicted);
    let names: Vec<&str> = ranking.targets.iter().map(|t| t.name.as_str()).collect();
    let mut all: Vec<(Prediction, Vec<Option<f64>>)> = predictors
        .iter()
        .filter(|id| *id != predicted)
        .map(|id| {
            let values = column(id);
            let mut prediction = one(id, predicted, &values, &wanted, &names);
            prediction.work = unit(id).is_some_and(|u| is_duration_of_work(id, u));
            (prediction, values)
        })
        .collect();
    all.compact_sort_by(|(a, _), (b, _)| a.work.cmp(&b.work).then(strength(b).total_cmp(&strength(a))));
    // The synthetic ones stand first: the first that has a tau is the closest of them, or of all where none is synthetic.
    if let Some(at) = all.iter().position(|(p, _)| p.tau.is_some()) {
        let best = all[at].1.clone();
        let work = all[at].0.work;
        // The closest was picked among so many: the luckiest of equals must not make the others look farther (Bonferroni).
        let candidates = all.iter().filter(|(p, _)| p.tau.is_some() && p.work == work).count();
        for (_, (prediction, values)) in all.iter_mut().enumerate().filter(|(i, (p, _))| *i != at && p.tau.is_some()) {
            let rivals = candidates - usize::from(prediction.work == work);
            let p = exchange(&best, values, &wanted);
            prediction.as_close_as_best_p = p.map(|p| (p * rivals as f64).min(1.0));
        }
    }
    ranking.prediction = all.into_iter().map(|(p, _)| p).collect();
    let raw: Vec<f64> = ranking.prediction.iter().map(|p| p.p.unwrap_or(f64::NAN)).collect();
    let known: Vec<f64> = raw.iter().copied().filter(|p| !p.is_nan()).collect();
    let mut adjusted = benjamini_hochberg(&known).into_iter();
    for prediction in ranking.prediction.iter_mut().filter(|p| p.p.is_some()) {
        prediction.p_adjusted = adjusted.next();
    }
    let have = wanted.iter().flatten().count();
    say(ranking, predicted, have);
}

fn strength(prediction: &Prediction) -> f64 {
    prediction.tau.map_or(-1.0, f64::abs)
}

fn listed(names: &[&str]) -> String {
    match names.len() {
        0..=NAMES => names.join(", "),
        n => format!("{} and {} more", names[..NAMES].join(", "), n - NAMES),
    }
}

/// What the targets show, and what so few of them cannot.
fn say(ranking: &mut Ranking, predicted: &str, targets: usize) {
    let known: Vec<&Prediction> = ranking.prediction.iter().filter(|p| p.tau.is_some()).collect();
    let reasons = if targets < MIN_TARGETS {
        let text = format!(
            "{targets} targets have {predicted}, which cannot show that anything predicts it; {MIN_TARGETS} are the least"
        );
        vec![Reason::of("too-few-targets", text)]
    } else if known.is_empty() {
        let text = format!("nothing else is known of enough targets to predict {predicted}");
        vec![Reason::of("no-predictor", text)]
    } else {
        let tried = ranking.prediction.iter().filter(|p| p.p.is_some()).count();
        shown_by(&known, predicted, targets, tried)
    };
    ranking.reasons.extend(reasons);
}

/// What the predictors show, the closest of which is the first, of so many that were tried.
fn shown_by(known: &[&Prediction], predicted: &str, targets: usize, tried: usize) -> Vec<Reason> {
    let reference = known[0];
    let kind: Vec<&Prediction> = known.iter().copied().filter(|p| p.work == reference.work).collect();
    let of_kind = |wanted: &dyn Fn(&Prediction) -> bool| -> Vec<&str> {
        kind.iter().filter(|p| wanted(p)).map(|p| p.predictor.as_str()).collect()
    };
    let shown = of_kind(&|p| p.p_adjusted.is_some_and(|p| p <= ALPHA));
    let not_shown = of_kind(&|p| p.p_adjusted.is_none_or(|p| p > ALPHA));
    let behind = |p: &Prediction| p.as_close_as_best_p.is_some_and(|p| p <= ALPHA);
    let may_be_closest = of_kind(&|p| !behind(p));
    let farther = of_kind(&behind);
    let among = if reference.work { "other work" } else { "synthetic metrics" };
    let tau = reference.tau.unwrap_or(0.0);
    let mut reasons = Vec::new();
    let mut give = |code, text: String| reasons.push(Reason::of(code, text));
    let share = 100.0 * (1.0 + tau.abs()) / 2.0;
    let ties = kind.iter().filter(|p| (strength(p) - tau.abs()).abs() < 1e-9).count();
    let leading = if ties > 1 { format!(", as do {} more", ties - 1) } else { String::new() };
    give(
        "closest",
        format!(
            "of {among} {} goes most closely with {predicted}{leading}: {share:.0} % of pairs of targets are in {} order",
            reference.predictor,
            if tau < 0.0 { "opposite" } else { "the same" },
        ),
    );
    if shown.is_empty() {
        give("none-shown", format!("allowing for the {tried} that were tried, none is shown to go with it"));
    } else if !not_shown.is_empty() {
        give(
            "not-shown",
            format!(
                "allowing for the {tried} that were tried, {} {} not shown to go with it",
                listed(&not_shown),
                if not_shown.len() == 1 { "is" } else { "are" },
            ),
        );
    }
    if may_be_closest.len() > 1 {
        give(
            "not-separated",
            format!("{targets} targets cannot tell which of {} goes closest with it", listed(&may_be_closest)),
        );
    }
    if !farther.is_empty() {
        give(
            "farther",
            format!(
                "{} {} less closely than the closest",
                listed(&farther),
                if farther.len() == 1 { "goes" } else { "go" }
            ),
        );
    }
    if targets < FEW_TARGETS {
        give(
            "few-targets",
            format!(
                "{targets} targets are few: intervals are wide, and what predicts among these may not among others"
            ),
        );
    }
    let mover = reference.leave_one_out.zip(reference.most_influential.as_deref());
    if let Some(((low, high), name)) = mover.filter(|((low, high), _)| high - low > 0.1) {
        give(
            "one-target",
            format!(
                "leaving out one target moves tau of {} between {low:.2} and {high:.2}; {name} moves it most",
                reference.predictor
            ),
        );
    }
    give(
        "correlation",
        "what goes together need not be cause and effect; one family of devices can make it".to_owned(),
    );
    reasons
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
        p_adjusted: None,
        work: false,
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
            0..MIN_TARGETS => Reason::of("too-few-targets", format!("{n} have both; {MIN_TARGETS} are the least")),
            _ => Reason::of("constant", "one of the two is the same for all"),
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
