//! `narrows why` as text: ranked causes with what they rest on, what would decide, and what mending brings.

use crate::evidence::{RenderedEvidence, confidence_word, with_confidence};
use crate::fact;
use crate::headline;
use crate::presentation::{Part, Presentation, SectionName, State, Tone, under};
use crate::quantity;
use crate::rate::fake_sentence;
use crate::storage_line;
use crate::text::unbroken;
use model::{Cause, Confirmation, Evidence, Finding, Limit, MetricStatus, NextStep, Run, Undecided, json_name};

/// An attribution, borrowed from the rooms that made it.
#[derive(Clone, Copy, Debug)]
pub struct Why<'a> {
    pub run: &'a Run,
    /// Which run it is, where the one that was named says nothing of limits.
    pub taken: Option<&'a str>,
    /// The bottleneck.
    pub limit: &'a Limit,
    /// All that may hold the run back, the most telling first, with what to do about each; the bottleneck may be none of them.
    pub causes: &'a [Cause],
    /// Named conditions that hold.
    pub findings: &'a [Finding],
    /// Those that can neither be named nor ruled out.
    pub unknown: &'a [Undecided],
    /// What to do next.
    pub next_step: Option<&'a NextStep>,
    /// What the deciding measurement gave, where it was run.
    pub confirmation: Option<&'a Confirmation>,
}

/// Conditions that are listed with what they lack; the rest are counted.
const UNDECIDED_LINES: usize = 6;

/// The bottleneck in a sentence.
pub(crate) fn answer(limit: &Limit) -> String {
    let place = with_confidence(limit.statement.trim_end_matches('.'), limit.layer, limit.confidence);
    format!("Bottleneck: {place}")
}

/// What to do next, in a sentence: about the bottleneck, else about the cause that tells most, else what would decide.
fn next(why: &Why<'_>) -> Option<String> {
    // What was measured and does not hold has no advice; another cause of that layer may have.
    let refuted = why.confirmation.is_some_and(|c| c.holds == Some(false));
    let of_causes = || why.causes.iter().filter(|_| !refuted).find_map(|cause| cause.next_step.as_ref());
    let step = why.next_step.or_else(of_causes).map(|step| {
        let most = step
            .predicted_ratio
            .map_or_else(String::new, |ratio| format!(" (predicted at most {} x)", quantity::ratio(ratio)));
        format!("Next step: {}{most}", step.step.text())
    });
    let decide = || {
        let cause = why.causes.first().filter(|_| why.confirmation.is_none())?;
        Some(format!("Next step: {}; narrows why {} --confirm measures it where it can", cause.decided_by, why.run.id))
    };
    step.or_else(decide)
}

/// The bottleneck, and what to do next.
pub(crate) fn answers(why: &Why<'_>) -> Vec<String> {
    let confirmed = why.confirmation.map(confirmed);
    // The last lines are what is left on a small screen: whose bottleneck it is where that was not named.
    let of = why.taken.map(|taken| format!("That is of {taken}."));
    fake(why.run).into_iter().chain([answer(why.limit)]).chain(of).chain(confirmed).chain(next(why)).collect()
}

/// That the target is less than it says, which no fix of a bottleneck helps.
pub(crate) fn fake(run: &Run) -> Option<String> {
    run.fake().map(|fake| fake_sentence(&fake, None))
}

/// The whole attribution.
pub fn why(why: &Why<'_>) -> Presentation {
    let (run, limit) = (why.run, why.limit);
    let mut presentation = Presentation::of("why", &run.target.name);
    presentation.head.when.clone_from(&run.id);
    presentation.head.about =
        std::iter::once(storage_line(run)).chain(why.taken.map(|taken| format!("Of {taken}."))).collect();
    presentation.head.state = headline::state_words(run.state).map(|words| State { words, bad: false });
    presentation.end.answers = answers(why);
    presentation.end.all_of_it = Some(format!("narrows why {} --details", run.id));
    let fake = fake(run).map(|said| Part::Sentence(Tone::Bad, said));
    let mut bottleneck: Vec<Part> = fake.into_iter().chain([Part::Sentence(Tone::Good, answer(limit))]).collect();
    // The bottleneck may be one of the causes, or what holds the row of the card that decides what the target is good for.
    let is_cause = why.causes.iter().any(|cause| cause.is_limit);
    if !is_cause {
        bottleneck.push(evidence(run, &limit.evidence));
        bottleneck.extend(why.next_step.map(advice));
    }
    presentation.push(SectionName::Bottleneck, bottleneck);
    if !is_cause && !why.causes.is_empty() {
        presentation.push(SectionName::Limits, vec![Part::Heading("Other causes considered".to_owned())]);
    }
    for (i, cause) in why.causes.iter().enumerate() {
        let head = format!("{}. {}, {}", i + 1, json_name(&cause.layer), confidence_word(cause.confidence));
        let mut parts = vec![Part::Heading(head), Part::Sentence(Tone::Plain, cause.statement.clone())];
        parts.extend([evidence(run, &cause.evidence), Part::Named("Decided by", cause.decided_by.clone())]);
        parts.extend(cause.next_step.as_ref().map(advice));
        presentation.push(SectionName::Limits, parts);
    }
    presentation.push(SectionName::Events, why.confirmation.map_or_else(Vec::new, |c| confirmation(run, c)));
    presentation.push(SectionName::Findings, findings(why.findings));
    presentation.push(SectionName::Others, undecided(run, why.unknown));
    presentation
}

fn evidence(run: &Run, evidence: &[Evidence]) -> Part {
    Part::List(evidence.iter().map(|e| RenderedEvidence::of(run, e).line()).collect())
}

fn advice(step: &NextStep) -> Part {
    let most = step.predicted_ratio.map_or_else(String::new, |ratio| format!(": at most {ratio} times"));
    Part::Named("Try", format!("{}{most} ({})", step.step.text(), step.basis))
}

/// What the measurement that decides says, in a sentence.
fn confirmed(confirmation: &Confirmation) -> String {
    let word = match confirmation.holds {
        Some(true) => "the deciding measurement agrees",
        Some(false) => "the deciding measurement disagrees",
        None => "the deciding measurement does not separate it from other causes",
    };
    format!("Confirmed? {word}: {}", confirmation.statement)
}

fn confirmation(run: &Run, confirmation: &Confirmation) -> Vec<Part> {
    let tone = match confirmation.holds {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Doubt,
    };
    let now = format!("{}, {}", json_name(&confirmation.layer), confidence_word(confirmation.confidence));
    vec![
        Part::Sentence(tone, confirmed(confirmation)),
        evidence(run, &confirmation.evidence),
        Part::Named("Now", now),
        Part::Named("Run", confirmation.run_id.clone()),
    ]
}

/// Each with what it rests on and what to do.
pub(crate) fn findings(findings: &[Finding]) -> Vec<Part> {
    let all = findings.iter().flat_map(|f| {
        let text = format!("{} ({}, {}): {}", f.id, json_name(&f.layer), confidence_word(f.confidence), f.title);
        let evidence = f.evidence.iter().map(|e| RenderedEvidence::of_fact(e).line());
        let fix = unbroken(&f.fix).into_iter().next().map(|fix| Part::Named("Do", fix));
        [Part::Sentence(Tone::Plain, text), Part::List(evidence.collect())].into_iter().chain(fix)
    });
    under("Findings (narrows explain ID)", all.collect())
}

fn undecided(run: &Run, unknown: &[Undecided]) -> Vec<Part> {
    let listed = unknown.iter().take(UNDECIDED_LINES);
    // A number that is there and was refused is not lacking.
    let refused = |u: &Undecided| {
        let metric = run.metric(&u.missing).filter(|m| m.status == MetricStatus::Refused);
        let why = metric.and_then(|m| m.reasons.first()).map(|r| r.code().map_or_else(|| r.text(), str::to_owned));
        metric.map(|_| format!("{}: {} was refused ({})", u.id, fact::name(&u.missing), why.unwrap_or_default()))
    };
    let listed = listed
        .map(|u| refused(u).unwrap_or_else(|| format!("{}: lacks {}: {}", u.id, fact::name(&u.missing), u.how_to_get)));
    let more = unknown.len().checked_sub(UNDECIDED_LINES).filter(|n| *n > 0);
    let more = more.map(|more| format!("and {more} more (--json lists all)"));
    let listed: Vec<String> = listed.chain(more).collect();
    under("Neither named nor ruled out", (!listed.is_empty()).then_some(Part::List(listed)).into_iter().collect())
}
