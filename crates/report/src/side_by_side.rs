//! Checks of several targets: the same numbers side by side, what limits each target, and last who is good for what.

use crate::Check;
use crate::evidence::with_confidence;
use crate::headline::{self, Notes, ROWS};
use crate::presentation::table::notes;
use crate::presentation::{Cell, Part, Presentation, Row, SectionName, Table, Tone};
use crate::rank::use_sentences;
use crate::verdict;
use model::RankedUse;

/// Of more targets their latencies are left to the document and to each run.
const MOST_WITH_P99: usize = 2;

/// The checks, which are of different targets; `not_checked` are those of which there is none.
pub fn side_by_side(checks: &[Check<'_>], uses: &[RankedUse], not_checked: &[String]) -> Presentation {
    let mut presentation = Presentation::of("check", format!("{} targets", checks.len() + not_checked.len()));
    presentation.head.when = checks.first().map_or_else(String::new, |c| c.started.to_owned());
    presentation.push(SectionName::Numbers, numbers(checks));
    let rows = |say: &dyn Fn(&Check<'_>) -> Option<String>| -> Vec<(String, String)> {
        checks.iter().filter_map(|c| Some((c.run.target.name.clone(), say(c)?))).collect()
    };
    let statements = |title, rows: Vec<(String, String)>| match rows.is_empty() {
        true => Vec::new(),
        false => vec![Part::Statements { title, tone: Tone::Good, rows }],
    };
    presentation.push(
        SectionName::Events,
        statements("Runs (narrows runs show ID)", rows(&|c| Some(c.run.id.clone()).filter(|id| !id.is_empty()))),
    );
    let limit = |c: &Check<'_>| {
        Some(with_confidence(c.limit.statement.trim_end_matches('.'), c.limit.layer, c.limit.confidence))
    };
    // On a screen the numbers beside each other come first.
    presentation.push(SectionName::Limits, statements("Bottleneck", rows(&limit)));
    let asked = checks.iter().any(|c| c.asked_for.is_some());
    let verdicts = if asked { statements("Verdict", rows(&|c| c.answer())) } else { Vec::new() };
    let answers = answers(checks, uses, not_checked);
    let each =
        if asked { Vec::new() } else { use_sentences(uses).into_iter().filter(|s| !answers.contains(s)).collect() };
    let sentences = each.into_iter().chain(answers.iter().cloned()).map(|s| Part::Sentence(Tone::Good, s));
    presentation.push(SectionName::Answer, verdicts.into_iter().chain(sentences).collect());
    presentation.end.answers = answers;
    presentation
}

/// Which to buy, then each target's verdict, in a line each; `not_checked` are the targets without one.
pub(crate) fn answers(checks: &[Check<'_>], uses: &[RankedUse], not_checked: &[String]) -> Vec<String> {
    let verdict = |c: &Check<'_>| format!("{}: {}.", c.run.target.name, in_a_line(c));
    let missing = not_checked.iter().map(|name| format!("{name}: not checked."));
    let asked = checks.iter().any(|c| c.asked_for.is_some());
    let to_buy = if asked { None } else { use_sentences(uses).into_iter().next() };
    to_buy.into_iter().chain(checks.iter().map(verdict)).chain(missing).collect()
}

/// The verdict of one of several, in a few words.
fn in_a_line(check: &Check<'_>) -> String {
    if check.run.fake().is_some() {
        return "a fake: less is there than it says, so it is good for nothing".to_owned();
    }
    let mut asked: Vec<&model::Fit> = Vec::new();
    for fit in check.fit.iter().filter(|f| check.asked_for.is_some_and(|names| f.is_one_of(names))) {
        // One that every check says is there once more.
        if asked.iter().all(|other| other.what != fit.what) {
            asked.push(fit);
        }
    }
    let said = verdict::in_a_line(&asked, check.fit);
    said.unwrap_or_else(|| match headline::state_words(check.run.state) {
        Some(words) => words.trim_end_matches('.').to_lowercase(),
        None => "no number decides what it is good for".to_owned(),
    })
}

/// A row for each kind of work of any of them.
fn numbers(checks: &[Check<'_>]) -> Vec<Part> {
    let mut texts = Notes::default();
    let mut rows = Vec::new();
    for of in &ROWS {
        for work in of.works.into_iter().flatten() {
            let cell = |c: &Check<'_>| match texts.cell(c.run, work, of.quantity) {
                // Of many there is no room for more than the rate.
                Cell::Value { shown, unsteady, .. } if checks.len() > MOST_WITH_P99 => {
                    Cell::Value { shown, p99: None, unsteady }
                }
                cell => cell,
            };
            let cells: Vec<_> = checks.iter().map(cell).collect();
            if cells.iter().any(|c| *c != Cell::Empty) {
                rows.push(Row::new(work.words(), cells));
            }
        }
    }
    let head = checks.iter().map(|c| c.run.target.name.clone()).collect();
    let table = Table { head, rows, ..Table::default() };
    let notes = notes(texts.0, &[&table]);
    let mut parts = vec![Part::Table(table)];
    if !notes.is_empty() {
        parts.push(Part::Notes(notes));
    }
    let gaps = checks.iter().filter_map(|c| {
        let (ns, phase) = headline::worst_stall(c.run)?;
        Some(format!("{} {} in {phase}", c.run.target.name, crate::quantity::quantity(ns, model::Unit::Ns)))
    });
    let gaps: Vec<String> = gaps.collect();
    if !gaps.is_empty() {
        parts.push(Part::Named("Longest gap", gaps.join("; ")));
    }
    parts
}
