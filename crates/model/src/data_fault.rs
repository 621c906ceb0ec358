//! What can have happened to stored data, by name.

use crate::Evidence;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A class of damage to stored data. The signatures are told apart by the crate `integrity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataFault {
    /// A few bits differ from what was written, the same ones at every read.
    BitRot,
    /// Stable damage that no longer resembles what was written, or damage that changes with every read.
    Corrupt,
    /// One read was wrong, a later one right: the path, not the medium.
    TransientPathError,
    /// A write arrived in part.
    TornWrite,
    /// An acknowledged write is not there.
    LostWrite,
    /// A read gave older data, a later one the right ones.
    StaleRead,
    /// Data that belong to another place lie here.
    MisdirectedWrite,
    /// A read gave another place's data, a later one the right ones.
    MisdirectedRead,
    /// Addresses beyond the real capacity lead back to its start.
    WrapAround,
    /// Nothing is kept beyond the real capacity.
    LimboCapacity,
    /// Data of another run or another target.
    ForeignData,
    /// A write covered by an acknowledged flush is gone after a power cut.
    LostOnPowerCut,
    /// The same, while a write issued after that flush is there.
    ReorderedAcrossFlush,
    /// The write succeeded, its fsync failed, and the data are not there.
    LateError,
    /// Data newer than any that were issued: this program is wrong, not the device.
    TesterFault,
}

/// The five names under which `run` reports a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mismatch {
    /// What was written is not there; older data or nothing is.
    Lost,
    /// The data belong to another place.
    Misdirected,
    /// A part of one write is there, a part is not.
    Torn,
    /// The data are damaged.
    Corrupt,
    /// The data are of another run or target.
    Foreign,
}

impl DataFault {
    /// Every class.
    pub const ALL: [Self; 15] = [
        Self::BitRot,
        Self::Corrupt,
        Self::TransientPathError,
        Self::TornWrite,
        Self::LostWrite,
        Self::StaleRead,
        Self::MisdirectedWrite,
        Self::MisdirectedRead,
        Self::WrapAround,
        Self::LimboCapacity,
        Self::ForeignData,
        Self::LostOnPowerCut,
        Self::ReorderedAcrossFlush,
        Self::LateError,
        Self::TesterFault,
    ];

    /// The name under which `run` reports it; `None` for a fault of this program, which makes the run invalid instead.
    pub fn mismatch(self) -> Option<Mismatch> {
        Some(match self {
            Self::BitRot | Self::Corrupt | Self::TransientPathError => Mismatch::Corrupt,
            Self::TornWrite => Mismatch::Torn,
            Self::LostWrite
            | Self::StaleRead
            | Self::LimboCapacity
            | Self::LostOnPowerCut
            | Self::ReorderedAcrossFlush
            | Self::LateError => Mismatch::Lost,
            Self::MisdirectedWrite | Self::MisdirectedRead | Self::WrapAround => Mismatch::Misdirected,
            Self::ForeignData => Mismatch::Foreign,
            Self::TesterFault => return None,
        })
    }

    /// The name as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::BitRot => "bit-rot",
            Self::Corrupt => "corrupt",
            Self::TransientPathError => "transient-path-error",
            Self::TornWrite => "torn-write",
            Self::LostWrite => "lost-write",
            Self::StaleRead => "stale-read",
            Self::MisdirectedWrite => "misdirected-write",
            Self::MisdirectedRead => "misdirected-read",
            Self::WrapAround => "wrap-around",
            Self::LimboCapacity => "limbo-capacity",
            Self::ForeignData => "foreign-data",
            Self::LostOnPowerCut => "lost-on-power-cut",
            Self::ReorderedAcrossFlush => "reordered-across-flush",
            Self::LateError => "late-error",
            Self::TesterFault => "tester-fault",
        }
    }
}

impl fmt::Display for DataFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Mismatch {
    /// The name as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Misdirected => "misdirected",
            Self::Torn => "torn",
            Self::Corrupt => "corrupt",
            Self::Foreign => "foreign",
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A place whose data are not what they must be. The keys are those of `narrows/soak/1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataFinding {
    /// Class of the damage.
    pub class: DataFault,
    /// First damaged 512-byte sector, counted from the start of the target.
    pub lba: u64,
    /// Damaged sectors. They need not be adjacent.
    pub sectors: u64,
    /// The lowest generation that would have been right; `None` where the place owes nothing.
    pub expected_generation: Option<u32>,
    /// The lowest generation found; `None` where no stamp could be read.
    pub found_generation: Option<u32>,
    /// What the class rests on.
    pub evidence: Vec<Evidence>,
    /// The bytes from the first damaged sector on; kept by who writes them to files of their own.
    #[serde(skip)]
    pub bytes: Option<Box<WrongBytes>>,
}

/// The first sectors of a wrong place, at most 4 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrongBytes {
    /// The bytes that were read.
    pub received: Vec<u8>,
    /// As they were written; `None` where nothing that is left there tells which write it was.
    pub expected: Option<Vec<u8>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        for class in DataFault::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.name());
            assert_eq!(class.mismatch().is_none(), class == DataFault::TesterFault);
            if let Some(mismatch) = class.mismatch() {
                assert_eq!(serde_json::to_value(mismatch).unwrap(), mismatch.name());
            }
        }
    }
}
