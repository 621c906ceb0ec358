//! What a stream does, in which order and in which sizes.

use super::VerifyKind;
use serde::{Deserialize, Serialize};

/// What an operation does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    #[default]
    Read,
    Write,
    /// Discards (BLKDISCARD; a hole punched into a file).
    Trim,
    /// Writes zeroes without sending them (BLKZEROOUT; FALLOC_FL_ZERO_RANGE).
    WriteZeroes,
}

impl Operation {
    /// Whether it changes what the target holds.
    pub fn changes_data(self) -> bool {
        self != Self::Read
    }
}

/// Order of the offsets.
///
/// Parameters are whole thousandths or per cent, so that two plans are equal exactly when they are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One block after the other, wrapping at the end of the region.
    #[default]
    Sequential,
    /// Every block of the region once, in a seeded order, then again in another order.
    Random,
    /// Any block of the region each time, some twice before others once.
    RandomReplace,
    /// One block after the other from the end of the region to its start, wrapping.
    Reverse,
    /// Blocks `stride_bytes` apart (start to start), a multiple of the block size; a pass that reaches the end starts
    /// again one block further, until every block was visited.
    Strided {
        /// From the start of one block to the start of the next, bytes.
        stride_bytes: u64,
    },
    /// The k-th most popular block has a share proportional to k^-theta; which block is popular is seeded.
    Zipf {
        /// Theta in thousandths; not 1000.
        theta_milli: u32,
    },
    /// Pareto-distributed popularity; which block is popular is seeded.
    Pareto {
        /// The power h in thousandths, above 0 and below 1000.
        h_milli: u32,
    },
    /// Around the middle of the region.
    Normal {
        /// Standard deviation in per cent of the region, 1 to 100.
        deviation_percent: u32,
    },
    /// Hot spots: [`BlockPlan::zones`](crate::BlockPlan::zones) say how many of the operations go to how much of the
    /// region; within a zone any block each time.
    Zoned,
    /// The blocks that [`BlockPlan::sequence`](crate::BlockPlan::sequence) lists, over and over.
    Sequence {
        /// After each time the whole list moves on by as many blocks as it has.
        advances: bool,
    },
    /// Those of [`BlockPlan::trace`](crate::BlockPlan::trace), once.
    Traced,
}

impl Order {
    /// Whether neighbours in time are neighbours on the target.
    pub fn is_sequential(self) -> bool {
        matches!(self, Self::Sequential | Self::Reverse | Self::Strided { .. })
    }
}

/// A part of the region for [`Order::Zoned`]; zones follow one another from the region's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// Its share of the operations, per cent.
    pub access_percent: u32,
    /// Its share of the region, per cent.
    pub region_percent: u32,
}

/// Reads among the operations of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// This many of a hundred operations are reads, drawn by the stream's seed; the rest are what
    /// [`BlockPlan::operation`](crate::BlockPlan::operation) says.
    pub read_percent: u32,
}

/// Sizes of the operations of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockSize {
    /// Always the same.
    Fixed { bytes: u64 },
    /// Any multiple of `step_bytes` from `min_bytes` to `max_bytes`, all equally often.
    Range {
        /// Smallest, bytes; a multiple of the step.
        min_bytes: u64,
        /// Largest, bytes; a multiple of the step.
        max_bytes: u64,
        step_bytes: u64,
    },
    /// These sizes, each with its weight.
    Split(Vec<BlockShare>),
}

impl Default for BlockSize {
    fn default() -> Self {
        Self::Fixed { bytes: 4096 }
    }
}

impl BlockSize {
    /// The smallest operation, bytes.
    pub fn min_bytes(&self) -> u64 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { min_bytes, .. } => *min_bytes,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).min().unwrap_or(0),
        }
    }

    /// The largest operation, bytes.
    pub fn max_bytes(&self) -> u64 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Range { max_bytes, .. } => *max_bytes,
            Self::Split(shares) => shares.iter().map(|s| s.bytes).max().unwrap_or(0),
        }
    }

    /// Whether every size is a multiple of `unit` bytes.
    pub fn is_multiple_of(&self, unit: u64) -> bool {
        match self {
            Self::Fixed { bytes } => bytes.is_multiple_of(unit),
            Self::Range { min_bytes, step_bytes, .. } => {
                min_bytes.is_multiple_of(unit) && step_bytes.is_multiple_of(unit)
            }
            Self::Split(shares) => shares.iter().all(|s| s.bytes.is_multiple_of(unit)),
        }
    }
}

/// One size of a [`BlockSize::Split`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockShare {
    pub bytes: u64,
    /// Its share is its weight over the sum of all weights.
    pub weight: u32,
}

/// Sizes by direction, where they are not all [`BlockPlan::block_size_bytes`](crate::BlockPlan::block_size_bytes).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSizes {
    pub read: BlockSize,
    /// Of writes and zeroes.
    pub write: BlockSize,
    pub trim: BlockSize,
}

impl BlockSizes {
    /// Of one kind of operation.
    pub fn of(&self, operation: Operation) -> &BlockSize {
        match operation {
            Operation::Read => &self.read,
            Operation::Write | Operation::WriteZeroes => &self.write,
            Operation::Trim => &self.trim,
        }
    }
}

/// What the data written look like. Neutral: incompressible, unique.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// About this share of each block compresses to nothing, per cent.
    pub compress_percent: u32,
    /// This share of the blocks are copies of others, per cent.
    pub dedupe_percent: u32,
    /// Copies are of any block of a pool that is this share of the region, per cent; 0: of one block.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pool_percent: u32,
    /// The pool is the same for all streams that say so.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub pool_shared: bool,
    /// All bytes are zero.
    pub zero: bool,
}

/// Bytes that data are made of, over and over; hexadecimal digits in JSON. Neutral: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FillPattern(Vec<u8>);

impl FillPattern {
    /// The longest that is possible.
    pub const MAX_BYTES: usize = 4096;

    /// # Errors
    /// Where there are none, or too many.
    pub fn of(bytes: Vec<u8>) -> Result<Self, String> {
        match bytes.len() {
            0 => Err("a pattern has at least one byte".into()),
            n if n > Self::MAX_BYTES => Err(format!("a pattern of {n} bytes; {} are possible", Self::MAX_BYTES)),
            _ => Ok(Self(bytes)),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl TryFrom<String> for FillPattern {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        let digit =
            |c: char| c.to_digit(16).map(|d| d as u8).ok_or_else(|| format!("'{digits}' are not hexadecimal digits"));
        let digits: Vec<u8> = digits.chars().map(digit).collect::<Result<_, _>>()?;
        let (pairs, rest) = digits.as_chunks::<2>();
        if !rest.is_empty() {
            return Err("an odd number of hexadecimal digits".into());
        }
        Self::of(pairs.iter().map(|[high, low]| high << 4 | low).collect())
    }
}

impl From<FillPattern> for String {
    fn from(pattern: FillPattern) -> Self {
        pattern.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// That what is read is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// What is checked of each block that is read.
    pub kind: VerifyKind,
    /// Whether the region is read back when the stream has written it. Without it, only what the stream reads anyway
    /// is checked.
    pub read_back: bool,
    /// Whether the first mismatch ends the phase.
    pub stop_at_first: bool,
}
