//! Syncs between the operations of a stream and at its end.

use crate::OpKind;
use model::{BlockStream, Durability, Sync};

/// Something due after so many writes; 0: never.
#[derive(Clone, Copy, Debug)]
struct Countdown {
    each: u32,
    written: u32,
}

impl Countdown {
    fn due(&mut self) -> bool {
        let due = self.each > 0 && self.written >= self.each;
        if due {
            self.written = 0;
        }
        due
    }
}

/// A sync that is due before anything else.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// Of this kind, of this file.
    Now(OpKind, usize),
    /// The one that closes a round, once nothing is in flight: nothing of the next round may overtake it.
    Later,
}

/// When which sync is due.
#[derive(Clone, Debug)]
pub(crate) struct Syncs {
    /// Bytes of a round that are left, and of a whole one; `None` without rounds.
    round: Option<(u64, u64)>,
    /// The next file of a round's syncs.
    round_file: usize,
    files: usize,
    fsync: Countdown,
    fdatasync: Countdown,
    /// Files that are still to be synced at the end.
    closing: std::ops::Range<usize>,
}

impl Syncs {
    /// `None` where nothing is synced by operations of their own.
    pub fn of(plan: BlockStream<'_>) -> Option<Self> {
        let Durability { sync, round_bytes, flush } = plan.durability;
        let at_end = flush.fsync_at_end || sync == Sync::FsyncAtEnd;
        let bytes = round_bytes.unwrap_or(plan.block.block_size_bytes);
        let round = (sync == Sync::FsyncPerRound).then_some((bytes, bytes));
        let files = plan.block.files.len().max(1);
        (at_end || round.is_some() || flush != model::Flush::default()).then_some(Self {
            round,
            round_file: 0,
            files,
            fsync: Countdown { each: flush.fsync_every, written: 0 },
            fdatasync: Countdown { each: flush.fdatasync_every, written: 0 },
            closing: 0..if at_end { files } else { 0 },
        })
    }

    /// So many bytes were handed over to be written.
    pub fn on_write(&mut self, bytes: u32) {
        for every in [&mut self.fsync, &mut self.fdatasync] {
            every.written = every.written.saturating_add(1);
        }
        if let Some((left, _)) = &mut self.round {
            *left = left.saturating_sub(u64::from(bytes));
        }
    }

    /// What is due, and with that given out: of a round the syncs of its files one after the other, otherwise that of the
    /// file that was written last. `idle`: nothing is in flight.
    pub fn due(&mut self, idle: bool, last_written: usize) -> Option<Due> {
        match &mut self.round {
            Some((0, _)) if !idle => Some(Due::Later),
            Some((left @ 0, whole)) => {
                let file = self.round_file;
                self.round_file = (file + 1) % self.files;
                if self.round_file == 0 {
                    *left = *whole;
                }
                Some(Due::Now(OpKind::Fsync, file))
            }
            _ if self.fsync.due() => Some(Due::Now(OpKind::Fsync, last_written)),
            _ if self.fdatasync.due() => Some(Due::Now(OpKind::Fdatasync, last_written)),
            _ => None,
        }
    }

    /// The next file that is synced at the end.
    pub fn closing_op(&mut self) -> Option<usize> {
        self.closing.next()
    }
}
