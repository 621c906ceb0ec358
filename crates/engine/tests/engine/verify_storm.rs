//! Verified data under overlapping reads and writes of many sizes, many in flight: nothing was damaged, so nothing may be found.

use crate::phases::MIB;
use crate::verified_file::{Bench, bench_in, phase, verify};
use model::{
    Access, BlockPlan, BlockSize, BlockSizes, Durability, EngineKind, Flush, IoPath, Limits, Mix, Operation, Order,
    PhasePlan, ReadBack, StopRule, StreamPlan,
};
use std::path::Path;

/// Reads and writes of 4 to 64 KiB at any place of a small region, 32 in flight, with syncs.
fn storm(operations: u64, access: Access, engine: EngineKind, depth: u32, seed: u64) -> PhasePlan {
    let sizes = BlockSize::Range { min_bytes: 4096, max_bytes: 65_536, step_bytes: 4096 };
    let stream = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            order: Order::RandomReplace,
            block_size_bytes: 65_536,
            block_sizes: Some(BlockSizes { read: sizes.clone(), write: sizes.clone(), trim: sizes }),
            align_bytes: Some(4096),
            mix: Some(Mix { read_percent: 50 }),
            region_bytes: 4 * MIB,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        durability: Durability {
            flush: Flush { fsync_every: 1009, fdatasync_every: 307, fsync_at_end: true },
            ..Durability::default()
        },
        limits: Limits { total_operations: Some(operations), ..Limits::default() },
        seed,
        verify: verify(true),
        ..StreamPlan::default()
    };
    PhasePlan { stop: StopRule::Amount, access, engine, ..phase(vec![stream]) }.alike()
}

fn no_alarm(bench: &mut Bench, plan: &PhasePlan) {
    let record = bench.run(plan);
    assert_eq!(record.errors, Default::default());
    let verify = record.verify.unwrap();
    assert!(verify.is_clean(), "seed {}: {:#?}", plan.streams[0].seed, verify.findings);
    assert_eq!(verify.read_back, ReadBack::Complete);
    assert!(verify.blocks_verified > 1000, "{verify:?}");
    println!(
        "{} operations, verified {} of them and {:?}",
        record.operations, verify.blocks_verified, verify.unverified
    );
}

#[test]
fn a_storm_of_overlapping_reads_and_writes_raises_no_alarm() {
    let parents = [Path::new(env!("CARGO_MANIFEST_DIR")), Path::new("/dev/shm")];
    for (i, parent) in parents.into_iter().enumerate() {
        if !parent.is_dir() {
            println!("SKIPPED: no {}", parent.display());
            continue;
        }
        let mut bench = bench_in(parent, 4 * MIB);
        for (engine, access, depth) in [
            (EngineKind::IoUring, Access::Direct, 32),
            (EngineKind::IoUring, Access::Buffered, 32),
            (EngineKind::PsyncThreads, Access::Buffered, 32),
            (EngineKind::Mmap, Access::Buffered, 1),
        ] {
            no_alarm(&mut bench, &storm(10_000, access, engine, depth, i as u64 + 100 * u64::from(depth)));
        }
    }
}

/// The same for as long as it takes, where NARROWS_STORM names a directory: hundreds of thousands of operations.
#[test]
fn a_long_storm_raises_no_alarm() {
    let Some(parent) = std::env::var_os("NARROWS_STORM") else {
        return println!("SKIPPED: NARROWS_STORM names no directory");
    };
    let mut bench = bench_in(Path::new(&parent), 4 * MIB);
    for seed in 0..4 {
        no_alarm(&mut bench, &storm(100_000, Access::Direct, EngineKind::IoUring, 32, seed));
        no_alarm(&mut bench, &storm(100_000, Access::Buffered, EngineKind::PsyncThreads, 32, seed));
    }
}
