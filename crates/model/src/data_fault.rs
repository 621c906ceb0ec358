//! What can have happened to stored data, by name.

use crate::Evidence;
use serde::{Deserialize, Serialize};

named! {
    /// A class of damage to stored data. The signatures are told apart by the crate `integrity`.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum DataFault {
        /// A few bits differ from what was written, the same ones at every read.
        BitRot = "bit-rot",
        /// Stable damage that no longer resembles what was written, or damage that changes with every read.
        Corrupt = "corrupt",
        /// One read was wrong, a later one right: the path, not the medium.
        TransientPathError = "transient-path-error",
        /// A write arrived in part.
        TornWrite = "torn-write",
        /// An acknowledged write is not there.
        LostWrite = "lost-write",
        /// A read gave older data, a later one the right ones.
        StaleRead = "stale-read",
        /// Data that belong to another place lie here.
        MisdirectedWrite = "misdirected-write",
        /// A read gave another place's data, a later one the right ones.
        MisdirectedRead = "misdirected-read",
        /// Addresses beyond the real capacity lead back to its start.
        WrapAround = "wrap-around",
        /// Nothing is kept beyond the real capacity.
        LimboCapacity = "limbo-capacity",
        /// Data of another run or another target.
        ForeignData = "foreign-data",
        /// A write covered by an acknowledged flush is gone after a power cut.
        LostOnPowerCut = "lost-on-power-cut",
        /// The same, while a write issued after that flush is there.
        ReorderedAcrossFlush = "reordered-across-flush",
        /// The write succeeded, its fsync failed, and the data are not there.
        LateError = "late-error",
        /// Data newer than any that were issued: this program is wrong, not the device.
        TesterFault = "tester-fault",
    }
}

named! {
    /// The five names under which `run` reports a mismatch.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Mismatch {
        /// What was written is not there; older data or nothing is.
        Lost = "lost",
        /// The data belong to another place.
        Misdirected = "misdirected",
        /// A part of one write is there, a part is not.
        Torn = "torn",
        /// The data are damaged.
        Corrupt = "corrupt",
        /// The data are of another run or target.
        Foreign = "foreign",
    }
}

impl DataFault {
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
