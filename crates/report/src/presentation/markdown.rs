//! The parts of a result as Markdown, for issues and forums.

use super::table::PLUS_MINUS;
use super::{Bottleneck, Cell, Part, Presentation, Table, Tone};
use crate::evidence::with_confidence;
use crate::plain_card;
use crate::text::{plain, plain_lines};

/// Text that must not become mark-up: every character with a meaning in Markdown or HTML is escaped.
pub(crate) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text, false).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention or an issue link would notify people who have nothing to do with this.
            '@' => out.push_str("&#64;"),
            '#' => out.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

pub(super) fn render(result: &Presentation) -> String {
    let head = &result.head;
    let title = head.title();
    let mut out = if title.is_empty() { title } else { format!("**{}**", safe(&title)) };
    if !head.when.is_empty() {
        out.push_str(&format!(" ({})", safe(&head.when)));
    }
    out.push_str("\n\n");
    for about in &head.about {
        out.push_str(&format!("{}\n\n", safe(about)));
    }
    if let Some(state) = &head.state {
        out.push_str(&format!("*{}*\n\n", state.words));
    }
    for note in &head.notes {
        out.push_str(&format!("Note: {}\n\n", safe(note)));
    }
    if let Some((_, answer)) = &head.answer {
        out.push_str(&format!("**{}**\n\n", safe(answer)));
    }
    for parts in result.sections.iter().map(|section| &section.parts) {
        for (i, part) in parts.iter().enumerate() {
            out.push_str(&of_part(part));
            if !parts.get(i + 1).is_some_and(|next| is_one_paragraph(part, next)) {
                out.push('\n');
            }
        }
    }
    let end = &result.end;
    for note in &end.notes {
        out.push_str(&format!("Note: {}\n\n", safe(note)));
    }
    if let Some(kept) = &end.kept {
        let cost = if kept.cost.is_empty() { String::new() } else { format!("{}. ", kept.cost) };
        out.push_str(&format!("{cost}Run {}, narrows {}.\n", safe(&kept.run), safe(&kept.version)));
    }
    plain_card::folded(&out)
}

/// Whether two parts stand without a line between them: what an item is, and what is short of it; what is copied, and what it is for.
fn is_one_paragraph(part: &Part, next: &Part) -> bool {
    use Part::{Code, Facts, Heading, Hint, Item, List, Sentence};
    matches!(
        (part, next),
        (Item(_), Sentence(..) | Facts(_) | Hint(_) | List(_))
            | (Sentence(..), Facts(_))
            | (Facts(_), Hint(_))
            | (Heading(_) | Hint(_), Code(_))
    )
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.map(|item| format!("- {item}\n")).collect()
}

fn of_part(part: &Part) -> String {
    match part {
        Part::Table(table) => of_table(table),
        Part::Figures(figures) => {
            let sentence = |name: &str, text: &str| format!("{}: {text}.", crate::text::capital(name));
            let all: Vec<String> = figures.iter().map(|f| sentence(f.name, &safe(&f.text(PLUS_MINUS)))).collect();
            format!("{}\n", all.join(" "))
        }
        Part::Heading(text) => format!("**{}**\n", safe(text)),
        Part::Item(item) => {
            let kind = if item.kind.is_empty() { String::new() } else { format!("{} ", item.kind) };
            let about = if item.about.is_empty() { String::new() } else { format!(" {}", safe(&item.about)) };
            format!("{kind}**{}**{about}\n", safe(item.name.trim()))
        }
        Part::Facts(facts) => {
            let one = |(name, value): &(String, String)| format!("{}: {}", safe(name), safe(value));
            format!("{}\n", facts.iter().map(one).collect::<Vec<_>>().join("; "))
        }
        Part::Sentence(Tone::Plain, text) | Part::Hint(text) => format!("{}\n", safe(text)),
        Part::Sentence(_, text) => format!("*{}*\n", safe(text)),
        Part::List(items) => list(items.iter().map(|text| safe(text))),
        Part::Notes(notes) => {
            notes.iter().enumerate().map(|(i, n)| format!("{}. {}\n", i + 1, safe(&n.text))).collect()
        }
        Part::Remarks(remarks) => list(remarks.iter().map(|r| format!("{}: {}", safe(&r.phase), safe(&r.text)))),
        Part::Bottleneck(bottleneck) => of_bottleneck(bottleneck),
        Part::Statements { title, rows, .. } => {
            let title = if title.is_empty() { String::new() } else { format!("**{title}**\n\n") };
            format!("{title}{}", list(rows.iter().map(|(of, said)| format!("{}: {}", safe(of), safe(said)))))
        }
        Part::Findings(findings) => {
            format!(
                "**Findings**\n\n{}",
                list(findings.iter().map(|(id, title)| format!("{}: {}", safe(id), safe(title))))
            )
        }
        Part::Named(name, text) => format!("{name}: {}\n", safe(text)),
        Part::Code(text) => verbatim(&plain_lines(text, false)),
    }
}

/// A cell of text; what was left out or is not trusted stands out.
fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Best(text) => format!("**{}**", safe(text)),
        Cell::Text(text) | Cell::Words(text) => safe(text),
        Cell::Change { change, interval: Some(interval) } => format!("{change} ({interval})"),
        Cell::Ranked { value, of_best, place } if !place.is_empty() => format!("{value} ({of_best}, {place})"),
        Cell::Without { .. } => format!("*{}*", safe(&cell.text(false))),
        // The number says it; what is left is the mark of the knee.
        Cell::Bar { knee, .. } => Cell::Bar { share: 0.0, knee: *knee }.text(false),
        // Numbers, brackets and marks of ours.
        other => other.text(false),
    }
}

fn of_table(table: &Table) -> String {
    let table = table.narrow().undrawn();
    let mut out = String::new();
    if !table.caption.is_empty() {
        out.push_str(&format!("{}\n\n", safe(&table.caption)));
    }
    let head: Vec<String> = table.head.iter().map(|h| safe(h)).collect();
    let corner = if table.corner.is_empty() { String::new() } else { format!(" {}", table.corner) };
    let rule: String = (0..head.len()).map(|i| if table.is_left(i) { "---|" } else { "---:|" }).collect();
    out.push_str(&format!("|{corner} | {} |\n|---|{rule}\n", head.join(" | ")));
    for row in &table.rows {
        let mut cells: Vec<String> = row.cells.iter().map(cell).collect();
        cells.resize(head.len(), String::new());
        let lead = if row.inner { "· " } else { "" };
        out.push_str(&format!("| {lead}{} | {} |\n", safe(&row.name()), cells.join(" | ")));
    }
    for line in &table.footer {
        out.push_str(&format!("\n{}\n", safe(line)));
    }
    out
}

fn of_bottleneck(bottleneck: &Bottleneck) -> String {
    let statement = with_confidence(&safe(&bottleneck.statement), bottleneck.layer, bottleneck.confidence);
    let mut out = format!("**{}:** {statement}\n\n", safe(&bottleneck.title));
    out.push_str(&list(bottleneck.evidence.iter().map(|e| safe(&e.line()))));
    if let Some(next) = &bottleneck.next {
        let ratio = next.prediction.as_ref().map(|p| format!(" ({p})")).unwrap_or_default();
        out.push_str(&format!("\n**Next step:** {}{ratio}\n", safe(&next.text)));
    }
    out
}

/// A text that has no other form, as it is.
pub fn verbatim(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_matches('\n'))
}
