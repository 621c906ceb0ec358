//! Where text and documents go, and in which style.

use crate::args::{ColorChoice, GlobalArgs};
use model::Failure;
use report::document::{ErrorDocument, to_json};
use report::{Paint, Presentation, Style};
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind, IsTerminal, Write};

/// What an answer is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// For people at a terminal.
    Text,
    /// For people in an issue or a forum.
    Markdown,
    /// One JSON document.
    Json,
}

/// Stdout, in one of these forms.
pub struct Output {
    form: Form,
    style: Style,
    /// Whether somebody reads it as it comes.
    terminal: bool,
    /// Rows of that terminal; 0 if it is none.
    rows: usize,
    /// Whether a terminal gets all of an answer.
    details: bool,
    /// The first error in writing to stdout.
    lost: RefCell<Option<io::Error>>,
    /// Whether something was printed on stdout.
    answered: Cell<bool>,
    /// Whether colours may stand on stderr.
    colour_beside: bool,
    /// Whether what went wrong left something changed.
    red: Cell<bool>,
    /// What is said last.
    last_word: RefCell<Option<Failure>>,
}

/// Whether the locale's character set is UTF-8 (the first of LC_ALL, LC_CTYPE, LANG that is set decides).
fn utf8_locale() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// Columns and rows of the terminal. A serial console does not know them and says 0.
fn size() -> (usize, usize) {
    let (columns, rows) = rustix::termios::tcgetwinsize(io::stdout()).map_or((0, 0), |size| (size.ws_col, size.ws_row));
    (if columns == 0 { 80 } else { columns.into() }, if rows == 0 { 24 } else { rows.into() })
}

/// Lines for stderr: on a terminal of at most so many columns, in a file as they are.
pub fn told(text: &str, ascii: bool, columns: usize) -> String {
    let text = report::text::plain_lines(text, ascii);
    if io::stderr().is_terminal() { report::text::hanging_lines(&text, columns) } else { text }
}

impl Output {
    /// As the arguments and the terminal ask.
    pub fn new(global: &GlobalArgs) -> Self {
        let dumb = std::env::var("TERM").is_ok_and(|t| t == "dumb");
        let terminal = io::stdout().is_terminal();
        let color = |terminal: bool| match global.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => terminal && !dumb && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        };
        let form = match (global.json, global.markdown) {
            (true, _) => Form::Json,
            (false, true) => Form::Markdown,
            (false, false) => Form::Text,
        };
        let is_text = form != Form::Markdown;
        let (width, rows) = if terminal && is_text { size() } else { (80, 0) };
        let style = Style { ascii: dumb || !utf8_locale(), colour: color(terminal) && is_text, width };
        let details = global.details;
        Self { terminal, rows, details, ..Self::with(form, style, color(io::stderr().is_terminal())) }
    }

    fn with(form: Form, style: Style, colour_beside: bool) -> Self {
        Self {
            form,
            style,
            terminal: false,
            rows: 0,
            details: false,
            lost: RefCell::default(),
            answered: Cell::new(false),
            colour_beside,
            red: Cell::new(false),
            last_word: RefCell::default(),
        }
    }

    /// The same places in the same style, for a thread of its own.
    pub fn for_another_thread(&self) -> Self {
        let Self { terminal, rows, details, .. } = *self;
        Self { terminal, rows, details, ..Self::with(self.form, self.style, self.colour_beside) }
    }

    /// JSON, whatever else was asked.
    pub fn json() -> Self {
        Self::with(Form::Json, Style { ascii: true, colour: false, width: 80 }, false)
    }

    /// Whether a JSON document is wanted.
    pub fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Whether Markdown is wanted.
    pub fn is_markdown(&self) -> bool {
        self.form == Form::Markdown
    }

    /// Whether text goes to a terminal, and not into a file or a pipe.
    pub fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Whether all of an answer is wanted where a terminal gets less.
    pub fn has_details(&self) -> bool {
        self.details
    }

    /// How text is to look.
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Prints text, as Markdown as it is.
    pub fn text(&self, text: &str) {
        match self.is_markdown() && !text.is_empty() {
            true => self.apart(&report::verbatim(text)),
            false => self.print(text),
        }
    }

    /// Prints what another process has put into its form, apart from what stands above.
    pub fn part_as_it_is(&self, text: &str) {
        if self.is_markdown() { self.apart(text) } else { self.print(text) }
    }

    /// Prints what stands by itself.
    fn apart(&self, text: &str) {
        self.print(&format!("{}{text}", if self.answered.get() { "\n" } else { "" }));
    }

    /// Prints what has no form of its own. A reader that went away (`| head`) is no error; any other is remembered for [`Self::lost`].
    fn print(&self, text: &str) {
        self.answered.set(true);
        let mut out = io::stdout().lock();
        if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
            && error.kind() != ErrorKind::BrokenPipe
        {
            self.lost.borrow_mut().get_or_insert(error);
        }
    }

    /// What could not be printed, if anything: a redirection into a full file system must not look like success.
    pub fn lost(&self) -> Option<Failure> {
        self.lost.borrow().as_ref().map(|error| {
            Failure::environment(format!("the answer could not be written to stdout: {error}"))
                .remedy("a run that was made is kept: narrows runs show latest")
        })
    }

    /// Prints one document.
    pub fn document(&self, document: &impl Serialize) {
        match to_json(document) {
            Ok(text) => self.print(&text),
            Err(error) => self.warning(&format!("cannot write the document: {error}")),
        }
    }

    /// The answer of a command: its document, or what it says in the form and style of this output. On a terminal no more than a screen
    /// with the sentences that answer at its end, unless `--details` asks for all.
    pub fn answer(&self, document: &impl Serialize, said: impl FnOnce() -> Presentation) {
        self.answer_in(document, said, self.details);
    }

    /// As [`Self::answer`], all of it on a terminal, too.
    pub fn answer_whole(&self, document: &impl Serialize, said: impl FnOnce() -> Presentation) {
        self.answer_in(document, said, true);
    }

    fn answer_in(&self, document: &impl Serialize, said: impl FnOnce() -> Presentation, whole: bool) {
        match self.form {
            Form::Json => self.document(document),
            Form::Markdown => self.print(&said().markdown()),
            Form::Text => self.print(&self.on_screen(&said(), whole)),
        }
    }

    /// What is said, as this terminal has room for it. Of a long `whole` one the sentence that answers closes it where it is no longer
    /// on the screen.
    fn on_screen(&self, said: &Presentation, whole: bool) -> String {
        let sentences: Vec<String> = said.answers().into_iter().map(|s| self.sanitize(s)).collect();
        let rows = self.rows.saturating_sub(2);
        if !whole && rows > 0 {
            return said.on_screen(&self.style, rows, &sentences);
        }
        let text = said.text(&self.style);
        let is_long = rows > 0 && text.lines().nth(rows).is_some();
        let gone = !report::text::is_in_last_lines(&text, rows, &sentences.join(" "));
        if is_long && gone { text + &report::closing(&sentences, &self.style) } else { text }
    }

    /// A part of an answer, apart from what stands above.
    pub fn part(&self, said: &Presentation) {
        self.apart(&if self.is_markdown() { said.markdown() } else { self.on_screen(said, self.details) });
    }

    /// An answer that is a text and nothing else.
    pub fn answer_text<T: AsRef<str>>(&self, document: &impl Serialize, text: impl FnOnce(&Style) -> T) {
        match self.is_json() {
            true => self.document(document),
            false => self.text(text(&self.style).as_ref()),
        }
    }

    /// What a person may want to know, on stderr.
    pub fn aside(&self, text: &str) {
        let _ = write!(io::stderr().lock(), "{}", told(text, self.style.ascii, self.style.columns()));
    }

    /// Says something beside the answer, on stderr.
    pub fn warning(&self, text: &str) {
        let text = format!("narrows: {}", self.sanitize(text));
        let _ = writeln!(io::stderr().lock(), "{}", told(&text, self.style.ascii, self.style.columns()));
    }

    /// The failure that is said next left something changed: it is red where colours are.
    pub fn in_red(&self) {
        self.red.set(true);
    }

    /// Keeps what is still changed until all else is said.
    pub fn still_changed(&self, failure: Failure) {
        self.last_word.borrow_mut().get_or_insert(failure);
    }

    /// Says what is still changed, if anything is.
    pub fn last_word(&self) -> Option<Failure> {
        let failure = self.last_word.take()?;
        self.in_red();
        self.beside(&failure);
        Some(failure)
    }

    /// Says what went wrong: a document on stdout, or text on stderr.
    pub fn failure(&self, failure: &Failure) {
        if self.is_json() {
            self.document(&ErrorDocument::new(failure));
            return;
        }
        self.beside(failure);
    }

    /// The same where the answer is another tool's JSON: whatever happens stdout has one document, and a person reads stderr.
    pub fn failure_of_document(&self, failure: &Failure) {
        self.beside(failure);
        if !self.answered.get() {
            self.document(&ErrorDocument::new(failure));
        }
    }

    /// Says on stderr what went wrong beside an answer that is out already.
    pub fn beside(&self, failure: &Failure) {
        let mut err = io::stderr().lock();
        let style = Style { colour: self.colour_beside && self.red.get(), ..self.style };
        // Whoever reads it by a program has each in one line.
        let columns = if err.is_terminal() { style.columns() } else { usize::MAX };
        for line in report::text::broken(&format!("narrows: {}", self.sanitize(&failure.message)), columns) {
            let _ = writeln!(err, "{}", style.paint(Paint::Bad, &line));
        }
        for line in failure.remedy.iter().flat_map(|r| report::text::broken(&self.sanitize(r), columns - 2)) {
            let _ = writeln!(err, "  {line}");
        }
    }

    /// Messages name files and devices, whose names may hold what acts on a terminal.
    fn sanitize(&self, text: &str) -> String {
        report::text::plain_lines(text, self.style.ascii)
    }
}
