//! `narrows/completions/1`.

use serde::Serialize;

/// What `narrows completions SHELL --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct CompletionsDocument<'a> {
    /// `narrows/completions/1`.
    pub schema: &'static str,
    /// For which shell: `bash`.
    pub shell: &'a str,
    pub script: &'a str,
}

impl<'a> CompletionsDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/completions/1";

    /// The document of a script.
    pub fn new(shell: &'a str, script: &'a str) -> Self {
        Self { schema: Self::SCHEMA, shell, script }
    }
}
