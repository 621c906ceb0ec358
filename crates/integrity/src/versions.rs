//! What every unit must hold while it is written and read in any order, in any sizes, many operations at once.

use crate::block::AllowedGenerations;
use crate::expected::{Expected, FailureDoubt, Interruption};
use crate::table::{Entry, LAST_GENERATION, Table};
use std::sync::Arc;

/// Writes remembered since the last flush; beyond, a failed flush puts all units in doubt.
const MAX_UNFLUSHED: usize = 16_384;

/// The state of one stream: the tables of what it uses, and its operations in flight. Each operation has a *slot*, a number
/// below the depth, for as long as it is in flight. Several writes to one unit may be in flight: then any of them may be
/// the one that stays. Nothing is allocated after [`Versions::new`].
#[derive(Debug)]
pub struct Versions {
    tables: Vec<Arc<Table>>,
    in_flight_ops: Vec<InFlightOp>,
    /// Of each slot and each of its units: the generation that it gets.
    generations: Vec<u32>,
    /// The oldest generation that may remain once the write is acknowledged.
    floors: Vec<u32>,
    /// Units of the largest operation.
    most: usize,
    changing: usize,
    reading: usize,
    unflushed: Vec<UnitRange>,
    flushes: u32,
    /// How many of `unflushed` the flushes in flight cover.
    flushing: usize,
    /// Flushes have been in flight together since there was none.
    several: bool,
    /// Something was written that `unflushed` has no room for.
    forgotten: bool,
    /// What came before the first operation.
    cut: Interruption,
    /// Something was trimmed.
    trims: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingChange {
    Nothing,
    Writing,
    /// Trimming, or zeroing: what lies there afterwards is not ours.
    Erasing,
    Reading {
        /// Nothing changed the units meanwhile.
        clean: bool,
    },
}

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct InFlightOp {
    doing: PendingChange,
    at: UnitRange,
}

/// Units of a table.
#[derive(Clone, Copy, Debug, Default)]
struct UnitRange {
    table: u32,
    count: u32,
    first: u64,
}

impl UnitRange {
    #[inline]
    fn meets(&self, other: &Self) -> bool {
        self.table == other.table
            && self.first < other.first + u64::from(other.count)
            && other.first < self.first + u64::from(self.count)
    }

    fn units(self) -> std::ops::Range<u64> {
        self.first..self.first + u64::from(self.count)
    }
}

/// Why a unit cannot be checked, or how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMode {
    /// One of these generations, without a doubt.
    Plainly(AllowedGenerations),
    /// Something, but a flush failed after it: ask [`Versions::expected`].
    InDoubt,
    /// Nothing: this run did not write it.
    NotWritten,
    /// Nothing: a write to it failed.
    WriteFailed,
    /// It was found wrong, which was reported.
    FoundBefore,
}

impl Versions {
    /// The memory that it takes beside the tables, in bytes, for so many operations in flight of so many units at most.
    pub fn bytes(slots: u32, most_units: u64) -> u64 {
        let slot = most_units.saturating_mul(8).saturating_add(size_of::<InFlightOp>() as u64);
        let fixed = size_of::<Self>() + MAX_UNFLUSHED * size_of::<UnitRange>();
        u64::from(slots).saturating_mul(slot).saturating_add(fixed as u64)
    }

    /// For a stream that uses these tables with `slots` operations in flight, each of `most_units` units at most.
    pub fn new(tables: Vec<Arc<Table>>, slots: u32, most_units: usize) -> Self {
        let slots = slots.max(1) as usize;
        let most = most_units.max(1);
        Self {
            tables,
            in_flight_ops: vec![InFlightOp { doing: PendingChange::Nothing, at: UnitRange::default() }; slots],
            generations: vec![0; slots * most],
            floors: vec![0; slots * most],
            most,
            changing: 0,
            reading: 0,
            unflushed: Vec::with_capacity(MAX_UNFLUSHED),
            flushes: 0,
            flushing: 0,
            forgotten: false,
            several: false,
            cut: Interruption::None,
            trims: false,
        }
    }

    /// To look at what was written before whoever wrote it ended so.
    pub fn after(mut self, cut: Interruption) -> Self {
        self.cut = cut;
        self
    }

    /// Bytes of a unit of this table.
    #[inline]
    pub fn unit_bytes(&self, table: usize) -> u64 {
        self.tables[table].unit_bytes()
    }

    fn begin(&mut self, slot: usize, doing: PendingChange, at: UnitRange) {
        assert!(at.count as usize <= self.most, "{} units of {}: plans are checked before", at.count, self.most);
        match doing {
            PendingChange::Reading { .. } => self.reading += 1,
            _ => self.changing += 1,
        }
        self.in_flight_ops[slot] = InFlightOp { doing, at };
    }

    fn end(&mut self, slot: usize) -> InFlightOp {
        let flight = std::mem::replace(
            &mut self.in_flight_ops[slot],
            InFlightOp { doing: PendingChange::Nothing, at: UnitRange::default() },
        );
        match flight.doing {
            PendingChange::Nothing => {}
            PendingChange::Reading { .. } => self.reading -= 1,
            PendingChange::Writing | PendingChange::Erasing => self.changing -= 1,
        }
        flight
    }

    /// Whether something in flight changes these units; reads of them in flight are not clean any more if `changes`.
    #[inline]
    fn meets_changes(&mut self, at: &UnitRange, changes: bool) -> bool {
        if self.changing == 0 && (!changes || self.reading == 0) {
            return false;
        }
        let mut met = false;
        for flight in &mut self.in_flight_ops {
            match &mut flight.doing {
                PendingChange::Writing | PendingChange::Erasing => met |= flight.at.meets(at),
                PendingChange::Reading { clean } if changes && flight.at.meets(at) => *clean = false,
                _ => {}
            }
        }
        met
    }

    /// The oldest generation that may remain of what is in flight to `unit`.
    fn floor_in_flight(&self, table: u32, unit: u64) -> Option<u32> {
        let in_flight_ops = self.in_flight_ops.iter().enumerate();
        let here = in_flight_ops.filter(|(_, f)| f.at.table == table && f.at.units().contains(&unit));
        here.filter_map(|(slot, f)| match f.doing {
            PendingChange::Writing => Some(self.floors[slot * self.most + (unit - f.at.first) as usize]),
            PendingChange::Erasing => Some(0),
            _ => None,
        })
        .min()
    }

    /// A write of `count` units from `first` on is about to be issued: [`Versions::generation`] says what they become.
    pub fn begin_write(&mut self, slot: usize, table: usize, first: u64, count: u32) {
        let at = UnitRange { table: table as u32, count, first };
        let met = self.meets_changes(&at, true);
        for (i, unit) in at.units().enumerate() {
            let entry = self.tables[table].entry(unit);
            let generation = (entry.high() + 1).min(LAST_GENERATION);
            // Writes that overlap in time may be applied in any order, so the oldest of them may be the one that stays.
            let floor = match met {
                true => self.floor_in_flight(at.table, unit).unwrap_or(generation),
                false => generation,
            };
            // Versions that cannot be told apart any more owe nothing.
            let entry = if entry.high() == LAST_GENERATION { entry.with_write_failed() } else { entry };
            self.tables[table].set(unit, entry.with_high(generation));
            self.generations[slot * self.most + i] = generation;
            self.floors[slot * self.most + i] = floor;
        }
        self.begin(slot, PendingChange::Writing, at);
    }

    /// The generation that unit number `i` of the write in this slot gets.
    #[inline]
    pub fn generation(&self, slot: usize, i: usize) -> u32 {
        self.generations[slot * self.most + i]
    }

    /// The units will be trimmed or zeroed: they owe nothing until they are written again.
    pub fn begin_erase(&mut self, slot: usize, table: usize, first: u64, count: u32) {
        let at = UnitRange { table: table as u32, count, first };
        if self.meets_changes(&at, true) {
            for (other, flight) in
                self.in_flight_ops.iter().enumerate().filter(|(_, f)| f.doing == PendingChange::Writing)
            {
                let units = flight.at.units().enumerate().filter(|_| flight.at.table == at.table);
                for (i, _) in units.filter(|(_, unit)| at.units().contains(unit)) {
                    self.floors[other * self.most + i] = 0;
                }
            }
        }
        let table = &self.tables[table];
        at.units().for_each(|unit| table.set(unit, table.entry(unit).with_low(0)));
        self.trims = true;
        // Its slot needs no room for generations.
        self.changing += 1;
        self.in_flight_ops[slot] = InFlightOp { doing: PendingChange::Erasing, at };
    }

    /// A read is about to be issued.
    #[inline]
    pub fn begin_read(&mut self, slot: usize, table: usize, first: u64, count: u32) {
        let at = UnitRange { table: table as u32, count, first };
        let clean = !self.meets_changes(&at, false);
        self.reading += 1;
        self.in_flight_ops[slot] = InFlightOp { doing: PendingChange::Reading { clean }, at };
    }

    /// The read has ended. Whether nothing changed its units meanwhile: else nothing can be said about them, since reads
    /// and writes that overlap are not atomic to each other.
    #[inline]
    pub fn ended_read(&mut self, slot: usize) -> bool {
        matches!(self.end(slot).doing, PendingChange::Reading { clean: true })
    }

    /// The write or erasure has ended; of a write the first `done` units were written.
    pub fn end_op(&mut self, slot: usize, done: u32) {
        let flight = self.end(slot);
        if flight.doing != PendingChange::Writing {
            return;
        }
        let table = &self.tables[flight.at.table as usize];
        for (i, unit) in flight.at.units().enumerate() {
            let entry = table.entry(unit);
            let at = slot * self.most + i;
            let (generation, floor) = (self.generations[at], self.floors[at]);
            let ended = if i >= done as usize {
                entry.with_write_failed()
            } else if floor == generation && entry.high() == generation && generation < LAST_GENERATION {
                // It was issued after all earlier writes had ended, and is the newest: what failed before is overwritten.
                Entry::exactly(generation)
            } else {
                entry.with_low(entry.low().max(floor))
            };
            table.set(unit, ended);
        }
        if done > 0 {
            if self.unflushed.len() < MAX_UNFLUSHED {
                self.unflushed.push(UnitRange { count: done.min(flight.at.count), ..flight.at });
            } else {
                self.forgotten = true;
            }
        }
    }

    /// A flush is about to be issued: it will cover the writes acknowledged so far.
    pub fn flush_begins(&mut self) {
        if self.flushes == 0 {
            self.flushing = self.unflushed.len();
        }
        self.several |= self.flushes > 0;
        self.flushes += 1;
    }

    /// The flush has ended. After a failure what it covered is in doubt until it is written again; where several flushes
    /// were in flight, all that is not known to be durable.
    pub fn flush_ended(&mut self, succeeded: bool) {
        self.flushes = self.flushes.saturating_sub(1);
        if !succeeded {
            let covered = if !self.several && !self.forgotten { self.flushing } else { self.unflushed.len() };
            for stretch in &self.unflushed[..covered] {
                let table = &self.tables[stretch.table as usize];
                stretch.units().for_each(|unit| table.set(unit, table.entry(unit).with_flush_failed()));
            }
            if self.forgotten {
                self.doubt_all();
            }
        }
        if self.flushes == 0 {
            self.unflushed.drain(..self.flushing);
            self.flushing = 0;
            self.several = false;
            self.forgotten &= !succeeded;
        }
    }

    #[cold]
    fn doubt_all(&self) {
        for table in &self.tables {
            table.doubt_all();
        }
    }

    /// What a unit must hold, as far as the fast path needs to know. Writes in flight are not looked at: see
    /// [`Versions::ended_read`].
    #[inline]
    pub fn check_mode(&self, table: usize, unit: u64) -> CheckMode {
        let entry = self.tables[table].entry(unit);
        if entry.is_plain() {
            return CheckMode::Plainly(AllowedGenerations { min: entry.low(), max: entry.high() });
        }
        match () {
            () if entry.reported() => CheckMode::FoundBefore,
            () if entry.write_failed() => CheckMode::WriteFailed,
            () if entry.low() == 0 => CheckMode::NotWritten,
            () => CheckMode::InDoubt,
        }
    }

    /// What a unit must hold now; nothing for a unit that is not in the table.
    pub fn expected(&self, table: usize, unit: u64) -> Expected {
        let entry = self.tables[table].entry(unit);
        let here = UnitRange { table: table as u32, count: 1, first: unit };
        let changes =
            |f: &InFlightOp| matches!(f.doing, PendingChange::Writing | PendingChange::Erasing) && f.at.meets(&here);
        Expected {
            settled: !self.in_flight_ops.iter().any(changes),
            standing: match (entry.write_failed(), entry.flush_failed()) {
                (true, _) => FailureDoubt::WriteFailed,
                (false, true) => FailureDoubt::FlushFailed,
                (false, false) => FailureDoubt::Sound,
            },
            after_cut: match self.cut {
                Interruption::None => false,
                // What was in flight may be torn; all else the kernel still has.
                Interruption::Killed => entry.low() != entry.high(),
                Interruption::Power => true,
            },
            trims: self.trims,
            ..Expected::between(entry.low(), entry.high())
        }
    }

    /// The unit was found wrong: until it is written again that is not reported once more.
    pub fn reported(&self, table: usize, unit: u64) {
        let table = &self.tables[table];
        table.set(unit, table.entry(unit).marked_reported());
    }
}

impl Drop for Versions {
    /// What is still in flight may arrive at any time, or never: it owes nothing.
    fn drop(&mut self) {
        for slot in 0..self.in_flight_ops.len() {
            self.end_op(slot, 0);
        }
    }
}

#[cfg(test)]
#[path = "versions_tests.rs"]
mod tests;
