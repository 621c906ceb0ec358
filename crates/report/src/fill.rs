//! A target that was written once from its start to its end.

use crate::presentation::{Cell, Row, Table, Tone};
use crate::quantity;
use model::{Bound, CapacityKind, Filled, Metric, MetricStatus, Reason, Run, VerifyRecord};

/// A rate after the rest is the first one again where it reaches so much of it.
const BACK: f64 = 0.9;

/// Where the rate falls, how much was written at the first rate, and whether that came back; and whether the data came back.
pub(crate) fn answer(run: &Run, filled: Option<&Filled>, rested: Option<&Filled>, rest_ns: u64) -> (Tone, String) {
    let rates = filled.map_or_else(|| "No rate is valid.".to_owned(), |filled| rates(filled, rested, rest_ns));
    let refused = refused(run);
    let rates = match bound(run).filter(|_| filled.is_some()) {
        Some((Bound::AtLeast, why)) => format!("{rates} Those are lower bounds: {why}."),
        Some((Bound::AtMost, why)) => format!("{rates} Those are upper bounds: {why}."),
        None => rates,
    };
    let is_known = filled.is_some() && refused.is_none();
    let rates = match refused {
        Some(why) if filled.is_some() => {
            format!("Not known what it takes, because {why}. Here it was {rates}")
        }
        Some(_) | None => rates,
    };
    // Of all of it; what was written after the rest lies over its start.
    match run.phases.iter().find_map(|p| p.record.as_ref()?.verify.as_ref()) {
        Some(verify) => {
            let (tone, back) = came_back(verify);
            (
                tone,
                if tone == Tone::Bad {
                    format!("{back} Of writes that were not all kept: {rates}")
                } else {
                    format!("{rates} {back}")
                },
            )
        }
        None => (if is_known { Tone::Good } else { Tone::Doubt }, rates),
    }
}

/// The rate of what was filled, where it is refused.
fn refused_rate(run: &Run) -> Option<&Metric> {
    let first = run.phases.iter().find(|p| p.plan.measures_target())?;
    let rate = first.metrics.iter().find(|m| m.id.ends_with(".throughput_bytes_per_s"))?;
    (rate.status == MetricStatus::Refused).then_some(rate)
}

/// Why the rate of what was filled is refused, if it is and is no bound.
fn refused(run: &Run) -> Option<String> {
    refused_rate(run).filter(|rate| rate.bounded().is_none())?.reasons.first().map(Reason::text)
}

/// On which side of what it takes the rate of what was filled lies, and why.
fn bound(run: &Run) -> Option<(Bound, String)> {
    let rate = refused_rate(run)?;
    Some((rate.bounded()?.0, rate.reasons.first()?.text()))
}

/// Whether what was asked for, the rate, has a number that counts.
pub(crate) fn is_known(run: &Run) -> bool {
    refused(run).is_none()
}

/// Whether all was written, and only what follows has no valid number, which its row says.
pub(crate) fn is_done(run: &Run) -> bool {
    let mut phases = run.phases.iter().filter(|p| p.plan.measures_target());
    run.command == "fill" && phases.next().is_some_and(|first| first.validity() == model::RunValidity::Valid)
}

fn rates(filled: &Filled, rested: Option<&Filled>, rest_ns: u64) -> String {
    let all = quantity::size(filled.bytes);
    let Some(cliff) = filled.cliff else {
        return format!("{all} written at one rate, {}.", quantity::rate(filled.bytes_per_s));
    };
    let mut text = format!(
        "{} for the first {}, then {} to the end of {all}",
        quantity::rate(cliff.before_bytes_per_s),
        quantity::size(cliff.bytes),
        quantity::rate(cliff.after_bytes_per_s)
    );
    if let Some(rested) = rested {
        let rest = quantity::duration(rest_ns);
        let first = rested.cliff.map_or(rested.bytes_per_s, |c| c.before_bytes_per_s);
        let for_bytes = rested.cliff.map_or_else(String::new, |c| format!(" for {}", quantity::size(c.bytes)));
        let again = if first >= BACK * cliff.before_bytes_per_s { "again " } else { "" };
        text.push_str(&format!("; after {rest} of rest {again}{}{for_bytes}", quantity::rate(first)));
    }
    text + "."
}

/// Whether what was written came back, and how large the device really is.
fn came_back(verify: &VerifyRecord) -> (Tone, String) {
    let read = quantity::size(verify.bytes_verified);
    if verify.mismatched() == 0 && verify.findings.is_empty() {
        return (Tone::Good, format!("{read} read back: nothing is wrong."));
    }
    let text = match CapacityKind::found(&verify.findings) {
        Some((_, real)) => format!("FAKE: at most {} are there.", quantity::size(real)),
        None => {
            format!("DATA ARE WRONG at {} of {read}.", quantity::counted(verify.mismatched(), "place"))
        }
    };
    (Tone::Bad, text)
}

/// The rate by how much was written.
pub(crate) fn table(filled: &Filled) -> Table {
    let most = filled.parts.iter().map(|p| p.bytes_per_s).fold(0.0, f64::max);
    let row = |part: &model::FilledPart| {
        let [rate, least] = [part.bytes_per_s, part.least_bytes_per_s].map(|rate| Cell::Text(quantity::rate(rate)));
        let bar = Cell::Bar { share: part.bytes_per_s / most, knee: false };
        Row::new(format!("to {}", quantity::size(part.end_bytes)), vec![rate, least, bar])
    };
    Table {
        caption: "Rate by how much was written".to_owned(),
        corner: "written",
        head: ["rate", "slowest second", ""].map(str::to_owned).into(),
        rows: filled.parts.iter().filter(|_| most > 0.0).map(row).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Metric, Unit};

    #[test]
    fn a_rate_that_is_refused_is_no_answer() {
        let of = |bound| {
            let stream = model::StreamPlan::default();
            let plan = test_runs::plan("fill", model::Access::Direct, vec![stream]);
            let rate = Metric {
                status: MetricStatus::Refused,
                value: None,
                rejected_value: Some(868e6),
                bound,
                reasons: vec![Reason::of("no-proof", "it may be memory's rate")],
                ..Metric::measured("fill.throughput_bytes_per_s", Unit::BytesPerS, None, 868e6, 1)
            };
            let mut run = test_runs::run(vec![test_runs::measured(plan, model::PhaseRecord::default(), vec![rate])]);
            "fill".clone_into(&mut run.command);
            run
        };
        let filled = Filled { bytes: 1 << 30, bytes_per_s: 868e6, cliff: None, parts: Vec::new() };
        let (tone, said) = answer(&of(None), Some(&filled), None, 0);
        assert!(said.starts_with("Not known what it takes, because it may be memory's rate. Here it was"), "{said}");
        assert_eq!((tone, is_known(&of(None))), (Tone::Doubt, false));
        for (bound, side) in [(Bound::AtLeast, "lower"), (Bound::AtMost, "upper")] {
            let (tone, said) = answer(&of(Some(bound)), Some(&filled), None, 0);
            assert!(said.ends_with(&format!(" Those are {side} bounds: it may be memory's rate.")), "{said}");
            assert_eq!((tone, is_known(&of(Some(bound)))), (Tone::Good, true));
        }
    }
}
