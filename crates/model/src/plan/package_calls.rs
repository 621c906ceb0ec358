//! What a model of packages is asked, and what it answers.

use super::{FileTrace, MadePackages};

/// Packages whose calls are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackageSet {
    /// How many there are.
    pub count: u32,
    /// How many of them are removed and installed again.
    pub removed: u32,
    /// Whether what is unpacked is synced before it gets its name.
    pub syncs: bool,
    /// Whether archives are made of them, for dpkg itself.
    pub archives: bool,
}

/// What is done with packages: the calls of each part, in order, with what is there at most while they are made (entries, bytes of files).
#[derive(Clone, Debug, Default)]
pub struct PackageCalls {
    pub parts: [(FileTrace, [u64; 2]); 3],
    pub made: MadePackages,
}

/// What knows the calls: a build without recordings of file operations has none.
pub type PackageModel = fn(PackageSet) -> PackageCalls;
