//! The named simulated devices: their truth is what was published of such devices, and follows their parameters.

use crate::sim_device::stream;
use engine::SimTruth;
use model::{Access, Operation, Order};
use proptest::prelude::*;
use spec::parse_sim;

/// Rates at depth 1 from `sd-cards.csv`, published by the Armbian forum ("SD card performance"): IOPS of reads and
/// writes at 1k, 4k, 16k, and sequential MB/s of reads and writes.
const PUBLISHED: &[(&str, [f64; 8])] = &[
    ("class4-card", [1574., 99., 1926., 33., 726., 2., 43., 10.]),
    ("a1-card", [3840., 826., 3201., 1480., 2030., 769., 66., 59.]),
    ("a2-card-no-queue", [2431., 417., 1766., 732., 1660., 427., 65., 50.]),
    ("emmc", [5191., 1230., 5083., 1943., 3707., 981., 128., 32.]),
];

#[test]
fn the_truth_is_what_was_published() {
    for (name, figures) in PUBLISHED {
        let model = parse_sim(name).unwrap();
        let mut expected = figures.iter();
        for block in [1u64 << 10, 4 << 10, 16 << 10] {
            for operation in [Operation::Read, Operation::Write] {
                let truth = SimTruth::of(
                    &model,
                    stream(operation, Order::Random, block, 1).blocks().unwrap(),
                    Access::Direct,
                    0,
                );
                let published = expected.next().unwrap();
                let off = truth.operations_per_s / published - 1.0;
                assert!(off.abs() < 0.01, "{name} {operation:?} {block}: {} for {published}", truth.operations_per_s);
            }
        }
        for operation in [Operation::Read, Operation::Write] {
            for depth in [1, 8] {
                let truth = SimTruth::of(
                    &model,
                    stream(operation, Order::Sequential, 1 << 20, depth).blocks().unwrap(),
                    Access::Direct,
                    0,
                );
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
        let iops = |op| {
            SimTruth::of(&model, stream(op, Order::Random, 4096, 32).blocks().unwrap(), Access::Direct, 0)
                .operations_per_s
        };
        assert_eq!((iops(Operation::Read) >= 4000.0, iops(Operation::Write) >= 2000.0), (read, write), "{text}");
    }
}

#[test]
fn more_cpu_cost_shows_in_the_truth() {
    let iops = |text: &str| {
        let m = parse_sim(text).unwrap();
        SimTruth::of(&m, stream(Operation::Read, Order::Random, 4096, 1).blocks().unwrap(), Access::Direct, 0)
            .operations_per_s
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
fn an_overhead_takes_the_place_of_points() {
    let us = |text: &str, operation, order| {
        let model = parse_sim(text).unwrap();
        1e6 / SimTruth::of(&model, stream(operation, order, 4096, 1).blocks().unwrap(), Access::Direct, 0)
            .operations_per_s
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

proptest! {
    #[test]
    fn no_value_of_a_known_key_has_no_truth(key in 0usize..49, value in "[0-9a-zA-Z.:+%/-]{0,16}") {
        let keys = spec::sim_keys();
        if let Ok(model) = parse_sim(&format!("nvme,{}={value}", keys[key % keys.len()].name)) {
            let truth = SimTruth::of(&model, stream(Operation::Write, Order::Random, 4096, 4).blocks().unwrap(), Access::Direct, 0);
            prop_assert!(truth.bytes_per_s.is_finite());
        }
    }
}
