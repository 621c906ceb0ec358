//! A comparison as parts: the answer, in what else the sides differ, then the verdict of each metric.

use super::form::{change, groups, metric_words, name_words, notes, statement};
use super::{Compare, cause_words, differs_in, verdict_words};
use crate::differences;
use crate::presentation::{Axis, Cell, End, Part, Presentation, Row, SectionName, Span, Table, Tone};
use crate::quantity;
use crate::rate::fake_sentence;
use model::{Basis, CompactSort as _, Compared, Comparison, Reason, Verdict};

/// More rows than this are not read on a terminal: of the exploratory ones only those that moved are shown.
const MOST_ROWS: usize = 64;
/// And of these so many, those that moved most.
const MOST_EXPLORATORY: usize = 24;
/// Columns of a table of metrics: the change, its interval, and what only a page has room for.
const HEAD: [&str; 7] = ["A", "B", "change", "interval", "p", "margin", "verdict"];
const PAGE_ONLY: [usize; 2] = [4, 5];

/// The comparison: the answer, in what else the sides differ, the verdict of each metric, what else must be said. Of what was not asked
/// only what tells something; where it has to be `brief`, as in Markdown, only what moved.
pub fn compare(view: &Compare<'_>, brief: bool) -> Presentation {
    let c = view.comparison;
    let side = |side: &super::Side<'_>| format!("{} ({})", side.name, quantity::counted(side.runs.len() as u64, "run"));
    let question = Some(view.question.to_owned()).filter(|q| !q.is_empty());
    let sides = [format!("A  {}", side(&view.a)), format!("B  {}", side(&view.b))];
    let fakes = [&view.a, &view.b].into_iter().filter_map(|s| Some(fake_sentence(&s.fake()?, Some(s.name))));
    let mut presentation = Presentation::of("compare", format!("{} -> {}", view.a.name, view.b.name))
        .answered(tone(c.overall), statement(c) + ".");
    presentation.head.about = question.into_iter().chain(sides).collect();
    presentation.head.notes = fakes.chain(other_work(c)).collect();
    presentation.end = End { page: view.page.map(str::to_owned), repeats_answer: true, ..End::default() };
    presentation.push(SectionName::Answer, answer(c));
    if !c.environment_differences.is_empty() {
        presentation.push(SectionName::Differences, vec![differences(c)]);
    }
    let mut numbers = table(c, true).map_or_else(Vec::new, |t| vec![Part::Heading(question_words(c)), Part::Table(t)]);
    let notes = told(c);
    if !notes.is_empty() {
        numbers.push(Part::List(notes));
    }
    presentation.push(SectionName::Numbers, numbers);
    presentation.push(SectionName::Others, others(c, brief));
    presentation
}

/// The answers of several comparisons, one below the other: each is far above the last line of all.
pub fn comparisons(views: &[Compare<'_>]) -> Presentation {
    let answer = |view: &Compare<'_>| (view.b.name.to_owned(), statement(view.comparison));
    let mut presentation = Presentation::default();
    presentation.push(SectionName::Answer, vec![crate::presentation::statements(views.iter().map(answer))]);
    presentation
}

/// That the sides did not do the same work, which has to be known before any answer.
fn other_work(c: &Comparison) -> Option<String> {
    let options = c.other_work()?.text();
    Some(format!("The two sides did not do the same work, their job options differ: {options}."))
}

/// Whether what was compared is the cause, and what holds for the whole.
fn answer(c: &Comparison) -> Vec<Part> {
    let cause = cause_words(c);
    let mut list: Vec<String> = c.reasons.iter().map(Reason::to_string).collect();
    list.extend(cause.and(differs_in(c)));
    list.extend(c.cause_reasons.iter().map(Reason::text));
    let mut parts: Vec<Part> = cause.map(|words| Part::Sentence(Tone::Plain, words.to_owned())).into_iter().collect();
    if !list.is_empty() {
        parts.push(Part::List(list));
    }
    parts
}

/// In what else the sides differ: it may be the cause.
fn differences(c: &Comparison) -> Part {
    Part::Statements {
        title: "The sides differ in more than their numbers; the cause may be here:",
        tone: Tone::Doubt,
        rows: c.environment_differences.iter().map(|d| (d.what.clone(), differences::values(d))).collect(),
    }
}

/// What has to be said of metrics, each sentence once.
fn told(c: &Comparison) -> Vec<String> {
    let whom = |ids: &[&str]| match ids {
        [] => String::new(),
        [one] => metric_words(one),
        [one, two] => format!("{}, {}", metric_words(one), metric_words(two)),
        [first, rest @ ..] => format!("{} and {} others", metric_words(first), rest.len()),
    };
    notes(c).iter().map(|(reason, ids)| format!("{}: {}", whom(ids), reason.text())).collect()
}

/// What was not asked: all of it, or what moved most.
fn others(c: &Comparison, brief: bool) -> Vec<Part> {
    let Some(whole) = table(c, false) else { return Vec::new() };
    let all: Vec<&Compared> = c.metrics.iter().filter(|m| !m.primary).collect();
    let shown = telling(&all, !brief && c.metrics.len() <= MOST_ROWS);
    let mut parts = vec![Part::Heading("Also measured, not asked (exploratory)".to_owned())];
    let left_out = all.len() - shown.len();
    if left_out == 0 {
        parts.push(Part::Table(whole));
        return parts;
    }
    if !shown.is_empty() {
        parts.push(Part::Table(of_metrics(c, &shown)));
    }
    parts.push(Part::Hint(format!("and {left_out} more, which moved less or show nothing (--json has all)")));
    parts
}

/// Those of what was not asked that a reader of text is told.
fn telling<'a>(all: &[&'a Compared], few: bool) -> Vec<&'a Compared> {
    // Shares of a processor are not compared; what an operation or a GB costs stands instead.
    let is_share = |m: &Compared| m.unit == model::Unit::Percent;
    let tells = |m: &Compared| matches!(m.verdict, Verdict::Better | Verdict::Worse) || m.beyond_noise == Some(true);
    let mut shown: Vec<&Compared> =
        all.iter().copied().filter(|m| (few && !is_share(m) && m.verdict != Verdict::Invalid) || tells(m)).collect();
    if !few && shown.len() > MOST_EXPLORATORY {
        let moved = |m: &Compared| m.ratio.map_or(0.0, |r| r.max(f64::MIN_POSITIVE).ln().abs());
        let mut by_change: Vec<f64> = shown.iter().map(|m| moved(m)).collect();
        by_change.compact_sort_by(|a, b| b.total_cmp(a));
        shown.retain(|m| moved(m) >= by_change[MOST_EXPLORATORY - 1]);
    }
    shown
}

/// The table of all that was asked, or of all the rest; `None` where there is nothing.
pub(crate) fn table(c: &Comparison, primary: bool) -> Option<Table> {
    let all = || c.metrics.iter().filter(|m| m.primary == primary);
    // A row without any value says nothing that the list of reasons does not; what was asked and is not answered at all stays.
    let says = |m: &&Compared| m.verdict != Verdict::Invalid || primary && (m.a.is_some() || m.b.is_some());
    let mut metrics: Vec<&Compared> = all().filter(says).collect();
    if primary && metrics.is_empty() {
        metrics = all().collect();
    }
    (!metrics.is_empty()).then(|| of_metrics(c, &metrics))
}

fn of_metrics(c: &Comparison, metrics: &[&Compared]) -> Table {
    let mut rows = Vec::new();
    for group in groups(metrics.iter().copied()) {
        let name = name_words(&group.name);
        // A row of its own carries the name of its phase.
        let alone = group.rows.len() == 1 && !name.is_empty();
        if !alone && !name.is_empty() {
            rows.push(Row::group(name.clone()));
        }
        for (words, metric) in group.rows {
            let label = if alone { format!("{name} {words}") } else { words };
            rows.push(Row { inner: !alone && !name.is_empty(), ..Row::new(label, cells(c, metric)) });
        }
    }
    let head = HEAD.map(str::to_owned).to_vec();
    Table { corner: "metric", head, page_only: PAGE_ONLY.to_vec(), rows, ..Table::default() }
}

fn cells(c: &Comparison, m: &Compared) -> Vec<Cell> {
    let value = |v: Option<f64>| Cell::Text(v.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, m.unit)));
    let margin = c.question.margin_percent.get(&m.id).filter(|_| m.basis != Basis::Single);
    let p = |p: f64| if p < 0.001 { "< 0.001".to_owned() } else { quantity::significant(p, 2) };
    let percent = |p: &f64| format!("{} %", quantity::significant(*p, 2));
    let positive = |r: Option<f64>| r.filter(|r| *r > 0.0);
    let span = Span {
        axis: Axis::Ratio,
        low: m.low.map(|r| r.max(f64::MIN_POSITIVE).ln()),
        high: m.high.map(|r| r.max(f64::MIN_POSITIVE).ln()),
        point: positive(m.ratio).map(f64::ln),
        margin: margin.map(|p| (1.0 + p / 100.0).ln()),
    };
    let interval = m.low.zip(m.high).map(|(low, high)| format!("{} to {}", change(low), change(high)));
    vec![
        value(m.a),
        value(m.b),
        Cell::Change { change: m.ratio.map_or_else(|| "-".to_owned(), change), interval },
        Cell::Interval(span),
        m.p.map_or(Cell::Empty, |v| Cell::Text(p(v))),
        margin.map_or(Cell::Empty, |m| Cell::Text(percent(m))),
        Cell::Answer(tone_of(m), verdict_words(m).to_owned()),
    ]
}

/// What was asked, of how many pairs and with which error rate.
fn question_words(c: &Comparison) -> String {
    // A number without digits that say nothing.
    let trimmed = |v: f64| format!("{v:.4}").trim_end_matches('0').trim_end_matches('.').to_owned();
    let q = &c.question;
    let (interval, alpha) = (trimmed(((1.0 - q.alpha) * 1000.0).round() / 10.0), trimmed(q.alpha));
    let ratio = format!("ratio B/A with {interval} % interval, alpha {alpha} over all questions");
    match c.metrics.first().map(|m| m.basis) {
        Some(Basis::Paired) => {
            let seed = q.seed.map_or_else(String::new, |s| format!(", order drawn with seed {s}"));
            format!("{} pairs{seed}; {ratio}", q.pairs)
        }
        Some(Basis::Unpaired) => format!("Several runs each, not randomised; {ratio}"),
        _ => "One run of a side: no interval exists, and nothing is proven".to_owned(),
    }
}

pub(crate) fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better | Verdict::Same => Tone::Good,
        Verdict::Worse | Verdict::Invalid => Tone::Bad,
        Verdict::Unclear => Tone::Doubt,
    }
}

fn tone_of(metric: &Compared) -> Tone {
    match (metric.basis, metric.beyond_noise) {
        (Basis::Single, Some(true)) => Tone::Doubt,
        (Basis::Single, _) => Tone::Plain,
        _ => tone(metric.verdict),
    }
}
