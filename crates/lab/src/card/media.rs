//! What a card holds: a sparse file, the card's lies and faults on the way to it, and a record of what is damaged.
//!
//! Invariant: [`Media::damaged`] names exactly the sectors that a reader would find other than they were last written,
//! those above a fake card's true size excepted (they follow from its size).

use super::chance;
use super::faults::{Faults, flipped_bit};
use super::parameters::{Beyond, Card, FaultKind, SECTOR};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Zeros that are written at once.
static ZEROS: [u8; 65536] = [0; 65536];

/// Why a card refused.
#[derive(Debug)]
pub enum Refusal {
    /// A fault of the card's file.
    Fault,
    /// It is worn out and takes no more.
    WornOut,
    /// The host could not read or write the backing file: no doing of the card.
    Host(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Host(error)
    }
}

/// What is wrong with a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Damage {
    /// The last write to it was acknowledged and not done.
    Lost,
    /// One bit is other than written, by a fault.
    Corrupt,
    /// One bit is other than written, by wear.
    Worn,
}

/// What a card did wrong so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Injected {
    /// Reads that failed.
    pub read_errors: u64,
    /// Writes that failed.
    pub write_errors: u64,
    /// Sectors whose writes were lost.
    pub lost_sectors: u64,
    /// Sectors that were written with a wrong bit by a fault.
    pub corrupt_sectors: u64,
    /// Sectors that were written with a wrong bit by wear.
    pub worn_sectors: u64,
    /// Writes refused because the card is worn out.
    pub worn_out_refusals: u64,
    /// Bytes written above the true size.
    pub beyond_bytes: u64,
}

/// A card's content.
#[derive(Debug)]
pub struct Media {
    card: Card,
    file: File,
    seed: u64,
    faults: Faults,
    written_bytes: u64,
    damaged: BTreeMap<u64, Damage>,
    injected: Injected,
}

impl Media {
    /// Over a file, which is made as large as the card truly is; what it holds is kept.
    ///
    /// # Errors
    /// The file cannot be resized.
    pub fn new(card: Card, file: File, seed: u64) -> io::Result<Self> {
        let real = card.fake.as_ref().map_or(card.capacity, |fake| fake.real_capacity);
        file.set_len(real.0)?;
        let faults = Faults::new(&card, seed);
        let damaged = BTreeMap::new();
        let injected = Injected::default();
        Ok(Self { card, file, seed, faults, written_bytes: 0, damaged, injected })
    }

    /// Puts incompressible data at the beginning, as on a card that was in use: reads of a card that was never written are
    /// no measurement. No write of a client, so that neither faults nor wear have a part in it.
    ///
    /// # Errors
    /// The host's.
    pub fn fill(&mut self, bytes: u64) -> io::Result<()> {
        let end = bytes.min(self.real());
        let mut data = Vec::with_capacity(ZEROS.len());
        let mut at = 0;
        while at < end {
            data.clear();
            let words = (end - at).min(ZEROS.len() as u64) / 8;
            data.extend(
                (0..words).flat_map(|word| chance::number(self.seed, u64::from(b'f'), at / 8 + word).to_le_bytes()),
            );
            self.file.write_all_at(&data, at)?;
            at += data.len() as u64;
        }
        Ok(())
    }

    /// The sectors that hold something else than was last written to them.
    pub fn damaged(&self) -> &BTreeMap<u64, Damage> {
        &self.damaged
    }

    /// What was done wrong so far.
    pub fn injected(&self) -> Injected {
        self.injected
    }

    /// Reads whole sectors.
    ///
    /// # Errors
    /// Why the card refused; nothing of `data` means anything then.
    pub fn read(&mut self, offset: u64, data: &mut [u8]) -> Result<(), Refusal> {
        if !self.faults.none() {
            let mut sectors = (offset / SECTOR)..((offset + data.len() as u64) / SECTOR);
            if sectors.any(|sector| self.faults.at(sector, false, self.written_bytes).is_some()) {
                self.injected.read_errors += 1;
                return Err(Refusal::Fault);
            }
        }
        let mut done = 0;
        while done < data.len() {
            let (place, room) = self.place(offset + done as u64, data.len() - done);
            let part = &mut data[done..done + room];
            match place {
                Some(place) => self.file.read_exact_at(part, place)?,
                None => part.fill(0),
            }
            done += room;
        }
        Ok(())
    }

    /// Writes whole sectors.
    ///
    /// # Errors
    /// Why the card refused; sectors before the fault are written.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> Result<(), Refusal> {
        self.wear_out()?;
        if self.exact() {
            self.store(offset, data)?;
            self.written_bytes += data.len() as u64;
            return Ok(());
        }
        let mut sector = [0; SECTOR as usize];
        for (number, piece) in (offset / SECTOR..).zip(data.chunks_exact(SECTOR as usize)) {
            let fault = self.faults.at(number, true, self.written_bytes);
            match fault {
                Some(FaultKind::WriteError) => {
                    self.injected.write_errors += 1;
                    return Err(Refusal::Fault);
                }
                Some(FaultKind::LostWrite) => {
                    self.injected.lost_sectors += 1;
                    self.keep_old(number, piece)?;
                }
                wrong => {
                    let worn = wrong.is_none() && self.worn_bit(number);
                    sector.copy_from_slice(piece);
                    if wrong.is_some() || worn {
                        let bit = if worn { flipped_bit(self.seed, number) } else { self.faults.bit(number) };
                        sector[bit / 8] ^= 1 << (bit % 8);
                        let damage = if worn { Damage::Worn } else { Damage::Corrupt };
                        *(if worn { &mut self.injected.worn_sectors } else { &mut self.injected.corrupt_sectors }) += 1;
                        self.damaged.insert(number, damage);
                    } else {
                        self.damaged.remove(&number);
                    }
                    self.store(number * SECTOR, &sector)?;
                }
            }
            self.written_bytes += SECTOR;
        }
        Ok(())
    }

    /// Writes zeros to whole sectors.
    ///
    /// # Errors
    /// As of a write.
    pub fn write_zeroes(&mut self, offset: u64, len: u64) -> Result<(), Refusal> {
        let mut done = 0;
        while done < len {
            let room = (len - done).min(ZEROS.len() as u64);
            self.write(offset + done, &ZEROS[..room as usize])?;
            done += room;
        }
        Ok(())
    }

    /// Forgets whole sectors: they read as zeros. No write, so that neither faults nor wear have a part in it.
    ///
    /// # Errors
    /// The card is worn out, or the host failed.
    pub fn trim(&mut self, offset: u64, len: u64) -> Result<(), Refusal> {
        self.wear_out()?;
        let mut at = offset;
        let end = offset + len;
        while at < end {
            let (place, room) = self.place(at, usize::try_from(end - at).unwrap_or(usize::MAX));
            if let Some(place) = place {
                self.forget(place, room as u64)?;
            }
            at += room as u64;
        }
        let gone: Vec<u64> =
            self.damaged.range(offset / SECTOR..(offset + len).div_ceil(SECTOR)).map(|(s, _)| *s).collect();
        gone.iter().for_each(|sector| {
            self.damaged.remove(sector);
        });
        Ok(())
    }

    fn forget(&self, place: u64, len: u64) -> io::Result<()> {
        if sys::discard(&self.file, place, len).is_ok() {
            return Ok(());
        }
        // The file system knows no holes.
        let mut done = 0;
        while done < len {
            let room = (len - done).min(ZEROS.len() as u64);
            self.file.write_all_at(&ZEROS[..room as usize], place + done)?;
            done += room;
        }
        Ok(())
    }

    /// Every write goes through as it is.
    fn exact(&self) -> bool {
        self.faults.none() && self.card.wear.as_ref().is_none_or(|wear| wear.bit_errors_after.is_none())
    }

    fn wear_out(&mut self) -> Result<(), Refusal> {
        let limit = self.card.wear.as_ref().and_then(|wear| wear.read_only_after);
        if limit.is_some_and(|limit| self.written_bytes >= limit.0) {
            self.injected.worn_out_refusals += 1;
            return Err(Refusal::WornOut);
        }
        Ok(())
    }

    fn worn_bit(&self, sector: u64) -> bool {
        let Some(wear) = &self.card.wear else { return false };
        wear.bit_errors_after.is_some_and(|after| self.written_bytes >= after.0)
            && chance::unit_interval(chance::number(self.seed, self.written_bytes, sector)) < wear.bit_error_chance
    }

    /// A lost write: what is there stays; it is no damage if that is what should have been written.
    fn keep_old(&mut self, sector: u64, wanted: &[u8]) -> io::Result<()> {
        let mut old = [0; SECTOR as usize];
        if let (Some(place), _) = self.place(sector * SECTOR, old.len()) {
            self.file.read_exact_at(&mut old, place)?;
        }
        if old == wanted {
            self.damaged.remove(&sector);
        } else {
            self.damaged.insert(sector, Damage::Lost);
        }
        Ok(())
    }

    fn store(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        let real = self.real();
        self.injected.beyond_bytes += (offset + data.len() as u64).saturating_sub(real.max(offset));
        let mut done = 0;
        while done < data.len() {
            let (place, room) = self.place(offset + done as u64, data.len() - done);
            if let Some(place) = place {
                self.file.write_all_at(&data[done..done + room], place)?;
            }
            done += room;
        }
        Ok(())
    }

    fn real(&self) -> u64 {
        self.card.fake.as_ref().map_or(self.card.capacity, |fake| fake.real_capacity).0
    }

    /// Where in the file an offset truly is (`None`: nowhere), and how many of `len` bytes lie together there.
    fn place(&self, offset: u64, len: usize) -> (Option<u64>, usize) {
        let real = self.real();
        let beyond = self.card.fake.as_ref().map(|fake| fake.beyond);
        let until = |end: u64| usize::try_from(end).unwrap_or(usize::MAX).min(len);
        match beyond {
            Some(Beyond::Drop) if offset >= real => (None, len),
            Some(Beyond::Wrap) => (Some(offset % real), until(real - offset % real)),
            _ => (Some(offset), until(real - offset)),
        }
    }
}

#[cfg(test)]
#[path = "media_tests.rs"]
mod tests;
