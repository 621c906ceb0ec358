//! Percentiles of simulated devices against the distribution that they were made from: plain streams, mixes told apart by
//! direction, and two jobs side by side, through the whole rig.

use engine::{Control, Jitter, Rig, SimRig, SimTruth};
use model::{
    BlockPlan, Direction, EngineKind, Histogram, Limits, Mix, NS_PER_S, Operation, Order, Pacing, PhasePlan,
    PhaseRecord, Rate, SimModel, StopRule, StreamPlan, Timing,
};

const BLOCK: u64 = 4096;
const OPERATIONS: u64 = 20_000;
const QUANTILES: [f64; 5] = [0.1, 0.5, 0.9, 0.99, 0.999];

fn models() -> Vec<SimModel> {
    let named = spec::sim_models().expect("the named devices");
    let jitter = ["a1-card,jitter=0.4,seed=11", "nvme,jitter=0.8,seed=5"].map(|t| spec::parse_sim(t).expect(t));
    named.into_iter().chain(jitter).collect()
}

/// Without what makes latency a matter of the moment: throttling, stalls, caps, other users. `None` where a quota or the
/// write cache would have its say.
fn steady(mut model: SimModel) -> Option<SimModel> {
    (model.stalls, model.cap, model.throttle, model.cpu_throttle, model.foreign_share) = (None, None, None, None, 0.0);
    let write = StreamPlan {
        kind: BlockPlan { operation: Operation::Write, ..stream(0).blocks().unwrap().block.clone() }.into(),
        ..stream(0)
    };
    let cliff = SimTruth::of(&model, write.blocks().unwrap(), model::Access::Direct, 0).cliff_bytes;
    let fits = cliff.is_none_or(|bytes| bytes > 2 * OPERATIONS * BLOCK);
    (fits && model.host.cpu_quota == 0.0).then_some(model)
}

fn run(model: &SimModel, streams: Vec<StreamPlan>) -> PhaseRecord {
    let plan = PhasePlan {
        name: "p".into(),
        engine: EngineKind::Sim,
        access: model::Access::Direct,
        streams,
        time_limit_ns: 100_000 * NS_PER_S,
        stop: StopRule::Amount,
        ..PhasePlan::default()
    }
    .alike();
    let mut rig = SimRig::new(model.clone(), NS_PER_S);
    let record = rig.run(&plan, &Control::default()).unwrap_or_else(|f| panic!("{}: {f}", model.name));
    assert!(record.errors.is_empty(), "{}: {:?}", model.name, record.errors);
    record
}

fn stream(seed: u64) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            order: Order::RandomReplace,
            block_size_bytes: BLOCK,
            region_bytes: 256 << 20,
            ..BlockPlan::default()
        }
        .into(),
        limits: Limits { total_operations: Some(OPERATIONS), ..Limits::default() },
        seed,
        ..StreamPlan::default()
    }
}

/// Each quantile lies where the distribution has it: within the histogram's error (1/128) of the values between which the
/// quantile of so many draws lies in all but one of a hundred thousand runs.
fn assert_distributed(latency: &Histogram, model: &SimModel, write: bool, what: &str) {
    let (transfer, command) = model.device_ns(write, true, BLOCK);
    let jitter = Jitter::new(model.media.jitter_sigma, 0);
    let truth = |q: f64| model.cpu_ns(BLOCK) / (1.0 - model.host.steal) + transfer + command * jitter.quantile(q);
    let n = latency.count() as f64;
    for q in QUANTILES.into_iter().filter(|q| n * (1.0 - q) >= 10.0) {
        let spread = 4.5 * (q * (1.0 - q) / n).sqrt();
        let (low, high) = (truth((q - spread).max(1e-6)), truth((q + spread).min(1.0 - 1e-6)));
        let got = latency.quantile(q).expect("a quantile") as f64;
        assert!(
            got >= low * (1.0 - 1.0 / 128.0) - 2.0 && got <= high * (1.0 + 1.0 / 128.0) + 2.0,
            "{} {what} quantile {q}: {got:.0} is not between {low:.0} and {high:.0}",
            model.name
        );
    }
}

fn of(record: &PhaseRecord, stream: usize, direction: Direction) -> &Histogram {
    let found = record.streams[stream].directions.iter().find(|d| d.direction == direction);
    &found.unwrap_or_else(|| panic!("no {direction:?}")).latency
}

#[test]
fn plain_streams() {
    let mut tried = 0;
    for model in models().into_iter().filter_map(steady) {
        let read = run(&model, vec![stream(1)]);
        assert_distributed(&read.latency, &model, false, "read");
        let write = run(
            &model,
            vec![StreamPlan {
                kind: BlockPlan { operation: Operation::Write, ..stream(2).blocks().unwrap().block.clone() }.into(),
                ..stream(2)
            }],
        );
        assert_distributed(&write.latency, &model, true, "write");
        tried += 1;
    }
    assert!(tried >= 4, "{tried} devices");
}

#[test]
fn mixes_by_direction() {
    for model in models().into_iter().filter_map(steady) {
        let mix = StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                mix: Some(Mix { read_percent: 70 }),
                ..stream(3).blocks().unwrap().block.clone()
            }
            .into(),
            ..stream(3)
        };
        let record = run(&model, vec![mix]);
        assert_distributed(of(&record, 0, Direction::Read), &model, false, "mixed read");
        assert_distributed(of(&record, 0, Direction::Write), &model, true, "mixed write");
    }
}

#[test]
fn skewed_offsets_are_as_fast_as_any() {
    for model in models().into_iter().filter_map(steady) {
        let record = run(
            &model,
            vec![StreamPlan {
                kind: BlockPlan {
                    order: Order::Zipf { theta_milli: 1200 },
                    ..stream(4).blocks().unwrap().block.clone()
                }
                .into(),
                ..stream(4)
            }],
        );
        assert_distributed(&record.latency, &model, false, "zipf read");
    }
}

/// Two jobs whose operations never meet: each has the latencies that it would have alone.
#[test]
fn two_jobs_side_by_side() {
    for model in models().into_iter().filter_map(steady) {
        let (transfer, command) = model.device_ns(true, true, BLOCK);
        // Twenty times as long between two operations as one takes, and the second job in the middle between them.
        let gap_ns = (20.0 * (model.cpu_ns(BLOCK) + transfer + command)) as u64 + 1_000;
        let rate = Rate::OperationsPerS((NS_PER_S / gap_ns).max(1));
        let gap_ns = NS_PER_S / (NS_PER_S / gap_ns).max(1);
        let pacing = Some(Pacing { read: Some(rate), write: Some(rate), ..Pacing::default() });
        let read = StreamPlan { timing: Timing { pacing, ..stream(5).timing }, name: "reader".into(), ..stream(5) };
        let write = StreamPlan {
            kind: BlockPlan {
                operation: Operation::Write,
                ..StreamPlan { seed: 6, ..read.clone() }.blocks().unwrap().block.clone()
            }
            .into(),
            timing: Timing { start_delay_ns: gap_ns / 2, ..StreamPlan { seed: 6, ..read.clone() }.timing },
            name: "writer".into(),
            ..StreamPlan { seed: 6, ..read.clone() }
        };
        let record = run(&model, vec![read, write]);
        assert_distributed(of(&record, 0, Direction::Read), &model, false, "reader beside a writer");
        assert_distributed(of(&record, 1, Direction::Write), &model, true, "writer beside a reader");
    }
}
