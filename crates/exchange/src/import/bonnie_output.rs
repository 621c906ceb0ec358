//! Everything that bonnie++ prints in one file: tables, comma-separated lines, and both of the same run.

use super::bonnie::{Cell, Results};
use super::{Found, ImportedRun, Text, bonnie_csv, bonnie_table};
use crate::bonnie_tests::{IO_TESTS, TESTS};
use std::collections::VecDeque;

/// A table prints three digits or more: what differs by less is the same number.
const SAME: f64 = 0.06;
/// Tables that wait for their lines.
const MAX_TABLES: usize = 256;
/// Lines that a mail program may have broken one result into.
const BROKEN_LINES: usize = 6;

/// Whether there is anything of bonnie++ in the text.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| {
        bonnie_table::is_heading(line) || line.matches(',').count() + 1 >= 10 && bonnie_csv::is_start(bare(line))
    })
}

/// Reads all results.
pub(super) fn read(text: &Text, found: &mut Found) {
    // The tables that no comma-separated line has repeated yet: of several runs, all tables may stand before all lines.
    let mut tables: VecDeque<Results> = VecDeque::new();
    let mut number = 1;
    while number <= text.line_count() {
        let line = text.line(number);
        if found.is_used(number) {
            number += 1;
        } else if bonnie_table::is_heading(line) {
            match bonnie_table::read(text, number, found) {
                Some((results, next)) => {
                    tables.push_back(results);
                    if tables.len() > MAX_TABLES {
                        finish(tables.pop_front(), found);
                    }
                    number = next.max(number + 1);
                }
                None => number += 1,
            }
        } else if bonnie_csv::is_header(line) {
            found.used(number);
            number += 1;
        } else {
            number += comma_line(text, number, &mut tables, found);
        }
    }
    tables.into_iter().for_each(|table| finish(Some(table), found));
}

/// Reads a comma-separated line, if this is one. Gives how many lines it took.
fn comma_line(text: &Text, number: usize, tables: &mut VecDeque<Results>, found: &mut Found) -> usize {
    let line = bare(text.line(number));
    if line.matches(',').count() < 2 || !bonnie_csv::is_start(line) {
        return 1;
    }
    let (parsed, lines) = match bonnie_csv::parse(line) {
        Ok(results) => (Ok(results), 1),
        Err(why) => match joined(text, number) {
            Some((results, lines)) => (Ok(results), lines),
            None => (Err(why), 1),
        },
    };
    match parsed {
        Ok(mut results) => {
            results.first_line = number;
            let same = tables.iter().position(|t| is_same(t, &results));
            if let Some(same) = same.and_then(|place| tables.remove(place)) {
                results.first_line = same.first_line;
                // The line of 1.03 does not tell its version.
                results.version = results.version.or(same.version);
            }
            found.used_range(number, number + lines - 1);
            let mut run = results.into_run("bonnie-csv", found.file);
            if lines > 1 {
                run.remark("its line was broken, as mail programs do, and was joined again");
            }
            found.push(run);
        }
        // A line of fewer fields may be of anything.
        Err(why) if line.matches(',').count() + 1 >= bonnie_csv::FIELDS_MIN / 2 => found.not_understood(number, why),
        Err(_) => {}
    }
    lines
}

/// A result broken into several lines, wherever the margin was: only if all of them together make a whole one.
fn joined(text: &Text, number: usize) -> Option<(Results, usize)> {
    let mut line = bare(text.line(number)).to_owned();
    for lines in 2..=BROKEN_LINES {
        let next = bare(text.line(number + lines - 1));
        if next.is_empty() || bonnie_csv::is_start(next) && next.matches(',').count() + 1 >= bonnie_csv::FIELDS_MIN {
            return None;
        }
        line.push_str(next);
        if let Ok(results) = bonnie_csv::parse(&line) {
            return Some((results, lines));
        }
    }
    None
}

/// Without what a mail, a page or a script puts before a line.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '|' | '#'))
}

fn finish(table: Option<Results>, found: &mut Found) {
    if let Some(results) = table {
        let run: ImportedRun = results.into_run("bonnie-text", found.file);
        found.push(run);
    }
}

/// Whether a table and a comma-separated line are of one run: they name the same machine, have run the same tests and agree
/// in every figure, as far as the table's digits go.
fn is_same(table: &Results, line: &Results) -> bool {
    let near = |a: &Cell, b: &Cell| match (a.value(), b.value()) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME * b.abs().max(1.0),
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    };
    // The table cuts long names. Figures wider than their columns can leave a half of it unread: the line has them.
    line.name.starts_with(&table.name)
        && (0..TESTS).all(|i| {
            table.unread_io && i < IO_TESTS
                || (table.doubtful_files && i >= IO_TESTS || near(&table.rates[i], &line.rates[i]))
                    && near(&table.cpus[i], &line.cpus[i])
                    && (table.latencies[i] == Cell::NotRun || near(&table.latencies[i], &line.latencies[i]))
        })
}
