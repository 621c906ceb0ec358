//! The memory that a plan says it needs before it starts is what executing it takes.

use engine::{Control, NullRig, Rig};
use model::{
    BlockPlan, Durability, EngineKind, Flush, IoPath, Mix, NS_PER_S, Operation, Order, PhasePlan, SteadyState,
    StopRule, StreamPlan, Warmup,
};

fn phase(stream: StreamPlan, stop: StopRule) -> PhasePlan {
    PhasePlan {
        name: "p".into(),
        engine: EngineKind::Null,
        streams: vec![StreamPlan {
            kind: BlockPlan { region_bytes: 1 << 30, ..stream.blocks().unwrap().block.clone() }.into(),
            ..stream
        }],
        time_limit_ns: NS_PER_S / 5,
        warmup: Warmup { min_ns: NS_PER_S / 20, share: 0.0, max_ns: NS_PER_S / 20 },
        stop,
        ..PhasePlan::default()
    }
    .alike()
}

#[test]
fn a_phase_takes_no_more_than_its_plan_says() {
    let mix = StreamPlan {
        kind: BlockPlan {
            operation: Operation::Write,
            mix: Some(Mix { read_percent: 50 }),
            order: Order::Zipf { theta_milli: 1200 },
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: 256, ..IoPath::default() },
        durability: Durability {
            flush: Flush { fsync_every: 10, fdatasync_every: 100, fsync_at_end: true },
            ..Durability::default()
        },
        name: "mixed".into(),
        ..StreamPlan::default()
    };
    let rounds = StopRule::SteadyRounds(SteadyState {
        round_ns: Some(1_000_000),
        range_permille: 0,
        slope_permille: 0,
        most_rounds: 4096,
        ..SteadyState::default()
    });
    for (stream, stop, interval_ns) in [
        (
            StreamPlan { path: IoPath { queue_depth: 32, ..IoPath::default() }, ..StreamPlan::default() },
            StopRule::Time,
            NS_PER_S / 10,
        ),
        (StreamPlan { name: "named".into(), ..StreamPlan::default() }, StopRule::Time, 1_000_000),
        (mix.clone(), StopRule::Time, NS_PER_S / 10),
        (mix, rounds, 1_000_000),
        (StreamPlan::default(), StopRule::EarlyWhenSteady { half_width_ratio: 0.01 }, 1_000_000),
    ] {
        let plan = phase(stream, stop);
        let need = plan.memory(interval_ns);
        let mut rig = NullRig::new(interval_ns, 1 << 20);
        let mut record = None;
        // Counts this thread, in which a single stream runs; the buffers are not from the heap.
        let taken = allocation_counter::measure(|| {
            record = Some(rig.run(&plan, &Control::default()).expect("a record"));
        });
        let stated = need.total() - need.buffers;
        assert!(taken.bytes_max <= stated, "{:?}: {} bytes taken, {stated} stated", plan.stop, taken.bytes_max);
        assert!(
            taken.bytes_max * 8 >= stated,
            "{:?}: {} taken, {stated} stated: far too much",
            plan.stop,
            taken.bytes_max
        );
    }
}
