//! A comparison as text, Markdown and page: differences of the environments first, then the verdict of each metric.

mod describe;
mod form;

pub use describe::{compare, comparisons};
pub(crate) use describe::{table, tone};
pub(crate) use form::{cause_words, change, differs_in, metric_words, name_words, quantity_words, statement};

use model::{Capacity, Comparison, Run};

/// One of the two sides.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// As the user named it: an arm, a tag, a run, a file.
    pub name: &'a str,
    pub runs: &'a [Run],
}

impl Side<'_> {
    /// What one of its runs found of its target, where less is there than that says.
    pub(crate) fn fake(&self) -> Option<Capacity> {
        self.runs.iter().find_map(Run::fake)
    }
}

/// A comparison with what it was made of.
#[derive(Clone, Copy, Debug)]
pub struct Compare<'a> {
    /// The verdicts (`judge::compare`).
    pub comparison: &'a Comparison,
    /// Before, or the first arm.
    pub a: Side<'a>,
    /// After, or the other arm.
    pub b: Side<'a>,
    /// What was asked, in words; empty where nobody wrote it down.
    pub question: &'a str,
    pub page: Option<&'a str>,
}

/// The answer for a metric in words; single runs are never better or worse, and of what was not asked it only seems so: among many
/// metrics some move by chance.
pub(crate) fn verdict_words(metric: &model::Compared) -> &'static str {
    match (metric.basis, metric.beyond_noise, metric.verdict) {
        (model::Basis::Single, Some(true), _) => "beyond noise",
        (model::Basis::Single, Some(false), _) => "within noise",
        (_, None, model::Verdict::Unclear) if metric.reasons.iter().any(|r| r.is("not-judged")) => "not judged",
        (model::Basis::Single, None, model::Verdict::Unclear) => "not judged",
        (_, _, model::Verdict::Better) if !metric.primary => "seems better",
        (_, _, model::Verdict::Worse) if !metric.primary => "seems worse",
        (_, _, verdict) => verdict.name(),
    }
}
