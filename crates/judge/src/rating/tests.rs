//! Ratings with known answers.

use super::*;
use crate::fixture::Fixture;
use model::{Layer, Operation};

fn card(transport: &str) -> Target {
    let mut disk = Layer::new(LayerKind::Disk, "mmcblk0");
    disk.set("transport", transport);
    Target {
        name: "/mnt".into(),
        kind: TargetKind::Directory,
        path: None,
        size_bytes: None,
        writable: true,
        stack: Stack { mount: None, layers: vec![disk].into() },
    }
}

fn random(operation: Operation, depth: u32, rate: u64) -> PhaseRun {
    let mut fixture = Fixture::random_read().at_rate(rate, 4.0);
    fixture.plan.streams[0].block_mut().operation = operation;
    fixture.plan.streams[0].path.queue_depth = depth;
    fixture.record.mean_depth = Some(f64::from(depth));
    run_of(fixture, &format!("any-{operation:?}-{depth}"))
}

/// The names of phases do not matter.
fn run_of(mut fixture: Fixture, name: &str) -> PhaseRun {
    fixture.plan.name = name.into();
    let judged = fixture.judge();
    PhaseRun {
        plan: fixture.plan,
        status: judged.status,
        reasons: judged.reasons,
        steady: judged.steady,
        changes: Vec::new(),
        metrics: judged.metrics,
        record: Some(fixture.record),
    }
}

fn phases(read: u64, write: u64, sequential: Fixture) -> Vec<PhaseRun> {
    vec![
        run_of(sequential, "pour"),
        random(Operation::Read, 1, read),
        random(Operation::Write, 1, write),
        random(Operation::Read, 32, read),
        random(Operation::Write, 32, write),
    ]
}

fn indication(list: &[Rating], class: &str) -> Option<String> {
    list.iter().find(|r| r.class == class).unwrap().indication.clone()
}

#[test]
fn a_good_card_is_above_and_never_certified() {
    let list = ratings_of(&card("mmc"), &phases(3_000, 1_000, Fixture::sequential_write()));
    assert!(list.iter().all(|r| r.met.is_none() && r.approximation && !r.reasons.is_empty()));
    assert_eq!(list.len(), 13);
    // 40 MiB/s = 41.9 MB/s.
    for (class, want) in
        [("A1", "above"), ("A2", "below"), ("C10", "above"), ("U3", "above"), ("V30", "above"), ("V60", "below")]
    {
        assert_eq!(indication(&list, class).as_deref(), Some(want), "{class}");
    }
    assert!(list[1].reasons.iter().any(|r| r.is("queue-and-cache")));
}

#[test]
fn one_bad_second_decides_and_not_the_mean() {
    let mut f = Fixture::sequential_write();
    // 41.9 MB/s but for one second of silence: the mean is 31 MB/s.
    f.record.intervals[15..25].iter_mut().for_each(|i| (i.bytes, i.operations) = (0, 0));
    let lost: u64 = 10 * 4;
    f.record.operations -= lost;
    f.record.bytes -= lost << 20;
    let list = ratings_of(&card("mmc"), &phases(3_000, 1_000, f));
    assert_eq!(indication(&list, "C2").as_deref(), Some("below"));
    assert_eq!(indication(&list, "A1").as_deref(), Some("below"));
}

#[test]
fn a_slow_card_is_not_below_by_the_grain_of_its_blocks() {
    // 5 MiB/s in single blocks of 1 MiB: a window of a second would swing by 20 %.
    let list = ratings_of(&card("mmc"), &phases(300, 30, Fixture::sequential_write().at_rate(5, 8.0)));
    assert_eq!(indication(&list, "C4").as_deref(), Some("above"));
    assert_eq!(indication(&list, "C6").as_deref(), Some("below"));
}

#[test]
fn a_disk_that_is_through_in_less_than_a_second_took_that_much_in_it() {
    let short = |stop| {
        let mut f = Fixture::sequential_write().at_rate(400, 0.5);
        f.record.stop = stop;
        [run_of(f, "pour")]
    };
    let done = short(StopCause::RegionDone);
    assert!(lowest_sustained_write(&done).is_err(), "no second is whole");
    let record = done[0].record.as_ref().unwrap();
    let counted: u64 = record.counted_intervals().iter().map(|i| i.bytes).sum();
    assert!(counted > 100 << 20 && counted <= record.bytes, "{counted}");
    assert_eq!(least_of_the_only_second(&done), Some(counted as f64));
    assert_eq!(least_of_the_only_second(&short(StopCause::Interrupted)), None);
    assert_eq!(least_of_the_only_second(&phases(1, 1, Fixture::sequential_write())), None, "it has whole seconds");
}

/// The same phases, on a machine of which a tenth was taken away.
fn stolen(read: u64, write: u64, mut sequential: Fixture) -> Vec<PhaseRun> {
    let steal = |f: &mut Fixture| {
        let ticks = f.record.duration_ns() / 10_000_000;
        f.cpu_ticks(ticks * 9 / 10, ticks / 10);
    };
    steal(&mut sequential);
    let random = |operation: Operation, depth: u32, rate: u64| {
        let mut fixture = Fixture::random_read().at_rate(rate, 4.0);
        fixture.plan.streams[0].block_mut().operation = operation;
        fixture.plan.streams[0].path.queue_depth = depth;
        fixture.record.mean_depth = Some(f64::from(depth));
        steal(&mut fixture);
        run_of(fixture, &format!("any-{operation:?}-{depth}"))
    };
    let all = vec![
        run_of(sequential, "pour"),
        random(Operation::Read, 1, read),
        random(Operation::Write, 1, write),
        random(Operation::Read, 32, read),
        random(Operation::Write, 32, write),
    ];
    assert!(all.iter().all(|p| p.status == model::PhaseStatus::Refused && p.reasons[0].is("steal")));
    all
}

#[test]
fn what_was_slowed_says_above_and_never_below() {
    let list = rated(&card("mmc"), &stolen(5_000, 28_900, Fixture::sequential_write()));
    let of = |class: &str| list.iter().find(|c| c.rating.class == class).unwrap();
    for (class, want) in [("A1", "above"), ("A2", "above"), ("C10", "above"), ("U3", "above"), ("V30", "above")] {
        assert_eq!(of(class).rating.indication.as_deref(), Some(want), "{class}");
    }
    let writes = &of("A1").needs[1];
    assert!(writes.low == writes.value && writes.value > Some(28_000.0) && writes.high.is_none(), "{writes:?}");
    let v60 = &of("V60").rating;
    assert!(v60.indication.is_none() && v60.reasons[0].is("bound") && v60.reasons[0].to_string().contains("steal"));
    let slow = rated(&card("mmc"), &stolen(5_000, 300, Fixture::sequential_write()));
    assert_eq!(slow[0].rating.indication, None, "300 may be 500 without the hypervisor");
    assert!(slow[0].rating.reasons[0].to_string().contains("at least"), "{:?}", slow[0].rating.reasons);
}

#[test]
fn a_use_is_answered_by_a_bound_and_by_nothing_that_may_be_too_good() {
    let fit = |phases: Vec<PhaseRun>, of: &str| crate::fit(&test_runs::run(phases), &crate::use_named(of).unwrap());
    let good = fit(stolen(5_000, 28_900, Fixture::sequential_write()), "A1");
    assert_eq!((good.met, good.bound), (Some(true), Some(Bound::AtLeast)), "{good:?}");
    let slow = fit(stolen(5_000, 300, Fixture::sequential_write()), "A1");
    assert_eq!((slow.met, slow.value, slow.bound), (None, None, None), "{slow:?}");
    assert!(slow.reasons[0].to_string().contains("steal: "), "{:?}", slow.reasons);
    // 38,000 random reads of a file system in user space, which may hold them in memory.
    let mut unproven = phases(38_000, 28_900, Fixture::sequential_write());
    let mut f = Fixture::random_read().at_rate(38_000, 4.0);
    f.plan.streams[0].path.queue_depth = 1;
    f.record.mean_depth = Some(1.0);
    f.record.direct = Some(model::DirectProof::Unproven("fuseblk".into()));
    unproven[1] = run_of(f, "rand-read-qd1");
    let told = |m: &&model::Metric| m.reasons.iter().any(|r| r.is("direct-unproven"));
    let with_value = unproven[1].metrics.iter().filter(|m| m.value.is_some());
    assert!(with_value.clone().count() > 5 && with_value.clone().filter(told).count() == with_value.count());
    assert_eq!(indication(&ratings_of(&card("mmc"), &unproven), "A1"), None);
    let open = fit(unproven, "root-fs");
    assert_eq!(open.met, None, "{open:?}");
    assert!(open.reasons[0].to_string().contains("direct-unproven: "), "{:?}", open.reasons);
}

#[test]
fn closed_where_numbers_are_missing_or_refused() {
    let mut f = Fixture::sequential_write();
    f.record.stop = StopCause::Interrupted;
    let list = ratings_of(&card("mmc"), &phases(3_000, 1_000, f));
    assert_eq!(indication(&list, "V10"), None);
    assert_eq!(indication(&list, "A1"), None);
    assert!(list[2].reasons[0].to_string().contains("interrupted"), "{:?}", list[2].reasons);
    let list = ratings_of(&card("mmc"), &phases(1_000, 1_000, Fixture::sequential_write())[1..]);
    // A part that is below decides even where another is missing.
    assert_eq!(indication(&list, "A1").as_deref(), Some("below"));
    assert_eq!(indication(&list, "U1"), None);
    let short = Fixture::sequential_write().at_rate(40, 0.8);
    assert_eq!(indication(&ratings_of(&card("mmc"), &phases(3_000, 1_000, short)), "U1"), None);
}

#[test]
fn disks_have_no_card_class() {
    assert_eq!(ratings_of(&card("sata"), &phases(3_000, 1_000, Fixture::sequential_write())), []);
}

fn hot(mut phase: PhaseRun) -> PhaseRun {
    let why = Reason::Throttled { evidence: "cooling increased and the rate fell by 21 %".into() };
    phase.status = model::PhaseStatus::Refused;
    phase.reasons.push(why.clone());
    for metric in &mut phase.metrics {
        metric.rejected_value = metric.value.take();
        (metric.status, metric.reasons, metric.bound) =
            (model::MetricStatus::Refused, vec![why.clone()], Some(Bound::AtLeast));
    }
    phase
}

/// The same blocks through the page cache.
fn buffered(mebibytes: u64) -> PhaseRun {
    let fixture = Fixture::buffered_write(&[16.0 / mebibytes as f64; 8]).at_rate(mebibytes, 4.0);
    let phase = run_of(fixture, "cached");
    assert_eq!(Work::of(&phase.plan), Some(Work::BufferedWrite));
    phase
}

#[test]
fn a_rate_from_before_the_heat_is_no_sustained_one() {
    // 41.9 MB/s before, and nothing that was written after.
    let only = [hot(run_of(Fixture::sequential_write(), "pour"))];
    let list = rated(&card("mmc"), &only);
    let of = |list: &[RatedClass], class: &str| list.iter().find(|c| c.rating.class == class).unwrap().rating.clone();
    assert_eq!(of(&list, "V30").indication, None, "it may come down further");
    assert!(of(&list, "V30").reasons[0].to_string().contains("at most 41"), "{:?}", of(&list, "V30").reasons[0]);
    assert_eq!(of(&list, "V60").indication.as_deref(), Some("below"), "hot or not");
    // The heat of another kind of work says as much of writes.
    let other = [run_of(Fixture::sequential_write(), "pour"), hot(random(Operation::Read, 1, 3_000))];
    assert_eq!(of(&rated(&card("mmc"), &other), "V30").indication, None);
}

#[test]
fn what_follows_the_heat_decides() {
    let after = vec![hot(run_of(Fixture::sequential_write(), "pour")), buffered(24)];
    let list = rated(&card("mmc"), &after);
    let of = |class: &str| list.iter().find(|c| c.rating.class == class).unwrap().rating.indication.clone();
    assert_eq!((of("V10").as_deref(), of("V30").as_deref()), (Some("above"), Some("below")));
    let run = test_runs::run(after);
    let video = |class: &str| crate::fit(&run, &crate::use_named(class).unwrap());
    assert_eq!((video("V10").met, video("V30").met), (Some(true), Some(false)));
    assert!(video("V30").value.is_some_and(|rate| rate < 26e6), "{:?}", video("V30"));
    assert_eq!(video("record=4x6MB@1").met, Some(true));
    assert_eq!(video("record=4x8MB@1").met, Some(false));
}

#[test]
fn a_cache_that_ended_through_the_page_cache_counts() {
    let mut cached = buffered(24);
    cached.changes.push(model::RateChange {
        at_ns: 1_000_000_000,
        before_bytes_per_s: 60e6,
        after_bytes_per_s: 12e6,
        bytes_before: 60_000_000,
    });
    let list = rated(&card("mmc"), &[run_of(Fixture::sequential_write(), "pour"), cached]);
    let of = |class: &str| list.iter().find(|c| c.rating.class == class).unwrap().rating.indication.clone();
    assert_eq!((of("V10").as_deref(), of("V30").as_deref()), (Some("above"), Some("below")));
}
