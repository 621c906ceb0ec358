//! Constructed runs in which a cache decides: the page cache, memory, the device's own.

use crate::expect::*;
use crate::run_builder::*;
use model::{Access, Confidence, Fact, LayerKind, LimitLayer, Reason, Run};

/// What this project measured on a cloud machine: 0.5 to 1.6 GB/s buffered against 1.9 to 2.6 GB/s direct.
#[test]
fn buffered_far_below_direct_with_a_busy_kernel_says_so_by_itself() {
    for (buffered, direct, own) in [(0.5, 1.9, 0.27), (1.0, 2.2, 0.5), (1.6, 2.6, 0.71)] {
        let phases = with(
            healthy(2600.0),
            [
                sequential("seq-write", direct * 1e3).jitter(0.1),
                sequential("buffered-write", buffered * 1e3).own(0.01, own).cpu(0.01, own, 0.0),
            ],
        );
        let run = Builder::new(cloud_disk()).virtual_machine().phases(phases).build();
        let limit = diagnose::limit(&run);
        assert_eq!((limit.layer, limit.confidence), (LimitLayer::PageCache, Confidence::Probable), "{limit:?}");
        assert!(limit.statement.contains("direct") && limit.statement.contains("in the kernel"), "{}", limit.statement);
        for id in ["buffered-write.throughput_bytes_per_s", "seq-write.throughput_bytes_per_s"] {
            assert!(limit.evidence.iter().any(|e| e.source == id));
        }
        let found = diagnose::findings(&run);
        assert!(found.iter().any(|f| f.id == "buffered-far-below-direct" && f.confidence == Confidence::Probable));
        let step = next_step(&run, &found).unwrap();
        assert!(step.step.text().contains("direct I/O from aligned buffers"));
        let ratio = step.predicted_ratio.unwrap();
        assert!((ratio / (direct / buffered) - 1.0).abs() < 0.05, "{ratio}");
    }
}

#[test]
fn buffered_below_direct_with_idle_processors_is_a_hint_only() {
    let slow = sequential("buffered-write", 100.0).own(0.01, 0.04).cpu(0.01, 0.05, 0.0);
    let run = Builder::new(sata()).phases(with(healthy(200.0), [slow])).build();
    let cause = diagnose::causes(&run).into_iter().find(|c| c.layer == LimitLayer::PageCache).unwrap();
    assert_eq!(cause.confidence, Confidence::Low);
    assert_eq!(finding(&run, "buffered-far-below-direct").unwrap().confidence, Confidence::Low);
}

/// A guest with the server in it: everything is slow, and both ways fill its processors.
fn on_full_processors(own: f64, full: (f64, f64), others: f64) -> Run {
    let direct = sequential("seq-write", 100.0).own(0.01, 0.1).cpu(0.02, full.0, 0.0);
    let slow = sequential("buffered-write", 60.0).own(0.01, own).cpu(others, full.1, 0.0);
    Builder::new(sata()).phases([direct, slow]).build()
}

#[test]
fn where_both_ways_fill_the_processors_buffered_writes_are_not_the_page_caches() {
    let id = "buffered-far-below-direct";
    let both = on_full_processors(0.3, (0.9, 0.94), 0.02);
    let found = diagnose::causes(&both);
    let is_it = |c: &&diagnose::Cause| c.layer == LimitLayer::Cpu && c.statement.contains("with our own work");
    let cause = found.iter().find(is_it).expect("the processors are told");
    assert_eq!(cause.confidence, Confidence::Low, "{cause:?}");
    assert!(cause.statement.contains("96 % busy during buffered-write, 31 % of one with our own work"), "{cause:?}");
    assert!(found.iter().all(|c| c.layer != LimitLayer::PageCache), "{found:?}");
    // What fills a processor for the buffered way alone is its own: a flusher, or the copy.
    holds_and_nearly(id, &on_full_processors(0.3, (0.1, 0.94), 0.02), &both);
    holds_and_nearly(id, &on_full_processors(0.9, (0.9, 0.94), 0.02), &both);
    // And what programs of others fill is not.
    holds_and_nearly(id, &on_full_processors(0.3, (0.1, 0.6), 0.02), &on_full_processors(0.3, (0.1, 0.4), 0.57));
}

#[test]
fn two_ways_are_not_compared_where_the_machine_was_away_in_one() {
    let id = "buffered-far-below-direct";
    let run = |buffered, direct| {
        let phases = [sequential("seq-write", 100.0), sequential("buffered-write", 60.0).own(0.01, 0.6)];
        let ran = |phase: &str| match phase {
            "buffered-write" => buffered,
            "seq-write" => direct,
            _ => 1.0,
        };
        idle_but_away(Builder::new(sata()).phases(phases).build(), ran)
    };
    assert_eq!(finding(&run(1.0, 1.0), id).map(|f| f.confidence), Some(Confidence::Probable));
    assert!(finding(&run(0.9, 0.95), id).is_some());
    // As if it had run all the time, they would be alike.
    let missing = "processors that ran for most of the time";
    unknown_for_want_of(id, &run(0.6, 0.95), missing);
    unknown_for_want_of(id, &run(0.4, 0.35), missing);
    let found = diagnose::causes(&run(0.6, 0.95));
    assert!(found.iter().all(|c| c.layer != LimitLayer::PageCache), "{found:?}");
    assert!(found.iter().any(|c| c.statement.contains("had its processors for 60 % of the time")), "{found:?}");
    // What a machine was away for is accounted to whoever was running: no thread copies for it.
    let copying = "buffered-write-cpu-bound";
    let busy = |ran| {
        let phase = sequential("buffered-write", 60.0).own(0.01, 0.95);
        idle_but_away(Builder::new(sata()).phases([phase]).build(), move |_| ran)
    };
    holds_and_nearly(copying, &busy(1.0), &busy(0.7));
}

#[test]
fn cold_reads_on_full_processors_are_not_read_aheads() {
    let run = |system| {
        let mut stack = sata();
        stack[0].set("read_ahead_kb", Fact::Int(128));
        let cold = sequential("buffered-read", 110.0).own(0.01, 0.1).cpu(0.02, system, 0.0);
        let direct = sequential("seq-read", 250.0).cpu(0.02, system, 0.0);
        let phases = [random("rand-read-qd1", 1_000.0), random("rand-read-qd32", 20_000.0), direct, cold];
        diagnose::causes(&Builder::new(stack).phases(phases).build())
    };
    let named = |found: &[diagnose::Cause]| found.iter().any(|c| c.layer == LimitLayer::PageCache);
    let full = run(0.95);
    assert!(named(&run(0.5)) && !named(&full), "{full:?}");
    assert!(
        full.iter().any(|c| c.layer == LimitLayer::Cpu && c.statement.contains("during buffered-read")),
        "{full:?}"
    );
}

#[test]
fn buffered_within_the_noise_of_direct_is_no_step() {
    let wide = sequential("buffered-write", 150.0).own(0.01, 0.6).cpu(0.01, 0.6, 0.0).noise(0.3).fast_round(1.4);
    let run = Builder::new(sata()).phases(with(healthy(200.0), [wide])).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::PageCache));
    assert!(finding(&run, "buffered-far-below-direct").is_none());
}

#[test]
fn a_few_wide_rounds_that_all_stay_below_direct_are_a_step() {
    let phases = |worst_share| {
        with(
            healthy(2000.0),
            [sequential("buffered-write", 800.0).own(0.01, 0.5).cpu(0.01, 0.5, 0.0).noise(1.5).fast_round(worst_share)],
        )
    };
    let run = Builder::new(cloud_disk()).virtual_machine().phases(phases(1.5)).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::PageCache);
    // One round as fast as direct writes: the wide interval stands, and nothing is claimed.
    let run = Builder::new(cloud_disk()).virtual_machine().phases(phases(2.4)).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::PageCache));
}

#[test]
fn direct_writes_that_fell_back_are_not_the_measure_of_buffered_ones() {
    let phases = with(
        healthy(200.0),
        [
            sequential("seq-write", 190.0).fallback("btrfs with checksums"),
            sequential("buffered-write", 60.0).own(0.01, 0.6).cpu(0.01, 0.6, 0.0),
        ],
    );
    let run = Builder::new(sata()).phases(phases).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::PageCache));
    assert!(diagnose::causes(&run).iter().any(|c| c.layer == LimitLayer::Filesystem));
}

#[test]
fn a_write_cache_that_runs_out_is_named_with_both_rates() {
    let run =
        Builder::new(sata()).phases(with(healthy(300.0), [sequential("seq-write", 280.0).falls(20, 0.25)])).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Device, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("ran out, after 5"), "{}", limit.statement);
}

#[test]
fn a_slope_and_a_dent_are_no_exhausted_cache() {
    for changed in [
        sequential("seq-write", 280.0).slides(0.4),
        sequential("seq-write", 280.0).jitter(0.4),
        sequential("seq-write", 280.0).falls(25, 0.9),
    ] {
        let run = Builder::new(sata()).phases(with(healthy(300.0), [changed])).build();
        assert!(
            diagnose::causes(&run).iter().all(|c| !c.statement.contains("ran out")),
            "{:?}",
            diagnose::causes(&run)
        );
    }
}

#[test]
fn small_read_ahead_windows_explain_slow_cold_reads_and_large_ones_do_not() {
    let limit = |kib: i64| {
        let mut stack = sata();
        stack[0].set("read_ahead_kb", Fact::Int(kib));
        // 1 ms at depth 1: 128 KiB a latency are 80 MB/s.
        let phases = with(
            healthy(250.0),
            [random("rand-read-qd1", 1_000.0), random("rand-read-qd32", 20_000.0), sequential("buffered-read", 110.0)],
        );
        diagnose::limit(&Builder::new(stack).phases(phases).build())
    };
    let named = limit(128);
    assert_eq!((named.layer, named.confidence), (LimitLayer::PageCache, Confidence::Probable), "{named:?}");
    assert!(named.statement.contains("windows of 128 KiB"), "{}", named.statement);
    assert_ne!(limit(8192).layer, LimitLayer::PageCache);
}

#[test]
fn an_exhausted_cache_is_seen_in_the_layout_if_writes_stay_slow() {
    let run = |write: f64| {
        let layout = sequential("layout", 280.0).falls(20, 0.25);
        let phases = [vec![layout], with(healthy(200.0), [sequential("seq-write", write)])].concat();
        diagnose::limit(&Builder::new(sata()).phases(phases).build())
    };
    assert!(run(72.0).statement.contains("ran out"), "{:?}", run(72.0));
    assert!(!run(190.0).statement.contains("ran out"));
}

/// Reads that the page cache answered, and writes that had not left it, say nothing about the storage.
#[test]
fn what_memory_served_is_not_called_the_storage() {
    let buffered = |name: &str, mb_s: f64| {
        let mut run = Builder::new(sata()).phase(sequential(name, mb_s)).build();
        let phase = run.phases.first_mut().unwrap();
        phase.plan.set_access(Access::Buffered);
        phase.plan.cold = false;
        phase.record.as_mut().unwrap().rounds.clear();
        run
    };
    let mut read = buffered("seq-read", 4780.0);
    assert_ne!(diagnose::limit(&read).layer, LimitLayer::PageCache);
    read.phases[0].reasons = vec![Reason::PageCache { percent: 98.0 }];
    let limit = diagnose::limit(&read);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::PageCache, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("98 % of what seq-read read"), "{limit:?}");
    read.phases[0].reasons = vec![Reason::PageCache { percent: 20.0 }];
    assert_ne!(diagnose::limit(&read).layer, LimitLayer::PageCache);

    let mut write = buffered("seq-write", 7000.0);
    assert_ne!(diagnose::limit(&write).layer, LimitLayer::PageCache, "all of it came to the device");
    for sample in &mut write.samples {
        sample.disks.iter_mut().for_each(|d| d.sectors_written /= 10);
    }
    let limit = diagnose::limit(&write);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::PageCache, Confidence::Probable), "{limit:?}");
    // Beside phases that reached the storage it is a remark.
    let mut run = Builder::new(sata()).phases(healthy(200.0)).build();
    let read = run.phases.iter_mut().find(|p| p.plan.name == "buffered-read").unwrap();
    read.plan.cold = false;
    read.reasons = vec![Reason::PageCache { percent: 98.0 }];
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Device);
    assert!(diagnose::causes(&run).iter().any(|c| c.statement.contains("98 %")));
}

#[test]
fn a_path_as_fast_as_memory_is_memory() {
    let phases = with(healthy(1000.0), [sequential("buffered-read", 6000.0)]);
    let run = Builder::new(vec![layer(LayerKind::Filesystem, "tmpfs", None, &[])]).phases(phases).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Memory);
    // What was over in a moment shows no limit, and to read directly is no advice for what was read directly.
    let looped = |dio: bool| vec![layer(LayerKind::Loop, "loop0", None, &[("dio", Fact::Bool(dio))])];
    let read = || with(healthy(1000.0), [sequential("seq-read", 6000.0)]);
    let memory = |run: &Run| diagnose::causes(run).into_iter().find(|c| c.layer == LimitLayer::Memory);
    let mut run = Builder::new(looped(false)).phases(read()).build();
    let cause = memory(&run).expect("through the page cache of its file");
    assert_eq!(cause.next_step.as_ref().map(|s| s.step.clone()), Some(model::Step::LoopDirect));
    assert!(memory(&Builder::new(looped(true)).phases(read()).build()).is_none());
    run.phases.iter_mut().for_each(|p| p.reasons.push(Reason::ShortPhase { seconds: 0.1 }));
    assert!(memory(&run).is_none());
    // A disk that is reached directly copies nothing in memory, however near the rates lie.
    let direct = with(healthy(1000.0), [sequential("seq-write", 6000.0)]);
    let run = Builder::new(sata()).phases(direct).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Memory));
}
