//! What a result says, said once: its parts in the order in which they are read, without any layout.
//!
//! [`terminal`], [`markdown`] and the page draw the same parts, so that they cannot disagree; an output is added by describing it
//! with these. Texts are as they came: each of the three makes them safe for the place where they land.

mod columns;
mod interval;
pub(crate) mod markdown;
mod paint;
mod screen;
mod sides;
pub(crate) mod table;
pub(crate) mod terminal;

pub use markdown::verbatim;
pub(crate) use table::{Axis, Cell, Layout, NoteText, Row, Span, Table};

use crate::Style;
use crate::evidence::RenderedEvidence;
use model::{Confidence, LimitLayer};

/// The whole of a result: what a command answers, in no form yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presentation {
    pub(crate) head: Head,
    /// In the order in which they are read; none without parts.
    pub(crate) sections: Vec<Section>,
    pub(crate) end: End,
    /// A list: its lines are as long as the terminal is wide.
    pub(crate) wide: bool,
}

impl Presentation {
    /// What a command says of something.
    pub(crate) fn of(command: &str, subject: impl Into<String>) -> Self {
        let head = Head { command: command.to_owned(), subject: subject.into(), ..Head::default() };
        Self { head, ..Self::default() }
    }

    /// With the answer to what was asked, in a sentence.
    pub(crate) fn answered(mut self, tone: Tone, answer: String) -> Self {
        self.head.answer = Some((tone, answer));
        self
    }

    /// For a terminal. Every line but those to copy and the last ones (paths), which must stay whole, fits the columns of the style.
    pub fn text(&self, style: &Style) -> String {
        terminal::render(self, style)
    }

    /// For an issue or a forum, in 40 lines at most, without paths of this machine.
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }

    /// With the run that was kept of it, and its page.
    pub fn kept(mut self, kept: Option<&(String, String)>) -> Self {
        if let Some((run, page)) = kept {
            let version = env!("CARGO_PKG_VERSION").to_owned();
            self.end.kept = Some(Kept { run: run.clone(), version, ..Kept::default() });
            self.end.page = Some(page.clone());
        }
        self
    }

    /// The sentences that answer what was asked, each to stand on lines of its own; none where nothing does.
    pub fn answers(&self) -> Vec<&str> {
        let of_head = self.head.answer.iter().map(|(_, text)| text.as_str()).filter(|_| self.end.answers.is_empty());
        self.end.answers.iter().map(String::as_str).chain(of_head).collect()
    }

    /// With what shows all of it, where the same command would do its work again.
    pub fn all_of_it(mut self, command: String) -> Self {
        self.end.all_of_it = Some(command);
        self
    }

    /// With where its page is.
    pub fn on_page(mut self, page: Option<String>) -> Self {
        self.end.page = page;
        self
    }

    /// The parts of all sections of a name.
    pub(crate) fn all_parts(&self, name: SectionName) -> impl Iterator<Item = &Part> {
        self.sections.iter().filter(move |s| s.name == name).flat_map(|s| &s.parts)
    }

    /// The parts of a section; none where there is nothing to say.
    pub(crate) fn parts(&self, name: SectionName) -> &[Part] {
        self.sections.iter().find(|s| s.name == name).map_or(&[], |s| &s.parts)
    }

    /// Adds a section, unless it is empty.
    pub(crate) fn push(&mut self, name: SectionName, parts: Vec<Part>) {
        if !parts.is_empty() {
            self.sections.push(Section { name, parts });
        }
    }
}

/// What was done to what, and what has to be known before any number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    /// As on the command line: `run depth`. Without it the subject stands by itself; without both there is no title.
    pub command: String,
    pub subject: String,
    /// May be empty.
    pub when: String,
    /// What it was about, a line each, parts between commas: the storage; the question.
    pub about: Vec<String>,
    /// What the result is worth as a whole, where that is not everything.
    pub state: Option<State>,
    /// How it was meant.
    pub notes: Vec<String>,
    /// The answer to what was asked, in a sentence.
    pub answer: Option<(Tone, String)>,
}

impl Head {
    /// What stands above all else.
    pub fn title(&self) -> String {
        match self.command.as_str() {
            "" => self.subject.clone(),
            command => format!("narrows {command} {}", self.subject),
        }
    }
}

/// What a word means for its reader; the colour follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// What matters, or is good.
    Good,
    Plain,
    /// Makes doubtful, or is not decided.
    Doubt,
    /// Went wrong, or is worse.
    Bad,
}

/// What a result is worth as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub words: &'static str,
    /// Nothing of it stands.
    pub bad: bool,
}

/// Which part of the result a section is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionName {
    /// What has to be known before the numbers.
    Answer,
    /// In what else two sides differ.
    Differences,
    /// The storage path, a section each layer.
    Path,
    Numbers,
    /// What was measured and not asked.
    Others,
    /// What happened meanwhile.
    Events,
    Bottleneck,
    /// What limits each number.
    Limits,
    Findings,
    /// What was looked at and left.
    Rejected,
    /// What makes a result stay.
    Keeping,
}

/// Parts that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    pub name: SectionName,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Part {
    Table(Table),
    Figures(Vec<Figure>),
    /// What stands above a table of several.
    Heading(String),
    Item(Item),
    /// Names with their values: `size`, `32 GB`.
    Facts(Vec<(String, String)>),
    Sentence(Tone, String),
    /// What a table does not say of itself.
    Hint(String),
    List(Vec<String>),
    /// What cells point to, counted from 1.
    Notes(Vec<Note>),
    Remarks(Vec<Remark>),
    Bottleneck(Bottleneck),
    /// Statements, each of what stands before it; without a title a list of its own.
    Statements {
        title: &'static str,
        tone: Tone,
        rows: Vec<(String, String)>,
    },
    /// Findings by their ids, each with its title.
    Findings(Vec<(String, String)>),
    /// A line with a name.
    Named(&'static str, String),
    /// Lines to copy, none of them empty: each stays whole, however long it is.
    Code(String),
}

/// Statements without a title.
pub(crate) fn statements(rows: impl IntoIterator<Item = (String, String)>) -> Part {
    Part::Statements { title: "", tone: Tone::Plain, rows: rows.into_iter().collect() }
}

/// A list; nothing where it is empty.
pub(crate) fn listed(list: Vec<String>) -> Vec<Part> {
    if list.is_empty() { Vec::new() } else { vec![Part::List(list)] }
}

/// Parts below a heading; nothing where there are none.
pub(crate) fn under(heading: &str, parts: Vec<Part>) -> Vec<Part> {
    if parts.is_empty() { parts } else { std::iter::once(Part::Heading(heading.to_owned())).chain(parts).collect() }
}

/// What the parts below it are of: a layer, a phase of a plan, a run of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// What it is: `disk`. May be empty.
    pub kind: &'static str,
    pub name: String,
    /// What stands behind the name: `at most 104 MB/s`. May be empty.
    pub about: String,
    /// Of what stands behind the name.
    pub tone: Tone,
}

impl Item {
    pub fn new(name: impl Into<String>, about: impl Into<String>) -> Self {
        Self { kind: "", name: name.into(), about: about.into(), tone: Tone::Plain }
    }
}

/// One number that belongs to no table: `longest gap`, `109 ms`, `in seq-write`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub name: &'static str,
    pub value: String,
    /// Half the width of its interval.
    pub half_width: Option<String>,
    pub detail: String,
}

impl Figure {
    pub fn text(&self, plus_minus: &str) -> String {
        let half = self.half_width.as_ref().map(|h| format!("{plus_minus} {h}")).unwrap_or_default();
        [self.value.as_str(), &half, &self.detail].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// What a cell points to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub text: String,
    /// Of a number in brackets, not of one that is not there.
    pub of_doubted: bool,
}

/// One remark on one phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Remark {
    pub phase: String,
    pub tone: Tone,
    pub text: String,
}

/// What limits, why that is believed, and what to do next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bottleneck {
    /// `Bottleneck`, or of what it is one.
    pub title: String,
    pub layer: LimitLayer,
    pub confidence: Confidence,
    /// As it stands behind a colon: without a capital and a full stop.
    pub statement: String,
    pub evidence: Vec<RenderedEvidence>,
    pub next: Option<RenderedStep>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RenderedStep {
    pub text: String,
    /// `predicted at most 2.5 x`.
    pub prediction: Option<String>,
    pub basis: String,
}

/// What it took, and where it is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct End {
    /// What has to be known of the whole.
    pub notes: Vec<String>,
    pub kept: Option<Kept>,
    /// What was not asked and may be taken for answered, with what answers it: text only.
    pub not_looked_at: Option<String>,
    /// The answer, where the head does not have it: sentence by sentence.
    pub answers: Vec<String>,
    /// What shows all of it where a terminal gets less; `None`: the same command with `--details`.
    pub all_of_it: Option<String>,
    /// Where the answer is said again on a terminal when it has left the screen.
    pub repeats_answer: bool,
    pub page: Option<String>,
    pub fetch: Option<String>,
}

/// A run that is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Kept {
    pub run: String,
    pub version: String,
    /// `Wrote 1.9 GB in 58 s`; empty where the answer says so.
    pub cost: String,
    /// CPU time of this program itself.
    pub own_cpu: Option<String>,
}
