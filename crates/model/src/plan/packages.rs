//! Packages that dpkg itself installs and removes.

use super::is_default;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

named! {
    /// A part of what is done with packages.
    #[derive(Default)]
    pub enum PackagePart {
        /// All packages come and are installed.
        #[default]
        Install = "install",
        /// Some are removed.
        Remove = "remove",
        /// Those are installed again from their archives.
        Reinstall = "reinstall",
    }
}

/// What an entry of an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageEntry {
    Directory,
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link, that leads to `nowhere`.
    Link,
}

/// A package of which an archive is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadePackage {
    pub name: String,
    /// Bytes of `control` and of the other files that say what it is.
    pub control: Vec<u64>,
    /// Its entries, directories before what lies in them, by their paths below the root.
    pub entries: Vec<(String, PackageEntry)>,
    /// Whether it is among those that are removed.
    pub is_removed: bool,
}

/// Packages of which archives are made; a plan that was written and read again has none.
#[derive(Clone, Debug, Default)]
pub struct MadePackages(pub Arc<Vec<MadePackage>>);

impl PartialEq for MadePackages {
    /// They follow from what else the plan says.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The machine's own dpkg does it, in a root of its own below the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RealPackages {
    pub part: PackagePart,
    /// The directory of the archives (`*.deb`); without one they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archives: Option<String>,
    /// How many of the named archives, in the order of their names, are removed and installed again.
    pub removed: u32,
    /// Whether dpkg leaves out to sync what it unpacks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsafe_io: bool,
    /// What archives are made of.
    #[serde(skip)]
    pub made: MadePackages,
}
