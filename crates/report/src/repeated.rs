//! Runs of one plan, made again and again: what they say together.

use crate::compare::{name_words, quantity_words};
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::quantity;
use model::{Metric, MetricKey, MetricStatus, Unit};
use std::collections::BTreeMap;

/// Phases that the answer names; the rest are counted.
const MOST_SAID: usize = 9;

/// Runs that were repeated.
#[derive(Clone, Copy, Debug)]
pub struct Repeated<'a> {
    /// Their tag.
    pub tag: &'a str,
    /// How many there are.
    pub runs: usize,
    /// What they were made on.
    pub target: &'a str,
    /// `judge::repeated`.
    pub metrics: &'a [Metric],
}

/// A row each metric: median and interval; below why some have none. What was skipped and shares of a processor are left to `--json`.
pub fn repeated(view: &Repeated<'_>) -> Presentation {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut rows = Vec::new();
    for metric in view.metrics.iter().filter(|m| m.unit != Unit::Percent && m.status != MetricStatus::Skipped) {
        let (of, what) = quantity_words(&metric.id);
        let name = format!("{} {what}", name_words(&of)).trim().to_owned();
        let show = |v: f64| quantity::quantity(v, metric.unit);
        let value = metric.value.map_or_else(|| "-".to_owned(), show);
        let interval = match metric.low.zip(metric.high) {
            Some((low, high)) => format!("{} to {}", show(low), show(high)),
            None => String::new(),
        };
        if let Some(reason) = metric.reasons.first().filter(|_| metric.value.is_none()) {
            missing.entry(reason.text()).or_default().push(name.clone());
        }
        rows.push(Row::new(name, vec![Cell::Text(value), Cell::Text(interval)]));
    }
    let reasons = missing.iter().map(|(reason, names)| match names.as_slice() {
        [first, _, _, ..] => format!("{first} and {} others: {reason}", names.len() - 1),
        few => format!("{}: {reason}", few.join(", ")),
    });
    let head = ["median", "95 % interval over the runs"].map(str::to_owned).into();
    let table = Table { corner: "metric", head, rows, footer: reasons.collect(), ..Table::default() };
    let mut presentation = Presentation::of("", format!("{}: {} runs", view.tag, view.runs))
        .all_of_it(format!("--json, and narrows runs list --tag {}", view.tag));
    presentation.end.answers = answers(view);
    let said = presentation.end.answers.iter().cloned().map(|text| Part::Sentence(Tone::Plain, text)).collect();
    presentation.push(SectionName::Numbers, vec![Part::Table(table)]);
    presentation.push(SectionName::Answer, said);
    presentation
}

/// What the runs gave, a rate of each phase, and what to compare them with.
fn answers(view: &Repeated<'_>) -> Vec<String> {
    let mut phases: Vec<&str> = Vec::new();
    let is_rate = |m: &&Metric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS | Unit::S);
    let rates = view.metrics.iter().filter(is_rate).filter_map(|m| Some((m, m.value?)));
    let firsts: Vec<String> = rates
        .filter(|(m, _)| {
            let of = MetricKey::of(&m.id).of;
            // A direction of a phase is in the sum of the phase.
            let is_new = !phases.iter().any(|known| of == *known || of.starts_with(&format!("{known}.")));
            if is_new {
                phases.push(of);
            }
            is_new
        })
        .map(|(m, value)| {
            let show = |v: f64| quantity::quantity(v, m.unit);
            let range =
                m.low.zip(m.high).map_or_else(String::new, |(low, high)| format!(" ({} to {})", show(low), show(high)));
            format!("{} {}{range}", name_words(MetricKey::of(&m.id).of), show(value))
        })
        .collect();
    let more = firsts.len().saturating_sub(MOST_SAID);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let said = firsts[..firsts.len().min(MOST_SAID)].join(", ");
    let said = if said.is_empty() { "no number is valid".to_owned() } else { format!("{said}{more}") };
    let slowed = view.metrics.iter().flat_map(|m| &m.reasons).find(|r| r.is("slowed"));
    let slowed = slowed.map_or_else(String::new, |why| format!(" Of them {}.", why.text()));
    vec![
        format!("{} runs on {}, medians: {said}.{slowed}", view.runs, view.target),
        format!("They have the tag {0}: narrows compare {0} OTHER", view.tag),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;
    use model::{Better, IntervalKind};

    #[test]
    fn each_metric_has_its_median_and_interval() {
        let mut iops = Metric::measured("p.read.iops", Unit::OpsPerS, Some(Better::Higher), 1000.0, 9);
        (iops.low, iops.high, iops.interval) = (Some(900.0), Some(1100.0), Some(IntervalKind::AcrossRuns));
        let none = Metric::absent(
            "p.iops",
            Unit::OpsPerS,
            None,
            MetricStatus::Refused,
            model::Reason::of("steal", "others had the CPU"),
        );
        let view = Repeated { tag: "before", runs: 9, target: "sim:nvme", metrics: &[iops, none] };
        let text = repeated(&view).text(&Style { ascii: true, colour: false, width: 80 });
        assert!(text.starts_with("before: 9 runs\n"), "{text}");
        let last = "9 runs on sim:nvme, medians: P read 1 000 IOPS (900 IOPS to 1 100 IOPS).\n  They have the tag before: narrows compare before OTHER\n";
        assert!(text.ends_with(last), "{text}");
        assert!(text.contains("P read IOPS") && text.contains("900 IOPS to 1 100 IOPS"), "{text}");
        assert!(text.contains("\n  p IOPS: others had the CPU") && text.lines().all(|l| l.len() <= 80), "{text}");
    }
}
