//! `narrows/frames/1`.

use model::{CompactSort as _, FrameWay, FramesLeftOut, FramesTried};
use serde::Serialize;

/// The load of the whole machine, each 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FramesLoad {
    /// User, system and interrupts.
    pub busy: f64,
    /// Idle with I/O outstanding.
    pub iowait: f64,
}

/// A way at the rate at which all are compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FramesCompared {
    /// Frames that were lost.
    pub lost: u64,
    /// From the arrival of a frame until it was written, median.
    pub write_ns_p50: Option<u64>,
    /// 99th percentile; null below 100 frames.
    pub write_ns_p99: Option<u64>,
    /// The slowest.
    pub write_ns_max: Option<u64>,
    /// Age of a frame when it was durable, the oldest.
    pub durable_ns_max: Option<u64>,
    /// The most that the ring held.
    pub ring_most_bytes: u64,
    /// CPU of this program for a GB, seconds; making the frames is the same in all ways.
    pub cpu_s_per_gb: Option<f64>,
    /// Load before; null where it is not known.
    pub load_before: Option<FramesLoad>,
    /// Load meanwhile.
    pub load_during: Option<FramesLoad>,
    pub load_after: Option<FramesLoad>,
    /// Of frames, the moment of arrival after the first, and the time until it was written, milliseconds.
    pub frames_ms: Vec<[f64; 2]>,
    /// How many frames there were; of more than are listed the slowest of each group are.
    pub frames: u64,
}

/// A way of writing frames.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FramesWay {
    pub way: FrameWay,
    /// Bytes a second as fast as it goes, flushed, by round.
    pub full_bytes_per_s: Vec<f64>,
    /// Their median.
    pub full_bytes_per_s_median: Option<f64>,
    /// Against the container, round by round: the geometric mean.
    pub of_container: Option<f64>,
    /// Its 95 % interval.
    pub of_container_interval: Option<[f64; 2]>,
    /// The highest rate that was carried, frames a second of each camera.
    pub sustained_frames_per_s: Option<f64>,
    /// The same, bytes a second of all cameras.
    pub sustained_bytes_per_s: Option<f64>,
    pub tried: Vec<FramesTried>,
    /// At the common rate.
    pub compared: Option<FramesCompared>,
    /// Why it is not whole.
    pub failed: Option<String>,
}

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
