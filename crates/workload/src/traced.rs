//! Operations of a trace, in its order.
//!
//! At a speed each starts at its moment, or as soon as there is room: its latency counts from that moment, and how late it was handed
//! over is recorded. As fast as possible the order is kept, and what may depend on what is not overtaken: an operation waits for those
//! in flight that touch the same bytes if one of the two changes them, a sync waits for all changes before it, and all that follows a
//! sync waits for it, as for a program that called fsync. With pauses an operation starts so long after the end of all reads before it as it came
//! after the one before, since nobody waits for what the kernel writes back; those that came together are handed over together.

use crate::{BlockOp, Next, OpKind};
use model::{BlockStream, Ns, Trace, TraceKind, TraceOp};
use std::sync::Arc;

/// What came within so long of the one before was not waited for.
const TOGETHER_NS: Ns = 20_000;

#[derive(Debug)]
pub(crate) struct TraceSource {
    ops: Arc<[TraceOp]>,
    next: usize,
    /// The moment at which the first one was asked for.
    start: Option<Ns>,
    /// Thousandths of the recorded speed; 0: as fast as possible.
    speed_milli: u32,
    pauses: bool,
    /// When the last one ended.
    ended: Ns,
    /// When the last one was handed over.
    handed: Ns,
    region_start: u64,
    in_flight: Vec<BlockOp>,
}

fn kind_of(kind: TraceKind) -> OpKind {
    match kind {
        TraceKind::Read => OpKind::Read,
        TraceKind::Write => OpKind::Write,
        TraceKind::Trim => OpKind::Trim,
        TraceKind::Fsync => OpKind::Fsync,
        TraceKind::Fdatasync => OpKind::Fdatasync,
    }
}

fn is_sync(op: &BlockOp) -> bool {
    matches!(op.kind, OpKind::Fsync | OpKind::Fdatasync)
}

fn changes(op: &BlockOp) -> bool {
    op.kind != OpKind::Read
}

/// Whether the second, which comes after the first, must not be handed over while that is in flight.
fn waits_for(first: &BlockOp, second: &BlockOp) -> bool {
    let end = |op: &BlockOp| op.offset + u64::from(op.len);
    match (is_sync(first), is_sync(second)) {
        (true, _) => true,
        (false, true) => changes(first),
        (false, false) => {
            (changes(first) || changes(second)) && first.offset < end(second) && second.offset < end(first)
        }
    }
}

impl TraceSource {
    pub fn of(plan: BlockStream<'_>) -> Option<Self> {
        let Trace { trace_speed_milli, trace_pauses, ops, .. } = plan.block.trace.as_ref()?;
        Some(Self {
            ops: Arc::clone(&ops.0),
            next: 0,
            start: None,
            speed_milli: *trace_speed_milli,
            pauses: *trace_pauses,
            ended: 0,
            handed: 0,
            region_start: plan.block.region_start_bytes,
            in_flight: Vec::with_capacity(plan.path.queue_depth as usize),
        })
    }

    pub fn next(&mut self, now: Ns) -> Next<BlockOp> {
        let start = *self.start.get_or_insert(now);
        let Some(op) = self.ops.get(self.next) else {
            return if self.in_flight.is_empty() { Next::Done } else { Next::WaitForCompletion };
        };
        let mut next = BlockOp {
            kind: kind_of(op.kind),
            offset: self.region_start + op.offset,
            len: op.len,
            ..BlockOp::default()
        };
        if self.speed_milli > 0 && self.pauses {
            let before = self.next.checked_sub(1).map_or(op.at_ns, |before| self.ops[before].at_ns);
            let pause = op.at_ns - before;
            if pause > TOGETHER_NS {
                if self.in_flight.iter().any(|first| first.kind == OpKind::Read) {
                    return Next::WaitForCompletion;
                }
                let pause = (u128::from(pause) * 1000 / u128::from(self.speed_milli)).try_into().unwrap_or(Ns::MAX);
                let due = self.ended.max(self.handed).max(start).saturating_add(pause);
                if due > now {
                    return Next::WaitUntil(due);
                }
            }
            if self.in_flight.iter().any(|first| waits_for(first, &next)) {
                return Next::WaitForCompletion;
            }
        } else if self.speed_milli > 0 {
            let after = (u128::from(op.at_ns) * 1000 / u128::from(self.speed_milli)).try_into().unwrap_or(Ns::MAX);
            let due = start.saturating_add(after);
            if due > now {
                return Next::WaitUntil(due);
            }
            next.intended_ns = Some(due);
        } else if self.in_flight.iter().any(|first| waits_for(first, &next)) {
            return Next::WaitForCompletion;
        }
        self.next += 1;
        self.handed = now;
        self.in_flight.push(next);
        Next::Op(next)
    }

    pub fn on_completion(&mut self, op: &BlockOp, at: Ns) {
        if op.kind != OpKind::Write {
            self.ended = self.ended.max(at);
        }
        let same = |other: &BlockOp| (other.kind, other.offset, other.len) == (op.kind, op.offset, op.len);
        if let Some(at) = self.in_flight.iter().position(same) {
            self.in_flight.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OpResult, Pattern, Source};
    use model::{BlockPlan, IoPath, Order, StreamPlan, TraceOps};

    fn pattern(speed: u32, ops: &[(u64, TraceKind, u64, u32)]) -> Pattern {
        with_pauses(speed, false, ops)
    }

    fn with_pauses(speed: u32, trace_pauses: bool, ops: &[(u64, TraceKind, u64, u32)]) -> Pattern {
        let ops: Arc<[TraceOp]> = ops
            .iter()
            .map(|(at_ns, kind, offset, len)| TraceOp { at_ns: *at_ns, kind: *kind, offset: *offset, len: *len })
            .collect();
        let trace = Trace { trace_speed_milli: speed, trace_pauses, ops: TraceOps(ops), ..Trace::default() };
        let block = BlockPlan {
            order: Order::Traced,
            trace: Some(trace),
            region_start_bytes: 4096,
            region_bytes: 1 << 20,
            ..BlockPlan::default()
        };
        let path = IoPath { queue_depth: 8, ..IoPath::default() };
        Pattern::new(StreamPlan { kind: block.into(), path, ..StreamPlan::default() }.blocks().unwrap(), false)
    }

    fn taken(next: Next<BlockOp>) -> BlockOp {
        match next {
            Next::Op(op) => op,
            other => panic!("{other:?}"),
        }
    }

    fn ended(pattern: &mut Pattern, op: &BlockOp) {
        pattern.on_completion(op, OpResult { at_ns: 0, result: Ok(op.len) });
    }

    #[test]
    fn pauses_count_from_the_end_of_reads_and_writes_are_not_waited_for() {
        use TraceKind::{Read, Write};
        let ops =
            [(0, Read, 0, 512), (5_000, Read, 4096, 512), (105_000, Write, 8192, 512), (205_000, Read, 8192, 512)];
        let mut p = with_pauses(2000, true, &ops);
        let done = |p: &mut Pattern, op: &BlockOp, at_ns| p.on_completion(op, OpResult { at_ns, result: Ok(op.len) });
        let (first, second) = (taken(p.next(1_000)), taken(p.next(1_000)));
        assert_eq!(p.next(1_000), Next::WaitForCompletion, "both are read before it goes on");
        done(&mut p, &first, 40_000);
        assert_eq!(p.next(40_000), Next::WaitForCompletion);
        done(&mut p, &second, 60_000);
        assert_eq!(p.next(60_000), Next::WaitUntil(110_000), "half of the pause, after the end of the second");
        let write = taken(p.next(110_000));
        assert_eq!(write.intended_ns, None);
        assert_eq!(p.next(110_000), Next::WaitUntil(160_000), "the write is under way");
        assert_eq!(p.next(160_000), Next::WaitForCompletion, "but what it writes is not read before");
        done(&mut p, &write, 900_000);
        assert_eq!(taken(p.next(900_000)).offset, 4096 + 8192);
    }

    #[test]
    fn as_fast_as_possible_nothing_overtakes_what_it_may_depend_on() {
        use TraceKind::{Fsync, Read, Write};
        let mut p = pattern(
            0,
            &[
                (0, Read, 0, 8192),
                (5, Read, 4096, 4096),
                (9, Write, 8000, 512),
                (9, Write, 65536, 512),
                (9, Fsync, 0, 0),
                (9, Read, 0, 512),
            ],
        );
        let (a, b) = (taken(p.next(0)), taken(p.next(0)));
        assert_eq!((a.offset, a.len, b.offset, a.intended_ns), (4096, 8192, 8192, None));
        assert_eq!(p.next(0), Next::WaitForCompletion, "the write touches what is read");
        ended(&mut p, &a);
        assert_eq!(p.next(0), Next::WaitForCompletion);
        ended(&mut p, &b);
        let (first, second) = (taken(p.next(0)), taken(p.next(0)));
        assert_eq!(p.next(0), Next::WaitForCompletion, "the sync waits for what was written");
        ended(&mut p, &second);
        ended(&mut p, &first);
        let sync = taken(p.next(0));
        assert_eq!((sync.kind, p.next(0)), (OpKind::Fsync, Next::WaitForCompletion));
        ended(&mut p, &sync);
        let last = taken(p.next(0));
        assert_eq!(p.next(0), Next::WaitForCompletion);
        ended(&mut p, &last);
        assert_eq!(p.next(0), Next::Done);
    }

    #[test]
    fn at_a_speed_each_has_its_moment() {
        use TraceKind::{Read, Write};
        let mut p = pattern(2000, &[(0, Read, 0, 512), (1000, Write, 0, 512), (3000, Read, 0, 512)]);
        assert_eq!(taken(p.next(70)).intended_ns, Some(70));
        assert_eq!(p.next(80), Next::WaitUntil(570));
        // Late, and at once: what it was to wait for is for the recorded times to say.
        assert_eq!(taken(p.next(1670)).intended_ns, Some(570));
        assert_eq!(taken(p.next(1670)).intended_ns, Some(1570));
    }
}
