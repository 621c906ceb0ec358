//! Who takes part, and what all of them are asked: the same operations, depth and batches.

use super::figures::Figures;
use std::path::PathBuf;

/// What every contestant is asked to do.
#[derive(Clone, Debug)]
pub struct Task {
    pub path: PathBuf,
    pub file_bytes: u64,
    pub direct: bool,
    pub block_bytes: u32,
    pub depth: u32,
    pub batch_submit: u32,
    pub batch_complete: u32,
    pub seconds: u32,
}

/// Carries a task out once.
pub type Runner = Box<dyn Fn(&Task) -> anyhow::Result<Figures>>;

/// One who carries tasks out.
pub struct Contestant {
    pub name: &'static str,
    /// How it is asked, for the record.
    pub how: String,
    pub run: Runner,
}
