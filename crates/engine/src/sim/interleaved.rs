//! Several streams on one simulated device: simulated time has one clock, so one loop drives them all, and each is
//! recorded as if it had a worker of its own.

use crate::StreamConfig;
use crate::recorder::{InFlightOp, Recorder};
use model::{BlockStream, Ns, PhasePlan, PhaseRecord, StopCause, StopRule, StreamPlan};
use workload::{BlockOp, Next, OpResult, Pattern, Source};

/// Streams that take turns; each keeps at most its own depth in flight. A pause that a stream spends computing is slept
/// here: the one processor of the loop belongs to the others meanwhile.
#[derive(Debug)]
pub(super) struct InterleavedStreams {
    phase: PhasePlan,
    interval_ns: Ns,
    /// None before the first operation is asked for.
    streams: Vec<InterleavedStream>,
    turn: usize,
    /// A stream has ended that ends its phase.
    ended: bool,
    /// Operations in flight: streams hear only of their own.
    inflight: Vec<(usize, InFlightOp<BlockOp>)>,
}

#[derive(Debug)]
struct InterleavedStream {
    source: Pattern,
    recorder: Recorder,
    depth: u32,
    in_flight: u32,
    done: bool,
    ends_phase: bool,
}

/// Whether it is the same operation, with a buffer or without.
fn same_op(a: &BlockOp, b: &BlockOp) -> bool {
    BlockOp { buffer: 0, ..*a } == BlockOp { buffer: 0, ..*b }
}

impl InterleavedStreams {
    /// The streams of a phase.
    pub(super) fn new(phase: &PhasePlan, interval_ns: Ns) -> Self {
        let inflight = Vec::with_capacity(phase.queue_depth() as usize);
        Self { phase: phase.clone(), interval_ns, streams: Vec::new(), turn: 0, ended: false, inflight }
    }

    fn begin(&mut self, now: Ns) {
        let barrier = crate::PhaseShared::new(0, &StopRule::Time);
        let Self { phase, interval_ns, .. } = self;
        let one = |plan: BlockStream<'_>| {
            let once = phase.stop == StopRule::RegionOnce;
            let source = Pattern::new(plan, once).sharing(&plan, |flow| barrier.flow(flow));
            let config = StreamConfig::of(phase, &plan, *interval_ns);
            let recorder = Recorder::of(now, &config);
            let (depth, ends_phase) = (plan.path.queue_depth.max(1), plan.limits.ends_phase);
            InterleavedStream { source, recorder, depth, in_flight: 0, done: false, ends_phase }
        };
        self.streams = phase.streams.iter().filter_map(StreamPlan::blocks).map(one).collect();
    }

    fn submit(&mut self, owner: usize, op: BlockOp, now: Ns) {
        let one = &mut self.streams[owner];
        if one.in_flight == 0 {
            one.recorder.end_idle(now);
        }
        one.in_flight += 1;
        self.inflight.push((owner, InFlightOp::new(op, now)));
    }

    /// What each stream did; the phase ended at `now` for this cause.
    pub(super) fn finish(self, now: Ns, stop: StopCause) -> Vec<PhaseRecord> {
        let stop = if self.ended { StopCause::TimeUsed } else { stop };
        let finish =
            |one: InterleavedStream| one.recorder.finish(now, if one.done { StopCause::RegionDone } else { stop });
        self.streams.into_iter().map(finish).collect()
    }
}

impl Source for InterleavedStreams {
    type Op = BlockOp;

    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        if self.streams.is_empty() {
            self.begin(now);
        }
        let mut wake: Option<Ns> = None;
        if self.ended {
            return Next::Done;
        }
        for _ in 0..self.streams.len() {
            let index = self.turn;
            self.turn = (self.turn + 1) % self.streams.len();
            let one = &mut self.streams[index];
            if one.done || one.in_flight == one.depth {
                continue;
            }
            match one.source.next(now) {
                Next::Op(op) => {
                    self.submit(index, op, now);
                    return Next::Op(op);
                }
                Next::WaitUntil(at) | Next::SpinUntil(at) => wake = Some(wake.map_or(at, |w| w.min(at))),
                Next::WaitForCompletion => {}
                // It ends, and its phase with it, when what closes it has.
                Next::Done if one.ends_phase => {
                    if one.in_flight > 0 {
                        continue;
                    }
                    let Some(op) = one.source.closing_op() else {
                        (one.done, self.ended) = (true, true);
                        return Next::Done;
                    };
                    self.submit(index, op, now);
                    return Next::Op(op);
                }
                Next::Done => one.done = true,
            }
        }
        match wake {
            Some(at) => Next::WaitUntil(at),
            None if self.streams.iter().all(|s| s.done) => Next::Done,
            None => Next::WaitForCompletion,
        }
    }

    fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        let Some(at) = self.inflight.iter().position(|(_, f)| same_op(&f.op, op)) else { return };
        let (owner, flight) = self.inflight.swap_remove(at);
        let one = &mut self.streams[owner];
        one.in_flight -= 1;
        match outcome.result {
            Ok(bytes) => one.recorder.record_success(&flight, outcome.at_ns, bytes),
            Err(errno) => one.recorder.record_failure(outcome.at_ns, flight.handed_ns, errno),
        }
        one.source.on_completion(op, outcome);
    }

    fn closing_op(&mut self) -> Option<BlockOp> {
        let (owner, op) =
            self.streams.iter_mut().enumerate().find_map(|(i, one)| Some((i, one.source.closing_op()?)))?;
        // The moment of the last completion, which the loop goes on from.
        let now = self.streams[owner].recorder.last_ns();
        self.submit(owner, op, now);
        Some(op)
    }
}
