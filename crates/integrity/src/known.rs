//! What is remembered of data that are there already.

use crate::expected::Interruption;
use crate::table::{Table, TooManyUnits};
use std::ops::Range;

/// What an earlier process wrote to a target, as far as it is remembered: this one goes on with it.
#[derive(Clone, Debug, Default)]
pub struct KnownData {
    /// The run's id and secret.
    pub run_id: u64,
    /// From which its data are made.
    pub secret: [u64; 2],
    /// Pieces of so many bytes are told apart.
    pub unit_bytes: u64,
    /// Bytes of the target, with the oldest and the newest version that may be there; 0: none need be.
    pub stretches: Vec<(Range<u64>, u32, u32)>,
    /// Streams that have verified so far: their writes are numbered on.
    pub streams: u64,
    /// How it ended.
    pub cut: Interruption,
}

impl KnownData {
    /// What each of its units holds.
    ///
    /// # Errors
    /// If the memory cannot be had.
    pub fn table(&self) -> Result<Table, TooManyUnits> {
        let mut table = Table::new(self.unit_bytes.max(1));
        for (bytes, low, high) in &self.stretches {
            table.remember(bytes.start, bytes.end, *low, *high)?;
        }
        Ok(table)
    }
}
