//! How a run stands to one need of a use: the number that decides, with its interval, against the limit.

use crate::bounded::{self, Bounded, bounded_value};
use crate::rating::{lowest_sustained_write, sequential_to};
use model::{Better, Fit, Metric, Need, PhaseRun, Reason, Run, Unit, UseText, Work};

/// The quantity that no metric has: what the slowest second takes.
const SUSTAINED: &str = "sustained_bytes_per_s";

pub(crate) fn of_need(run: &Run, of: &UseText, need: &Need) -> Fit {
    let work = Work::ALL.iter().copied().find(|w| w.name() == need.phase);
    let phase = work.and_then(|w| run.phase_of_work(w));
    let sustained = need.quantity == SUSTAINED;
    let (metric, unit, found) = if sustained {
        let name = phase.map_or(need.phase.as_str(), |p| p.plan.name.as_str());
        let rate = sequential_to(&run.phases, &lowest_sustained_write(&run.phases), need.threshold());
        (format!("{name}.{SUSTAINED}"), Unit::BytesPerS, rate)
    } else {
        let metric = work.and_then(|w| run.metric_of_work(w, &need.quantity));
        let id = metric.map_or_else(|| format!("{}.{}", need.phase, need.quantity), |m| m.id.clone());
        (id, metric.map_or(unit_of(&need.quantity), |m| m.unit), value_of(metric, phase, need))
    };
    let threshold = need.threshold();
    let lower = found.is_err().then(|| work.and_then(|w| too_slow_already(run, w, phase, need)));
    let (metric, quantity, found) = match lower.flatten() {
        Some((id, what, value)) => (id, what, Ok(value)),
        None => (metric, need.what.clone(), found),
    };
    let value = found.as_ref().ok().map(|b| b.value);
    let streams = sustained && of.id.starts_with("record=");
    let recorded = phase.and_then(|p| p.record.as_ref()).filter(|_| streams && value.is_some());
    let ring_bytes = recorded.map(|r| ring(r, threshold));
    answered(Fit { unit, metric, quantity, ring_bytes, ..stands_to(of, need, value) }, found)
}

/// The answer that a number gives, or why there is none.
pub(crate) fn answered(fit: Fit, found: Result<Bounded, Reason>) -> Fit {
    let (met, bound, reasons) = match found {
        Err(why) => (None, None, vec![why]),
        Ok(Bounded { low, high, bound, .. }) => {
            let good = |v: f64| if fit.better == Better::Higher { v >= fit.threshold } else { v <= fit.threshold };
            match (good(low), good(high)) {
                (true, true) => (Some(true), bound, Vec::new()),
                (false, false) => (Some(false), None, Vec::new()),
                _ => (None, None, vec![Reason::of("too-near", "the interval of the value holds the limit")]),
            }
        }
    };
    Fit { met, bound, reasons, ..fit }
}

/// How a value stands to a need, before it is said whether that meets it.
pub(crate) fn stands_to(of: &UseText, need: &Need, value: Option<f64>) -> Fit {
    let (better, threshold) = (need.better(), need.threshold());
    Fit {
        what: of.id.clone(),
        title: of.title.clone(),
        met: None,
        threshold,
        value,
        bound: None,
        unit: unit_of(&need.quantity),
        better,
        metric: format!("{}.{}", need.phase, need.quantity),
        quantity: need.what.clone(),
        by: need.by.clone(),
        margin_ratio: value.map(|v| if better == Better::Higher { v / threshold } else { threshold / v }),
        ring_bytes: None,
        source: of.sources.join("; "),
        reasons: Vec::new(),
        needs: Vec::new(),
    }
}

fn unit_of(quantity: &str) -> Unit {
    match quantity {
        "iops" => Unit::OpsPerS,
        q if q.contains("latency_ns") => Unit::Ns,
        _ => Unit::BytesPerS,
    }
}

/// A value that decides, with its interval; else why there is none. A bound that is on the wrong side of the limit says nothing.
fn value_of(metric: Option<&Metric>, phase: Option<&PhaseRun>, need: &Need) -> Result<Bounded, Reason> {
    let Some((metric, phase)) = metric.zip(phase) else {
        return Err(Reason::of("missing", format!("{} is not part of this run", Work::words_of(&need.phase))));
    };
    let none =
        |why: Reason| Reason::of("missing", format!("{} has no valid number ({why})", Work::words_of(&need.phase)));
    let found = bounded_value(phase, metric).map_err(none)?;
    let found = found.ok_or_else(|| {
        Reason::of("missing", format!("{} is too short for {}", Work::words_of(&need.phase), need.what))
    })?;
    let decides = |value: f64| {
        let threshold = need.threshold();
        if need.better() == Better::Higher { value >= threshold } else { value <= threshold }
    };
    match found.bound {
        Some(_) if !decides(found.value) => Err(none(bounded::missing_reason(metric))),
        _ => Ok(found),
    }
}

/// A lower percentile that is above the limit with all of its interval, where the one that is asked for has no number (a slow
/// device does too few operations for it): then that would be, too. Its metric, its name, and its value.
fn too_slow_already(run: &Run, work: Work, phase: Option<&PhaseRun>, need: &Need) -> Option<(String, String, Bounded)> {
    const FALLING: [&str; 4] = ["p999", "p99", "p90", "p50"];
    let most = need.most?;
    let (job, asked) = need.quantity.split_once("latency_ns_")?;
    let lower = FALLING.iter().skip_while(|p| **p != asked).skip(1);
    lower.into_iter().find_map(|p| {
        let metric = run.metric_of_work(work, &format!("{job}latency_ns_{p}"))?;
        let value = value_of(Some(metric), phase, need).ok().filter(|v| v.low > most)?;
        Some((metric.id.clone(), need.what.replacen(asked, p, 1), value))
    })
}

/// Memory that holds what comes at `rate` while the device takes less: the longest backlog of the series.
fn ring(record: &model::PhaseRecord, rate: f64) -> u64 {
    let (mut backlog, mut most) = (0.0f64, 0.0f64);
    for interval in record.counted_intervals() {
        backlog = (backlog + rate * interval.length_ns as f64 / 1e9 - interval.bytes as f64).max(0.0);
        most = most.max(backlog);
    }
    most as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_holds_the_longest_backlog() {
        let interval = |i: u64, bytes: u64| model::Interval {
            start_ns: i * 1_000_000_000,
            length_ns: 1_000_000_000,
            operations: 1,
            bytes,
            ..model::Interval::default()
        };
        let series = [20, 0, 0, 5, 30, 8, 0].iter().zip(0..).map(|(mb, i)| interval(i, mb * 1_000_000));
        let record = model::PhaseRecord { intervals: series.collect(), ..model::PhaseRecord::default() };
        // 10 MB/s: 10, 20, 25 behind, then caught up to 5, then 7, then 17.
        assert_eq!(ring(&record, 10e6), 25_000_000);
        assert_eq!(ring(&record, 1e6), 2_000_000);
    }
}
