//! Errors in texts of users: file, line, key, and the nearest thing that is supported.

use std::fmt;

/// Where something stands in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextPosition {
    /// As the caller named it; `--set` for what came from there.
    pub file: String,
    /// From 1 on; 0 where there is none.
    pub line: u32,
}

impl TextPosition {
    /// What was said by `--set`.
    pub fn command_line() -> Self {
        Self { file: "--set".to_owned(), line: 0 }
    }

    /// A mistake that stands here.
    pub fn error(&self, kind: TextErrorKind, key: &str, what: impl Into<String>) -> TextError {
        TextError { kind, place: self.clone(), key: key.to_owned(), what: what.into(), nearest: None }
    }
}

/// A text that is read, and where its lines start.
pub(crate) struct Text<'t> {
    file: &'t str,
    starts: Vec<usize>,
}

impl<'t> Text<'t> {
    pub fn new(file: &'t str, text: &str) -> Self {
        Self { file, starts: text.match_indices('\n').map(|(at, _)| at + 1).collect() }
    }

    /// The place where some bytes of it start; without any, its beginning.
    pub fn place(&self, bytes: Option<std::ops::Range<usize>>) -> TextPosition {
        let lines = bytes.map_or(0, |bytes| self.starts.partition_point(|start| *start <= bytes.start));
        TextPosition { file: self.file.to_owned(), line: 1 + lines as u32 }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// What kind of mistake it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextErrorKind {
    /// A text is needed: the caller reads it and asks again. [`TextError::key`] is its name.
    NeedsInclude,
    /// A key or option that exists nowhere.
    Unknown,
    /// Known, but not supported.
    Unsupported,
    /// A value that cannot be read.
    Value,
    /// A variable that the environment does not have.
    Variable,
    /// The form of the text.
    Form,
}

/// A mistake in a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place}: {}{what}{}",
    if .key.is_empty() { String::new() } else { format!("{key}: ") },
    .nearest.as_ref().map(|n| format!("; nearest supported: {n}")).unwrap_or_default()
)]
pub struct TextError {
    pub kind: TextErrorKind,
    pub place: TextPosition,
    /// The key or option.
    pub key: String,
    /// What is wrong.
    pub what: String,
    /// The nearest thing that is supported.
    pub nearest: Option<String>,
}

impl TextError {
    /// The same as it may be quoted by who reads the text of this name.
    pub(crate) fn quotable(self, own: &str) -> Self {
        if self.place.file == own || self.place.line == 0 { self.of_own() } else { self.of_included() }
    }

    /// The same without what the text says. What is included by a slip may be no workload at all but a file of passwords,
    /// and an error is printed and kept in runs: it names file, line, and a key that is known or nearly so.
    fn of_included(mut self) -> Self {
        match self.kind {
            // Of a variable the name is told, and that is a word.
            TextErrorKind::NeedsInclude | TextErrorKind::Form | TextErrorKind::Variable => {}
            TextErrorKind::Value => "its value is none that this key takes".clone_into(&mut self.what),
            TextErrorKind::Unsupported if self.what.starts_with("is not supported") => {}
            TextErrorKind::Unsupported => "its value is not supported".clone_into(&mut self.what),
            TextErrorKind::Unknown if self.nearest.is_some() => {}
            TextErrorKind::Unknown => {
                self.key.clear();
                "a key that is not known".clone_into(&mut self.what);
            }
        }
        self.of_own()
    }

    /// The same with a key only if it looks like one: a line of another kind of file is no key.
    pub(crate) fn of_own(mut self) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_key = self.key.len() <= 48 && self.key.chars().all(plain);
        if self.kind != TextErrorKind::NeedsInclude && self.place.line > 0 && !is_key {
            self.key.clear();
            if self.kind == TextErrorKind::Unknown {
                "is not a KEY=VALUE".clone_into(&mut self.what);
            }
        }
        self
    }

    /// With what it is most like.
    pub fn with_nearest(mut self, nearest: Option<String>) -> Self {
        self.nearest = nearest;
        self
    }
}
