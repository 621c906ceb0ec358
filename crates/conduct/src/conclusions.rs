//! What is concluded from a run, whoever made it and whenever.

use model::{
    Answer, Cause, Confidence, DepthCurve, Evidence, Filled, Finding, Fit, Limit, LimitLayer, Metric, MetricKey,
    NextStep, Rating, RowLimit, Run, UseText,
};

/// What the judge and the diagnosis say of a run; drawn anew from any run of the archive.
pub struct Conclusions {
    /// The bottleneck.
    pub limit: Limit,
    /// All that may hold the run back, the most telling first.
    pub causes: Vec<Cause>,
    /// Named conditions.
    pub findings: Vec<Finding>,
    /// What limits each row of the card.
    pub limits: Vec<RowLimit>,
    /// What the target is good for; first what was asked about, where something was.
    pub fit: Vec<Fit>,
    /// The use that was asked about, by its name; of several all, with commas between.
    pub asked_for: Option<String>,
    /// Speed classes.
    pub ratings: Vec<Rating>,
    /// Phases that differ only in depth, and where more of it stops to pay.
    pub depth_curves: Vec<DepthCurve>,
    /// What to do next.
    pub next_step: Option<NextStep>,
    /// What was asked, where that takes more than the metrics.
    pub answer: Option<Answer>,
    /// Of the reports of another tool: each figure over all of them.
    pub over_reports: Vec<Metric>,
}

impl Conclusions {
    /// Of a run.
    pub fn of(run: &Run) -> Self {
        let (asked, findings, limits) = (asked_for(run), diagnose::findings(run), diagnose::limits(run));
        let fit: Vec<Fit> = asked.iter().map(|u| judge::fit(run, u)).chain(judge::summary(run)).collect();
        let asked_for = (!asked.is_empty()).then(|| asked.iter().map(|u| u.id.as_str()).collect::<Vec<_>>().join(","));
        let (own, answer) = (diagnose::limit(run), answer(run));
        let deciding = deciding_row(&fit, asked_for.as_deref(), &limits).filter(|_| !holds_all(&own));
        // What is only left over says less than what a row knows.
        let furthest = furthest_row(&limits).filter(|_| deciding.is_none() && diagnose::is_remainder(run));
        let deciding = deciding.or(furthest);
        let limit = deciding.map_or(own, Limit::from);
        // Of a use, only the phases that decide it are measured: what limits them is all that is asked.
        let asked_row = asked_for.as_deref().and_then(|name| row_of(fit.iter().find(|f| f.is_one_of(name))?, &limits));
        let deciding = deciding.or(asked_row.filter(|_| limit.layer == LimitLayer::Unknown));
        let limit = deciding.map_or_else(|| of_the_asked(limit, &fit, asked_for.as_deref()), Limit::from);
        let next_step = match deciding.and_then(|row| row.next_step.clone()) {
            Some(step) => Some(step),
            None => diagnose::next_step(run, &limit, &findings),
        };
        let ended = ended_cache(answer.as_ref()).filter(|_| !holds_all(&limit));
        let next_step = next_step.filter(|_| ended.is_none());
        let limit = ended.unwrap_or(limit);
        let mut causes: Vec<Cause> = diagnose::causes(run).into_iter().map(Cause::from).collect();
        if let Some(row) = furthest {
            causes.insert(0, of_row(row));
        }
        Self {
            ratings: judge::ratings(run),
            depth_curves: judge::depth_curves(run),
            limit,
            limits,
            fit,
            asked_for,
            causes,
            findings,
            next_step,
            answer,
            over_reports: judge::over_reports(run),
        }
    }
}

/// What the run answers, where that is more than its metrics.
fn answer(run: &Run) -> Option<Answer> {
    let of = |name: &str| run.phases.iter().find(|p| p.plan.name == name)?.record.as_ref().and_then(judge::filled);
    match (run.command.as_str(), run.plan.name.as_str()) {
        // The quiet window after the one phase, and that before the next.
        (_, "fill") => Some(Answer::Filled {
            filled: of("fill"),
            rested: of("after-rest"),
            rest_ns: run.plan.quiet_ns.saturating_mul(2),
        }),
        ("rate", _) => {
            let asked = run.plan.notes.iter().find_map(|note| note.strip_prefix(MADE_FOR)?.strip_prefix(CLASS));
            let mut classes = judge::rated_classes(run);
            classes.retain(|c| asked.is_none_or(|name| name == c.rating.class));
            Some(Answer::Classes(classes))
        }
        _ => None,
    }
}

/// What limits a target that was written whole, where its rate fell: what follows the cache.
fn ended_cache(answer: Option<&Answer>) -> Option<Limit> {
    let Some(Answer::Filled { filled: Some(Filled { cliff: Some(cliff), .. }), .. }) = answer else { return None };
    let measured = |what: &str, value: f64| Evidence::measurement(what, value, "fill");
    Some(Limit {
        layer: LimitLayer::Device,
        statement: "the device takes what follows the end of its cache at a lower rate".to_owned(),
        confidence: Confidence::Probable,
        evidence: vec![
            measured("bytes written before the rate fell", cliff.bytes as f64),
            measured("rate before, bytes per second", cliff.before_bytes_per_s),
            measured("rate after, bytes per second", cliff.after_bytes_per_s),
        ],
    })
}

/// A use that is missed by this much: whatever else limits, this is what has to be mended first.
const FAR_SHORT: f64 = 0.25;

/// What slows all that comes after it: a row that is slow then says no more.
fn holds_all(limit: &Limit) -> bool {
    matches!(limit.layer, LimitLayer::Throttle | LimitLayer::ThermalPower) && limit.confidence >= Confidence::Probable
}

/// The row that keeps the target from what was asked about, or from a use that everybody has; `None` where the run's own
/// limit says more.
fn deciding_row<'a>(fit: &[Fit], asked_for: Option<&str>, limits: &'a [RowLimit]) -> Option<&'a RowLimit> {
    let asked = |f: &&Fit| asked_for.is_none_or(|names| f.is_one_of(names));
    let short =
        |f: &&Fit| f.met == Some(false) && (asked_for.is_some() || f.margin_ratio.is_some_and(|m| m < FAR_SHORT));
    let margin = |f: &Fit| f.margin_ratio.unwrap_or(1.0);
    let worst = fit.iter().filter(asked).filter(short).min_by(|a, b| margin(a).total_cmp(&margin(b)))?;
    row_of(worst, limits).filter(|l| l.confidence >= Confidence::Probable)
}

/// A row as the first of all causes.
fn of_row(row: &RowLimit) -> Cause {
    let Limit { layer, statement, confidence, evidence } = Limit::from(row);
    let decided_by = format!("{} again, with what is named changed", row.phase);
    Cause { layer, statement, confidence, evidence, decided_by }
}

/// The row with a particular cause that is furthest below what its path gives without it; `None` where no row has one.
fn furthest_row(limits: &[RowLimit]) -> Option<&RowLimit> {
    /// What costs less than this share says no more than the rate of the device.
    const LEAST: f64 = 2.0;
    let below = |l: &&RowLimit| l.next_step.as_ref().and_then(|s| s.predicted_ratio).filter(|r| *r >= LEAST);
    let sure = limits.iter().filter(|l| l.confidence >= Confidence::Probable && l.layer != LimitLayer::Unknown);
    sure.filter_map(|l| Some((l, below(&l)?))).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(l, _)| l)
}

/// Where nothing limits for want of numbers, those that were asked for are what is missing, and not those of a whole check.
fn of_the_asked(limit: Limit, fit: &[Fit], asked_for: Option<&str>) -> Limit {
    let asked = asked_for.and_then(|name| fit.iter().find(|f| f.is_one_of(name)));
    match asked.filter(|f| limit.layer == LimitLayer::Unknown && f.value.is_none()) {
        Some(fit) => Limit {
            statement: format!("not known: no number of {} stands", MetricKey::of(&fit.metric).phase()),
            evidence: vec![Evidence::absence(fit.quantity.clone(), fit.metric.clone())],
            ..limit
        },
        None => limit,
    }
}

/// The row whose number decides a use, where something is known of it.
fn row_of<'a>(fit: &Fit, limits: &'a [RowLimit]) -> Option<&'a RowLimit> {
    let phase = MetricKey::of(&fit.metric).phase();
    limits.iter().find(|l| l.phase == phase && l.layer != LimitLayer::Unknown)
}

/// How the plan of a check says what it was made for.
const MADE_FOR: &str = "made for: ";

/// What stands before the class in it, where it was made for one.
const CLASS: &str = "class ";

/// The note in a plan that says which class it is to decide.
pub fn made_for_class(name: &str) -> String {
    format!("{MADE_FOR}{CLASS}{name}")
}

/// The note in a plan that says which use it is to decide.
pub fn made_for(name: &str) -> String {
    format!("{MADE_FOR}{name}")
}

/// The uses that the plan of a run is to decide; none of one that was made for no use.
pub fn asked_for(run: &Run) -> Vec<UseText> {
    let names = run.plan.notes.iter().filter_map(|note| note.strip_prefix(MADE_FOR));
    names.filter_map(|name| judge::use_named(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_rows_with_a_cause_the_one_furthest_below_its_path_is_the_headline() {
        let row = |phase: &str, confidence, ratio: Option<f64>| RowLimit {
            phase: phase.into(),
            layer: LimitLayer::Device,
            statement: format!("what holds {phase}"),
            confidence,
            evidence: Vec::new(),
            next_step: Some(NextStep { text: String::new(), predicted_ratio: ratio, basis: String::new() }),
        };
        let rows = [
            row("seq-read", Confidence::Probable, None),
            row("rand-write-qd1", Confidence::Probable, Some(6.0)),
            row("sync-write", Confidence::Probable, Some(60.0)),
            row("buffered-write", Confidence::Low, Some(200.0)),
        ];
        assert_eq!(furthest_row(&rows).map(|r| r.phase.as_str()), Some("sync-write"));
        assert_eq!(furthest_row(&rows[..2]).map(|r| r.phase.as_str()), Some("rand-write-qd1"));
        assert_eq!(furthest_row(&rows[..1]), None);
        assert_eq!(furthest_row(&rows[3..]), None, "a hint is no headline");
        assert_eq!(furthest_row(&[row("sync-write", Confidence::Probable, Some(1.5))]), None);
    }
}
