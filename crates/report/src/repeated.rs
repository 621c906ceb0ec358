//! Runs of one plan, made again and again: what they say together.

use crate::compare::{name_words, quantity_words};
use crate::lines::Lines;
use crate::quantity;
use crate::style::{Paint, Style};
use crate::text::{pad, shorten, width};
use model::{Metric, MetricStatus, Unit};
use std::collections::BTreeMap;

const NAME: usize = 36;
const VALUE: usize = 14;

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
pub fn repeated_text(view: &Repeated<'_>, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.painted(Paint::Title, &format!("{}: {} runs", view.tag, view.runs));
    out.painted(Paint::Dim, &format!("{} {:>VALUE$}  95 % interval over the runs", pad("", NAME), "median"));
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for metric in view.metrics.iter().filter(|m| m.unit != Unit::Percent && m.status != MetricStatus::Skipped) {
        let (of, what) = quantity_words(&metric.id);
        let name = out.plain(&format!("{} {what}", name_words(&of)));
        let show = |v: f64| quantity::quantity(v, metric.unit);
        let value = metric.value.map_or_else(|| "-".to_owned(), show);
        let interval = match metric.low.zip(metric.high) {
            Some((low, high)) => format!("{} to {}", show(low), show(high)),
            None => String::new(),
        };
        if let Some(reason) = metric.reasons.first().filter(|_| metric.value.is_none()) {
            missing.entry(out.plain(&reason.text())).or_default().push(name.trim().to_owned());
        }
        let name = pad(&shorten(name.trim(), NAME, style.ascii), NAME);
        let fill = " ".repeat(VALUE.saturating_sub(width(&value)));
        out.line(&format!("{name} {fill}{value}  {interval}"));
    }
    for (reason, names) in &missing {
        let whom = match names.as_slice() {
            [first, _, _, ..] => format!("{first} and {} others", names.len() - 1),
            few => few.join(", "),
        };
        out.wrapped("* ", &format!("{whom}: {reason}"), None);
    }
    out.out
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let text = repeated_text(&view, &Style { ascii: true, colour: false, width: 80 });
        assert!(text.starts_with("before: 9 runs\n"), "{text}");
        assert!(text.contains("P read IOPS") && text.contains("900 IOPS to 1 100 IOPS"), "{text}");
        assert!(text.contains("\n* p IOPS: others had the CPU") && text.lines().all(|l| l.len() <= 80), "{text}");
    }
}
