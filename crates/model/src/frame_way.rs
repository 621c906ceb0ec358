//! Ways to get frames onto storage, and what a study of them writes.

use crate::Ns;
use serde::{Deserialize, Serialize};

/// A way to write frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameWay {
    /// A new file for each frame, through the page cache.
    FilePerFrame,
    /// One file that grows, through the page cache.
    GrowingFile,
    /// A file whose blocks are reserved, or a device, past the page cache, one write at a time.
    Direct,
    /// A block device through the page cache.
    DeviceBuffered,
    /// The container of `narrows record`.
    Container,
}

impl FrameWay {
    /// Every way of writing frames, in the order in which they are measured.
    pub const ALL: [Self; 5] =
        [Self::FilePerFrame, Self::GrowingFile, Self::Direct, Self::DeviceBuffered, Self::Container];

    /// As texts and documents call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilePerFrame => "file-per-frame",
            Self::GrowingFile => "growing-file",
            Self::Direct => "direct",
            Self::DeviceBuffered => "device-buffered",
            Self::Container => "container",
        }
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
