//! `narrows why` as text: ranked causes with what they rest on, what would decide, and what mending brings.

use crate::evidence::{Worded, confidence_word, with_confidence};
use crate::fact;
use crate::headline;
use crate::lines::Lines;
use crate::text::pad;
use crate::{Paint, Style, storage_line};
use model::{Cause, Confirmation, Evidence, Finding, Limit, NextStep, Run, Undecided, json_name};

/// An attribution, borrowed from the rooms that made it.
#[derive(Clone, Copy, Debug)]
pub struct Why<'a> {
    pub run: &'a Run,
    /// The bottleneck.
    pub limit: &'a Limit,
    /// All that may hold the run back, the most telling first, with what to do about each; the bottleneck may be none of them.
    pub causes: &'a [Cause],
    /// Named conditions that hold.
    pub findings: &'a [Finding],
    /// Those that can neither be named nor ruled out.
    pub unknown: &'a [Undecided],
    /// What to do next.
    pub next_step: Option<&'a NextStep>,
    /// What the deciding measurement gave, where it was run.
    pub confirmation: Option<&'a Confirmation>,
}

/// Columns of the words before evidence and advice.
const LABEL_COLUMNS: usize = 13;
/// Conditions that are listed with what they lack; the rest are counted.
const UNDECIDED_LINES: usize = 6;

/// The whole attribution, within the columns of the style.
pub fn why_text(why: &Why<'_>, style: &Style) -> String {
    let mut page = Page { lines: Lines::new(style) };
    page.head(why);
    // The bottleneck may be one of the causes, or what holds the row of the card that decides what the target is good for.
    if !why.causes.iter().any(|cause| cause.is_limit) {
        page.evidence(why.run, &why.limit.evidence);
        if let Some(step) = why.next_step {
            page.labelled("Try", &step_words(step));
        }
        if !why.causes.is_empty() {
            page.heading("Other causes considered");
        }
    }
    for (index, cause) in why.causes.iter().enumerate() {
        page.cause(why.run, index + 1, cause);
    }
    if let Some(confirmation) = why.confirmation {
        page.confirmation(why.run, confirmation);
    }
    page.findings(why);
    page.lines.out
}

fn step_words(step: &NextStep) -> String {
    match step.predicted_ratio {
        Some(ratio) => format!("{}: at most {ratio} times ({})", step.step.text(), step.basis),
        None => format!("{} ({})", step.step.text(), step.basis),
    }
}

struct Page<'a> {
    lines: Lines<'a>,
}

impl Page<'_> {
    fn heading(&mut self, words: &str) {
        self.lines.line("");
        self.lines.line(&self.lines.style.paint(Paint::Title, words));
    }

    fn labelled(&mut self, label: &str, text: &str) {
        self.lines.wrapped(&format!("     {}", pad(label, LABEL_COLUMNS)), text, None);
    }

    fn head(&mut self, why: &Why<'_>) {
        self.lines.title(&format!("narrows why {}", why.run.target.name), &why.run.id);
        self.lines.wrapped("", &storage_line(why.run), None);
        if let Some(words) = headline::state_words(why.run.state) {
            self.lines.wrapped("", words, Some(Paint::Warn));
        }
        self.lines.line("");
        let statement = why.limit.statement.trim_end_matches('.');
        let place = with_confidence(statement, why.limit.layer, why.limit.confidence);
        self.lines.wrapped("Bottleneck: ", &place, Some(Paint::Accent));
    }

    fn evidence(&mut self, run: &Run, evidence: &[Evidence]) {
        for (i, e) in evidence.iter().enumerate() {
            self.labelled(if i == 0 { "Evidence" } else { "" }, &Worded::of(run, e).line());
        }
    }

    fn cause(&mut self, run: &Run, number: usize, cause: &Cause) {
        self.lines.line("");
        let head = format!("{}, {}", json_name(&cause.layer), confidence_word(cause.confidence));
        let head = self.lines.style.paint(Paint::Title, &head);
        self.lines.line(&format!("{number:>3}  {head}"));
        self.lines.wrapped("     ", &cause.statement, None);
        self.evidence(run, &cause.evidence);
        self.labelled("Decided by", &cause.decided_by);
        if let Some(step) = &cause.next_step {
            self.labelled("Try", &step_words(step));
        }
    }

    fn confirmation(&mut self, run: &Run, confirmation: &Confirmation) {
        self.lines.line("");
        let (word, paint) = match confirmation.holds {
            Some(true) => ("the deciding measurement agrees", Paint::Accent),
            Some(false) => ("the deciding measurement disagrees", Paint::Bad),
            None => ("the deciding measurement leaves it open", Paint::Warn),
        };
        let head = format!("{word}: {}", confirmation.statement);
        self.lines.wrapped("Confirmed? ", &head, Some(paint));
        self.evidence(run, &confirmation.evidence);
        let confidence = confidence_word(confirmation.confidence);
        self.labelled("Now", &format!("{}, {confidence}", json_name(&confirmation.layer)));
        self.labelled("Run", &confirmation.run_id);
    }

    fn findings(&mut self, why: &Why<'_>) {
        if !why.findings.is_empty() {
            self.heading("Findings");
        }
        for f in why.findings {
            let text = format!("{} ({}, {})", f.title, json_name(&f.layer), confidence_word(f.confidence));
            self.lines.wrapped(&format!("  {}  ", f.id), &text, None);
            let evidence: Vec<String> = f.evidence.iter().map(|e| Worded::of_fact(e).line()).collect();
            if !evidence.is_empty() {
                self.lines.wrapped("    ", &evidence.join("; "), Some(Paint::Dim));
            }
        }
        if !why.unknown.is_empty() {
            self.heading("Neither named nor ruled out");
        }
        for u in why.unknown.iter().take(UNDECIDED_LINES) {
            let text = format!("lacks {}: {}", fact::name(&u.missing), u.how_to_get);
            self.lines.wrapped(&format!("  {}  ", u.id), &text, Some(Paint::Dim));
        }
        if let Some(more) = why.unknown.len().checked_sub(UNDECIDED_LINES).filter(|n| *n > 0) {
            self.lines.line(&self.lines.style.paint(Paint::Dim, &format!("  and {more} more (--json lists all)")));
        }
    }
}
