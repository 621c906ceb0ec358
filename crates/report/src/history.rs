//! The history of an archive: since when something is slower, by how much, and what else changed then.

use crate::compare::{change, metric_words};
use crate::differences;
use crate::listing::minute;
use crate::presentation::{Cell, End, Head, Item, Part, Presentation, Row, SectionName, Table, Tone, listed};
use crate::quantity;
use model::{
    ChangeDirection, ChangedMetric, CompactSort as _, EnvironmentDifference, HistoryEvent, HistoryKey, HistorySeries,
};

/// Series that a terminal shows; those with an event first.
const MOST_SERIES: usize = 40;
/// Metrics of an event that are told one by one.
const MOST_METRICS: usize = 8;
/// Differences of an event that are told.
const MOST_DIFFERENCES: usize = 12;

/// What is shown of a history.
pub struct History<'a> {
    pub history: &'a model::History,
    /// The tag or the target that was asked for; empty for all runs.
    pub of: &'a str,
    pub page: Option<&'a str>,
}

/// The answer: how many events are open, and the latest of them.
pub(crate) fn answer(history: &model::History) -> String {
    let series = quantity::count(history.series.len() as u64);
    let of = format!("{series} series of {}", quantity::counted(history.runs as u64, "run"));
    let open: Vec<&HistoryEvent> = history.open().collect();
    match (open.last(), history.events.len()) {
        _ if history.runs == 0 => "No runs: nothing can be said.".to_owned(),
        (None, 0) => no_change(history),
        (None, _) => {
            let known = history.events.iter().filter(|event| event.acknowledged.is_some()).count();
            let known = match known {
                0 => String::new(),
                n => format!("; {} acknowledged", quantity::counted(n as u64, "event")),
            };
            format!("No new change for the worse in {of}{known}.")
        }
        (Some(last), _) => format!(
            "{} for the worse that nobody has acknowledged, in {of}; the last is {}: {}{}.",
            quantity::counted(open.len() as u64, "event"),
            last.id,
            statement(last),
            what_changed(last)
        ),
    }
}

/// What differs between the runs before and after an event, in a few words; which of it is the reason it does not say.
fn what_changed(event: &HistoryEvent) -> String {
    let first = differences::first(&event.environment_differences);
    first.map_or_else(String::new, |(what, values, more)| format!("; then {what} changed ({values}){more}"))
}

/// Runs of a side of a change without which it is not seen.
const LEAST_RUNS: usize = 4;
/// A step by less is what runs differ by from day to day.
const STEP: f64 = 1.1;

/// That nothing changed, of the series that have runs enough to tell; those that have not are counted apart.
fn no_change(history: &model::History) -> String {
    let count = |n: usize| quantity::count(n as u64);
    let all = history.series.len();
    let few = history.series.iter().filter(|s| s.points.len() < 2 * LEAST_RUNS).count();
    let steps = history.series.iter().filter(|s| has_short_step(s)).count();
    let needed = format!("{LEAST_RUNS} before and {LEAST_RUNS} after a change are needed");
    let step = if steps == 0 {
        String::new()
    } else {
        format!(" {} a step with fewer than {LEAST_RUNS} runs on one side.", of_series(steps, "has", "have"))
    };
    let runs = quantity::counted(history.runs as u64, "run");
    match all - few {
        0 if all > 0 => format!("Too few runs to tell: {} series of {runs}, and {needed}.{step}", count(all)),
        enough => {
            let rest = match few {
                0 => String::new(),
                _ => format!("; {} too few runs to tell ({needed})", of_series(few, "has", "have")),
            };
            match steps {
                0 => format!("No change in {} series of {runs}{rest}.", count(enough)),
                _ if few > 0 => format!("Too few runs to tell of all of {} series of {runs}{rest}.{step}", count(all)),
                _ => format!("Too few runs to tell of all of {} series of {runs} ({needed}).{step}", count(all)),
            }
        }
    }
}

fn of_series(n: usize, one: &str, more: &str) -> String {
    format!("{} series {}", quantity::count(n as u64), if n == 1 { one } else { more })
}

/// Whether fewer runs than a change is seen with, at the start or the end, are all beyond the others.
fn has_short_step(series: &HistorySeries) -> bool {
    let values: Vec<f64> = series.points.iter().map(|p| p.value).filter(|v| *v > 0.0).collect();
    let apart = |some: &[f64], rest: &[f64]| {
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
        let gap = (least(some) / most(rest)).max(least(rest) / most(some));
        // The gap is wider than either side is.
        let spread = (most(rest) / least(rest)).max(most(some) / least(some));
        gap > STEP && gap > spread
    };
    let ends = (1..LEAST_RUNS).filter(|n| values.len() > *n);
    let at = |n: usize| {
        let (start, end) = (values.split_at(n), values.split_at(values.len() - n));
        [(start.0, start.1), (end.1, end.0)].into_iter().any(|(some, rest)| rest.len() >= 2 && apart(some, rest))
    };
    ends.into_iter().any(at)
}

/// The largest change of an event: `p99 of rand-read +31 % since 2026-03-04 (and 11 more)`.
fn statement(event: &HistoryEvent) -> String {
    let worst = event.metrics.iter().find(|m| m.direction == Some(ChangeDirection::Worse)).or(event.metrics.first());
    let Some(worst) = worst else { return String::new() };
    let more = event.metrics.len() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} {}{more} since {}", metric_words(&worst.id), change(worst.ratio), since(event))
}

fn since(event: &HistoryEvent) -> String {
    event.time.as_deref().map_or_else(|| event.after.clone(), minute)
}

/// What runs of a key are of, as a line.
pub(crate) fn key_words(key: &HistoryKey) -> String {
    let machine = if key.machine.is_empty() { "a machine without a name" } else { &key.machine };
    format!("{} on {}, {machine}", key.workload, key.device)
}

/// The history as parts.
pub fn history(view: &History<'_>) -> Presentation {
    let h = view.history;
    let open = h.open().next().is_some();
    let head = Head {
        command: "history".to_owned(),
        subject: if view.of.is_empty() { "all runs".to_owned() } else { view.of.to_owned() },
        answer: Some((if open { Tone::Bad } else { Tone::Good }, answer(h))),
        ..Head::default()
    };
    let end = End { page: view.page.map(str::to_owned), repeats_answer: true, ..End::default() };
    let mut presentation = Presentation { head, end, ..Presentation::default() };
    if h.runs == 0 {
        let nothing =
            "No runs here yet. `narrows check TARGET` makes one; 4 before and 4 after a change are needed to see it.";
        presentation.push(SectionName::Answer, vec![Part::Sentence(Tone::Plain, nothing.to_owned())]);
    }
    if !h.events.is_empty() {
        presentation.push(SectionName::Events, vec![Part::Table(events(&h.events))]);
    }
    // On a screen the one that is asked about comes before all series.
    let last = h.open().last().or(h.events.last()).map(|event| event.id.as_str());
    for event in &h.events {
        let name = if Some(event.id.as_str()) == last { SectionName::Bottleneck } else { SectionName::Differences };
        presentation.push(name, event_parts(event));
    }
    presentation.push(SectionName::Numbers, series(h));
    let unreadable = h.unreadable.iter().map(|u| format!("not read: {u}"));
    presentation.push(SectionName::Others, listed(h.notes.iter().cloned().chain(unreadable).collect()));
    presentation
}

/// A row an event.
pub(crate) fn events(events: &[HistoryEvent]) -> Table {
    let row = |event: &HistoryEvent| {
        let first = event.metrics.first();
        let more = event.metrics.len().saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let (tone, word) = state(event);
        Row::new(
            event.id.clone(),
            vec![
                Cell::Text(since(event)),
                Cell::Words(first.map(|m| metric_words(&m.id) + &more).unwrap_or_default()),
                first.map_or(Cell::Empty, |m| Cell::Text(change(m.ratio))),
                Cell::Answer(tone, word.to_owned()),
            ],
        )
    };
    let head = ["since", "what", "change", "state"].map(str::to_owned).to_vec();
    Table { corner: "event", head, rows: events.iter().map(row).collect(), ..Table::default() }
}

pub(crate) fn state(event: &HistoryEvent) -> (Tone, &'static str) {
    match (event.is_worse(), &event.acknowledged) {
        (_, Some(_)) => (Tone::Plain, "acknowledged"),
        (true, None) => (Tone::Bad, "worse"),
        (false, None) if event.metrics.iter().any(|m| m.direction.is_some()) => (Tone::Good, "better"),
        (false, None) => (Tone::Plain, "changed"),
    }
}

/// A change, and its interval.
fn change_cells(metric: &ChangedMetric) -> [Cell; 2] {
    let interval = format!("{} to {}", change(metric.low), change(metric.high));
    [Cell::Text(change(metric.ratio)), Cell::Text(interval)]
}

/// What an event is: its runs, in what else they differ, how to say that it is known, and its metrics.
pub(crate) fn event_parts(event: &HistoryEvent) -> Vec<Part> {
    let mut own = Vec::new();
    if event.environment_differences.is_empty() {
        let nothing = "The two runs do not differ in what is known of machine, path and settings.";
        own.push(Part::Hint(nothing.to_owned()));
    }
    match &event.acknowledged {
        Some(said) => own.push(Part::Sentence(Tone::Plain, format!("Acknowledged {}: {}", minute(&said.at), said.why))),
        None if event.is_worse() => own.push(Part::Code(format!("narrows history ack {} \"why\"", event.id))),
        None => {}
    }
    parts_with(event, own)
}

/// The same without what only the archive's owner can do.
pub(crate) fn site_event_parts(event: &HistoryEvent) -> Vec<Part> {
    parts_with(event, Vec::new())
}

/// Where a screen has no room for all, the last metrics are missed least.
fn parts_with(event: &HistoryEvent, own: Vec<Part>) -> Vec<Part> {
    let mut item = Item::new(format!("Event {}", event.id), key_words(&event.key));
    (item.tone, _) = state(event);
    let mut parts = vec![Part::Item(item)];
    let facts = [("last run before", &event.before), ("first run after", &event.after)];
    parts.push(Part::Facts(facts.map(|(name, run)| (name.to_owned(), run.clone())).into()));
    parts.extend(differences(&event.environment_differences));
    parts.extend(own);
    parts.push(Part::Table(metrics(event)));
    let left = event.metrics.len().saturating_sub(MOST_METRICS);
    if left > 0 {
        parts.push(Part::Hint(format!("and {left} more that changed less (--json has all)")));
    }
    parts.extend(listed(event.notes.clone()));
    parts
}

/// A row a metric.
pub(crate) fn metrics(event: &HistoryEvent) -> Table {
    let row = |m: &ChangedMetric| {
        let word = match m.direction {
            Some(ChangeDirection::Better) => (Tone::Good, "better"),
            Some(ChangeDirection::Worse) => (Tone::Bad, "worse"),
            None => (Tone::Plain, "changed"),
        };
        let value = |v: f64| Cell::Text(quantity::quantity(v, m.unit));
        let [change, interval] = change_cells(m);
        let answer = Cell::Answer(word.0, word.1.to_owned());
        Row::new(metric_words(&m.id), vec![value(m.from), value(m.to), change, interval, answer])
    };
    let head = ["before", "after", "change", "95 % interval", ""].map(str::to_owned).to_vec();
    Table {
        corner: "metric",
        head,
        rows: event.metrics.iter().take(MOST_METRICS).map(row).collect(),
        ..Table::default()
    }
}

fn differences(all: &[EnvironmentDifference]) -> Option<Part> {
    let row = |d: &EnvironmentDifference| (d.what.clone(), differences::values(d));
    let left = all.len().saturating_sub(MOST_DIFFERENCES);
    let more = (left > 0).then(|| ("and".to_owned(), format!("{left} more (--json has all)")));
    (!all.is_empty()).then(|| Part::Statements {
        title: "What else changed between the two runs; the cause may be here:",
        tone: Tone::Doubt,
        rows: all.iter().take(MOST_DIFFERENCES).map(row).chain(more).collect(),
    })
}

/// The series by key, with a line for each.
fn series(h: &model::History) -> Vec<Part> {
    let has_event =
        |s: &HistorySeries| h.events.iter().any(|e| e.key == s.key && e.metrics.iter().any(|m| m.id == s.metric));
    let mut shown: Vec<&HistorySeries> = h.series.iter().collect();
    if shown.len() > MOST_SERIES {
        shown.compact_sort_by_key(|s| !has_event(s));
        shown.truncate(MOST_SERIES);
        shown.compact_sort_by(|a, b| a.key.cmp(&b.key));
    }
    let mut parts = Vec::new();
    for of_key in shown.chunk_by(|a, b| a.key == b.key) {
        let row = |s: &&HistorySeries| {
            let values: Vec<f64> = s.points.iter().map(|p| p.value).collect();
            let latest = values.last().map_or_else(String::new, |v| quantity::quantity(*v, s.unit));
            let runs = Cell::Text(values.len().to_string());
            Row::new(metric_words(&s.metric), vec![Cell::Spark(values), Cell::Text(latest), runs])
        };
        let head = ["series", "latest", "runs"].map(str::to_owned).to_vec();
        parts.push(Part::Heading(key_words(&of_key[0].key)));
        let rows = of_key.iter().map(row).collect();
        parts.push(Part::Table(Table { corner: "metric", head, rows, ..Table::default() }));
    }
    let left = h.series.len() - shown.len();
    if left > 0 {
        parts.push(Part::Hint(format!("and {left} more series (--json has all; a TARGET and --metric choose)")));
    }
    parts
}

/// What `history ack` did.
pub fn acknowledged(event: &HistoryEvent) -> Presentation {
    let mut presentation = Presentation::default();
    let why = event.acknowledged.as_ref().map(|said| said.why.as_str()).unwrap_or_default();
    let text = format!("Event {} ({}) is acknowledged: {why}", event.id, statement(event));
    presentation.push(SectionName::Answer, vec![Part::Sentence(Tone::Plain, text)]);
    presentation
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Style;
    use model::{Acknowledgement, Better, HistoryPoint, Unit};

    pub(crate) fn changed() -> model::History {
        let key = HistoryKey {
            machine: "board".into(),
            device: "SSD S1".into(),
            workload: "check".into(),
            plan: "0123456789abcdef".into(),
        };
        let points = (0..60).map(|i| HistoryPoint {
            run_id: format!("run-{i:02}"),
            time: Some(format!("2026-{:02}-{:02}T00:00:00Z", i / 28 + 1, i % 28 + 1)),
            value: if i < 40 { 100e6 } else { 90e6 },
        });
        let metric = ChangedMetric {
            id: "seq-read.throughput_bytes_per_s".into(),
            ratio: 0.9,
            low: 0.89,
            high: 0.91,
            direction: Some(ChangeDirection::Worse),
            from: 100e6,
            to: 90e6,
            unit: Unit::BytesPerS,
        };
        let difference =
            EnvironmentDifference { what: "kernel".into(), a: vec!["6.1.0".into()], b: vec!["6.12.0".into()] };
        let event = HistoryEvent {
            id: "1a2b3c4d".into(),
            key: key.clone(),
            before: "run-39".into(),
            after: "run-40".into(),
            time: Some("2026-02-13T00:00:00Z".into()),
            metrics: vec![metric],
            environment_differences: vec![difference],
            notes: vec!["no run of this was made in the 90 days between the two".into()],
            acknowledged: None,
            within: Vec::new(),
        };
        let series = HistorySeries {
            key,
            metric: "seq-read.throughput_bytes_per_s".into(),
            unit: Unit::BytesPerS,
            better: Some(Better::Higher),
            points: points.collect(),
        };
        let notes = vec!["disk S1 was in a".into()];
        model::History { series: vec![series], events: vec![event], notes, unreadable: vec!["x".into()], runs: 60 }
    }

    #[test]
    fn an_event_is_said_with_its_size_its_runs_and_what_else_changed() {
        let mut of = changed();
        let said = |of: &model::History| {
            history(&History { history: of, of: "", page: None }).text(&Style { ascii: true, ..Style::default() })
        };
        let text = said(&of);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "1 event for the worse that nobody has acknowledged, in 1 series of 60 runs; the last is 1a2b3c4d",
            "-10.0 %",
            "-11.0 % to -9.0 %",
            "kernel 6.1.0 -> 6.12.0",
            "since 2026-02-13 00:00; then kernel changed (6.1.0 -> 6.12.0).",
            "last run before: run-39",
            "narrows history ack 1a2b3c4d \"why\"",
            "@@@@@@@@@@@@@",
            "not read: x",
        ] {
            assert!(words.contains(part), "{part}\n{text}");
        }
        of.events[0].acknowledged = Some(Acknowledgement { why: "known".into(), at: "2026-03-01T10:00:00Z".into() });
        let text = said(&of);
        assert!(text.contains("No new change for the worse in 1 series of 60 runs; 1 event acknowledged."), "{text}");
        assert!(text.contains("Acknowledged 2026-03-01 10:00: known") && !text.contains("history ack"), "{text}");
        of.events.clear();
        assert!(said(&of).contains("No change in 1 series of 60 runs."));
        let none = model::History::default();
        assert!(!said(&none).contains("No change") && said(&none).contains("No runs: nothing can be said."));
        // Of few runs nothing can be said, and of a step with few runs on one side neither.
        let with = |values: &[f64]| {
            let mut of = of.clone();
            let point = of.series[0].points[0].clone();
            of.runs = values.len();
            of.series[0].points = values.iter().map(|v| HistoryPoint { value: *v, ..point.clone() }).collect();
            answer(&of)
        };
        let few = with(&[1e6, 1.01e6, 1.02e6]);
        assert!(few.starts_with("Too few runs to tell: 1 series of 3 runs, and 4 before and 4 after"), "{few}");
        let mut values = vec![1e6, 1.01e6, 1.02e6, 1e6, 1.01e6, 1.02e6, 1e6, 1.01e6, 1.02e6, 1e6];
        assert!(with(&values).starts_with("No change in 1 series of 10 runs"), "{}", with(&values));
        values.extend([6e5, 6.1e5, 6e5]);
        let step = with(&values);
        assert!(step.starts_with("Too few runs to tell") && step.contains("1 series has a step"), "{step}");
    }

    #[test]
    fn a_screen_has_the_last_event_with_what_changed_before_all_series() {
        let mut of = changed();
        let one = of.events[0].metrics[0].clone();
        let ids = (0..20).map(|i| format!("mix.read{i}.throughput_bytes_per_s"));
        of.events[0].metrics = ids.map(|id| ChangedMetric { id, ..one.clone() }).collect();
        let line = of.series[0].clone();
        of.series = (0..30).map(|i| HistorySeries { metric: format!("mix.read{i}.iops"), ..line.clone() }).collect();
        let view = History { history: &of, of: "", page: None };
        let screen = history(&view).on_screen(&Style { ascii: true, ..Style::default() }, 22, &[answer(&of)]);
        assert!(screen.lines().count() <= 22, "{screen}");
        for part in
            ["first run after: run-40", "6.1.0 -> 6.12.0", "narrows history ack 1a2b3c4d", "mix read0 throughput"]
        {
            assert!(screen.contains(part), "{part}: {screen}");
        }
    }
}
