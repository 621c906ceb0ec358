//! Several streams on one simulated device: simulated time has one clock, so one loop drives them all, and each is
//! recorded as if it had a worker of its own.

use crate::Part;
use crate::recorder::{Recorder, StreamRecord};
use model::{Ns, PhasePlan, StopCause, StopRule, StreamPlan};
use workload::{BlockOp, Next, OpKind, Outcome, Pattern, Source};

/// Streams that take turns; each keeps at most its own depth in flight. A pause that a stream spends computing is slept
/// here: the one processor of the loop belongs to the others meanwhile.
#[derive(Debug)]
pub(super) struct Together {
    streams: Vec<One>,
    turn: usize,
    /// Operations in flight: streams hear only of their own.
    flights: Vec<Flight>,
    warmup: model::Warmup,
    time_limit_ns: Ns,
    interval_ns: Ns,
}

#[derive(Debug)]
struct One {
    plan: StreamPlan,
    source: Pattern,
    recorder: Option<Recorder>,
    closes_rounds: bool,
    room: u32,
    done: bool,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    op: BlockOp,
    handed_ns: Ns,
    owner: usize,
}

impl Flight {
    fn is(&self, op: &BlockOp) -> bool {
        let key = |o: &BlockOp| (o.offset, o.kind, o.len, o.intended_ns);
        key(&self.op) == key(op)
    }
}

impl Together {
    /// The streams of a phase.
    pub(super) fn new(phase: &PhasePlan, interval_ns: Ns) -> Self {
        let once = phase.stop == StopRule::RegionOnce;
        let one = |plan: &StreamPlan| One {
            source: Pattern::new(plan, once),
            recorder: None,
            closes_rounds: closes_rounds(plan),
            room: plan.queue_depth.max(1),
            done: false,
            plan: plan.clone(),
        };
        let streams: Vec<One> = phase.streams.iter().map(one).collect();
        let depth = streams.iter().map(|s| s.room as usize).sum();
        Self {
            streams,
            turn: 0,
            flights: Vec::with_capacity(depth),
            warmup: phase.warmup,
            time_limit_ns: phase.time_limit_ns,
            interval_ns,
        }
    }

    fn begin(&mut self, now: Ns) {
        let crew = crate::Crew::new(1, &StopRule::Time);
        for one in &mut self.streams {
            let mut recorder = Recorder::new(now, self.time_limit_ns, self.interval_ns, &self.warmup);
            recorder.tell_apart(&Part::of(&one.plan, &crew).directions);
            one.recorder = Some(recorder);
        }
    }

    fn hand_over(&mut self, owner: usize, op: BlockOp, now: Ns) {
        let one = &mut self.streams[owner];
        if one.room == one.plan.queue_depth.max(1)
            && let Some(recorder) = &mut one.recorder
        {
            recorder.resumed(now);
        }
        one.room -= 1;
        self.flights.push(Flight { op, handed_ns: now, owner });
    }

    /// What each stream did; the phase ended at `now` for this cause.
    pub(super) fn finish(self, now: Ns, stop: StopCause) -> Vec<StreamRecord> {
        let finish = |one: One| {
            let cause = if one.done { StopCause::RegionDone } else { stop };
            Some(one.recorder?.finish(now, cause))
        };
        self.streams.into_iter().filter_map(finish).collect()
    }
}

fn closes_rounds(plan: &StreamPlan) -> bool {
    matches!(plan.sync, model::Sync::FsyncPerRound | model::Sync::FsyncAtEnd)
}

impl Source for Together {
    type Op = BlockOp;

    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        if self.streams.iter().any(|s| s.recorder.is_none()) {
            self.begin(now);
        }
        let mut wake: Option<Ns> = None;
        for _ in 0..self.streams.len() {
            let index = self.turn;
            self.turn = (self.turn + 1) % self.streams.len();
            let one = &mut self.streams[index];
            if one.done || one.room == 0 {
                continue;
            }
            match one.source.next(now) {
                Next::Op(op) => {
                    self.hand_over(index, op, now);
                    return Next::Op(op);
                }
                Next::WaitUntil(at) | Next::SpinUntil(at) => wake = Some(wake.map_or(at, |w| w.min(at))),
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
        let Some(at) = self.flights.iter().position(|f| f.is(op)) else { return };
        let flight = self.flights.swap_remove(at);
        let one = &mut self.streams[flight.owner];
        one.room += 1;
        if let Some(recorder) = &mut one.recorder {
            let (at, handed) = (outcome.at_ns, flight.handed_ns);
            match outcome.result {
                Ok(_) if op.kind == OpKind::Fsync && one.closes_rounds => recorder.synced(at, handed),
                Ok(_) if op.kind.is_sync() => recorder.flushed(op.kind, at, handed),
                Ok(bytes) => {
                    let start = op.intended_ns.unwrap_or(handed);
                    recorder.transferred(at, start, handed, bytes, op.len);
                    recorder.went(op.kind, at, start, bytes);
                    if op.kind != OpKind::Read {
                        recorder.wrote(handed, bytes);
                    }
                }
                Err(errno) => recorder.failed(at, handed, errno),
            }
        }
        one.source.completed(op, outcome);
    }

    fn closing(&mut self) -> Option<BlockOp> {
        let index = (0..self.streams.len()).find_map(|i| Some((i, self.streams[i].source.closing()?)));
        let (owner, op) = index?;
        // The moment of the last completion, which the loop goes on from.
        let now = self.streams[owner].recorder.as_ref().map_or(0, Recorder::last_ns);
        self.hand_over(owner, op, now);
        Some(op)
    }
}
