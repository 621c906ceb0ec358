//! Targets as rows and metrics as columns, in as many blocks as the width needs.

use super::{Cell, Rank, cell, line, order, shown};
use crate::text::{pad, plain, shorten, width};
use crate::{Paint, Style, quantity};
use model::RankedMetric;

/// Columns of a metric, with the space before it.
const METRIC: usize = 11;
/// Columns of a target's name at most.
const NAME: usize = 24;

pub(super) fn tables(out: &mut String, rank: &Rank<'_>, style: &Style) {
    let ranking = rank.ranking;
    let metrics = shown(rank);
    let order = order(ranking, metrics.first().copied());
    let names: Vec<String> =
        ranking.targets.iter().map(|t| shorten(&plain(&t.name, style.ascii), NAME, style.ascii)).collect();
    let name_columns = names.iter().map(|n| width(n)).max().unwrap_or(0).max(4);
    let blocks = (style.columns().saturating_sub(name_columns) / METRIC).max(1);
    for block in metrics.chunks(blocks) {
        line(out, "");
        let columns: Vec<Vec<&RankedMetric>> =
            block.iter().map(|i| ranking.targets.iter().map(|t| &t.metrics[*i]).collect()).collect();
        let heads: Vec<Vec<String>> =
            columns.iter().map(|c| head(&plain(&crate::compare::metric_words(&c[0].id), style.ascii))).collect();
        for row in 0..heads.iter().map(Vec::len).max().unwrap_or(0) {
            let mut text = pad("", name_columns);
            for h in &heads {
                text += &right(h.get(row).map_or("", String::as_str));
            }
            line(out, &style.paint(Paint::Dim, text.trim_end()));
        }
        for &target in &order {
            let mut text = pad(&names[target], name_columns);
            for column in &columns {
                let Cell { words, place } = cell(column[target], column);
                text += &right(&if place.is_empty() { words } else { format!("{words} {place:<2}") });
            }
            line(out, &text);
        }
        if columns.iter().any(|c| c[0].better.is_some()) {
            let mut text = pad("best", name_columns);
            for column in &columns {
                let best = column.iter().find(|m| m.ratio_to_best == Some(1.0)).and_then(|m| m.value);
                text += &right(&best.map_or_else(String::new, |v| quantity::quantity(v, column[0].unit)));
            }
            line(out, &style.paint(Paint::Dim, text.trim_end()));
        }
    }
    notes(out, rank, &metrics, style);
}

/// What the cells mean, and what is not in them.
fn notes(out: &mut String, rank: &Rank<'_>, shown: &[usize], style: &Style) {
    let Some(first) = rank.ranking.targets.first() else { return };
    let of = |i: &usize| &first.metrics[*i];
    let mut notes = Vec::new();
    if shown.iter().any(|i| of(i).better.is_some()) {
        notes.push(
            "Share of the best, or times its time; then the place, = where it cannot be told from the best of it.",
        );
    }
    if shown.iter().any(|i| of(i).better.is_none()) {
        notes.push("Values without a place: which direction is better is not known (--better METRIC=higher).");
    }
    let more = first.metrics.len() - shown.len();
    let more = format!("{more} more metrics: --metric ID, --json")
        .trim_start_matches("0 more metrics: --metric ID, --json")
        .to_owned();
    notes.extend((!more.is_empty()).then_some(more.as_str()));
    if !notes.is_empty() {
        line(out, "");
    }
    for note in notes {
        for l in crate::text::wrap(note, style.columns()) {
            line(out, &style.paint(Paint::Dim, &l));
        }
    }
}

fn right(text: &str) -> String {
    let fill = METRIC.saturating_sub(width(text)).max(1);
    format!("{:fill$}{text}", "")
}

/// An id broken into lines that fit a column, at its separators where it has any.
fn head(id: &str) -> Vec<String> {
    let room = METRIC - 1;
    let mut pieces: Vec<String> = vec![String::new()];
    for c in id.chars() {
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
        if matches!(c, '.' | '_' | '-' | ' ' | '/') {
            pieces.push(String::new());
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces.iter().filter(|p| !p.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + width(piece) <= room => line.push_str(piece),
            _ => {
                let mut left: Vec<char> = piece.chars().collect();
                while !left.is_empty() {
                    let mut take = 0;
                    let mut used = 0;
                    while take < left.len() && used + crate::text::char_width(left[take]) <= room {
                        used += crate::text::char_width(left[take]);
                        take += 1;
                    }
                    let rest = left.split_off(take.max(1));
                    lines.push(left.into_iter().collect());
                    left = rest;
                }
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_break_at_separators_and_fit() {
        assert_eq!(head("read_iops_16k"), ["read_iops_", "16k"]);
        assert_eq!(head("seq-write.throughput_bytes_per_s"), ["seq-write.", "throughput", "_bytes_", "per_s"]);
        assert!(head("").is_empty());
        for id in ["存储存储存储存储", "a.very-long_identifier/of something"] {
            let lines = head(id);
            assert!(lines.iter().all(|l| width(l) < METRIC), "{lines:?}");
            assert_eq!(lines.concat(), id);
        }
    }
}
