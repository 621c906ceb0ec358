//! `narrows/frames/1`.

use model::{CompactSort as _, FrameWay, FramesLeftOut, FramesWay};
use serde::Serialize;

/// What `narrows run frames --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/frames/1")]
pub struct FramesDocument {
    pub target: String,
    /// When, RFC 3339.
    pub started: String,
    pub program_version: String,
    pub cameras: u32,
    pub frame_bytes: u64,
    /// By how much sizes and moments differ, as a share of them.
    pub jitter: f64,
    /// Seed of the frames.
    pub seed: u64,
    /// Memory for frames that wait.
    pub ring_bytes: u64,
    /// How old a frame may be when it is durable, the flush apart.
    pub max_latency_ns: u64,
    pub ways: Vec<FramesWay>,
    /// Those that could not be measured.
    pub left_out: Vec<FramesLeftOut>,
    /// Frames a second of each camera at which they are compared: 0.8 of the lowest that a way carries.
    pub common_frames_per_s: Option<f64>,
    /// Somebody wanted the end before it was whole.
    pub interrupted: bool,
    /// The page; null where none was written.
    pub page: Option<String>,
}

impl FramesDocument {
    /// The ways of which a rate without a loss is known, the fastest first.
    pub(crate) fn by_rate(&self) -> Vec<&FramesWay> {
        let mut ways: Vec<&FramesWay> = self.ways.iter().filter(|way| way.sustained_bytes_per_s.is_some()).collect();
        let rate = |way: &FramesWay| way.sustained_bytes_per_s.unwrap_or(0.0);
        ways.compact_sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        ways
    }
}

/// What `narrows run frames --plan --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/frames-plan/1")]
pub struct FramesPlanDocument {
    pub target: String,
    /// The ways that would be measured.
    pub ways: Vec<FrameWay>,
    /// Those that cannot be.
    pub left_out: Vec<FramesLeftOut>,
    /// Bytes that are written at most.
    pub bytes_at_most: u64,
    /// How long it takes at most.
    pub ns_at_most: u64,
}
