//! Constructed runs in which others had a part: other users, the hypervisor, busy processors, caps set on purpose.

use crate::run_builder::*;
use model::{Confidence, Fact, LayerKind, LimitLayer, Reason};

#[test]
fn others_on_the_disk_are_named_where_nothing_that_stands_explains_more() {
    let check = |mb_s: f64, read: Phase| Builder::new(sata()).phases(with(healthy(mb_s), [read])).build();
    let limit = diagnose::limit(&check(200.0, sequential("seq-read", 200.0).foreign(0.2).refused()));
    assert!(limit.statement.contains("others use the same disk"), "{limit:?}");
    // The write phase stands and fills the link.
    let limit = diagnose::limit(&check(575.0, sequential("seq-read", 575.0).foreign(0.2).refused()));
    assert_eq!(limit.layer, LimitLayer::Link);
    // Seen during the phase and not around it.
    let mut during = check(200.0, sequential("seq-read", 200.0).refused());
    let phase = during.phases.iter_mut().find(|p| p.plan.name == "seq-read").unwrap();
    phase.reasons = vec![Reason::of("foreign-traffic", "at least 30 % of the device's traffic was not ours")];
    let limit = diagnose::limit(&during);
    assert!(limit.statement.contains("during seq-read at least 30 %"), "{limit:?}");
    let quiet = check(200.0, sequential("seq-read", 200.0).foreign(0.04));
    assert!(diagnose::causes(&quiet).iter().all(|c| !c.statement.contains("others")));
}

#[test]
fn steal_is_told_but_does_not_take_the_place_of_a_better_cause() {
    let run = Builder::new(sata()).phases(with(healthy(540.0), [sequential("seq-read", 540.0).steal(0.1)])).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Link);
    assert!(diagnose::causes(&run).iter().any(|c| c.layer == LimitLayer::Throttle && c.confidence == Confidence::Low));
}

#[test]
fn steal_alone_is_no_bottleneck() {
    let run = Builder::new(Vec::new()).phases([sequential("seq-read", 200.0).steal(0.1)]).build();
    assert_eq!(diagnose::causes(&run).len(), 1);
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Unknown);
}

#[test]
fn a_limit_of_the_control_group_is_known_by_its_number_and_by_what_splitting_makes_of_it() {
    let limited = |name: &str, value: i64| {
        let mut layers = sata();
        let disk = layers.iter_mut().find(|l| l.kind == LayerKind::Disk).unwrap();
        disk.facts.insert(name.into(), Fact::Int(value));
        layers
    };
    let slow = |iops: f64, mb_s: f64| {
        with(
            healthy(500.0),
            [random("rand-read-qd1", iops), random("rand-read-qd32", iops), sequential("seq-read", mb_s)],
        )
    };
    // 133 reads of 1 MiB a second: a third of 400.
    let found = diagnose::limit(&Builder::new(limited("cgroup_read_iops", 400)).phases(slow(399.0, 139.8)).build());
    assert_eq!((found.layer, found.confidence), (LimitLayer::Throttle, Confidence::High), "{}", found.statement);
    assert!(found.statement.contains("400 IOPS") && found.statement.contains("charged 3 times"), "{}", found.statement);
    // A rate a little below the limit may be the device's own; one above it is only let pass.
    let beside = |iops: f64| {
        let run = Builder::new(limited("cgroup_read_iops", 400)).phases(slow(iops, 50.0)).build();
        diagnose::causes(&run).into_iter().find(|c| c.layer == LimitLayer::Throttle).unwrap()
    };
    assert_eq!(beside(391.0).confidence, Confidence::Low, "{}", beside(391.0).statement);
    assert!(beside(391.0).statement.contains("or the device"), "{}", beside(391.0).statement);
    assert_eq!(beside(408.0).confidence, Confidence::Probable, "{}", beside(408.0).statement);
    // Half of the limit on bytes where requests are split, and more of it where they are not.
    let halved = |buffered: f64, queue: &[(&str, i64)]| {
        let mut layers = limited("cgroup_read_bytes_per_s", 30_000_000);
        let disk = layers.iter_mut().find(|l| l.kind == LayerKind::Disk).unwrap();
        queue.iter().for_each(|(name, value)| disk.set(name, *value));
        let phases = with(slow(1_000.0, 15.1), [sequential("buffered-read", buffered)]);
        Builder::new(layers).phases(phases).build()
    };
    let found = diagnose::limit(&halved(24.0, &[]));
    assert_eq!((found.layer, found.confidence), (LimitLayer::Throttle, Confidence::Probable), "{}", found.statement);
    assert!(found.statement.contains("charged 2 times"), "{}", found.statement);
    // A device that happens to give half of the limit gives it to all.
    let chance = halved(15.0, &[]);
    assert_ne!(diagnose::limit(&chance).layer, LimitLayer::Throttle);
    let hint = diagnose::causes(&chance).into_iter().find(|c| c.layer == LimitLayer::Throttle).unwrap();
    assert_eq!(hint.confidence, Confidence::Low);
    // And where nothing is split, half of a limit is none of it.
    let whole = halved(24.0, &[("max_sectors_kb", 1_280), ("max_segments", 256)]);
    assert!(diagnose::causes(&whole).iter().all(|c| c.layer != LimitLayer::Throttle));
    // A limit that was not met is none.
    let found = diagnose::limit(&Builder::new(limited("cgroup_read_iops", 90_000)).phases(slow(400.0, 139.8)).build());
    assert_ne!(found.layer, LimitLayer::Throttle, "{}", found.statement);
}

#[test]
fn a_processor_quota_is_named_where_it_is_used_up() {
    let limited = |used: f64| {
        let mut stack = sata();
        stack.push(layer(LayerKind::Host, "host", None, &[("cgroup_cpu_processors", Fact::Float(0.2))]));
        let phase = random("rand-read-qd32", 9_000.0).own(used / 2.0, used / 2.0);
        diagnose::limit(&Builder::new(stack).phases(with(healthy(200.0), [phase])).build())
    };
    let limit = limited(0.19);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Cpu, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("quota"), "{}", limit.statement);
    assert_eq!(limited(0.08).layer, LimitLayer::Device);
}

/// A cap of our own group is met however many others use the disk; what the storage can do stays unknown.
#[test]
fn a_limit_of_the_control_group_counts_beside_others_but_no_other_value_does() {
    let mut stack = sata();
    stack[0].set("cgroup_read_iops", Fact::Int(400));
    let phases: Vec<Phase> = with(
        healthy(540.0),
        [random("rand-read-qd1", 399.0), random("rand-read-qd32", 400.0), sequential("seq-read", 140.0)],
    )
    .into_iter()
    .map(Phase::refused)
    .collect();
    let mut run = Builder::new(stack).phases(phases).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Unknown);
    for phase in &mut run.phases {
        phase.reasons = vec![Reason::of("foreign-traffic", "20 % of the device's traffic was others'")];
    }
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Throttle, "{:?}", diagnose::causes(&run));
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Link));
}

#[test]
fn workers_that_wait_for_a_processor_are_told_and_are_no_bottleneck() {
    let waiting = |share: f64| {
        let mut run = Builder::new(sata()).phases(healthy(540.0)).build();
        for record in run.phases.iter_mut().filter_map(|p| p.record.as_mut()) {
            record.usage.cpu_wait_ns = Some((record.duration_ns() as f64 * share) as u64);
        }
        run
    };
    let told = |run: &model::Run| diagnose::causes(run).into_iter().find(|c| c.statement.contains("processors busy"));
    let run = waiting(0.3);
    let cause = told(&run).expect("the cause");
    assert_eq!((cause.layer, cause.confidence), (LimitLayer::Cpu, Confidence::Low));
    assert!(cause.statement.contains("30 %"), "{}", cause.statement);
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Link);
    assert!(told(&waiting(0.04)).is_none());
}
