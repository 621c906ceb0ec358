//! Ways to get frames onto storage.

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
    /// All of them.
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
