//! Calls of a recording, in its order.
//!
//! What may depend on what is kept: a call waits for the one before of its own thread, and for those in flight that touch the same
//! descriptor, the same path or a directory above it, if one of the two changes something. At a speed each starts besides at its moment, and
//! its latency counts from there; or so long after the call before of its thread as it did when it was recorded.

use model::{CallCursor, CallKind, Direction, FileCall, FileTrace, NO_NUMBER, Ns, ReplayPlan};
use std::sync::Arc;
use workload::{Next, OpResult, Request, Source};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOp {
    /// The recorded call.
    pub call: FileCall,
    /// Bytes that it transfers.
    pub len: u32,
    /// Its buffer while it is under way.
    pub buffer: u32,
    /// When it should start.
    pub intended_ns: Option<Ns>,
}

impl Request for CallOp {
    workload::in_fields!();

    #[inline]
    fn content_key(&self) -> u64 {
        self.call.offset
    }

    #[inline]
    fn direction(&self) -> Direction {
        self.call.kind.direction()
    }

    #[inline]
    fn sends_data(&self) -> bool {
        self.call.kind == CallKind::Write && self.len > 0
    }
}

/// The calls of a recording.
#[derive(Debug)]
pub struct ReplaySource {
    trace: Arc<FileTrace>,
    cursor: CallCursor,
    /// The one that comes next, where it is known.
    next: Option<FileCall>,
    start: Option<Ns>,
    speed_milli: u32,
    pauses: bool,
    in_flight: Vec<FileCall>,
    /// When the last call of each thread ended.
    ended: Vec<Ns>,
}

impl ReplaySource {
    /// The calls of a plan.
    pub fn new(plan: &ReplayPlan) -> Self {
        let trace = Arc::clone(&plan.trace.0);
        let threads = trace.calls.iter().map(|call| call.thread).max().unwrap_or(0);
        Self {
            trace,
            cursor: CallCursor::default(),
            next: None,
            start: None,
            speed_milli: plan.replay_speed_milli,
            pauses: plan.replay_pauses,
            in_flight: Vec::new(),
            ended: vec![0; usize::from(threads) + 1],
        }
    }

    fn scaled(&self, ns: Ns) -> Ns {
        (u128::from(ns) * 1000 / u128::from(self.speed_milli)).try_into().unwrap_or(Ns::MAX)
    }

    /// Whether the second, which comes after the first, must not be made while that is in flight.
    fn waits_for(&self, first: &FileCall, second: &FileCall) -> bool {
        if first.thread == second.thread {
            return true;
        }
        if first.only_looks() && second.only_looks() {
            // But a descriptor is there only between its open and its close.
            let opens = |call: &FileCall| matches!(call.kind, CallKind::Open | CallKind::Close);
            return first.handle == second.handle && first.handle != NO_NUMBER && (opens(first) || opens(second));
        }
        let paths = |call: &FileCall| [call.path, call.second];
        paths(first).into_iter().filter(|path| *path != NO_NUMBER).any(|one| {
            paths(second).into_iter().filter(|path| *path != NO_NUMBER).any(|other| {
                one == other
                    || first.kind.moves_names() && self.is_above(one, other)
                    || second.kind.moves_names() && self.is_above(other, one)
            })
        })
    }

    fn is_above(&self, directory: u32, mut path: u32) -> bool {
        while path != 0 {
            path = self.trace.paths[path as usize].parent;
            if path == directory {
                return true;
            }
        }
        false
    }
}

impl Source for ReplaySource {
    type Op = CallOp;

    fn next(&mut self, now: Ns) -> Next<CallOp> {
        let start = *self.start.get_or_insert_with(|| {
            self.ended.fill(now);
            now
        });
        let next = self.next.take().or_else(|| self.cursor.take(&self.trace.calls));
        let Some(call) = next else {
            return if self.in_flight.is_empty() { Next::Done } else { Next::WaitForCompletion };
        };
        if self.in_flight.iter().any(|first| self.waits_for(first, &call)) {
            self.next = next;
            return Next::WaitForCompletion;
        }
        let mut intended_ns = None;
        if self.speed_milli > 0 {
            let due = match self.pauses {
                true => self.ended[usize::from(call.thread)].saturating_add(self.scaled(call.pause_ns)),
                false => start.saturating_add(self.scaled(call.at_ns)),
            };
            if due > now {
                self.next = next;
                return Next::WaitUntil(due);
            }
            intended_ns = Some(due).filter(|_| !self.pauses);
        }
        self.in_flight.push(call);
        let len = if matches!(call.kind, CallKind::Read | CallKind::Write) { call.bytes as u32 } else { 0 };
        Next::Op(CallOp { call, len, buffer: 0, intended_ns })
    }

    fn on_completion(&mut self, op: &CallOp, outcome: OpResult) {
        // A thread has one call in flight.
        if let Some(at) = self.in_flight.iter().position(|call| call.thread == op.call.thread) {
            self.in_flight.swap_remove(at);
        }
        self.ended[usize::from(op.call.thread)] = outcome.at_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CallFlag, PathNode, SharedFileTrace};

    const CREATE: u16 = CallFlag::WRITE | CallFlag::CREATE;

    /// Paths: 0 the top, 1 a directory, 2 and 3 files in it, 4 a file at the top.
    fn replayed(speed: u32, pauses: bool, calls: &[(u16, CallKind, u32, u32, u16, u64, u64)]) -> ReplaySource {
        let of = |&(thread, kind, path, handle, flags, at_ns, pause_ns): &(u16, CallKind, u32, u32, u16, u64, u64)| {
            FileCall { thread, kind, path, handle, flags, at_ns, pause_ns, second: NO_NUMBER, bytes: 10, offset: 0 }
        };
        let node = |parent, name| PathNode { parent, name };
        let trace = FileTrace {
            calls: calls.iter().map(of).collect(),
            paths: vec![node(0, 0), node(0, 1), node(1, 2), node(1, 3), node(0, 2)],
            ..FileTrace::default()
        };
        let trace = SharedFileTrace(Arc::new(trace));
        ReplaySource::new(&ReplayPlan {
            replay_speed_milli: speed,
            replay_pauses: pauses,
            trace,
            ..ReplayPlan::default()
        })
    }

    fn taken(next: Next<CallOp>) -> CallOp {
        if let Next::Op(op) = next { op } else { panic!("{next:?}") }
    }

    #[test]
    fn threads_run_beside_each_other_but_not_where_one_may_depend_on_another() {
        use CallKind::{Close, Mkdir, Open, Read, Unlink, Write};
        let none = NO_NUMBER;
        let mut r = replayed(
            0,
            false,
            &[
                (0, Mkdir, 1, none, 0, 0, 0),
                (1, Open, 4, 0, CREATE, 0, 0),
                (2, Open, 2, 1, CREATE, 0, 0),
                (1, Write, 4, 0, 0, 0, 0),
                (3, Read, 4, 0, 0, 0, 0),
                (0, Read, 4, 0, 0, 0, 0),
                (1, Close, 4, 0, 0, 0, 0),
                (0, Unlink, 3, none, 0, 0, 0),
            ],
        );
        let done = |r: &mut ReplaySource, op: &CallOp| r.on_completion(op, OpResult { at_ns: 0, result: Ok(op.len) });
        let (mkdir, opened) = (taken(r.next(0)), taken(r.next(0)));
        assert_eq!((mkdir.call.kind, opened.call.path, opened.len), (Mkdir, 4, 0));
        assert_eq!(r.next(0), Next::WaitForCompletion, "the directory of the file is being made");
        done(&mut r, &mkdir);
        let below = taken(r.next(0));
        assert_eq!(r.next(0), Next::WaitForCompletion, "its own open is in flight");
        done(&mut r, &opened);
        let write = taken(r.next(0));
        assert_eq!((write.len, write.sends_data()), (10, true));
        assert_eq!(r.next(0), Next::WaitForCompletion, "another thread writes what is read");
        done(&mut r, &write);
        let reads = [taken(r.next(0)), taken(r.next(0))];
        assert_eq!(r.next(0), Next::WaitForCompletion, "nothing is closed that is being read");
        done(&mut r, &reads[0]);
        done(&mut r, &reads[1]);
        let closed = taken(r.next(0));
        let gone = taken(r.next(0));
        assert_eq!((closed.call.kind, gone.call.kind), (Close, Unlink));
        for op in [&below, &closed] {
            done(&mut r, op);
        }
        assert_eq!(r.next(0), Next::WaitForCompletion);
        done(&mut r, &gone);
        assert_eq!(r.next(0), Next::Done);
    }

    #[test]
    fn moments_are_kept_or_pauses() {
        use CallKind::{Mkdir, Stat};
        let calls = [(0, Mkdir, 1, NO_NUMBER, 0, 0, 0), (0, Stat, 1, NO_NUMBER, 0, 4000, 1000)];
        let mut r = replayed(2000, false, &calls);
        let first = taken(r.next(100));
        assert_eq!((first.intended_ns, r.next(5000)), (Some(100), Next::WaitForCompletion));
        r.on_completion(&first, OpResult { at_ns: 1000, result: Ok(0) });
        assert_eq!(r.next(1000), Next::WaitUntil(2100));
        assert_eq!(taken(r.next(9000)).intended_ns, Some(2100), "late, and it is known how late");

        let mut r = replayed(1000, true, &calls);
        let first = taken(r.next(100));
        r.on_completion(&first, OpResult { at_ns: 70_000, result: Ok(0) });
        assert_eq!(r.next(70_000), Next::WaitUntil(71_000));
        assert_eq!(taken(r.next(71_000)).intended_ns, None);
    }
}
