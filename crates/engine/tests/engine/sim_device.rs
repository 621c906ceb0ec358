//! The simulated device against its truth, driven as directly as possible: a closed loop of a few lines.

use engine::{Completion, Device, Jitter, SimDevice, SimLimit, SimTruth};
use model::{
    Access, BlockPlan, Durability, EngineKind, Histogram, IoPath, Ns, Operation, Order, PhaseKind, PhasePlan, SimModel,
    StopRule, StreamPlan, Sync, Warmup,
};
use proptest::prelude::*;
use workload::{BlockOp, Next, OpKind, OpResult, Pattern, Source};

const S: Ns = 1_000_000_000;

fn model(text: &str) -> SimModel {
    spec::parse_sim(text).unwrap_or_else(|e| panic!("{e}"))
}

pub fn stream(operation: Operation, order: Order, block: u64, depth: u32) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation,
            order,
            block_size_bytes: block,
            region_start_bytes: 0,
            region_bytes: 1 << 30,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 3,
        ..StreamPlan::default()
    }
}

fn phase(stream: &StreamPlan, access: Access) -> PhasePlan {
    PhasePlan {
        name: "test".to_owned(),
        kind: PhaseKind::Measure,
        engine: EngineKind::Sim,
        access,
        cold: false,
        drop_cache: false,
        streams: vec![stream.clone()],
        time_limit_ns: 4 * S,
        stop: StopRule::Time,
        warmup: Warmup { min_ns: 0, share: 0.0, max_ns: 0 },
        ranks: None,
        skip: None,
    }
    .alike()
}

/// What a loop saw.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    operations: u64,
    elapsed_ns: Ns,
    latencies: Histogram,
    errors: Vec<i32>,
    short: u64,
    /// Completed bytes of each 100 ms.
    series: Vec<u64>,
}

impl Seen {
    fn per_s(&self) -> f64 {
        self.operations as f64 / (self.elapsed_ns as f64 / 1e9)
    }
}

fn drive(device: &mut SimDevice, plan: &StreamPlan, access: Access, time: Ns) -> Seen {
    device.prepare(&phase(plan, access));
    let mut source = Pattern::new(plan.blocks().unwrap(), false);
    let depth = plan.path.queue_depth as usize;
    let mut slots: Vec<Option<(BlockOp, Ns)>> = vec![None; depth];
    let mut done: Vec<Completion> = Vec::with_capacity(depth);
    let mut seen = Seen::default();
    let start = device.now();
    let mut in_flight = 0;
    loop {
        if device.now() < start + time {
            for (index, slot) in slots.iter_mut().enumerate().filter(|(_, s)| s.is_none()) {
                let Next::Op(mut op) = source.next(device.now()) else { break };
                op.buffer = index as u32;
                *slot = Some((op, device.now()));
                device.submit(&[op]).unwrap();
                in_flight += 1;
            }
        }
        if in_flight == 0 {
            break;
        }
        done.clear();
        device.reap(1, Ns::MAX, &mut done).unwrap();
        for c in &done {
            in_flight -= 1;
            let (op, since) = slots[c.buffer as usize].take().unwrap();
            source.on_completion(&op, OpResult { at_ns: c.at_ns, result: c.result });
            match c.result {
                Err(errno) => seen.errors.push(errno),
                Ok(_) if op.kind == OpKind::Fsync => {}
                Ok(bytes) => {
                    seen.operations += 1;
                    seen.short += u64::from(bytes < op.len);
                    let at = ((c.at_ns - start) / (S / 10)) as usize;
                    if seen.series.len() <= at {
                        seen.series.resize(at + 1, 0);
                    }
                    seen.series[at] += u64::from(bytes);
                }
            }
            seen.latencies.record(c.at_ns - since);
        }
    }
    seen.elapsed_ns = device.now() - start;
    seen
}

/// Bytes per second over whole rounds of buffered writes.
fn drive_rounds(device: &mut SimDevice, plan: &StreamPlan, rounds: u64) -> f64 {
    device.prepare(&phase(plan, Access::Buffered));
    let mut source = Pattern::new(plan.blocks().unwrap(), false);
    let mut bytes = 0u64;
    let mut closed = 0;
    let mut done = Vec::with_capacity(1);
    let start = device.now();
    while closed < rounds {
        let Next::Op(op) = source.next(device.now()) else { panic!("nothing to do at depth 1") };
        device.submit(&[op]).unwrap();
        done.clear();
        device.reap(1, Ns::MAX, &mut done).unwrap();
        source.on_completion(&op, OpResult { at_ns: done[0].at_ns, result: done[0].result });
        closed += u64::from(op.kind == OpKind::Fsync);
        bytes += u64::from(op.len);
    }
    bytes as f64 / ((device.now() - start) as f64 / 1e9)
}

fn near(got: f64, truth: f64, within: f64, what: &str) {
    assert!((got / truth - 1.0).abs() < within, "{what}: measured {got:.1}, truth {truth:.1}");
}

#[test]
fn every_named_model_delivers_its_truth() {
    for model in spec::sim_models().unwrap() {
        let name = model.name.clone();
        let shapes = [
            (Operation::Read, Order::Sequential, 1 << 20, 8),
            (Operation::Write, Order::Sequential, 1 << 20, 8),
            (Operation::Read, Order::Sequential, 1 << 20, 1),
            (Operation::Read, Order::Random, 4096, 1),
            (Operation::Read, Order::Random, 4096, 32),
            (Operation::Write, Order::Random, 4096, 1),
            (Operation::Write, Order::Random, 4096, 32),
            (Operation::Read, Order::Random, 1024, 1),
            (Operation::Write, Order::Random, 16384, 1),
        ];
        for (operation, order, block, depth) in shapes {
            let plan = stream(operation, order, block, depth);
            let truth = SimTruth::of(&model, plan.blocks().unwrap(), Access::Direct, 0);
            // At least 2,000 operations, so that the jitter's mean is known to 0.5 %.
            let time = ((2_000.0 / truth.operations_per_s * 1e9) as Ns).clamp(S / 2, 2_000 * S);
            let seen = drive(&mut SimDevice::new(model.clone()), &plan, Access::Direct, time);
            let what = format!("{name} {operation:?} {order:?} {block} depth {depth} ({:?})", truth.limit);
            near(seen.per_s(), truth.operations_per_s, 0.02, &what);
            near(seen.latencies.mean().unwrap(), truth.latency_ns_mean.unwrap(), 0.03, &what);
        }
    }
}

#[test]
fn buffered_paths_deliver_their_truth() {
    for text in [
        "class4-card",
        "a1-card",
        "emmc",
        "sata-ssd",
        "nvme",
        "sata-ssd,page-cache=90MB/s",
        "nvme,dirty-background=16MiB",
        "nvme,read-ahead=1MiB",
    ] {
        let model = model(text);
        let mut write = stream(Operation::Write, Order::Sequential, 1 << 20, 1);
        write.durability.sync = Sync::FsyncPerRound;
        write.durability.round_bytes = Some(64 << 20);
        let truth = SimTruth::of(&model, write.blocks().unwrap(), Access::Buffered, 0);
        let rate = drive_rounds(&mut SimDevice::new(model.clone()), &write, 8);
        near(rate, truth.bytes_per_s, 0.02, &format!("{text} buffered write ({:?})", truth.limit));

        let read = stream(Operation::Read, Order::Sequential, 1 << 20, 1);
        let truth = SimTruth::of(&model, read.blocks().unwrap(), Access::Buffered, 0);
        // One pass at most: a second one would come from the page cache.
        let time = ((900e6 / truth.bytes_per_s * 1e9) as Ns).min(20 * S);
        let seen = drive(&mut SimDevice::new(model.clone()), &read, Access::Buffered, time);
        near(seen.per_s(), truth.operations_per_s, 0.02, &format!("{text} buffered read ({:?})", truth.limit));

        let mut sync = stream(Operation::Write, Order::Random, 4096, 1);
        sync.durability.sync = Sync::FdatasyncEach;
        let truth = SimTruth::of(&model, sync.blocks().unwrap(), Access::Buffered, 0);
        let time = ((2_000.0 / truth.operations_per_s * 1e9) as Ns).max(S);
        let seen = drive(&mut SimDevice::new(model), &sync, Access::Buffered, time);
        near(seen.per_s(), truth.operations_per_s, 0.02, &format!("{text} sync write"));
    }
}

#[test]
fn a_slow_copy_makes_buffered_writes_slower_than_direct_ones() {
    let model = model("sata-ssd,page-cache=80MB/s");
    let mut plan = stream(Operation::Write, Order::Sequential, 1 << 20, 1);
    let direct = drive(&mut SimDevice::new(model.clone()), &plan, Access::Direct, 2 * S).per_s() * 1048576.0;
    plan.durability.sync = Sync::FsyncPerRound;
    plan.durability.round_bytes = Some(64 << 20);
    let buffered = drive_rounds(&mut SimDevice::new(model), &plan, 8);
    assert!(buffered < 80e6 && direct > 400e6, "{buffered} {direct}");
}

#[test]
fn a_second_pass_comes_from_the_page_cache() {
    let mut plan = stream(Operation::Read, Order::Sequential, 1 << 20, 1);
    plan.block_mut().region_bytes = 64 << 20;
    let mut device = SimDevice::new(model("emmc"));
    let cold = drive(&mut device, &plan, Access::Buffered, S / 4).per_s();
    drive(&mut device, &plan, Access::Buffered, S);
    let warm = drive(&mut device, &plan, Access::Buffered, S).per_s();
    assert!(warm > 5.0 * cold, "{cold} {warm}");
}

#[test]
fn percentiles_are_those_of_the_known_distribution() {
    let model = model("a1-card,jitter=0.4,seed=11");
    let plan = stream(Operation::Read, Order::Random, 4096, 1);
    let seen = drive(&mut SimDevice::new(model.clone()), &plan, Access::Direct, 30 * S);
    let (transfer, command) = model.device_ns(false, false, 4096);
    let jitter = Jitter::new(0.4, 0);
    for q in [0.1, 0.5, 0.9, 0.99] {
        let truth = model.cpu_ns(4096) + transfer + command * jitter.quantile(q);
        // A bucket is 0.8 %; the quantile of 90,000 draws scatters by less than the rest.
        near(seen.latencies.quantile(q).unwrap() as f64, truth, 0.02, &format!("quantile {q}"));
    }
}

#[test]
fn depth_scales_as_the_queues_allow() {
    let rate = |text: &str, depth| {
        let plan = stream(Operation::Read, Order::Random, 4096, depth);
        drive(&mut SimDevice::new(model(text)), &plan, Access::Direct, 2 * S).per_s()
    };
    let gain = |text: &str, depth| rate(text, depth) / rate(text, 1);
    // One command at a time: only the host's own cost is hidden.
    let serial = gain("a1-card", 32);
    assert!((1.02..1.06).contains(&serial), "{serial}");
    near(gain("nvme,jitter=0", 8), 8.0, 0.02, "nvme scales");
    // Three units behind a queue that is long enough, and the host's cost hidden.
    let queued = gain("a2-card-no-queue,host-queue=32,jitter=0", 32);
    assert!((3.0..3.6).contains(&queued), "{queued}");
    // The shorter of both limits decides; the transfer is hidden behind the units.
    near(gain("nvme,jitter=0,units=4", 32), 4.0, 0.06, "units");
    near(gain("nvme,jitter=0,host-queue=2", 32), 2.0, 0.06, "host queue");
    // A slow processor bounds the rate however deep the queue is.
    near(rate("nvme,cpu-per-command=20us", 32), 1e9 / 20_008.0, 0.01, "cpu");
}

#[test]
fn the_write_cache_is_exhausted_at_the_stated_byte() {
    let model = model("sata-ssd,cache=512MiB,cache-drain=100MB/s,jitter=0");
    let plan = stream(Operation::Write, Order::Sequential, 1 << 20, 8);
    let truth = SimTruth::of(&model, plan.blocks().unwrap(), Access::Direct, 0);
    let cliff = truth.cliff_bytes.unwrap() as f64;
    let after = truth.exhausted_bytes_per_s.unwrap();
    assert!(truth.bytes_per_s > 4.0 * after, "the cliff is one");
    let seen = drive(&mut SimDevice::new(model), &plan, Access::Direct, 8 * S);
    let late: u64 = seen.series[20..70].iter().sum();
    near(late as f64 / 5.0, after, 0.02, "rate after the cliff");
    // The cut of two straight lines: bytes before = total, less what came at the slow rate.
    let total: u64 = seen.series[..70].iter().sum();
    let fast_time = (total as f64 - 7.0 * after) / (truth.bytes_per_s - after);
    near(fast_time * truth.bytes_per_s, cliff, 0.02, "bytes before the cliff");
}

#[test]
fn throttling_sets_in_when_it_says() {
    let model = model("nvme,jitter=0,throttle-start=2s,throttle-ramp=1s,throttle-factor=0.25");
    let plan = stream(Operation::Read, Order::Sequential, 1 << 20, 8);
    let full = SimTruth::of(&model, plan.blocks().unwrap(), Access::Direct, 0).bytes_per_s / 10.0;
    let slow = SimTruth::of(&model, plan.blocks().unwrap(), Access::Direct, 5 * S).bytes_per_s / 10.0;
    near(slow / full, 0.25, 0.01, "the factor");
    let seen = drive(&mut SimDevice::new(model), &plan, Access::Direct, 5 * S);
    for (i, bytes) in seen.series.iter().enumerate().take(50) {
        match i {
            1..20 => near(*bytes as f64, full, 0.02, "before"),
            31..50 => near(*bytes as f64, slow, 0.02, "after"),
            _ => {}
        }
    }
    let middle = seen.series[25] as f64;
    assert!(middle < 0.8 * full && middle > 1.2 * slow, "a ramp between: {middle}");
}

/// Bytes per second from one second on, against the closed form.
fn delivers(text: &str, plan: &StreamPlan, limit: SimLimit, within: f64) {
    let model = model(text);
    let truth = SimTruth::of(&model, plan.blocks().unwrap(), Access::Direct, 2 * S);
    assert_eq!(truth.limit, limit, "{text}");
    let seen = drive(&mut SimDevice::new(model), plan, Access::Direct, 5 * S);
    let rate = seen.series[10..50].iter().sum::<u64>() as f64 / 4.0;
    near(rate, truth.bytes_per_s, within, text);
}

#[test]
fn caps_quotas_heat_and_splitting_deliver_their_truth() {
    let random = stream(Operation::Read, Order::Random, 4096, 32);
    let sequential = stream(Operation::Write, Order::Sequential, 1 << 20, 8);
    delivers("nvme,jitter=0,cap-iops=3000", &random, SimLimit::Cap, 0.01);
    delivers("nvme,jitter=0,cap-rate=50MB/s", &sequential, SimLimit::Cap, 0.02);
    delivers("nvme,jitter=0,cpu-per-command=20us,cpu-quota=0.2", &random, SimLimit::Cpu, 0.02);
    delivers(
        "nvme,jitter=0,cpu-per-command=20us,cpu-throttle-start=500ms,cpu-throttle-ramp=1ms,cpu-throttle-factor=0.5",
        &random,
        SimLimit::Cpu,
        0.02,
    );
    // One command at a time, each of 16 KiB: the overhead is paid 64 times for a MiB.
    let split = "a1-card,jitter=0,write-overhead=300us,write-bandwidth=60MB/s,max-sectors=16KiB";
    delivers(split, &sequential, SimLimit::HostQueue, 0.03);
    let alone = stream(Operation::Write, Order::Sequential, 1 << 20, 1);
    delivers(split, &alone, SimLimit::HostQueue, 0.05);
}

#[test]
fn stalls_are_intervals_without_completions() {
    let plan = stream(Operation::Read, Order::Random, 4096, 32);
    let mut device = SimDevice::new(model("nvme,stall-period=1s,stall-duration=350ms"));
    let seen = drive(&mut device, &plan, Access::Direct, 4 * S - 1);
    let zeros: Vec<usize> = (0..40).filter(|i| seen.series[*i] == 0).collect();
    // From each whole second on; commands that were under way end 350 ms later.
    assert_eq!(zeros, [10, 11, 12, 20, 21, 22, 30, 31, 32], "{:?}", seen.series);
    assert!(seen.latencies.max().unwrap() >= 350_000_000);
}

#[test]
fn faults_are_injected_as_stated() {
    let mut plan = stream(Operation::Read, Order::Sequential, 4096, 1);
    plan.block_mut().region_bytes = 1 << 20;
    let run = |text: &str| drive(&mut SimDevice::new(model(text)), &plan, Access::Direct, S / 5);
    assert_eq!(run("emmc,eio-at=7").errors, [5]);
    let seen = run("emmc,eio-every=10");
    let failed = seen.errors.len() as u64;
    assert_eq!(failed, (seen.operations + failed) / 10);
    // Blocks 2 and 3 of every pass of 256 blocks; the range touches each of them only in part.
    let seen = run("emmc,eio-start=10KiB,eio-length=4KiB");
    let failed = seen.errors.len() as u64;
    let all = seen.operations + failed;
    assert_eq!(failed, all / 256 * 2 + (all % 256).saturating_sub(2).min(2));
    let seen = run("emmc,short-every=5");
    assert_eq!(seen.short, seen.operations / 5);
    assert!(seen.errors.is_empty());
}

#[test]
fn a_full_device_says_so() {
    let mut device = SimDevice::new(model("emmc,capacity=1MiB"));
    device.prepare_buffers(1, 4096);
    let mut done = Vec::with_capacity(1);
    for (kind, offset, result) in
        [(OpKind::Write, 1 << 20, Err(28)), (OpKind::Read, 1 << 20, Ok(0)), (OpKind::Write, (1 << 20) - 512, Ok(512))]
    {
        device.submit(&[BlockOp { kind, offset, len: 4096, ..BlockOp::default() }]).unwrap();
        done.clear();
        device.reap(1, Ns::MAX, &mut done).unwrap();
        assert_eq!(done[0].result, result, "{kind:?} at {offset}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_does_not() {
    let plan = stream(Operation::Write, Order::Random, 4096, 8);
    let run = |text: &str| drive(&mut SimDevice::new(model(text)), &plan, Access::Direct, S);
    assert_eq!(run("a1-card,seed=5"), run("a1-card,seed=5"));
    assert_ne!(run("a1-card,seed=5"), run("a1-card,seed=6"));
}

#[test]
fn a_second_user_and_a_hypervisor_take_their_shares() {
    let plan = stream(Operation::Read, Order::Sequential, 1 << 20, 8);
    let rate = |text: &str| drive(&mut SimDevice::new(model(text)), &plan, Access::Direct, 4 * S).per_s();
    near(rate("emmc,foreign=0.25") / rate("emmc"), 0.75, 0.01, "foreign");
    let plan = stream(Operation::Read, Order::Random, 4096, 32);
    let rate = |text: &str| drive(&mut SimDevice::new(model(text)), &plan, Access::Direct, S).per_s();
    let bound = "nvme,cpu-per-command=20us,cpu-ps-per-byte=0";
    near(rate(&format!("{bound},steal=0.4")) / rate(bound), 0.6, 0.01, "steal");
}

#[test]
fn nothing_is_allocated_per_operation() {
    let mut device = SimDevice::new(model("nvme"));
    let plan = stream(Operation::Write, Order::Random, 4096, 32);
    device.prepare(&phase(&plan, Access::Direct));
    let mut source = Pattern::new(plan.blocks().unwrap(), false);
    let mut done: Vec<Completion> = Vec::with_capacity(32);
    let mut submit = |device: &mut SimDevice, buffer: u32| {
        let Next::Op(mut op) = source.next(device.now()) else { panic!("the stream never ends") };
        op.buffer = buffer;
        device.submit(&[op]).unwrap();
    };
    (0..32).for_each(|buffer| submit(&mut device, buffer));
    let mut go_on = |device: &mut SimDevice, until: Ns| {
        let mut operations = 0;
        while device.now() < until {
            done.clear();
            device.reap(1, Ns::MAX, &mut done).unwrap();
            done.iter().for_each(|c| submit(device, c.buffer));
            operations += done.len();
        }
        operations
    };
    go_on(&mut device, S / 100);
    // Between two samples, which are the only thing that is kept.
    let mut operations = 0;
    let counted = allocation_counter::measure(|| operations = go_on(&mut device, S / 5));
    assert!(operations > 50_000, "{operations}");
    assert_eq!(counted.count_total, 0);
}

proptest! {
    /// Whatever a person gives: the machine neither panics nor hangs, and its clock moves on.
    #[test]
    fn any_two_parameters_can_be_carried_out(
        keys in prop::collection::vec((any::<prop::sample::Index>(), "[0-9]{1,9}(\\.[0-9])?(ns|ms|d|MB/s|TiB|%|k)?"), 2),
        base in prop::sample::select(vec!["class4-card", "emmc", "sata-ssd", "nvme"]),
        buffered: bool,
        write: bool,
        random: bool,
    ) {
        let table = spec::sim_keys();
        let given: String = keys.iter().map(|(i, value)| format!(",{}={value}", i.get(table).name)).collect();
        if let Ok(model) = spec::parse_sim(&format!("{base}{given}")) {
            let operation = if write { Operation::Write } else { Operation::Read };
            let order = if random { Order::Random } else { Order::Sequential };
            let mut plan = stream(operation, order, 4096, 4);
            plan.block_mut().region_bytes = 1 << 20;
            let access = if buffered { Access::Buffered } else { Access::Direct };
            let mut device = SimDevice::new(model);
            device.prepare(&phase(&plan, access));
            let mut source = Pattern::new(plan.blocks().unwrap(), false);
            let mut done = Vec::with_capacity(4);
            let mut now = 0;
            for _ in 0..50 {
                let Next::Op(op) = source.next(device.now()) else { break };
                device.submit(&[op]).unwrap();
                done.clear();
                device.reap(1, Ns::MAX, &mut done).unwrap();
                prop_assert_eq!(done.len(), 1);
                prop_assert!(device.now() >= now);
                now = device.now();
                // Samples every 250 ms of a simulated month would only cost time.
                if now > 1_000 * S {
                    break;
                }
            }
        }
    }
}
