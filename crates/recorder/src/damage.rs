//! What can be wrong with a container.

/// What is wrong with a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One copy of the superblock is not there; the other is.
    Superblock { offset: u64 },
    /// Both are gone; the segments said what they said.
    BothSuperblocks,
    /// Batches that were acknowledged are not there, or not whole.
    Batches {
        /// Of which opening.
        epoch: u32,
        /// The first, and the one behind the last.
        from: u64,
        /// The one behind the last.
        until: u64,
    },
    /// A frame that was acknowledged is not what was written.
    Frame {
        /// Name of the stream.
        stream: String,
        /// Sequence number of the frame.
        sequence: u64,
        /// Where it lies.
        offset: u64,
    },
    /// Segments that are pinned are not there.
    Pinned {
        /// First sequence number that is missing.
        from: u64,
        /// The one behind the last.
        until: u64,
    },
    /// The last block of a segment does not say what the segment holds.
    Footer { segment: u64 },
}
