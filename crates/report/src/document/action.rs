//! What was done to runs of the archive, and where a page was written.

use model::Run;
use serde::Serialize;

/// What `narrows runs verify|recover|reindex|tag|delete --json` print.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/action/1")]
pub struct ActionDocument<'a> {
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
    /// Whether it is as it should be: false for an altered bundle, or one that could not be recovered.
    pub ok: bool,
    /// How it went, for people.
    pub result: &'a str,
}

impl<'a> ActionDocument<'a> {
    /// The document of an action on several subjects, all of which went well.
    pub fn new(action: &'a str, lines: &'a [(String, String)]) -> Self {
        let results = lines.iter().map(|(subject, result)| ActionResult { subject, ok: true, result }).collect();
        Self { action, results }
    }

    /// The same, with the subjects that did not go well.
    pub fn except(mut self, failed: &[String]) -> Self {
        for result in &mut self.results {
            result.ok = !failed.iter().any(|f| f == result.subject);
        }
        self
    }
}

/// What `narrows report --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/report/1")]
pub struct PageDocument<'a> {
    /// Id of the run, of several the first.
    pub run_id: &'a str,
    /// Ids of all runs on the page.
    pub run_ids: Vec<&'a str>,
    /// Where the page lies.
    pub report: &'a str,
}

impl<'a> PageDocument<'a> {
    /// The document of a page that was written; `None` of no run.
    pub fn new(runs: &'a [Run], report: &'a str) -> Option<Self> {
        let run_ids: Vec<&str> = runs.iter().map(|r| r.id.as_str()).collect();
        run_ids.first().map(|first| Self { run_id: first, run_ids: run_ids.clone(), report })
    }
}
