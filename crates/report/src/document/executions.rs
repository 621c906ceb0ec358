//! `narrows/experiments/1`.

use serde::Serialize;

/// What `narrows experiment list --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/experiments/1")]
pub struct ExecutionsDocument<'a> {
    /// In the order in which they were started.
    pub experiments: Vec<ExecutionEntry<'a>>,
}

/// One execution of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct ExecutionEntry<'a> {
    /// What `--resume` takes.
    pub id: &'a str,
    /// Name of the experiment.
    pub name: &'a str,
    /// As it was named; `null` where the experiment's text names it.
    pub target: Option<&'a str>,
    /// RFC 3339.
    pub started: &'a str,
    /// Runs that are made.
    pub made: usize,
    /// Runs that there will be.
    pub runs: usize,
    /// Whether all are made.
    pub complete: bool,
}

impl<'a> ExecutionsDocument<'a> {
    /// The document of these executions.
    pub fn new(experiments: Vec<ExecutionEntry<'a>>) -> Self {
        Self { experiments }
    }
}
