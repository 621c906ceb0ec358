//! Text that is written line by line, within the columns of a style.

use crate::text::{pad, plain, shorten, width, wrap_quantities};
use crate::{Paint, Style};

/// What has been written.
pub(crate) struct Lines<'a> {
    pub style: &'a Style,
    /// Columns that are used.
    pub columns: usize,
    pub out: String,
}

impl<'a> Lines<'a> {
    pub fn new(style: &'a Style) -> Self {
        Self { style, columns: style.columns(), out: String::new() }
    }

    /// As wide as the style asks, for lists.
    pub fn of_list(style: &'a Style) -> Self {
        Self { columns: style.width.max(60), ..Self::new(style) }
    }

    /// Text from outside, in which nothing acts.
    pub fn plain(&self, text: &str) -> String {
        plain(text, self.style.ascii)
    }

    /// A line as it is: safe, painted, and no longer than it may be.
    pub fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// `text`, from wherever, wrapped behind `first`; later lines indented by as much.
    pub fn wrapped(&mut self, first: &str, text: &str, paint: Option<Paint>) {
        let indent = width(first);
        for (i, line) in wrap_quantities(&self.plain(text), self.columns.saturating_sub(indent)).iter().enumerate() {
            let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
            let line = paint.map_or_else(|| line.clone(), |p| self.style.paint(p, line));
            self.line(&format!("{lead}{line}"));
        }
    }

    /// The first line: what it is at the left, shortened where it must be, and at the right what tells it from others.
    pub fn title(&mut self, text: &str, right: &str) {
        let right = self.plain(right);
        let room = if right.is_empty() { self.columns } else { self.columns.saturating_sub(width(&right) + 2) };
        let text = self.style.paint(Paint::Title, &pad(&shorten(&self.plain(text), room, self.style.ascii), room));
        self.line(&format!("{text}  {}", self.style.paint(Paint::Dim, &right)));
    }

    /// What stands above a list, with a hint at the right.
    pub fn heading(&mut self, words: &str, hint: &str) {
        let gap = " ".repeat(self.columns.saturating_sub(width(words) + width(hint)));
        let line = format!("{}{gap}{}", self.style.paint(Paint::Accent, words), self.style.paint(Paint::Dim, hint));
        self.line(&line);
    }
}

/// What closes a text that is longer than the screen: its answer once more, sentence by sentence.
pub fn closing(sentences: &[String], style: &Style) -> String {
    let mut lines = Lines::new(style);
    lines.line("");
    sentences.iter().for_each(|sentence| lines.wrapped("", sentence, Some(Paint::Accent)));
    lines.out
}
