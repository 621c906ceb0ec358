//! What every unit must hold under random overwrites: two numbers a unit.

use crate::block::Allowed;
use crate::expected::{Expected, Standing};

/// Set in the lower number: a flush failed after the write. In the upper: a write failed.
const DOUBT: u32 = 1 << 31;
/// Units remembered as written since the last flush; beyond, a failed flush puts all of them in doubt.
const MOST_UNFLUSHED: usize = 65_536;

/// A table of the oldest and the newest generation that each unit may hold. A unit is the smallest piece that is written
/// as one. Several writes to one unit may be in flight: then any of them may be the one that stays.
#[derive(Clone, Debug)]
pub struct Versions {
    low: Vec<u32>,
    high: Vec<u32>,
    flying: Vec<Ticket>,
    unflushed: Vec<u64>,
    /// How many of `unflushed` the flush in flight covers.
    flushing: usize,
    /// Units were written that `unflushed` has no room for.
    forgotten: bool,
    /// The same, before the flush in flight.
    flushing_forgotten: bool,
}

/// A write in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The unit that is written.
    pub unit: u64,
    /// The generation that it gets.
    pub generation: u32,
    /// The oldest generation that may remain once this write is acknowledged.
    floor: u32,
}

/// The table would need more memory than it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "checking {units} units that are overwritten in random order takes {needed_bytes} bytes of memory, and {limit_bytes} \
     are allowed; write larger blocks or a smaller region, or each place once a pass"
)]
pub struct TooManyUnits {
    /// Units asked for.
    pub units: u64,
    /// What they take.
    pub needed_bytes: u64,
    /// What is allowed.
    pub limit_bytes: u64,
}

impl Versions {
    /// The memory that a table of `units` takes with `depth` writes in flight, in bytes.
    pub fn bytes(units: u64, depth: u32) -> u64 {
        let fixed = size_of::<Self>() + MOST_UNFLUSHED * size_of::<u64>() + depth as usize * size_of::<Ticket>();
        units.saturating_mul(8).saturating_add(fixed as u64)
    }

    /// A table of `units` that were never written, for at most `depth` writes in flight.
    ///
    /// # Errors
    /// If it takes more than `limit_bytes`, or more than this machine can address.
    pub fn new(units: u64, depth: u32, limit_bytes: u64) -> Result<Self, TooManyUnits> {
        let needed_bytes = Self::bytes(units, depth);
        let refused = TooManyUnits { units, needed_bytes, limit_bytes };
        if needed_bytes > limit_bytes || needed_bytes > isize::MAX as u64 {
            return Err(refused);
        }
        let count = units as usize;
        Ok(Self {
            low: vec![0; count],
            high: vec![0; count],
            flying: Vec::with_capacity(depth as usize),
            unflushed: Vec::with_capacity(MOST_UNFLUSHED),
            flushing: 0,
            forgotten: false,
            flushing_forgotten: false,
        })
    }

    /// A write to `unit` is about to be issued. `None` if the unit has been written 2^31 - 1 times, or is not in the table.
    pub fn begin(&mut self, unit: u64) -> Option<Ticket> {
        let high = self.high.get_mut(usize::try_from(unit).ok()?)?;
        let generation = (*high & !DOUBT) + 1;
        if generation == DOUBT {
            return None;
        }
        *high = generation | (*high & DOUBT);
        // Writes that overlap in time may be applied in any order, so the oldest of them may be the one that stays.
        let floor = self.flying.iter().filter(|t| t.unit == unit).map(|t| t.floor).min().unwrap_or(generation);
        let ticket = Ticket { unit, generation, floor };
        self.flying.push(ticket);
        Some(ticket)
    }

    /// The write has ended.
    pub fn ended(&mut self, ticket: Ticket, succeeded: bool) {
        if let Some(i) = self.flying.iter().position(|t| *t == ticket) {
            self.flying.swap_remove(i);
        }
        let unit = ticket.unit as usize;
        if !succeeded {
            self.high[unit] |= DOUBT;
            return;
        }
        if ticket.floor == ticket.generation {
            // It was issued after all earlier writes had ended: what failed before it is overwritten.
            let newest_is_this = self.high[unit] & !DOUBT == ticket.generation;
            if newest_is_this {
                self.high[unit] = ticket.generation;
                self.low[unit] = ticket.generation;
            }
        }
        let doubt = self.low[unit] & DOUBT;
        self.low[unit] = (self.low[unit] & !DOUBT).max(ticket.floor) | doubt;
        if self.unflushed.len() < MOST_UNFLUSHED {
            self.unflushed.push(ticket.unit);
        } else {
            self.forgotten = true;
        }
    }

    /// A flush is about to be issued: it will cover the writes acknowledged so far.
    pub fn flush_begins(&mut self) {
        self.flushing = self.unflushed.len();
        self.flushing_forgotten |= std::mem::take(&mut self.forgotten);
    }

    /// The flush has ended. After a failure the units that it covered are in doubt until they are written again.
    pub fn flush_ended(&mut self, succeeded: bool) {
        if !succeeded {
            if self.flushing_forgotten {
                self.low.iter_mut().filter(|low| **low > 0).for_each(|low| *low |= DOUBT);
            }
            for unit in &self.unflushed[..self.flushing] {
                self.low[*unit as usize] |= DOUBT;
            }
        }
        self.unflushed.drain(..self.flushing);
        self.flushing = 0;
        self.flushing_forgotten = false;
    }

    /// What `unit` must hold now; nothing for a unit that is not in the table.
    pub fn expected(&self, unit: u64) -> Expected {
        let at = usize::try_from(unit).ok().filter(|at| *at < self.low.len());
        let Some(at) = at else { return Expected::only(0) };
        let (low, high) = (self.low[at], self.high[at]);
        Expected {
            allowed: Allowed { min: low & !DOUBT, max: high & !DOUBT },
            settled: self.flying.iter().all(|t| t.unit != unit),
            standing: match (high & DOUBT != 0, low & DOUBT != 0) {
                (true, _) => Standing::WriteFailed,
                (false, true) => Standing::FlushFailed,
                (false, false) => Standing::Sound,
            },
            ..Expected::only(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_table_that_is_too_large_is_refused_with_the_figure() {
        let message = Versions::new(1 << 28, 32, 1 << 29).unwrap_err().to_string();
        assert!(message.contains("2148") && message.contains("536870912"), "{message}");
        assert!(Versions::new(u64::MAX, 1, u64::MAX).is_err());
    }

    #[test]
    fn a_failed_flush_leaves_doubt_until_the_unit_is_written_again() {
        let mut versions = Versions::new(2, 4, 1 << 30).unwrap();
        let write = |v: &mut Versions, unit| {
            let ticket = v.begin(unit).unwrap();
            v.ended(ticket, true);
        };
        write(&mut versions, 0);
        versions.flush_begins();
        write(&mut versions, 1);
        versions.flush_ended(false);
        assert_eq!(versions.expected(0).standing, Standing::FlushFailed);
        assert_eq!(versions.expected(1).standing, Standing::Sound, "it was not covered");
        versions.flush_begins();
        versions.flush_ended(true);
        assert_eq!(versions.expected(0).standing, Standing::FlushFailed, "a later flush promises nothing");
        write(&mut versions, 0);
        assert_eq!(versions.expected(0), Expected::only(2));
    }

    #[test]
    fn a_failed_write_is_cleared_only_by_one_issued_after_it() {
        let mut versions = Versions::new(1, 4, 1 << 30).unwrap();
        let first = versions.begin(0).unwrap();
        let second = versions.begin(0).unwrap();
        versions.ended(first, false);
        versions.ended(second, true);
        assert!(!versions.expected(0).owes());
        let third = versions.begin(0).unwrap();
        versions.ended(third, true);
        assert_eq!(versions.expected(0), Expected::only(3));
    }

    proptest! {
        /// A device that applies each write at any moment between issue and acknowledgement never holds what the table
        /// does not allow.
        #[test]
        fn what_a_correct_device_does_is_allowed(choices in prop::collection::vec(any::<u32>(), 1..600)) {
            let mut versions = Versions::new(3, 8, 1 << 30).unwrap();
            let mut device = [0u32; 3];
            let mut flying: Vec<(Ticket, bool)> = Vec::new();
            for choice in choices {
                let pick = (choice >> 8) as usize;
                match choice % 3 {
                    0 if flying.len() < 8 => flying.push((versions.begin(u64::from(choice >> 8) % 3).unwrap(), false)),
                    1 if !flying.is_empty() => {
                        let i = pick % flying.len();
                        let (ticket, applied) = &mut flying[i];
                        if !*applied {
                            device[ticket.unit as usize] = ticket.generation;
                            *applied = true;
                        }
                    }
                    _ if !flying.is_empty() => {
                        let (ticket, applied) = flying.swap_remove(pick % flying.len());
                        if !applied {
                            device[ticket.unit as usize] = ticket.generation;
                        }
                        versions.ended(ticket, true);
                    }
                    _ => {}
                }
                for (unit, holds) in device.iter().enumerate() {
                    let expected = versions.expected(unit as u64);
                    prop_assert!(expected.allowed.holds(*holds), "unit {unit} holds {holds}, {expected:?}");
                }
            }
            // Once a write was alone, the table is exact again.
            for (ticket, applied) in flying {
                if !applied {
                    device[ticket.unit as usize] = ticket.generation;
                }
                versions.ended(ticket, true);
            }
            let alone = versions.begin(0).unwrap();
            versions.ended(alone, true);
            prop_assert_eq!(versions.expected(0), Expected::only(alone.generation));
        }
    }
}
