//! A check on a terminal: no more than a screen, and the answer at its end, where somebody who waited for it looks. What limits a
//! number stands beside it in a few words; all else is in the whole card, on the page, and in JSON.

use crate::evidence::with_confidence;
use crate::grouped::grouped;
use crate::headline::{self, Notes, RowOf};
use crate::lines::Lines;
use crate::presentation::Cell;
use crate::text::{pad, width};
use crate::{Check, Paint, Style, describe, storage_line};
use model::{CompactSort as _, Confidence, LimitLayer, Metric, MetricStatus, Reason, Work};

/// Lines of the smallest terminal that people use, without the one of the prompt that follows.
const SCREEN: usize = 23;
/// Columns of the labels of the rows: `  random 4K  depth 32 `.
const LABEL_COLUMNS: usize = 22;
/// The least columns in which reading and writing stand side by side.
const SIDES_COLUMNS: usize = 60;
/// Findings that are named.
const MOST_FINDINGS: usize = 3;

/// Lines that belong together. What is needed least goes first where a screen has no room for all.
struct Block {
    needed: Needed,
    lines: Vec<String>,
}

/// How much a block is missed, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Needed {
    Gap,
    Storage,
    Figures,
    Ratings,
    Findings,
    Page,
    Fetch,
    Reasons,
    Always,
}

/// A check in the lines of a screen: the numbers, each with what limits it, then where all of it is kept, and last the verdict, the
/// bottleneck and what to do next.
pub fn brief(check: &Check<'_>, style: &Style) -> String {
    let columns = style.columns();
    let mut blocks = vec![
        block(Needed::Always, style, |w| head(check, w)),
        block(Needed::Storage, style, |w| w.wrapped("", &storage_line(check.run), None)),
        block(Needed::Always, style, |w| state(check, w)),
        block(Needed::Gap, style, |w| w.line("")),
        block(Needed::Always, style, |w| numbers(check, w)),
        block(Needed::Figures, style, |w| longest_gap(check, w)),
        block(Needed::Reasons, style, |w| reasons(check, w)),
        block(Needed::Findings, style, |w| findings(check, w)),
        block(Needed::Ratings, style, |w| ratings(check, w)),
        block(Needed::Page, style, |w| capacity(check, w)),
        block(Needed::Always, style, |w| kept(check, w)),
        block(Needed::Page, style, |w| named(w, "Page ", check.page)),
        block(Needed::Fetch, style, |w| named(w, "Fetch", check.fetch)),
        block(Needed::Gap, style, |w| w.line("")),
        block(Needed::Always, style, |w| answer(check, w)),
    ];
    while blocks.iter().map(|b| rows_on_screen(b, columns)).sum::<usize>() > SCREEN {
        let Some(least) = blocks.iter().map(|b| b.needed).min().filter(|n| *n != Needed::Always) else { break };
        blocks.retain(|b| b.needed != least);
    }
    blocks.into_iter().flat_map(|b| b.lines).map(|line| line + "\n").collect()
}

fn block(needed: Needed, style: &Style, write: impl FnOnce(&mut Lines<'_>)) -> Block {
    let mut lines = Lines::new(style);
    write(&mut lines);
    Block { needed, lines: lines.out.lines().map(str::to_owned).collect() }
}

/// A path stays whole and may take more than one row.
fn rows_on_screen(block: &Block, columns: usize) -> usize {
    // What is painted was wrapped.
    let rows = |line: &String| if line.contains('\x1b') { 1 } else { width(line).div_ceil(columns).max(1) };
    block.lines.iter().map(rows).sum()
}

fn head(check: &Check<'_>, w: &mut Lines<'_>) {
    w.title(&format!("narrows {} {}", check.asked(), crate::identity(check.run)), check.started);
}

fn state(check: &Check<'_>, w: &mut Lines<'_>) {
    if let Some(words) = headline::state_words(check.run.state) {
        w.wrapped("", words, Some(Paint::Warn));
    }
}

/// A number without its interval and its tail.
fn value(cell: &Cell, ascii: bool) -> String {
    match cell {
        Cell::Value { shown, .. } => shown.value(),
        Cell::Doubted { shown, .. } => format!("({})", shown.value()),
        Cell::Without { word, .. } => (*word).to_owned(),
        other => other.text(ascii),
    }
}

/// What limits a number, or why it is none, in a few words.
fn beside(check: &Check<'_>, of: &RowOf, work: Option<Work>, cell: &Cell, room: usize) -> String {
    let Some(work) = work.filter(|_| *cell != Cell::Empty) else { return String::new() };
    if let Some(reason) = not_trusted(check, of, work, cell) {
        return reason_words(&[&reason], room);
    }
    let phase = check.run.phase_of_work(work).map(|p| p.plan.name.as_str());
    let limit = check.limits.iter().find(|l| Some(l.phase.as_str()) == phase);
    let Some(limit) = limit.filter(|l| l.layer != LimitLayer::Unknown) else { return String::new() };
    let sure = limit.confidence != Confidence::Low;
    let layer = layer_words(limit.layer);
    let maybe = if sure { layer.to_owned() } else { format!("maybe {layer}") };
    match width(&limit.statement) <= room && sure {
        true => limit.statement.trim_start_matches("the ").to_owned(),
        false if width(&maybe) <= room => maybe,
        false if sure => layer.to_owned(),
        false => format!("{layer}?"),
    }
}

/// The first reason for which a number is not one to build on, or is not there.
fn not_trusted(check: &Check<'_>, of: &RowOf, work: Work, cell: &Cell) -> Option<Reason> {
    if matches!(cell, Cell::Value { .. }) {
        return None;
    }
    let metric = check.run.metric_of_work(work, of.quantity).filter(|m| m.status != MetricStatus::NotApplicable);
    let of_phase = || check.run.phase_of_work(work).and_then(|p| p.reasons.first().cloned());
    metric.and_then(first_reason).or_else(of_phase)
}

fn first_reason(metric: &Metric) -> Option<Reason> {
    let of_value = metric.reasons.iter().find(|r| !r.is("no-interval"));
    headline::doubt_of(metric).or(of_value).or(metric.reasons.first()).cloned()
}

fn layer_words(layer: LimitLayer) -> &'static str {
    match layer {
        LimitLayer::Memory => "memory",
        LimitLayer::Cpu => "processor",
        LimitLayer::PageCache => "page cache",
        LimitLayer::Filesystem => "file system",
        LimitLayer::BlockLayer => "block layer",
        LimitLayer::Stacking => "stacked layer",
        LimitLayer::Driver => "driver",
        LimitLayer::Link => "link",
        LimitLayer::Controller => "controller",
        LimitLayer::Device => "device",
        LimitLayer::ThermalPower => "heat or power",
        LimitLayer::Throttle => "set limit",
        LimitLayer::Generator => "this program",
        LimitLayer::Unknown => "not known",
    }
}

fn numbers(check: &Check<'_>, w: &mut Lines<'_>) {
    let rows = headline::rows(check.run, &mut Notes::default());
    let ascii = w.style.ascii;
    if w.columns < SIDES_COLUMNS {
        for (of, cells) in &rows {
            for ((work, cell), word) in
                of.works.iter().zip(cells).zip(["read", "write"]).filter(|((_, c), _)| **c != Cell::Empty)
            {
                let word = if of.label.contains("write") { "" } else { word };
                let label = format!("{} {} {word}", of.label, of.variant.replace("depth ", "qd"));
                let label = label.split_whitespace().collect::<Vec<_>>().join(" ");
                let number = format!("  {}{}", pad(&label, LABEL_COLUMNS), value(cell, ascii));
                let room = w.columns.saturating_sub(width(&number) + 2);
                let words = w.plain(&beside(check, of, *work, cell, room));
                let words = if width(&words) <= room { words } else { String::new() };
                w.line(&format!("{number}  {}", w.style.paint(Paint::Dim, &words)));
            }
        }
        return;
    }
    let side = (w.columns - LABEL_COLUMNS) / 2;
    let widest = |at: usize| rows.iter().map(|(_, cells)| width(&value(&cells[at], ascii))).max().unwrap_or(0);
    let numbers = [widest(0), widest(1)].map(|n| n.min(side.saturating_sub(1)));
    let head = format!("{}{}write", " ".repeat(LABEL_COLUMNS), pad("read", side));
    w.line(&w.style.paint(Paint::Dim, &head));
    let mut above = "";
    for (of, cells) in &rows {
        let own = if of.label == above { "" } else { of.label };
        above = of.label;
        let mut line = pad(&format!("  {} {}", pad(own, 10), of.variant), LABEL_COLUMNS);
        for at in 0..2 {
            let number = pad(&value(&cells[at], ascii), numbers[at]);
            let room = side.saturating_sub(numbers[at] + 1 + usize::from(at == 0));
            let words = w.plain(&beside(check, of, of.works[at], &cells[at], room));
            let words = if width(&words) <= room { words } else { String::new() };
            let fill = " ".repeat(side.saturating_sub(numbers[at] + 1 + width(&words)));
            let painted = cells[at].tone().paint().map_or_else(|| number.clone(), |p| w.style.paint(p, &number));
            line.push_str(&format!("{painted} {}{fill}", w.style.paint(Paint::Dim, &words)));
        }
        w.line(&line);
    }
}

fn longest_gap(check: &Check<'_>, w: &mut Lines<'_>) {
    if let Some((ns, phase)) = headline::worst_stall(check.run) {
        let gap = crate::quantity::quantity(ns, model::Unit::Ns);
        w.wrapped(&pad("  longest gap", LABEL_COLUMNS), &format!("{gap} in {phase}"), None);
    }
}

/// Numbers that are not trusted, or not there, by the first reason of each: `steal up to 16 %: 3 numbers; budget: 1`.
fn reasons(check: &Check<'_>, w: &mut Lines<'_>) {
    let rows = headline::rows(check.run, &mut Notes::default());
    let cells =
        rows.iter().flat_map(|(of, cells)| of.works.iter().zip(cells).map(move |(work, cell)| (of, work, cell)));
    let said: Vec<(bool, Reason)> = cells
        .filter_map(|(of, work, cell)| {
            Some((matches!(cell, Cell::Without { .. }), not_trusted(check, of, (*work)?, cell)?))
        })
        .collect();
    let titles = [("Doubtful (in brackets): ", Paint::Bad, false), ("Not there: ", Paint::Warn, true)];
    for (title, paint, is_without) in titles {
        let reasons = said.iter().filter(|(without, _)| *without == is_without).map(|(_, reason)| reason);
        let mut groups = grouped(reasons.map(|r| (r.code().map_or_else(|| r.text(), str::to_owned), r)));
        groups.compact_sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
        let words = groups.iter().enumerate().map(|(i, (_, all))| {
            let numbers = match (i, all.len()) {
                (0, 1) => " number",
                (0, _) => " numbers",
                _ => "",
            };
            format!("{}: {}{numbers}", reason_words(all, usize::MAX), all.len())
        });
        let words = words.collect::<Vec<_>>().join("; ");
        if !words.is_empty() {
            w.wrapped(&format!("  {title}"), &words, Some(paint));
        }
    }
}

/// Reasons of one code in a few words, with the largest of their percentages and who it was, where there is room for that.
fn reason_words(reasons: &[&Reason], room: usize) -> String {
    let Some(first) = reasons.first() else { return String::new() };
    let text = first.text();
    // In a list, and where a column of a table has little room.
    let [long, short] = match first.code().unwrap_or_default() {
        "steal" => ["steal"; 2],
        "foreign-traffic" => ["another program", "other I/O"],
        "cold-unproven" => ["not proven cold", "maybe cached"],
        "direct-unproven" => ["direct I/O not proven", "maybe cached"],
        "direct-fallback" => ["from the page cache", "page cache"],
        "loop-cache" => ["from the page cache of a loop device", "page cache"],
        "no-flushes" => ["no flush reaches the device", "no flushes"],
        "throttled" => ["heat or power"; 2],
        "clock-step" => ["the clock was set", "clock was set"],
        "depth-not-reached" => ["depth not reached", "depth too low"],
        "generator-limit" => ["this program"; 2],
        "too-little-data" => ["too few operations", "too few"],
        "above-line-rate" => ["faster than the link", "above link"],
        "above-memory" => ["faster than memory", "above memory"],
        "data-not-real" => ["not real data"; 2],
        "data-unproven" => ["data not proven real", "maybe no data"],
        "process-stopped" => ["this program was stopped", "was stopped"],
        "truncated" => ["cut off"; 2],
        "errors" => ["operations failed", "failed"],
        "data-mismatch" => ["wrong data"; 2],
        "short-transfers" => ["short transfers", "short"],
        "budget" => ["no time left"; 2],
        "no-device" => ["no device below", "no device"],
        other if !other.is_empty() => [other; 2],
        _ => [text.as_str(); 2],
    };
    let stolen = reasons.iter().filter_map(|r| if let Reason::Steal { percent } = r { Some(*percent) } else { None });
    let percent = || stolen.max_by(f64::total_cmp).map(|p| format!(" up to {p:.0} %"));
    let who = || match first {
        Reason::ForeignTraffic { processes, .. } if !processes.is_empty() => {
            Some(format!(", {}", processes.join(" and ")))
        }
        _ => None,
    };
    let more = percent().or_else(who).unwrap_or_default();
    let whole = format!("{long}{more}");
    [whole.as_str(), long].into_iter().find(|words| width(words) <= room).unwrap_or(short).to_owned()
}

fn findings(check: &Check<'_>, w: &mut Lines<'_>) {
    let ids: Vec<&str> = check.findings.iter().take(MOST_FINDINGS).map(|f| f.id.as_str()).collect();
    if ids.is_empty() {
        return;
    }
    let more = check.findings.len() - ids.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    w.wrapped("  Findings ", &format!("{}{more} (narrows explain ID)", ids.join(", ")), None);
}

fn ratings(check: &Check<'_>, w: &mut Lines<'_>) {
    if describe::shows_ratings(check) {
        w.wrapped("  Short-test ratings  ", &headline::ratings_words(check.ratings), None);
    }
}

fn kept(check: &Check<'_>, w: &mut Lines<'_>) {
    w.wrapped("  ", &format!("{}.", headline::written_words(check.run)), Some(Paint::Dim));
    named(w, "Run  ", Some(&format!("{} (all of it: narrows runs show latest)", check.run.id)));
}

fn named(w: &mut Lines<'_>, name: &str, what: Option<&str>) {
    if let Some(what) = what {
        w.line(&format!("  {name} {}", w.plain(what)));
    }
}

fn capacity(check: &Check<'_>, w: &mut Lines<'_>) {
    if let Some(said) = crate::rate::capacity_not_measured(check.run) {
        w.wrapped("  ", &said, None);
    }
}

fn answer(check: &Check<'_>, w: &mut Lines<'_>) {
    if let Some(verdict) = check.answer() {
        w.wrapped("  ", &verdict, Some(Paint::Accent));
    }
    let limit = check.limit;
    let statement = limit.statement.trim_end_matches('.');
    w.wrapped(
        &format!("  {}: ", w.plain(&check.bottleneck_words())),
        &with_confidence(statement, limit.layer, limit.confidence),
        None,
    );
    if let Some(next) = check.next_step {
        let gain = next.predicted_ratio.map(|r| format!(" (predicted at most {} x)", crate::quantity::ratio(r)));
        w.wrapped("  Next step: ", &format!("{}{}", next.step.text(), gain.unwrap_or_default()), None);
    } else if check.is_good_for_what_was_asked() {
        w.line("  Next step: none is needed for that.");
    }
}
