//! After the ramp the loop takes no memory: what a run allocates does not depend on how long it runs.
//!
//! `allocation-counter` counts the allocations of the calling thread. The ramp and the record at the end take memory, so
//! a short and a long run are compared: a single allocation in the loop would show a thousandfold.

use engine::{Control, Device, NullDevice, PsyncDevice, PsyncThreads, StreamConfig, UringDevice, run_stream};
use model::{BlockPlan, Durability, IoPath, Limits, Ns, Operation, Order, StopRule, StreamPlan, Sync, Warmup};
use std::os::fd::OwnedFd;
use sys::{BufferPool, Epoch, RingOptions};
use workload::{BlockOp, Next, OpResult, Pattern, Source};

const BLOCK: u64 = 4096;
const FILE_BYTES: u64 = 1 << 20;

/// Ends a stream after so many operations or so much time.
struct Limited {
    stream: Pattern,
    operations: u64,
}

impl Source for Limited {
    type Op = BlockOp;

    fn next(&mut self, now: Ns) -> Next<BlockOp> {
        if self.operations == 0 {
            return Next::Done;
        }
        let next = self.stream.next(now);
        self.operations -= u64::from(matches!(next, Next::Op(_)));
        next
    }

    fn on_completion(&mut self, op: &BlockOp, outcome: OpResult) {
        self.stream.on_completion(op, outcome);
    }
}

fn pool(count: u32) -> BufferPool {
    BufferPool::new(count, BLOCK as usize).expect("memory")
}

fn target() -> OwnedFd {
    let file = tempfile::tempfile().expect("a temporary file");
    file.set_len(FILE_BYTES).expect("its length");
    file.into()
}

fn run<D: Device<Op = BlockOp>>(device: &mut D, depth: u32, operation: Operation, operations: u64) -> u64 {
    let stream = StreamPlan {
        kind: BlockPlan {
            operation,
            order: Order::Random,
            block_size_bytes: BLOCK,
            region_start_bytes: 0,
            region_bytes: FILE_BYTES,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        durability: Durability {
            sync: if operation == Operation::Write { Sync::FsyncPerRound } else { Sync::None },
            round_bytes: Some(64 * BLOCK),
            ..Durability::default()
        },
        seed: 1,
        ..StreamPlan::default()
    };
    let mut source = Limited { stream: Pattern::new(stream.blocks().unwrap(), false), operations };
    let settings = StreamConfig {
        depth,
        // Far more intervals than are kept: they are joined during the run.
        time_limit_ns: 600_000_000_000,
        stop: StopRule::EarlyWhenSteady { half_width_ratio: -1.0 },
        warmup: Warmup { min_ns: 1_000_000, share: 0.0, max_ns: 1_000_000 },
        interval_ns: 20_000,
        content_seed: Some(5),
        ..StreamConfig::default()
    };
    let control = Control::default();
    // Somebody wants the series as it comes.
    control.series.open(false);
    let mut recorded = 0;
    let counted = allocation_counter::measure(|| {
        let record = run_stream(device, &mut source, &settings, &control).expect("the loop");
        recorded = record.operations;
        std::hint::black_box(&record);
    });
    assert!(recorded > 0);
    counted.count_total
}

fn check<D: Device<Op = BlockOp>>(device: &mut D, depth: u32, long: u64) {
    for operation in [Operation::Read, Operation::Write] {
        // The very first run pays for what is made once in a process.
        run(device, depth, operation, 200);
        let (few, many) = (run(device, depth, operation, 200), run(device, depth, operation, long));
        assert_eq!(few, many, "{operation:?}: {few} allocations in a short run, {many} in a long one");
    }
}

/// A device that does nothing, whose clock runs a millisecond at each look: minutes pass, so that the early-stop rule
/// looks at the series again and again.
struct Hasty {
    null: NullDevice,
    now: std::cell::Cell<Ns>,
}

impl Device for Hasty {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.now.set(self.now.get() + 1_000_000);
        self.now.get()
    }

    fn buffer(&mut self, index: u32) -> &mut [u8] {
        self.null.buffer(index)
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), engine::DeviceError> {
        self.null.submit(ops)
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<engine::Completion>) -> Result<(), engine::DeviceError> {
        let first = out.len();
        self.null.reap(min, until, out)?;
        let now = self.now();
        out[first..].iter_mut().for_each(|c| c.at_ns = now);
        Ok(())
    }
}

#[test]
fn looking_for_steadiness() {
    let null = NullDevice::new(Epoch::start(), pool(8));
    check(&mut Hasty { null, now: std::cell::Cell::new(0) }, 8, 100_000);
}

#[test]
fn null() {
    check(&mut NullDevice::new(Epoch::start(), pool(32)), 32, 3_000_000);
}

#[test]
fn psync() {
    check(&mut PsyncDevice::new(Epoch::start(), target(), pool(1)), 1, 50_000);
}

#[test]
fn psync_threads() {
    check(&mut PsyncThreads::new(Epoch::start(), target(), pool(4), None).expect("a device"), 4, 20_000);
}

/// A stream that verifies, by the rig: reads, writes, checks and the read-back.
#[test]
fn verifying() {
    let image =
        tempfile::NamedTempFile::new_in("/dev/shm").or_else(|_| tempfile::NamedTempFile::new()).expect("a file");
    std::fs::write(image.path(), vec![0; FILE_BYTES as usize]).expect("its content");
    let file = sys::open_existing(image.path(), sys::OpenMode::ReadWrite).unwrap();
    let kind = model::TargetKind::File;
    let target = engine::FileTarget { path: image.path().into(), file, claims: Vec::new(), kind, writable: true };
    let mut rig = engine::FileRig::open(target, engine::FileOptions::default()).expect("a rig");
    let mut run = |operations: u64| {
        let stream = StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                mix: Some(model::Mix { read_percent: 50 }),
                order: Order::RandomReplace,
                region_bytes: FILE_BYTES,
                ..BlockPlan::default()
            }
            .into(),
            path: IoPath { queue_depth: 1, ..IoPath::default() },
            limits: Limits { total_operations: Some(operations), ..Limits::default() },
            verify: Some(model::Verify { kind: model::VerifyKind::Stamp, read_back: true, stop_at_first: false }),
            ..StreamPlan::default()
        };
        let phase = model::PhasePlan {
            name: "verified".into(),
            engine: model::EngineKind::Psync,
            streams: vec![stream],
            time_limit_ns: 600_000_000_000,
            stop: StopRule::Amount,
            ..model::PhasePlan::default()
        }
        .alike();
        let mut verified = 0;
        let counted = allocation_counter::measure(|| {
            let record = engine::Rig::run(&mut rig, &phase, &Control::default()).expect("the phase");
            let verify = record.verify.expect("it verifies");
            assert!(verify.is_clean(), "{verify:?}");
            verified = verify.blocks_verified;
        });
        assert!(verified > 0);
        counted.count_total
    };
    // The first runs pay for what is made once, and write all there is, so that the read-backs are alike.
    for _ in 0..2 {
        run(5_000);
    }
    let (few, many) = (run(5_000), run(60_000));
    // Intervals and the words of the record may differ by a few; operations would by tens of thousands.
    assert!(few.abs_diff(many) < 200, "{few} allocations in a short run, {many} in a long one");
}

#[test]
fn uring() {
    match UringDevice::new(Epoch::start(), target(), pool(32), RingOptions::default()) {
        Ok(mut device) => check(&mut device, 32, 50_000),
        Err(error) => println!("SKIPPED: {error}; {}", error.remedy().unwrap_or_default()),
    }
}
