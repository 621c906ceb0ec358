//! The answers counted: right, wrong, unknown, each with its interval.

use model::{Confidence, LimitLayer, json_name};
use std::fmt::Write as _;

/// What an answer was worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// The layer is the one that limits.
    Right,
    /// Another layer was named.
    Wrong,
    /// Nothing was named.
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// The kind of scenario.
    pub kind: &'static str,
    /// Whether it belongs to the half on which thresholds may be chosen.
    pub calibration: bool,
    /// The layer that really limits.
    pub truth: LimitLayer,
    pub named: LimitLayer,
    /// How sure.
    pub confidence: Confidence,
    /// Right, wrong or unknown.
    pub worth: Score,
}

/// 95 % interval of a share (Wilson, J. Am. Stat. Assoc. 22, 1927), in per cent.
pub fn wilson(hits: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    if of == 0 {
        return None;
    }
    let n = of as f64;
    let p = hits as f64 / of as f64;
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some((100.0 * (middle - half).max(0.0), 100.0 * (middle + half).min(1.0)))
}

fn share(hits: usize, of: usize) -> String {
    match wilson(hits, of) {
        Some((low, high)) => {
            format!("{hits} of {of}, {:.1} % ({low:.1} to {high:.1})", 100.0 * hits as f64 / of as f64)
        }
        None => "none".to_owned(),
    }
}

/// The summary of one half (or of all), as rows of a Markdown table.
pub fn summary(title: &str, answers: &[&Answer]) -> String {
    let count = |worth| answers.iter().filter(|a| a.worth == worth).count();
    let sure = answers.iter().filter(|a| a.worth == Score::Wrong && a.confidence == Confidence::High).count();
    let n = answers.len();
    format!(
        "| {title} | {} | {} | {} | {} |\n",
        share(count(Score::Right), n),
        share(count(Score::Wrong), n),
        share(count(Score::Unknown), n),
        share(sure, n)
    )
}

/// Truth against answer, as a Markdown table.
pub fn confusion(answers: &[&Answer]) -> String {
    let mut truths: Vec<String> = answers.iter().map(|a| json_name(&a.truth)).collect();
    let mut named: Vec<String> = answers.iter().map(|a| json_name(&a.named)).collect();
    for list in [&mut truths, &mut named] {
        list.sort();
        list.dedup();
    }
    let mut out = format!("| it is \\ said | {} |\n|---|{}\n", named.join(" | "), "---:|".repeat(named.len()));
    for truth in &truths {
        let _ = write!(out, "| {truth} |");
        for name in &named {
            let n = answers.iter().filter(|a| &json_name(&a.truth) == truth && &json_name(&a.named) == name).count();
            let _ = write!(out, " {} |", if n == 0 { String::new() } else { n.to_string() });
        }
        out.push('\n');
    }
    out
}

/// Each kind with its counts, as a Markdown table.
pub fn by_kind(answers: &[&Answer]) -> String {
    let mut kinds: Vec<&str> = answers.iter().map(|a| a.kind).collect();
    kinds.dedup();
    let mut out = "| kind | limits | right | wrong | unknown |\n|---|---|---:|---:|---:|\n".to_owned();
    for kind in kinds {
        let of: Vec<&&Answer> = answers.iter().filter(|a| a.kind == kind).collect();
        let count = |worth| of.iter().filter(|a| a.worth == worth).count();
        let (right, wrong, unknown) = (count(Score::Right), count(Score::Wrong), count(Score::Unknown));
        let _ = writeln!(out, "| {kind} | {} | {right} | {wrong} | {unknown} |", json_name(&of[0].truth));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // statsmodels.stats.proportion.proportion_confint(method="wilson"): (8, 10) and (150, 150)
        let (low, high) = wilson(8, 10).unwrap();
        assert!((low - 49.016).abs() < 0.01 && (high - 94.331).abs() < 0.01, "{low} {high}");
        let (low, high) = wilson(150, 150).unwrap();
        assert!((low - 97.503).abs() < 0.01 && high > 99.999, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
    }
}
