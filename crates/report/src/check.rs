//! All that one check has to show, borrowed from the rooms that made it.

use model::{
    Answer, Cause, Conclusions, DepthCurve, Finding, Fit, Limit, LimitLayer, Metric, NextStep, Rating, RowLimit, Run,
    ScaleCurve,
};

/// A run with the conclusions drawn from it: the input of card, Markdown, JSON and page.
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    pub run: &'a Run,
    /// The bottleneck.
    pub limit: &'a Limit,
    pub limits: &'a [RowLimit],
    /// What the target is good for; first what was asked about.
    pub fit: &'a [Fit],
    /// The use that was asked about, by its name, of several all with commas between; they are among those above.
    pub asked_for: Option<&'a str>,
    /// All that may hold the run back, the most telling first; the limit is one of them, unless it is unknown.
    pub causes: &'a [Cause],
    /// Named conditions of the path.
    pub findings: &'a [Finding],
    /// How the target stands to speed classes.
    pub ratings: &'a [Rating],
    /// Phases that differ only in depth, with the knee of each group (`judge::depth_curves`).
    pub depth_curves: &'a [DepthCurve],
    /// How the rate grows with the ranks of a group (`judge::scale_curves`).
    pub scale: &'a [ScaleCurve],
    /// What to do next, where there is advice.
    pub next_step: Option<&'a NextStep>,
    /// What was asked, where that takes more than the metrics.
    pub answer: Option<&'a Answer>,
    /// Of the reports of another tool: each figure over all of them.
    pub over_reports: &'a [Metric],
    /// When the run started, as it is to be shown: `2026-11-20 21:30 UTC`.
    pub started: &'a str,
    /// Where the page lies, as the user can open it; `None` if none was written.
    pub page: Option<&'a str>,
    /// Over ssh: a line that fetches the page, for example `scp host:path .`.
    pub fetch: Option<&'a str>,
}

fn is_good_for(fit: &[Fit], asked_for: Option<&str>) -> bool {
    let good = |name: &str| fit.iter().any(|f| f.what == name && f.met == Some(true));
    asked_for.is_some_and(|names| names.split(',').all(good))
}

impl<'a> Check<'a> {
    /// A run with what was concluded of it; no page was written.
    pub fn of(run: &'a Run, conclusions: &'a Conclusions, started: &'a str) -> Self {
        let Conclusions { limit, causes, findings, limits, next_step, judged } = conclusions;
        Self {
            run,
            limit,
            limits,
            fit: &judged.fit,
            asked_for: judged.asked_for.as_deref(),
            causes,
            findings,
            ratings: &judged.ratings,
            depth_curves: &judged.depth_curves,
            scale: &judged.scale,
            next_step: next_step.as_ref().filter(|_| !is_good_for(&judged.fit, judged.asked_for.as_deref())),
            answer: judged.answer.as_ref(),
            over_reports: &judged.over_reports,
            started,
            page: None,
            fetch: None,
        }
    }

    /// Whether it has the card and the page of an overview; any other run is shown by the shape of its phases.
    pub(crate) fn is_check(&self) -> bool {
        self.run.is_overview()
    }

    /// Whether it is good for each use that was asked about: then nothing has to be done for that.
    pub(crate) fn is_good_for_what_was_asked(&self) -> bool {
        is_good_for(self.fit, self.asked_for)
    }

    /// What the bottleneck is called: a check for a use measures what decides that, and names what holds that back.
    pub(crate) fn bottleneck_words(&self) -> String {
        self.asked_for
            .map_or_else(|| "Bottleneck".to_owned(), |uses| format!("Bottleneck for {}", uses.replace(',', ", ")))
    }

    /// Whether the diagnosis found the layer that limits.
    pub(crate) fn limit_is_known(&self) -> bool {
        self.limit.layer != LimitLayer::Unknown
    }

    /// What was asked, as on the command line: `check`, `run depth`.
    pub(crate) fn asked(&self) -> String {
        match ["check", &self.run.plan.name].contains(&self.run.command.as_str()) || self.run.plan.name.is_empty() {
            true => self.run.command.clone(),
            false => format!("{} {}", self.run.command, self.run.plan.name),
        }
    }
}
