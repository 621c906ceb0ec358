//! Failed operations by errno, in a table of fixed size.

use std::collections::BTreeMap;

/// Distinct errnos that are told apart; a phase meets one or two.
const KINDS: usize = 16;

/// Counts by errno.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ErrorTable {
    counts: [(i32, u64); KINDS],
    used: usize,
    beyond: u64,
}

impl ErrorTable {
    /// Counts one failure.
    pub fn count(&mut self, errno: i32) {
        if let Some((_, count)) = self.counts[..self.used].iter_mut().find(|(e, _)| *e == errno) {
            *count += 1;
        } else if self.used < KINDS {
            self.counts[self.used] = (errno, 1);
            self.used += 1;
        } else {
            self.beyond += 1;
        }
    }

    /// As the record keeps them.
    pub fn by_name(&self) -> BTreeMap<String, u64> {
        let others = (self.beyond > 0).then(|| ("others".to_owned(), self.beyond));
        let named = self.counts[..self.used].iter().map(|(errno, count)| (sys::errno_name(*errno), *count));
        named.chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_kinds_than_places_are_still_counted() {
        let mut table = ErrorTable::default();
        for errno in 1..=20 {
            table.count(errno);
        }
        table.count(5);
        let names = table.by_name();
        assert_eq!(names.values().sum::<u64>(), 21);
        assert_eq!(names["EIO"], 2);
        assert_eq!(names["others"], 4);
    }
}
