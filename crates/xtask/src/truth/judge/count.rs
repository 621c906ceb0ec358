//! Trials counted, and what is promised of their shares.

use super::disturbance::Disturbance;
use super::session::Session;
use crate::truth::draw::Draw;
use crate::truth::matrix::wilson;
use model::Verdict;
use std::fmt::Write as _;

/// How many trials came out how.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// At least one question was answered with better or worse.
    pub alarms: u32,
    /// The first question was answered with the right one of both.
    pub right: u32,
    /// The first question was answered with same.
    pub same: u32,
    /// The interval of the first question holds the truth.
    pub covered: u32,
}

impl Counts {
    pub fn of(session: &Session<'_>, seed: u64, trials: u32) -> Self {
        let mut counts = Self::default();
        for trial in 0..trials {
            let mut draw = Draw::of(seed, session.disturbance.name(), u64::from(trial));
            let comparison = session.compared(&mut draw);
            let decided = |v: Verdict| matches!(v, Verdict::Better | Verdict::Worse);
            counts.alarms += u32::from(comparison.metrics.iter().any(|m| decided(m.verdict)));
            let Some(first) = comparison.metrics.first() else { continue };
            let truth = 1.0 + session.difference;
            let holds = first.low.zip(first.high).is_some_and(|(low, high)| low <= truth && truth <= high);
            counts.covered += u32::from(holds);
            counts.right += u32::from(first.verdict == Verdict::Better);
            counts.same += u32::from(first.verdict == Verdict::Same);
        }
        counts
    }
}

/// A share with what is promised of it.
#[derive(Clone, Debug)]
pub struct Figure {
    what: &'static str,
    disturbance: &'static str,
    hits: u32,
    of: u32,
    at_most: Option<f64>,
    at_least: Option<f64>,
}

impl Figure {
    pub fn from_hits(what: &'static str, disturbance: &Disturbance, hits: u32, of: u32, at_least: Option<f64>) -> Self {
        Self { what, disturbance: disturbance.name(), hits, of, at_most: None, at_least }
    }

    pub fn at_most(what: &'static str, disturbance: &Disturbance, hits: u32, of: u32, bound: f64) -> Self {
        Self { at_most: Some(bound), ..Self::from_hits(what, disturbance, hits, of, None) }
    }

    pub fn at_least(what: &'static str, disturbance: &Disturbance, hits: u32, of: u32, bound: f64) -> Self {
        Self::from_hits(what, disturbance, hits, of, Some(bound))
    }

    pub fn name(&self) -> String {
        format!("{}, {}: {} of {}", self.disturbance, self.what, self.hits, self.of)
    }

    fn interval(&self) -> (f64, f64) {
        wilson(self.hits as usize, self.of as usize).map_or((0.0, 1.0), |(low, high)| (low / 100.0, high / 100.0))
    }

    /// Whether so many trials are compatible with the promise.
    pub fn holds(&self) -> bool {
        let (low, high) = self.interval();
        self.at_most.is_none_or(|bound| low <= bound) && self.at_least.is_none_or(|bound| high >= bound)
    }
}

/// All figures as a Markdown table: a row each disturbance, a column each question.
pub fn table(figures: &[Figure]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    let mut rows: Vec<&str> = Vec::new();
    for figure in figures {
        if !columns.contains(&figure.what) {
            columns.push(figure.what);
        }
        if !rows.contains(&figure.disturbance) {
            rows.push(figure.disturbance);
        }
    }
    let mut out = format!("| disturbance | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        let _ = write!(out, "| {row} |");
        for column in &columns {
            match figures.iter().find(|f| f.disturbance == row && f.what == *column) {
                Some(f) => {
                    let (low, high) = f.interval();
                    let share = 100.0 * f64::from(f.hits) / f64::from(f.of.max(1));
                    let mark = if f.holds() { "" } else { " **!**" };
                    let _ = write!(out, " {share:.1} % ({:.1} to {:.1}){mark} |", 100.0 * low, 100.0 * high);
                }
                None => out.push_str(" |"),
            }
        }
        out.push('\n');
    }
    out
}
