//! The medium of a simulated disk, in memory: what was written is there, unless one of the faults that disks have was put in.
//!
//! It injects, and a verifier must find, each under exactly its name:
//!
//! | fault | injected as |
//! |---|---|
//! | bit rot | up to three stored bits of a write flipped |
//! | corrupt | a stored sector replaced by noise, or noise that changes with every read |
//! | transient path error | one read has a flipped bit, later ones do not |
//! | torn write | of a write only the first sectors are stored |
//! | lost write | a write is acknowledged and not stored |
//! | stale read | a read of the place that was written last gives what was there before |
//! | misdirected write | a write is stored at the place that was written last |
//! | misdirected read | a read gives another place's data |
//! | foreign data | another run's data are stored in place of a write |
//! | wrap-around | addresses are taken modulo the real capacity |
//! | limbo capacity | writes beyond the real capacity are dropped, reads there give zeros |
//! | lost on power cut, reordered across a flush | a write is dropped at the cut although a flush covered it |
//! | late error | a flush fails and drops what it was to store |
//!
//! It also does what must *not* be found: at a power cut any subset of the sectors of unflushed writes is stored, in whole
//! atomic units; writes in flight are applied in any order.

use crate::block::{Stamper, Write};
use crate::keystream::Secret;
use crate::stamp::SECTOR_BYTES;
use model::DataFault;
use model::random::finalise as mix;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of which the memory is had at a time.
const PIECE: usize = 64 << 10;
const PIECE_SECTORS: u64 = (PIECE / SECTOR_BYTES) as u64;

/// What the next read of a place gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRead {
    FlippedBit(usize),
    /// What was there before the last write.
    Before,
    /// What is there.
    Of(u64),
}

/// What the next write to a place does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextWrite {
    /// The write is acknowledged and not stored.
    Lost,
    /// So many sectors are stored.
    Torn(usize),
    /// The data are stored at this LBA instead.
    To(u64),
}

/// A fault of the n-th operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Armed {
    pub class: DataFault,
    /// The write, of which the fault is, counted from 1; of faults of reading the read, of late errors the flush. The first from then
    /// on with which it can be done: there is no older version of what was written once.
    pub at: u64,
    /// Decides what is left open: which bits, which sectors.
    pub seed: u64,
}

/// One numbering of 512-byte sectors. Places are named by the first sector of a write. What was never written is zero, and
/// takes no memory.
#[derive(Debug, Default)]
pub struct Medium {
    pieces: BTreeMap<u64, Box<[u8]>>,
    before: BTreeMap<u64, Vec<u8>>,
    /// Written since the last flush: what was there at that flush, and what is there now.
    unflushed: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    /// What the next read of a place gives.
    pub next_read: BTreeMap<u64, NextRead>,
    /// What the next write to a place does.
    pub next_write: BTreeMap<u64, NextWrite>,
    /// Flushes pretend to cover these places.
    pub never_durable: BTreeSet<u64>,
    durable_lie: BTreeMap<u64, Vec<u8>>,
    /// Reads of these places give noise, each time other.
    pub noisy: BTreeSet<u64>,
    noise: u8,
    /// Sectors that there really are, and addresses beyond lead back.
    pub wraps_at: Option<u64>,
    /// Sectors that there really are, and addresses beyond lead nowhere.
    pub limbo_from: Option<u64>,
    /// Whether something was written beyond what there really is.
    pub was_overrun: bool,
    /// A fault that comes when it is its turn; taken when it was done.
    pub armed: Option<Armed>,
    /// Where the armed fault was done: the first sector and the sectors that are wrong.
    pub done: Option<(u64, u64)>,
    /// The write from which on nothing arrives: the machine is gone, and does not know it yet.
    pub dies_at: Option<u64>,
    operations: [u64; 3],
    last: Option<(u64, usize)>,
}

impl Medium {
    /// Where an address really leads; `None`: nowhere.
    fn place(&self, lba: u64) -> Option<u64> {
        let lba = self.wraps_at.map_or(lba, |capacity| lba % capacity);
        self.limbo_from.is_none_or(|from| lba < from).then_some(lba)
    }

    fn load(&self, lba: u64, data: &mut [u8]) {
        for (i, sector) in data.chunks_mut(SECTOR_BYTES).enumerate() {
            let Some(at) = self.place(lba + i as u64) else {
                sector.fill(0);
                continue;
            };
            let from = (at % PIECE_SECTORS) as usize * SECTOR_BYTES;
            match self.pieces.get(&(at / PIECE_SECTORS)) {
                Some(piece) => sector.copy_from_slice(&piece[from..from + sector.len()]),
                None => sector.fill(0),
            }
        }
    }

    fn loaded(&self, lba: u64, len: usize) -> Vec<u8> {
        let mut data = vec![0; len];
        self.load(lba, &mut data);
        data
    }

    /// Puts data there, past all faults but that of the capacity.
    pub fn replace(&mut self, lba: u64, data: &[u8]) {
        for (i, sector) in data.chunks(SECTOR_BYTES).enumerate() {
            let Some(at) = self.place(lba + i as u64) else { continue };
            let from = (at % PIECE_SECTORS) as usize * SECTOR_BYTES;
            let piece = self.pieces.entry(at / PIECE_SECTORS).or_insert_with(|| vec![0; PIECE].into_boxed_slice());
            piece[from..from + sector.len()].copy_from_slice(sector);
        }
    }

    /// Flips a stored bit, counted from the start of a sector.
    pub fn flip(&mut self, lba: u64, bit: usize) {
        let lba = lba + (bit / 8 / SECTOR_BYTES) as u64;
        let bit = bit % (8 * SECTOR_BYTES);
        let mut sector = self.loaded(lba, SECTOR_BYTES);
        sector[bit / 8] ^= 1 << (bit % 8);
        self.replace(lba, &sector);
    }

    /// Whole sectors are written.
    pub fn write(&mut self, lba: u64, data: &[u8]) {
        self.operations[0] += 1;
        let armed = self.armed.filter(|armed| armed.at <= self.operations[0]);
        if armed.is_some_and(|armed| self.write_wrongly(armed, lba, data)) {
            self.armed = None;
        } else {
            self.store(lba, data);
        }
        self.last = Some((lba, data.len()));
    }

    /// Operations are counted from here on.
    pub fn count_from_here(&mut self) {
        self.operations = [0; 3];
    }

    /// Whether nothing arrives any more.
    pub fn is_dead(&self) -> bool {
        self.dies_at.is_some_and(|at| self.operations[0] >= at)
    }

    fn store(&mut self, lba: u64, data: &[u8]) {
        if self.is_dead() {
            return;
        }
        let end = lba + (data.len() / SECTOR_BYTES) as u64;
        self.was_overrun |= self.wraps_at.into_iter().chain(self.limbo_from).any(|real| end > real);
        let (to, len) = match self.next_write.remove(&lba) {
            Some(NextWrite::Lost) => return,
            Some(NextWrite::Torn(sectors)) => (lba, sectors * SECTOR_BYTES),
            Some(NextWrite::To(other)) => (other, data.len()),
            None => (lba, data.len()),
        };
        if self.place(to).is_none() {
            return;
        }
        let old = self.loaded(to, data.len());
        self.unflushed.entry(to).or_insert_with(|| (old.clone(), Vec::new())).1 = data[..len].to_vec();
        // Of a device that is smaller than it says no read is to give what was there before: large ones would not fit into memory.
        if self.armed.is_some() || self.wraps_at.or(self.limbo_from).is_none() {
            self.before.insert(to, old);
        }
        self.replace(to, &data[..len]);
    }

    /// A write with the fault whose turn it is; whether it could be done.
    fn write_wrongly(&mut self, Armed { class, seed, .. }: Armed, lba: u64, data: &[u8]) -> bool {
        let sectors = data.len() / SECTOR_BYTES;
        let chosen = |n: u64, of: usize| (mix(seed.wrapping_add(n)) % of.max(1) as u64) as usize;
        self.done = Some((lba, sectors as u64));
        match class {
            DataFault::BitRot => {
                self.store(lba, data);
                let sector = lba + chosen(0, sectors) as u64;
                let bits: BTreeSet<usize> =
                    (0..=chosen(1, 3)).map(|n| chosen(2 + n as u64, 8 * SECTOR_BYTES)).collect();
                bits.into_iter().for_each(|bit| self.flip(sector, bit));
                self.done = Some((sector, 1));
            }
            DataFault::Corrupt => {
                self.store(lba, data);
                let sector = lba + chosen(0, sectors) as u64;
                let noise: Vec<u8> = (0..SECTOR_BYTES as u64).map(|i| mix(seed ^ (i + 9)) as u8).collect();
                self.replace(sector, &noise);
                self.done = Some((sector, 1));
            }
            DataFault::TornWrite if sectors > 1 => {
                let kept = 1 + chosen(0, sectors - 1);
                self.next_write.insert(lba, NextWrite::Torn(kept));
                self.store(lba, data);
                self.done = Some((lba + kept as u64, (sectors - kept) as u64));
            }
            DataFault::LostWrite => {}
            DataFault::MisdirectedWrite => {
                let Some((to, _)) = self.last.filter(|(to, len)| *to != lba && *len == data.len()) else {
                    return false;
                };
                self.next_write.insert(lba, NextWrite::To(to));
                self.store(lba, data);
                self.done = Some((to, sectors as u64));
            }
            DataFault::ForeignData => {
                let mut foreign = vec![0; data.len()];
                let write = Write { lba, generation: 1, sequence: 1, epoch: 0, time_ms: 0 };
                Stamper::new(mix(seed), 0, Secret([mix(!seed), seed])).stamp(&mut foreign, &write);
                self.store(lba, &foreign);
            }
            _ => {
                self.done = None;
                return false;
            }
        }
        true
    }

    /// Reads whole sectors.
    pub fn read(&mut self, lba: u64, data: &mut [u8]) {
        self.operations[1] += 1;
        let fault = self.next_read.remove(&lba);
        self.load(if let Some(NextRead::Of(other)) = fault { other } else { lba }, data);
        match fault {
            Some(NextRead::FlippedBit(bit)) => data[bit / 8] ^= 1 << (bit % 8),
            Some(NextRead::Before) => data.copy_from_slice(&self.before[&lba]),
            _ => {}
        }
        if self.noisy.contains(&lba) {
            self.noise = self.noise.wrapping_add(1);
            data.iter_mut().enumerate().for_each(|(i, b)| *b = b.wrapping_mul(31) ^ (i as u8) ^ self.noise);
        }
        let armed = self.armed.filter(|armed| armed.at <= self.operations[1]);
        if armed.is_some_and(|armed| self.read_wrongly(armed, lba, data)) {
            self.armed = None;
        }
    }

    /// What was read gets the fault whose turn it is; whether it could be done.
    fn read_wrongly(&mut self, Armed { class, seed, .. }: Armed, lba: u64, data: &mut [u8]) -> bool {
        let chosen = |n: u64, of: usize| (mix(seed.wrapping_add(n)) % of.max(1) as u64) as usize;
        let end = lba + (data.len() / SECTOR_BYTES) as u64;
        // Places of which all was read, and an older version is known that is another one.
        let last = |at: u64| class != DataFault::StaleRead || self.last.is_some_and(|(last, _)| last == at);
        let within = |at: u64, len: usize| at >= lba && at + (len / SECTOR_BYTES) as u64 <= end && last(at);
        let known: Vec<u64> =
            self.before.iter().filter(|(at, old)| within(**at, old.len())).map(|(at, _)| *at).collect();
        let Some(at) = known.get(chosen(0, known.len())).copied() else { return false };
        let len = self.before[&at].len();
        let from = (at - lba) as usize * SECTOR_BYTES;
        let part = &mut data[from..from + len];
        match class {
            DataFault::TransientPathError => {
                let bit = chosen(1, 8 * len);
                part[bit / 8] ^= 1 << (bit % 8);
                self.done = Some((at + (bit / 8 / SECTOR_BYTES) as u64, 1));
            }
            // One that was stamped: what was blank before is no older version.
            DataFault::StaleRead if self.before[&at].iter().any(|byte| *byte != 0) => {
                part.copy_from_slice(&self.before[&at]);
                self.done = Some((at, (len / SECTOR_BYTES) as u64));
            }
            DataFault::MisdirectedRead => {
                let others: Vec<u64> =
                    self.before.iter().filter(|(a, old)| **a != at && old.len() == len).map(|(a, _)| *a).collect();
                let Some(other) = others.get(chosen(1, others.len())) else { return false };
                part.copy_from_slice(&self.loaded(*other, len));
                self.done = Some((at, (len / SECTOR_BYTES) as u64));
            }
            _ => return false,
        }
        true
    }

    /// What is there is not needed any more: it reads as zeros.
    pub fn trim(&mut self, lba: u64, len: usize) {
        self.store(lba, &vec![0; len]);
    }

    /// A flush; whether it succeeds. If not, the kernel drops the pages, and the medium has what it had.
    pub fn flush(&mut self) -> bool {
        if self.is_dead() {
            return true;
        }
        self.operations[2] += 1;
        let late = |a: &Armed| a.class == DataFault::LateError && a.at <= self.operations[2];
        if !self.unflushed.is_empty() && self.armed.as_ref().is_some_and(late) {
            (self.armed, self.done) =
                (None, self.unflushed.first_key_value().map(|(at, (old, _))| (*at, old.len() as u64 / 512)));
            self.flush_fails();
            return false;
        }
        for (lba, (old, _)) in std::mem::take(&mut self.unflushed) {
            if self.never_durable.contains(&lba) {
                self.durable_lie.entry(lba).or_insert(old);
            }
        }
        true
    }

    /// What a flush was to store is not.
    pub fn flush_fails(&mut self) {
        for (lba, (old, _)) in std::mem::take(&mut self.unflushed) {
            self.replace(lba, &old);
        }
    }

    /// The power is cut: of what no flush covered, each atomic unit is stored or not, as `choose` says.
    pub fn cut(&mut self, atomic_sectors: usize, mut choose: impl FnMut() -> bool) {
        self.dies_at = None;
        let unit = atomic_sectors * SECTOR_BYTES;
        for (lba, (old, new)) in std::mem::take(&mut self.unflushed) {
            for (i, (old, new)) in old.chunks(unit).zip(new.chunks(unit)).enumerate() {
                let stored = if choose() { new } else { old };
                self.replace(lba + (i * atomic_sectors) as u64, stored);
            }
        }
        for (lba, old) in std::mem::take(&mut self.durable_lie) {
            self.replace(lba, &old);
        }
    }
}
