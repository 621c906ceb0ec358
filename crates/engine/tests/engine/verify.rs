//! Verified data against truth: what is damaged behind the program's back comes out as exactly what was done to it, and
//! what is not damaged raises no alarm, whatever the streams do.

use crate::phases;
use crate::phases::MIB;
use crate::verified_file::{BLOCK, Bench, REGION, SECTOR, bench, bench_in, phase, read, verify, write};
use model::{
    Access, BlockPlan, Content, DataFault, EngineKind, IoPath, Mismatch, Operation, ReadBack, StopCause, StreamPlan,
    Timing, Unverified, Verify, VerifyKind, VerifyRecord,
};
use proptest::prelude::*;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Class, sector and sectors of each finding.
fn found(record: &VerifyRecord) -> Vec<(DataFault, u64, u64)> {
    record.findings.iter().map(|f| (f.class, f.lba, f.sectors)).collect()
}

#[track_caller]
fn only(record: &VerifyRecord, class: DataFault, lba: u64, sectors: u64) {
    assert_eq!(found(record), [(class, lba, sectors)], "{:#?}", record.findings);
    let mismatch = class.mismatch().expect("no test makes faults of the tester");
    assert_eq!(record.mismatches, [(mismatch, 1)].into());
    assert_eq!((record.tester_faults, record.findings_dropped), (0, 0));
    assert_eq!(record.bytes_verified, REGION, "what is right beside it was verified too");
}

#[test]
fn what_is_not_damaged_is_clean() {
    let mut bench = bench();
    let record = bench.harmed(|_, _| ());
    assert!(record.is_clean() && record.unverified.is_empty(), "{record:#?}");
    assert_eq!((record.bytes_verified, record.blocks_verified), (REGION, REGION / BLOCK));
    assert_eq!((record.read_back, record.kinds), (ReadBack::None, vec![VerifyKind::Stamp]));
}

#[test]
fn flipped_bits_are_corrupt() {
    let record = bench().harmed(|bench, _| {
        let mut block = bench.block(10);
        block[3 * SECTOR + 200] ^= 0x41;
        bench.damage(10 * BLOCK, &block);
    });
    only(&record, DataFault::BitRot, 83, 1);
    assert_eq!(record.mismatches.keys().next(), Some(&Mismatch::Corrupt));
}

#[test]
fn flipped_bits_of_a_stamp_are_corrupt() {
    let record = bench().harmed(|bench, _| {
        let mut block = bench.block(10);
        block[17] ^= 0x10;
        bench.damage(10 * BLOCK, &block);
    });
    only(&record, DataFault::BitRot, 80, 1);
}

#[test]
fn noise_is_corrupt() {
    let record = bench().harmed(|bench, _| {
        let noise: Vec<u8> = (0..BLOCK).map(|i| (i * i * 31 + i / 7) as u8).collect();
        bench.damage(20 * BLOCK, &noise);
    });
    only(&record, DataFault::Corrupt, 160, 8);
}

#[test]
fn zeros_are_lost() {
    let record = bench().harmed(|bench, _| bench.damage(255 * BLOCK, &vec![0; BLOCK as usize]));
    only(&record, DataFault::LostWrite, 255 * 8, 8);
    assert_eq!(record.findings[0].expected_generation, Some(2));
}

#[test]
fn an_older_version_is_lost() {
    let record = bench().harmed(|bench, before| {
        let at = 30 * BLOCK as usize;
        bench.damage(at as u64, &before[at..at + BLOCK as usize]);
    });
    only(&record, DataFault::LostWrite, 240, 8);
    assert_eq!((record.findings[0].expected_generation, record.findings[0].found_generation), (Some(2), Some(1)));
}

#[test]
fn half_of_an_older_version_is_torn() {
    let record = bench().harmed(|bench, before| {
        let at = 31 * BLOCK as usize + BLOCK as usize / 2;
        bench.damage(at as u64, &before[at..at + BLOCK as usize / 2]);
    });
    only(&record, DataFault::TornWrite, 31 * 8 + 4, 4);
}

#[test]
fn a_block_over_another_is_misdirected() {
    let record = bench().harmed(|bench, _| bench.damage(50 * BLOCK, &bench.block(40)));
    only(&record, DataFault::MisdirectedWrite, 400, 8);
}

#[test]
fn a_write_that_went_astray_is_one_finding() {
    let record = bench().harmed(|bench, before| {
        // What was meant for block 40 went to block 50; at 40 is what was there before.
        bench.damage(50 * BLOCK, &bench.block(40));
        let at = 40 * BLOCK as usize;
        bench.damage(at as u64, &before[at..at + BLOCK as usize]);
    });
    only(&record, DataFault::MisdirectedWrite, 400, 8);
}

#[test]
fn another_runs_data_are_foreign() {
    let mut other = bench();
    other.one(write());
    let theirs = other.block(60);
    let record = bench().harmed(|bench, _| bench.damage(60 * BLOCK, &theirs));
    only(&record, DataFault::ForeignData, 480, 8);
}

#[test]
fn damage_is_told_apart_and_counted_once_until_it_is_written_again() {
    let mut bench = bench();
    let record = bench.harmed(|bench, before| {
        let block = BLOCK as usize;
        let at = |n: u64| (n * BLOCK) as usize;
        let mut flipped = bench.block(1);
        flipped[4000] ^= 1;
        bench.damage(BLOCK, &flipped);
        bench.damage(2 * BLOCK, &vec![0; block]);
        bench.damage(3 * BLOCK, &bench.block(9));
        bench.damage(4 * BLOCK, &before[at(4)..at(4) + 512]);
        bench.damage(5 * BLOCK, &before[at(5)..at(5) + block]);
    });
    let classes = [
        DataFault::BitRot,
        DataFault::LostWrite,
        DataFault::MisdirectedWrite,
        DataFault::TornWrite,
        DataFault::LostWrite,
    ];
    assert_eq!(record.findings.iter().map(|f| f.class).collect::<Vec<_>>(), classes);
    let expected = [(Mismatch::Corrupt, 1), (Mismatch::Lost, 2), (Mismatch::Misdirected, 1), (Mismatch::Torn, 1)];
    assert_eq!(record.mismatches, expected.into());
    let again = bench.one(read());
    assert!(again.is_clean());
    assert_eq!(again.unverified, [(Unverified::FoundBefore, 5)].into());
    let rewritten = bench.one(StreamPlan { verify: verify(true), ..write() });
    assert!(rewritten.is_clean());
    assert_eq!((rewritten.read_back, rewritten.bytes_verified), (ReadBack::Complete, REGION));
}

#[test]
fn reads_and_read_back_find_what_is_done_while_the_phase_runs() {
    // The second stream waits until the first has written, then scribbles over it, which `Plan::check` would not allow.
    let verifier = StreamPlan { verify: verify(true), ..write() };
    let mut bench = bench();
    let vandal = StreamPlan {
        kind: BlockPlan {
            region_start_bytes: 8 * BLOCK,
            region_bytes: 2 * BLOCK,
            ..write().blocks().unwrap().block.clone()
        }
        .into(),
        timing: Timing { start_delay_ns: 700_000_000, ..write().timing },
        verify: None,
        ..write()
    };
    let record = phases::run(&mut bench.rig, &phase(vec![verifier, vandal]));
    let verify = record.verify.clone().unwrap();
    // Of a first write, one that is lost over older data and one that somebody wrote over look the same.
    let expected = [(DataFault::LostWrite, 64, 8), (DataFault::LostWrite, 72, 8)];
    assert_eq!(found(&verify), expected, "{:#?}", verify.findings);
    assert_eq!((verify.read_back, verify.read_back_bytes), (ReadBack::Complete, REGION));
    assert!(verify.read_back_ns.is_some_and(|ns| ns > 0) && verify.path.is_some());
    // What was read back is none of the phase's operations.
    assert_eq!((record.operations, record.bytes), ((REGION + 2 * BLOCK) / BLOCK, REGION + 2 * BLOCK));
}

#[test]
fn the_first_mismatch_ends_the_phase_where_that_is_asked_for() {
    let mut bench = bench();
    bench.one(write());
    (0..REGION / BLOCK).step_by(2).for_each(|n| bench.damage(n * BLOCK, &vec![0; BLOCK as usize]));
    let stop_at_first = Some(Verify { kind: VerifyKind::Crc32c, read_back: false, stop_at_first: true });
    let record = bench.run(&phase(vec![StreamPlan {
        path: IoPath { queue_depth: 1, ..read().path.clone() },
        verify: stop_at_first,
        ..read()
    }]));
    assert_eq!(record.stop, StopCause::Failed);
    assert_eq!(record.verify.unwrap().mismatches, [(Mismatch::Lost, 1)].into());
}

#[test]
fn every_engine_writes_and_reads_back_the_same() {
    let stream = |engine, access, depth| StreamPlan {
        path: IoPath { engine, access, queue_depth: depth, ..write().path.clone() },
        verify: verify(true),
        ..write()
    };
    for (engine, access, depth) in [
        (EngineKind::IoUring, Access::Direct, 32),
        (EngineKind::Psync, Access::Buffered, 1),
        (EngineKind::PsyncThreads, Access::Direct, 4),
        (EngineKind::Mmap, Access::Buffered, 1),
    ] {
        let mut bench = bench();
        let record = bench.one(stream(engine, access, depth));
        assert!(record.is_clean() && record.unverified.is_empty(), "{engine:?}: {record:#?}");
        assert_eq!((record.read_back, record.bytes_verified), (ReadBack::Complete, REGION), "{engine:?}");
        bench.damage(77 * BLOCK, &vec![0; BLOCK as usize]);
        let record = bench.one(StreamPlan {
            kind: BlockPlan {
                operation: Operation::Read,
                ..stream(engine, access, depth).blocks().unwrap().block.clone()
            }
            .into(),
            ..stream(engine, access, depth)
        });
        only(&record, DataFault::LostWrite, 77 * 8, 8);
    }
}

#[test]
fn kinds_differ_in_what_they_see_of_the_payload() {
    for kind in VerifyKind::ALL {
        let mut bench = bench();
        bench.one(StreamPlan { verify: Some(Verify { kind, read_back: true, stop_at_first: false }), ..write() });
        // Written by one kind, read by another.
        assert!(bench.one(read()).is_clean(), "{kind}");
        let mut block = bench.block(5);
        block[300] ^= 2;
        bench.damage(5 * BLOCK, &block);
        let verify = Some(Verify { kind, read_back: false, stop_at_first: false });
        let record = bench.one(StreamPlan { verify, ..read() });
        match kind {
            VerifyKind::Meta => assert!(record.is_clean()),
            _ => only(&record, DataFault::BitRot, 40, 1),
        }
    }
}

#[test]
fn other_block_sizes_and_compressible_data_are_verified_too() {
    let mut bench = bench();
    let large = StreamPlan {
        kind: BlockPlan { block_size_bytes: 256 << 10, ..write().blocks().unwrap().block.clone() }.into(),
        path: IoPath { queue_depth: 2, ..write().path.clone() },
        verify: verify(true),
        ..write()
    };
    let half = Content { compress_percent: 50, ..Content::default() };
    assert!(bench.one(StreamPlan { content: half, ..large }).is_clean());
    let small = bench.one(StreamPlan {
        kind: BlockPlan { block_size_bytes: 512, ..read().blocks().unwrap().block.clone() }.into(),
        ..read()
    });
    assert!(small.is_clean() && small.unverified.is_empty(), "{small:#?}");
    assert_eq!(small.bytes_verified, REGION);
    // A write within what was written in one piece.
    let within = bench.one(StreamPlan {
        kind: BlockPlan {
            region_start_bytes: 3 * BLOCK,
            region_bytes: 5 * BLOCK,
            ..write().blocks().unwrap().block.clone()
        }
        .into(),
        ..write()
    });
    assert!(within.is_clean());
    let all = bench.one(StreamPlan {
        kind: BlockPlan { block_size_bytes: 128 << 10, ..read().blocks().unwrap().block.clone() }.into(),
        ..read()
    });
    assert!(all.is_clean() && all.bytes_verified == REGION, "{all:#?}");
    bench.damage(100 * BLOCK, &[0; SECTOR]);
    let all = bench.one(StreamPlan {
        kind: BlockPlan { block_size_bytes: 128 << 10, ..read().blocks().unwrap().block.clone() }.into(),
        ..read()
    });
    assert_eq!(all.mismatched(), 1, "{all:#?}");
}

#[test]
fn what_this_run_did_not_write_says_nothing_unless_it_is_another_runs() {
    let mut bench = bench();
    let record = bench.one(read());
    assert!(record.is_clean() && record.bytes_verified == 0);
    assert_eq!(record.unverified, [(Unverified::NotWritten, REGION / BLOCK)].into());
    // What was verified and then overwritten without: the same.
    bench.one(write());
    bench.run(&phase(vec![StreamPlan {
        kind: BlockPlan { region_bytes: 16 * BLOCK, ..write().blocks().unwrap().block.clone() }.into(),
        verify: None,
        ..write()
    }]));
    let record = bench.one(read());
    assert!(record.is_clean(), "{record:#?}");
    assert_eq!(record.unverified, [(Unverified::NotWritten, 16)].into());
    // Another run over the same file, which only reads.
    let Bench { path, rig, directory } = bench;
    drop(rig);
    let rig = phases::open(&path, true, phases::options("unknown")).unwrap();
    let mut next = Bench { path, rig, directory };
    let record = next.one(read());
    assert_eq!(record.mismatches, [(Mismatch::Foreign, REGION / BLOCK - 16)].into());
    assert_eq!(record.unverified, [(Unverified::NotWritten, 16)].into());
}

#[test]
fn trims_and_zeroes_owe_nothing() {
    for operation in [Operation::Trim, Operation::WriteZeroes] {
        let mut bench = bench();
        bench.one(write());
        let erase = StreamPlan {
            kind: BlockPlan { operation, region_bytes: 8 * BLOCK, ..write().blocks().unwrap().block.clone() }.into(),
            verify: verify(true),
            ..write()
        };
        let record = phases::run(&mut bench.rig, &phase(vec![erase]));
        if !record.errors.is_empty() {
            println!("SKIPPED: {operation:?} is not supported here: {:?}", record.errors);
            continue;
        }
        let record = bench.one(read());
        assert!(record.is_clean(), "{operation:?}: {record:#?}");
        assert_eq!(record.unverified, [(Unverified::NotWritten, 8)].into());
    }
}

#[test]
fn several_jobs_with_regions_or_files_of_their_own() {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).or_else(|_| tempfile::tempdir()).unwrap();
    let options = phases::options(phases::filesystem_of(directory.path()));
    let mut rig = phases::open(directory.path(), true, options).unwrap();
    // As a workload with streams that verify lays it out.
    let mut layout = phases::layout(3 * REGION);
    layout.streams[0].verify = verify(false);
    assert!(phases::run(&mut rig, &layout).verify.unwrap().is_clean());
    let laid_out = StreamPlan {
        kind: BlockPlan {
            region_bytes: 3 * REGION,
            block_size_bytes: 64 << 10,
            ..read().blocks().unwrap().block.clone()
        }
        .into(),
        ..read()
    };
    let record = phases::run(&mut rig, &phase(vec![laid_out])).verify.unwrap();
    assert!(record.is_clean() && record.bytes_verified == 3 * REGION, "{record:#?}");
    let files = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
    let own = |i: u64| StreamPlan {
        kind: BlockPlan { region_start_bytes: i * REGION, ..write().blocks().unwrap().block.clone() }.into(),
        verify: verify(true),
        seed: i,
        ..write()
    };
    let mut streams: Vec<StreamPlan> = (0..3).map(own).collect();
    streams.push(StreamPlan {
        kind: BlockPlan { files: files(&["a", "b"]), ..own(0).blocks().unwrap().block.clone() }.into(),
        ..own(0)
    });
    streams.push(StreamPlan {
        kind: BlockPlan { files: files(&["c"]), ..own(1).blocks().unwrap().block.clone() }.into(),
        ..own(1)
    });
    let record = phases::run(&mut rig, &phase(streams.clone())).verify.unwrap();
    assert!(record.is_clean() && record.unverified.is_empty(), "{record:#?}");
    assert_eq!((record.read_back, record.bytes_verified), (ReadBack::Complete, 6 * REGION));
    let readers = streams.into_iter().map(|s| StreamPlan {
        kind: BlockPlan { operation: Operation::Read, ..s.blocks().unwrap().block.clone() }.into(),
        verify: verify(false),
        ..s
    });
    let record = phases::run(&mut rig, &phase(readers.collect())).verify.unwrap();
    assert!(record.is_clean() && record.unverified.is_empty(), "{record:#?}");
    assert_eq!(record.bytes_verified, 6 * REGION);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any damage to any places is found, never panics, and never makes the program accuse itself.
    #[test]
    fn any_damage_is_found(
        edits in prop::collection::vec((0..REGION - 5000, 1usize..5000, any::<u8>(), 0u8..4), 1..12),
    ) {
        let mut bench = bench_in(Path::new("/dev/shm"), 4 * MIB);
        bench.one(write());
        let before: Vec<Vec<u8>> = (0..REGION / BLOCK).map(|n| bench.block(n)).collect();
        for (offset, len, byte, how) in edits {
            let mut bytes = vec![byte; len];
            match how {
                0 => {}
                1 => bytes.iter_mut().enumerate().for_each(|(i, b)| *b = b.wrapping_mul(i as u8).wrapping_add(i as u8)),
                2 => bench.behind().read_exact_at(&mut bytes, u64::from(byte) * BLOCK).unwrap(),
                _ => bench.behind().read_exact_at(&mut bytes, u64::from(byte) * 1000).unwrap(),
            }
            bench.damage(offset, &bytes);
        }
        let harmed = before.iter().enumerate().filter(|(n, was)| bench.block(*n as u64) != **was).count() as u64;
        let record = bench.one(read());
        prop_assert_eq!(record.tester_faults, 0);
        prop_assert_eq!(record.is_clean(), harmed == 0, "{} blocks, {:#?}", harmed, record.findings);
        prop_assert!(record.mismatched() <= harmed);
        prop_assert_eq!(record.bytes_verified, REGION);
    }
}
