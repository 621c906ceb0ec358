//! Text that is written line by line, within the columns of a style.

use crate::text::{width, wrap};
use crate::{Paint, Style};

/// What has been written.
pub(crate) struct Lines<'a> {
    pub style: &'a Style,
    pub out: String,
}

impl<'a> Lines<'a> {
    pub fn new(style: &'a Style) -> Self {
        Self { style, out: String::new() }
    }

    pub fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// `text` wrapped behind `first`, later lines indented by as much.
    pub fn wrapped(&mut self, first: &str, text: &str, paint: Option<Paint>) {
        let indent = width(first);
        for (i, line) in wrap(text, self.style.columns().saturating_sub(indent)).iter().enumerate() {
            let lead = if i == 0 { first.to_owned() } else { " ".repeat(indent) };
            let line = paint.map_or_else(|| line.clone(), |p| self.style.paint(p, line));
            self.line(&format!("{lead}{line}"));
        }
    }
}
