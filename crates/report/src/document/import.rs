//! `narrows/import/1`: what other tools' outputs held.

use model::{Fit, Metric, RunState};
use serde::Serialize;

/// A number as the tool printed it.
#[derive(Clone, Debug, Serialize)]
pub struct ImportOriginal<'a> {
    /// Its digits.
    pub value: &'a str,
    /// Its unit, as printed or as the format defines it.
    pub unit: &'a str,
}

/// A metric with what it was made of.
#[derive(Clone, Debug, Serialize)]
pub struct ImportMetric<'a> {
    /// The metric in the units of this program.
    #[serde(flatten)]
    pub metric: &'a Metric,
    /// What was printed.
    pub original: ImportOriginal<'a>,
}

/// One execution of another tool.
#[derive(Clone, Debug, Serialize)]
pub struct ImportRun<'a> {
    /// Id of the run in the archive.
    pub run_id: &'a str,
    /// The tool and the form of its output.
    pub source_format: &'a str,
    /// The tool's version; null if not printed.
    pub source_version: Option<&'a str>,
    /// What it is about: the target if known, else a line that stood before it, else the file.
    pub name: &'a str,
    pub file: &'a str,
    /// Its first line in the file, from 1.
    pub line: usize,
    /// When it was started, RFC 3339 in UTC; null where the time zone is not known.
    pub started: Option<&'a str>,
    /// What it measured on; null if not printed.
    pub target: Option<&'a str>,
    /// How far it came.
    pub state: RunState,
    pub metrics: Vec<ImportMetric<'a>>,
    /// Of a series of reports: each figure over all of them, by its id without the name of the report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_reports: Vec<Metric>,
    /// What a reader of the metrics must know.
    pub remarks: &'a [String],
    /// What it measured, in a sentence, as `runs show` has it.
    pub answer: String,
}

/// Lines that were not understood.
#[derive(Clone, Debug, Serialize)]
pub struct ImportRest<'a> {
    pub file: &'a str,
    /// The first of the lines, from 1; null where it is the whole file.
    pub line: Option<usize>,
    /// How many follow one another; null where it is the whole file.
    pub lines: Option<usize>,
    /// The first of them, shortened.
    pub text: &'a str,
    pub why: String,
}

/// How a run stands to the use that was asked about.
#[derive(Clone, Debug, Serialize)]
pub struct ImportFit<'a> {
    /// Id of the run in the archive.
    pub run_id: &'a str,
    #[serde(flatten)]
    pub fit: &'a Fit,
}

/// What `narrows import` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/import/1")]
pub struct ImportDocument<'a> {
    /// The runs, in the order of the files.
    pub runs: Vec<ImportRun<'a>>,
    /// What was not understood, in the order of the files.
    pub not_understood: Vec<ImportRest<'a>>,
    /// With `--for`: how each run stands to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fit: Vec<ImportFit<'a>>,
    /// What was imported, in a sentence; with `--for` how it stands to that. Null where nothing was understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// With `--for`: whether it is met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<Option<bool>>,
}

impl<'a> ImportDocument<'a> {
    /// The document.
    pub fn new(runs: Vec<ImportRun<'a>>, not_understood: Vec<ImportRest<'a>>) -> Self {
        let answers: Vec<&str> = runs.iter().map(|run| run.answer.as_str()).collect();
        let formats: Vec<&str> = runs.iter().map(|run| run.source_format).collect();
        let answer = crate::measured::all_imported(&answers, &formats);
        Self { runs, not_understood, fit: Vec::new(), answer, met: None }
    }

    /// The document with how each run stands to a use. The answer is that of the run that misses it by most; of none that
    /// misses it, of the one that meets it; else it is not known.
    pub fn asked(mut self, fits: &'a [(String, Fit)]) -> Self {
        let rank = |f: &Fit| match f.met {
            Some(false) => 0,
            Some(true) => 1,
            None => 2,
        };
        let margin = |f: &Fit| f.margin_ratio.unwrap_or(f64::INFINITY);
        let deciding = fits.iter().map(|(_, f)| f);
        let deciding = deciding.min_by(|a, b| rank(a).cmp(&rank(b)).then(margin(a).total_cmp(&margin(b))));
        self.fit = fits.iter().map(|(run_id, fit)| ImportFit { run_id, fit }).collect();
        self.answer = deciding.and_then(|f| crate::verdict::verdict(std::slice::from_ref(f), Some(&f.what)));
        self.met = deciding.map(|f| f.met);
        self
    }
}
