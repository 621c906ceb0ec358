//! Lists and pages of the archive as text: `runs list`, `runs show`, `explain`.

use crate::document::RunEntry;
use crate::finding_page::LAYERS;
use crate::headline::metric_cell;
use crate::lines::Lines;
use crate::text::{pad, plain, shorten, unbroken, width};
use crate::{Paint, Style, quantity, storage_line};
use model::{FindingText, Run, RunState, UseText, json_name};

/// `2026-11-20T21:30:00.123Z` as `2026-11-20 21:30`; other texts as they are.
fn minute(started: &str) -> String {
    match (started.get(..10), started.get(10..11), started.get(11..16)) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time}"),
        _ => started.to_owned(),
    }
}

/// The target, and the device below it where its name does not say it.
fn place(entry: &RunEntry) -> String {
    match entry.device.as_ref().filter(|d| !entry.target.ends_with(d.as_str())) {
        Some(device) => format!("{} on {device}", entry.target),
        None => entry.target.clone(),
    }
}

/// The runs as a table, two lines each: what it was, then its headline numbers.
pub fn runs_table(entries: &[RunEntry], style: &Style) -> String {
    if entries.is_empty() {
        return "No runs in the archive yet. `narrows check` makes one.\n".into();
    }
    let mut out = Lines::of_list(style);
    for e in entries {
        let started = e.started.as_deref().map_or_else(|| "-".to_owned(), minute);
        let workload = Some(&e.workload).filter(|w| !w.is_empty() && **w != e.command);
        let what = workload.map_or_else(|| e.command.clone(), |w| format!("{} {w}", e.command));
        let mut head = out.plain(&format!("{}  {started}  {what} ", e.run_id));
        let mut tail = format!("  {}", quantity::duration((e.duration_s * 1e9) as u64));
        if e.state != RunState::Complete {
            tail.push_str(&format!(", {}", json_name(&e.state)));
        }
        if !e.tags.is_empty() {
            tail.push_str(&out.plain(&format!("  [{}]", e.tags.join(", "))));
        }
        let room = out.columns.saturating_sub(width(&head) + width(&tail)).max(12);
        // The device goes first where there is no room for both.
        let named = [place(e), e.target.clone()].map(|name| out.plain(&name));
        let name = named.iter().find(|name| width(name) <= room).unwrap_or(&named[1]);
        head.push_str(&shorten(name, room, style.ascii));
        // Long ids and tags take a line of their own.
        let tail = if width(&head) + width(&tail) > out.columns { format!("\n{tail}") } else { tail };
        out.line(&format!("{}{tail}", style.paint(Paint::Title, &head)));
        let value = |m: &model::Metric| quantity::metric(m).map_or_else(|| metric_cell(m, style), |s| s.value());
        let numbers: Vec<String> = e.metrics.iter().map(|m| format!("{} {}", m.key().phase(), value(m))).collect();
        out.wrapped("  ", &numbers.join(", "), Some(Paint::Dim));
    }
    out.out
}

/// One run with all its metrics.
pub fn run_text(run: &Run, tags: &[String], style: &Style) -> String {
    let mut out = Lines::of_list(style);
    out.painted(Paint::Title, &format!("{}  {} {}", run.id, run.command, run.target.name));
    out.wrapped("", &storage_line(run), None);
    let mut facts = vec![
        run.sessions.first().map(|s| minute(&s.started)).unwrap_or_default(),
        json_name(&run.state),
        quantity::duration(run.duration_ns),
        format!("wrote {}", quantity::size(run.bytes_written)),
        format!("narrows {}", run.program_version),
    ];
    if !tags.is_empty() {
        facts.push(format!("tags {}", tags.join(", ")));
    }
    facts.retain(|f| !f.is_empty());
    out.wrapped("", &facts.join(", "), None);
    for p in &run.phases {
        let steady = match p.steady {
            None => "",
            Some(true) => "  (steady)",
            Some(false) => "  (not steady)",
        };
        out.line("");
        out.painted(Paint::Accent, &format!("{}{steady}", p.plan.name));
        for reason in &p.reasons {
            out.wrapped("    ", &reason.to_string(), Some(Paint::Warn));
        }
        for m in &p.metrics {
            let name = pad(&out.plain(&m.key().within()), 26);
            out.line(&format!("  {name} {}", metric_cell(m, style)));
        }
    }
    if !run.remarks.is_empty() {
        out.line("");
    }
    run.remarks.iter().for_each(|remark| out.wrapped("Note: ", remark, None));
    out.out
}

/// What was done to each of several subjects, a line each.
pub fn action_text(lines: &[(String, String)], style: &Style) -> String {
    lines
        .iter()
        .map(|(subject, result)| format!("{}  {}\n", plain(subject, style.ascii), plain(result, style.ascii)))
        .collect()
}

/// All findings by layer, from the top of the path to its bottom: a line each.
pub fn explain_list(findings: &[FindingText], style: &Style) -> String {
    let mut out = Lines::new(style);
    for layer in LAYERS {
        let here: Vec<&FindingText> = findings.iter().filter(|f| f.layer == layer).collect();
        if here.is_empty() {
            continue;
        }
        if !out.out.is_empty() {
            out.line("");
        }
        out.painted(Paint::Title, &json_name(&layer));
        for finding in here {
            let id = style.paint(Paint::Accent, &pad(&finding.id, 30));
            out.line(&format!("  {id} {}", out.plain(&finding.title)));
        }
    }
    out.out
}

/// All built-in workloads `(name, title, answers)`: a line, and the question below it.
pub fn workloads_list<'a>(workloads: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>, style: &Style) -> String {
    let mut out = Lines::new(style);
    for (name, title, answers) in workloads {
        out.line(&format!("{}{}", style.paint(Paint::Accent, &pad(name, 12)), out.plain(title)));
        out.wrapped(&" ".repeat(12), answers, Some(Paint::Dim));
    }
    out.out
}

pub fn explain_text(page: &FindingText, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.wrapped("", &page.title, Some(Paint::Title));
    out.painted(Paint::Dim, &format!("{}, layer: {}, {}", page.id, json_name(&page.layer), json_name(&page.status)));
    out.explained(&[
        ("What it means", reflow(&page.meaning)),
        ("What it rests on", list(&page.evidence)),
        ("What fixing it can bring", reflow(&page.gain_basis)),
        // Commands in a fix stand on lines of their own.
        ("What to do", unbroken(&page.fix)),
        ("How to undo it", unbroken(&page.undo)),
        ("Sources", list(&page.sources)),
        ("Read more", list(&page.links)),
    ]);
    out.out
}

/// The page of a use: what it needs, and where the limits come from.
pub fn explain_use(used: &UseText, style: &Style) -> String {
    let mut out = Lines::new(style);
    out.painted(Paint::Title, &used.title);
    let needs = used.needs.iter().map(|need| {
        let unit =
            quantity::unit_of_name(&need.quantity).or_else(|| quantity::unit_of_name(&format!(".{}", need.quantity)));
        let limit = quantity::quantity(need.threshold(), unit.unwrap_or(model::Unit::OpsPerS));
        let side = if need.least.is_some() { "at least" } else { "at most" };
        format!("- {} ({}): {side} {limit}", need.what, need.phase)
    });
    out.explained(&[
        ("What it does", reflow(&used.meaning)),
        ("What it needs", needs.collect()),
        ("How to test it", vec![format!("narrows check TARGET --for {}", used.id)]),
        ("Sources", list(&used.sources)),
    ]);
    out.out
}

impl Lines<'_> {
    /// Paragraphs below their headings; a heading of nothing is left out.
    fn explained(&mut self, parts: &[(&str, Vec<String>)]) {
        for (heading, paragraphs) in parts.iter().filter(|(_, paragraphs)| paragraphs.iter().any(|p| !p.is_empty())) {
            self.line("");
            self.painted(Paint::Accent, heading);
            paragraphs.iter().for_each(|paragraph| self.wrapped("  ", paragraph, None));
        }
    }
}

fn list(items: &[String]) -> Vec<String> {
    items.iter().map(|item| format!("- {item}")).collect()
}

/// Lines that were broken for an editor joined again; an empty line is a new paragraph.
fn reflow(text: &str) -> Vec<String> {
    text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
