//! What a card is like: one TOML file each, in `lab/cards/`.
//!
//! Every value is a size (`"4MiB"`), a time (`"30ms"`), a rate (`"10MiB/s"`), a count or a share. A key that is not known is
//! an error. What a file does not say, the card does not do: no cache, no stalls, no faults.

use super::curve::Curve;
use super::quantities::{Rate, Size, Time};
use crate::mistakes::explained;
use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use std::path::Path;

/// SD cards know no smaller unit (SD Physical Layer Simplified Specification, 4.3.3: SDHC and SDXC have blocks of 512).
pub const SECTOR: u64 = 512;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Card {
    /// What it is, one line.
    pub title: String,
    /// Where its figures come from, and which of them are invented.
    pub source: String,
    /// What it says its size is.
    pub capacity: Size,
    pub read: Reads,
    pub write: Writes,
    /// A fast part of the flash that takes writes first; none without it.
    pub cache: Option<Cache>,
    /// Garbage collection; none without it.
    pub stall: Option<Stall>,
    /// What else it can be told.
    #[serde(default)]
    pub commands: Commands,
    /// A size that is a lie; the truth without it.
    pub fake: Option<Fake>,
    /// What becomes of it as it is written; nothing without it.
    pub wear: Option<Wear>,
    /// What it does wrong.
    #[serde(default, rename = "fault")]
    pub faults: Vec<Fault>,
    /// Each time is multiplied by an even chance between 1 - spread and 1 + spread; the mean stays.
    #[serde(default)]
    pub spread: f64,
    /// A piece that follows its predecessor within this time is served as if there had been no gap: a card has a buffer
    /// for the blocks that are on the bus while it programs. Without it a stream loses the time between its pieces.
    #[serde(default = "half_a_millisecond")]
    pub hidden_gap: Time,
}

fn half_a_millisecond() -> Time {
    Time(500_000)
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

fn one_page() -> Size {
    Size(4096)
}

/// One point of a curve: a length, and either a time or operations per second one after the other.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Point {
    bytes: Size,
    time: Option<Time>,
    iops: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reads {
    /// Rate of a read that continues another.
    pub rate: Rate,
    /// Reads that continue nothing, by their length.
    #[serde(default)]
    points: Vec<Point>,
    /// Streams that it follows at once.
    #[serde(default = "one")]
    pub streams: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Writes {
    /// Rate of a write that continues an open stream.
    pub rate: Rate,
    /// Writes that continue none, by their length.
    #[serde(default)]
    points: Vec<Point>,
    /// Streams that it keeps open at once; the one that rested longest is closed for a new one.
    #[serde(default = "one")]
    pub open_streams: usize,
    /// Size of an erase block: a write elsewhere in the block of an open stream restarts that stream and closes no other.
    pub erase_block: Size,
    /// Extra time when a block is written that no open stream is in.
    #[serde(default)]
    pub open_block: Time,
}

/// The part of the flash that is written fast (SLC).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cache {
    pub size: Size,
    /// Rate of streams while there is room.
    pub rate: Rate,
    /// Writes that continue no stream, while there is room; as without the cache where none are given.
    #[serde(default)]
    points: Vec<Point>,
    /// Rate at which it empties while nothing is asked of the card.
    pub drain: Rate,
}

/// The card collects its garbage and answers nobody.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stall {
    /// Bytes written between two of them.
    pub every: Size,
    /// How long the card does not answer.
    pub time: Time,
}

/// Commands beyond read and write.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Commands {
    /// Flush is offered.
    #[serde(default = "yes")]
    pub flush: bool,
    /// Time of a flush after writes; none after none.
    #[serde(default)]
    pub flush_time: Time,
    /// Writes that flush themselves are offered.
    #[serde(default = "yes")]
    pub fua: bool,
    /// Discards are offered.
    #[serde(default = "yes")]
    pub trim: bool,
    /// Time of discarding one erase block or a part of it.
    #[serde(default)]
    pub trim_time: Time,
    /// Writing zeros without sending them is offered; it takes the time of a write.
    #[serde(default = "yes")]
    pub write_zeroes: bool,
}

impl Default for Commands {
    fn default() -> Self {
        Self { flush: true, flush_time: Time(0), fua: true, trim: true, trim_time: Time(0), write_zeroes: true }
    }
}

/// A card that says it is larger than it is.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fake {
    /// The capacity that the card has.
    pub real_capacity: Size,
    /// What happens above.
    pub beyond: Beyond,
}

/// What a card does above its true size.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// Starts again at the beginning.
    Wrap,
    /// Takes writes and forgets them; reads zeros.
    Drop,
}

/// What becomes of a card as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wear {
    /// It refuses writes after so many bytes.
    pub read_only_after: Option<Size>,
    /// One bit of a sector may be wrong after so many bytes.
    pub bit_errors_after: Option<Size>,
    /// The chance of that for each sector that is written.
    #[serde(default)]
    pub bit_error_chance: f64,
}

/// Something that a card does wrong, at sectors that are named or that the seed chooses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fault {
    pub kind: FaultKind,
    /// The first of the sectors (of 512 bytes).
    pub sector: Option<u64>,
    /// How many; 1 without it.
    pub sectors: Option<u64>,
    /// The share of all units that the seed chooses.
    pub chance: Option<f64>,
    /// What is chosen at once. Of a unit with wrong data one sector is wrong; any other fault meets all of it.
    #[serde(default = "one_page")]
    pub unit: Size,
    /// It begins after so many bytes have been written.
    #[serde(default)]
    pub after: Size,
}

/// What a card does wrong.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A read fails.
    ReadError,
    /// A write fails; what comes before the place is written.
    WriteError,
    /// A write is acknowledged and never done: the old data stay.
    LostWrite,
    /// One bit of what is written is wrong.
    CorruptWrite,
}

fn curve(points: &[Point], rate: Rate, of: &str) -> anyhow::Result<Curve> {
    let points = points.iter().map(|point| {
        let bytes = point.bytes.0;
        ensure!(bytes > 0, "{of}: a point has 0 bytes");
        let time = match (point.time, point.iops) {
            (Some(time), None) => time.0,
            (None, Some(iops)) if iops > 0.0 => (1e9 / iops).round() as u64,
            _ => bail!("{of}: the point at {bytes} bytes wants either 'time' or 'iops', more than 0"),
        };
        Ok((bytes, time))
    });
    let points = points.collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "{of}: the points are not in order of 'bytes'");
    Ok(Curve::new(points, rate))
}

/// Whole sectors, and at least one.
fn sectors(size: Size, what: &str) -> anyhow::Result<()> {
    ensure!(
        size.0 > 0 && size.0.is_multiple_of(SECTOR),
        "{what} is {} bytes: it must be whole sectors of {SECTOR}",
        size.0
    );
    Ok(())
}

fn share(value: f64, what: &str) -> anyhow::Result<()> {
    ensure!((0.0..=1.0).contains(&value), "{what} is {value}: it must lie between 0 and 1");
    Ok(())
}

impl Card {
    /// From the text of a file.
    ///
    /// # Errors
    /// What is wrong with which value.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let card: Self = toml::from_str(text).map_err(|error| anyhow::anyhow!(explained(&error)))?;
        card.check()?;
        Ok(card)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong, with the name of the file.
    pub fn load(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        Self::parse(&text).with_context(|| format!("{}: this is not a card", file.display()))
    }

    fn check(&self) -> anyhow::Result<()> {
        sectors(self.capacity, "capacity")?;
        sectors(self.write.erase_block, "write.erase-block")?;
        ensure!(self.write.open_streams > 0 && self.read.streams > 0, "a card follows at least one stream");
        self.read_curve()?;
        self.write_curve()?;
        ensure!((0.0..1.0).contains(&self.spread), "spread is {}: it must lie between 0 and 1", self.spread);
        if self.cache.is_some() {
            self.cached_curve()?;
        }
        if let Some(stall) = &self.stall {
            ensure!(stall.every.0 > 0, "stall.every is 0");
        }
        if let Some(fake) = &self.fake {
            sectors(fake.real_capacity, "fake.real-capacity")?;
            ensure!(
                fake.real_capacity < self.capacity,
                "fake.real-capacity is not less than capacity: that would be no lie"
            );
        }
        if let Some(wear) = &self.wear {
            share(wear.bit_error_chance, "wear.bit-error-chance")?;
        }
        for fault in &self.faults {
            sectors(fault.unit, "fault.unit")?;
            match (fault.sector, fault.sectors, fault.chance) {
                (None, None, Some(chance)) => share(chance, "fault.chance")?,
                (Some(first), count, None) => {
                    let all = self.capacity.0 / SECTOR;
                    ensure!(
                        first.checked_add(count.unwrap_or(1)).is_some_and(|end| end <= all),
                        "fault.sector {first}: the card has {all} sectors"
                    );
                }
                _ => bail!("a fault wants either 'sector' (and 'sectors') or 'chance'"),
            }
        }
        Ok(())
    }

    fn read_curve(&self) -> anyhow::Result<Curve> {
        curve(&self.read.points, self.read.rate, "read.points")
    }

    fn write_curve(&self) -> anyhow::Result<Curve> {
        curve(&self.write.points, self.write.rate, "write.points")
    }

    fn cached_curve(&self) -> anyhow::Result<Option<Curve>> {
        let Some(cache) = &self.cache else { return Ok(None) };
        let points = if cache.points.is_empty() { &self.write.points } else { &cache.points };
        curve(points, cache.rate, "cache.points").map(Some)
    }

    /// The curves of reads, of writes, and of writes while the cache has room.
    ///
    /// # Errors
    /// What is wrong with which point.
    pub fn curves(&self) -> anyhow::Result<Curves> {
        Ok(Curves { read: self.read_curve()?, write: self.write_curve()?, cached: self.cached_curve()? })
    }
}

/// The curves of a card.
#[derive(Clone, Debug)]
pub struct Curves {
    pub read: Curve,
    /// Writes past the cache.
    pub write: Curve,
    /// Writes into the cache.
    pub cached: Option<Curve>,
}
