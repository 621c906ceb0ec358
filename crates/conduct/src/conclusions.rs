//! What is concluded from a run, whoever made it and whenever.

use model::{
    Cause, Confidence, DepthCurve, Evidence, Finding, Fit, Limit, LimitLayer, NextStep, Rating, RowLimit, Run, UseText,
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
}

impl Conclusions {
    /// Of a run.
    pub fn of(run: &Run) -> Self {
        let (asked, findings, limits) = (asked_for(run), diagnose::findings(run), diagnose::limits(run));
        let fit: Vec<Fit> = asked.iter().map(|u| judge::fit(run, u)).chain(judge::summary(run)).collect();
        let asked_for = (!asked.is_empty()).then(|| asked.iter().map(|u| u.id.as_str()).collect::<Vec<_>>().join(","));
        let own = diagnose::limit(run);
        let deciding = deciding_row(&fit, asked_for.as_deref(), &limits).filter(|_| !holds_all(&own));
        let limit = deciding.map_or(own, Limit::from);
        // Of a use, only the phases that decide it are measured: what limits them is all that is asked.
        let asked_row = asked_for.as_deref().and_then(|name| row_of(fit.iter().find(|f| f.is_one_of(name))?, &limits));
        let deciding = deciding.or(asked_row.filter(|_| limit.layer == LimitLayer::Unknown));
        let limit = deciding.map_or_else(|| of_the_asked(limit, &fit, asked_for.as_deref()), Limit::from);
        let next_step = match deciding.and_then(|row| row.next_step.clone()) {
            Some(step) => Some(step),
            None => diagnose::next_step(run, &limit, &findings),
        };
        let causes = diagnose::causes(run).into_iter().map(Cause::from).collect();
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
        }
    }
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

/// Where nothing limits for want of numbers, those that were asked for are what is missing, and not those of a whole check.
fn of_the_asked(limit: Limit, fit: &[Fit], asked_for: Option<&str>) -> Limit {
    let asked = asked_for.and_then(|name| fit.iter().find(|f| f.is_one_of(name)));
    match asked.filter(|f| limit.layer == LimitLayer::Unknown && f.value.is_none()) {
        Some(fit) => Limit {
            statement: format!("not known: no number of {} stands", fit.metric.split('.').next().unwrap_or_default()),
            evidence: vec![Evidence::absence(fit.quantity.clone(), fit.metric.clone())],
            ..limit
        },
        None => limit,
    }
}

/// The row whose number decides a use, where something is known of it.
fn row_of<'a>(fit: &Fit, limits: &'a [RowLimit]) -> Option<&'a RowLimit> {
    let phase = fit.metric.split('.').next()?;
    limits.iter().find(|l| l.phase == phase && l.layer != LimitLayer::Unknown)
}

/// How the plan of a check says what it was made for.
const MADE_FOR: &str = "made for: ";

/// The note in a plan that says which use it is to decide.
pub fn made_for(name: &str) -> String {
    format!("{MADE_FOR}{name}")
}

/// The uses that the plan of a run is to decide; none of one that was made for no use.
pub fn asked_for(run: &Run) -> Vec<UseText> {
    let names = run.plan.notes.iter().filter_map(|note| note.strip_prefix(MADE_FOR));
    names.filter_map(|name| judge::use_named(name).ok()).collect()
}
