//! Plans with several streams, files and kinds of calls, over real temporary files. Needs neither root nor devices.

use crate::phases::{MIB, filesystem_of, open, options};
use engine::{Control, Rig};
use model::{
    Access, BlockPlan, Direction, Durability, EngineKind, FileOrder, Flush, IoPath, Mix, OpenSync, Operation, Order,
    PhaseKind, PhasePlan, PhaseRecord, RwFlags, StopCause, StopRule, StreamPlan,
};
use std::collections::HashMap;

fn stream(operation: Operation) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { operation, region_bytes: MIB, ..BlockPlan::default() }.into(),
        seed: 3,
        ..StreamPlan::default()
    }
}

fn phase(engine: EngineKind, streams: Vec<StreamPlan>) -> PhasePlan {
    PhasePlan {
        name: "p".into(),
        engine,
        access: Access::Buffered,
        streams,
        time_limit_ns: 60_000_000_000,
        stop: StopRule::RegionOnce,
        ..PhasePlan::default()
    }
    .alike()
}

fn run_in(directory: &tempfile::TempDir, phases: &[PhasePlan]) -> Vec<PhaseRecord> {
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).expect("a rig");
    let run = |p: &PhasePlan| rig.run(p, &Control::default()).unwrap_or_else(|f| panic!("{}: {f}", p.name));
    let records = phases.iter().map(run).collect();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "a name was left in the directory");
    records
}

#[test]
fn streams_share_files_by_name_and_leave_none_behind() {
    let directory = tempfile::tempdir().unwrap();
    let names = |n: &[&str]| n.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    for engine in [EngineKind::Psync, EngineKind::Mmap, EngineKind::PsyncThreads, EngineKind::IoUring] {
        let flush = Flush { fsync_at_end: true, ..Flush::default() };
        let write = StreamPlan {
            kind: BlockPlan { files: names(&["a", "b"]), ..stream(Operation::Write).blocks().unwrap().block.clone() }
                .into(),
            durability: Durability { flush, ..stream(Operation::Write).durability },
            ..stream(Operation::Write)
        };
        let layout = PhasePlan { kind: PhaseKind::Layout, ..phase(engine, vec![write]) };
        let read = |files: &[&str], file_order| StreamPlan {
            kind: BlockPlan {
                files: names(files),
                file_order,
                order: Order::Random,
                ..stream(Operation::Read).blocks().unwrap().block.clone()
            }
            .into(),
            path: IoPath {
                queue_depth: if matches!(engine, EngineKind::Psync | EngineKind::Mmap) { 1 } else { 4 },
                ..stream(Operation::Read).path.clone()
            },
            ..stream(Operation::Read)
        };
        let both = phase(engine, vec![read(&["b", "a"], FileOrder::Random), read(&["a"], FileOrder::RoundRobin)]);
        let records = run_in(&directory, &[layout, both]);
        assert_eq!((records[0].bytes, records[0].stop), (2 * MIB, StopCause::RegionDone), "{engine:?}");
        assert_eq!(records[0].streams[0].directions[1].direction, Direction::Sync);
        assert_eq!(records[0].streams[0].directions[1].operations, 2);
        assert_eq!((records[1].bytes, records[1].short_operations), (3 * MIB, 0), "{engine:?}");
        let without_ring = records[1].engine.missing.iter().any(|m| m.starts_with("io_uring:"));
        assert!(records[1].engine.kind == engine || without_ring, "{:?}", records[1].engine);
        assert!(records[1].errors.is_empty());
        let each: Vec<u64> = records[1].streams.iter().map(|s| s.directions[0].bytes).collect();
        assert_eq!(each, [2 * MIB, MIB]);
        assert!(records[1].streams[0].started_ns == records[1].streams[1].started_ns);
    }
}

#[test]
fn reading_files_that_hold_nothing_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let read = StreamPlan {
        kind: BlockPlan {
            files: vec!["never-written".into()],
            ..stream(Operation::Read).blocks().unwrap().block.clone()
        }
        .into(),
        ..stream(Operation::Read)
    };
    let mut rig = open(directory.path(), true, options(filesystem_of(directory.path()))).unwrap();
    let failure = rig.run(&phase(EngineKind::Psync, vec![read]), &Control::default()).unwrap_err();
    assert!(failure.to_string().contains("nothing to work on"), "{failure}");
}

#[test]
fn calls_with_flags_durable_openings_and_mixes_go_through() {
    let directory = tempfile::tempdir().unwrap();
    let write = stream(Operation::Write);
    let flagged = RwFlags { dsync: true, ..RwFlags::default() };
    let layout = PhasePlan { kind: PhaseKind::Layout, ..phase(EngineKind::Psync, vec![write.clone()]) };
    let one_by_one = |s: StreamPlan| PhasePlan { name: "each".into(), ..phase(EngineKind::Psync, vec![s]) };
    let records = run_in(
        &directory,
        &[
            layout,
            one_by_one(StreamPlan { path: IoPath { rw_flags: flagged, ..write.path.clone() }, ..write.clone() }),
            one_by_one(StreamPlan {
                path: IoPath { open_sync: OpenSync::Dsync, ..write.path.clone() },
                ..write.clone()
            }),
            one_by_one(StreamPlan {
                kind: BlockPlan {
                    mix: Some(Mix { read_percent: 50 }),
                    order: Order::Random,
                    ..write.blocks().unwrap().block.clone()
                }
                .into(),
                ..write
            }),
        ],
    );
    for record in &records {
        assert_eq!((record.bytes, record.operations), (MIB, 256));
        assert!(record.errors.is_empty(), "{:?}", record.errors);
    }
    assert_eq!(records[3].streams[0].directions.iter().map(|d| d.operations).sum::<u64>(), 256);
}

#[test]
fn a_ring_takes_flags_syncs_and_files_together() {
    let directory = tempfile::tempdir().unwrap();
    let write = StreamPlan {
        kind: BlockPlan {
            files: vec!["a".into(), "b".into(), "c".into()],
            order: Order::Random,
            ..stream(Operation::Write).blocks().unwrap().block.clone()
        }
        .into(),
        path: IoPath {
            rw_flags: RwFlags { hipri: true, dsync: true, ..RwFlags::default() },
            queue_depth: 8,
            ..stream(Operation::Write).path.clone()
        },
        durability: Durability {
            flush: Flush { fsync_every: 16, fdatasync_every: 24, fsync_at_end: true },
            ..stream(Operation::Write).durability
        },
        ..stream(Operation::Write)
    };
    let layout = PhasePlan { kind: PhaseKind::Layout, ..phase(EngineKind::IoUring, vec![write.clone()]) };
    let nowait = StreamPlan {
        kind: BlockPlan { operation: Operation::Read, ..write.blocks().unwrap().block.clone() }.into(),
        path: IoPath { rw_flags: RwFlags { nowait: true, ..RwFlags::default() }, ..write.path.clone() },
        durability: Durability { flush: Flush::default(), ..write.durability },
        ..write
    };
    let records = run_in(&directory, &[layout, phase(EngineKind::IoUring, vec![nowait])]);
    let written = &records[0];
    assert_eq!((written.bytes, written.stop), (3 * MIB, StopCause::RegionDone));
    assert!(written.errors.is_empty(), "{:?}", written.errors);
    let syncs = written.streams[0].directions.iter().find(|d| d.direction == Direction::Sync).unwrap();
    // 768 writes: 48 fsyncs, 32 fdatasyncs of which some may coincide, and at least one at the end.
    assert!((64..=84).contains(&syncs.operations), "{}", syncs.operations);
    if written.engine.kind == EngineKind::IoUring {
        assert!(written.engine.missing.iter().any(|m| m.contains("RWF_HIPRI")), "a buffered file cannot be polled");
    }
    // RWF_NOWAIT: what was just written is in the page cache, and what is not counts as EAGAIN.
    let again = records[1].errors.get("EAGAIN").copied().unwrap_or(0);
    assert_eq!(records[1].operations + again, 768);
    assert!(records[1].errors.len() <= 1, "{:?}", records[1].errors);
}

#[test]
fn trims_and_zeroes_reach_the_file_or_say_that_they_cannot() {
    let directory = tempfile::tempdir().unwrap();
    for engine in [EngineKind::Psync, EngineKind::IoUring] {
        for operation in [Operation::Trim, Operation::WriteZeroes] {
            let layout =
                PhasePlan { kind: PhaseKind::Layout, ..phase(EngineKind::Psync, vec![stream(Operation::Write)]) };
            let take = PhasePlan { name: "take".into(), ..phase(engine, vec![stream(operation)]) };
            let records = run_in(&directory, &[layout, take]);
            match records[1].stop {
                StopCause::RegionDone => assert_eq!(records[1].bytes, MIB),
                _ => assert_eq!(records[1].errors.keys().collect::<Vec<_>>(), ["EOPNOTSUPP"], "{operation:?}"),
            }
        }
    }
}

/// The share of aligned 16-byte words that occurred before within what a compressor looks at in one go.
fn repeated(data: &[u8]) -> f64 {
    let mut last: HashMap<&[u8], usize> = HashMap::new();
    let words = data.chunks_exact(16).enumerate();
    let again = words.filter(|(i, w)| last.insert(w, *i).is_some_and(|before| (i - before) * 16 < 128 << 10)).count();
    again as f64 / (data.len() / 16) as f64
}

#[test]
fn few_small_buffers_do_not_write_the_same_data_again_by_any_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    for engine in [EngineKind::Psync, EngineKind::PsyncThreads, EngineKind::IoUring] {
        for (block_size_bytes, queue_depth) in [(512, 1), (4096, 3), (65_536, 1), (98_304, 1)] {
            std::fs::write(&path, vec![0; MIB as usize]).unwrap();
            let kind = BlockPlan {
                block_size_bytes,
                region_bytes: MIB,
                ..stream(Operation::Write).blocks().unwrap().block.clone()
            };
            let path_of = IoPath { queue_depth, ..IoPath::default() };
            let write = StreamPlan { kind: kind.into(), path: path_of, ..stream(Operation::Write) };
            let mut rig = open(&path, true, options(filesystem_of(directory.path()))).unwrap();
            rig.run(&phase(engine, vec![write]), &Control::default()).unwrap();
            let written = MIB / block_size_bytes * block_size_bytes;
            let share = repeated(&std::fs::read(&path).unwrap()[..written as usize]);
            // Stamps say which stream it is, in each piece.
            assert!(share < 0.05, "{engine:?}, {block_size_bytes} at depth {queue_depth}: {share} repeated");
        }
    }
}
