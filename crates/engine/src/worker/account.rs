//! What becomes of an operation's end in the record: the same for a worker and for a stream of a simulated phase.

use crate::recorder::Recorder;
use model::{Direction, Ns};
use workload::Request;

/// An operation in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flight<Op> {
    pub op: Op,
    /// When the device got it.
    pub handed_ns: Ns,
    /// Where its latency counts from.
    pub start_ns: Ns,
}

impl<Op: Request> Flight<Op> {
    /// Handed over at this moment.
    #[inline]
    pub fn new(op: Op, handed_ns: Ns) -> Self {
        Self { op, handed_ns, start_ns: op.intended_ns().unwrap_or(handed_ns) }
    }
}

/// The account of one stream.
#[derive(Debug)]
pub(crate) struct Account {
    pub recorder: Recorder,
    told_apart: bool,
    closes_rounds: bool,
}

impl Account {
    /// `directions` that are told apart, none if all is one; whether syncs close rounds.
    pub fn new(mut recorder: Recorder, directions: &[Direction], closes_rounds: bool) -> Self {
        recorder.tell_apart(directions);
        Self { recorder, told_apart: !directions.is_empty(), closes_rounds }
    }

    /// It succeeded at `at` with so many bytes.
    #[inline]
    pub fn succeeded<Op: Request>(&mut self, flight: &Flight<Op>, at: Ns, bytes: u32) {
        let (op, handed) = (&flight.op, flight.handed_ns);
        let direction = op.direction();
        if direction == Direction::Sync {
            if self.closes_rounds && op.closes_round() {
                self.recorder.synced(at, handed);
            } else {
                self.recorder.flushed(at, handed);
            }
            return;
        }
        self.recorder.transferred(at, flight.start_ns, handed, bytes, op.len());
        if self.told_apart {
            self.recorder.went(direction, at, flight.start_ns, bytes);
        }
        if direction != Direction::Read {
            self.recorder.wrote(handed, bytes);
        }
    }

    /// It failed.
    #[cold]
    pub fn failed<Op>(&mut self, flight: &Flight<Op>, at: Ns, errno: i32) {
        self.recorder.failed(at, flight.handed_ns, errno);
    }
}
