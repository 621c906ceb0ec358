//! Measurements that decide between causes.

/// A measurement that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// The same random reads at several depths.
    Depths,
    /// The same random reads in several sizes.
    Sizes,
    /// Random writes in several sizes, one at a time.
    WriteSizes,
    /// Direct and buffered writes in turn.
    WritePaths,
    /// Direct and cold buffered reads in turn.
    ReadPaths,
}

impl Trial {
    /// The workload to run, in the language of workloads.
    pub fn workload(self) -> &'static str {
        match self {
            Self::Depths => include_str!("../../trials/depths.toml"),
            Self::Sizes => include_str!("../../trials/sizes.toml"),
            Self::WriteSizes => include_str!("../../trials/write-sizes.toml"),
            Self::WritePaths => include_str!("../../trials/write-paths.toml"),
            Self::ReadPaths => include_str!("../../trials/read-paths.toml"),
        }
    }
}
