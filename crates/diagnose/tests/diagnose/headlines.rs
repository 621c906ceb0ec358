//! What a run is told to be held by, where several things hold it: one particular cause is planted beside what is named otherwise.

use crate::run_builder::*;
use diagnose::{Question, headline};
use model::{Access, Confidence, Fact, Layer, LayerKind, Limit, LimitLayer, Reason, Run, Sync};

/// A processor that is full in one phase, and a link that is full in another: both are named, and neither is particular.
fn busy() -> Vec<Phase> {
    with(healthy(540.0), [random("rand-read-qd32", 90_000.0).cpu(0.1, 0.85, 0.0)])
}

fn durable(mut run: Run) -> Run {
    for phase in run.phases.iter_mut().filter(|p| p.plan.name == "sync-write") {
        phase.plan.streams.iter_mut().for_each(|s| s.durability.sync = Sync::FdatasyncEach);
        phase.plan.set_access(Access::Buffered);
    }
    run
}

fn asked(run: &Run, question: &Question<'_>) -> Limit {
    headline(run, &diagnose::causes(run), &diagnose::limits(run), question, &diagnose::findings(run)).limit
}

fn head(run: &Run) -> Limit {
    let head = asked(run, &Question::default());
    assert_eq!(head, diagnose::limit(run), "one rule for both");
    head
}

fn sized(run: &mut Run, kib: i64) {
    let facts = [("max_sectors_kb", kib), ("max_hw_sectors_kb", 1024)];
    run.target.stack.layers.iter_mut().filter(|l| l.kind == LayerKind::Disk).for_each(|l| {
        facts.iter().for_each(|(name, value)| l.set(name, Fact::Int(*value)));
    });
    // As the disk counts them then.
    run.samples.iter_mut().for_each(|s| s.disks[0].reads = s.disks[0].sectors_read / (2 * kib as u64));
}

/// Each planted cause: what holds the run, and the words that its headline has.
fn planted() -> Vec<(Run, LimitLayer, &'static str)> {
    let on = |stack: Vec<Layer>, changed: Vec<Phase>| Builder::new(stack).phases(with(busy(), changed)).build();
    let flush = durable(on(sata(), vec![random("sync-write", 33.0).latency_ns(30e6)]));
    let layout = vec![sequential("layout", 500.0).falls(3, 0.04)];
    let in_layout =
        [layout, with(busy(), [sequential("seq-write", 20.0), sequential("buffered-write", 20.0)])].concat();
    let late = with(busy(), [sequential("seq-write", 513.0).falls(20, 0.05), sequential("buffered-write", 25.0)]);
    let late = [vec![sequential("layout", 513.0)], late].concat();
    let erasing = on(sata(), vec![random("rand-write-qd1", 200.0), random("rand-write-qd32", 1_600.0)]);
    let hot = on(sata(), vec![sequential("seq-read", 540.0).slides(0.4).throttled(10, 0x4)]);
    let mut split = on(sata(), vec![sequential("seq-read", 100.0), random("rand-read-qd32", 24_000.0)]);
    sized(&mut split, 4);
    let group = layer(LayerKind::Host, "host", None, &[("cgroup_memory_bytes", Fact::Int(64 << 20))]);
    let slow = sequential("buffered-write", 60.0).own(0.01, 0.6).cpu(0.01, 0.6, 0.0);
    let group = on([sata(), vec![group]].concat(), vec![slow]);
    let mut short = sata();
    short[0].set("read_ahead_kb", Fact::Int(4));
    let short = on(short, vec![sequential("buffered-read", 40.0)]);
    vec![
        (flush, LimitLayer::Device, "the flush after each small write: 30.0 ms"),
        (Builder::new(sata()).phases(in_layout).build(), LimitLayer::Device, "ran out before anything was measured"),
        (Builder::new(sata()).phases(late).build(), LimitLayer::Device, "write cache ran out, after 3."),
        (erasing, LimitLayer::Device, "small random writes: each takes 5.00 ms"),
        (hot, LimitLayer::ThermalPower, "slid from"),
        (split, LimitLayer::BlockLayer, "requests are split into 4 KiB"),
        (group, LimitLayer::Memory, "memory limit of this control group"),
        (short, LimitLayer::PageCache, "read-ahead: "),
    ]
}

#[test]
fn a_particular_cause_leads_before_a_full_link_a_busy_processor_and_what_is_left() {
    for (run, layer, words) in planted() {
        let head = head(&run);
        assert_eq!((head.layer, head.confidence), (layer, Confidence::Probable), "{words}: {head:?}");
        assert!(head.statement.contains(words), "{words}: {}", head.statement);
    }
    let plain = Builder::new(sata()).phases(busy()).build();
    assert_eq!(head(&plain).layer, LimitLayer::Link, "without any of them");
}

#[test]
fn of_particular_causes_the_one_furthest_below_its_path_leads_and_of_like_ones_a_setting() {
    // A flush of 30 ms is forty times a write without, and a write seven times a read.
    let slow = [random("rand-write-qd1", 1_500.0), random("sync-write", 33.0).latency_ns(30e6)];
    let run = durable(Builder::new(sata()).phases(with(busy(), slow)).build());
    assert!(head(&run).statement.contains("the flush"), "{:?}", head(&run));
    let slow = [random("rand-write-qd1", 400.0), random("sync-write", 250.0).latency_ns(4e6)];
    let run = durable(Builder::new(sata()).phases(with(busy(), slow)).build());
    assert!(head(&run).statement.contains("small random writes"), "{:?}", head(&run));
    // A queue that is worth 5.5 times and read-ahead that is worth 4.9: the one is another card, the other a setting.
    let mut stack = sata();
    stack[0].set("queue_depth", Fact::Int(1));
    stack[0].set("read_ahead_kb", Fact::Int(4));
    let one = [random("rand-read-qd1", 3_000.0), random("rand-read-qd32", 3_000.0), sequential("buffered-read", 14.0)];
    let run = Builder::new(stack).phases(with(healthy(68.0), one)).build();
    assert!(head(&run).statement.contains("read-ahead"), "{:?}", diagnose::causes(&run));
}

#[test]
fn what_hides_all_leads_before_a_use_a_use_before_the_rest_and_a_flush_that_nobody_feels_does_not() {
    let fast = durable(Builder::new(sata()).phases(with(busy(), [random("sync-write", 2_500.0)])).build());
    assert_eq!(head(&fast).layer, LimitLayer::Link, "{:?}", head(&fast));
    let (run, _, _) = planted().swap_remove(3);
    let missed = Question { missed: Some("rand-read-qd1"), ..Question::default() };
    assert!(asked(&run, &missed).statement.starts_with("latency of one command"), "{:?}", asked(&run, &missed));
    let filled = Limit { statement: "the end of its cache".into(), ..head(&run) };
    let answered = Question { answered: Some(filled.clone()), missed: Some("rand-read-qd1"), asked: None };
    assert_eq!(asked(&run, &answered), filled);
    let (hot, _, _) = planted().swap_remove(4);
    assert_eq!(asked(&hot, &answered).layer, LimitLayer::ThermalPower);
}

#[test]
fn reads_that_slide_together_under_heat_are_heat_though_no_phase_shows_it() {
    let names = ["seq-read", "buffered-read", "rand-read-qd1", "rand-read-qd32"];
    let run = |slides: bool, cooled: bool| {
        // Each loses a tenth; the sum of all is a third.
        let change =
            |p: Phase, i: i32| if slides { p.exactly(2e8 * 0.9f64.powi(i)).slides(0.9).jitter(0.02) } else { p };
        let reads = names.iter().zip(0..).map(|(name, i)| {
            change(if name.starts_with("rand") { random(name, 1.0) } else { sequential(name, 1.0) }.exactly(2e8), i)
        });
        let mut run = Builder::new(sata()).phases(with(healthy(200.0), reads)).build();
        let from = run.phase("seq-read").and_then(|p| p.record.as_ref()).unwrap().started_ns;
        run.samples.iter_mut().for_each(|s| s.throttle.cooling_state = Some(u64::from(cooled && s.at_ns >= from)));
        run
    };
    let head = head(&run(true, true));
    assert_eq!((head.layer, head.confidence), (LimitLayer::ThermalPower, Confidence::Probable), "{head:?}");
    assert!(head.statement.contains("all reads slid down"), "{}", head.statement);
    for (slides, cooled) in [(true, false), (false, true)] {
        assert_ne!(diagnose::limit(&run(slides, cooled)).layer, LimitLayer::ThermalPower, "{slides} {cooled}");
    }
}

#[test]
fn a_machine_that_was_taken_away_or_a_disk_without_work_is_no_device_that_stands_still() {
    let still = || sequential("seq-write", 980.0).still(20, 8).still(40, 8);
    let says = |run: &Run| diagnose::causes(run).iter().any(|c| c.statement.contains("gaps without a completion"));
    let run = |phase| Builder::new(sata()).phases(with(healthy(300.0), [phase])).build();
    assert!(says(&run(still())));
    assert!(!says(&run(still().steal(0.6))), "a hypervisor kept the processors");
    // Nothing in flight all that time: our own thread did not ask.
    let mut idle = run(still());
    idle.samples.iter_mut().for_each(|s| s.disks[0].busy_ms = 0);
    assert!(!says(&idle), "{:?}", diagnose::causes(&idle));
    idle.samples.iter_mut().for_each(|s| s.disks[0].in_flight = 8);
    assert!(says(&idle), "an older kernel counts the time when a request ends");
}

#[test]
fn synchronous_writes_so_slow_that_few_complete_are_named() {
    let run = |few: bool| {
        let sync = random("sync-write", 7.0).latency_ns(143e6).exactly(7.0 * 4096.0).refused();
        let mut run = durable(Builder::new(sata()).phases(with(healthy(200.0), [sync])).build());
        let phase = run.phases.iter_mut().find(|p| p.plan.name == "sync-write").unwrap();
        phase.plan.streams.iter_mut().for_each(|s| s.path.queue_depth = 1);
        phase.record.as_mut().unwrap().operations = 35;
        phase.reasons =
            vec![if few { Reason::of("too-little-data", "35 operations") } else { Reason::of("steal", "40 %") }];
        run
    };
    let head = head(&run(true));
    assert!(head.statement.contains("the flush after each small write: 143 ms"), "{}", head.statement);
    assert!(!diagnose::limit(&run(false)).statement.contains("flush"), "what was refused for others is no evidence");
}
