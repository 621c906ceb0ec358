//! A text that was read, and not yet understood.

use std::path::PathBuf;

/// In which language a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A workload file of this program (TOML).
    Toml,
    /// fio's job files.
    Fio,
    /// Traced operations.
    Trace,
}

/// A text of a workload or an experiment.
#[derive(Clone, Debug)]
pub struct Source {
    /// As the user named it.
    pub name: String,
    pub text: String,
    pub language: Language,
    /// Where its includes are looked for first.
    pub directory: PathBuf,
}
