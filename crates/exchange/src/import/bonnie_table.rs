//! bonnie++'s table for people: 1.03, 1.9x and 2.00.
//!
//! The heading stands at fixed columns; below it, twelve cells are taken in order, fewer (tests that were skipped are blank)
//! by the columns they end in. A number wider than its column pushes the rest to the right, by a few characters at most.

use super::aligned::{Word, by_ends, words};
use super::bonnie::{self, Cell, Results};
use super::{Found, Text};
use crate::bonnie_tests::{IO_TESTS, NAMES, TESTS};

/// Characters before the heading of the first test.
const LEFT: usize = 20;
/// Characters of a pair of rate and CPU.
const PAIR: usize = 10;
/// How far a number may stand from its column: wide neighbours push it.
const SLACK: usize = 4;
/// Lines from a heading to its figures: two more of heading, and blank ones.
const HEADING_LINES: usize = 4;

const IO_HEADING: &str = "------Sequential Output------ --Sequential Input-";
const FILES_HEADING: &str = "------Sequential Create------ --------Random Create--------";

/// Whether a line opens a table.
pub(crate) fn is_heading(line: &str) -> bool {
    line.contains(IO_HEADING) || line.contains(FILES_HEADING)
}

/// Reads a table that a heading opens, both halves if they follow one another. Gives the results and the line after them;
/// `None` where there are no figures below the heading.
pub(crate) fn read(text: &Text, heading: usize, found: &mut Found) -> Option<(Results, usize)> {
    let mut results = Results { first_line: heading, ..Results::default() };
    let mut next = heading;
    if text.line(heading).contains(IO_HEADING) {
        next = half(text, heading, true, &mut results, found)?;
    }
    let files = (next..next + 2).find(|n| text.line(*n).contains(FILES_HEADING));
    let after = files.and_then(|at| half(text, at, false, &mut results, found));
    if let Some(after) = after {
        next = after;
    }
    (next > heading && !results.is_empty()).then_some((results, next))
}

/// Reads one half of a table: its heading, its figures and, from 1.9x on, their latencies. Gives the line after it.
fn half(text: &Text, heading: usize, io: bool, results: &mut Results, found: &mut Found) -> Option<usize> {
    let first = text.line(heading);
    // Copied into a mail or a page the table is indented, or quoted with `> `.
    let shift = column_of(first, if io { IO_HEADING } else { FILES_HEADING })?.checked_sub(LEFT)?;
    let opening = unquoted(first, shift);
    if let [label, number, ..] = words(&opening).as_slice()
        && label.text == "Version"
    {
        results.version = Some(number.text.to_owned());
    }
    let is_last = |n: &usize| text.line(*n).matches("%CP").count() == 6;
    let columns = (heading + 1..heading + HEADING_LINES).find(is_last)?;
    if io {
        let concurrency = unquoted(text.line(heading + 1), shift);
        if let [word, number, ..] = words(&concurrency).as_slice()
            && word.text == "Concurrency"
        {
            results.concurrency = number.text.to_owned();
        }
        results.doubtful_files = text.line(columns).contains("Name:Size");
    } else {
        // The name stands in the second line of the files' heading, where there is no first half to give it.
        let name: String = unquoted(text.line(heading + 1), shift).chars().take(LEFT).collect();
        if results.name.is_empty() {
            results.name = name.trim().to_owned();
        }
        results.doubtful_files |= results.version.as_deref().is_some_and(|v| v.starts_with('2'));
    }
    let figures = columns + 1;
    let tests = if io { 0..IO_TESTS } else { IO_TESTS..TESTS };
    match fill(&unquoted(text.line(figures), shift), io, results) {
        Ok(()) => found.used_range(heading, figures),
        Err(why) => {
            found.used_range(heading, columns);
            // A table that was cut off has no line of figures to point at.
            let at = if text.line(figures).trim().is_empty() { columns } else { figures };
            found.not_understood(at, why);
            results.unread_io |= io;
            return Some(figures + 1);
        }
    }
    let latencies = unquoted(text.line(figures + 1), shift);
    if !latencies.trim_start().starts_with("Latency") {
        return Some(figures + 1);
    }
    match latency_cells(&latencies) {
        Some(cells) => {
            results.latencies[tests].clone_from_slice(&cells);
            found.used(figures + 1);
        }
        None => found.not_understood(figures + 1, "these are not six latencies of bonnie++"),
    }
    Some(figures + 2)
}

/// At which character a part of a line begins.
fn column_of(line: &str, part: &str) -> Option<usize> {
    line.find(part).map(|at| line[..at].chars().count())
}

/// The line without the characters that came before the table when it was copied; never cuts into a figure.
fn unquoted(line: &str, shift: usize) -> String {
    let prefix: usize =
        line.chars().take(shift).take_while(|c| c.is_whitespace() || matches!(c, '>' | '|' | '#')).count();
    line.chars().skip(prefix).collect()
}

/// Where the twelve cells of a row end.
fn ends() -> Vec<usize> {
    (0..IO_TESTS).flat_map(|i| [LEFT + PAIR * i + 5, LEFT + PAIR * i + 9]).collect()
}

fn fill(line: &str, io: bool, results: &mut Results) -> Result<(), String> {
    let all = words(line);
    let first = if io {
        // The name may hold blanks and may be missing; the size follows it.
        let size = all.iter().position(|w| bonnie::is_size(w.text)).filter(|at| all[*at].start < LEFT);
        let at = size.ok_or("there is no size of a file in it")?;
        let name: Vec<&str> = all[..at].iter().map(|w| w.text).collect();
        results.name = name.join(" ");
        results.size = all[at].text.to_owned();
        at + 1
    } else {
        results.files = all.first().map(|w| w.text.to_owned()).unwrap_or_default();
        1
    };
    let cells = all.get(first..).unwrap_or_default();
    let places = match cells.len() {
        12 => Some((0..12).collect()),
        0 => None,
        _ => by_ends(cells, &ends(), SLACK),
    };
    let places: Vec<usize> = places.ok_or("its figures are not under their headings")?;
    let base = if io { 0 } else { IO_TESTS };
    let mut row: [Option<&Word>; 12] = [None; 12];
    for (place, word) in places.iter().zip(cells) {
        row[*place] = Some(word);
    }
    for pair in 0..IO_TESTS {
        let test = base + pair;
        let text = |i: usize| row[2 * pair + i].map_or("", |w| w.text);
        let name = NAMES[test];
        let rate = bonnie::rate(test, text(0)).ok_or_else(|| format!("'{}' is not a rate of {name}", text(0)))?;
        let cpu = bonnie::cpu(text(1)).ok_or_else(|| format!("'{}' is not a share of CPU of {name}", text(1)))?;
        if std::mem::discriminant(&rate) != std::mem::discriminant(&cpu) {
            return Err(format!("there is no pair of rate and share of CPU of {name}"));
        }
        results.rates[test] = rate;
        results.cpus[test] = cpu;
    }
    Ok(())
}

/// The six worst latencies of a half, by where they end.
fn latency_cells(line: &str) -> Option<[Cell; IO_TESTS]> {
    let all = words(line);
    let cells = all.get(1..)?;
    let ends: Vec<usize> = (1..=IO_TESTS).map(|i| 17 + PAIR * i).collect();
    let places = if cells.len() == IO_TESTS { (0..IO_TESTS).collect() } else { by_ends(cells, &ends, SLACK)? };
    let mut out: [Cell; IO_TESTS] = Default::default();
    for (place, word) in places.into_iter().zip(cells) {
        out[place] = bonnie::latency(word.text)?;
    }
    Some(out)
}
