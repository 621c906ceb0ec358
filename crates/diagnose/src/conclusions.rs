//! What is concluded from a run, whoever made it and whenever.

use crate::causes::{Cause as Ranked, causes};
use crate::inventory::findings;
use crate::limit::{advice, head_of, is_remainder, nothing_named};
use crate::rows::limits_of;
use model::{
    Answer, Cause, Conclusions, Confidence, Evidence, Filled, Fit, Judged, Limit, LimitLayer, MetricKey, RowLimit, Run,
};

/// All that is concluded of a run, beside what the judge says of it. The causes are ranked once.
pub fn conclusions(run: &Run, judged: Judged) -> Conclusions {
    let ranked = causes(run);
    let (findings, limits) = (findings(run), limits_of(run, &ranked));
    let (fit, asked_for, head) = (&judged.fit, judged.asked_for.as_deref(), head_of(&ranked));
    let own = head.map_or_else(|| nothing_named(run), Limit::from);
    let deciding = deciding_row(fit, asked_for, &limits).filter(|_| !holds_all(&own));
    // What is only left over says less than what a row knows.
    let furthest = furthest_row(&limits).filter(|_| deciding.is_none() && head.is_some_and(is_remainder));
    let deciding = deciding.or(furthest);
    let limit = deciding.map_or(own, Limit::from);
    // Of a use, only the phases that decide it are measured: what limits them is all that is asked.
    let asked_row = asked_for.and_then(|name| row_of(fit.iter().find(|f| f.is_one_of(name))?, &limits));
    let deciding = deciding.or(asked_row.filter(|_| limit.layer == LimitLayer::Unknown));
    let limit = deciding.map_or_else(|| of_the_asked(limit, fit, asked_for), Limit::from);
    let own_step = match deciding {
        Some(row) => row.next_step.as_ref(),
        None => head.and_then(|cause| cause.next_step.as_ref()),
    };
    let next_step = own_step.cloned().or_else(|| advice(run, limit.layer, &findings));
    let ended = ended_cache(judged.answer.as_ref()).filter(|_| !holds_all(&limit));
    let next_step = next_step.filter(|_| ended.is_none());
    let limit = ended.unwrap_or(limit);
    let mut causes: Vec<Cause> = furthest.map(of_row).into_iter().chain(ranked.into_iter().map(Ranked::into)).collect();
    causes.iter_mut().for_each(|c| c.is_limit = c.statement == limit.statement);
    Conclusions { limit, causes, findings, limits, next_step, judged }
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
    let next_step = row.next_step.clone();
    Cause { layer, statement, confidence, evidence, decided_by, next_step, is_limit: true }
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::NextStep;

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
