//! What is concluded from a run, whoever made it and whenever.

use crate::causes::{Cause as Ranked, causes};
use crate::inventory::findings;
use crate::limit::{Headline, Question, headline};
use crate::rows::limits_of;
use model::{
    Answer, Cause, Conclusions, Confidence, Evidence, Filled, Fit, Judged, Limit, LimitLayer, MetricKey, Run, Step,
    Work,
};

/// All that is concluded of a run, beside what the judge says of it. The causes are ranked once.
pub fn conclusions(run: &Run, judged: Judged) -> Conclusions {
    of_causes(run, judged, causes(run))
}

/// The same where one of its causes was measured and does not hold.
pub fn conclusions_without(run: &Run, judged: Judged, refuted: &Ranked) -> Conclusions {
    let left = causes(run).into_iter().filter(|cause| cause.statement != refuted.statement).collect();
    let concluded = of_causes(run, judged, left);
    let same = rests_on_the_same(&concluded.limit, &refuted.clone().into());
    let unknown = concluded.limit.confidence < Confidence::Probable || same || is_left_over(&concluded);
    if !unknown {
        return concluded;
    }
    let limit = Limit {
        layer: LimitLayer::Unknown,
        statement: "not known: what was most likely was measured and does not hold".to_owned(),
        confidence: Confidence::Low,
        evidence: Vec::new(),
    };
    let causes = concluded.causes.into_iter().map(|cause| Cause { is_limit: false, ..cause }).collect();
    Conclusions { limit, causes, next_step: None, ..concluded }
}

/// Whether it is only what no cause was found for.
fn is_left_over(concluded: &Conclusions) -> bool {
    concluded.causes.iter().all(|cause| !cause.is_limit)
}

fn of_causes(run: &Run, judged: Judged, ranked: Vec<Ranked>) -> Conclusions {
    let findings = findings(run);
    let limits = limits_of(run, &ranked);
    let fit = &judged.fit;
    let asked_for = judged.asked_for.as_deref();
    let asked = asked_for.and_then(|name| fit.iter().find(|f| f.is_one_of(name)));
    let phase_of = |f: &'_ Fit| MetricKey::of(&f.metric).phase().to_owned();
    let missed = missed_use(fit, asked_for).map(phase_of);
    let asked_phase = asked.map(phase_of);
    let question = Question {
        answered: ended_cache(judged.answer.as_ref()),
        missed: missed.as_deref(),
        asked: asked_phase.as_deref(),
    };
    let Headline { limit, next_step } = headline(run, &ranked, &limits, &question, &findings);
    // Whatever its bottleneck is, nobody should make a fake faster.
    let next_step = if run.fake().is_some() { Some(Step::SendFakeBack.into()) } else { next_step };
    let limit = of_the_asked(limit, asked);
    let mut causes: Vec<Cause> = ranked.into_iter().map(Ranked::into).collect();
    let said = |c: &Cause| c.statement == limit.statement;
    let place = causes.iter().position(said).or_else(|| causes.iter().position(|c| rests_on_the_same(&limit, c)));
    place.into_iter().for_each(|place| causes[place].is_limit = true);
    Conclusions { limit, causes, findings, limits, next_step, judged }
}

/// Whether a cause is what a row of the card is limited by in other words: of one layer, and with all that the row rests on.
fn rests_on_the_same(limit: &Limit, cause: &Cause) -> bool {
    let has = |e: &Evidence| cause.evidence.iter().any(|own| own.source == e.source);
    cause.layer == limit.layer && !limit.evidence.is_empty() && limit.evidence.iter().all(has)
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

/// A use that is missed by this much: whatever else limits, this is what has to be fixed first.
const FAR_SHORT: f64 = 0.25;

/// The use that is missed the most: of those that were asked about, or far short of one that everybody has.
fn missed_use<'a>(fit: &'a [Fit], asked_for: Option<&str>) -> Option<&'a Fit> {
    let asked = |f: &&Fit| asked_for.is_none_or(|names| f.is_one_of(names));
    let short =
        |f: &&Fit| f.met == Some(false) && (asked_for.is_some() || f.margin_ratio.is_some_and(|m| m < FAR_SHORT));
    let margin = |f: &Fit| f.margin_ratio.unwrap_or(1.0);
    fit.iter().filter(asked).filter(short).min_by(|a, b| margin(a).total_cmp(&margin(b)))
}

/// Where nothing limits for want of numbers, those that were asked for are what is missing, and not those of a whole check.
fn of_the_asked(limit: Limit, asked: Option<&Fit>) -> Limit {
    match asked.filter(|f| limit.layer == LimitLayer::Unknown && f.value.is_none()) {
        Some(fit) => Limit {
            statement: format!(
                "not known: no number of {} is valid",
                Work::words_of(MetricKey::of(&fit.metric).phase())
            ),
            evidence: vec![Evidence::absence(fit.quantity.clone(), fit.metric.clone())],
            ..limit
        },
        None => limit,
    }
}
