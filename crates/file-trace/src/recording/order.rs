//! Calls in the order in which they started, in little memory: they are told in the order in which they came back.

use model::{FileCall, FileTrace, Ns, PackedCalls};
use std::collections::{BTreeMap, HashMap};

/// Calls among which the earliest is known, so that those before it can be given out.
const BLOCK: usize = 4096;

/// In the order in which the calls started (they are told when they came back), from the first one on.
pub(super) fn in_start_order(mut trace: FileTrace) -> FileTrace {
    let mut earliest: Vec<Ns> = Vec::new();
    let mut threads = HashMap::new();
    let mut last = 0;
    let mut is_sorted = true;
    for (number, call) in trace.calls.iter().enumerate() {
        if number.is_multiple_of(BLOCK) {
            earliest.push(Ns::MAX);
        }
        earliest[number / BLOCK] = earliest[number / BLOCK].min(call.at_ns);
        is_sorted &= last <= call.at_ns;
        last = call.at_ns;
    }
    // The earliest of a block and of all behind it.
    (1..earliest.len()).rev().for_each(|block| earliest[block - 1] = earliest[block - 1].min(earliest[block]));
    let first = earliest.first().copied().unwrap_or(0);
    if is_sorted && first == 0 && trace.calls.iter().all(|call| call.thread == 0) {
        trace.calls.shrink();
        return trace;
    }
    let mut ordered = PackedCalls::default();
    let mut give = |mut call: FileCall| {
        call.at_ns -= first;
        let next = threads.len() as u16;
        call.thread = *threads.entry(call.thread).or_insert(next);
        ordered.push(call);
    };
    // What waits for an earlier one that is told later.
    let mut waiting: BTreeMap<(Ns, usize), FileCall> = BTreeMap::new();
    for (number, call) in trace.calls.iter().enumerate() {
        waiting.insert((call.at_ns, number), call);
        if (number + 1).is_multiple_of(BLOCK) {
            let later = earliest.get((number + 1) / BLOCK).copied().unwrap_or(Ns::MAX);
            while let Some(call) = waiting.first_entry().filter(|call| call.key().0 < later) {
                give(call.remove());
            }
        }
    }
    waiting.into_values().for_each(give);
    ordered.shrink();
    trace.calls = ordered;
    trace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_are_told_late_stand_where_they_started() {
        // Every hundredth takes as long as half of all, and so is told so much later.
        let count = 5 * BLOCK as u64 + 7;
        let call = |at: u64| FileCall {
            at_ns: 500 + 10 * at,
            thread: 3 + at.is_multiple_of(100) as u16,
            offset: at,
            ..FileCall::default()
        };
        let mut told: Vec<(u64, FileCall)> =
            (0..count).map(|at| (if at.is_multiple_of(100) { at + count / 2 } else { at }, call(at))).collect();
        told.sort_by_key(|(when, _)| *when);
        let calls: PackedCalls = told.iter().map(|(_, call)| *call).collect();
        assert!(!calls.iter().map(|c| c.at_ns).is_sorted());
        let ordered = in_start_order(FileTrace { calls, ..FileTrace::default() }).calls;
        assert_eq!(ordered.len() as u64, count);
        for (at, call) in ordered.iter().enumerate() {
            let thread = u16::from(!at.is_multiple_of(100));
            assert_eq!((call.at_ns, call.offset, call.thread), (10 * at as u64, at as u64, thread));
        }
        // What is in order stays as it is.
        let calls: PackedCalls = (0..3).map(|at| FileCall { at_ns: at, ..FileCall::default() }).collect();
        assert_eq!(in_start_order(FileTrace { calls: calls.clone(), ..FileTrace::default() }).calls, calls);
        assert!(in_start_order(FileTrace::default()).calls.is_empty());
    }
}
