//! Copies by the width of their accesses, as text.

use crate::evidence::confidence_word;
use crate::lines::Lines;
use crate::quantity;
use crate::text::{pad, plain};
use crate::{Paint, Style};
use model::{AccessCost, CopyMethod, CopyPlan, CopyReport, CopyRow, Finding, Run, StreamPlan, TargetKind, Work};

/// Columns of the ways of copying.
const WAY: usize = 26;
const RATE: usize = 13;

/// A block of rows for each direction and working set, with what their accesses cost; then the kernel's copy, and what was found.
pub fn copy_text(run: &Run, report: &CopyReport, findings: &[Finding], style: &Style) -> String {
    let mut out = Lines::new(style);
    out.line(&style.paint(Paint::Title, &format!("narrows copy {}", plain(&run.target.name, style.ascii))));
    let mut done: Vec<(bool, u64, bool)> = Vec::new();
    for first in &report.rows {
        let key = group(first);
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        let rows: Vec<&CopyRow> = report.rows.iter().filter(|r| group(r) == key).collect();
        out.block(&rows);
        let cost = report.costs.iter().find(|c| !key.2 && (c.writes, c.set_bytes) == (key.0, key.1));
        let widths = rows.iter().filter(|r| r.plain_bytes().is_some() && r.bytes_per_s.is_some()).count();
        match cost {
            Some(cost) => out.indented(&cost_words(cost)),
            None if widths > 2 => out.indented("No one time of an access explains these rates: no width is implied."),
            None => {}
        }
    }
    if let Some(calls) = report.calls {
        let fixed = quantity::latency(calls.fixed_ns as u64);
        out.indented(&format!("A call takes {fixed}, and copies at {}.", quantity::rate(calls.bytes_per_s)));
        if let Some(width) = calls.implied_width_bytes {
            out.indented(&format!(
                "By the cost of an access the kernel copies by {} bytes at a time.",
                quantity::significant(width, 3)
            ));
        }
    }
    for finding in findings {
        let text = plain(
            &format!("{}: {} (narrows explain {})", finding.title, confidence_word(finding.confidence), finding.id),
            style.ascii,
        );
        out.line("");
        out.wrapped("! ", &text, Some(Paint::Warn));
    }
    for remark in &run.remarks {
        let text = plain(remark, style.ascii);
        out.wrapped("  ", &text, Some(Paint::Dim));
    }
    out.out
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
    let phase = run.doing(Work::MemoryCopy);
    way(&phase.and_then(|p| p.plan.streams.first()).map(StreamPlan::copied).unwrap_or_default())
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

impl Lines<'_> {
    fn indented(&mut self, text: &str) {
        self.wrapped("  ", text, None);
    }

    fn block(&mut self, rows: &[&CopyRow]) {
        let Some(first) = rows.first() else { return };
        let direction = match (first.plan.copy_writes, first.plan.copy_by == CopyMethod::Call) {
            (true, _) => "writes",
            (false, false) => "reads",
            (false, true) => "reads by calls, the kernel copies",
        };
        let set = match first.plan.copy_set_bytes {
            0 => String::new(),
            bytes => format!(", {} again and again", quantity::binary_size(bytes)),
        };
        self.line("");
        let heading = self.style.paint(Paint::Accent, &format!("{direction}{set}"));
        self.line(&heading);
        let mut left_out: Vec<(String, Vec<String>)> = Vec::new();
        for row in rows {
            let Some(rate) = row.bytes_per_s else {
                let reason = row.reasons.first().map_or_else(|| "no rate".to_owned(), model::Reason::to_string);
                match left_out.iter_mut().find(|(r, _)| *r == reason) {
                    Some((_, ways)) => ways.push(way(&row.plan)),
                    None => left_out.push((reason, vec![way(&row.plan)])),
                }
                continue;
            };
            let ratio =
                row.ratio_to_byte.map(|r| format!("{}x bytes", quantity::significant(r, 3))).unwrap_or_default();
            self.line(&format!("  {}{}  {ratio}", pad(&way(&row.plan), WAY), pad(&quantity::rate(rate), RATE)));
        }
        for (reason, ways) in left_out {
            let text = plain(&format!("{}: {reason}", ways.join(", ")), self.style.ascii);
            self.wrapped("  ", &text, Some(Paint::Dim));
        }
    }
}
