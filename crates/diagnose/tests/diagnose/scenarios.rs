//! Constructed runs whose bottleneck is known, and near misses that must not be called.

use crate::run_builder::*;
use model::{Confidence, EvidenceKind, Fact, LayerKind, LimitLayer, TargetKind};

fn sd_card(facts: &[(&str, Fact)]) -> Vec<model::Layer> {
    let mut card = disk("mmcblk1", "mmc", &[("mmc_type", "SD".into())]);
    facts.iter().for_each(|(n, v)| card.set(n, v.clone()));
    vec![
        card,
        link("mmc1", 90, &[("bus_mode", "sdr104".into()), ("clock_hz", Fact::Int(200_000_000))]),
        layer(LayerKind::Controller, "mmc1", Some("dwmmc_rockchip"), &[("mmc_host_cqe", Fact::Bool(false))]),
    ]
}

#[test]
fn a_saturated_link_is_named_and_its_faster_mode_predicts_the_gain() {
    let mut stack = sata();
    stack[1] =
        link("ata1", 270, &[("sata_speed_gbit_s", Fact::Float(3.0)), ("sata_speed_max_gbit_s", Fact::Float(6.0))]);
    let run = Builder::new(stack).phases(healthy(266.0)).build();
    let limit = diagnose::limit(&run);
    assert_eq!(limit.layer, LimitLayer::Link, "{limit:?}");
    assert_eq!(limit.confidence, Confidence::Probable);
    assert!(limit.evidence.iter().any(|e| e.source == "seq-read.throughput_bytes_per_s"));
    let step = next_step(&run, &diagnose::findings(&run)).unwrap();
    assert_eq!(step.predicted_ratio, Some(2.0));
}

#[test]
fn a_full_link_predicts_what_its_best_mode_would_carry() {
    let step = |disk: model::Layer, link: model::Layer, rate: f64| {
        let run = Builder::new(vec![disk, link]).phases(healthy(rate)).build();
        let cause = diagnose::causes(&run).into_iter().find(|c| c.layer == LimitLayer::Link).unwrap();
        cause.next_step.as_ref().and_then(|s| s.predicted_ratio)
    };
    let card = || disk("mmcblk0", "mmc", &[("mmc_type", "SD".into()), ("uhs_grade", Fact::Int(3))]);
    let bus = |mode: &str, hz| {
        let host = Fact::List(vec!["sd-hs".into(), "sdr50".into(), "sdr104".into()]);
        let facts = [("bus_mode", mode.into()), ("clock_hz", Fact::Int(hz)), ("mmc_host_modes", host)];
        model::Layer { ceiling_bytes_per_s: Some(hz as u64 / 2), ..link("mmc0", 66, &facts) }
    };
    // Half the clock, 3.3 V signalling, and nothing better.
    assert_eq!(step(card(), bus("sdr104", 104_000_000), 65.0), Some(2.0));
    assert_eq!(step(card(), bus("sd-hs", 50_000_000), 65.0), Some(4.16));
    assert_eq!(step(card(), bus("sdr104", 208_000_000), 65.0), None);
    // Sixteen lanes of Gen1 and four of Gen4 have four of Gen1 in common, which is what there is.
    let lanes = |port_width| {
        let facts = [
            ("pcie_speed_gt_s", Fact::Float(2.5)),
            ("pcie_width", Fact::Int(4)),
            ("pcie_max_speed_gt_s", Fact::Float(16.0)),
            ("pcie_max_width", Fact::Int(4)),
            ("pcie_port_max_speed_gt_s", Fact::Float(2.5)),
            ("pcie_port_max_width", Fact::Int(port_width)),
        ];
        step(disk("nvme0n1", "nvme", &[]), link("0000:01:00.0", 900, &facts), 890.0)
    };
    assert_eq!((lanes(16), lanes(4)), (None, None));
}

#[test]
fn three_quarters_of_a_link_neither_name_nor_clear_it() {
    let run = Builder::new(sata()).phases(healthy(410.0)).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Unknown, Confidence::Low), "{limit:?}");
    assert!(limit.statement.contains("the link ata1 or the device") && limit.statement.contains("75 %"), "{limit:?}");
    let causes = diagnose::causes(&run);
    assert!(causes.iter().all(|c| c.layer != LimitLayer::Link && c.layer != LimitLayer::Device), "{causes:?}");
}

#[test]
fn three_quarters_of_a_link_at_the_same_rate_both_ways_are_more_likely_the_link() {
    let same = with(healthy(410.0), [sequential("seq-write", 405.0)]);
    let limit = diagnose::limit(&Builder::new(sata()).phases(same.clone()).build());
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Link, Confidence::Low), "{limit:?}");
    assert!(limit.evidence.iter().any(|e| e.source == "seq-write.throughput_bytes_per_s"), "{limit:?}");
    // Platters give and take the same rate.
    let mut platters = sata();
    platters[0].set("rotational", Fact::Bool(true));
    let limit = diagnose::limit(&Builder::new(platters).phases(same).build());
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Device, Confidence::Low), "{limit:?}");
}

#[test]
fn a_device_far_below_its_link_is_the_limit_by_exclusion() {
    let run = Builder::new(sata()).phases(healthy(200.0)).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Device, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("200 MB/s"), "{}", limit.statement);
}

#[test]
fn the_device_is_not_called_probable_without_a_link_ceiling_or_processors() {
    let mut stack = sata();
    stack.remove(1);
    let run = Builder::new(stack).phases(healthy(200.0)).build();
    assert!(!sure(diagnose::limit(&run).confidence));

    let mut run = Builder::new(sata()).phases(healthy(200.0)).build();
    run.samples.clear();
    let limit = diagnose::limit(&run);
    assert!(!sure(limit.confidence));
    assert!(limit.evidence.iter().any(|e| e.kind == EvidenceKind::Absence), "{limit:?}");
}

#[test]
fn an_a2_card_without_a_queue_is_serialised_by_the_host() {
    let mut stack = sd_card(&[("app_performance_class", Fact::Int(2))]);
    // As a simulated stack has it; it is no second disk.
    stack.push(layer(LayerKind::Sim, "a2-card-no-queue", None, &[]));
    let phases = with(
        healthy(66.0),
        [
            random("rand-read-qd1", 3201.0),
            random("rand-read-qd32", 3344.0),
            random("rand-write-qd1", 1480.0),
            random("rand-write-qd32", 1502.0),
        ],
    );
    let run = Builder::new(stack).phases(phases).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Controller, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("1.04 times"), "{}", limit.statement);
    let found = diagnose::findings(&run);
    assert!(found.iter().any(|f| f.id == "sd-a2-without-queue" && f.confidence == Confidence::Probable));
    // 66 MB/s at 4 KiB are 16113 operations: 4.8 times 3344.
    let ratio = next_step(&run, &found).unwrap().predicted_ratio.unwrap();
    assert!((4.7..5.0).contains(&ratio), "{ratio}");
}

#[test]
fn usb_bulk_only_and_ide_name_their_own_layer() {
    let phases = || with(healthy(35.0), [random("rand-read-qd1", 900.0), random("rand-read-qd32", 930.0)]);
    let usb = vec![disk("sda", "usb", &[]), link("2-1", 400, &[("usb_driver", "usb-storage".into())])];
    let limit = diagnose::limit(&Builder::new(usb).phases(phases()).build());
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Link, Confidence::Probable), "{limit:?}");

    let ide = vec![disk("sda", "ide", &[]), layer(LayerKind::Controller, "0000:00:1f.2", Some("ata_piix"), &[])];
    let limit = diagnose::limit(&Builder::new(ide).phases(phases()).build());
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Controller, Confidence::Probable), "{limit:?}");
}

#[test]
fn a_serialised_queue_without_facts_is_low_and_of_unknown_layer() {
    let phases = with(healthy(200.0), [random("rand-read-qd1", 900.0), random("rand-read-qd32", 930.0)]);
    let run = Builder::new(sata()).phases(phases).build();
    let cause = diagnose::causes(&run).into_iter().find(|c| c.statement.contains("one command at a time")).unwrap();
    assert_eq!((cause.layer, cause.confidence), (LimitLayer::Unknown, Confidence::Low));
}

#[test]
fn a_queue_that_gains_a_third_is_not_serialised() {
    let phases = with(healthy(66.0), [random("rand-read-qd1", 3000.0), random("rand-read-qd32", 4000.0)]);
    let run = Builder::new(sd_card(&[("app_performance_class", Fact::Int(2))])).phases(phases).build();
    assert!(diagnose::causes(&run).iter().all(|c| !c.statement.contains("command")), "{:?}", diagnose::causes(&run));
}

#[test]
fn a_depth_that_was_never_reached_says_nothing_about_the_queue() {
    let shallow = random("rand-read-qd32", 3344.0).latency_ns(1e9 / 3344.0);
    let phases = with(healthy(66.0), [random("rand-read-qd1", 3201.0), shallow]);
    let phases = without(phases, &["rand-write-qd1", "rand-write-qd32"]);
    let run = Builder::new(sd_card(&[("app_performance_class", Fact::Int(2))])).phases(phases).build();
    assert!(diagnose::causes(&run).iter().all(|c| !c.statement.contains("command")));
}

#[test]
fn reads_that_gain_clear_the_queue_whatever_writes_do() {
    let phases = with(
        healthy(66.0),
        [
            random("rand-read-qd1", 3000.0),
            random("rand-read-qd32", 7000.0),
            random("rand-write-qd1", 1480.0),
            random("rand-write-qd32", 1502.0),
        ],
    );
    let run = Builder::new(sd_card(&[("app_performance_class", Fact::Int(2))])).phases(phases).build();
    assert!(diagnose::causes(&run).iter().all(|c| !c.statement.contains("command queue")));
    assert!(finding(&run, "sd-a2-without-queue").is_none());
}

#[test]
fn the_step_after_too_few_measurements_is_to_measure_and_no_finding_is_guessed() {
    let step = |run: &model::Run| {
        let found = diagnose::findings(run);
        assert!(found.iter().any(|f| f.id == "sync-mount"), "the run must have a finding to guess: {found:?}");
        let limit = diagnose::limit(run);
        assert_eq!(limit.layer, LimitLayer::Unknown, "{limit:?}");
        next_step(run, &found).map(|s| s.step.text().to_owned())
    };
    let mut stack = sata();
    stack.insert(0, layer(LayerKind::Filesystem, "ext4", None, &[("sync_mount", Fact::Bool(true))]));
    let mut run = Builder::new(stack).phases(vec![sequential("copy", 5000.0), sequential("layout", 100.0)]).build();
    assert_eq!(step(&run), None, "nothing says why the measurements are missing");
    run.state = model::RunState::Interrupted;
    assert_eq!(step(&run).as_deref(), Some("repeat the check and let it come to its end"));
}

#[test]
fn throttling_with_a_fall_of_the_rate_is_thermal_not_an_exhausted_cache() {
    let hot = sequential("seq-write", 280.0).falls(20, 0.5).throttled(18, 0x4);
    let run = Builder::new(sata()).phases(with(healthy(300.0), [hot])).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::ThermalPower, Confidence::Probable), "{limit:?}");
    assert!(diagnose::causes(&run).iter().all(|c| !c.statement.contains("ran out") || c.confidence == Confidence::Low));
    let step = next_step(&run, &[]).unwrap();
    assert!((1.9..2.1).contains(&step.predicted_ratio.unwrap()));
}

#[test]
fn throttling_without_a_fall_is_a_hint_and_old_bits_are_nothing() {
    let run =
        Builder::new(sata()).phases(with(healthy(300.0), [sequential("seq-write", 280.0).throttled(18, 0x4)])).build();
    let cause = diagnose::causes(&run).into_iter().find(|c| c.layer == LimitLayer::ThermalPower).unwrap();
    assert_eq!(cause.confidence, Confidence::Low);

    let old = sequential("seq-write", 280.0).falls(20, 0.5).throttled(0, 0x5_0000);
    let run = Builder::new(sata()).phases(with(healthy(300.0), [old])).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::ThermalPower));
}

#[test]
fn a_fan_that_turns_faster_does_not_explain_an_exhausted_cache() {
    let mut run =
        Builder::new(sata()).phases(with(healthy(300.0), [sequential("seq-write", 280.0).falls(20, 0.5)])).build();
    let from = run.phase("seq-write").and_then(|p| p.record.as_ref()).unwrap().started_ns + 1_900_000_000;
    for s in &mut run.samples {
        s.throttle.cooling_state = Some(u64::from(s.at_ns >= from));
    }
    let limit = diagnose::limit(&run);
    assert!(limit.statement.contains("ran out"), "{limit:?}");
    let thermal = diagnose::causes(&run).into_iter().find(|c| c.layer == LimitLayer::ThermalPower).unwrap();
    assert_eq!(thermal.confidence, Confidence::Low);
}

fn capped(read: f64, write: f64, jitter: f64) -> Vec<Phase> {
    let flat = |name: &str, iops: f64| {
        let mut p = random(name, iops);
        // The builder's own jitter is more than a limiter shows.
        p = p.exactly(iops * 4096.0);
        p.jitter(jitter)
    };
    with(healthy(900.0), [flat("rand-read-qd32", read), flat("rand-write-qd32", write)])
}

#[test]
fn equal_and_even_reads_and_writes_on_a_virtual_disk_are_a_cap() {
    let run = Builder::new(cloud_disk()).virtual_machine().phases(capped(3000.0, 3010.0, 0.01)).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Throttle, Confidence::Probable), "{limit:?}");
    assert!(finding(&run, "virtual-disk-cap").is_some());
}

#[test]
fn uneven_or_unequal_or_physical_is_no_cap() {
    let vm = |phases| Builder::new(cloud_disk()).virtual_machine().phases(phases).build();
    let uneven = vm(capped(3000.0, 3010.0, 0.1));
    let unequal = vm(capped(3000.0, 3300.0, 0.01));
    let physical = Builder::new(sata()).phases(capped(3000.0, 3010.0, 0.01)).build();
    let mut contained = Builder::new(sata()).phases(capped(3000.0, 3010.0, 0.01)).build();
    contained.environment.virtualization = Some("docker".into());
    for run in [uneven, unequal, physical, contained] {
        assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Throttle));
        assert!(finding(&run, "virtual-disk-cap").is_none());
    }
}

#[test]
fn a_null_target_measures_the_generator_and_nothing_else() {
    let mut run = Builder::new(Vec::new()).phases([random("rand-read-qd32", 5e6).own(0.99, 0.0)]).build();
    run.target.kind = TargetKind::Null;
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Generator, Confidence::High));
    assert_eq!(diagnose::causes(&run).len(), 1);
    assert!(diagnose::findings(&run).is_empty(), "{:?}", diagnose::findings(&run));
}

#[test]
fn a_worker_that_computes_all_the_time_is_the_limit_but_the_memory_copy_is_not_a_worker() {
    let run =
        Builder::new(sata()).phases(with(healthy(200.0), [random("rand-read-qd32", 32_000.0).own(0.96, 0.03)])).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Generator);
    let run = Builder::new(sata()).phases(healthy(200.0)).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Generator));
}

#[test]
fn a_full_processor_is_named_by_the_kind_of_its_time() {
    let busy = sequential("seq-read", 200.0).cpu(0.02, 0.3, 0.65);
    let run = Builder::new(sata()).phases(with(healthy(200.0), [busy])).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Cpu, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("in interrupts"), "{}", limit.statement);
    let run =
        Builder::new(sata()).phases(with(healthy(200.0), [sequential("seq-read", 200.0).cpu(0.02, 0.8, 0.02)])).build();
    assert!(diagnose::causes(&run).iter().all(|c| c.layer != LimitLayer::Cpu));
}

#[test]
fn a_processor_that_was_full_before_is_freed_of_what_others_do() {
    let busy = sequential("seq-read", 200.0).cpu(0.02, 0.3, 0.65);
    let mut run = Builder::new(sata()).phases(with(healthy(200.0), [busy])).build();
    let step = |run: &model::Run| {
        let causes = diagnose::causes(run);
        let cause = causes.iter().find(|c| c.layer == LimitLayer::Cpu).expect("a full processor");
        (cause.confidence, cause.next_step.clone().expect("what to do").step)
    };
    assert_eq!(step(&run), (Confidence::Probable, model::Step::SpreadWork));
    // Whatever it had free, before the phase too, somebody took.
    for sample in &mut run.samples {
        let cpu = &mut sample.cpus[0];
        cpu.user += std::mem::take(&mut cpu.idle);
    }
    assert_eq!(step(&run), (Confidence::Low, model::Step::StopOtherWork));
}

#[test]
fn a_card_without_a_queue_is_not_blamed_on_the_host() {
    let phases = with(healthy(66.0), [random("rand-read-qd1", 3201.0), random("rand-read-qd32", 3344.0)]);
    let run = Builder::new(sd_card(&[("app_performance_class", Fact::Int(1))])).phases(phases).build();
    assert_eq!(diagnose::limit(&run).layer, LimitLayer::Device);
}

#[test]
fn a_full_link_is_told_before_a_small_step_to_buffered_writes() {
    let slow = sequential("buffered-write", 400.0).own(0.01, 0.3).cpu(0.01, 0.3, 0.0);
    let run = Builder::new(sata()).phases(with(healthy(550.0), [slow])).build();
    let causes = diagnose::causes(&run);
    assert_eq!((causes[0].layer, causes[1].layer), (LimitLayer::Link, LimitLayer::PageCache), "{causes:?}");
}

#[test]
fn refused_values_are_not_evidence() {
    let phases: Vec<Phase> = healthy(540.0).into_iter().map(Phase::refused).collect();
    let run = Builder::new(sata()).phases(phases).build();
    assert!(diagnose::causes(&run).is_empty(), "{:?}", diagnose::causes(&run));
    let limit = diagnose::limit(&run);
    assert_eq!(limit.layer, LimitLayer::Unknown);
    assert!(limit.evidence.iter().all(|e| e.kind == EvidenceKind::Absence));

    // A value left in a refused phase, or in a metric that is not measured, does not count either.
    let mut run = Builder::new(sata()).phases(healthy(540.0)).build();
    for p in &mut run.phases {
        p.status = model::PhaseStatus::Refused;
    }
    assert!(diagnose::causes(&run).is_empty());
}

#[test]
fn an_empty_run_is_unknown_and_says_what_is_missing() {
    let run = Builder::new(Vec::new()).build();
    let limit = diagnose::limit(&run);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Unknown, Confidence::Low));
    assert!(
        limit.statement.starts_with("not known: there is no valid number for sequential read, "),
        "{}",
        limit.statement
    );
    assert!(diagnose::findings(&run).is_empty());
}

#[test]
fn nothing_is_high_but_the_null_target_and_every_cause_says_what_would_decide_it() {
    let stacks = [sata(), cloud_disk(), sd_card(&[("app_performance_class", Fact::Int(2))])];
    for stack in stacks {
        for mb_s in [20.0, 85.0, 540.0, 3000.0] {
            let run = Builder::new(stack.clone()).phases(healthy(mb_s)).build();
            for cause in diagnose::causes(&run) {
                assert!(cause.confidence < Confidence::High, "{cause:?}");
                assert!(!cause.decided_by.is_empty() && !cause.evidence.is_empty(), "{cause:?}");
                let ratio = cause.next_step.as_ref().and_then(|s| s.predicted_ratio);
                assert!(ratio.is_none_or(|r| r > 1.0));
            }
        }
    }
}

#[test]
fn a_short_queue_that_is_full_is_told_from_a_device_with_few_units() {
    let queue = |slots: i64, ratio: f64| {
        let mut stack = sata();
        stack[0].set("queue_depth", Fact::Int(slots));
        let phases =
            with(healthy(200.0), [random("rand-read-qd1", 5_000.0), random("rand-read-qd32", 5_000.0 * ratio)]);
        diagnose::limit(&Builder::new(stack).phases(phases).build())
    };
    let limit = queue(4, 3.9);
    assert_eq!((limit.layer, limit.confidence), (LimitLayer::Driver, Confidence::Probable), "{limit:?}");
    assert!(limit.statement.contains("4 commands"), "{}", limit.statement);
    // Fewer than the slots, and a queue that is long enough.
    assert_eq!(queue(8, 3.9).layer, LimitLayer::Device);
    assert_eq!(queue(32, 3.9).layer, LimitLayer::Device);
}

#[test]
fn interrupts_that_all_arrive_at_one_processor_are_said() {
    let run = |on_first: u64| {
        let busy = random("rand-read-qd32", 90_000.0).cpu(0.02, 0.2, 0.75);
        let mut run = Builder::new(sata()).phases(with(healthy(200.0), [busy])).build();
        for (i, s) in run.samples.iter_mut().enumerate() {
            let i = i as u64 * 1_000;
            s.interrupts_by_cpu = vec![i * on_first, i, i, i];
        }
        diagnose::limit(&run)
    };
    let limit = run(40);
    assert_eq!(limit.layer, LimitLayer::Cpu, "{limit:?}");
    assert!(limit.statement.contains("of all interrupts"), "{}", limit.statement);
    assert!(!run(1).statement.contains("of all interrupts"));
}

#[test]
fn one_command_at_a_time_is_the_latency_of_one() {
    let run = Builder::new(sata()).phase(random("rand-read-qd1", 9_000.0).latency_ns(111_000.0)).build();
    let limit = diagnose::limit(&run);
    assert_eq!(limit.layer, LimitLayer::Device, "{limit:?}");
    assert!(limit.statement.contains("111 us") && limit.statement.contains("more depth was not tried"), "{limit:?}");
    let deeper = Builder::new(sata())
        .phases([random("rand-read-qd1", 9_000.0).latency_ns(111_000.0), random("rand-read-qd32", 90_000.0)])
        .build();
    assert!(!diagnose::limit(&deeper).statement.contains("not tried"));
}
