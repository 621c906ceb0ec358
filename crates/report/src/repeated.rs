//! Runs of one plan, made again and again: what they say together.

use crate::compare::{name_words, quantity_words};
use crate::presentation::{Cell, Head, Part, Presentation, Row, SectionName, Table};
use crate::quantity;
use model::{Metric, MetricStatus, Unit};
use std::collections::BTreeMap;

/// Runs that were repeated.
#[derive(Clone, Copy, Debug)]
pub struct Repeated<'a> {
    /// Their tag.
    pub tag: &'a str,
    /// How many there are.
    pub runs: usize,
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
    let head = Head { subject: format!("{}: {} runs", view.tag, view.runs), ..Head::default() };
    let mut presentation = Presentation { head, ..Presentation::default() };
    presentation.push(SectionName::Numbers, vec![Part::Table(table)]);
    presentation
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
        let view = Repeated { tag: "before", runs: 9, metrics: &[iops, none] };
        let text = repeated(&view).text(&Style { ascii: true, colour: false, width: 80 });
        assert!(text.starts_with("before: 9 runs\n"), "{text}");
        assert!(text.contains("P read IOPS") && text.contains("900 IOPS to 1 100 IOPS"), "{text}");
        assert!(text.contains("\n  p IOPS: others had the CPU") && text.lines().all(|l| l.len() <= 80), "{text}");
    }
}
