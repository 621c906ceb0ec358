//! What a stream promises, carried out by a device that takes a fixed time for everything.

use crate::{BlockOp, FileSpace, Next, OpKind, OpResult, Pattern, Source};
use model::{
    Arrivals, BlockPlan, BlockShare, BlockSize, BlockSizes, Durability, FileOrder, Flush, IoPath, Limits, Mix,
    NS_PER_S, Ns, Operation, Order, Pacing, Rate, StreamPlan, Sync, ThinkTime, Timing,
};

const BLOCK: u64 = 4096;

fn plan(operation: Operation, order: Order) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { operation, order, region_bytes: 256 * BLOCK, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 4, ..IoPath::default() },
        seed: 11,
        ..StreamPlan::default()
    }
}

/// What was done, and when it began.
struct Done {
    ops: Vec<(Ns, BlockOp)>,
    spun_ns: Ns,
    end_ns: Ns,
}

impl Done {
    fn count(&self, kind: OpKind) -> usize {
        self.ops.iter().filter(|(_, op)| op.kind == kind).count()
    }
}

/// Carries out at most `most` operations, or what starts before `until`, each in `service` ns.
fn carry_out(plan: &StreamPlan, once: bool, most: usize, until: Ns, service: Ns) -> Done {
    let mut source = Pattern::new(plan.blocks().unwrap(), once);
    let mut done = Done { ops: Vec::new(), spun_ns: 0, end_ns: 0 };
    let mut flying: std::collections::VecDeque<(Ns, BlockOp)> = Default::default();
    let mut now = 0;
    let land = |source: &mut Pattern, flying: &mut std::collections::VecDeque<(Ns, BlockOp)>, now: &mut Ns| {
        let (at, op) = flying.pop_front().expect("something in flight");
        *now = at.max(*now);
        source.on_completion(&op, OpResult { at_ns: at, result: Ok(op.len) });
    };
    while done.ops.len() < most && now < until {
        if flying.len() == plan.path.queue_depth as usize {
            land(&mut source, &mut flying, &mut now);
            continue;
        }
        match source.next(now) {
            Next::Op(op) => {
                done.ops.push((now, op));
                flying.push_back((now + service, op));
            }
            Next::WaitUntil(at) => {
                assert!(at > now, "a wait for the past");
                while flying.front().is_some_and(|f| f.0 <= at) {
                    land(&mut source, &mut flying, &mut now);
                }
                now = at;
            }
            Next::SpinUntil(at) => {
                assert!(flying.is_empty() && at > now);
                done.spun_ns += at - now;
                now = at;
            }
            Next::WaitForCompletion => land(&mut source, &mut flying, &mut now),
            Next::Done => break,
        }
    }
    while !flying.is_empty() {
        land(&mut source, &mut flying, &mut now);
    }
    while let Some(op) = source.closing_op() {
        done.ops.push((now, op));
        source.on_completion(&op, OpResult { at_ns: now, result: Ok(0) });
    }
    done.end_ns = now;
    done
}

fn bounded(plan: &StreamPlan, most: usize) -> Done {
    carry_out(plan, false, most, Ns::MAX, 1_000)
}

#[test]
fn a_mix_has_its_shares() {
    for (operation, kind) in [(Operation::Write, OpKind::Write), (Operation::Trim, OpKind::Trim)] {
        for read_percent in [0, 1, 30, 70, 100] {
            let mix = Some(Mix { read_percent });
            let done = bounded(
                &StreamPlan {
                    kind: BlockPlan { mix, ..plan(operation, Order::Random).blocks().unwrap().block.clone() }.into(),
                    ..plan(operation, Order::Random)
                },
                50_000,
            );
            let share = done.count(OpKind::Read) as f64 / 500.0;
            // Three standard deviations of a share of 50,000 draws are below 0.65 per cent.
            assert!((share - f64::from(read_percent)).abs() < 0.65, "{read_percent}: {share}");
            assert_eq!(done.count(OpKind::Read) + done.count(kind), 50_000);
        }
    }
}

#[test]
fn directions_have_their_own_sizes_and_sequential_positions() {
    let sizes = BlockSizes {
        read: BlockSize::Fixed { bytes: BLOCK },
        write: BlockSize::Split(vec![
            BlockShare { bytes: BLOCK, weight: 3 },
            BlockShare { bytes: 4 * BLOCK, weight: 1 },
        ]),
        trim: BlockSize::Fixed { bytes: BLOCK },
    };
    let plan = StreamPlan {
        kind: BlockPlan {
            mix: Some(Mix { read_percent: 50 }),
            block_sizes: Some(sizes),
            block_size_bytes: 4 * BLOCK,
            region_bytes: 1 << 30,
            ..plan(Operation::Write, Order::Sequential).blocks().unwrap().block.clone()
        }
        .into(),
        ..plan(Operation::Write, Order::Sequential)
    };
    let done = bounded(&plan, 40_000);
    for kind in [OpKind::Read, OpKind::Write] {
        let mut end = 0;
        for (_, op) in done.ops.iter().filter(|(_, op)| op.kind == kind) {
            assert_eq!(op.offset, end, "{kind:?} goes on where it was");
            end = op.offset + u64::from(op.len);
        }
    }
    let writes = done.ops.iter().filter(|(_, op)| op.kind == OpKind::Write);
    let small = writes.clone().filter(|(_, op)| op.len == BLOCK as u32).count() as f64 / writes.count() as f64;
    assert!((small - 0.75).abs() < 0.01, "{small}");
}

#[test]
fn once_covers_every_file_and_ends() {
    for order in [Order::Sequential, Order::Reverse, Order::Random, Order::Strided { stride_bytes: 8 * BLOCK }] {
        for file_order in [FileOrder::RoundRobin, FileOrder::Random, FileOrder::Sequential] {
            let files = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
            let region_start_bytes = 2 * BLOCK;
            let plan = StreamPlan {
                kind: BlockPlan {
                    files,
                    file_order,
                    region_start_bytes,
                    ..plan(Operation::Write, order).blocks().unwrap().block.clone()
                }
                .into(),
                ..plan(Operation::Write, order)
            };
            let done = carry_out(&plan, true, 100_000, Ns::MAX, 10);
            let space = FileSpace::of(plan.blocks().unwrap());
            let mut places: Vec<_> = done.ops.iter().map(|(_, op)| space.locate(op.offset)).collect();
            let turns = places.windows(2).filter(|w| w[0].0 != w[1].0).count();
            match file_order {
                FileOrder::Sequential => assert_eq!(turns, 2),
                FileOrder::RoundRobin => assert_eq!(turns, 3 * 256 - 1),
                FileOrder::Random => assert!(turns > 256),
            }
            places.sort_unstable();
            let block = |file, i| (file, region_start_bytes + i * BLOCK);
            let all: Vec<_> = (0..3).flat_map(|file| (0..256).map(move |i| block(file, i))).collect();
            assert_eq!(places, all, "{order:?} {file_order:?}");
        }
    }
    let drawn = carry_out(&plan(Operation::Read, Order::RandomReplace), true, 100_000, Ns::MAX, 10);
    assert_eq!(drawn.ops.len(), 256);
}

#[test]
fn amounts_are_met_and_never_exceeded() {
    let amount = |total_bytes, total_operations| {
        let plan = StreamPlan {
            limits: Limits { total_bytes, total_operations, ..plan(Operation::Write, Order::Random).limits },
            ..plan(Operation::Write, Order::Random)
        };
        let done = bounded(&plan, 10_000);
        (done.ops.len(), done.ops.iter().map(|(_, op)| u64::from(op.len)).sum::<u64>())
    };
    assert_eq!(amount(None, Some(1_000)), (1_000, 1_000 * BLOCK));
    // Three times the region: loops.
    assert_eq!(amount(Some(768 * BLOCK), None), (768, 768 * BLOCK));
    assert_eq!(amount(Some(10 * BLOCK + 5), None), (10, 10 * BLOCK));
    assert_eq!(amount(Some(10 * BLOCK), Some(7)), (7, 7 * BLOCK));
}

#[test]
fn paced_operations_have_exact_intended_starts() {
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(3_000)), ..Pacing::default() });
    let start_delay_ns = 500;
    let plan = StreamPlan {
        timing: Timing { pacing, start_delay_ns, ..plan(Operation::Read, Order::Random).timing },
        ..plan(Operation::Read, Order::Random)
    };
    let done = carry_out(&plan, false, usize::MAX, 10 * NS_PER_S, 1_000);
    assert_eq!(done.ops.len(), 30_000);
    for (k, (at, op)) in done.ops.iter().enumerate() {
        let due = 500 + k as u64 * NS_PER_S / 3_000;
        assert_eq!((op.intended_ns, *at), (Some(due), due));
    }
}

#[test]
fn a_stream_ends_with_its_own_time() {
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(1_000)), ..Pacing::default() });
    let limited = StreamPlan {
        timing: Timing { pacing, start_delay_ns: NS_PER_S, ..plan(Operation::Read, Order::Random).timing },
        limits: Limits { time_limit_ns: Some(2 * NS_PER_S), ..plan(Operation::Read, Order::Random).limits },
        ..plan(Operation::Read, Order::Random)
    };
    let done = carry_out(&limited, false, usize::MAX, 10 * NS_PER_S, 1_000);
    assert_eq!((done.ops.len(), done.end_ns), (2_000, 3 * NS_PER_S));
}

#[test]
fn lateness_is_kept_and_caught_up() {
    // One at a time at 1 ms each, asked for every 0.1 ms in the first operations' order: all that was due is still done.
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(10_000)), ..Pacing::default() });
    let slow = StreamPlan {
        path: IoPath { queue_depth: 1, ..plan(Operation::Read, Order::Random).path.clone() },
        timing: Timing { pacing, ..plan(Operation::Read, Order::Random).timing },
        ..plan(Operation::Read, Order::Random)
    };
    let done = carry_out(&slow, false, 100, Ns::MAX, 1_000_000);
    let (at, last) = done.ops[99];
    assert_eq!(last.intended_ns, Some(99 * 100_000));
    assert_eq!(at, 99 * 1_000_000);
}

#[test]
fn both_directions_keep_their_own_rates() {
    let pacing = Some(Pacing {
        read: Some(Rate::OperationsPerS(1_000)),
        write: Some(Rate::BytesPerS(250 * BLOCK)),
        ..Pacing::default()
    });
    let mix = Some(Mix { read_percent: 50 });
    let plan = StreamPlan {
        kind: BlockPlan { mix, ..plan(Operation::Write, Order::Random).blocks().unwrap().block.clone() }.into(),
        timing: Timing { pacing, ..plan(Operation::Write, Order::Random).timing },
        ..plan(Operation::Write, Order::Random)
    };
    let done = carry_out(&plan, false, usize::MAX, 4 * NS_PER_S, 1_000);
    assert_eq!((done.count(OpKind::Read), done.count(OpKind::Write)), (4_000, 1_000));
    assert!(done.ops.iter().all(|(at, op)| op.intended_ns == Some(*at)));
    // Without a rate for writes they go as fast as the target lets them, and reads still keep theirs.
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(1_000)), ..Pacing::default() });
    let done = carry_out(
        &StreamPlan { timing: Timing { pacing, ..plan.timing }, ..plan },
        false,
        usize::MAX,
        NS_PER_S / 10,
        1_000,
    );
    assert_eq!(done.count(OpKind::Read), 100);
    assert!(done.count(OpKind::Write) > 10_000);
}

#[test]
fn poisson_arrivals_have_the_rate() {
    let arrivals = Arrivals::Poisson;
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(1_000)), arrivals, ..Pacing::default() });
    let plan = StreamPlan {
        timing: Timing { pacing, ..plan(Operation::Read, Order::Random).timing },
        ..plan(Operation::Read, Order::Random)
    };
    let done = carry_out(&plan, false, usize::MAX, 100 * NS_PER_S, 1_000);
    // 100,000 expected, standard deviation 316.
    assert!(done.ops.len().abs_diff(100_000) < 1_300, "{}", done.ops.len());
}

#[test]
fn syncs_come_after_so_many_writes_and_at_the_end() {
    let flush = Flush { fsync_every: 8, fdatasync_every: 3, fsync_at_end: true };
    let total_operations = Some(48);
    let plan = StreamPlan {
        durability: Durability { flush, ..plan(Operation::Write, Order::Sequential).durability },
        limits: Limits { total_operations, ..plan(Operation::Write, Order::Sequential).limits },
        ..plan(Operation::Write, Order::Sequential)
    };
    let done = bounded(&plan, 10_000);
    assert_eq!((done.count(OpKind::Write), done.count(OpKind::Fdatasync)), (48, 16));
    // One of them at the end.
    assert_eq!(done.count(OpKind::Fsync), 7);
    assert_eq!(done.ops.last().unwrap().1.kind, OpKind::Fsync);
    let writes_before = |kind| {
        let at = done.ops.iter().position(|(_, op)| op.kind == kind).unwrap();
        done.ops[..at].iter().filter(|(_, op)| op.kind == OpKind::Write).count()
    };
    assert_eq!((writes_before(OpKind::Fdatasync), writes_before(OpKind::Fsync)), (3, 8));
    // Reads are not counted, and are never followed by a sync.
    let reads = StreamPlan {
        kind: BlockPlan { operation: Operation::Read, ..plan.blocks().unwrap().block.clone() }.into(),
        ..plan
    };
    assert_eq!(bounded(&reads, 10_000).count(OpKind::Fdatasync), 0);
}

#[test]
fn rounds_are_whole_in_every_file() {
    let files = vec!["a".to_owned(), "b".to_owned()];
    let plan = StreamPlan {
        kind: BlockPlan { files, ..plan(Operation::Write, Order::Sequential).blocks().unwrap().block.clone() }.into(),
        durability: Durability {
            sync: Sync::FsyncPerRound,
            round_bytes: Some(4 * BLOCK),
            ..plan(Operation::Write, Order::Sequential).durability
        },
        ..plan(Operation::Write, Order::Sequential)
    };
    let done = bounded(&plan, 60);
    for (i, (_, op)) in done.ops.iter().enumerate() {
        assert_eq!(op.kind == OpKind::Fsync, i % 6 >= 4, "operation {i}");
    }
    let space = FileSpace::of(plan.blocks().unwrap());
    assert_eq!((space.locate(done.ops[4].1.offset).0, space.locate(done.ops[5].1.offset).0), (0, 1));
}

#[test]
fn pauses_follow_the_last_completion() {
    let think = Some(ThinkTime { pause_ns: 10_000, spin_ns: 4_000, after_operations: 4 });
    let plan = StreamPlan {
        timing: Timing { think, ..plan(Operation::Read, Order::Random).timing },
        ..plan(Operation::Read, Order::Random)
    };
    let done = bounded(&plan, 40);
    for (i, (at, _)) in done.ops.iter().enumerate() {
        // Four at once take 1,000 ns, then the pause.
        assert_eq!(*at, (i as u64 / 4) * 11_000);
    }
    assert_eq!(done.spun_ns, 9 * 4_000);
}

#[test]
fn a_block_is_written_when_its_trim_has_completed() {
    let plan = StreamPlan {
        kind: BlockPlan {
            trim_before_write: true,
            ..plan(Operation::Write, Order::Random).blocks().unwrap().block.clone()
        }
        .into(),
        limits: Limits { total_operations: Some(100), ..plan(Operation::Write, Order::Random).limits },
        ..plan(Operation::Write, Order::Random)
    };
    let done = bounded(&plan, 10_000);
    assert_eq!((done.count(OpKind::Trim), done.count(OpKind::Write)), (100, 100));
    for (at, write) in done.ops.iter().filter(|(_, op)| op.kind == OpKind::Write) {
        let trim = done.ops.iter().find(|(_, op)| op.kind == OpKind::Trim && op.offset == write.offset).unwrap();
        assert!(trim.0 + 1_000 <= *at && trim.1.len == write.len);
    }
}

#[test]
fn a_block_is_written_back_when_it_was_read_and_other_reads_are_not() {
    let base = plan(Operation::Write, Order::Random);
    let rewriting = |mix| StreamPlan {
        kind: BlockPlan { read_before_write: true, mix, ..base.blocks().unwrap().block.clone() }.into(),
        limits: Limits { total_operations: Some(200), ..base.limits },
        ..base.clone()
    };
    let done = bounded(&rewriting(None), 10_000);
    assert_eq!((done.count(OpKind::Read), done.count(OpKind::Write)), (200, 200));
    for (at, write) in done.ops.iter().filter(|(_, op)| op.kind == OpKind::Write) {
        let read = done.ops.iter().find(|(_, op)| op.kind == OpKind::Read && op.offset == write.offset).unwrap();
        assert!(read.0 + 1_000 <= *at && read.1.len == write.len);
    }
    let seeks = bounded(&rewriting(Some(Mix { read_percent: 90 })), 10_000);
    let (reads, writes) = (seeks.count(OpKind::Read), seeks.count(OpKind::Write));
    assert!(reads == 200 && (8..=35).contains(&writes), "{reads} reads, {writes} writes");
}

#[test]
fn the_same_seed_gives_the_same_operations() {
    let mix = Some(Mix { read_percent: 40 });
    let a = StreamPlan {
        kind: BlockPlan {
            mix,
            ..plan(Operation::Write, Order::Zipf { theta_milli: 1_100 }).blocks().unwrap().block.clone()
        }
        .into(),
        ..plan(Operation::Write, Order::Zipf { theta_milli: 1_100 })
    };
    let ops = |plan: &StreamPlan| bounded(plan, 1_000).ops;
    assert_eq!(ops(&a), ops(&a));
    assert_ne!(ops(&a), ops(&StreamPlan { seed: 12, ..a.clone() }));
}

#[test]
fn a_plain_stream_goes_by_its_permutation_and_rounds_are_whole() {
    for order in [Order::Sequential, Order::Random] {
        for sync in [Sync::None, Sync::FdatasyncEach, Sync::FsyncPerRound] {
            let durability = Durability { sync, round_bytes: Some(16 * BLOCK), ..Durability::default() };
            let path = IoPath { queue_depth: 1, ..IoPath::default() };
            let plan = StreamPlan { path, durability, ..plan(Operation::Write, order) };
            let blocks = plan.blocks().unwrap().block.region_bytes / BLOCK;
            let of_pass =
                |pass: u64| crate::Permutation::new(blocks, plan.seed ^ pass.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let place = |n: u64| if order == Order::Random { of_pass(n / blocks).at(n % blocks) } else { n % blocks };
            let mut written = 0;
            for (index, (_, op)) in bounded(&plan, 2_000).ops.into_iter().enumerate() {
                let syncs = sync == Sync::FsyncPerRound && index % 17 == 16;
                assert_eq!(op.kind == OpKind::Fsync, syncs, "{order:?} {sync:?} {index}");
                if !syncs {
                    assert_eq!(
                        op.offset,
                        plan.blocks().unwrap().block.region_start_bytes + place(written) * BLOCK,
                        "{order:?} {sync:?}"
                    );
                    written += 1;
                }
            }
        }
    }
}
