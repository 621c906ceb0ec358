//! The channel from producers to the writer: frames, and counts of those that were lost.

use crate::account::{Account, Accounts};
use crate::container::{FrameKind, Loss};
use crate::ring::{Piece, Ring};
use model::Ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use sys::{Epoch, EventFd};

/// A frame that is whole, in the ring.
#[derive(Debug)]
pub struct Frame {
    /// Counters of the frame's stream.
    pub account: Arc<Account>,
    /// Its number in the stream, with those that were lost.
    pub sequence: u64,
    /// When the producer says it was made, nanoseconds since 1970; 0 where it does not say.
    pub capture_ns: u64,
    /// When it was here, by the device's clock.
    pub arrived: Ns,
    /// The frame's bytes, in the ring; what its piece takes behind them is zeros.
    pub data: Arc<Piece>,
    /// Their CRC32C, made when they came.
    pub sum: u32,
}

/// What comes to the writer.
#[derive(Debug)]
pub enum Arrival {
    Frame(Frame),
    /// So many frames of a stream are lost, from this number on. They are counted already.
    Lost {
        /// Counters of the stream that lost them.
        account: Arc<Account>,
        /// The number of the first.
        sequence: u64,
        /// Number of lost frames.
        count: u64,
        loss: Loss,
    },
}

/// The writer's answer to the question for the next frame.
#[derive(Debug)]
pub enum Polled {
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
pub trait FrameSource {
    /// The next arrival at the moment `now`.
    fn poll(&mut self, now: Ns) -> Polled;

    /// Nothing more is wanted: producers are to end.
    fn end(&mut self);
}

/// What producers share: memory, counters, clock, the stop flag, and the channel to the writer. A clone for each producer.
#[derive(Clone, Debug)]
pub struct FrameChannel {
    /// Memory for frames.
    pub ring: Arc<Ring>,
    /// Counters of all streams.
    pub accounts: Arc<Accounts>,
    /// The clock of the recording.
    pub epoch: Epoch,
    /// Whether producers are to end.
    pub stop: Arc<AtomicBool>,
    /// The longest frame that has a place.
    pub largest_frame: u64,
    /// Wakes the writer.
    event_fd: Arc<EventFd>,
    /// Until it is closed.
    arrivals: Option<Sender<Arrival>>,
}

/// The writer's end of the channel.
#[derive(Debug)]
pub struct FrameReceiver {
    arrivals: Receiver<Arrival>,
    stop: Arc<AtomicBool>,
    /// When it was first seen that producers are to end.
    stopped: Option<Ns>,
}

/// Producers that do not end when they are told are not waited for any longer.
const STOP_TIMEOUT_NS: Ns = 2_000_000_000;

impl FrameChannel {
    /// A channel and its receiver, which is at its end when every clone of the channel has been dropped.
    pub fn new(
        ring: Arc<Ring>,
        largest_frame: u64,
        epoch: Epoch,
        event_fd: Arc<EventFd>,
        stop: Arc<AtomicBool>,
    ) -> (Self, FrameReceiver) {
        let (sender, arrivals) = channel();
        let receiver = FrameReceiver { arrivals, stop: Arc::clone(&stop), stopped: None };
        (
            Self { ring, accounts: Arc::default(), epoch, stop, largest_frame, event_fd, arrivals: Some(sender) },
            receiver,
        )
    }

    /// Whether producers are to end.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A stream of a producer; `None` where there are too many.
    pub fn stream(&self, name: &str, kind: FrameKind, waits: bool) -> Option<StreamSender> {
        let account = self.accounts.join(name, kind)?;
        Some(StreamSender { channel: self.clone(), account, waits, lost: None })
    }

    fn send(&self, arrival: Arrival) {
        // Where the writer is gone its frames are lost, which it has said.
        let _ = self.arrivals.as_ref().map(|receiver| receiver.send(arrival));
        self.event_fd.signal();
    }
}

impl Drop for FrameChannel {
    /// Wakes the writer: the last clone that is dropped ends the recording.
    fn drop(&mut self) {
        self.arrivals = None;
        self.event_fd.signal();
    }
}

impl FrameSource for FrameReceiver {
    fn poll(&mut self, now: Ns) -> Polled {
        match self.arrivals.try_recv() {
            Ok(arrival) => Polled::Arrival(arrival),
            Err(TryRecvError::Disconnected) => Polled::Ended,
            Err(TryRecvError::Empty) if self.stop.load(Ordering::Relaxed) => {
                let since = *self.stopped.get_or_insert(now);
                if now.saturating_sub(since) < STOP_TIMEOUT_NS { Polled::Nothing } else { Polled::Ended }
            }
            Err(TryRecvError::Empty) => Polled::Nothing,
        }
    }

    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The producer's handle of one stream: takes memory for a frame, counts it, sends it to the writer.
#[derive(Debug)]
pub struct StreamSender {
    channel: FrameChannel,
    account: Arc<Account>,
    /// Whether the producer waits where the ring is full; else the frame is lost.
    waits: bool,
    /// Lost one behind the other, and not told yet: the first, how many, why.
    lost: Option<(u64, u64, Loss)>,
}

impl StreamSender {
    /// Room for a frame of `length` bytes; else why there is none.
    ///
    /// # Errors
    /// The reason for which the frame is lost.
    pub fn piece(&mut self, length: usize) -> Result<Piece, Loss> {
        let ring = &self.channel.ring;
        if !ring.fits(length) || length as u64 > self.channel.largest_frame {
            return Err(Loss::TooLarge);
        }
        if !self.waits {
            return ring.take(length).ok_or(Loss::RingFull);
        }
        let (piece, waited) = ring.wait(length, || self.channel.is_stopping());
        self.account.add_blocked(waited);
        piece.ok_or(Loss::RingFull)
    }

    /// A frame of so many bytes has come; its number.
    pub fn receive(&mut self, bytes: usize) -> u64 {
        self.account.add_received(1, bytes as u64)
    }

    /// A frame that was received is lost.
    pub fn lose(&mut self, sequence: u64, loss: Loss) {
        self.count_lost(sequence, 1, loss);
    }

    /// So many frames have come, of which so many bytes were seen, and are lost.
    pub fn receive_lost(&mut self, count: u64, bytes: usize, loss: Loss) {
        let sequence = self.account.add_received(count, bytes as u64);
        self.count_lost(sequence, count, loss);
    }

    fn count_lost(&mut self, sequence: u64, more: u64, loss: Loss) {
        self.account.add_lost(loss, more);
        match &mut self.lost {
            Some((first, count, why)) if *why == loss && *first + *count == sequence => *count += more,
            _ => {
                self.send_lost();
                self.lost = Some((sequence, more, loss));
            }
        }
    }

    /// Brings a frame that has come, with its CRC32C.
    pub fn send(&mut self, sequence: u64, capture_ns: u64, mut data: Piece, sum: u32) {
        self.send_lost();
        data.clear_rest();
        let data = Arc::new(data);
        let arrived = self.channel.epoch.elapsed_ns();
        let account = Arc::clone(&self.account);
        self.channel.send(Arrival::Frame(Frame { account, sequence, capture_ns, arrived, data, sum }));
    }

    fn send_lost(&mut self) {
        if let Some((sequence, count, loss)) = self.lost.take() {
            let account = Arc::clone(&self.account);
            self.channel.send(Arrival::Lost { account, sequence, count, loss });
        }
    }

    /// Counters of the stream.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The channel that the stream belongs to.
    pub fn channel(&self) -> &FrameChannel {
        &self.channel
    }
}

impl Drop for StreamSender {
    fn drop(&mut self) {
        self.send_lost();
        self.account.release();
    }
}
