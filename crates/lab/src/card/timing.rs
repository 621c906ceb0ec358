//! How long a card takes: the one model of time, a pure function of its state, an operation and when it arrived.
//!
//! A card is a serial device: an operation starts when it has arrived and its predecessor is done. What it takes:
//!
//! - **Data that continue an open run** ([`Runs`]): what the run's curve grows by, in the end the sequential rate.
//! - **Other data**: a new run; of several, the one that rested longest is closed. Opening an erase block that no run is in
//!   may cost extra.
//! - **Cache**: while it has room for a write, the write follows the cache's curve. It empties while the card rests.
//! - **Stalls**: one for each so many bytes written.
//! - **Flush**: what short runs owe, and its own time, if anything was written since the last.
//!
//! What is deliberately absent: any look at a clock, and any cost of a request as such (an emulated SD card splits
//! requests into pieces of 512 bytes on their way to here).

use super::chance;
use super::parameters::{Card, Curves};
use super::runs::Runs;

/// What is asked of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A read.
    Read {
        /// Byte offset.
        offset: u64,
        /// How many, more than 0.
        len: u64,
    },
    /// Writes bytes, sent or zero.
    Write {
        offset: u64,
        /// How many, more than 0.
        len: u64,
        /// Whether the write is durable when it returns (FUA).
        flush: bool,
    },
    /// Makes sure of what was written.
    Flush,
    /// A trim.
    Trim {
        /// Byte offset.
        offset: u64,
        /// How many, more than 0.
        len: u64,
    },
}

/// What the card did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Reads that continued no run.
    pub read_runs: u64,
    /// Writes that continued no run.
    pub write_runs: u64,
    pub flushes: u64,
    /// Number of trims.
    pub trims: u64,
    pub stalls: u64,
    /// Time that it was busy, nanoseconds.
    #[serde(rename = "busy_s", serialize_with = "in_seconds")]
    pub busy_ns: u64,
}

fn in_seconds<S: serde::Serializer>(ns: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(*ns as f64 / 1e9)
}

/// A card's state in time.
#[derive(Clone, Debug)]
pub struct Timing {
    card: Card,
    curves: Curves,
    seed: u64,
    slowness: f64,
    reads: Runs,
    writes: Runs,
    /// Bytes in the cache.
    cached_bytes: u64,
    /// Bytes written since the last stall.
    since_stall_bytes: u64,
    /// Something was written since the last flush.
    unflushed: bool,
    /// Where the last operation ended, and whether it was a write.
    last: Option<(u64, bool)>,
    operations: u64,
    busy_until_ns: u64,
    counts: Counts,
}

impl Timing {
    /// A card that rested for ever. `slowness` multiplies all its times.
    ///
    /// # Errors
    /// What is wrong with which point of a curve.
    pub fn new(card: Card, seed: u64, slowness: f64) -> anyhow::Result<Self> {
        anyhow::ensure!(slowness.is_finite() && slowness > 0.0, "a card cannot be {slowness} times as slow");
        Ok(Self {
            curves: card.curves()?,
            reads: Runs::new(card.read.streams, u64::MAX),
            writes: Runs::new(card.write.open_streams, card.write.erase_block.0),
            card,
            seed,
            slowness,
            cached_bytes: 0,
            since_stall_bytes: 0,
            unflushed: false,
            last: None,
            operations: 0,
            busy_until_ns: 0,
            counts: Counts::default(),
        })
    }

    /// What the card did so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Size of its cache, bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.card.cache.as_ref().map_or(0, |cache| cache.size.0)
    }

    /// When the card is done with all it was asked, nanoseconds.
    pub fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// Serves an operation that arrived at `arrival_ns`; when it is done, nanoseconds of the same clock. That may lie
    /// before the arrival: the card was still busy with the piece before, and had this one in its buffer.
    pub fn serve(&mut self, arrival_ns: u64, operation: Operation) -> u64 {
        let rested_ns = arrival_ns.saturating_sub(self.busy_until_ns);
        let gap_ns = (self.card.hidden_gap.0 as f64 * self.slowness) as u64;
        let streams = match operation {
            Operation::Read { offset, .. } => self.last == Some((offset, false)) && self.reads.continues(offset),
            Operation::Write { offset, .. } => self.last == Some((offset, true)) && self.writes.continues(offset),
            Operation::Flush | Operation::Trim { .. } => false,
        };
        let start_ns = if streams && rested_ns <= gap_ns {
            self.busy_until_ns
        } else {
            self.drain(rested_ns);
            self.busy_until_ns.max(arrival_ns)
        };
        let service_ns = match operation {
            Operation::Read { offset, len } => self.read(offset, len),
            Operation::Write { offset, len, flush } => self.write(offset, len) + if flush { self.flush() } else { 0 },
            Operation::Flush => self.flush(),
            Operation::Trim { offset, len } => self.trim(offset, len),
        };
        let service_ns = (service_ns as f64 * self.factor()) as u64;
        self.operations += 1;
        self.counts.busy_ns += service_ns;
        self.busy_until_ns = start_ns.saturating_add(service_ns);
        self.busy_until_ns
    }

    fn factor(&self) -> f64 {
        if self.card.spread == 0.0 {
            return self.slowness;
        }
        let even = chance::unit_interval(chance::number(self.seed, u64::from(b't'), self.operations));
        self.slowness * (1.0 + self.card.spread * (2.0 * even - 1.0))
    }

    fn drain(&mut self, rested_ns: u64) {
        if let Some(cache) = &self.card.cache {
            let rested_ns = (rested_ns as f64 / self.slowness) as u64;
            self.cached_bytes = self.cached_bytes.saturating_sub(cache.drain.bytes_in(rested_ns));
        }
    }

    fn read(&mut self, offset: u64, len: u64) -> u64 {
        let cost = self.reads.take(offset, len, &self.curves.read);
        self.last = Some((offset + len, false));
        self.counts.read_bytes += len;
        self.counts.read_runs += u64::from(!cost.continued);
        cost.ns
    }

    fn write(&mut self, offset: u64, len: u64) -> u64 {
        let room = self.card.cache.as_ref().map_or(0, |cache| cache.size.0.saturating_sub(self.cached_bytes));
        let curve = match &self.curves.cached {
            Some(cached) if len <= room => {
                self.cached_bytes += len;
                cached
            }
            _ => &self.curves.write,
        };
        let cost = self.writes.take(offset, len, curve);
        self.last = Some((offset + len, true));
        self.unflushed = true;
        self.counts.written_bytes += len;
        self.counts.write_runs += u64::from(!cost.continued);
        let opening_ns = if cost.opened { self.card.write.open_block.0 } else { 0 };
        cost.ns + opening_ns + self.stalls(len)
    }

    fn stalls(&mut self, len: u64) -> u64 {
        let Some(stall) = &self.card.stall else { return 0 };
        self.since_stall_bytes += len;
        let stalls = self.since_stall_bytes / stall.every.0;
        self.since_stall_bytes %= stall.every.0;
        self.counts.stalls += stalls;
        stalls.saturating_mul(stall.time.0)
    }

    fn flush(&mut self) -> u64 {
        self.counts.flushes += 1;
        let own_ns = if std::mem::take(&mut self.unflushed) { self.card.commands.flush_time.0 } else { 0 };
        self.writes.settle() + own_ns
    }

    fn trim(&mut self, offset: u64, len: u64) -> u64 {
        let block = self.card.write.erase_block.0;
        let blocks = (offset + len - 1) / block - offset / block + 1;
        self.last = None;
        self.counts.trims += 1;
        blocks.saturating_mul(self.card.commands.trim_time.0)
    }
}

#[cfg(test)]
#[path = "timing_tests.rs"]
mod tests;
