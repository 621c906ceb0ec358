//! What all forms of a comparison share: rows in groups, the words of a change, and the notes below.

use crate::quantity;
use model::{Basis, Compared, Comparison};

/// One metric, with how it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Row<'a> {
    pub metric: &'a Compared,
    /// `throughput`, `latency p99`.
    pub words: String,
    pub a: String,
    pub b: String,
    /// `+28.1 %`, `x 3.1`.
    pub change: String,
}

impl<'a> Row<'a> {
    pub fn of(metric: &'a Compared) -> Self {
        let value = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, metric.unit));
        Self {
            metric,
            words: quantity_words(&metric.id).1,
            a: value(metric.a),
            b: value(metric.b),
            change: metric.ratio.map_or_else(|| "-".to_owned(), change),
        }
    }
}

/// Rows below a common name: those of a phase.
pub(crate) struct Group<'a> {
    pub name: String,
    pub rows: Vec<Row<'a>>,
}

/// The metrics of one family (primary or not) in groups; neighbours with the same beginning stand together.
pub(crate) fn groups<'a>(metrics: impl Iterator<Item = &'a Compared>) -> Vec<Group<'a>> {
    let mut out: Vec<Group<'a>> = Vec::new();
    for metric in metrics {
        let name = quantity_words(&metric.id).0;
        match out.last_mut().filter(|g| g.name == name) {
            Some(group) => group.rows.push(Row::of(metric)),
            None => out.push(Group { name, rows: vec![Row::of(metric)] }),
        }
    }
    out
}

/// `mix.read.latency_ns_p99` as what it is of and what it is: (`mix.read`, `latency p99`).
pub(crate) fn quantity_words(id: &str) -> (String, String) {
    let (of, quantity) = id.rsplit_once('.').unwrap_or(("", id));
    let mut words = quantity.to_owned();
    for (unit, word) in [("_bytes_per_s", ""), ("_ops_per_s", ""), ("_percent", ""), ("_ns_", " "), ("_ns", "")] {
        match (words.strip_suffix(unit), unit.ends_with('_')) {
            (Some(start), false) => {
                words = format!("{start}{word}");
                break;
            }
            (_, true) if words.contains(unit) => {
                words = words.replacen(unit, word, 1);
                break;
            }
            _ => {}
        }
    }
    let words = if words == "ops_per_s" { "rate".to_owned() } else { words.replace('_', " ") };
    (of.to_owned(), if words == "iops" { "IOPS".to_owned() } else { words })
}

/// A ratio as a change: `+28.1 %`, from a factor of two on `x 2.31`.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if ratio >= 2.0 {
        format!("x {}", quantity::significant(ratio, 3))
    } else if percent.abs() < 0.05 {
        "0.0 %".to_owned()
    } else {
        format!("{percent:+.1} %")
    }
}

/// What has to be said below the table, each sentence once with the metrics that it concerns.
pub(crate) fn notes(comparison: &Comparison) -> Vec<(String, Vec<&str>)> {
    let mut out: Vec<(String, Vec<&str>)> = Vec::new();
    for metric in &comparison.metrics {
        for reason in &metric.reasons {
            if comparison.reasons.contains(reason) || tells_nothing_new(metric, reason) {
                continue;
            }
            match out.iter_mut().find(|(r, _)| r == reason) {
                Some((_, ids)) => ids.push(&metric.id),
                None => out.push((reason.clone(), vec![&metric.id])),
            }
        }
    }
    out
}

/// Exploratory metrics are told apart by their heading; that they have no value or no answer needs no sentence each.
fn tells_nothing_new(metric: &Compared, reason: &str) -> bool {
    let usual =
        ["undecided: ", "too-few-pairs: ", "too-few-operations: ", "no-values: ", "too-much-missing: ", "zero: "];
    let left_out = usual.iter().any(|code| reason.contains(code));
    reason.starts_with("exploratory: ") || (!metric.primary && metric.basis == Basis::Paired && left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_words() {
        for (id, of, words) in [
            ("seq-read.throughput_bytes_per_s", "seq-read", "throughput"),
            ("rand-read-qd32.latency_ns_p99", "rand-read-qd32", "latency p99"),
            ("mix.read.iops", "mix.read", "IOPS"),
            ("seq-create.ops_per_s", "seq-create", "rate"),
            ("putc.cpu_percent", "putc", "cpu"),
            ("putc.latency_ns_max", "putc", "latency max"),
            ("install", "", "install"),
        ] {
            assert_eq!(quantity_words(id), (of.to_owned(), words.to_owned()), "{id}");
        }
    }

    #[test]
    fn changes_are_percent_until_they_are_factors() {
        assert_eq!(change(1.281), "+28.1 %");
        assert_eq!(change(0.5), "-50.0 %");
        assert_eq!(change(1.0001), "0.0 %");
        assert_eq!(change(3.25), "x 3.25");
    }
}
