//! Ways to get frames onto storage, and what a study of them writes.

use crate::Ns;
use serde::Serialize;

named! {
    /// A way to write frames.
    #[derive(PartialOrd, Ord)]
    pub enum FrameWay {
        /// A new file for each frame, through the page cache.
        FilePerFrame = "file-per-frame",
        /// One file that grows, through the page cache.
        GrowingFile = "growing-file",
        /// A file whose blocks are reserved, or a device, past the page cache, one write at a time.
        Direct = "direct",
        /// A block device through the page cache.
        DeviceBuffered = "device-buffered",
        /// The container of `narrows record`.
        Container = "container",
    }
}

/// A way that cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FramesLeftOut {
    pub way: FrameWay,
    pub reason: &'static str,
}

/// A rate that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FramesTried {
    /// Frames a second of each camera.
    pub frames_per_s: f64,
    /// Frames that were lost.
    pub lost: u64,
    /// By how much longer frames waited each second, seconds: 0.1 where 1.1 times as much came as was written.
    pub waits_grow: f64,
    /// Whether that rate is carried: nothing was lost, and frames did not wait longer and longer.
    pub carried: bool,
}

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

/// What a study found of a way.
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

impl FramesWay {
    /// A way of which nothing is known yet.
    pub fn of(way: FrameWay) -> Self {
        Self {
            way,
            full_bytes_per_s: Vec::new(),
            full_bytes_per_s_median: None,
            of_container: None,
            of_container_interval: None,
            sustained_frames_per_s: None,
            sustained_bytes_per_s: None,
            tried: Vec::new(),
            compared: None,
            failed: None,
        }
    }
}

/// What is written, and in which ways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FramesStudy {
    /// Cameras, each a stream.
    pub cameras: u32,
    pub frame_bytes: u64,
    /// By how much sizes and moments differ, as a share of them.
    pub jitter: f64,
    /// In the order in which a round begins.
    pub ways: Vec<FrameWay>,
    /// How often each way is measured at its full rate.
    pub rounds: u32,
    /// How long a measurement takes at most.
    pub time_ns: Ns,
    /// How much it writes at most.
    pub room_bytes: u64,
    /// Rest before and after the frames that are compared at one rate.
    pub rest_ns: Ns,
    /// Memory for frames that wait.
    pub ring_bytes: u64,
    /// How old a frame may be when it is durable, the flush apart.
    pub max_latency_ns: Ns,
}
