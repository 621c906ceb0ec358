//! Checks of several targets: the same numbers side by side, what limits each target, and last who is good for what.

use crate::Check;
use crate::evidence::with_confidence;
use crate::headline::{self, Notes, ROWS};
use crate::presentation::table::notes;
use crate::presentation::{Head, Part, Presentation, Row, SectionName, Table, Tone};
use crate::rank::use_sentences;
use model::RankedUse;

/// The checks, which are of different targets.
pub fn side_by_side(checks: &[Check<'_>], uses: &[RankedUse]) -> Presentation {
    let head = Head {
        command: "check".to_owned(),
        subject: format!("{} targets", checks.len()),
        when: checks.first().map_or_else(String::new, |c| c.started.to_owned()),
        ..Head::default()
    };
    let mut presentation = Presentation { head, ..Presentation::default() };
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
    presentation.push(SectionName::Bottleneck, statements("Bottleneck", rows(&limit)));
    let asked = checks.iter().any(|c| c.asked_for.is_some());
    let verdicts = if asked { statements("Verdict", rows(&|c| c.answer())) } else { Vec::new() };
    let sentences = if asked { Vec::new() } else { use_sentences(uses) };
    presentation.push(
        SectionName::Answer,
        verdicts.into_iter().chain(sentences.into_iter().map(|s| Part::Sentence(Tone::Good, s))).collect(),
    );
    presentation
}

/// Which to buy for which use, or, where a use was asked about, how each target stands to it.
pub(crate) fn answers(checks: &[Check<'_>], uses: &[RankedUse]) -> Vec<String> {
    let verdict = |c: &Check<'_>| Some(format!("{}: {}", c.run.target.name, c.answer()?));
    match checks.iter().any(|c| c.asked_for.is_some()) {
        true => checks.iter().filter_map(verdict).collect(),
        false => use_sentences(uses),
    }
}

/// A row for each kind of work of any of them.
fn numbers(checks: &[Check<'_>]) -> Vec<Part> {
    let mut texts = Notes::default();
    let mut rows = Vec::new();
    for of in &ROWS {
        for work in of.works.into_iter().flatten() {
            let cells: Vec<_> = checks.iter().map(|c| texts.cell(c.run, work, of.quantity)).collect();
            if cells.iter().any(|c| *c != crate::presentation::Cell::Empty) {
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
