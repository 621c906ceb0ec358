//! What each layer of a storage path costs: the same work at one level after the other, from the file through the page cache down to the
//! disk, and what lies between two neighbours.

use crate::Ns;
use serde::Serialize;

/// What is done at each level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayersStudy {
    /// How often each level is measured.
    pub rounds: u32,
    /// How long each kind of work takes at a level.
    pub time_ns: Ns,
    /// Bytes that are read, of a file of ours also written.
    pub bytes: u64,
    /// Size of the single reads and writes.
    pub block_bytes: u64,
    /// Large operations in flight, past the page cache.
    pub depth: u32,
    /// Whether a file of ours is also written to, through the page cache and past it.
    pub writes: bool,
    /// How long the machine is looked at in each round while nothing of ours runs.
    pub rest_ns: Ns,
}

/// How a level is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelAccess {
    /// Through the page cache, which is emptied before.
    Buffered,
    /// Past the page cache.
    Direct,
}

/// What one round gave at a level; `None` where it cannot be believed, or was not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LevelRound {
    /// Mean time of a single random read, nanoseconds: means add up from layer to layer, which percentiles do not.
    pub read_ns: Option<f64>,
    /// Large reads one after the other.
    pub read_bytes_per_s: Option<f64>,
    /// CPU of the whole machine beyond that of its rest, for a GB of these.
    pub read_cpu_s_per_gb: Option<f64>,
    /// Mean time of a single random write that is durable when it ends, nanoseconds.
    pub write_ns: Option<f64>,
    /// Large writes, flushed.
    pub write_bytes_per_s: Option<f64>,
    /// As of the reads.
    pub write_cpu_s_per_gb: Option<f64>,
}

/// A number over the rounds, with its 95 % interval where there are two rounds or more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl Estimate {
    /// Whether it is above this whatever the rounds differ; with one round, whether its value is.
    pub fn is_above(&self, bound: f64) -> bool {
        self.low.unwrap_or(self.value) > bound
    }

    /// Whether it is below this.
    pub fn is_below(&self, bound: f64) -> bool {
        self.high.unwrap_or(self.value) < bound
    }
}

/// The numbers of a level, or what a layer changes of them: times and CPU as a difference, rates as a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelFigures<T> {
    pub read_ns: Option<T>,
    pub read_rate: Option<T>,
    pub read_cpu_s_per_gb: Option<T>,
    pub write_ns: Option<T>,
    pub write_rate: Option<T>,
    pub write_cpu_s_per_gb: Option<T>,
}

/// A level of a path, measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredLevel {
    /// What is read: `file direct`; `dm-0`.
    pub name: String,
    pub access: LevelAccess,
    /// Whether what is read there are the bytes of the level above.
    pub same_bytes: bool,
    /// Times in nanoseconds, rates in bytes a second, CPU of the machine in seconds for a GB.
    pub figures: LevelFigures<Estimate>,
    pub rounds: Vec<LevelRound>,
    /// Why numbers are missing, and how they may be wrong.
    pub reasons: Vec<String>,
}

/// A level that cannot be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelLeftOut {
    pub level: String,
    /// Why, with what to do about it.
    pub reason: String,
}

/// What a layer costs: the level above it against the level below it, round by round.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerCost {
    /// The layer, in words: `dm-crypt (dm-0)`.
    pub layer: String,
    /// The levels, by their names.
    pub above: String,
    pub below: String,
    /// Nanoseconds and seconds for a GB that it adds; the rate above as a share of the rate below.
    pub cost: LevelFigures<Estimate>,
    /// How much of the time of a read, or of the rate below, it takes, the larger of both, 0 to any number; `None` where neither differs
    /// by more than the rounds do.
    pub weight: Option<f64>,
}
