//! Copies by the width of their accesses, as text.

use crate::evidence::confidence_word;
use crate::grouped::grouped;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::quantity;
use model::{AccessCost, CopyMethod, CopyPlan, CopyReport, CopyRow, Finding, Run, StreamPlan, TargetKind, Work};

/// A table for each direction and working set, with what their accesses cost; then the kernel's copy, and what was found.
pub fn copy(run: &Run, report: &CopyReport, findings: &[Finding]) -> Presentation {
    let mut presentation = Presentation::of("copy", &run.target.name);
    let sentence = |text: String| Part::Sentence(Tone::Plain, text);
    for (key, rows) in grouped(report.rows.iter().map(|r| (group(r), r))) {
        let mut parts = block(key, &rows);
        let cost = report.costs.iter().find(|c| !key.2 && (c.writes, c.set_bytes) == (key.0, key.1));
        let widths = rows.iter().filter(|r| r.plain_bytes().is_some() && r.bytes_per_s.is_some()).count();
        let none = || "No one time of an access explains these rates: no width is implied.".to_owned();
        parts.extend(cost.map(cost_words).or_else(|| (widths > 2).then(none)).map(sentence));
        presentation.push(SectionName::Numbers, parts);
    }
    let calls = report.calls.iter().flat_map(|calls| {
        let (fixed, rate) = (quantity::latency(calls.fixed_ns as u64), quantity::rate(calls.bytes_per_s));
        let width = calls.implied_width_bytes.map(|width| {
            let width = quantity::significant(width, 3);
            format!("By the cost of an access the kernel copies by {width} bytes at a time.")
        });
        std::iter::once(format!("A call takes {fixed}, and copies at {rate}.")).chain(width)
    });
    presentation.push(SectionName::Others, calls.map(sentence).collect());
    let found = findings.iter().map(|f| {
        let text = format!("{}: {} (narrows explain {})", f.title, confidence_word(f.confidence), f.id);
        Part::Sentence(Tone::Doubt, text)
    });
    presentation.push(SectionName::Findings, found.collect());
    presentation.push(SectionName::Events, run.remarks.iter().cloned().map(Part::Hint).collect());
    presentation
}

/// What stands in one block: direction, working set, whether they are calls.
fn group(row: &CopyRow) -> (bool, u64, bool) {
    (row.plan.copy_writes, row.plan.copy_set_bytes, row.plan.copy_by == CopyMethod::Call)
}

/// The memory copy of a run beside other work: its routine.
pub(crate) fn routine(run: &Run) -> String {
    if run.target.kind == TargetKind::Sim {
        return "simulated".to_owned();
    }
    let phase = run.phase_of_work(Work::MemoryCopy);
    let plan = phase.and_then(|p| p.plan.streams.first()).and_then(StreamPlan::copied);
    way(&plan.cloned().unwrap_or_default())
}

fn way(plan: &CopyPlan) -> String {
    match plan.copy_by {
        CopyMethod::Plain(1) => "1 byte an access".to_owned(),
        CopyMethod::Plain(bytes) => format!("{bytes} bytes an access"),
        CopyMethod::Call => format!("call of {}", quantity::binary_size(plan.copy_bytes.into())),
        CopyMethod::Memcpy => "memcpy of the C library".to_owned(),
        CopyMethod::Burst => "burst of registers".to_owned(),
        CopyMethod::Streaming => "burst past the caches".to_owned(),
        CopyMethod::Repeat => "rep movsb".to_owned(),
    }
}

fn cost_words(cost: &AccessCost) -> String {
    let time = quantity::significant(cost.access_ns, 3);
    let beside = cost
        .burst_bytes_per_s
        .map(|rate| format!(", and the data {} beside", quantity::rate(rate)))
        .unwrap_or_default();
    let width = match cost.or_wider {
        true => format!("none of the widths measured is wider than the bus: {} bytes or more", cost.width_bytes),
        false => {
            format!("accesses wider than {} bytes are several: a bus of {} bit", cost.width_bytes, cost.width_bytes * 8)
        }
    };
    let fit = (cost.worst_residual_ratio * 100.0).round();
    let fit = if fit > 10.0 { format!("; the line misses a point by {fit} %") } else { String::new() };
    format!("An access takes {time} ns{beside}; {width}{fit}.")
}

/// The rates of one block, and what was left out of it.
fn block((writes, set_bytes, calls): (bool, u64, bool), rows: &[&CopyRow]) -> Vec<Part> {
    let direction = match (writes, calls) {
        (true, _) => "writes",
        (false, false) => "reads",
        (false, true) => "reads by calls, the kernel copies",
    };
    let set = match set_bytes {
        0 => String::new(),
        bytes => format!(", {} again and again", quantity::binary_size(bytes)),
    };
    let row = |(row, rate): (&CopyRow, f64)| {
        let ratio = row.ratio_to_byte.map(|r| format!("{}x bytes", quantity::significant(r, 3))).unwrap_or_default();
        Row::new(way(&row.plan), vec![Cell::Text(quantity::rate(rate)), Cell::Text(ratio)])
    };
    let measured = rows.iter().filter_map(|row| Some((*row, row.bytes_per_s?)));
    let left_out = rows.iter().filter(|row| row.bytes_per_s.is_none()).map(|row| {
        let reason = row.reasons.first().map_or_else(|| "no rate".to_owned(), model::Reason::to_string);
        (reason, way(&row.plan))
    });
    let footer = grouped(left_out).into_iter().map(|(reason, ways)| format!("{}: {reason}", ways.join(", "))).collect();
    let head = vec![String::new(); 2];
    let table = Table { corner: "way", head, rows: measured.map(row).collect(), footer, ..Table::default() };
    vec![Part::Heading(format!("{direction}{set}")), Part::Table(table)]
}
