//! Frames on their way from a producer to the writer.

use crate::account::{Account, Accounts};
use crate::container::{FrameKind, Loss};
use crate::ring::{Piece, Ring};
use model::Ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use sys::{Bell, Epoch};

/// A frame that is whole, in the ring.
#[derive(Debug)]
pub struct Frame {
    /// Its stream's counters.
    pub account: Arc<Account>,
    /// Its number in the stream, with those that were lost.
    pub sequence: u64,
    /// When the producer says it was made, nanoseconds since 1970; 0 where it does not say.
    pub capture_ns: u64,
    /// When it was here, by the device's clock.
    pub arrived: Ns,
    /// Its bytes.
    pub data: Piece,
    /// Their CRC32C, made when they came.
    pub sum: u32,
}

/// What comes to the writer.
#[derive(Debug)]
pub enum Arrival {
    Frame(Frame),
    /// So many frames of a stream are lost, from this number on. They are counted already.
    Lost {
        /// Whose.
        account: Arc<Account>,
        /// The number of the first.
        sequence: u64,
        /// How many.
        count: u64,
        loss: Loss,
    },
}

/// The writer's answer to the question for the next frame.
#[derive(Debug)]
pub enum Taken {
    /// This has come.
    Arrival(Arrival),
    /// Nothing before this moment.
    Until(Ns),
    /// Nothing yet; the bell rings when something comes.
    Nothing,
    /// Nothing any more.
    Ended,
}

/// Where the writer gets frames from.
pub trait Inlet {
    /// What has come by the moment `now`.
    fn take(&mut self, now: Ns) -> Taken;

    /// Nothing more is wanted: producers are to end.
    fn end(&mut self);
}

/// What producers share: where they bring frames to.
#[derive(Clone, Debug)]
pub struct Doors {
    /// Memory for frames.
    pub ring: Arc<Ring>,
    /// The streams.
    pub accounts: Arc<Accounts>,
    /// The clock of the recording.
    pub epoch: Epoch,
    /// Whether producers are to end.
    pub stop: Arc<AtomicBool>,
    /// The longest frame that has a place.
    pub largest_frame: u64,
    /// Wakes the writer.
    bell: Arc<Bell>,
    /// Until it is closed.
    arrivals: Option<Sender<Arrival>>,
}

/// The writer's end.
#[derive(Debug)]
pub struct Hall {
    arrivals: Receiver<Arrival>,
    stop: Arc<AtomicBool>,
    /// When it was first seen that producers are to end.
    stopped: Option<Ns>,
}

/// Producers that do not end when they are told are not waited for any longer.
const PATIENCE_NS: Ns = 2_000_000_000;

impl Doors {
    /// A hall, and the doors to it: it is at its end when no door is open any more.
    pub fn new(
        ring: Arc<Ring>,
        largest_frame: u64,
        epoch: Epoch,
        bell: Arc<Bell>,
        stop: Arc<AtomicBool>,
    ) -> (Self, Hall) {
        let (sender, arrivals) = channel();
        let hall = Hall { arrivals, stop: Arc::clone(&stop), stopped: None };
        (Self { ring, accounts: Arc::default(), epoch, stop, largest_frame, bell, arrivals: Some(sender) }, hall)
    }

    /// Whether producers are to end.
    pub fn ends(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A stream of a producer; `None` where there are too many.
    pub fn stream(&self, name: &str, kind: FrameKind, waits: bool) -> Option<Inflow> {
        let account = self.accounts.join(name, kind)?;
        Some(Inflow { doors: self.clone(), account, waits, lost: None })
    }

    fn bring(&self, arrival: Arrival) {
        // Where the writer is gone its frames are lost, which it has said.
        let _ = self.arrivals.as_ref().map(|hall| hall.send(arrival));
        self.bell.ring();
    }
}

impl Drop for Doors {
    /// That a door was closed is news.
    fn drop(&mut self) {
        self.arrivals = None;
        self.bell.ring();
    }
}

impl Inlet for Hall {
    fn take(&mut self, now: Ns) -> Taken {
        match self.arrivals.try_recv() {
            Ok(arrival) => Taken::Arrival(arrival),
            Err(TryRecvError::Disconnected) => Taken::Ended,
            Err(TryRecvError::Empty) if self.stop.load(Ordering::Relaxed) => {
                let since = *self.stopped.get_or_insert(now);
                if now.saturating_sub(since) < PATIENCE_NS { Taken::Nothing } else { Taken::Ended }
            }
            Err(TryRecvError::Empty) => Taken::Nothing,
        }
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A stream's way in.
#[derive(Debug)]
pub struct Inflow {
    doors: Doors,
    account: Arc<Account>,
    /// Whether the producer waits where the ring is full; else the frame is lost.
    waits: bool,
    /// Lost one behind the other, and not told yet: the first, how many, why.
    lost: Option<(u64, u64, Loss)>,
}

impl Inflow {
    /// Room for a frame of `length` bytes; else why there is none.
    ///
    /// # Errors
    /// The reason for which the frame is lost.
    pub fn piece(&mut self, length: usize) -> Result<Piece, Loss> {
        let ring = &self.doors.ring;
        if length > ring.bytes() || length as u64 > self.doors.largest_frame {
            return Err(Loss::TooLarge);
        }
        if !self.waits {
            return ring.take(length).ok_or(Loss::RingFull);
        }
        let (piece, waited) = ring.wait(length, || self.doors.ends());
        self.account.blocked(waited);
        piece.ok_or(Loss::RingFull)
    }

    /// A frame of so many bytes has come; its number.
    pub fn receive(&mut self, bytes: usize) -> u64 {
        self.account.receive(1, bytes as u64)
    }

    /// A frame that was received is lost.
    pub fn lose(&mut self, sequence: u64, loss: Loss) {
        self.lose_some(sequence, 1, loss);
    }

    /// So many frames have come, of which so many bytes were seen, and are lost.
    pub fn receive_lost(&mut self, count: u64, bytes: usize, loss: Loss) {
        let sequence = self.account.receive(count, bytes as u64);
        self.lose_some(sequence, count, loss);
    }

    fn lose_some(&mut self, sequence: u64, more: u64, loss: Loss) {
        self.account.lose(loss, more);
        match &mut self.lost {
            Some((first, count, why)) if *why == loss && *first + *count == sequence => *count += more,
            _ => {
                self.tell_lost();
                self.lost = Some((sequence, more, loss));
            }
        }
    }

    /// Brings a frame that has come, with its CRC32C.
    pub fn bring(&mut self, sequence: u64, capture_ns: u64, data: Piece, sum: u32) {
        self.tell_lost();
        let arrived = self.doors.epoch.elapsed_ns();
        let account = Arc::clone(&self.account);
        self.doors.bring(Arrival::Frame(Frame { account, sequence, capture_ns, arrived, data, sum }));
    }

    fn tell_lost(&mut self) {
        if let Some((sequence, count, loss)) = self.lost.take() {
            let account = Arc::clone(&self.account);
            self.doors.bring(Arrival::Lost { account, sequence, count, loss });
        }
    }

    /// Its counters.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The doors it came by.
    pub fn doors(&self) -> &Doors {
        &self.doors
    }
}

impl Drop for Inflow {
    fn drop(&mut self) {
        self.tell_lost();
        self.account.leave();
    }
}
