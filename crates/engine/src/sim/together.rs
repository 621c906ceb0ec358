//! Several streams on one simulated device: simulated time has one clock, so one loop drives them all.

use model::Ns;
use workload::{BlockOp, Next, OpKind, Outcome, Source, Stream};

/// Streams that take turns; each keeps at most its own depth in flight.
#[derive(Debug)]
pub(super) struct Together {
    streams: Vec<One>,
    turn: usize,
    /// Operations in flight and whose they are: streams hear only of their own.
    owners: Vec<(u64, OpKind, usize)>,
}

#[derive(Debug)]
struct One {
    stream: Stream,
    room: u32,
    done: bool,
}

impl Together {
    /// With the depth of each stream.
    pub(super) fn new(streams: impl Iterator<Item = (Stream, u32)>) -> Self {
        let streams: Vec<One> = streams.map(|(stream, room)| One { stream, room, done: false }).collect();
        let depth = streams.iter().map(|s| s.room as usize).sum();
        Self { streams, turn: 0, owners: Vec::with_capacity(depth) }
    }
}

impl Source for Together {
    type Op = BlockOp;

    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        let mut wake: Option<Ns> = None;
        for _ in 0..self.streams.len() {
            let index = self.turn;
            self.turn = (self.turn + 1) % self.streams.len();
            let one = &mut self.streams[index];
            if one.done || one.room == 0 {
                continue;
            }
            match one.stream.next(now) {
                Next::Op(op) => {
                    one.room -= 1;
                    self.owners.push((op.offset, op.kind, index));
                    return Next::Op(op);
                }
                Next::WaitUntil(at) => wake = Some(wake.map_or(at, |w| w.min(at))),
                Next::WaitForCompletion => {}
                Next::Done => one.done = true,
            }
        }
        match wake {
            Some(at) => Next::WaitUntil(at),
            None if self.streams.iter().all(|s| s.done) => Next::Done,
            None => Next::WaitForCompletion,
        }
    }

    fn completed(&mut self, op: &BlockOp, outcome: Outcome) {
        let Some(at) = self.owners.iter().position(|(o, k, _)| *o == op.offset && *k == op.kind) else { return };
        let (_, _, owner) = self.owners.swap_remove(at);
        self.streams[owner].room += 1;
        self.streams[owner].stream.completed(op, outcome);
    }
}
