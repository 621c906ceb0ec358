//! Lists and pages of the archive as text: `runs list`, `runs show`, `explain`.

use crate::document::RunEntry;
use crate::finding_page::LAYERS;
use crate::headline::metric_cell;
use crate::text::{pad, plain, shorten, unbroken, width, wrap};
use crate::{Paint, Style, quantity, storage_line};
use model::{CatalogueStatus, FindingText, Run, RunState, UseText};

fn state_word(state: RunState) -> &'static str {
    match state {
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
        RunState::Truncated => "truncated",
    }
}

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
    let columns = style.width.max(60);
    let mut out = String::new();
    for e in entries {
        let started = e.started.as_deref().map_or_else(|| "-".to_owned(), |s| plain(&minute(s), style.ascii));
        let workload = Some(&e.workload).filter(|w| !w.is_empty() && **w != e.command);
        let what = workload.map_or_else(|| e.command.clone(), |w| format!("{} {w}", e.command));
        let mut head = format!("{}  {started}  {} ", plain(&e.run_id, style.ascii), plain(&what, style.ascii));
        let tags: Vec<String> = e.tags.iter().map(|t| plain(t, style.ascii)).collect();
        let mut tail = format!("  {}", quantity::duration((e.duration_s * 1e9) as u64));
        if e.state != RunState::Complete {
            tail.push_str(&format!(", {}", state_word(e.state)));
        }
        if !tags.is_empty() {
            tail.push_str(&format!("  [{}]", tags.join(", ")));
        }
        let room = columns.saturating_sub(width(&head) + width(&tail)).max(12);
        // The device goes first where there is no room for both.
        let named = [place(e), e.target.clone()].map(|name| plain(&name, style.ascii));
        let name = named.iter().find(|name| width(name) <= room).unwrap_or(&named[1]);
        head.push_str(&shorten(name, room, style.ascii));
        // Long ids and tags take a line of their own.
        let tail = if width(&head) + width(&tail) > columns { format!("\n{tail}") } else { tail };
        out.push_str(&format!("{}{tail}\n", style.paint(Paint::Title, &head)));
        let numbers: Vec<String> = e
            .metrics
            .iter()
            .map(|m| {
                format!(
                    "{} {}",
                    m.key().phase(),
                    quantity::metric(m).map_or_else(|| metric_cell(m, style), |s| s.value())
                )
            })
            .collect();
        for l in wrap(&numbers.join(",  "), columns - 2) {
            out.push_str(&format!("  {}\n", style.paint(Paint::Dim, &l)));
        }
    }
    out
}

/// One run with all its metrics.
pub fn run_text(run: &Run, tags: &[String], style: &Style) -> String {
    let columns = style.width.max(60);
    let started = run.sessions.first().map(|s| minute(&s.started)).unwrap_or_default();
    let mut out = format!(
        "{}\n",
        style.paint(Paint::Title, &plain(&format!("{}  {} {}", run.id, run.command, run.target.name), style.ascii))
    );
    for l in wrap(&plain(&storage_line(run), style.ascii), columns) {
        out.push_str(&format!("{l}\n"));
    }
    let mut facts = vec![
        plain(&started, style.ascii),
        state_word(run.state).to_owned(),
        quantity::duration(run.duration_ns),
        format!("wrote {}", quantity::size(run.bytes_written)),
        format!("narrows {}", plain(&run.program_version, style.ascii)),
    ];
    if !tags.is_empty() {
        facts.push(format!("tags {}", plain(&tags.join(", "), style.ascii)));
    }
    facts.retain(|f| !f.is_empty());
    for l in wrap(&facts.join(", "), columns) {
        out.push_str(&format!("{l}\n"));
    }
    for p in &run.phases {
        let mut head = plain(&p.plan.name, style.ascii);
        if let Some(steady) = p.steady {
            head.push_str(if steady { "  (steady)" } else { "  (not steady)" });
        }
        out.push_str(&format!("\n{}\n", style.paint(Paint::Accent, &head)));
        for reason in &p.reasons {
            for l in wrap(&plain(&reason.to_string(), style.ascii), columns - 4) {
                out.push_str(&format!("    {}\n", style.paint(Paint::Warn, &l)));
            }
        }
        for m in &p.metrics {
            let name = pad(&plain(&m.key().within(), style.ascii), 26);
            out.push_str(&format!("  {name} {}\n", metric_cell(m, style)));
        }
    }
    if !run.remarks.is_empty() {
        out.push('\n');
    }
    for remark in &run.remarks {
        for (i, l) in wrap(&plain(remark, style.ascii), columns - 6).iter().enumerate() {
            out.push_str(&format!("{}{l}\n", if i == 0 { "Note: " } else { "      " }));
        }
    }
    out
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
    let mut out = String::new();
    for layer in LAYERS {
        let here: Vec<&FindingText> = findings.iter().filter(|f| f.layer == layer).collect();
        if here.is_empty() {
            continue;
        }
        let head = format!("{}{}", if out.is_empty() { "" } else { "\n" }, model::json_name(&layer));
        out.push_str(&format!("{}\n", style.paint(Paint::Title, &head)));
        for finding in here {
            let id = style.paint(Paint::Accent, &pad(&finding.id, 30));
            out.push_str(&format!("  {id} {}\n", plain(&finding.title, style.ascii)));
        }
    }
    out
}

/// All built-in workloads `(name, title, answers)`: a line, and the question below it.
pub fn workloads_list<'a>(workloads: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>, style: &Style) -> String {
    let columns = style.columns().saturating_sub(12);
    let mut out = String::new();
    for (name, title, answers) in workloads {
        let name = style.paint(Paint::Accent, &pad(name, 12));
        out.push_str(&format!("{name}{}\n", plain(title, style.ascii)));
        for line in wrap(&plain(answers, style.ascii), columns) {
            out.push_str(&format!("{:12}{}\n", "", style.paint(Paint::Dim, &line)));
        }
    }
    out
}

pub fn explain_text(page: &FindingText, style: &Style) -> String {
    let columns = style.columns();
    let layer = model::json_name(&page.layer);
    let mut out = String::new();
    for l in wrap(&plain(&page.title, style.ascii), columns) {
        out.push_str(&format!("{}\n", style.paint(Paint::Title, &l)));
    }
    let id = plain(&page.id, style.ascii);
    let status = match page.status {
        CatalogueStatus::Confirmed => "confirmed",
        CatalogueStatus::Probable => "probable",
    };
    out.push_str(&format!("{}\n", style.paint(Paint::Dim, &format!("{id}, layer: {layer}, {status}"))));
    let list = |items: &[String]| items.iter().map(|i| format!("- {i}")).collect::<Vec<_>>().join("\n");
    let parts = [
        ("What it means", reflow(&page.meaning)),
        ("What it rests on", list(&page.evidence)),
        ("What mending it can bring", reflow(&page.gain_basis)),
        ("What to do", unbroken(&page.fix).join("\n")),
        ("How to undo it", unbroken(&page.undo).join("\n")),
        ("Sources", list(&page.sources)),
        ("Read more", list(&page.links)),
    ];
    for (heading, text) in parts {
        if text.trim().is_empty() {
            continue;
        }
        out.push_str(&format!("\n{}\n", style.paint(Paint::Accent, heading)));
        // Commands in a fix stand on lines of their own.
        for paragraph in text.trim().lines() {
            for l in wrap(&plain(paragraph, style.ascii), columns - 2) {
                out.push_str(&format!("  {l}\n"));
            }
        }
    }
    out
}

/// The page of a use: what it needs, and where the limits come from.
pub fn explain_use(used: &UseText, style: &Style) -> String {
    let columns = style.columns();
    let mut out = format!("{}\n", style.paint(Paint::Title, &plain(&used.title, style.ascii)));
    let needs = used.needs.iter().map(|need| {
        let unit =
            quantity::unit_of_name(&need.quantity).or_else(|| quantity::unit_of_name(&format!(".{}", need.quantity)));
        let limit = quantity::quantity(need.threshold(), unit.unwrap_or(model::Unit::OpsPerS));
        let side = if need.least.is_some() { "at least" } else { "at most" };
        format!("- {} ({}): {side} {limit}", need.what, need.phase)
    });
    let needs = needs.collect::<Vec<_>>().join("\n");
    let sources = used.sources.iter().map(|s| format!("- {s}")).collect::<Vec<_>>().join("\n");
    let test = format!("narrows check TARGET --for {}", used.id);
    for (heading, text) in [
        ("What it does", reflow(&used.meaning)),
        ("What it needs", needs),
        ("How to test it", test),
        ("Sources", sources),
    ] {
        out.push_str(&format!("\n{}\n", style.paint(Paint::Accent, heading)));
        for l in text.lines().flat_map(|p| wrap(&plain(p, style.ascii), columns - 2)) {
            out.push_str(&format!("  {l}\n"));
        }
    }
    out
}

/// Lines that were broken for an editor joined again; an empty line stays a new paragraph.
fn reflow(text: &str) -> String {
    text.trim().split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n")
}
