//! Frames from the cameras' ring, written in one of the ways, with what became of each.

use super::way::Way;
use model::{Histogram, Ns};
use recorder::{Account, Arrival, FrameReceiver, FrameSource, FrameTime, Loss, MAX_FRAME_TIMES, Polled};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use sys::{Epoch, EventFd};

/// Whoever waits looks again that often.
const LOOK_NS: Ns = 50_000_000;

/// What was written.
#[derive(Debug, Default)]
pub(super) struct WrittenFrames {
    /// When each came and was written.
    pub times: Vec<FrameTime>,
    /// Age of frames when they were durable.
    pub ages: Histogram,
    /// When all was durable.
    pub ended_ns: Ns,
    /// Why it ended early.
    pub failed: Option<io::Error>,
}

/// A frame that is written and not flushed.
struct Unflushed {
    account: Arc<Account>,
    bytes: u64,
    arrived: Ns,
}

/// Writes all that comes. Frames are durable when they are half of `max_latency_ns` old, and a flush has ended.
pub(super) fn write(
    way: &mut dyn Way,
    mut receiver: FrameReceiver,
    event_fd: &EventFd,
    epoch: Epoch,
    max_latency_ns: Ns,
) -> WrittenFrames {
    let mut written = WrittenFrames::default();
    let mut unflushed: Vec<Unflushed> = Vec::new();
    loop {
        let now = epoch.elapsed_ns();
        let due = unflushed.first().map(|oldest| oldest.arrived.saturating_add(max_latency_ns / 2));
        if due.is_some_and(|due| now >= due) && written.failed.is_none() {
            flush(way, &mut unflushed, &mut written, epoch);
        }
        match receiver.poll(now) {
            Polled::Arrival(Arrival::Frame(frame)) if written.failed.is_some() => {
                frame.account.add_lost(Loss::Storage, 1)
            }
            Polled::Arrival(Arrival::Frame(frame)) => {
                let bytes = frame.data.bytes();
                match way.write(bytes) {
                    Ok(()) => {
                        if written.times.len() < MAX_FRAME_TIMES {
                            written.times.push(FrameTime { arrived: frame.arrived, written: epoch.elapsed_ns() });
                        }
                        let (account, bytes) = (Arc::clone(&frame.account), bytes.len() as u64);
                        unflushed.push(Unflushed { account, bytes, arrived: frame.arrived });
                    }
                    Err(e) => {
                        frame.account.add_lost(Loss::Storage, 1);
                        written.failed = Some(e);
                        receiver.end();
                    }
                }
            }
            Polled::Arrival(Arrival::Lost { .. }) => {}
            Polled::Nothing | Polled::Until(_) => {
                let until = due.map_or(LOOK_NS, |due| due.saturating_sub(now).min(LOOK_NS));
                if event_fd.wait(Duration::from_nanos(until)) {
                    event_fd.drain();
                }
            }
            Polled::Ended => break,
        }
    }
    if written.failed.is_none() {
        flush(way, &mut unflushed, &mut written, epoch);
    }
    unflushed.iter().for_each(|frame| frame.account.add_lost(Loss::Storage, 1));
    written.ended_ns = epoch.elapsed_ns();
    written
}

fn flush(way: &mut dyn Way, unflushed: &mut Vec<Unflushed>, written: &mut WrittenFrames, epoch: Epoch) {
    if let Err(e) = way.flush() {
        written.failed = Some(e);
        return;
    }
    let now = epoch.elapsed_ns();
    for frame in unflushed.drain(..) {
        frame.account.add_durable(frame.bytes);
        written.ages.record(now.saturating_sub(frame.arrived));
    }
}
