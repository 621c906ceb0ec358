//! What was done to runs of the archive, and where a page was written.

use super::RunsDocument;
use model::Run;
use serde::Serialize;

/// What `narrows runs verify|recover|reindex|tag|delete --json` print.
#[derive(Clone, Debug, Serialize)]
pub struct ActionDocument<'a> {
    /// `narrows/runs/1`.
    pub schema: &'static str,
    /// What was asked: `verify`.
    pub action: &'a str,
    /// To what, and how it went.
    pub results: Vec<ActionResult<'a>>,
}

/// One line of an [`ActionDocument`].
#[derive(Clone, Debug, Serialize)]
pub struct ActionResult<'a> {
    /// A run's id, a tag, or a file.
    pub subject: &'a str,
    /// How it went.
    pub result: &'a str,
}

impl<'a> ActionDocument<'a> {
    /// The document of an action on several subjects.
    pub fn new(action: &'a str, lines: &'a [(String, String)]) -> Self {
        let results = lines.iter().map(|(subject, result)| ActionResult { subject, result }).collect();
        Self { schema: RunsDocument::SCHEMA, action, results }
    }
}

/// What `narrows report --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct PageDocument<'a> {
    /// `narrows/report/1`.
    pub schema: &'static str,
    /// Id of the run.
    pub run_id: &'a str,
    /// Where the page lies.
    pub report: &'a str,
}

impl<'a> PageDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/report/1";

    /// The document of a page that was written.
    pub fn new(run: &'a Run, report: &'a str) -> Self {
        Self { schema: Self::SCHEMA, run_id: &run.id, report }
    }
}
