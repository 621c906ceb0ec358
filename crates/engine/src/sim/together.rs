//! Several streams on one simulated device: simulated time has one clock, so one loop drives them all, and each is
//! recorded as if it had a worker of its own.

use crate::Part;
use crate::recorder::{Flight, Recorder, StreamRecord};
use model::{Ns, PhasePlan, StopCause, StopRule, StreamPlan};
use workload::{BlockOp, Next, Outcome, Pattern, Source};

/// Streams that take turns; each keeps at most its own depth in flight. A pause that a stream spends computing is slept
/// here: the one processor of the loop belongs to the others meanwhile.
#[derive(Debug)]
pub(super) struct Together {
    streams: Vec<One>,
    turn: usize,
    /// Operations in flight: streams hear only of their own.
    flights: Vec<(usize, Flight<BlockOp>)>,
    warmup: model::Warmup,
    time_limit_ns: Ns,
    interval_ns: Ns,
}

#[derive(Debug)]
struct One {
    plan: StreamPlan,
    source: Pattern,
    recorder: Option<Recorder>,
    room: u32,
    done: bool,
}

/// Whether it is the same operation, with a buffer or without.
fn is(a: &BlockOp, b: &BlockOp) -> bool {
    BlockOp { buffer: 0, ..*a } == BlockOp { buffer: 0, ..*b }
}

impl Together {
    /// The streams of a phase.
    pub(super) fn new(phase: &PhasePlan, interval_ns: Ns) -> Self {
        let once = phase.stop == StopRule::RegionOnce;
        let flows = crate::Crew::new(0, &StopRule::Time);
        let source = |plan: &StreamPlan| match plan.timing.flow {
            Some(flow) => Pattern::new(plan, once).sharing(plan, flows.flow(flow.id)),
            None => Pattern::new(plan, once),
        };
        let one = |plan: &StreamPlan| One {
            source: source(plan),
            recorder: None,
            room: plan.path.queue_depth.max(1),
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
            let recorder = Recorder::new(now, self.time_limit_ns, self.interval_ns, &self.warmup);
            let part = Part::of(&one.plan, &crew);
            one.recorder = Some(recorder.telling_apart(&part.directions, part.closes_rounds));
        }
    }

    fn hand_over(&mut self, owner: usize, op: BlockOp, now: Ns) {
        let one = &mut self.streams[owner];
        if one.room == one.plan.path.queue_depth.max(1)
            && let Some(recorder) = &mut one.recorder
        {
            recorder.resumed(now);
        }
        one.room -= 1;
        self.flights.push((owner, Flight::new(op, now)));
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
        let Some(at) = self.flights.iter().position(|(_, f)| is(&f.op, op)) else { return };
        let (owner, flight) = self.flights.swap_remove(at);
        let one = &mut self.streams[owner];
        one.room += 1;
        if let Some(recorder) = &mut one.recorder {
            match outcome.result {
                Ok(bytes) => recorder.succeeded(&flight, outcome.at_ns, bytes),
                Err(errno) => recorder.failed(outcome.at_ns, flight.handed_ns, errno),
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
