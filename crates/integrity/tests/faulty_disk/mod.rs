//! A simulated disk that fails in the ways that disks fail: pristine memory plus overlays.
//!
//! It injects, and a verifier must find, each under exactly its name:
//!
//! | fault | injected as |
//! |---|---|
//! | bit rot | stored bits flipped |
//! | corrupt | a stored sector replaced by noise, or noise that changes with every read |
//! | transient path error | the next read of a place has flipped bits, later ones do not |
//! | torn write | of the next write to a place only the first sectors are stored |
//! | lost write | the next write to a place is acknowledged and not stored |
//! | stale read | the next read of a place gives what was there before the last write |
//! | misdirected write | the next write to a place is stored at another |
//! | misdirected read | the next read of a place gives another's data |
//! | wrap-around | addresses are taken modulo the real capacity |
//! | limbo capacity | writes beyond the real capacity are dropped, reads there give zeros |
//! | lost on power cut, reordered across a flush | a write to a place is dropped at the cut although a flush covered it |
//! | late error | a flush fails and drops what it was to store |
//! | foreign data | another run writes over a place |
//!
//! It also does what must *not* be found: at a power cut any subset of the sectors of unflushed writes is stored, in whole
//! atomic units; writes in flight are applied in any order.

use integrity::SECTOR_BYTES;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRead {
    FlippedBit(usize),
    Before,
    Of(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextWrite {
    Lost,
    Torn(usize),
    To(u64),
}

/// One numbering of 512-byte sectors; all faults are keyed by the first sector of a block.
#[derive(Default)]
pub struct FaultyDisk {
    medium: Vec<u8>,
    before: BTreeMap<u64, Vec<u8>>,
    /// Written since the last flush: what was there at that flush, and what is there now.
    unflushed: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    pub next_read: BTreeMap<u64, NextRead>,
    pub next_write: BTreeMap<u64, NextWrite>,
    /// Flushes pretend to cover these places.
    pub never_durable: BTreeSet<u64>,
    durable_lie: BTreeMap<u64, Vec<u8>>,
    pub noisy: BTreeSet<u64>,
    noise: u8,
    pub wraps_at: Option<u64>,
    pub limbo_from: Option<u64>,
}

impl FaultyDisk {
    pub fn new(sectors: u64) -> Self {
        Self { medium: vec![0; sectors as usize * SECTOR_BYTES], ..Self::default() }
    }

    fn range(&self, lba: u64, len: usize) -> std::ops::Range<usize> {
        let lba = self.wraps_at.map_or(lba, |capacity| lba % capacity);
        let at = lba as usize * SECTOR_BYTES;
        at..at + len
    }

    fn keep(&self, lba: u64) -> bool {
        self.limbo_from.is_none_or(|from| lba < from)
    }

    pub fn write(&mut self, lba: u64, data: &[u8]) {
        let (to, len) = match self.next_write.remove(&lba) {
            Some(NextWrite::Lost) => return,
            Some(NextWrite::Torn(sectors)) => (lba, sectors * SECTOR_BYTES),
            Some(NextWrite::To(other)) => (other, data.len()),
            None => (lba, data.len()),
        };
        if !self.keep(to) {
            return;
        }
        let old = self.medium[self.range(to, data.len())].to_vec();
        self.unflushed.entry(to).or_insert_with(|| (old.clone(), Vec::new())).1 = data[..len].to_vec();
        self.before.insert(to, old);
        let range = self.range(to, len);
        self.medium[range].copy_from_slice(&data[..len]);
    }

    pub fn read(&mut self, lba: u64, len: usize) -> Vec<u8> {
        let fault = self.next_read.remove(&lba);
        let from = if let Some(NextRead::Of(other)) = fault { other } else { lba };
        let mut data = match self.keep(from) {
            true => self.medium[self.range(from, len)].to_vec(),
            false => vec![0; len],
        };
        match fault {
            Some(NextRead::FlippedBit(bit)) => data[bit / 8] ^= 1 << (bit % 8),
            Some(NextRead::Before) => data = self.before[&lba].clone(),
            _ => {}
        }
        if self.noisy.contains(&lba) {
            self.noise = self.noise.wrapping_add(1);
            data.iter_mut().enumerate().for_each(|(i, b)| *b = b.wrapping_mul(31) ^ (i as u8) ^ self.noise);
        }
        data
    }

    pub fn flip(&mut self, lba: u64, bit: usize) {
        let at = self.range(lba, 1).start + bit / 8;
        self.medium[at] ^= 1 << (bit % 8);
    }

    pub fn replace(&mut self, lba: u64, data: &[u8]) {
        let range = self.range(lba, data.len());
        self.medium[range].copy_from_slice(data);
    }

    pub fn flush(&mut self) {
        for (lba, (old, _)) in std::mem::take(&mut self.unflushed) {
            if self.never_durable.contains(&lba) {
                self.durable_lie.entry(lba).or_insert(old);
            }
        }
    }

    /// The flush fails: the kernel drops the pages, and the medium has what it had.
    pub fn flush_fails(&mut self) {
        for (lba, (old, _)) in std::mem::take(&mut self.unflushed) {
            self.replace(lba, &old);
        }
    }

    /// Of what no flush covered, each atomic unit is stored or not, as `choose` says.
    pub fn cut(&mut self, atomic_sectors: usize, mut choose: impl FnMut() -> bool) {
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
