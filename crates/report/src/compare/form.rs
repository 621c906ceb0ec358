//! What all forms of a comparison share: rows in groups, the words of a change, and the notes below.

use crate::differences;
use crate::grouped::grouped;
use crate::quantity;
use model::{Basis, CompactSort as _, Compared, Comparison, EnvironmentDifference, MetricKey, Reason, Verdict};

/// Metrics below a common name, that of a phase: each with what it is, `throughput`, `latency p99`.
pub(crate) struct Group<'a> {
    pub name: String,
    pub rows: Vec<(String, &'a Compared)>,
}

/// The metrics of one family (primary or not) in groups; neighbours with the same beginning stand together.
pub(crate) fn groups<'a>(metrics: impl Iterator<Item = &'a Compared>) -> Vec<Group<'a>> {
    let mut out: Vec<Group<'a>> = Vec::new();
    for metric in metrics {
        let (name, words) = quantity_words(&metric.id);
        match out.last_mut().filter(|g| g.name == name) {
            Some(group) => group.rows.push((words, metric)),
            None => out.push(Group { name, rows: vec![(words, metric)] }),
        }
    }
    out
}

/// `mix.read.latency_ns_p99` as what it is of and what it is: (`mix.read`, `latency p99`).
pub(crate) fn quantity_words(id: &str) -> (String, String) {
    let MetricKey { of, quantity, .. } = MetricKey::of(id);
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
    let words = match words.as_str() {
        "ops_per_s" => "rate".to_owned(),
        "iops" => "IOPS".to_owned(),
        "time_s" => "time".to_owned(),
        "in_calls_s" => "time in calls".to_owned(),
        "stall max" => "longest gap".to_owned(),
        "latency max" => "max latency".to_owned(),
        "burst_rate_last_over_first" => "burst rate, last over first".to_owned(),
        "cpu per_op" => "CPU per operation".to_owned(),
        "cpu_s_per_gb" => "CPU per GB".to_owned(),
        "cpu" | "cpu_user" | "cpu_system" => words.replacen("cpu", "CPU", 1).replace('_', " "),
        _ => words.replace('_', " "),
    };
    (of.to_owned(), words)
}

/// The name of a phase, job or direction for people: `kdiskmark.seq1m-q8t1.read` is `Kdiskmark seq1m-q8t1 read`.
pub(crate) fn name_words(of: &str) -> String {
    if !of.contains('.') {
        return of.to_owned();
    }
    crate::text::capital(&of.replace('.', " "))
}

/// A metric for people, in one line. A name without a phase is somebody's own, of a column of a table.
pub(crate) fn metric_words(id: &str) -> String {
    match quantity_words(id) {
        (of, _) if of.is_empty() => id.to_owned(),
        // The name of a phase is as its workload has it.
        (of, what) => format!("{} {what}", of.replace('.', " ")),
    }
}

/// The answer to "did it help?" in a sentence: yes, no, or that it cannot be told yet; what was set otherwise, what came of it from which
/// number to which, and how many more runs would decide.
pub(crate) fn statement(comparison: &Comparison) -> String {
    let what = compared_words(comparison);
    let it = what.as_deref().unwrap_or("it");
    let counts = &comparison.counts;
    let lead = match comparison.overall {
        _ if is_single(comparison) => format!("Cannot tell from one run of a side whether {it} helped"),
        Verdict::Better => format!("Yes, {it} helped"),
        Verdict::Worse if counts.better > 0 => format!("Yes and no, {it} made some better and some worse"),
        Verdict::Worse => match &what {
            Some(what) => format!("No, {what} made it worse"),
            None => "No, it is worse".to_owned(),
        },
        Verdict::Same => format!("No, {it} made no difference that matters"),
        Verdict::Unclear => format!("Cannot tell yet whether {it} helped"),
        Verdict::Invalid => format!("Not answered whether {it} helped"),
    };
    format!("{lead}: {}{}", overall_words(comparison), differs_words(comparison).unwrap_or_default())
}

fn is_single(comparison: &Comparison) -> bool {
    comparison.metrics.first().is_some_and(|m| m.basis == Basis::Single)
}

/// `read-ahead 1024 instead of 128, mount options noatime instead of what it was`.
fn compared_words(comparison: &Comparison) -> Option<String> {
    let one = |d: &EnvironmentDifference| format!("{} {} instead of {}", d.what, d.b.join(" / "), d.a.join(" / "));
    let all: Vec<String> = comparison.compared.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Of sets whose order was not randomised: in what else they differ, which may be why.
fn differs_words(comparison: &Comparison) -> Option<String> {
    let decided = matches!(comparison.overall, Verdict::Better | Verdict::Worse);
    let not_shown = if decided {
        comparison.cause == Some(model::Attribution::NotShown)
    } else {
        comparison.compared.is_empty() && comparison.other_work().is_none()
    };
    let (what, values, more) = differences::first(&comparison.environment_differences).filter(|_| not_shown)?;
    let why = if decided { ", which may be why" } else { "" };
    Some(format!("; the sides differ in {what} ({values}){more}{why}"))
}

/// `read-1 throughput x 2.31 (38.0 MB/s to 87.8 MB/s)`.
fn moved_words(m: &Compared) -> String {
    let value = |v: f64| quantity::quantity(v, m.unit);
    let levels = m.a.zip(m.b).map_or_else(String::new, |(a, b)| format!(" ({} to {})", value(a), value(b)));
    let change = m.ratio.map_or_else(String::new, |ratio| format!(" {}", change(ratio)));
    format!("{}{change}{levels}", metric_words(&m.id))
}

/// Of one question how it moved; of several how many went which way, the largest change of each direction first.
fn overall_words(comparison: &Comparison) -> String {
    if is_single(comparison) {
        return single_words(comparison);
    }
    let primary: Vec<&Compared> = comparison.metrics.iter().filter(|m| m.primary).collect();
    if let [one] = primary[..] {
        return one_words(one);
    }
    let counts = &comparison.counts;
    let of = |id: &Option<String>| id.as_ref().and_then(|id| comparison.metrics.iter().find(|m| m.id == *id));
    let largest = |id: &Option<String>| of(id).map_or_else(String::new, |m| format!(", most {}", moved_words(m)));
    let strength = |id: &Option<String>| of(id).and_then(|m| m.ratio).map_or(0.0, |r| r.ln().abs());
    let mut directions = vec![
        (counts.better, "better", largest(&counts.largest_better), strength(&counts.largest_better)),
        (counts.worse, "worse", largest(&counts.largest_worse), strength(&counts.largest_worse)),
    ];
    directions.compact_sort_by(|x, y| y.3.total_cmp(&x.3));
    let mut parts: Vec<String> = directions
        .into_iter()
        .filter(|d| d.0 > 0)
        .map(|(n, word, largest, _)| format!("{n} {word}{largest}"))
        .collect();
    for (n, word) in [(counts.same, "same"), (counts.unclear, "unclear"), (counts.invalid, "invalid")] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    if parts.is_empty() {
        return "nothing to compare".to_owned();
    }
    parts.join("; ") + &would_decide(primary.into_iter().filter(|_| comparison.overall == Verdict::Unclear))
}

/// Where one metric is asked about.
fn one_words(one: &Compared) -> String {
    let why = one.reasons.iter().rfind(|r| !r.is("no-values")).or(one.reasons.first());
    match (one.verdict, why) {
        (Verdict::Invalid, Some(why)) => {
            // Why they have none has the remedy.
            let of_runs = |r: &&Reason| why.is("too-much-missing") && !r.is("no-values") && *r != why;
            let none = one.reasons.iter().find(of_runs);
            let none = none.map_or_else(String::new, |none| format!(" ({})", none.text()));
            format!("{}: {}{none}", metric_words(&one.id), why.text())
        }
        _ => format!("{}{}", moved_words(one), would_decide(std::iter::once(one))),
    }
}

/// More runs of a side nobody does.
const MOST_RUNS: u32 = 50;

/// How many more would decide what is unclear.
fn would_decide<'a>(metrics: impl Iterator<Item = &'a Compared>) -> String {
    let open: Vec<(&Compared, u32)> =
        metrics.filter(|m| m.verdict == Verdict::Unclear).filter_map(|m| Some((m, m.pairs_needed?))).collect();
    let open = open.iter().find(|(_, needed)| *needed <= MOST_RUNS).or(open.first()).copied();
    let Some((metric, needed)) = open else { return String::new() };
    if needed > MOST_RUNS {
        let name = metric_words(&metric.id);
        return match metric.low.zip(metric.high) {
            Some((low, high)) => format!(
                "; no number of runs that anybody would do decides {name}: its difference is between {} and {}",
                change(low),
                change(high)
            ),
            None => format!("; more than {MOST_RUNS} runs of each side would be needed for {name}"),
        };
    }
    let more = |values: &[Option<f64>]| {
        let there_are = values.iter().flatten().count();
        usize::try_from(needed).unwrap_or(usize::MAX).saturating_sub(there_are)
    };
    let (a, b) = (more(&metric.values_a), more(&metric.values_b));
    let of = match (a, b) {
        _ if metric.basis == Basis::Paired && a > 0 => format!("{a} more {}", if a == 1 { "pair" } else { "pairs" }),
        _ if metric.basis == Basis::Paired => format!("{needed} pairs"),
        (0, 0) => format!("{needed} runs of each side"),
        (a, 0) => format!("{} of A", more_runs(a)),
        (0, b) => format!("{} of B", more_runs(b)),
        (a, b) if a == b => format!("{} of each side", more_runs(a)),
        (a, b) => format!("{} of A and {b} of B", more_runs(a)),
    };
    format!("; about {of} would decide {}", metric_words(&metric.id))
}

/// `3 more runs`.
fn more_runs(n: usize) -> String {
    format!("{n} more {}", if n == 1 { "run" } else { "runs" })
}

/// What one run of a side can say: whether it differs by more than runs do without a reason, and never which side is better.
fn single_words(comparison: &Comparison) -> String {
    let primary = || comparison.metrics.iter().filter(|m| m.primary);
    let moved = || primary().filter(|m| m.beyond_noise == Some(true));
    let strength = |m: &Compared| m.ratio.map_or(0.0, |r| r.max(f64::MIN_POSITIVE).ln().abs());
    let largest = moved().max_by(|x, y| strength(x).total_cmp(&strength(y)));
    let largest = largest.map_or_else(String::new, |m| format!(" (largest: {})", moved_words(m)));
    let counts = &comparison.counts;
    let rest = counts.unclear.saturating_sub(u32::try_from(moved().count()).unwrap_or(u32::MAX));
    let parts: Vec<String> = [
        (moved().count() as u32, format!("differ by more than single runs usually do{largest}")),
        (rest, "within noise or not judged".to_owned()),
        (counts.same, "same".to_owned()),
        (counts.invalid, "invalid".to_owned()),
    ]
    .into_iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, words)| format!("{n} {words}"))
    .collect();
    if parts.is_empty() {
        return "nothing to compare".to_owned();
    }
    format!("{}; several runs of each would decide (narrows run ... --repeat 6 --tag NAME)", parts.join(", "))
}

/// In what else the sides differ, where that may be the reason.
pub(crate) fn differs_in(comparison: &Comparison) -> Option<String> {
    let not_shown = comparison.cause == Some(model::Attribution::NotShown);
    let all: Vec<&str> = comparison.environment_differences.iter().map(|d| d.what.as_str()).collect();
    (not_shown && !all.is_empty()).then(|| format!("the sides differ in {}, as listed below", all.join(", ")))
}

/// Whether the thing compared is shown to be the reason, in a sentence; nothing where nothing differs or there is one run.
pub(crate) fn cause_words(comparison: &Comparison) -> Option<&'static str> {
    let differs = comparison.metrics.iter().any(|m| matches!(m.verdict, Verdict::Better | Verdict::Worse));
    match comparison.cause? {
        model::Attribution::Randomised if differs => {
            Some("Cause: what was compared; the order of the runs was randomised")
        }
        model::Attribution::NotShown if differs => Some("Cause: not shown; the sets differ, and this may be why:"),
        _ => None,
    }
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
pub(crate) fn notes(comparison: &Comparison) -> Vec<(&Reason, Vec<&str>)> {
    let all = comparison.metrics.iter().flat_map(|m| m.reasons.iter().map(move |reason| (reason, m)));
    let new = all.filter(|(reason, m)| !comparison.reasons.contains(reason) && !tells_nothing_new(m, reason));
    grouped(new.map(|(reason, m)| (reason, m.id.as_str())))
}

/// Exploratory metrics are told apart by their heading; that they have no value or no answer needs no sentence each.
fn tells_nothing_new(metric: &Compared, reason: &Reason) -> bool {
    let usual =
        ["undecided", "too-few-pairs", "too-few-runs", "too-few-operations", "no-values", "too-much-missing", "zero"];
    let left_out = usual.iter().any(|code| reason.root().is(code));
    reason.is("exploratory") || (!metric.primary && metric.basis != Basis::Single && left_out)
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
            ("putc.cpu_percent", "putc", "CPU"),
            ("putc.cpu_ns_per_op", "putc", "CPU per operation"),
            ("putc.cpu_s_per_gb", "putc", "CPU per GB"),
            ("putc.latency_ns_max", "putc", "max latency"),
            ("install", "", "install"),
        ] {
            assert_eq!(quantity_words(id), (of.to_owned(), words.to_owned()), "{id}");
        }
    }

    #[test]
    fn names_are_words_for_people() {
        assert_eq!(name_words("kdiskmark.seq1m-q8t1.read"), "Kdiskmark seq1m-q8t1 read");
        assert_eq!(name_words("rand-read-qd32"), "rand-read-qd32");
        assert_eq!(metric_words("a.write.latency_ns_p99"), "a write latency p99");
    }

    #[test]
    fn in_what_sets_differ_is_said_whatever_came_of_it_but_not_what_an_experiment_compared() {
        let options = EnvironmentDifference {
            what: "mount options".to_owned(),
            a: vec!["relatime".to_owned()],
            b: vec!["noatime".to_owned()],
        };
        let of = |overall, cause, compared: Vec<EnvironmentDifference>| Comparison {
            question: model::Question::default(),
            compared,
            metrics: Vec::new(),
            environment_differences: vec![options.clone()],
            overall,
            counts: model::Counts::default(),
            cause,
            cause_reasons: Vec::new(),
            drift: Vec::new(),
            reasons: Vec::new(),
        };
        let differs = "; the sides differ in mount options (relatime -> noatime)";
        let not_shown = Some(model::Attribution::NotShown);
        for verdict in [Verdict::Unclear, Verdict::Same, Verdict::Invalid] {
            let said = statement(&of(verdict, None, Vec::new()));
            assert!(said.ends_with(differs), "{said}");
            let said = statement(&of(verdict, None, vec![options.clone()]));
            assert!(!said.contains("the sides differ"), "{said}");
        }
        let said = statement(&of(Verdict::Better, not_shown, Vec::new()));
        assert!(said.ends_with(&format!("{differs}, which may be why")), "{said}");
        let said = statement(&of(Verdict::Better, Some(model::Attribution::Randomised), vec![options.clone()]));
        assert!(!said.contains("the sides differ"), "{said}");
    }

    #[test]
    fn what_nobody_would_do_is_no_advice() {
        let open = |needed, interval: Option<(f64, f64)>| Compared {
            id: "a.iops".into(),
            unit: model::Unit::OpsPerS,
            better: None,
            a: Some(1.0),
            b: Some(1.0),
            ratio: Some(1.0),
            low: interval.map(|i| i.0),
            high: interval.map(|i| i.1),
            p: None,
            verdict: Verdict::Unclear,
            basis: Basis::Unpaired,
            beyond_noise: None,
            reasons: Vec::new(),
            primary: true,
            pairs_needed: Some(needed),
            values_a: vec![Some(1.0); 6],
            values_b: vec![Some(1.0); 6],
        };
        let said = |of: &[Compared]| would_decide(of.iter());
        assert_eq!(said(&[open(16, None)]), "; about 10 more runs of each side would decide a IOPS");
        let never = said(&[open(4550, Some((0.97, 1.09)))]);
        assert!(never.contains("no number of runs") && never.ends_with("is between -3.0 % and +9.0 %"), "{never}");
        assert!(said(&[open(4550, None)]).contains("more than 50 runs of each side"));
        // What can be decided is said first.
        assert!(said(&[open(4550, None), open(16, None)]).contains("10 more runs"));
    }

    #[test]
    fn changes_are_percent_until_they_are_factors() {
        assert_eq!(change(1.281), "+28.1 %");
        assert_eq!(change(0.5), "-50.0 %");
        assert_eq!(change(1.0001), "0.0 %");
        assert_eq!(change(3.25), "x 3.25");
    }
}
