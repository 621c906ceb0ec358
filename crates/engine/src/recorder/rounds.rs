//! Rounds of writes, each closed by a sync or a pause, in bounded memory.

use model::{JoinedSeries, Ns, Round};

/// Rounds in the order in which they ended; neighbours are joined where memory is used up.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    closed: JoinedSeries<Round>,
    start_ns: Option<Ns>,
    bytes: u64,
}

impl Rounds {
    pub fn new() -> Self {
        Self { closed: JoinedSeries::with_room(JoinedSeries::<Round>::MAX), ..Self::default() }
    }

    /// A write that was handed over at `handed` has completed.
    #[inline]
    pub fn wrote(&mut self, handed: Ns, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.start_ns = Some(self.start_ns.map_or(handed, |s| s.min(handed)));
    }

    /// A sync that was handed over at `handed` completed at `at`.
    pub fn close(&mut self, handed: Ns, at: Ns) {
        let start_ns = self.start_ns.take().unwrap_or(handed);
        let (write_ns, sync_ns) = (handed.saturating_sub(start_ns), at.saturating_sub(handed));
        self.closed.push(Round { start_ns, bytes: std::mem::take(&mut self.bytes), write_ns, sync_ns });
    }

    /// A pause follows the completion at `at`: what was written since the last one was a burst, a round without a sync.
    pub fn pause(&mut self, at: Ns) {
        if self.start_ns.is_some() {
            self.close(at, at);
        }
    }

    pub fn into_rounds(self) -> Vec<Round> {
        self.closed.into_items()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_closes_what_was_written_since_the_last() {
        let mut rounds = Rounds::new();
        rounds.wrote(100, 10);
        rounds.wrote(50, 10);
        rounds.close(200, 260);
        rounds.wrote(300, 5);
        rounds.close(310, 330);
        assert_eq!(
            rounds.into_rounds(),
            [
                Round { start_ns: 50, bytes: 20, write_ns: 150, sync_ns: 60 },
                Round { start_ns: 300, bytes: 5, write_ns: 10, sync_ns: 20 }
            ]
        );
    }

    #[test]
    fn very_many_rounds_are_joined_without_loss() {
        let mut rounds = Rounds::new();
        let n = (JoinedSeries::<Round>::MAX) as u64 * 3 + 17;
        for i in 0..n {
            rounds.wrote(i * 10, 1);
            rounds.close(i * 10 + 4, i * 10 + 9);
        }
        let rounds = rounds.into_rounds();
        assert!(rounds.len() <= (JoinedSeries::<Round>::MAX));
        assert_eq!(rounds.iter().map(|r| r.bytes).sum::<u64>(), n);
        assert_eq!(rounds.iter().map(|r| r.sync_ns).sum::<u64>(), n * 5);
        assert!(rounds.windows(2).all(|w| w[0].start_ns < w[1].start_ns));
    }
}
