//! The contract, test by test.

use engine::{Completion, Control, Device, DeviceError, StreamConfig, run_stream};
use model::{BlockPlan, Durability, IoPath, Operation, Order, StopCause, StopRule, StreamPlan, Sync};
use std::os::fd::OwnedFd;
use workload::{BlockOp, OpKind, Pattern};

pub const DEPTH: u32 = 8;
pub const BLOCK: usize = 4096;
pub const FILE_BYTES: u64 = 1 << 20;

/// A device under test and what may be expected of it.
pub struct Subject<D> {
    pub device: D,
    pub depth: u32,
    /// Whether what is read is what was written.
    pub keeps_data: bool,
}

impl<D: Device<Op = BlockOp>> Subject<D> {
    pub fn new(device: D, depth: u32) -> Self {
        Self { device, depth, keeps_data: true }
    }

    pub fn without_data(mut self) -> Self {
        self.keeps_data = false;
        self
    }
}

/// A file of [`FILE_BYTES`] zeros that vanishes when closed.
pub fn target() -> OwnedFd {
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(FILE_BYTES).expect("its length");
    file.into()
}

pub fn op(kind: OpKind, offset: u64, buffer: u32) -> BlockOp {
    let len = if kind == OpKind::Fsync { 0 } else { BLOCK as u32 };
    BlockOp { kind, offset, len, buffer, ..BlockOp::default() }
}

/// Unwraps a device, or says why the test cannot run here.
pub fn have<D>(made: Result<Subject<D>, DeviceError>) -> Option<Subject<D>> {
    match made {
        Ok(subject) => Some(subject),
        Err(error @ DeviceError::NoRing(_)) => {
            println!("SKIPPED: {error}; {}", error.remedy().unwrap_or_default());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Reaps until `count` completions are there; at most ten seconds of the device's time.
pub fn reap_all<D: Device<Op = BlockOp>>(device: &mut D, count: usize) -> Vec<Completion> {
    let mut out = Vec::with_capacity(count);
    let limit = device.now() + 10_000_000_000;
    while out.len() < count {
        let left = count - out.len();
        device.reap(left, limit, &mut out).expect("reap");
        assert!(device.now() < limit, "{} of {count} completed in ten seconds", out.len());
    }
    out
}

/// One operation, alone.
pub fn one<D: Device<Op = BlockOp>>(device: &mut D, op: BlockOp) -> Completion {
    device.submit(&[op]).expect("submit");
    reap_all(device, 1)[0]
}

pub fn each_completes_exactly_once<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, .. } = subject;
    for round in 0..20 {
        let ops: Vec<BlockOp> =
            (0..depth).map(|b| op(OpKind::Read, u64::from((b * 7 + round) % 256) * BLOCK as u64, b)).collect();
        let before = device.now();
        device.submit(&ops).expect("submit");
        let mut done = reap_all(&mut device, ops.len());
        assert!(done.iter().all(|c| c.result == Ok(BLOCK as u32)), "{done:?}");
        assert!(done.iter().all(|c| c.at_ns >= before), "a completion before its submission: {done:?} {before}");
        done.sort_by_key(|c| c.buffer);
        assert_eq!(done.iter().map(|c| c.buffer).collect::<Vec<_>>(), (0..depth).collect::<Vec<_>>());
        let mut none = Vec::with_capacity(4);
        device.reap(0, device.now(), &mut none).expect("reap");
        assert!(none.is_empty(), "completed twice: {none:?}");
    }
}

pub fn what_is_read_was_written<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, keeps_data } = subject;
    for (i, kind) in [OpKind::Write, OpKind::WriteSync].into_iter().enumerate() {
        for b in 0..depth {
            device.buffer(b).fill(b as u8 + 1 + i as u8 * 100);
        }
        let ops: Vec<BlockOp> = (0..depth).map(|b| op(kind, u64::from(b) * 3 * BLOCK as u64, b)).collect();
        device.submit(&ops).expect("submit");
        let done = reap_all(&mut device, ops.len());
        assert!(done.iter().all(|c| c.result == Ok(BLOCK as u32)), "{done:?}");
        assert_eq!(one(&mut device, op(OpKind::Fsync, 0, 0)).result, Ok(0));
        for b in 0..depth {
            device.buffer(b).fill(0);
        }
        for b in 0..depth {
            // Into another buffer than it was written from.
            let into = (b + 1) % depth;
            assert_eq!(one(&mut device, op(OpKind::Read, u64::from(b) * 3 * BLOCK as u64, into)).result, Ok(4096));
            let wanted = b as u8 + 1 + i as u8 * 100;
            assert!(!keeps_data || device.buffer(into).iter().all(|x| *x == wanted), "block {b} of {kind:?}");
        }
    }
}

pub fn the_clock_never_runs_backwards<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, .. } = subject;
    let mut last = device.now();
    for i in 0..200u64 {
        let completion = one(&mut device, op(OpKind::Read, (i % 256) * BLOCK as u64, 0));
        assert!(completion.at_ns >= last, "completed at {} after {last}", completion.at_ns);
        let now = device.now();
        assert!(now >= completion.at_ns, "now {now} before a completion at {}", completion.at_ns);
        last = now;
    }
}

pub fn polling_and_waiting<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, .. } = subject;
    let mut out = Vec::with_capacity(4);
    // Nothing is there: a poll returns at once, with `until` far away.
    device.reap(0, device.now() + 3_600_000_000_000, &mut out).expect("reap");
    assert!(out.is_empty());
    // Waiting with nothing in flight lets the time pass; a signal may cut it short, so it is asked again.
    let until = device.now() + 3_000_000;
    while device.now() < until {
        device.reap(1, until, &mut out).expect("reap");
    }
    assert!(out.is_empty());
    // A moment that has passed does not wait.
    let past = device.now();
    device.reap(1, past, &mut out).expect("reap");
    assert!(out.is_empty());
    // One of many is enough, and none is lost.
    assert_eq!(one(&mut device, op(OpKind::Read, 0, 0)).result, Ok(BLOCK as u32));
}

pub fn the_output_never_grows<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, .. } = subject;
    let ops: Vec<BlockOp> = (0..depth).map(|b| op(OpKind::Read, u64::from(b) * BLOCK as u64, b)).collect();
    device.submit(&ops).expect("submit");
    let mut seen = Vec::new();
    let limit = device.now() + 10_000_000_000;
    while seen.len() < ops.len() {
        let mut out = Vec::with_capacity(1);
        let capacity = out.capacity();
        device.reap(1, limit, &mut out).expect("reap");
        assert_eq!(out.capacity(), capacity);
        assert!(device.now() < limit);
        seen.extend(out.iter().map(|c| c.buffer));
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..depth).collect::<Vec<_>>());
}

pub fn errors_are_results<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, keeps_data, .. } = subject;
    if !keeps_data {
        println!("SKIPPED: this device has no failing operations");
        return;
    }
    // Beyond the largest offset of a file: EINVAL, from every path into the kernel.
    for kind in [OpKind::Read, OpKind::Write, OpKind::WriteSync] {
        let failed = one(&mut device, op(kind, i64::MAX as u64 + 1, 0));
        assert!(matches!(failed.result, Err(errno) if errno > 0), "{kind:?}: {failed:?}");
        // The device goes on, and the buffer is free again.
        device.buffer(0)[0] = 1;
        assert_eq!(one(&mut device, op(OpKind::Read, 0, 0)).result, Ok(BLOCK as u32));
    }
    // Past the end is a short transfer, not an error.
    assert_eq!(one(&mut device, op(OpKind::Read, FILE_BYTES, 0)).result, Ok(0));
    assert_eq!(one(&mut device, op(OpKind::Read, FILE_BYTES - 512, 0)).result, Ok(512));
}

pub fn a_buffer_that_is_too_small_is_refused<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, keeps_data, depth } = subject;
    let mut too_many: Vec<BlockOp> = (0..depth).map(|b| op(OpKind::Read, 0, b)).collect();
    if keeps_data {
        let long = BlockOp { len: BLOCK as u32 + 1, ..op(OpKind::Read, 0, 0) };
        assert!(matches!(device.submit(&[long]), Err(DeviceError::BadOperation(_))));
    }
    too_many.push(op(OpKind::Read, 0, depth));
    assert!(matches!(device.submit(&too_many), Err(DeviceError::BadOperation(_))));
}

pub fn the_pool_outlives_the_device<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, keeps_data } = subject;
    device.buffer(depth - 1).fill(9);
    if keeps_data {
        one(&mut device, op(OpKind::Write, 0, depth - 1));
    }
    match device.into_pool() {
        Some(pool) => {
            assert_eq!((pool.count(), pool.buffer_bytes()), (depth, BLOCK));
            assert!(pool.buffer(depth - 1).iter().all(|b| *b == 9));
        }
        // A simulated device has scratch memory of its own.
        None => assert!(!keeps_data),
    }
}

fn settings(depth: u32) -> StreamConfig {
    StreamConfig {
        depth,
        batch_submit: Some(depth),
        time_limit_ns: 10_000_000_000,
        stop: StopRule::RegionOnce,
        interval_ns: 10_000_000,
        content_seed: Some(7),
        drain_limit_ns: 10_000_000_000,
        ..StreamConfig::default()
    }
}

pub fn plan(operation: Operation, order: Order, sync: Sync, depth: u32) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation,
            order,
            block_size_bytes: BLOCK as u64,
            region_start_bytes: 0,
            region_bytes: FILE_BYTES,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        durability: Durability {
            sync,
            round_bytes: (sync == Sync::FsyncPerRound).then_some(16 * BLOCK as u64),
            ..Durability::default()
        },
        seed: 3,
        ..StreamPlan::default()
    }
}

pub fn the_loop_accounts_for_everything<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, .. } = subject;
    let blocks = FILE_BYTES / BLOCK as u64;
    for (operation, order, sync) in [
        (Operation::Write, Order::Sequential, Sync::FsyncAtEnd),
        (Operation::Write, Order::Random, Sync::FsyncPerRound),
        (Operation::Write, Order::Random, Sync::FdatasyncEach),
        (Operation::Read, Order::Random, Sync::None),
    ] {
        for (batch_submit, batch_complete) in [(Some(depth), 1), (Some(1), 1), (Some(depth), depth), (None, 1)] {
            let mut source = Pattern::new(plan(operation, order, sync, depth).blocks().unwrap(), true);
            let settings = StreamConfig { batch_submit, batch_complete, ..settings(depth) };
            let control = Control::default();
            let record = run_stream(&mut device, &mut source, &settings, &control).expect("the loop");
            let label = format!("{operation:?} {order:?} {sync:?} {batch_submit:?}/{batch_complete}");
            assert_eq!(record.stop, StopCause::RegionDone, "{label}");
            assert_eq!((record.operations, record.bytes), (blocks, FILE_BYTES), "{label}");
            assert_eq!(record.latency.count() + record.warmup.operations, blocks, "{label}");
            assert_eq!(record.intervals.iter().map(|i| i.operations).sum::<u64>(), blocks, "{label}");
            assert!(record.errors.is_empty() && record.short_operations == 0, "{label}");
            let rounds = match sync {
                Sync::FsyncAtEnd => 1,
                Sync::FsyncPerRound => blocks / 16,
                _ => 0,
            };
            assert_eq!(record.rounds.len() as u64, rounds, "{label}");
            assert!(record.mean_depth.is_none_or(|mean| mean <= f64::from(depth)), "{label}: deeper than {depth}");
        }
    }
}

pub fn the_loop_ends_when_told<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, .. } = subject;
    let mut source = Pattern::new(plan(Operation::Read, Order::Random, Sync::None, depth).blocks().unwrap(), false);
    let control = Control::default();
    let limited = StreamConfig { time_limit_ns: 30_000_000, stop: StopRule::Time, ..settings(depth) };
    let record = run_stream(&mut device, &mut source, &limited, &control).expect("the loop");
    assert_eq!(record.stop, StopCause::TimeUsed);
    assert!(record.operations > 0);
    assert!(record.intervals.len() >= 3, "{:?}", record.intervals);
    // Nothing was left behind in the device.
    let mut out = Vec::with_capacity(1);
    device.reap(0, device.now(), &mut out).expect("reap");
    assert!(out.is_empty());
    control.stop();
    let mut source = Pattern::new(plan(Operation::Read, Order::Random, Sync::None, depth).blocks().unwrap(), false);
    let record = run_stream(&mut device, &mut source, &limited, &control).expect("the loop");
    assert_eq!((record.stop, record.operations), (StopCause::Interrupted, 0));
}

pub fn the_first_error_ends_the_phase<D: Device<Op = BlockOp>>(subject: Subject<D>) {
    let Subject { mut device, depth, keeps_data } = subject;
    if !keeps_data {
        println!("SKIPPED: this device has no failing operations");
        return;
    }
    // A region that runs beyond the largest offset of a file, so that its second half fails.
    let blocks = 64;
    let start = (i64::MAX as u64 + 1) - blocks / 2 * BLOCK as u64;
    let stream = StreamPlan {
        kind: BlockPlan {
            region_start_bytes: start,
            region_bytes: blocks * BLOCK as u64,
            ..plan(Operation::Read, Order::Sequential, Sync::None, depth).blocks().unwrap().block.clone()
        }
        .into(),
        ..plan(Operation::Read, Order::Sequential, Sync::None, depth)
    };
    let mut source = Pattern::new(stream.blocks().unwrap(), true);
    let record = run_stream(&mut device, &mut source, &settings(depth), &Control::default()).expect("the loop");
    assert_eq!(record.stop, StopCause::Failed);
    assert!(!record.errors.is_empty());
    // What was measured before stays: reads beyond the end of the file, but not of what a file may be, are short.
    assert!(record.operations > 0 && record.operations < blocks);
    assert_eq!(record.short_operations, record.operations);
}

/// All tests of the contract for one device.
macro_rules! tests {
    ($make:expr) => {
        $crate::contract::suite::tests!($make;
            each_completes_exactly_once what_is_read_was_written the_clock_never_runs_backwards polling_and_waiting
            the_output_never_grows errors_are_results a_buffer_that_is_too_small_is_refused
            the_loop_accounts_for_everything the_loop_ends_when_told the_first_error_ends_the_phase
            the_pool_outlives_the_device);
    };
    ($make:expr; $($test:ident)*) => { $(
        #[test]
        fn $test() {
            fn made<D>(make: impl FnOnce() -> Result<Subject<D>, DeviceError>) -> Option<Subject<D>> {
                $crate::contract::suite::have(make())
            }
            if let Some(subject) = made($make) {
                $crate::contract::suite::$test(subject);
            }
        }
    )* };
}
pub(crate) use tests;
