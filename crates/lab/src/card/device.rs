//! The card itself: its content and its time under one lock, because a card does one thing at a time.

use super::media::{Damage, Injected, Media, Refusal};
use super::parameters::Card;
use super::timing::{Counts, Operation, Timing};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, MutexGuard, PoisonError};
use sys::Epoch;

/// A card in use.
#[derive(Debug)]
pub struct Device {
    card: Card,
    state: Mutex<State>,
    epoch: Epoch,
}

#[derive(Debug)]
struct State {
    timing: Timing,
    media: Media,
}

/// What was done with an operation.
#[derive(Debug)]
pub struct Done {
    /// When the answer is due, by the device's clock.
    pub due_ns: u64,
    /// Why it failed.
    pub refusal: Option<Refusal>,
}

/// What a card did while it was in use.
#[derive(Debug, serde::Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub counts: Counts,
    /// What it did wrong.
    pub injected: Injected,
    /// The sectors that hold something else than was last written to them.
    pub damaged: BTreeMap<u64, Damage>,
}

impl Summary {
    /// The summary as one line of text.
    pub fn line(&self) -> String {
        let Counts { read_bytes, written_bytes, read_runs, write_runs, flushes, stalls, busy_ns, .. } = self.counts;
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let damage = match self.damaged.len() {
            0 => "no sector is damaged".to_owned(),
            count => format!("{count} sectors are damaged"),
        };
        format!(
            "the card was busy for {:.1} s: {:.1} MiB read in {} runs, {:.1} MiB written in {} runs, {} flushes, {} stalls; \
             {damage}",
            busy_ns as f64 / 1e9,
            mib(read_bytes),
            read_runs,
            mib(written_bytes),
            write_runs,
            flushes,
            stalls,
        )
    }
}

/// What the data of an operation are.
pub enum Data<'a> {
    /// Where what is read goes.
    Into(&'a mut [u8]),
    /// What is written.
    From(&'a [u8]),
    /// None: zeros, or none at all.
    None,
}

impl Device {
    /// A card over a file. `slowness` multiplies its times.
    ///
    /// # Errors
    /// The card is no card, or the file cannot be resized.
    pub fn new(card: Card, file: File, seed: u64, slowness: f64) -> anyhow::Result<Self> {
        let timing = Timing::new(card.clone(), seed, slowness)?;
        let media = Media::new(card.clone(), file, seed)?;
        Ok(Self { card, state: Mutex::new(State { timing, media }), epoch: Epoch::start() })
    }

    /// Puts incompressible data at the beginning, in no time.
    ///
    /// # Errors
    /// The host's.
    pub fn fill(&self, bytes: u64) -> std::io::Result<()> {
        self.lock().media.fill(bytes)
    }

    /// What the card is like.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The clock that all its times are of.
    pub fn clock(&self) -> Epoch {
        self.epoch
    }

    /// Does what is asked at once, and says when it would have been done. A refused operation takes its time all the same.
    pub fn carry_out(&self, arrival_ns: u64, operation: Operation, data: Data<'_>) -> Done {
        let mut state = self.lock();
        let due_ns = state.timing.serve(arrival_ns, operation);
        let result = match (operation, data) {
            (Operation::Read { offset, .. }, Data::Into(into)) => state.media.read(offset, into),
            (Operation::Write { offset, .. }, Data::From(from)) => state.media.write(offset, from),
            (Operation::Write { offset, len, .. }, _) => state.media.write_zeroes(offset, len),
            (Operation::Trim { offset, len }, _) => state.media.trim(offset, len),
            // The content is as durable as the host's file is; the host's own crash is not what is emulated.
            (Operation::Flush | Operation::Read { .. }, _) => Ok(()),
        };
        Done { due_ns, refusal: result.err() }
    }

    /// What it did so far.
    pub fn summary(&self) -> Summary {
        let state = self.lock();
        Summary {
            counts: state.timing.counts(),
            injected: state.media.injected(),
            damaged: state.media.damaged().clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of another connection leaves counts that may be one operation behind: better than no answer.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
