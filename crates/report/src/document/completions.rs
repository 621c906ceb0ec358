//! `narrows/completions/1`.

use serde::Serialize;

/// What `narrows completions SHELL --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/completions/1")]
pub struct CompletionsDocument<'a> {
    /// For which shell: `bash`.
    pub shell: &'a str,
    pub script: &'a str,
}

impl<'a> CompletionsDocument<'a> {
    /// The document of a script.
    pub fn new(shell: &'a str, script: &'a str) -> Self {
        Self { shell, script }
    }
}
