//! A comparison on a terminal, in 80 columns.

use super::{
    Compare, Row, cause_words, change, differs_in, groups, metric_words, name_words, notes, statement, verdict_words,
};
use crate::style::{Paint, Style};
use crate::text::{pad, plain, shorten, width, wrap};
use model::{Basis, Compared, Comparison, Verdict};

/// Columns of the interval bar.
const BAR: usize = 9;
const NAME: usize = 22;
const VALUE: usize = 12;
const CHANGE: usize = 8;
/// More rows than this are not read on a terminal: of the exploratory ones only those that moved are shown.
const MOST_ROWS: usize = 64;
/// And of these so many, those that moved most.
const MOST_EXPLORATORY: usize = 24;
/// Lines of which the first are still seen when the last is written.
const SCREEN: usize = 24;
/// A factor beyond which the bar ends in an arrow.
const BAR_MOST: f64 = 2.0;

/// The comparison: what differs beside it, a table with the verdict of each metric, what else must be said.
pub fn compare_text(view: &Compare<'_>, style: &Style) -> String {
    let mut out = String::new();
    let safe = |text: &str| plain(text, style.ascii);
    let comparison = view.comparison;
    let line = |out: &mut String, text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let side = |name: &str, n: usize| format!("{} ({n} run{})", safe(name), if n == 1 { "" } else { "s" });
    line(&mut out, &style.paint(Paint::Title, &shorten(&title(view, &safe), style.columns(), style.ascii)));
    if !view.question.is_empty() {
        wrap(&safe(view.question), style.columns()).iter().for_each(|l| line(&mut out, l));
    }
    line(&mut out, &format!("A  {}", side(view.a.name, view.a.runs.len())));
    line(&mut out, &format!("B  {}", side(view.b.name, view.b.runs.len())));
    let overall: String = wrap(&safe(&format!("Overall: {}", statement(comparison))), style.columns())
        .iter()
        .map(|l| style.paint(paint(comparison.overall), l) + "\n")
        .collect();
    out.push_str(&overall);
    if let Some(words) = cause_words(comparison) {
        line(&mut out, words);
    }
    line(&mut out, "");
    differences(&mut out, comparison, style);
    for reason in &comparison.reasons {
        note(&mut out, reason, style);
    }
    if !comparison.reasons.is_empty() {
        line(&mut out, "");
    }
    let scale = scale(comparison);
    for primary in [true, false] {
        family(&mut out, comparison, primary, scale, style);
    }
    let mut said = false;
    for (reason, ids) in notes(comparison) {
        said = true;
        let whom = match ids.as_slice() {
            [one] => metric_words(one),
            [one, two] => format!("{}, {}", metric_words(one), metric_words(two)),
            [first, rest @ ..] => format!("{} and {} others", metric_words(first), rest.len()),
            [] => String::new(),
        };
        note(&mut out, &format!("{whom}: {}", model::Reason::of(&reason).sentence), style);
    }
    if said {
        line(&mut out, "");
    }
    if let Some(others) = cause_words(comparison).and(differs_in(comparison)) {
        note(&mut out, &others, style);
    }
    for reason in &comparison.cause_reasons {
        note(&mut out, model::Reason::of(reason).sentence, style);
    }
    // What is long is read from its end, where a terminal stands.
    if out.lines().count() > SCREEN {
        out.push_str(&overall);
    }
    if let Some(page) = view.page {
        line(&mut out, &format!("Page: {}", safe(page)));
    }
    out
}

/// The rows of what was asked, or of the rest, and how many there are in all.
fn rows_of(comparison: &Comparison, primary: bool) -> (usize, Vec<&Compared>) {
    let shown_all = comparison.metrics.len() <= MOST_ROWS;
    let all: Vec<&Compared> = comparison.metrics.iter().filter(|m| m.primary == primary).collect();
    let told = |m: &&Compared| primary || (shown_all && !is_share(m)) || tells_something(m);
    let mut shown: Vec<&Compared> = all.iter().copied().filter(told).collect();
    if !primary && !shown_all && shown.len() > MOST_EXPLORATORY {
        let moved = |m: &Compared| m.ratio.map_or(0.0, |r| r.max(f64::MIN_POSITIVE).ln().abs());
        let mut by_change: Vec<f64> = shown.iter().map(|m| moved(m)).collect();
        by_change.sort_by(|a, b| b.total_cmp(a));
        shown.retain(|m| moved(m) >= by_change[MOST_EXPLORATORY - 1]);
    }
    (all.len(), shown)
}

/// What was asked, or the rest, with its heading.
fn family(out: &mut String, comparison: &Comparison, primary: bool, scale: f64, style: &Style) {
    let safe = |text: &str| plain(text, style.ascii);
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let (all, shown) = rows_of(comparison, primary);
    if all == 0 {
        return;
    }
    let heading = if primary { question(comparison) } else { "Also measured, not asked (exploratory)".to_owned() };
    wrap(&heading, style.columns()).iter().for_each(|l| line(&style.paint(Paint::Accent, l)));
    if !shown.is_empty() {
        line(&style.paint(Paint::Dim, &header(style)));
    }
    for group in groups(shown.iter().copied()) {
        let of = name_words(&group.name);
        // A row of its own carries the name of its phase; where that is cut, two rows can read the same.
        let alone = group.rows.len() == 1 && width(&of) + 1 + width(&group.rows[0].words) <= NAME;
        if !alone && !of.is_empty() {
            line(&shorten(&safe(&of), style.columns(), style.ascii));
        }
        for row in &group.rows {
            let name = match (alone, of.is_empty()) {
                (true, false) => format!("{of} {}", row.words),
                (_, true) => row.words.clone(),
                (false, false) => format!("  {}", row.words),
            };
            line(&table_line(&safe(&name), row, scale, style));
        }
    }
    if shown.len() < all {
        line(&format!("  and {} more, which moved less or show nothing (--json has all)", all - shown.len()));
    }
    line("");
}

fn title(view: &Compare<'_>, safe: &impl Fn(&str) -> String) -> String {
    format!("{} -> {}", safe(view.a.name), safe(view.b.name))
}

/// What was asked, of how many pairs and with which error rate.
fn question(comparison: &Comparison) -> String {
    let q = &comparison.question;
    match comparison.metrics.first().map(|m| m.basis) {
        Some(Basis::Paired) => {
            let seed = q.seed.map_or_else(String::new, |s| format!(", order drawn with seed {s}"));
            format!(
                "{} pairs{seed}; ratio B/A with {} % interval, alpha {} over all questions",
                q.pairs,
                trimmed((1.0 - q.alpha) * 100.0),
                trimmed(q.alpha)
            )
        }
        Some(Basis::Unpaired) => format!(
            "Several runs each, not randomised; ratio B/A with {} % interval, alpha {} over all questions",
            trimmed((1.0 - q.alpha) * 100.0),
            trimmed(q.alpha)
        ),
        _ => "One run of a side: no interval exists, and nothing is proven".to_owned(),
    }
}

/// A number without digits that say nothing.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Better | Verdict::Same => Paint::Accent,
        Verdict::Worse | Verdict::Invalid => Paint::Bad,
        Verdict::Unclear => Paint::Warn,
    }
}

/// Shares of a processor are not compared; what an operation or a GB costs stands instead.
fn is_share(metric: &Compared) -> bool {
    metric.unit == model::Unit::Percent
}

/// What is said even where most is left out.
pub(super) fn tells_something(metric: &Compared) -> bool {
    matches!(metric.verdict, Verdict::Better | Verdict::Worse) || metric.beyond_noise == Some(true)
}

/// In what else the sides differ: it may be the cause.
fn differences(out: &mut String, comparison: &Comparison, style: &Style) {
    if comparison.environment_differences.is_empty() {
        return;
    }
    let heading = "The sides differ in more than their numbers; the cause may be here:";
    out.push_str(&style.paint(Paint::Warn, heading));
    out.push('\n');
    for difference in &comparison.environment_differences {
        let values = |all: &[String]| {
            let text = if all.is_empty() { "not known".to_owned() } else { all.join(" / ") };
            plain(&text, style.ascii)
        };
        let (a, b) = (values(&difference.a), values(&difference.b));
        let name = plain(&difference.what, style.ascii);
        let arrow = format!("  {}{a} -> {b}", pad(&name, 22));
        if width(&arrow) <= style.columns() {
            out.push_str(&arrow);
            out.push('\n');
        } else {
            for (label, text) in [(name.as_str(), a), ("", format!("-> {b}"))] {
                let room = style.columns().saturating_sub(24);
                out.push_str(&format!("  {}{}\n", pad(label, 22), shorten(&text, room, style.ascii)));
            }
        }
    }
    out.push('\n');
}

fn note(out: &mut String, text: &str, style: &Style) {
    for (i, l) in wrap(&plain(text, style.ascii), style.columns() - 2).iter().enumerate() {
        out.push_str(if i == 0 { "* " } else { "  " });
        out.push_str(l);
        out.push('\n');
    }
}

fn header(style: &Style) -> String {
    let middle = if style.ascii { "1" } else { "·" };
    format!("{} {:>VALUE$} {:>VALUE$} {:>CHANGE$} {} {}", pad("", NAME), "A", "B", "change", centred(middle), "verdict")
}

fn centred(mark: &str) -> String {
    let before = BAR / 2;
    format!("{}{mark}{}", " ".repeat(before), " ".repeat(BAR - before - 1))
}

fn table_line(name: &str, row: &Row<'_>, scale: f64, style: &Style) -> String {
    let verdict = verdict_words(row.metric);
    let painted = match row.metric.verdict {
        Verdict::Better => style.paint(Paint::Accent, verdict),
        Verdict::Worse | Verdict::Invalid => style.paint(Paint::Bad, verdict),
        Verdict::Unclear if row.metric.beyond_noise == Some(true) => style.paint(Paint::Warn, verdict),
        Verdict::Same | Verdict::Unclear => verdict.to_owned(),
    };
    let right = |text: &str, columns: usize| format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))));
    format!(
        "{} {} {} {} {} {painted}",
        pad(&shorten(name, NAME, style.ascii), NAME),
        right(&row.a, VALUE),
        right(&row.b, VALUE),
        right(&row.change, CHANGE),
        bar(row.metric, scale, style),
    )
}

/// Half the width of all bars, as a logarithm of the ratio: as far as the widest of them, at least 10 %.
fn scale(comparison: &Comparison) -> f64 {
    let ends = comparison.metrics.iter().flat_map(|m| [m.low, m.high, m.ratio]).flatten();
    let widest = ends.filter(|r| *r > 0.0 && r.is_finite()).map(|r| r.ln().abs()).fold(0.0, f64::max);
    widest.clamp(1.1f64.ln(), BAR_MOST.ln())
}

/// The interval of a ratio around 1, which is in the middle: `  |--o--  `.
fn bar(metric: &Compared, scale: f64, style: &Style) -> String {
    let (one, line, point) = if style.ascii { ('|', '-', 'o') } else { ('│', '─', '●') };
    let half = (BAR / 2) as f64;
    let place =
        |ratio: f64| (half + (ratio.max(f64::MIN_POSITIVE).ln() / scale * half).round()).clamp(-1.0, BAR as f64);
    let cell = |at: f64| (at.max(0.0) as usize).min(BAR - 1);
    let mut cells = vec![' '; BAR];
    cells[BAR / 2] = one;
    if let (Some(low), Some(high)) = (metric.low.map(place), metric.high.map(place)) {
        cells[cell(low)..=cell(high)].fill(line);
        if low < 0.0 {
            cells[0] = '<';
        }
        if high >= BAR as f64 {
            cells[BAR - 1] = '>';
        }
    }
    if let Some(at) = metric.ratio.filter(|r| *r > 0.0).map(place) {
        match at {
            _ if at < 0.0 => cells[0] = '<',
            _ if at >= BAR as f64 => cells[BAR - 1] = '>',
            _ => cells[cell(at)] = point,
        }
    }
    cells.into_iter().collect()
}

/// For notes of an experiment: a change with its interval, `+28.1 % (+25.0 % to +31.2 %)`.
pub(crate) fn change_with_interval(metric: &Compared) -> Option<String> {
    let ratio = metric.ratio?;
    Some(match metric.low.zip(metric.high) {
        Some((low, high)) => format!("{} ({} to {})", change(ratio), change(low), change(high)),
        None => change(ratio),
    })
}
