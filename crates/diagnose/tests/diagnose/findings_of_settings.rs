//! Findings of settings (file systems, RAID, control groups, the machine): a run that triggers each, one that nearly
//! does, and what is missing.

use crate::expect::*;
use crate::run_builder::*;
use model::{Confidence, Environment, Fact, Layer, LayerKind, Run};

fn fs(facts: &[(&str, Fact)]) -> Run {
    on_filesystem(facts).build()
}

#[test]
fn journals_commits_and_flushes() {
    let mode = |fstype: &str, m: &str| fs(&[("fstype", text(fstype)), ("journal_mode", text(m))]);
    let id = "ext4-data-journal";
    holds_and_nearly(id, &mode("ext4", "journal"), &mode("ext4", "ordered"));
    holds_and_nearly(id, &mode("ext3", "journal"), &mode("xfs", "journal"));
    unknown_for_want_of(id, &fs(&[("fstype", text("ext4"))]), "journal_mode");

    let id = "long-commit-interval";
    let commit = |seconds| fs(&[("fstype", text("ext4")), ("commit_interval_s", seconds)]);
    holds_and_nearly(id, &commit(Fact::Int(600)), &commit(Fact::Int(5)));
    // The option is shown only where it differs from the default.
    holds_and_nearly(id, &commit(Fact::Int(600)), &commit(Fact::Null));
    unknown_for_want_of(id, &fs(&[]), "fstype");

    let id = "barriers-off";
    let barriers = |on| fs(&[("barriers", on)]);
    holds_and_nearly(id, &barriers(Fact::Bool(false)), &barriers(Fact::Bool(true)));
    holds_and_nearly(id, &barriers(Fact::Bool(false)), &fs(&[("backing", text("memory"))]));
    unknown_for_want_of(id, &fs(&[("backing", text("block"))]), "barriers");
}

#[test]
fn discard_unqueued() {
    let id = "discard-unqueued";
    let run = |online: Fact, trim: Fact| {
        let mount = layer(LayerKind::Filesystem, "fs", None, &[("online_discard", online)]);
        stack(vec![mount, disk("sda", "sata", &[("ata_trim", trim)])])
    };
    let on = || Fact::Bool(true);
    holds_and_nearly(id, &run(on(), text("unqueued")), &run(on(), text("queued")));
    holds_and_nearly(id, &run(on(), text("forced_unqueued")), &run(Fact::Bool(false), text("unqueued")));
    unknown_for_want_of(id, &run(on(), Fact::Null), "ata_trim");
    unknown_for_want_of(id, &run(Fact::Null, text("unqueued")), "online_discard");
}

#[test]
fn merging_off() {
    let queue = |transport: &str, n| stack(vec![disk("sda", transport, &[("nomerges", n)])]);
    holds_and_nearly("merging-off", &queue("sata", Fact::Int(2)), &queue("sata", Fact::Int(1)));
    holds_and_nearly("merging-off", &queue("mmc", Fact::Int(2)), &queue("nvme", Fact::Int(2)));
    unknown_for_want_of("merging-off", &queue("sata", Fact::Null), "nomerges");
}

#[test]
fn traffic_not_counted() {
    let counts = |on| stack(vec![disk("sda", "sata", &[("io_statistics", on)])]);
    holds_and_nearly("traffic-not-counted", &counts(Fact::Bool(false)), &counts(Fact::Bool(true)));
    unknown_for_want_of("traffic-not-counted", &counts(Fact::Null), "io_statistics");
}

#[test]
fn arrays_and_mappings() {
    let over = |kind, facts: &[(&str, Fact)]| stack(vec![layer(kind, "over0", None, facts), disk("sda", "sata", &[])]);
    let md = |level: &str, facts: &[(&str, Fact)]| over(LayerKind::Md, &[&[("md_level", text(level))], facts].concat());
    let id = "raid-degraded";
    holds_and_nearly(id, &md("raid5", &[("degraded", Fact::Int(1))]), &md("raid5", &[("degraded", Fact::Int(0))]));
    holds_and_nearly(id, &md("raid1", &[("degraded", Fact::Int(1))]), &md("raid0", &[]));
    unknown_for_want_of(id, &md("raid5", &[]), "degraded");

    let id = "raid5-stripe-cache";
    let stripes = |level: &str, n| md(level, &[("stripe_cache_size", n)]);
    holds_and_nearly(id, &stripes("raid6", Fact::Int(256)), &stripes("raid6", Fact::Int(4096)));
    holds_and_nearly(id, &stripes("raid5", Fact::Int(256)), &stripes("raid1", Fact::Null));
    unknown_for_want_of(id, &stripes("raid5", Fact::Null), "stripe_cache_size");

    let id = "dm-integrity-journal";
    let dm = |kind: &str| over(LayerKind::Dm, &[("dm_type", text(kind))]);
    holds_and_nearly(id, &dm("integrity"), &dm("verity"));
    assert_eq!(finding(&dm("integrity"), id).unwrap().confidence, Confidence::Probable);
    unknown_for_want_of(id, &over(LayerKind::Dm, &[]), "dm_type");

    let id = "cgroup-limit";
    let disk_with = |facts: &[(&str, Fact)]| stack(vec![disk("sda", "sata", facts)]);
    holds_and_nearly(id, &disk_with(&[("cgroup_write_iops", Fact::Int(500))]), &disk_with(&[]));
}

#[test]
fn the_machine() {
    let host = |facts: &[(&str, Fact)]| stack(vec![disk("sda", "sata", &[]), layer(LayerKind::Host, "h", None, facts)]);
    let id = "cpu-frequency-capped";
    let limit = |khz| host(&[("cpu_max_khz", Fact::Int(2_400_000)), ("cpu_limit_khz", khz)]);
    holds_and_nearly(id, &limit(Fact::Int(1_200_000)), &limit(Fact::Int(2_400_000)));
    unknown_for_want_of(id, &limit(Fact::Null), "cpu_limit_khz");

    let with = |change: &dyn Fn(&mut Environment)| {
        let mut run = stack(sata());
        change(&mut run.environment);
        run
    };
    let id = "slow-clock-source";
    let clock = |c: &str| with(&|e| e.clock_source = Some(c.into()));
    holds_and_nearly(id, &clock("hpet"), &clock("tsc"));
    holds_and_nearly(id, &clock("acpi_pm"), &clock("arch_sys_counter"));
    unknown_for_want_of(id, &with(&|e| e.clock_source = None), "environment: clock source");

    let id = "io-uring-off";
    let ring = |value, root| with(&|e| (e.io_uring_disabled, e.root) = (Some(value), root));
    holds_and_nearly(id, &ring(2, Some(true)), &ring(1, Some(true)));
    holds_and_nearly(id, &ring(1, Some(false)), &ring(0, Some(false)));
}

#[test]
fn processor_quota() {
    let id = "cgroup-cpu-quota";
    let quota =
        |q| stack(vec![disk("sda", "sata", &[]), layer(LayerKind::Host, "h", None, &[("cgroup_cpu_processors", q)])]);
    // The machine has four processors.
    holds_and_nearly(id, &quota(Fact::Float(0.5)), &quota(Fact::Float(4.0)));
    holds_and_nearly(id, &quota(Fact::Int(2)), &quota(Fact::Null));
    let mut blind = quota(Fact::Float(0.5));
    blind.environment.cpus.clear();
    unknown_for_want_of(id, &blind, "processors");
}

/// What the drive says of its own cache decides what the kernel's view means.
#[test]
fn write_through_by_the_drives_own_word() {
    let disk_with = |facts: &[(&str, Fact)]| stack(vec![disk("sda", "sata", facts)]);
    let view = ("write_cache", text("write through"));
    let blind = finding(&disk_with(std::slice::from_ref(&view)), "write-through-cache").unwrap();
    let told =
        finding(&disk_with(&[view, ("ata_write_cache_enabled", Fact::Bool(true))]), "write-through-cache").unwrap();
    assert_eq!((blind.confidence, told.confidence), (Confidence::Low, Confidence::High));
}

/// `inspect` asks without a run: what facts decide is decided, what needs a measurement is unknown and says how to get it.
#[test]
fn an_inventory_alone() {
    let mut run = stack(mmc("SD", &[("app_performance_class", Fact::Int(2))], &[], &[]));
    run.environment.clock_source = Some("hpet".into());
    run.target.stack.layers.push(Layer::new(LayerKind::Host, "board"), 0);
    let seen = diagnose::findings_of_stack(&run.target.stack, &run.environment, None);
    assert!(seen.findings.iter().any(|f| f.id == "slow-clock-source"));
    let undecided = |id: &str| seen.unknown.iter().find(|u| u.id == id).unwrap_or_else(|| panic!("{id} is decided"));
    assert_eq!(undecided("sd-a2-without-queue").missing, "rand-read-qd32.iops");
    assert_eq!(undecided("sd-a2-without-queue").how_to_get, "narrows check TARGET measures it");
    assert!(undecided("sdr104-derated").how_to_get.contains("debugfs"));
    assert_eq!(undecided("cqe-recovery").missing, "kernel log");
    assert_eq!(undecided("buffered-far-below-direct").layer, model::LimitLayer::PageCache);
    for u in &seen.unknown {
        assert!(!u.title.is_empty() && !u.how_to_get.is_empty(), "{u:?}");
        assert!(seen.findings.iter().all(|f| f.id != u.id), "{} holds and is unknown", u.id);
    }
    // What belongs to other buses is decided: it does not apply.
    for id in ["no-ncq", "usb2-speed", "nvme-remapped", "emmc-worn"] {
        assert!(seen.unknown.iter().all(|u| u.id != id), "{id} is unknown on an SD card");
    }
    // The log that inspect read decides what rests on it.
    let log = ["mmc0: running CQE recovery".to_owned()];
    let told = diagnose::findings_of_stack(&run.target.stack, &run.environment, Some(&log));
    assert!(told.findings.iter().any(|f| f.id == "cqe-recovery"));
}
