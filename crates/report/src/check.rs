//! All that one check has to show, borrowed from the rooms that made it.

use model::{Cause, Finding, Limit, NextStep, Rating, Run};

/// A run with the conclusions drawn from it: the input of card, Markdown, JSON and page.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The run.
    pub run: &'a Run,
    /// The narrow place.
    pub limit: &'a Limit,
    /// All that may hold the run back, the most telling first; the limit is one of them, unless it is unknown.
    pub causes: &'a [Cause],
    /// Named conditions of the path.
    pub findings: &'a [Finding],
    /// How the target stands to speed classes.
    pub ratings: &'a [Rating],
    /// What to do next, where there is advice.
    pub next_step: Option<&'a NextStep>,
    /// When the run started, as it is to be shown: `2026-11-20 21:30 UTC`.
    pub started: &'a str,
    /// Where the page lies, as the user can open it; `None` if none was written.
    pub page: Option<&'a str>,
    /// Over ssh: a line that fetches the page, for example `scp host:path .`.
    pub fetch: Option<&'a str>,
}
