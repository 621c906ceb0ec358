//! What happens when operations fail in the middle of a phase: they are counted by their errno, the phase ends or goes on as
//! the plan says, and nothing spins, hangs or ends the program. Needs neither root nor devices; see `real_devices.rs` for
//! full file systems and devices that vanish.

use crate::phases::{MIB, filesystem_of, open, options};
use engine::{Completion, Control, Device, DeviceError, PhaseShared, Rig, StreamConfig, run_worker};
use model::{
    Access, BlockPlan, EngineKind, ErrorPolicy, IoPath, Limits, Ns, Operation, Order, PhasePlan, PhaseRecord, RwFlags,
    StopCause, StopRule, StreamPlan,
};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::time::Duration;
use workload::{BlockOp, Pattern};

const MS: Ns = 1_000_000;

/// A device in time of its own, each of whose operations takes a millisecond and ends as the script says.
struct Scripted<F> {
    now: Ns,
    flying: Vec<BlockOp>,
    buffer: Vec<u8>,
    count: u64,
    script: F,
}

impl<F: FnMut(u64, &BlockOp) -> Result<u32, i32>> Device for Scripted<F> {
    type Op = BlockOp;

    fn now(&self) -> Ns {
        self.now
    }

    fn buffer(&mut self, _index: u32) -> &mut [u8] {
        &mut self.buffer
    }

    fn submit(&mut self, ops: &[BlockOp]) -> Result<(), DeviceError> {
        self.flying.extend_from_slice(ops);
        Ok(())
    }

    fn reap(&mut self, min: usize, until: Ns, out: &mut Vec<Completion>) -> Result<(), DeviceError> {
        if self.flying.is_empty() {
            if min > 0 {
                self.now = self.now.max(until);
            }
            return Ok(());
        }
        let op = self.flying.remove(0);
        self.now += MS;
        self.count += 1;
        out.push(Completion { buffer: op.buffer, result: (self.script)(self.count, &op), at_ns: self.now });
        Ok(())
    }
}

fn run(stream: &StreamPlan, script: impl FnMut(u64, &BlockOp) -> Result<u32, i32>) -> PhaseRecord {
    let phase = PhasePlan { time_limit_ns: 86_400_000 * MS, ..PhasePlan::default() };
    let mut device = Scripted { now: 0, flying: Vec::new(), buffer: vec![0; 4096], count: 0, script };
    let settings = StreamConfig { content_seed: None, ..StreamConfig::of(&phase, stream, 100 * MS) };
    let barrier = PhaseShared::new(1, &phase.stop);
    let mut source = Pattern::new(stream.blocks().unwrap(), false);
    let record = run_worker(
        &mut device,
        &mut source,
        &mut None::<engine::DataGenerator>,
        &settings,
        &barrier,
        &Control::default(),
    );
    record.unwrap_or_else(|e| panic!("{e}"))
}

fn stream() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { order: Order::Random, region_bytes: MIB, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 4, ..IoPath::default() },
        seed: 1,
        ..StreamPlan::default()
    }
}

fn goes_on() -> StreamPlan {
    StreamPlan { on_error: ErrorPolicy::Continue, ..stream() }
}

fn errors(of: &[(&str, u64)]) -> BTreeMap<String, u64> {
    of.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

const EIO: i32 = 5;
const ENXIO: i32 = 6;
const EAGAIN: i32 = 11;
const ENODEV: i32 = 19;
const ENOSPC: i32 = 28;

#[test]
fn the_first_error_ends_a_stream_that_stops() {
    let record = run(&stream(), |n, op| if n == 100 { Err(ENOSPC) } else { Ok(op.len) });
    assert_eq!(record.stop, StopCause::Failed);
    // Those in flight are still waited for.
    assert_eq!((record.operations, record.errors), (102, errors(&[("ENOSPC", 1)])));
}

#[test]
fn a_stream_that_goes_on_counts_and_gives_up_only_without_hope() {
    let limited = StreamPlan { limits: Limits { total_operations: Some(10_000), ..goes_on().limits }, ..goes_on() };
    let record = run(&limited, |n, op| if n % 2 == 0 { Err(EIO) } else { Ok(op.len) });
    assert_eq!(record.stop, StopCause::RegionDone);
    assert_eq!((record.operations, record.errors["EIO"]), (5_000, 5_000));

    // 999 failures and a success, over and over, is hope; one more is none.
    let record = run(&limited, |n, op| if n % 1000 == 0 { Ok(op.len) } else { Err(EIO) });
    assert_eq!(record.stop, StopCause::RegionDone);
    let record = run(&goes_on(), |n, op| if n <= 10 { Ok(op.len) } else { Err(EIO) });
    assert_eq!((record.stop, record.operations), (StopCause::Failed, 10));
    assert!((1_000..1_010).contains(&record.errors["EIO"]), "{:?}", record.errors);
    assert!(record.ended_ns < 2_000 * MS);
}

#[test]
fn a_device_that_is_gone_is_not_asked_again() {
    for (errno, name) in [(ENODEV, "ENODEV"), (ENXIO, "ENXIO"), (123, "ENOMEDIUM")] {
        let record = run(&goes_on(), |n, op| if n < 50 { Ok(op.len) } else { Err(errno) });
        assert_eq!((record.stop, record.operations), (StopCause::Failed, 49));
        assert!(record.errors[name] <= 5, "{:?}", record.errors);
    }
    // A device of no length any more reads as nothing at all, and never fails.
    let record = run(&stream(), |n, op| Ok(if n < 50 { op.len } else { 0 }));
    assert_eq!(record.stop, StopCause::Failed);
    assert!(record.short_operations >= 1_000 && record.short_operations < 1_010);
}

#[test]
fn try_again_is_tried_again_for_some_seconds() {
    // Once, here and there: no error.
    let limited = StreamPlan { limits: Limits { total_operations: Some(1_000), ..stream().limits }, ..stream() };
    let record = run(&limited, |n, op| if n % 3 == 0 { Err(EAGAIN) } else { Ok(op.len) });
    assert_eq!((record.stop, record.operations), (StopCause::RegionDone, 1_000));
    assert!(record.errors.is_empty(), "{:?}", record.errors);
    // For ever: an error.
    let record = run(&stream(), |n, op| if n < 100 { Ok(op.len) } else { Err(EAGAIN) });
    assert_eq!((record.stop, record.operations), (StopCause::Failed, 99));
    assert!((5_000 * MS..6_000 * MS).contains(&record.ended_ns), "{}", record.ended_ns);
    // With RWF_NOWAIT it is an answer, and each is counted.
    let nowait = StreamPlan {
        path: IoPath { rw_flags: RwFlags { nowait: true, ..RwFlags::default() }, ..limited.path.clone() },
        ..limited
    };
    let record = run(&nowait, |n, op| if n % 2 == 0 { Err(EAGAIN) } else { Ok(op.len) });
    assert_eq!((record.stop, record.errors["EAGAIN"]), (StopCause::RegionDone, 500));
}

fn phase(engine: EngineKind, stream: StreamPlan) -> PhasePlan {
    PhasePlan {
        name: "p".into(),
        engine,
        access: Access::Buffered,
        streams: vec![stream],
        time_limit_ns: 20_000 * MS,
        stop: StopRule::Time,
        ..PhasePlan::default()
    }
    .alike()
}

#[test]
fn a_mapped_file_that_is_cut_short_is_an_error_and_not_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    let file = std::fs::File::create(&path).unwrap();
    file.write_all_at(&vec![1; 8 * MIB as usize], 0).unwrap();
    for operation in [Operation::Read, Operation::Write] {
        file.set_len(8 * MIB).unwrap();
        let mut rig = open(&path, true, options(filesystem_of(directory.path()))).unwrap();
        let one = StreamPlan {
            kind: BlockPlan { operation, region_bytes: 8 * MIB, ..goes_on().blocks().unwrap().block.clone() }.into(),
            path: IoPath { queue_depth: 1, ..goes_on().path.clone() },
            ..goes_on()
        };
        let plan = PhasePlan { time_limit_ns: 600 * MS, ..phase(EngineKind::Mmap, one) };
        let record = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(200));
                file.set_len(4 * MIB).unwrap();
            });
            rig.run(&plan, &Control::default()).unwrap()
        });
        assert_eq!(record.stop, StopCause::TimeUsed, "half of the file is still there");
        assert!(record.operations > 0);
        assert!(record.errors["EIO"] > 0, "{:?}", record.errors);
    }
}

/// Run by the test below in a process of its own, whose limit is lowered.
#[test]
fn victim_of_a_limit() {
    let Some(directory) = std::env::var_os("NARROWS_TEST_LIMITED") else { return };
    let directory = std::path::Path::new(&directory);
    let mut rig = open(directory, true, options(filesystem_of(directory))).unwrap();
    let limit = rustix::process::Rlimit { current: Some(2 * MIB), maximum: None };
    rustix::process::setrlimit(rustix::process::Resource::Fsize, limit).unwrap();
    for engine in [EngineKind::Psync, EngineKind::IoUring, EngineKind::PsyncThreads] {
        let write = StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                order: Order::Sequential,
                block_size_bytes: 65536,
                region_bytes: 8 * MIB,
                ..stream().blocks().unwrap().block.clone()
            }
            .into(),
            path: IoPath { queue_depth: 1, ..stream().path.clone() },
            ..stream()
        };
        let record = rig.run(&phase(engine, write), &Control::default()).unwrap();
        assert_eq!((record.stop, record.errors), (StopCause::Failed, errors(&[("EFBIG", 1)])), "{engine:?}");
        assert_eq!(record.bytes, 2 * MIB);
    }
    println!("lived");
}

#[test]
fn a_limit_of_file_size_is_an_error_and_not_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["errors::victim_of_a_limit", "--exact", "--nocapture"])
        .env("NARROWS_TEST_LIMITED", directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("lived"), "{:?}: {text}", output.status);
}
