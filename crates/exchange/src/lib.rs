//! Foreign formats: what other people's tools read, and what they wrote.
//!
//! A [`model::Run`] goes out as fio's JSON ([`fio_json()`], [`fio_json_files`]), fio's logs ([`fio_logs()`]), comma-separated
//! metrics ([`csv()`]), an HdrHistogram interval log ([`hlog()`]), iozone's table ([`iozone()`]) or bonnie++'s line
//! ([`bonnie_csv()`]), Bencher's JSON ([`bencher()`]); many runs as one table ([`history_csv()`]) or for Prometheus
//! ([`openmetrics()`]). What each field holds and
//! where it departs from the original tool is in docs/design/export.md.
//!
//! The other way, [`import()`] reads what other tools printed; its formats are told by content.
//!
//! Invariants:
//! - A number that this program refused never leaves as if it were good: where a format has no word for that, the place
//!   is zero or empty, and the reason stands beside it. [`Options::keep_refused`] is the only way round, and even then
//!   the mark stays.
//! - Any run, whatever happened in it, gives a valid document or a typed error; never a panic, never half a document.
//! - The same run gives the same bytes.
//!
//! Deliberately absent: files (texts are returned, with the names they should get), clocks, statistics beyond what a
//! format prints of a histogram or a series, and any judgement.

mod bencher;
mod bonnie_csv;
mod bonnie_tests;
mod csv;
mod error;
mod fio_json;
mod fio_logs;
mod history_csv;
mod hlog;
mod import;
mod iozone;
mod job;
mod openmetrics;
mod side;
mod wall_time;

pub use bencher::bencher;
pub use bonnie_csv::bonnie_csv;
pub use csv::csv;
pub use error::{ExchangeError, Result};
pub use fio_json::{fio_json, fio_json_files};
pub use fio_logs::fio_logs;
pub use history_csv::{HistoryRow, HistoryTable, history_csv};
pub use hlog::hlog;
pub use import::{
    IMPORT_LIMIT_BYTES, ImportError, Imported, ImportedGroup, ImportedMetric, ImportedRun, MAX_FIGURES, NotUnderstood,
    Original, import, import_within,
};
pub use iozone::iozone;
pub use job::withheld;
pub use openmetrics::{ScrapedRun, openmetrics};

use std::path::PathBuf;

/// What of a run is exported, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only these phases; all if empty.
    pub phases: Vec<String>,
    /// Give the numbers of refused phases as well, still marked as refused.
    pub keep_refused: bool,
    /// fio JSON: every bucket of every histogram too (fio's `json+`).
    pub bins: bool,
}

impl Options {
    pub(crate) fn includes(&self, phase: &str) -> bool {
        self.phases.is_empty() || self.phases.iter().any(|p| p == phase)
    }
}

/// One file of a format that is a directory of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Relative, without `..`.
    pub path: PathBuf,
    /// The file's content.
    pub text: String,
}
