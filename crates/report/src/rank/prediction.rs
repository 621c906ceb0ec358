//! Which metric goes with the one that matters: a line each, with a bar of its interval.

use super::{line, same_order_percent};
use crate::text::{pad, plain, shorten, wrap};
use crate::{Paint, Style};
use model::{Prediction, Ranking};

/// Columns of a predictor's name.
const NAME: usize = 21;
/// Columns of a bar, -1 at its left end and 1 at its right one.
const BAR: usize = 19;
/// Lines of each kind; the rest are counted.
const LINES: usize = 16;

pub(super) fn predictions(out: &mut String, ranking: &Ranking, predicted: &str, style: &Style) {
    line(out, "");
    let title = format!("What goes with {}", plain(predicted, style.ascii));
    line(out, &style.paint(Paint::Title, &title));
    let head = format!(
        "  {} {:>5} {} {:>14} {:>6} {:>6}",
        pad("", NAME),
        "tau",
        pad(&format!("-1{:^width$}1", 0, width = BAR - 3), BAR),
        "95 %",
        "pairs",
        "p"
    );
    line(out, &style.paint(Paint::Dim, &head));
    for (work, name) in [(false, "synthetic"), (true, "other work")] {
        let all: Vec<&Prediction> = ranking.prediction.iter().filter(|p| p.work == work).collect();
        if all.is_empty() {
            continue;
        }
        line(out, name);
        for prediction in all.iter().take(LINES) {
            one(out, prediction, style);
        }
        if all.len() > LINES {
            line(out, &style.paint(Paint::Dim, &format!("  and {} more (--json lists all)", all.len() - LINES)));
        }
    }
    let note = "tau: Kendall's, 1 the same order of targets, -1 the opposite one. pairs: share of pairs of targets in one \
                order. p: by chance, allowing for all that were tried (Benjamini and Hochberg).";
    line(out, "");
    for l in wrap(note, style.columns()) {
        line(out, &style.paint(Paint::Dim, &l));
    }
}

fn one(out: &mut String, prediction: &Prediction, style: &Style) {
    let name = pad(&shorten(&plain(&prediction.predictor, style.ascii), NAME, style.ascii), NAME);
    let Some(tau) = prediction.tau else {
        let why = prediction.reasons.first().map_or("not known", |r| model::Reason::of(r).sentence);
        let room = style.columns().saturating_sub(NAME + 4);
        line(out, &format!("  {name} {}", shorten(&plain(why, style.ascii), room, style.ascii)));
        return;
    };
    let interval =
        prediction.low.zip(prediction.high).map_or_else(String::new, |(low, high)| format!("{low:.2} to {high:.2}"));
    let pairs = same_order_percent(prediction).map_or_else(String::new, |share| format!("{share:.0} %"));
    let p = prediction.p_adjusted.map_or_else(String::new, probability);
    let bar = bar(tau, prediction.low, prediction.high, style.ascii);
    line(out, &format!("  {name} {tau:>5.2} {bar} {interval:>14} {pairs:>6} {p:>6}"));
}

/// `0.044`, `<0.001`.
fn probability(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn bar(tau: f64, low: Option<f64>, high: Option<f64>, ascii: bool) -> String {
    let (dash, dot, zero) = if ascii { ('-', 'o', '|') } else { ('─', '●', '│') };
    let at = |v: f64| ((v.clamp(-1.0, 1.0) + 1.0) / 2.0 * (BAR - 1) as f64).round() as usize;
    let mut cells = vec![' '; BAR];
    cells[BAR / 2] = zero;
    if let (Some(low), Some(high)) = (low, high) {
        cells[at(low)..=at(high).max(at(low))].fill(dash);
    }
    cells[at(tau)] = dot;
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_stand_on_one_axis() {
        assert_eq!(bar(-1.0, None, None, true), "o        |         ");
        assert_eq!(bar(0.5, Some(-0.25), Some(1.0), true), "       -------o----");
        assert_eq!(bar(f64::NAN, Some(2.0), Some(-2.0), true).chars().count(), BAR);
        assert_eq!((probability(0.0004), probability(0.0441)), ("<0.001".into(), "0.044".into()));
    }
}
