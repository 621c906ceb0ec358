//! The head of the causes, or an honest "unknown" with what is missing.

use crate::causes::{Cause, CauseOrder, causes};
use crate::{catalogue, machine};
use model::{
    Confidence, Evidence, Finding, Limit, LimitLayer, MetricKey, NextStep, PhaseRun, Reason, RowLimit, Run, RunState,
    Step, StopCause, TargetKind, Work,
};

/// What a limit is named from.
const NEEDED: [(Work, &str); 6] = [
    (Work::SequentialRead, "throughput_bytes_per_s"),
    (Work::SequentialWrite, "throughput_bytes_per_s"),
    (Work::BufferedWrite, "throughput_bytes_per_s"),
    (Work::RandomRead, "iops"),
    (Work::QueuedRead, "iops"),
    (Work::QueuedWrite, "iops"),
];

/// Those that the run does not have, each with the reason.
fn missing(run: &Run) -> impl Iterator<Item = (String, Option<&Reason>)> {
    let none = |(work, quantity): &(Work, &str)| machine::value_of_work(run, *work, quantity).is_none();
    NEEDED.into_iter().filter(none).map(|(work, quantity)| {
        let metric = run.metric_of_work(work, quantity);
        let why = metric.and_then(|m| m.reasons.first());
        (run.metric_id_of_work(work, quantity), why)
    })
}

/// The bottleneck of a run. `unknown` is an answer: its evidence lists what would be needed.
pub fn limit(run: &Run) -> Limit {
    bottleneck_cause(&causes(run)).map_or_else(|| unknown_limit(run), Limit::from)
}

/// What a headline is to answer beside "what holds this run back".
#[derive(Debug, Default)]
pub struct Question<'a> {
    /// What limits by the command's own answer.
    pub answered: Option<Limit>,
    /// The phase that keeps the target from a use, of all that it misses the most.
    pub missed: Option<&'a str>,
    /// The phase that decides the use that was asked about.
    pub asked: Option<&'a str>,
}

/// What a run is told to be held by, and what to do about it.
#[derive(Clone, Debug)]
pub struct Headline {
    /// The bottleneck.
    pub limit: Limit,
    /// What to try next.
    pub next_step: Option<NextStep>,
}

/// The headline of a run: the first that there is of the places of `causes::CauseOrder`. Where nothing particular is known, what limits the
/// row that was asked about is.
pub fn headline(
    run: &Run,
    ranked: &[Cause],
    rows: &[RowLimit],
    question: &Question<'_>,
    findings: &[Finding],
) -> Headline {
    let head = bottleneck_cause(ranked);
    let order = head.map_or(CauseOrder::Remark, Cause::order);
    let row = |name: &str| rows.iter().find(|r| r.phase == name && r.layer != LimitLayer::Unknown);
    let of_row = |row: &RowLimit| {
        let limit = Limit::from(row);
        let next_step = row.next_step.clone().or_else(|| step(run, head, &limit, findings));
        Headline { limit, next_step }
    };
    let missed = question.missed.and_then(row).filter(|r| r.confidence >= Confidence::Probable);
    if order > CauseOrder::Answer
        && let Some(limit) = &question.answered
    {
        return Headline { limit: limit.clone(), next_step: None };
    }
    if order > CauseOrder::Use
        && let Some(missed) = missed
    {
        return of_row(missed);
    }
    let limit = head.map_or_else(|| unknown_limit(run), Limit::from);
    match question.asked.and_then(row).filter(|_| limit.layer == LimitLayer::Unknown) {
        Some(row) => of_row(row),
        None => Headline { next_step: step(run, head, &limit, findings), limit },
    }
}

/// The cause that is the bottleneck.
pub(crate) fn bottleneck_cause(causes: &[Cause]) -> Option<&Cause> {
    causes.iter().find(|c| !c.is_remark())
}

impl From<&Cause> for Limit {
    fn from(cause: &Cause) -> Self {
        let model::Cause { layer, statement, confidence, evidence, .. } = cause.clone().into();
        Self { layer, statement, confidence, evidence }
    }
}

pub(crate) fn unknown_limit(run: &Run) -> Limit {
    if run.target.kind == TargetKind::Region {
        let statement = "not known: too few ways of copying were measured".to_owned();
        return Limit { layer: LimitLayer::Unknown, statement, confidence: Confidence::Low, evidence: Vec::new() };
    }
    let absent = |(id, why): (String, Option<&Reason>)| {
        let why = why.map_or_else(|| "not measured".to_owned(), Reason::to_string);
        Evidence::absence(format!("{}: {why}", Work::words_of(MetricKey::of(&id).phase())), id)
    };
    let mut evidence: Vec<Evidence> = missing(run).map(absent).collect();
    if run.samples.len() < 2 {
        evidence.push(Evidence::absence("processors, disks and temperatures during the run", "system samples"));
    }
    if run.target.stack.layers.iter().all(|l| l.ceiling_bytes_per_s.is_none()) {
        evidence.push(Evidence::absence("ceiling of any layer of the path", "target stack"));
    }
    let statement = if evidence.is_empty() {
        "no layer is near its ceiling and none is prominent: not known".to_owned()
    } else {
        // Metrics by the words of their phase: the id is in the evidence.
        let phase = |e: &Evidence| e.source.split('.').next().map(|phase| Work::words_of(phase).to_owned());
        let missing: Vec<String> = evidence.iter().take(3).filter_map(phase).collect();
        format!("not known: there is no valid number for {}", missing.join(", "))
    };
    Limit { layer: LimitLayer::Unknown, statement, confidence: Confidence::Low, evidence }
}

/// Where the limit is unknown for want of measurements: how to get them, if another check can. The fix of a finding
/// would be a guess.
fn to_measure(run: &Run) -> Option<NextStep> {
    let reasons: Vec<Option<&Reason>> = missing(run).map(|(_, why)| why).collect();
    let short = |code: &str| reasons.iter().flatten().any(|why| why.is(code));
    // Of what ended with the bytes that it may write, more time makes no more.
    let ended = |stop: &dyn Fn(&PhaseRun) -> bool| {
        let phases = NEEDED.iter().filter_map(|(work, _)| run.phase_of_work(*work));
        phases.filter(|p| Reason::find(&p.reasons, "too-little-data").is_some()).any(stop)
    };
    let by_bytes =
        |p: &PhaseRun| p.plan.is_write() && p.record.as_ref().is_some_and(|r| r.stop == StopCause::RegionDone);
    let bytes = ended(&by_bytes);
    let time = short("budget") || ended(&|p| !by_bytes(p));
    let cut_off = matches!(run.state, RunState::Interrupted | RunState::Truncated);
    let step = match (bytes, time) {
        _ if reasons.is_empty() => return None,
        _ if cut_off => Step::CheckToItsEnd,
        (true, true) => Step::LongerAndLargerCheck,
        (true, false) => Step::LargerCheck,
        (false, true) => Step::LongerCheck,
        (false, false) => return None,
    };
    Some(step.into())
}

/// What to try next, and what it can bring at most: the step of the cause that is the bottleneck; without one, [`advice`].
fn step(run: &Run, head: Option<&Cause>, limit: &Limit, findings: &[Finding]) -> Option<NextStep> {
    head.and_then(|c| c.next_step.clone()).or_else(|| advice(run, limit.layer, findings))
}

/// The fix of the finding whose gain is the largest of those on the layer that limits. Where the limit is unknown: to measure what
/// is missing; if that is not it, the fix of any finding, unless hardly anything was measured.
fn advice(run: &Run, layer: LimitLayer, findings: &[Finding]) -> Option<NextStep> {
    let ratio = |f: &Finding| f.gain.as_ref().and_then(|g| g.at_most_ratio).unwrap_or(1.0);
    let finding = findings
        .iter()
        .filter(|f| f.layer == layer || layer == LimitLayer::Unknown)
        .max_by(|a, b| a.confidence.cmp(&b.confidence).then(ratio(a).total_cmp(&ratio(b))));
    let of_finding = || {
        finding.map(|f| NextStep {
            step: Step::Fix(f.fix.lines().next().unwrap_or(&f.fix).to_owned()),
            predicted_ratio: f.gain.as_ref().and_then(|g| g.at_most_ratio),
            basis: f.gain.as_ref().map_or_else(
                || catalogue::page(&f.id).map_or_else(String::new, |p| p.gain_basis.clone()),
                |g| g.basis.clone(),
            ),
        })
    };
    match layer {
        LimitLayer::Unknown if missing(run).count() == NEEDED.len() => to_measure(run),
        LimitLayer::Unknown => to_measure(run).or_else(of_finding),
        _ => of_finding(),
    }
}
