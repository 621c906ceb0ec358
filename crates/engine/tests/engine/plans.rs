//! Whatever a plan can say of its streams, carried out over `null:` and `sim:`, where the truth is known.

use engine::{Control, NullRig, Rig, SimRig};
use model::{
    Access, Arrivals, BlockPlan, BlockShare, BlockSize, BlockSizes, Direction, DirectionSummary, Durability,
    EngineKind, ErrorPolicy, Flush, IoPath, Limits, Mix, NS_PER_S, Operation, Order, Pacing, PhasePlan, PhaseRecord,
    Rate, SteadyState, StopCause, StopRule, StreamPlan, ThinkTime, Timing, Zone,
};

const BLOCK: u64 = 4096;
const REGION: u64 = 16 << 20;
const MS: u64 = 1_000_000;

fn stream() -> StreamPlan {
    StreamPlan {
        kind: BlockPlan { region_bytes: REGION, ..BlockPlan::default() }.into(),
        path: IoPath { queue_depth: 4, ..IoPath::default() },
        seed: 5,
        ..StreamPlan::default()
    }
}

fn phase(streams: Vec<StreamPlan>) -> PhasePlan {
    PhasePlan {
        name: "p".into(),
        engine: EngineKind::Sim,
        access: Access::Direct,
        streams,
        time_limit_ns: 2 * NS_PER_S,
        ..PhasePlan::default()
    }
    .alike()
}

fn sim(text: &str) -> SimRig {
    SimRig::new(spec::parse_sim(text).expect("a model"), 100 * MS)
}

fn run(rig: &mut dyn Rig, phase: &PhasePlan) -> PhaseRecord {
    rig.run(phase, &Control::default()).unwrap_or_else(|f| panic!("{}: {f}", phase.name))
}

fn direction(record: &PhaseRecord, stream: usize, direction: Direction) -> &DirectionSummary {
    record.streams[stream].directions.iter().find(|d| d.direction == direction).expect("the direction")
}

#[test]
fn a_stream_that_ends_its_phase_takes_the_others_with_it() {
    let slow = Pacing { read: Some(Rate::OperationsPerS(100)), ..Pacing::default() };
    let streams = vec![
        StreamPlan { limits: Limits { total_operations: Some(1000), ends_phase: true, ..stream().limits }, ..stream() },
        StreamPlan { timing: Timing { pacing: Some(slow), ..stream().timing }, ..stream() },
    ];
    let plan = PhasePlan { engine: EngineKind::Null, time_limit_ns: 600 * NS_PER_S, ..phase(streams) }.alike();
    let record = run(&mut NullRig::new(100 * MS, 1 << 20), &plan);
    assert!(record.ended_ns - record.started_ns < 300 * NS_PER_S, "it went on to its time limit");
    assert_eq!(direction(&record, 0, Direction::Read).operations, 1000);
}

#[test]
fn every_order_runs_on_null_and_sim() {
    let zones = vec![Zone { access_percent: 90, region_percent: 10 }, Zone { access_percent: 10, region_percent: 90 }];
    for order in [
        Order::Sequential,
        Order::Random,
        Order::RandomReplace,
        Order::Reverse,
        Order::Strided { stride_bytes: 4 * BLOCK },
        Order::Zipf { theta_milli: 1200 },
        Order::Pareto { h_milli: 200 },
        Order::Normal { deviation_percent: 10 },
        Order::Zoned,
    ] {
        let one = StreamPlan {
            kind: BlockPlan { order, zones: zones.clone(), ..stream().blocks().unwrap().block.clone() }.into(),
            limits: Limits { total_operations: Some(1000), ..stream().limits },
            ..stream()
        };
        let plan = PhasePlan { stop: StopRule::Amount, ..phase(vec![one.clone(), one]) };
        let rigs: [&mut dyn Rig; 2] = [&mut NullRig::new(100 * MS, 1 << 20), &mut sim("nvme")];
        for rig in rigs {
            let record = run(rig, &plan);
            assert_eq!((record.operations, record.bytes), (2000, 2000 * BLOCK), "{order:?}");
            assert_eq!((record.stop, record.streams.len()), (StopCause::RegionDone, 2), "{order:?}");
            assert_eq!(record.latency.count(), 2000, "{order:?}");
            for stream in 0..2 {
                assert_eq!(direction(&record, stream, Direction::Read).operations, 1000);
            }
        }
    }
}

#[test]
fn a_demanded_rate_is_hit_exactly() {
    for rate in [Rate::OperationsPerS(3_000), Rate::BytesPerS(3_000 * BLOCK)] {
        let pacing = Some(Pacing { read: Some(rate), ..Pacing::default() });
        let paced = StreamPlan {
            kind: BlockPlan { order: Order::Random, ..stream().blocks().unwrap().block.clone() }.into(),
            timing: Timing { pacing, ..stream().timing },
            ..stream()
        };
        let record = run(&mut sim("nvme"), &phase(vec![paced.clone()]));
        assert_eq!(record.operations, 6_000, "{rate:?}");
        // Two jobs, each at its rate.
        let record = run(&mut sim("nvme"), &phase(vec![paced.clone(), paced]));
        assert_eq!(record.operations, 12_000);
        let each: Vec<u64> = record.streams.iter().map(|s| s.directions[0].operations).collect();
        assert_eq!(each, [6_000, 6_000]);
    }
    let pacing = Pacing { read: Some(Rate::OperationsPerS(3_000)), arrivals: Arrivals::Poisson, ..Pacing::default() };
    let record = run(
        &mut sim("nvme"),
        &phase(vec![StreamPlan { timing: Timing { pacing: Some(pacing), ..stream().timing }, ..stream() }]),
    );
    assert!(record.operations.abs_diff(6_000) < 400, "{}", record.operations);
}

#[test]
fn a_paced_stream_on_a_real_clock_starts_when_it_is_due() {
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(10_000)), ..Pacing::default() });
    let paced = StreamPlan {
        kind: BlockPlan { order: Order::Random, ..stream().blocks().unwrap().block.clone() }.into(),
        timing: Timing { pacing, ..stream().timing },
        ..stream()
    };
    let plan = PhasePlan { time_limit_ns: 300 * MS, ..phase(vec![paced]) };
    let record = run(&mut NullRig::new(100 * MS, 1 << 20), &plan);
    // Never more than were due; how many of the last ones were still late at the end is the machine's affair.
    assert!((1..=3_001).contains(&record.operations), "{}", record.operations);
    let late = |q| record.latency.quantile(q).unwrap_or(0) as f64 / 1e3;
    println!("lateness: p50 {:.1} us, p99 {:.1} us, max {:.1} us", late(0.5), late(0.99), late(1.0));
}

#[test]
fn latency_of_a_late_operation_counts_from_its_intended_start() {
    // Far more than the card can do: whoever waits longest waits nearly all the time there was.
    let pacing = Some(Pacing { read: Some(Rate::OperationsPerS(1_000_000)), ..Pacing::default() });
    let paced = StreamPlan {
        kind: BlockPlan { order: Order::Random, ..stream().blocks().unwrap().block.clone() }.into(),
        path: IoPath { queue_depth: 1, ..stream().path.clone() },
        timing: Timing { pacing, ..stream().timing },
        ..stream()
    };
    let record = run(&mut sim("emmc"), &phase(vec![paced]));
    assert!(record.latency.max().unwrap() > 19 * NS_PER_S / 10, "{:?}", record.latency.max());
}

#[test]
fn mixes_and_splits_have_their_shares_and_directions_are_told_apart() {
    let split =
        BlockSize::Split(vec![BlockShare { bytes: BLOCK, weight: 50 }, BlockShare { bytes: 2 * BLOCK, weight: 50 }]);
    let mixed = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            order: Order::Random,
            mix: Some(Mix { read_percent: 70 }),
            block_sizes: Some(BlockSizes {
                read: BlockSize::Fixed { bytes: BLOCK },
                write: split,
                trim: BlockSize::Fixed { bytes: BLOCK },
            }),
            block_size_bytes: 2 * BLOCK,
            ..stream().blocks().unwrap().block.clone()
        }
        .into(),
        limits: Limits { total_operations: Some(20_000), ..stream().limits },
        ..stream()
    };
    let plan = PhasePlan { stop: StopRule::Amount, time_limit_ns: 600 * NS_PER_S, ..phase(vec![mixed]) };
    let rigs: [&mut dyn Rig; 2] = [&mut NullRig::new(100 * MS, 1 << 20), &mut sim("nvme")];
    for rig in rigs {
        let record = run(rig, &plan);
        let (read, write) = (direction(&record, 0, Direction::Read), direction(&record, 0, Direction::Write));
        assert_eq!(read.operations + write.operations, 20_000);
        assert!(read.operations.abs_diff(14_000) < 200, "{}", read.operations);
        assert_eq!(read.bytes, read.operations * BLOCK);
        let mean = write.bytes as f64 / write.operations as f64 / BLOCK as f64;
        assert!((mean - 1.5).abs() < 0.02, "{mean}");
        assert_eq!(record.bytes, read.bytes + write.bytes);
        let mut both = read.latency.clone();
        both.merge(&write.latency);
        assert!(both == record.latency, "the directions together are the phase");
    }
}

#[test]
fn syncs_trims_and_zeroes_are_operations_of_their_own() {
    let flush = Flush { fsync_every: 10, fdatasync_every: 0, fsync_at_end: true };
    let write = StreamPlan {
        kind: BlockPlan { operation: Operation::Write, ..stream().blocks().unwrap().block.clone() }.into(),
        durability: Durability { flush, ..stream().durability },
        limits: Limits { total_operations: Some(100), ..stream().limits },
        ..stream()
    };
    let trim = StreamPlan {
        kind: BlockPlan { trim_before_write: true, ..write.blocks().unwrap().block.clone() }.into(),
        durability: Durability { flush: Flush::default(), ..write.durability },
        ..write.clone()
    };
    let zeroes = StreamPlan {
        kind: BlockPlan { operation: Operation::WriteZeroes, ..write.blocks().unwrap().block.clone() }.into(),
        durability: Durability { flush: Flush::default(), ..write.durability },
        ..write.clone()
    };
    let plan = PhasePlan { stop: StopRule::Amount, ..phase(vec![write, trim, zeroes]) };
    let rigs: [&mut dyn Rig; 2] = [&mut NullRig::new(100 * MS, 1 << 20), &mut sim("nvme")];
    for rig in rigs {
        let record = run(rig, &plan);
        assert_eq!(direction(&record, 0, Direction::Write).operations, 100);
        assert_eq!(direction(&record, 0, Direction::Sync).operations, 11);
        assert_eq!(direction(&record, 1, Direction::Trim).operations, 100);
        assert_eq!(direction(&record, 1, Direction::Write).operations, 100);
        assert_eq!(direction(&record, 2, Direction::WriteZeroes).operations, 100);
        // Syncs transfer nothing and close no round here.
        assert_eq!((record.operations, record.rounds.len()), (400, 0));
    }
}

#[test]
fn a_timed_stream_is_synced_when_its_time_is_over() {
    let flush = Flush { fsync_at_end: true, ..Flush::default() };
    let write = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            order: Order::Random,
            ..stream().blocks().unwrap().block.clone()
        }
        .into(),
        durability: Durability { flush, ..stream().durability },
        ..stream()
    };
    let record = run(&mut sim("emmc"), &phase(vec![write]));
    assert_eq!(record.stop, StopCause::TimeUsed);
    assert_eq!(direction(&record, 0, Direction::Sync).operations, 1);
    assert!(record.ended_ns > record.started_ns + 2 * NS_PER_S);
}

#[test]
fn pauses_and_delays_take_their_time() {
    let think = Some(ThinkTime { pause_ns: 10 * MS, spin_ns: 4 * MS, after_operations: 1 });
    let thinking = StreamPlan {
        path: IoPath { queue_depth: 1, ..stream().path.clone() },
        timing: Timing { think, start_delay_ns: 500 * MS, ..stream().timing },
        ..stream()
    };
    let record = run(&mut sim("nvme"), &phase(vec![thinking]));
    // 1.5 s of pauses of 10 ms, and an operation of well below a millisecond each.
    assert!((135..=150).contains(&record.operations), "{}", record.operations);
    // What is spun is the processor's time.
    assert!(record.usage.user_ns >= 134 * 4 * MS, "{:?}", record.usage);
    assert_eq!(record.intervals[..5].iter().map(|i| i.operations).sum::<u64>(), 0);
}

#[test]
fn errors_stop_or_are_counted_as_asked() {
    let failing = || sim("nvme,eio-every=100");
    let one = StreamPlan {
        kind: BlockPlan { order: Order::Random, ..stream().blocks().unwrap().block.clone() }.into(),
        limits: Limits { total_operations: Some(1_000), ..stream().limits },
        ..stream()
    };
    let stop = PhasePlan { stop: StopRule::Amount, ..phase(vec![one.clone()]) };
    let record = run(&mut failing(), &stop);
    assert_eq!((record.stop, record.errors["EIO"]), (StopCause::Failed, 1));
    let going_on = StreamPlan { on_error: ErrorPolicy::Continue, ..one };
    let record = run(&mut failing(), &PhasePlan { streams: vec![going_on], ..stop });
    assert_eq!((record.stop, record.errors["EIO"], record.operations), (StopCause::RegionDone, 10, 990));
}

#[test]
fn a_constant_device_is_steady_after_the_window() {
    let stop = StopRule::SteadyRounds(SteadyState { round_ns: Some(500 * MS), ..SteadyState::default() });
    let streams = vec![
        StreamPlan {
            kind: BlockPlan { order: Order::Random, ..stream().blocks().unwrap().block.clone() }.into(),
            ..stream()
        };
        2
    ];
    let plan = PhasePlan { stop, time_limit_ns: 60 * NS_PER_S, ..phase(streams) };
    let record = run(&mut sim("nvme"), &plan);
    let steady = record.steady.as_ref().expect("rounds");
    assert!(steady.reached && steady.rounds.len() == 5, "{steady:?}");
    assert_eq!(record.stop, StopCause::Steady);
    assert!(record.duration_ns() < 3 * NS_PER_S);
}

#[test]
fn workers_of_one_phase_start_together_and_a_failing_one_ends_all() {
    let jobs: Vec<StreamPlan> = (0..4)
        .map(|i| StreamPlan {
            path: IoPath { queue_depth: 1 + i, ..stream().path.clone() },
            name: format!("job{i}"),
            group: i / 2,
            seed: u64::from(i),
            ..stream()
        })
        .collect();
    let plan = PhasePlan { time_limit_ns: 200 * MS, ..phase(jobs) };
    let record = run(&mut NullRig::new(10 * MS, 1 << 20), &plan);
    assert_eq!(record.streams.len(), 4);
    assert!(record.streams.windows(2).all(|s| s[0].started_ns == s[1].started_ns));
    assert_eq!(record.streams[3].name, "job3");
    assert_eq!(record.streams.iter().map(|s| s.directions[0].operations).sum::<u64>(), record.operations);
    // A processor that does not exist: no worker can be confined to it, and nobody waits for that one.
    let mut impossible = plan;
    impossible.streams[1].path.cpus = vec![1023];
    let failure = NullRig::new(10 * MS, 1 << 20).run(&impossible, &Control::default()).unwrap_err();
    assert!(failure.to_string().contains("sched_setaffinity"), "{failure}");
}
