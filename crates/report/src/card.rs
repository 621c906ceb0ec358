//! The card: the answer in one screen of 80 columns that can be pasted into a forum.

use crate::copy::routine;
use crate::headline::{self, Cell, Headline};
use crate::text::{GLUE, pad, plain, shorten, width, wrap};
use crate::{Check, Paint, Style, quantity, storage_line};
use model::{Metric, Unit, Work};

/// Pieces of evidence under the bottleneck; the page has all of them.
const EVIDENCE_LINES: usize = 4;
/// Findings with their titles; the page has all of them.
const FINDING_LINES: usize = 6;
/// Columns of the labels in front of the two columns of numbers.
const LABEL_COLUMNS: usize = 22;
/// The least columns in which two columns of numbers stand side by side.
const TABLE_COLUMNS: usize = 60;
/// Columns of the labels below the numbers there: `longest gap`.
const SHORT_LABEL_COLUMNS: usize = 15;
/// Columns of the names of rows in front of what limits them.
const LIMIT_COLUMNS: usize = 33;
/// Columns of the labels where each number has a line: `random 4K qd32 write`.
const LINE_LABEL_COLUMNS: usize = 22;
/// The longest id of a finding that still gets a column of its own.
const ID_COLUMNS: usize = 28;

pub(crate) struct Writer<'a> {
    pub(crate) style: &'a Style,
    pub(crate) columns: usize,
    out: String,
}

/// How much is shown beside a number, as far as the columns allow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Number,
    Interval,
    Tail,
}

/// Where numbers end and where tail latencies start in one column of the table.
struct Layout {
    number: usize,
    value: usize,
}

/// The card of a check, or of any other run: that has tables by the shape of its phases, and the bottleneck only where
/// it is known. Every line but the last two (paths, which must stay whole) fits `style.width`.
pub fn card(check: &Check<'_>, style: &Style) -> String {
    let mut w = Writer { style, columns: style.columns(), out: String::new() };
    w.header(check);
    if check.is_check() {
        w.verdict(check);
        w.numbers(check);
        w.bottleneck(check);
        w.limits(check);
        w.findings(check);
        w.ratings(check);
    } else {
        w.run_numbers(check);
        if check.limit_is_known() {
            w.bottleneck(check);
        }
        w.findings(check);
    }
    w.closing(check);
    w.out
}

impl Writer<'_> {
    pub(crate) fn plain(&self, text: &str) -> String {
        plain(text, self.style.ascii)
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// `text` wrapped behind `first`, later lines indented by as much.
    pub(crate) fn block(&mut self, first: &str, text: &str, paint: Option<Paint>) {
        let indent = width(first);
        for (i, l) in wrap(text, self.columns.saturating_sub(indent)).iter().enumerate() {
            let l = paint.map_or_else(|| l.clone(), |p| self.style.paint(p, l));
            let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
            self.line(&format!("{lead}{l}"));
        }
    }

    fn header(&mut self, check: &Check<'_>) {
        let started = self.plain(check.started);
        let room = self.columns.saturating_sub(width(&started) + 2);
        let command = format!("narrows {} {}", self.plain(&check.asked()), self.plain(&crate::identity(check.run)));
        let command = pad(&shorten(&command, room, self.style.ascii), room);
        let line = format!("{}  {}", self.style.paint(Paint::Title, &command), self.style.paint(Paint::Dim, &started));
        self.line(&line);
        let storage = self.plain(&storage_line(check.run));
        // Broken between its parts, never inside one.
        let glued = storage.replace(' ', &GLUE.to_string()).replace(&format!(",{GLUE}"), ", ");
        for l in wrap(&glued, self.columns) {
            self.line(&l.replace(GLUE, " "));
        }
        if let Some(words) = headline::state_words(check.run.state) {
            self.block("", words, Some(Paint::Warn));
        }
    }

    fn numbers(&mut self, check: &Check<'_>) {
        let run = check.run;
        let h = headline::headline(run);
        let labels = if self.columns < TABLE_COLUMNS { SHORT_LABEL_COLUMNS } else { LABEL_COLUMNS };
        self.line("");
        if !h.rows.is_empty() {
            self.table(&h);
        }
        if let Some((ns, phase)) = headline::worst_stall(run) {
            let text = format!("{} in {}", quantity::quantity(ns, Unit::Ns), self.plain(phase));
            self.block(&pad("  longest gap", labels), &text, None);
        }
        if let Some(copy) = run.metric_doing(Work::MemoryCopy, "throughput_bytes_per_s").and_then(quantity::metric) {
            let text = format!("{}, {}", copy.with_interval(self.style.plus_minus()), routine(run));
            self.block(&pad("  memory copy", labels), &text, Some(Paint::Dim));
        }
        let unsteady: Vec<String> =
            run.phases.iter().filter(|p| p.steady == Some(false)).map(|p| self.plain(&p.plan.name)).collect();
        if !unsteady.is_empty() {
            self.block(&pad("  not steady", labels), &unsteady.join(", "), Some(Paint::Dim));
        }
        if let Some(doubt) = h.doubt() {
            let doubt = self.plain(&doubt);
            self.block("  ", &doubt, Some(Paint::Warn));
        }
        for (i, note) in h.notes.iter().enumerate() {
            let note = self.plain(note);
            let mark = headline::mark(h.is_of_rejected(i + 1), i + 1);
            self.block(&format!("  {mark} "), &note, Some(Paint::Dim));
        }
    }

    /// Where two columns of numbers do not fit: a number a line, without details.
    fn lines(&mut self, h: &Headline) {
        let mut label = "";
        for r in &h.rows {
            label = if r.label.is_empty() { label } else { r.label };
            for (word, cell) in [("read", &r.read), ("write", &r.write)] {
                // "sync write 4K" says already what is done.
                let word = if label.contains("write") { "" } else { word };
                let text = match cell {
                    Cell::Empty => continue,
                    Cell::Value { shown, .. } => shown.value(),
                    Cell::Without { rejected: Some(shown), note, .. } => in_brackets(shown, *note),
                    Cell::Without { word, note, .. } => {
                        format!("{word}{}", note.map(|n| format!(" [{n}]")).unwrap_or_default())
                    }
                };
                let label =
                    [label, r.variant, word].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ");
                let label = label.replace("depth ", "qd");
                self.line(&format!("  {}{}", pad(&label, LINE_LABEL_COLUMNS), self.paint_cell(cell, &text)));
            }
        }
    }

    fn table(&mut self, h: &Headline) {
        if self.columns < TABLE_COLUMNS {
            return self.lines(h);
        }
        let column = (self.columns - LABEL_COLUMNS) / 2;
        let (read, write) = (self.layout(h.rows.iter().map(|r| &r.read)), self.layout(h.rows.iter().map(|r| &r.write)));
        // Detail is shown beside every number or beside none: a column half filled misleads.
        let fits = |detail: Detail| {
            h.rows.iter().all(|r| {
                width(&self.cell(&r.read, &read, detail, column)) < column
                    && width(&self.cell(&r.write, &write, detail, column)) <= column
            })
        };
        let detail = [Detail::Tail, Detail::Interval].into_iter().find(|d| fits(*d)).unwrap_or(Detail::Number);
        let head = format!("{}{}write", " ".repeat(LABEL_COLUMNS), pad("read", column));
        self.line(&self.style.paint(Paint::Dim, &head));
        for r in &h.rows {
            let label = pad(&format!("  {} {}", pad(r.label, 10), r.variant), LABEL_COLUMNS);
            let left = self.cell(&r.read, &read, detail, column);
            let right = self.cell(&r.write, &write, detail, column);
            let gap = " ".repeat(column.saturating_sub(width(&left)));
            let line = format!("{label}{}{gap}{}", self.paint_cell(&r.read, &left), self.paint_cell(&r.write, &right));
            self.line(&line);
        }
    }

    fn layout<'c>(&self, cells: impl Iterator<Item = &'c Cell>) -> Layout {
        let mut layout = Layout { number: 0, value: 0 };
        let values: Vec<_> =
            cells.filter_map(|c| if let Cell::Value { shown, p99 } = c { Some((shown, p99)) } else { None }).collect();
        layout.number = values.iter().map(|(s, _)| width(&s.number)).max().unwrap_or(0);
        layout.value = values
            .iter()
            .filter(|(_, p99)| p99.is_some())
            .map(|(s, _)| width(&s.with_interval(self.style.plus_minus())) + layout.number - width(&s.number))
            .max()
            .unwrap_or(0);
        layout
    }

    fn paint_cell(&self, cell: &Cell, text: &str) -> String {
        match cell {
            Cell::Without { bad: true, .. } => self.style.paint(Paint::Bad, text),
            Cell::Without { .. } => self.style.paint(Paint::Warn, text),
            _ => text.to_owned(),
        }
    }

    fn cell(&self, cell: &Cell, layout: &Layout, detail: Detail, column: usize) -> String {
        match cell {
            Cell::Empty => String::new(),
            Cell::Value { shown, p99 } => {
                let lead = " ".repeat(layout.number.saturating_sub(width(&shown.number)));
                match (detail, p99) {
                    (Detail::Number, _) => format!("{lead}{}", shown.value()),
                    (Detail::Tail, Some(p99)) => {
                        let text = format!("{lead}{}", shown.with_interval(self.style.plus_minus()));
                        format!("{}  p99 {p99}", pad(&text, layout.value))
                    }
                    _ => format!("{lead}{}", shown.with_interval(self.style.plus_minus())),
                }
            }
            Cell::Without { rejected: Some(shown), note, .. } => in_brackets(shown, *note),
            Cell::Without { word, code, note, .. } => {
                let note = note.map(|n| format!(" [{n}]")).unwrap_or_default();
                let code = code.as_deref().map(|c| format!(": {}", self.plain(c))).unwrap_or_default();
                let room = column.saturating_sub(width(&note) + 1);
                format!("{}{note}", shorten(&format!("{word}{code}"), room, self.style.ascii))
            }
        }
    }

    fn bottleneck(&mut self, check: &Check<'_>) {
        let limit = check.limit;
        let statement = self.plain(limit.statement.trim_end_matches('.'));
        let statement = format!("{statement} ({})", headline::confidence_word(limit.confidence));
        self.line("");
        let lead = format!("  {} ", self.style.paint(Paint::Accent, "Bottleneck:"));
        // The wrapped lines hang under the evidence, not under the end of the lead.
        let lines = wrap(&format!("Bottleneck: {statement}"), self.columns - 4);
        for (i, l) in lines.iter().enumerate() {
            match l.strip_prefix("Bottleneck: ").filter(|_| i == 0) {
                Some(rest) => self.line(&format!("{lead}{rest}")),
                None => self.line(&format!("{}{l}", if i == 0 { "  " } else { "    " })),
            }
        }
        for e in limit.evidence.iter().take(EVIDENCE_LINES) {
            let text = self.plain(&headline::evidence_line(check.run, e));
            self.block("    - ", &text, None);
        }
        if let Some(next) = check.next_step {
            let prediction = next.predicted_ratio.map(|r| format!("predicted at most {} x", quantity::ratio(r)));
            let text = self.plain(&next.text);
            match prediction {
                Some(p) if 15 + width(&text) + width(&p) <= self.columns => {
                    let gap = self.columns - 13 - width(&text) - width(&p);
                    self.line(&format!("  Next step: {text}{}{p}", " ".repeat(gap)));
                }
                Some(p) => {
                    self.block("  Next step: ", &format!("{text} ({p})"), None);
                }
                None => self.block("  Next step: ", &text, None),
            }
        }
    }

    /// What the storage is good for, before any number.
    fn verdict(&mut self, check: &Check<'_>) {
        if let Some(verdict) = check.verdict() {
            let verdict = self.plain(&verdict);
            self.line("");
            self.block("  ", &verdict, Some(Paint::Accent));
        }
    }

    /// What holds each row back; rows that are held by the same stand together.
    fn limits(&mut self, check: &Check<'_>) {
        let rows = headline::row_limits(check);
        if rows.is_empty() {
            return;
        }
        self.line("");
        let head = self.style.paint(Paint::Accent, "What limits each number");
        self.line(&format!("  {head}"));
        for (label, statement) in rows {
            let statement = self.plain(&statement);
            if self.columns < TABLE_COLUMNS {
                self.line(&format!("    {label}"));
                self.block("      ", &statement, None);
                continue;
            }
            self.block(&pad(&format!("    {label}"), LIMIT_COLUMNS), &statement, None);
        }
    }

    fn findings(&mut self, check: &Check<'_>) {
        if check.findings.is_empty() {
            return;
        }
        self.line("");
        let head = "  Findings";
        let hint = "narrows explain ID";
        let gap = " ".repeat(self.columns - width(head) - width(hint));
        let line = format!("{}{gap}{}", self.style.paint(Paint::Accent, head), self.style.paint(Paint::Dim, hint));
        self.line(&line);
        let shown = &check.findings[..check.findings.len().min(FINDING_LINES)];
        let ids = shown.iter().map(|f| width(&self.plain(&f.id))).max().unwrap_or(0).min(ID_COLUMNS);
        for f in shown {
            let title = self.plain(&f.title);
            if self.columns < TABLE_COLUMNS {
                let id = shorten(&self.plain(&f.id), self.columns - 4, self.style.ascii);
                self.line(&format!("    {id}"));
                self.block("      ", &title, None);
                continue;
            }
            let lead = format!("    {}  ", pad(&shorten(&self.plain(&f.id), ids, self.style.ascii), ids));
            self.block(&lead, &title, None);
        }
        if check.findings.len() > shown.len() {
            let more = format!("and {} more on the page", check.findings.len() - shown.len());
            self.block("    ", &more, Some(Paint::Dim));
        }
    }

    fn ratings(&mut self, check: &Check<'_>) {
        // Who asks for one use measures what decides that, and no class.
        if check.ratings.is_empty() || check.asked_for.is_some() {
            return;
        }
        let text = format!("{} (not a certificate)", self.plain(&headline::ratings_words(check.ratings)));
        self.block("  Short-test ratings  ", &text, None);
    }

    fn closing(&mut self, check: &Check<'_>) {
        let run = check.run;
        self.line("");
        if let Some(reason) = headline::without_io_uring(run) {
            let text = self.plain(&format!("without io_uring, threads stood in for depth ({reason})"));
            self.block("  Note: ", &text, None);
        }
        for remark in &run.remarks {
            let remark = self.plain(remark);
            self.block("  Note: ", &remark, None);
        }
        let cpu = headline::own_cpu_ns(run)
            .map(|ns| format!(", using {} of CPU itself", quantity::duration(ns)))
            .unwrap_or_default();
        let text = format!("{}{cpu}.", headline::written_words(run));
        self.block("  ", &text, None);
        let id = self.plain(&run.id);
        self.line(&format!("  Run   {id}"));
        if let Some(page) = check.page {
            self.line(&format!("  Page  {}", self.plain(page)));
        }
        if let Some(fetch) = check.fetch {
            self.line(&format!("  Fetch {}", self.plain(fetch)));
        }
    }
}

/// A number that is not trusted: `(1 130 MB/s)!2`.
fn in_brackets(shown: &quantity::Shown, note: Option<usize>) -> String {
    format!("({}){}", shown.value(), note.map(|n| headline::mark(true, n)).unwrap_or_default())
}

/// A metric in one cell of a list: its value with interval, or its status and the code of its reason.
pub(crate) fn metric_cell(m: &Metric, style: &Style) -> String {
    match quantity::metric(m) {
        Some(shown) => shown.with_interval(style.plus_minus()),
        None => {
            let code = m.reasons.first().and_then(|r| headline::reason_code(r));
            if let Some(rejected) = m.rejected_value {
                let code = code.map_or_else(String::new, |c| format!(" {}", plain(c, style.ascii)));
                return format!("({})!{code}", quantity::quantity(rejected, m.unit));
            }
            let word = headline::status_word(m.status);
            code.map_or_else(|| word.to_owned(), |c| format!("{word}: {}", plain(c, style.ascii)))
        }
    }
}
