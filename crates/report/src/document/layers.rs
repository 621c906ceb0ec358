//! `narrows/layers/1`.

use model::{LayerCost, LevelLeftOut, MeasuredLevel};
use serde::Serialize;

/// What `narrows run layers --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "narrows/layers/1")]
pub struct LayersDocument {
    pub target: String,
    /// When, RFC 3339.
    pub started: String,
    pub program_version: String,
    pub seed: u64,
    pub region_bytes: u64,
    pub block_bytes: u64,
    pub depth: u32,
    pub bytes_written: u64,
    /// From the top down.
    pub levels: Vec<MeasuredLevel>,
    /// Between each level and the next.
    pub layers: Vec<LayerCost>,
    /// The layer that costs most; null where none differs by more than the rounds do.
    pub dearest: Option<String>,
    pub left_out: Vec<LevelLeftOut>,
    /// Somebody wanted the end before it was whole.
    pub interrupted: bool,
    /// The page; null where none was written.
    pub page: Option<String>,
}

/// What `narrows run layers --plan --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "schema", rename = "narrows/layers-plan/1")]
pub struct LayersPlanDocument {
    pub target: String,
    /// The levels that would be measured.
    pub levels: Vec<String>,
    pub left_out: Vec<LevelLeftOut>,
    /// Bytes that are written at most, to a file of ours.
    pub bytes_at_most: u64,
    pub ns_at_most: u64,
}
