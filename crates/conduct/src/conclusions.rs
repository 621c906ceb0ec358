//! What is concluded from a run, whoever made it and whenever.

use diagnose::{Headline, Question};
use model::{
    Answer, Cause, Confidence, DepthCurve, Evidence, Filled, Finding, Fit, Limit, LimitLayer, Metric, NextStep, Rating,
    RowLimit, Run, UseText,
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
        let answer = answer(run);
        let asked_fit = asked_for.as_deref().and_then(|name| fit.iter().find(|f| f.is_one_of(name)));
        let question = Question {
            answered: ended_cache(answer.as_ref()),
            missed: missed_use(&fit, asked_for.as_deref()).and_then(phase_of),
            asked: asked_fit.and_then(phase_of),
        };
        let Headline { limit, next_step } = diagnose::headline(run, &limits, &question, &findings);
        let limit = of_the_asked(limit, &fit, asked_for.as_deref());
        let causes: Vec<Cause> = diagnose::causes(run).into_iter().map(Cause::from).collect();
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

/// The use that is missed the most: of those that were asked about, or far short of one that everybody has.
fn missed_use<'a>(fit: &'a [Fit], asked_for: Option<&str>) -> Option<&'a Fit> {
    let asked = |f: &&Fit| asked_for.is_none_or(|names| f.is_one_of(names));
    let short =
        |f: &&Fit| f.met == Some(false) && (asked_for.is_some() || f.margin_ratio.is_some_and(|m| m < FAR_SHORT));
    let margin = |f: &Fit| f.margin_ratio.unwrap_or(1.0);
    fit.iter().filter(asked).filter(short).min_by(|a, b| margin(a).total_cmp(&margin(b)))
}

/// The phase whose number decides a use.
fn phase_of(fit: &Fit) -> Option<&str> {
    fit.metric.split('.').next()
}

/// Where nothing limits for want of numbers, those that were asked for are what is missing, and not those of a whole check.
fn of_the_asked(limit: Limit, fit: &[Fit], asked_for: Option<&str>) -> Limit {
    let asked = asked_for.and_then(|name| fit.iter().find(|f| f.is_one_of(name)));
    match asked.filter(|f| limit.layer == LimitLayer::Unknown && f.value.is_none()) {
        Some(fit) => Limit {
            statement: format!("not known: no number of {} is valid", fit.metric.split('.').next().unwrap_or_default()),
            evidence: vec![Evidence::absence(fit.quantity.clone(), fit.metric.clone())],
            ..limit
        },
        None => limit,
    }
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
