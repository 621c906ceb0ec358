//! Phases as the check-up plans them, shortened.

use engine::{Attempt, Control, FileOptions, FileRig, FileTarget, Rig};
use model::{
    Access, BlockPlan, Durability, EngineKind, Failure, IoPath, Operation, Order, PhaseKind, PhasePlan, PhaseRecord,
    StopRule, StreamPlan, Sync, TargetKind, Warmup,
};
use std::path::Path;
use sys::{OpenMode, SymlinkPolicy};

pub const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

fn phase(
    name: &str,
    operation: Operation,
    order: Order,
    access: Access,
    block: u64,
    depth: u32,
    bytes: u64,
) -> PhasePlan {
    PhasePlan {
        name: name.into(),
        kind: PhaseKind::Measure,
        engine: if access == Access::Direct { EngineKind::IoUring } else { EngineKind::Psync },
        access,
        cold: false,
        drop_cache: false,
        streams: vec![StreamPlan {
            kind: BlockPlan {
                operation,
                order,
                block_size_bytes: block,
                region_start_bytes: 0,
                region_bytes: bytes,
                ..BlockPlan::default()
            }
            .into(),
            path: IoPath { queue_depth: depth, ..IoPath::default() },
            durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
            seed: name.len() as u64,
            ..StreamPlan::default()
        }],
        time_limit_ns: 200 * MS,
        stop: StopRule::Time,
        warmup: Warmup { min_ns: 20 * MS, share: 0.05, max_ns: 100 * MS },
        ranks: None,
        skip: None,
    }
    .alike()
}

pub fn layout(bytes: u64) -> PhasePlan {
    let mut p = phase("layout", Operation::Write, Order::Sequential, Access::Direct, MIB, 8, bytes);
    p.kind = PhaseKind::Layout;
    p.stop = StopRule::RegionOnce;
    p.streams[0].durability.sync = Sync::FsyncAtEnd;
    p.time_limit_ns = 60_000 * MS;
    p
}

pub fn seq_read(bytes: u64) -> PhasePlan {
    phase("seq-read", Operation::Read, Order::Sequential, Access::Direct, MIB, 8, bytes)
}

pub fn seq_write(bytes: u64) -> PhasePlan {
    phase("seq-write", Operation::Write, Order::Sequential, Access::Direct, MIB, 8, bytes)
}

pub fn rand_read(bytes: u64, depth: u32) -> PhasePlan {
    phase("rand-read", Operation::Read, Order::Random, Access::Direct, 4096, depth, bytes)
}

pub fn rand_write(bytes: u64, depth: u32) -> PhasePlan {
    phase("rand-write", Operation::Write, Order::Random, Access::Direct, 4096, depth, bytes)
}

pub fn buffered_read(bytes: u64) -> PhasePlan {
    let mut p = phase("buffered-read", Operation::Read, Order::Sequential, Access::Buffered, MIB, 1, bytes);
    p.cold = true;
    p.stop = StopRule::RegionOnce;
    p.time_limit_ns = 20_000 * MS;
    p
}

pub fn buffered_write(bytes: u64, round: u64) -> PhasePlan {
    let mut p = phase("buffered-write", Operation::Write, Order::Sequential, Access::Buffered, MIB, 1, bytes);
    p.streams[0].durability.sync = Sync::FsyncPerRound;
    p.streams[0].durability.round_bytes = Some(round);
    p
}

pub fn sync_write(bytes: u64) -> PhasePlan {
    let mut p = phase("sync-write", Operation::Write, Order::Random, Access::Buffered, 4096, 1, bytes);
    p.streams[0].durability.sync = Sync::FdatasyncEach;
    p
}

/// All phases of the check-up that go to the target.
pub fn all(bytes: u64) -> Vec<PhasePlan> {
    vec![
        layout(bytes),
        seq_write(bytes),
        buffered_write(bytes, 4 * MIB),
        seq_read(bytes),
        buffered_read(bytes),
        rand_read(bytes, 1),
        rand_read(bytes, 32),
        sync_write(bytes),
        rand_write(bytes, 1),
        rand_write(bytes, 32),
    ]
}

/// The target as admission hands it over, without its decisions.
pub fn target(path: &Path, writable: bool) -> Result<FileTarget, Failure> {
    let handle = sys::open_handle(path, SymlinkPolicy::Follow).map_err(|e| engine::refusal(Attempt::Look, path, &e))?;
    let kind = engine::classify(&handle, path)?;
    let mode = if writable { OpenMode::ReadWrite } else { OpenMode::Read };
    let file = match kind {
        TargetKind::Directory => handle,
        _ => sys::open_through(&handle, mode).map_err(|e| engine::refusal(Attempt::OpenRead, path, &e))?,
    };
    Ok(FileTarget { path: path.to_owned(), file, claims: Vec::new(), kind, writable })
}

pub fn open(path: &Path, writable: bool, options: FileOptions) -> Result<FileRig, Failure> {
    FileRig::open(target(path, writable)?, options)
}

pub fn run(rig: &mut FileRig, phase: &PhasePlan) -> PhaseRecord {
    rig.run(phase, &Control::default()).unwrap_or_else(|f| panic!("{}: {f} ({:?})", phase.name, f.remedy))
}

/// One line of what a record says of its truth.
pub fn shown(phase: &PhasePlan, r: &PhaseRecord) -> String {
    let rate = r.bytes as f64 / 1e6 / (r.duration_ns().max(1) as f64 / 1e9);
    format!(
        "{:<14} qd{:<2} {rate:>8.1} MB/s {:>7} ops {:?} {:?} errors {:?}\n      direct {:?}\n      cold {:?}\n      data {:?}\n      missing {:?}",
        phase.name,
        phase.queue_depth(),
        r.operations,
        r.engine.kind,
        r.stop,
        r.errors,
        r.direct,
        r.cold,
        r.data,
        r.engine.missing,
    )
}

pub fn options(filesystem: &str) -> FileOptions {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|s| s.trim().to_owned());
    FileOptions {
        filesystem: Some(filesystem.to_owned()),
        kernel,
        memory_available_bytes: Some(1 << 30),
        ..FileOptions::default()
    }
}

/// The type of the file system that a directory lies on, as far as these tests tell them apart.
pub fn filesystem_of(directory: &Path) -> &'static str {
    let Ok(file) = sys::open_directory(directory) else { return "unknown" };
    match sys::space_of(&file).map(|s| s.magic) {
        Ok(0x0102_1994) => "tmpfs",
        Ok(0xef53) => "ext4",
        Ok(0x5846_5342) => "xfs",
        Ok(0x9123_683e) => "btrfs",
        Ok(0x794c_7630) => "overlay",
        _ => "unknown",
    }
}

/// What texts may ask of the machine.
pub const MACHINE: spec::TextMachine =
    spec::TextMachine { page_size_bytes: 4096, memory_bytes: 1 << 30, processors: 2 };

/// A workload in TOML, with these keys set.
pub fn workload(text: &str, set: &[(&str, &str)]) -> spec::Workload {
    let (includes, variables) = Default::default();
    let set: Vec<(String, String)> = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let inputs = spec::TextInputs {
        file: "test",
        text,
        includes: &includes,
        set: &set,
        variables: &variables,
        machine: MACHINE,
        lenient: false,
    };
    spec::parse_workload(&inputs).unwrap_or_else(|e| panic!("{e:?}"))
}
