//! What every place must hold while it is written in passes, each place once a pass: constant memory however large the
//! target is.

use crate::block::AllowedGenerations;
use crate::expected::{Expected, FailureDoubt};
use std::collections::{BTreeSet, VecDeque};

/// Positions whose writes failed that are remembered one by one; beyond, nothing of the pass is checked.
const MAX_FAILURES: usize = 4096;

/// The state of writing in passes. Places are known by their *position* in the pass, not by their address: a sequential
/// pass and a permuted one are the same here, and whoever issues the operations knows which position is which place. All
/// places of pass `n`, counted from 1, get generation `n`.
#[derive(Clone, Debug)]
pub struct Passes {
    positions: u64,
    generation: u32,
    issued: u64,
    /// Acknowledgements of the positions from `issued - window.len()` to `issued`.
    window: VecDeque<bool>,
    room: usize,
    failed: BTreeSet<u64>,
    too_many_failed: bool,
}

impl Passes {
    /// For passes over `positions` places with at most `room` positions between the oldest write in flight and the newest.
    pub fn new(positions: u64, room: usize) -> Self {
        let room = room.max(1);
        Self {
            positions,
            generation: 1,
            issued: 0,
            window: VecDeque::with_capacity(room),
            room,
            failed: BTreeSet::new(),
            too_many_failed: false,
        }
    }

    /// The most memory that it ever takes, in bytes.
    pub fn bytes(room: usize) -> u64 {
        // A set of numbers takes less than four words an entry.
        size_of::<Self>() as u64 + room.max(1) as u64 + MAX_FAILURES as u64 * 32
    }

    /// The next position and its generation. `None`: the window is full, or the pass is complete: see [`Passes::next_pass`].
    pub fn issue(&mut self) -> Option<(u64, u32)> {
        if self.issued == self.positions || self.window.len() == self.room {
            return None;
        }
        self.window.push_back(false);
        self.issued += 1;
        Some((self.issued - 1, self.generation))
    }

    /// The write of `position` has ended.
    pub fn ended(&mut self, position: u64, succeeded: bool) {
        if succeeded {
            self.failed.remove(&position);
        } else if self.failed.len() < MAX_FAILURES {
            self.failed.insert(position);
        } else {
            self.too_many_failed = true;
        }
        let oldest = self.issued - self.window.len() as u64;
        if let Some(acknowledged) = position.checked_sub(oldest).and_then(|i| self.window.get_mut(i as usize)) {
            *acknowledged = true;
        }
        while self.window.front() == Some(&true) {
            self.window.pop_front();
        }
    }

    /// Whether all positions of the pass have been written.
    pub fn is_complete(&self) -> bool {
        self.issued == self.positions && self.window.is_empty()
    }

    /// Begins the next pass. `false` if this one is not complete, or generations are used up.
    pub fn next_pass(&mut self) -> bool {
        if !self.is_complete() || self.generation == u32::MAX {
            return false;
        }
        self.generation += 1;
        self.issued = 0;
        // Failures that were not counted one by one are only forgiven when a whole pass has been written without them.
        self.too_many_failed &= !self.failed.is_empty();
        true
    }

    /// What the place at `position` must hold now.
    pub fn expected(&self, position: u64) -> Expected {
        let oldest = self.issued - self.window.len() as u64;
        let (min, max, settled) = if position >= self.issued {
            (self.generation - 1, self.generation - 1, true)
        } else if position < oldest || self.window[(position - oldest) as usize] {
            (self.generation, self.generation, true)
        } else {
            (self.generation - 1, self.generation, false)
        };
        let unknown = self.too_many_failed || self.failed.contains(&position);
        Expected {
            allowed: AllowedGenerations { min, max },
            settled,
            standing: if unknown { FailureDoubt::WriteFailed } else { FailureDoubt::Sound },
            ..Expected::only(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_failed_write_owes_nothing_until_it_is_written_again() {
        let mut passes = Passes::new(2, 4);
        for _ in 0..2 {
            let (position, _) = passes.issue().unwrap();
            passes.ended(position, position == 0);
        }
        assert!(passes.expected(0).must_hold() && !passes.expected(1).must_hold());
        assert!(passes.next_pass());
        assert!(!passes.expected(1).must_hold());
        while let Some((position, generation)) = passes.issue() {
            assert_eq!(generation, 2);
            passes.ended(position, true);
        }
        assert!(passes.expected(1).must_hold());
    }

    proptest! {
        /// Against a table of everything.
        #[test]
        fn the_window_knows_what_a_table_would(seed in prop::collection::vec(any::<u16>(), 1..400), room in 1usize..9) {
            let mut passes = Passes::new(20, room);
            let mut table = [(0u32, 0u32); 20];
            let mut flying: Vec<(u64, u32)> = Vec::new();
            for choice in seed {
                if choice % 2 == 0 || flying.is_empty() {
                    if passes.is_complete() {
                        prop_assert!(passes.next_pass());
                    }
                    if let Some((position, generation)) = passes.issue() {
                        table[position as usize].1 = generation;
                        flying.push((position, generation));
                    }
                } else {
                    let (position, generation) = flying.swap_remove(usize::from(choice) % flying.len());
                    table[position as usize].0 = generation;
                    passes.ended(position, true);
                }
                for (position, (min, max)) in table.iter().enumerate() {
                    let expected = passes.expected(position as u64);
                    prop_assert_eq!(expected.allowed, AllowedGenerations { min: *min, max: *max });
                    prop_assert_eq!(expected.settled, min == max);
                }
            }
        }
    }
}
