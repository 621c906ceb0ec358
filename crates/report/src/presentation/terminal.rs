//! The parts of a result as text for a terminal: within its columns, so that it can be pasted into a forum.

use super::sides::{LABEL_COLUMNS, TABLE_COLUMNS};
use super::{
    Bottleneck, Cell, End, Figure, Head, Item, Layout, Note, Part, Presentation, Remark, RenderedStep, Table, Tone,
    columns, sides,
};
use crate::evidence::with_confidence;
use crate::lines::Lines;
use crate::text::{GLUE, pad, shorten, width, wrap, wrap_quantities};
use crate::{Paint, Style};

/// Pieces of evidence under the bottleneck; the page has all of them.
const EVIDENCE_LINES: usize = 4;
/// Findings with their titles; the page has all of them.
const FINDING_LINES: usize = 6;
/// Columns of the labels below the numbers where there is little room: `longest gap`.
const SHORT_LABEL_COLUMNS: usize = 15;
/// Columns of what statements are of.
const STATEMENT_COLUMNS: usize = 33;
/// Columns of what an item is: `file system`.
const KIND_COLUMNS: usize = 13;
/// Lines of which the first are still seen when the last is written.
const SCREEN: usize = 24;
/// The longest id of a finding that still gets a column of its own.
const ID_COLUMNS: usize = 28;

pub(super) fn render(result: &Presentation, style: &Style) -> String {
    let mut w = Terminal { lines: if result.wide { Lines::of_list(style) } else { Lines::new(style) } };
    w.head(&result.head);
    for section in &result.sections {
        if !w.lines.out.is_empty() {
            w.lines.line("");
        }
        for (i, part) in section.parts.iter().enumerate() {
            let above = i.checked_sub(1).map(|i| &section.parts[i]);
            if matches!(part, Part::Table(_)) && above.is_some_and(|above| !matches!(above, Part::Heading(_))) {
                w.lines.line("");
            }
            w.part(part);
        }
    }
    w.end(&result.head, &result.end);
    w.lines.out
}

/// What of cells is words, and may be somebody else's.
fn texts(cells: &mut [Cell]) -> impl Iterator<Item = &mut String> {
    cells.iter_mut().filter_map(|cell| match cell {
        Cell::Text(text) | Cell::Words(text) | Cell::Best(text) | Cell::Answer(_, text) => Some(text),
        Cell::Without { code, .. } => code.as_mut(),
        _ => None,
    })
}

struct Terminal<'a> {
    lines: Lines<'a>,
}

impl Terminal<'_> {
    fn head(&mut self, head: &Head) {
        let title = head.title();
        if !title.is_empty() {
            self.lines.title(&title, &head.when);
        }
        for about in &head.about {
            // Broken between its parts, and inside of one where that is longer than a line.
            let text = self.lines.plain(about);
            if text.split(", ").any(|part| width(part) >= self.lines.columns) {
                self.lines.wrapped("", &text, None);
                continue;
            }
            let glued = text.replace(' ', &GLUE.to_string()).replace(&format!(",{GLUE}"), ", ");
            for l in wrap(&glued, self.lines.columns) {
                self.lines.line(&l.replace(GLUE, " "));
            }
        }
        if let Some(state) = &head.state {
            self.lines.wrapped("", state.words, Some(Paint::Warn));
        }
        for note in &head.notes {
            self.lines.wrapped("  Note: ", note, Some(Paint::Dim));
        }
        if let Some((tone, answer)) = &head.answer {
            if !self.lines.out.is_empty() {
                self.lines.line("");
            }
            self.lines.wrapped("  ", answer, tone.paint());
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Table(table) => self.table(table),
            Part::Figures(figures) => self.figures(figures),
            Part::Heading(text) => self.lines.wrapped("  ", text, Some(Paint::Accent)),
            Part::Item(item) => self.item(item),
            Part::Facts(facts) => self.facts(facts),
            Part::Sentence(tone, text) => self.lines.wrapped("  ", text, tone.paint()),
            Part::Hint(text) => self.lines.wrapped("  ", text, Some(Paint::Dim)),
            Part::List(list) => list.iter().for_each(|text| self.lines.wrapped("  - ", text, None)),
            Part::Notes(notes) => self.notes(notes),
            Part::Remarks(remarks) => remarks.iter().for_each(|r| self.remark(r)),
            Part::Bottleneck(bottleneck) => self.bottleneck(bottleneck),
            Part::Statements { title, tone, rows } => self.statements(title, *tone, rows),
            Part::Findings(findings) => self.findings(findings),
            Part::Named(name, text) => self.lines.wrapped(&format!("  {name}  "), text, None),
            Part::Code(text) => {
                text.lines().for_each(|line| self.lines.line(&format!("    {}", self.lines.plain(line))))
            }
        }
    }

    fn table(&mut self, table: &Table) {
        if !table.caption.is_empty() {
            self.lines.wrapped("  ", &table.caption, Some(Paint::Dim));
        }
        if table.layout == Layout::Sides {
            sides::render(table, self.lines.columns, self.lines.style).iter().for_each(|l| self.lines.line(l));
        } else {
            // Names come from outside: of phases, of somebody's columns, in reasons.
            let mut table = table.narrow();
            let texts =
                table.rows.iter_mut().flat_map(|row| std::iter::once(&mut row.label).chain(texts(&mut row.cells)));
            table.head.iter_mut().chain(texts).for_each(|text| *text = self.lines.plain(text));
            for line in columns::render(&table, self.lines.columns - 2, self.lines.style) {
                self.lines.line(&format!("  {line}"));
            }
        }
        for line in &table.footer {
            self.lines.wrapped("  ", line, Some(Paint::Dim));
        }
    }

    fn figures(&mut self, figures: &[Figure]) {
        let labels = if self.lines.columns < TABLE_COLUMNS { SHORT_LABEL_COLUMNS } else { LABEL_COLUMNS };
        for (i, figure) in figures.iter().enumerate() {
            let text = figure.text(self.lines.style.plus_minus());
            self.lines.wrapped(&pad(&format!("  {}", figure.name), labels), &text, (i > 0).then_some(Paint::Dim));
        }
    }

    /// At the margin, with what stands behind the name on the same line, or below it where there is no room.
    fn item(&mut self, item: &Item) {
        let kind = if item.kind.is_empty() { String::new() } else { pad(item.kind, KIND_COLUMNS) };
        let (name, about) = (self.lines.plain(&item.name), self.lines.plain(&item.about));
        let style = self.lines.style;
        let kind = style.paint(Paint::Dim, &kind);
        let painted = |text: &str| item.tone.paint().map_or_else(|| text.to_owned(), |paint| style.paint(paint, text));
        let indent = if item.kind.is_empty() { 0 } else { KIND_COLUMNS };
        if indent + width(&name) + 2 + width(&about) <= self.lines.columns {
            return self.lines.line(&format!("{kind}{}  {}", style.paint(Paint::Title, &name), painted(&about)));
        }
        let room = self.lines.columns - indent;
        let names = if width(&name) <= room { vec![name] } else { wrap(&name, room) };
        for (i, l) in names.iter().enumerate() {
            let lead = if i == 0 { kind.clone() } else { " ".repeat(indent) };
            self.lines.line(&format!("{lead}{}", style.paint(Paint::Title, l)));
        }
        self.lines.wrapped("  ", &about, item.tone.paint());
    }

    /// In two columns; what is longer takes a line of its own.
    fn facts(&mut self, facts: &[(String, String)]) {
        let column = (self.lines.columns - 2) / 2;
        let mut left: Option<String> = None;
        for (name, value) in facts {
            let text = self.lines.plain(&format!("{name}: {value}"));
            match (left.take(), width(&text) < column) {
                (None, true) => left = Some(text),
                (Some(first), true) => self.lines.line(&format!("  {}{text}", pad(&first, column))),
                (first, false) => {
                    first.iter().for_each(|first| self.lines.line(&format!("  {first}")));
                    self.lines.wrapped("  ", &text, None);
                }
            }
        }
        left.iter().for_each(|first| self.lines.line(&format!("  {first}")));
    }

    fn notes(&mut self, notes: &[Note]) {
        for (i, note) in notes.iter().enumerate() {
            let mark = if note.of_doubted { format!("!{}", i + 1) } else { format!("[{}]", i + 1) };
            self.lines.wrapped(&format!("  {mark} "), &note.text, Some(Paint::Dim));
        }
    }

    /// Text that starts two columns in, and goes on four: long names are no margin.
    fn remark(&mut self, remark: &Remark) {
        let paint = remark.tone.paint();
        let text = self.lines.plain(&format!("{}: {}", remark.phase, remark.text));
        for (i, l) in wrap_quantities(&text, self.lines.columns - 4).iter().enumerate() {
            let l = paint.map_or_else(|| l.clone(), |p| self.lines.style.paint(p, l));
            self.lines.line(&format!("{}{l}", if i == 0 { "  " } else { "    " }));
        }
    }

    fn bottleneck(&mut self, bottleneck: &Bottleneck) {
        let statement = self.lines.plain(&bottleneck.statement);
        let statement = with_confidence(&statement, bottleneck.layer, bottleneck.confidence);
        let title = format!("{}: ", self.lines.plain(&bottleneck.title));
        let lead = format!("  {} ", self.lines.style.paint(Paint::Accent, title.trim_end()));
        // The wrapped lines hang under the evidence, not under the end of the lead.
        for (i, l) in wrap(&format!("{title}{statement}"), self.lines.columns - 4).iter().enumerate() {
            match l.strip_prefix(&title).filter(|_| i == 0) {
                Some(rest) => self.lines.line(&format!("{lead}{rest}")),
                None => self.lines.line(&format!("{}{l}", if i == 0 { "  " } else { "    " })),
            }
        }
        for e in bottleneck.evidence.iter().take(EVIDENCE_LINES) {
            self.lines.wrapped("    - ", &e.line(), None);
        }
        if let Some(next) = &bottleneck.next {
            self.next(next);
        }
    }

    fn next(&mut self, next: &RenderedStep) {
        let text = self.lines.plain(&next.text);
        match &next.prediction {
            Some(p) if 15 + width(&text) + width(p) <= self.lines.columns => {
                let gap = self.lines.columns - 13 - width(&text) - width(p);
                self.lines.line(&format!("  Next step: {text}{}{p}", " ".repeat(gap)));
            }
            Some(p) => self.lines.wrapped("  Next step: ", &format!("{text} ({p})"), None),
            None => self.lines.wrapped("  Next step: ", &text, None),
        }
    }

    fn statements(&mut self, title: &str, tone: Tone, rows: &[(String, String)]) {
        let labels: Vec<String> = rows.iter().map(|(label, _)| self.lines.plain(label)).collect();
        let longest = labels.iter().map(|label| width(label)).max().unwrap_or(0);
        // Below a title all start where those of other titles do.
        let (lead, columns) = if title.is_empty() { ("  ", longest + 4) } else { ("    ", STATEMENT_COLUMNS) };
        let has_room = match title.is_empty() {
            true => columns <= self.lines.columns / 2,
            false => self.lines.columns >= TABLE_COLUMNS,
        };
        self.lines.wrapped("  ", title, tone.paint());
        for (label, (_, statement)) in labels.iter().zip(rows) {
            if has_room && !statement.is_empty() {
                self.lines.wrapped(&pad(&format!("{lead}{label}"), columns), statement, None);
            } else {
                self.lines.wrapped(lead, label, None);
                self.lines.wrapped(&format!("{lead}  "), statement, None);
            }
        }
    }

    fn findings(&mut self, findings: &[(String, String)]) {
        self.lines.heading("  Findings", "narrows explain ID");
        let shown = &findings[..findings.len().min(FINDING_LINES)];
        let ids = shown.iter().map(|f| width(&self.lines.plain(&f.0))).max().unwrap_or(0).min(ID_COLUMNS);
        for (id, title) in shown {
            let id = self.lines.plain(id);
            if self.lines.columns < TABLE_COLUMNS {
                let id = shorten(&id, self.lines.columns - 4, self.lines.style.ascii);
                self.lines.line(&format!("    {id}"));
                self.lines.wrapped("      ", title, None);
                continue;
            }
            let lead = format!("    {}  ", pad(&shorten(&id, ids, self.lines.style.ascii), ids));
            self.lines.wrapped(&lead, title, None);
        }
        if findings.len() > shown.len() {
            let more = format!("and {} more on the page", findings.len() - shown.len());
            self.lines.wrapped("    ", &more, Some(Paint::Dim));
        }
    }

    fn end(&mut self, head: &Head, end: &End) {
        self.lines.line("");
        for note in &end.notes {
            self.lines.wrapped("  Note: ", note, None);
        }
        end.not_looked_at.iter().for_each(|text| self.lines.wrapped("  ", text, None));
        if let Some(kept) = end.kept.as_ref().filter(|kept| !kept.cost.is_empty()) {
            let cpu = kept.own_cpu.as_ref().map(|cpu| format!(", using {cpu} of CPU itself")).unwrap_or_default();
            self.lines.wrapped("  ", &format!("{}{cpu}.", kept.cost), None);
        }
        // What is long is read from its end, where a terminal stands.
        if let Some((tone, answer)) =
            head.answer.as_ref().filter(|_| end.repeats_answer && self.lines.out.lines().count() > SCREEN)
        {
            self.lines.wrapped("  ", answer, tone.paint());
        }
        let run = end.kept.as_ref().map(|kept| &kept.run);
        for (name, what) in [("Run  ", run), ("Page ", end.page.as_ref()), ("Fetch", end.fetch.as_ref())] {
            if let Some(what) = what {
                self.lines.line(&format!("  {name} {}", self.lines.plain(what)));
            }
        }
        let length = self.lines.out.trim_end_matches('\n').len() + 1;
        self.lines.out.truncate(length);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Row, SectionName};
    use super::*;

    #[test]
    fn what_comes_from_outside_does_not_act_and_long_sentences_break_between_words() {
        let is_control = "a\x1b[2J\u{202e}b";
        let cells = vec![
            Cell::Text(is_control.into()),
            Cell::Without { word: "refused", code: Some(is_control.into()), note: None, bad: true },
        ];
        let head = vec![is_control.into(), "code".into()];
        let table = Table { head, rows: vec![Row::new(is_control, cells)], ..Table::default() };
        let mut presentation = Presentation::default();
        presentation.head.about = vec![format!("{is_control} {}", "whether longer buffers help ".repeat(8))];
        presentation.push(SectionName::Numbers, vec![Part::Table(table), Part::Hint(is_control.into())]);
        for columns in [40, 80] {
            let text = render(&presentation, &Style { width: columns, ..Style::default() });
            assert!(!text.chars().any(|c| c != '\n' && crate::text::is_control(c)), "{text:?}");
            assert!(text.lines().all(|l| width(l) <= columns), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert_eq!(words.iter().filter(|w| **w == "whether").count(), 8, "{text}");
        }
    }
}
