//! Why a copy was not made.

use crate::Width;
use core::fmt;

/// Why a copy was not made. Nothing was accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not lie within the region.
    Outside {
        /// Where they start.
        offset: usize,
        /// How many they are.
        bytes: usize,
        /// The region's length.
        region: usize,
    },
    /// This processor has no such access.
    Unsupported(Width),
    /// The rules allow no access narrower than this, and start or end of the copy ask for one.
    NotWhole(Width),
    /// The widest access is narrower than the narrowest, or than the words whose bytes are swapped.
    Contradiction(Width),
    /// This processor has no such instructions.
    NoSuchMode,
    /// The region can only be read.
    ReadOnly,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside { offset, bytes, region } => {
                write!(f, "{bytes} bytes at {offset} do not lie within a region of {region} bytes")
            }
            Self::Unsupported(width) => write!(f, "this processor has no accesses of {} bytes", width.bytes()),
            Self::NotWhole(width) => {
                write!(
                    f,
                    "the device takes accesses of {} bytes and more, and the copy does not start or end on one",
                    width.bytes()
                )
            }
            Self::Contradiction(width) => {
                write!(f, "the widest access, of {} bytes, is narrower than the narrowest allowed", width.bytes())
            }
            Self::NoSuchMode => f.write_str("this processor has no instructions for this way of copying"),
            Self::ReadOnly => f.write_str("the region can only be read"),
        }
    }
}

impl core::error::Error for Error {}
