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
