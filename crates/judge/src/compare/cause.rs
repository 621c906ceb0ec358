//! Whether what was compared is shown to be the reason for what differs. Only a randomised order shows that: everything else
//! that changes with time then hits both sides alike. Where nobody randomised, what else may be the reason is looked for: the
//! order of the sets, reboots, and trends within them.

use super::sides::Sides;
use model::{Attribution, Basis, CompactSort as _, Compared, Drift, Reason, Run, Verdict};
use std::collections::BTreeSet;

/// A trend of fewer runs than this cannot be told from chance.
const MIN_RUNS: usize = 5;
/// Error rate over all trends that are looked for.
const ALPHA: f64 = 0.05;
/// A trend within a set that is this share of the difference between the sets may be all of it: sets made one after the
/// other lie about as far apart as each is long.
const EXPLAINS: f64 = 0.5;

/// Fewer degrees are what a sensor and the weather differ by.
const TELLING_DEGREES: f64 = 5.0;

fn not_randomised() -> Reason {
    let text = "the order of the runs was not randomised, so that whatever changed between the sets may be the reason";
    Reason::of("not-randomised", text)
}

/// The answer with what it rests on.
pub(super) struct CauseAnswer {
    pub cause: Attribution,
    pub reasons: Vec<Reason>,
    pub drift: Vec<Drift>,
}

/// What the order of the runs shows.
pub(super) fn of(sides: &Sides<'_>, metrics: &[Compared]) -> CauseAnswer {
    match sides.basis() {
        Basis::Paired => CauseAnswer { cause: Attribution::Randomised, reasons: Vec::new(), drift: Vec::new() },
        Basis::Single => CauseAnswer { cause: Attribution::NotShown, reasons: Vec::new(), drift: Vec::new() },
        Basis::Unpaired => {
            let mut reasons = vec![not_randomised()];
            reasons.extend(order(sides.runs()));
            reasons.extend(boots(sides.runs()));
            reasons.extend(temperatures(sides.runs()));
            let primary: Vec<&Compared> = metrics.iter().filter(|m| m.primary).collect();
            let drift = drift(sides.runs(), &primary);
            match &drift {
                Ok(found) if found.is_empty() => {
                    reasons.push(Reason::of("no-drift", "neither set shows a trend over its runs"));
                }
                Ok(found) => reasons.extend(found.iter().map(|d| drift_reason(d, &primary))),
                Err(why) => reasons.push(why.clone()),
            }
            CauseAnswer { cause: Attribution::NotShown, reasons, drift: drift.unwrap_or_default() }
        }
    }
}

/// When a run began; what another tool printed often does not say.
fn began(run: &Run) -> Option<&str> {
    run.sessions.first().map(|s| s.started.as_str()).filter(|s| !s.is_empty())
}

/// Whether one set was made before the other, or both in turns.
fn order(sides: [&[&Run]; 2]) -> Option<Reason> {
    let span = |runs: &[&Run]| -> Option<(String, String)> {
        let times = runs.iter().map(|r| began(r)).collect::<Option<BTreeSet<&str>>>()?;
        Some(((*times.first()?).to_owned(), (*times.last()?).to_owned()))
    };
    let [Some(a), Some(b)] = sides.map(span) else {
        return Some(Reason::of("order-unknown", "of some of these runs it is not known when they were made"));
    };
    let blocks = |early: &str, (from, to): &(String, String), late: &str, (then, end): &(String, String)| {
        Reason::of(
            "in-blocks",
            format!("all runs of {early} ({from} to {to}) were made before those of {late} ({then} to {end})"),
        )
    };
    Some(match (a.1 < b.0, b.1 < a.0) {
        (true, _) => blocks("A", &a, "B", &b),
        (_, true) => blocks("B", &b, "A", &a),
        _ => Reason::of("in-turns", "the runs of A and B overlap in time, so that a slow drift is in both"),
    })
}

/// A reboot between the sets is another state of the machine; one within a set is not the sets' difference.
fn boots(sides: [&[&Run]; 2]) -> Option<Reason> {
    let of = |runs: &[&Run]| -> BTreeSet<String> {
        runs.iter().flat_map(|r| &r.sessions).filter_map(|s| s.boot_id.clone()).collect()
    };
    let [a, b] = sides.map(of);
    (!a.is_empty() && !b.is_empty() && a.is_disjoint(&b)).then(|| {
        Reason::of(
            "rebooted",
            "between the runs of A and those of B the machine was booted, or they are of two machines",
        )
    })
}

/// How warm the hottest sensor was over a run, in the mean, degrees Celsius.
pub(crate) fn temperature(run: &Run) -> Option<f64> {
    let hottest = run.samples.iter().filter_map(|s| s.temperatures.iter().map(|t| t.millidegrees_c).max());
    let values: Vec<f64> = hottest.map(|m| m as f64 / 1e3).collect();
    stats::mean(&values)
}

/// Another temperature of the sets, and one that rises or falls within them: silicon slows down when it is warm.
fn temperatures(sides: [&[&Run]; 2]) -> Vec<Reason> {
    let known = sides.map(|runs| runs.iter().filter_map(|r| temperature(r)).collect::<Vec<f64>>());
    let mut reasons = Vec::new();
    if let [Some(a), Some(b)] = known.each_ref().map(|values| stats::median(values))
        && (a - b).abs() >= TELLING_DEGREES
    {
        reasons.push(Reason::of(
            "temperature",
            format!("in the median run the hottest sensor was at {a:.0} C in A and at {b:.0} C in B"),
        ));
    }
    for (side, runs) in ["A", "B"].into_iter().zip(sides) {
        let mut timed: Vec<(&str, f64)> = runs.iter().filter_map(|r| Some((began(r)?, temperature(r)?))).collect();
        timed.compact_sort_by(|x, y| x.0.cmp(y.0));
        let points: Vec<(f64, f64)> = timed.iter().enumerate().map(|(i, (_, c))| (i as f64, *c)).collect();
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let p = stats::kendall(&x, &y).map_or(1.0, |k| k.p);
        let degrees = stats::theil_sen(&points).map_or(0.0, |line| line.slope) * points.len().saturating_sub(1) as f64;
        if points.len() >= MIN_RUNS && p * 2.0 <= ALPHA && degrees.abs() >= TELLING_DEGREES {
            let what = if degrees < 0.0 { "fell" } else { "rose" };
            let size = degrees.abs();
            reasons.push(Reason::of(
                "temperature-drift",
                format!("the hottest sensor {what} by {size:.0} C over the {} runs of {side}", points.len()),
            ));
        }
    }
    reasons
}

/// Trends of the primary metrics over the runs of a side, by Mann and Kendall's test; those that stay after Holm.
fn drift(sides: [&[&Run]; 2], primary: &[&Compared]) -> Result<Vec<Drift>, Reason> {
    let mut tried: Vec<Drift> = Vec::new();
    for (side, runs) in ["a", "b"].into_iter().zip(sides) {
        for metric in primary.iter().filter(|m| m.verdict != Verdict::Invalid) {
            let values = if side == "a" { &metric.values_a } else { &metric.values_b };
            let timed = runs.iter().zip(values).filter_map(|(run, v)| Some((began(run)?, v.filter(|v| *v > 0.0)?)));
            let mut timed: Vec<(&str, f64)> = timed.collect();
            timed.compact_sort_by(|x, y| x.0.cmp(y.0));
            let points: Vec<(f64, f64)> = timed.iter().enumerate().map(|(i, (_, v))| (i as f64, v.ln())).collect();
            if points.len() < MIN_RUNS {
                continue;
            }
            let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            // Values that are all the same have no trend.
            let p = stats::kendall(&x, &y).map_or(1.0, |k| k.p);
            let slope = stats::theil_sen(&points).map_or(0.0, |line| line.slope);
            let change = (slope * (points.len() - 1) as f64).exp() - 1.0;
            tried.push(Drift {
                side: side.to_owned(),
                metric: metric.id.clone(),
                change_percent: change * 100.0,
                p,
                runs: u32::try_from(points.len()).unwrap_or(u32::MAX),
            });
        }
    }
    if tried.is_empty() {
        let text = "a trend within the sets cannot be looked for in fewer than 5 runs whose times are known";
        return Err(Reason::of("drift-unknown", text));
    }
    let adjusted = stats::holm(&tried.iter().map(|d| d.p).collect::<Vec<_>>());
    tried.iter_mut().zip(adjusted).for_each(|(d, p)| d.p = p);
    tried.retain(|d| d.p <= ALPHA);
    Ok(tried)
}

fn drift_reason(drift: &Drift, primary: &[&Compared]) -> Reason {
    let size = (drift.change_percent / 100.0 + 1.0).ln();
    let between = primary.iter().find(|m| m.id == drift.metric).and_then(|m| m.ratio).map(f64::ln);
    let explains = match between {
        Some(between) if size.abs() >= EXPLAINS * between.abs() => {
            "; that is enough to make the difference between the sets, whatever was changed"
        }
        _ => "; that is less than half of what lies between the sets",
    };
    let what = if drift.change_percent < 0.0 { "fell" } else { "rose" };
    Reason::of(
        "drift",
        format!(
            "{} of {} {what} by {:.1} % over its {} runs (p {:.3}){explains}",
            drift.metric,
            drift.side.to_uppercase(),
            drift.change_percent.abs(),
            drift.runs,
            drift.p
        ),
    )
}
