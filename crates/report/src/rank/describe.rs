//! A ranking as parts: who is best at what, targets relative to the best, then which metric goes with which.

use super::Rank;
use super::form::{RankPlace, answers, order, people_words, place, same_order_percent, shown, winners};
use crate::presentation::{Axis, Cell, Part, Presentation, Row, SectionName, Span, Table, Tone};
use crate::quantity;
use model::{Prediction, RankedMetric, Reason};

/// Predictors of each kind that text has; the rest are counted.
const PREDICTORS: usize = 16;
/// Columns of a table of predictors: tau, its interval, and what only a page has room for.
const HEAD: [&str; 9] =
    ["tau", "interval", "95 %", "pairs in one order", "p", "p, all tried", "one left out", "targets", "remark"];
const PAGE_ONLY: [usize; 4] = [4, 6, 7, 8];

/// The ranking: who is best at what, the targets side by side, and what predicts.
pub fn rank(rank: &Rank<'_>) -> Presentation {
    let ranking = rank.ranking;
    let n = ranking.targets.len();
    let subject = match rank.predicted {
        Some(predicted) => format!("{n} targets, and what goes with {predicted}"),
        None => format!("{n} targets"),
    };
    let answers = answers(rank);
    let mut presentation = Presentation::of("rank", subject).on_page(rank.page.map(str::to_owned));
    presentation.end.answers.clone_from(&answers);
    presentation.push(SectionName::Answer, answers.into_iter().map(|w| Part::Sentence(Tone::Plain, w)).collect());
    presentation.push(SectionName::Numbers, targets(rank));
    if let Some(predicted) = rank.predicted {
        let most = [(false, "synthetic"), (true, "other work")];
        let most = most.map(|(work, name)| (name, ranking.prediction.iter().filter(|p| p.work == work).collect()));
        presentation.push(SectionName::Others, predictions(predicted, &most, PREDICTORS));
    }
    if !ranking.reasons.is_empty() {
        presentation.push(SectionName::Events, vec![Part::List(ranking.reasons.iter().map(Reason::text).collect())]);
    }
    presentation
}

/// The targets side by side, and what the cells mean.
fn targets(rank: &Rank<'_>) -> Vec<Part> {
    let ranking = rank.ranking;
    let metrics = shown(rank);
    let Some(first) = ranking.targets.first().filter(|_| !metrics.is_empty()) else { return Vec::new() };
    let columns: Vec<Vec<&RankedMetric>> =
        metrics.iter().map(|i| ranking.targets.iter().map(|t| &t.metrics[*i]).collect()).collect();
    let row = |target: usize| {
        let cells = columns.iter().map(|column| cell(column[target], column)).collect();
        Row::new(ranking.targets[target].name.clone(), cells)
    };
    let mut rows: Vec<Row> = order(ranking, metrics.first().copied()).into_iter().map(row).collect();
    if columns.iter().any(|c| c[0].better.is_some()) {
        let best = |c: &Vec<&RankedMetric>| {
            let best = c.iter().find(|m| m.ratio_to_best == Some(1.0)).and_then(|m| m.value);
            best.map_or(Cell::Empty, |v| Cell::Text(quantity::quantity(v, c[0].unit)))
        };
        rows.push(Row { dim: true, ..Row::new("best", columns.iter().map(best).collect()) });
    }
    let head = metrics.iter().map(|i| people_words(&first.metrics[*i].id)).collect();
    let mut parts = vec![Part::Table(Table { corner: "target", head, rows, ..Table::default() })];
    if !ranking.uses.is_empty() {
        parts.extend(winners(rank).into_iter().map(|text| Part::Sentence(Tone::Plain, text)));
    }
    let of = |i: &usize| &first.metrics[*i];
    if metrics.iter().any(|i| of(i).better.is_some()) {
        let hint =
            "Share of the best, or times its time; then the place, = where it cannot be told from the best of it.";
        parts.push(Part::Hint(hint.to_owned()));
    }
    if metrics.iter().any(|i| of(i).better.is_none()) {
        let hint = "Values without a place: which direction is better is not known (--better METRIC=higher).";
        parts.push(Part::Hint(hint.to_owned()));
    }
    let more = first.metrics.len() - metrics.len();
    if more > 0 {
        parts.push(Part::Hint(format!("{more} more metrics: --metric ID, --json")));
    }
    parts
}

fn cell(metric: &RankedMetric, column: &[&RankedMetric]) -> Cell {
    let RankPlace { of_best, place } = place(metric, column);
    let value = metric.value.map_or_else(|| "-".to_owned(), |v| quantity::quantity(v, metric.unit));
    let bound = metric.bound.map_or_else(String::new, |b| format!("{} ", b.words()));
    let (value, of_best) = (format!("{bound}{value}"), format!("{bound}{of_best}"));
    Cell::Ranked { value, of_best, place }
}

/// What goes with a metric: predictors in groups, each of so many at most.
pub(crate) fn predictions(predicted: &str, groups: &[(&str, Vec<&Prediction>)], most: usize) -> Vec<Part> {
    let mut rows = Vec::new();
    for (name, all) in groups.iter().filter(|(_, all)| !all.is_empty()) {
        rows.push(Row::group(*name));
        rows.extend(all.iter().take(most).map(|p| prediction(p)));
        if all.len() > most {
            let more = format!("and {} more (--json lists all)", all.len() - most);
            rows.push(Row { inner: true, dim: true, ..Row::group(more) });
        }
    }
    let head = HEAD.map(str::to_owned).to_vec();
    let table = Table { corner: "predictor", head, page_only: PAGE_ONLY.to_vec(), rows, ..Table::default() };
    let hint = "tau: Kendall's, 1 the same order of targets, -1 the opposite one. Pairs: share of pairs of targets in one order. \
                p: by chance, allowing for all that were tried (Benjamini and Hochberg).";
    vec![Part::Heading(format!("What goes with {predicted}")), Part::Table(table), Part::Hint(hint.to_owned())]
}

fn prediction(p: &Prediction) -> Row {
    let number = |v: Option<f64>, digits: usize| v.map_or(Cell::Empty, |v| Cell::Text(format!("{v:.digits$}")));
    let range = |range: Option<(f64, f64)>| {
        range.map_or(Cell::Empty, |(low, high)| Cell::Text(format!("{low:.2} to {high:.2}")))
    };
    let remark = p.reasons.iter().map(Reason::text).collect::<Vec<_>>().join(" ");
    let p_adjusted = p.p_adjusted.map(|p| if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") });
    let cells = vec![
        number(p.tau, 2),
        Cell::Interval(Span { axis: Axis::Correlation, low: p.low, high: p.high, point: p.tau, margin: None }),
        range(p.low.zip(p.high)),
        same_order_percent(p).map_or(Cell::Empty, |share| Cell::Text(format!("{share:.0} %"))),
        number(p.p, 4),
        p_adjusted.map_or(Cell::Empty, Cell::Text),
        range(p.leave_one_out),
        Cell::Text(p.n.to_string()),
        if remark.is_empty() { Cell::Empty } else { Cell::Text(remark.clone()) },
    ];
    let label = match p.tau {
        Some(_) => p.predictor.clone(),
        // Why it is not known takes the place of its numbers.
        None => format!("{}: {}", p.predictor, if remark.is_empty() { "not known" } else { &remark }),
    };
    Row { inner: true, ..Row::new(label, cells) }
}
