use super::*;
use model::{Access, BlockPlan, Durability, IoPath, Operation, Order, StreamPlan, Sync};

/// Rates at depth 1 from `sd-cards.csv`, published by the Armbian forum ("SD card performance"): IOPS of reads and
/// writes at 1k, 4k, 16k, and sequential MB/s of reads and writes.
const PUBLISHED: &[(&str, [f64; 8])] = &[
    ("class4-card", [1574., 99., 1926., 33., 726., 2., 43., 10.]),
    ("a1-card", [3840., 826., 3201., 1480., 2030., 769., 66., 59.]),
    ("a2-card-no-queue", [2431., 417., 1766., 732., 1660., 427., 65., 50.]),
    ("emmc", [5191., 1230., 5083., 1943., 3707., 981., 128., 32.]),
];

fn stream(operation: Operation, order: Order, block: u64, depth: u32) -> StreamPlan {
    StreamPlan {
        kind: BlockPlan {
            operation,
            order,
            block_size_bytes: block,
            region_start_bytes: 0,
            region_bytes: 256 << 20,
            ..BlockPlan::default()
        }
        .into(),
        path: IoPath { queue_depth: depth, ..IoPath::default() },
        durability: Durability { sync: Sync::None, round_bytes: None, ..Durability::default() },
        seed: 1,
        ..StreamPlan::default()
    }
}

#[test]
fn the_truth_is_what_was_published() {
    for (name, figures) in PUBLISHED {
        let model = parse_sim(name).unwrap();
        let mut expected = figures.iter();
        for block in [1u64 << 10, 4 << 10, 16 << 10] {
            for operation in [Operation::Read, Operation::Write] {
                let truth = model.truth(&stream(operation, Order::Random, block, 1), Access::Direct, 0);
                let published = expected.next().unwrap();
                let off = truth.operations_per_s / published - 1.0;
                assert!(off.abs() < 0.01, "{name} {operation:?} {block}: {} for {published}", truth.operations_per_s);
            }
        }
        for operation in [Operation::Read, Operation::Write] {
            for depth in [1, 8] {
                let truth = model.truth(&stream(operation, Order::Sequential, 1 << 20, depth), Access::Direct, 0);
                let published = figures[if operation == Operation::Read { 6 } else { 7 }];
                let off = truth.bytes_per_s / 1e6 / published - 1.0;
                assert!(off.abs() < 0.015, "{name} {operation:?}: {} for {published} MB/s", truth.bytes_per_s / 1e6);
            }
        }
    }
}

#[test]
fn an_a2_card_meets_its_label_with_a_queue_and_not_without() {
    for (text, read, write) in [("a2-card-no-queue", false, false), ("a2-card-no-queue,host-queue=32", true, true)] {
        let model = parse_sim(text).unwrap();
        let iops = |op| model.truth(&stream(op, Order::Random, 4096, 32), Access::Direct, 0).operations_per_s;
        assert_eq!((iops(Operation::Read) >= 4000.0, iops(Operation::Write) >= 2000.0), (read, write), "{text}");
    }
}

#[test]
fn every_model_loads_and_names_its_source() {
    let models = sim_models().unwrap();
    assert_eq!(models.len(), MODELS.len());
    for model in models {
        assert!(model.source.contains("nvented"), "{}: says what is invented", model.name);
        assert!(!model.title.is_empty());
    }
}

#[test]
fn values_are_overridden_with_units() {
    let model =
        parse_sim("sim:emmc,capacity=64MiB,flush=200us,link=50MB/s,foreign=30%,throttle-start=3s,seed=7").unwrap();
    assert_eq!(model.media.capacity_bytes, 64 << 20);
    assert_eq!(model.media.flush_ns, 200_000);
    assert_eq!(model.link.line_bytes_per_s, 50_000_000);
    assert_eq!(model.foreign_share, 0.3);
    assert_eq!(model.throttle.unwrap().start_ns, 3_000_000_000);
    assert_eq!(model.seed, 7);
}

#[test]
fn more_cpu_cost_shows_in_the_truth() {
    let iops = |text: &str| {
        let m = parse_sim(text).unwrap();
        m.truth(&stream(Operation::Read, Order::Random, 4096, 1), Access::Direct, 0).operations_per_s
    };
    let (plain, slow) = (iops("a1-card"), iops("a1-card,cpu-per-command=112us"));
    assert!((1e6 / slow - 1e6 / plain - 100.0).abs() < 0.5, "{plain} {slow}");
    // Points that are given are as measured with the CPU cost that is given, in either order.
    for text in
        ["a1-card,read-points=4KiB:1000,cpu-per-command=112us", "a1-card,cpu-per-command=112us,read-points=4KiB:1000"]
    {
        assert!((iops(text) - 1000.0).abs() < 1.0, "{text}");
    }
}

#[test]
fn unknown_names_and_keys_are_answered_with_the_nearest() {
    let error = parse_sim("sim:class4card").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: Some(n), .. } if n == "class4-card"), "{error}");
    let text = error.to_string();
    assert!(text.contains("did you mean 'class4-card'") && text.contains("sata-ssd"), "{text}");
    let error = parse_sim("sim:nvme,read-bandwith=1GB/s").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: Some(n), .. } if n == "read-bandwidth"), "{error}");
    let error = parse_sim("sim:qqqqqqqqqq").unwrap_err();
    assert!(matches!(&error, SimSpecError { nearest: None, .. }), "{error}");
}

#[test]
fn bad_values_say_what_is_expected() {
    for (text, expected) in [
        ("emmc,capacity=big", "a size such as 64MiB"),
        ("emmc,flush=5parsecs", "unknown unit 'parsecs'"),
        ("emmc,host-queue=0", "from 1 on"),
        ("emmc,steal=1.5", "a share"),
        ("emmc,link=0MB/s", "above 0"),
        ("emmc,read-points=4KiB:10+1KiB:20", "ascending"),
        ("emmc,read-points=4KiB:0", "SIZE:IOPS"),
        ("emmc,jitter=NaN", "from 0 to 3"),
        ("emmc,flush", "not key=value"),
        ("emmc,steal=1", "steal leaves"),
        ("emmc,stall-period=1s,stall-duration=2s", "stall-duration"),
        ("emmc,throttle-factor=0", "throttle-factor is below"),
        ("emmc,capacity=0", "below 1 MiB"),
        ("emmc,flush=400d", "30 days"),
        ("emmc,read-points=4KiB:0.0000000001", "30 days"),
        ("emmc,open-streams=4000000000", "65536"),
        ("emmc,link=1", "1 kB/s"),
    ] {
        let error = parse_sim(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn an_overhead_takes_the_place_of_points() {
    let us = |text: &str, operation, order| {
        let model = parse_sim(text).unwrap();
        1e6 / model.truth(&stream(operation, order, 4096, 1), Access::Direct, 0).operations_per_s
    };
    for (key, operation, order) in [
        ("random-write-overhead", Operation::Write, Order::Random),
        ("read-overhead", Operation::Read, Order::Random),
        ("write-overhead", Operation::Write, Order::Sequential),
    ] {
        let took = us(&format!("a1-card,{key}=50ms"), operation, order);
        assert!((50_000.0..50_200.0).contains(&took), "{key}: {took} us");
    }
}

#[test]
fn what_has_no_effect_is_refused_with_the_reason() {
    for (text, why) in [
        ("a1-card,random-write-overhead=50ms,random-write-points=4KiB:10", "random-write-points say"),
        ("a1-card,read-points=4KiB:10,read-overhead=1ms", "read-points say"),
        ("emmc,write-points=4KiB:10,write-overhead=1ms", "write-points say"),
        ("nvme,open-streams=1", "random-write-overhead"),
        ("nvme,erase-block=1MiB", "erase-penalty"),
        ("nvme,cache-drain=1GB/s,cache=0", "cache=0"),
        ("emmc,cap-visible=true", "cap-iops"),
        ("emmc,throttle-start=1s,throttle-factor=1", "full speed"),
        ("emmc,cpu-throttle-ramp=1s,cpu-throttle-factor=100%", "full speed"),
        ("emmc,stall-period=1s,stall-duration=0", "not a stall"),
        ("emmc,irq-share=1,cpu-per-command=0,cpu-ps-per-byte=0", "no CPU time"),
        ("emmc,eio-start=1MiB", "eio-length"),
        ("emmc,data-fault-at=7", "data-fault says"),
        ("emmc,capacity=64MiB,eio-start=64MiB,eio-length=1MiB", "capacity"),
        ("emmc,capacity=64MiB,wraps-at=1GiB", "capacity"),
        ("emmc,limbo-from=8TB", "capacity"),
        ("emmc,wraps-at=1GiB,limbo-from=2GiB", "leads back"),
        ("emmc,flush=1ms,flush=2ms", "flush is given twice"),
    ] {
        let error = parse_sim(text).expect_err(text).to_string();
        assert!(error.contains(why) && (error.contains("has no effect") || error.contains("twice")), "{text}: {error}");
    }
    for text in [
        "nvme,open-streams=1,erase-penalty=5ms",
        "nvme,erase-block=1MiB,random-write-overhead=5ms",
        "emmc,cache-drain=1GB/s",
        "emmc,cap-visible=true,cap-iops=100",
        "emmc,limbo-from=1GiB,wraps-at=2GiB",
        "emmc,eio-start=1MiB,eio-length=1",
    ] {
        parse_sim(text).expect(text);
    }
}

#[test]
fn keys_are_unique_and_described() {
    for (i, key) in sim_keys().iter().enumerate() {
        assert!(sim_keys()[..i].iter().all(|k| k.name != key.name), "{} twice", key.name);
        assert!(key.meaning.ends_with('.') && !key.expects.is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[a-z0-9-]{0,12}(,[a-z-]{0,12}=?[0-9a-zA-Z.:+%/-]{0,12}){0,3}") {
        let _ = parse_sim(&text);
    }

    #[test]
    fn no_value_of_a_known_key_panics(key in 0usize..49, value in "[0-9a-zA-Z.:+%/-]{0,16}") {
        let keys = sim_keys();
        if let Ok(model) = parse_sim(&format!("nvme,{}={value}", keys[key % keys.len()].name)) {
            let truth = model.truth(&stream(Operation::Write, Order::Random, 4096, 4), Access::Direct, 0);
            proptest::prop_assert!(truth.bytes_per_s.is_finite());
        }
    }
}
