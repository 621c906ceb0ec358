//! Each finding of the catalogue: a run that triggers it, one that nearly does and must not, and, where a fact can be
//! missing, one that leaves it unknown.

use crate::expect::*;
use crate::run_builder::*;
use model::{Confidence, Fact, LayerKind};

#[test]
fn sd_a2_without_queue() {
    let id = "sd-a2-without-queue";
    let card = |class| mmc("SD", &[("app_performance_class", Fact::Int(class))], &[], &[]);
    let run = |class, deep| {
        let phases = [sequential("seq-read", 66.0), random("rand-read-qd1", 1700.0), random("rand-read-qd32", deep)];
        Builder::new(card(class)).phases(phases).build()
    };
    holds_and_nearly(id, &run(2, 1766.0), &run(2, 5000.0));
    holds_and_nearly(id, &run(2, 1766.0), &run(1, 1766.0));
    unknown_for_want_of(id, &stack(card(2)), "rand-read-qd32.iops");
    unknown_for_want_of(id, &stack(mmc("SD", &[], &[], &[])), "app_performance_class");
    // Without measurements a host that cannot queue is enough, but never high.
    let idle =
        stack(mmc("SD", &[("app_performance_class", Fact::Int(2))], &[], &[("mmc_host_cqe", Fact::Bool(false))]));
    assert_eq!(finding(&idle, id).unwrap().confidence, Confidence::Probable);
}

#[test]
fn sdr104_derated() {
    let id = "sdr104-derated";
    let card = |mode: &str, hz| stack(mmc("SD", &[], &[("bus_mode", text(mode)), ("clock_hz", Fact::Int(hz))], &[]));
    holds_and_nearly(id, &card("sdr104", 150_000_000), &card("sdr104", 200_000_000));
    holds_and_nearly(id, &card("sdr104", 150_000_000), &card("sdr50", 100_000_000));
    assert_eq!(finding(&card("sdr104", 150_000_000), id).unwrap().gain.unwrap().at_most_ratio, Some(1.39));
    unknown_for_want_of(id, &stack(mmc("SD", &[], &[("bus_mode", Fact::Null)], &[])), "bus_mode");
    unknown_for_want_of(id, &stack(mmc("SD", &[], &[("bus_mode", text("sdr104"))], &[])), "clock_hz");
}

#[test]
fn sd_high_speed_only() {
    let id = "sd-high-speed-only";
    let card = |grade, mode: &str| {
        let modes = Fact::List(vec!["sd-hs".into(), "sdr104".into()]);
        stack(mmc("SD", &[("uhs_grade", Fact::Int(grade))], &[("bus_mode", text(mode))], &[("mmc_host_modes", modes)]))
    };
    holds_and_nearly(id, &card(1, "sd-hs"), &card(0, "sd-hs"));
    holds_and_nearly(id, &card(3, "sd-hs"), &card(3, "sdr50"));
    assert_eq!(finding(&card(1, "sd-hs"), id).unwrap().gain.unwrap().at_most_ratio, Some(4.16));
    unknown_for_want_of(id, &stack(mmc("SD", &[("uhs_grade", Fact::Int(1))], &[], &[])), "bus_mode");
}

#[test]
fn emmc_without_queue() {
    let id = "emmc-without-queue";
    let device =
        |on, rev| stack(mmc("MMC", &[("cmdq_en", Fact::Bool(on)), ("mmc_revision", Fact::Int(rev))], &[], &[]));
    holds_and_nearly(id, &device(false, 8), &device(true, 8));
    holds_and_nearly(id, &device(false, 8), &device(false, 7));
    assert_eq!(finding(&device(false, 8), id).unwrap().confidence, Confidence::Probable);
    unknown_for_want_of(id, &stack(mmc("MMC", &[("mmc_revision", Fact::Int(8))], &[], &[])), "cmdq_en");
}

#[test]
fn ide_mode() {
    let ide = stack(vec![
        disk("sda", "ide", &[]),
        layer(LayerKind::Controller, "0000:00:1f.2", Some("ata_piix"), &[("pci_class", text("0x01018a"))]),
    ]);
    holds_and_nearly("ide-mode", &ide, &stack(sata_with(&[], &[], "ahci", &[])));
    let unknown = stack(vec![disk("sda", "sata", &[])]);
    unknown_for_want_of("ide-mode", &unknown, "driver");
}

#[test]
fn sata_link_downshift() {
    let id = "sata-link-downshift";
    let at = |now, shifts| {
        let speeds = [("sata_speed_gbit_s", Fact::Float(now)), ("sata_speed_max_gbit_s", Fact::Float(6.0))];
        stack(sata_with(&[("ata_speed_downshifts", Fact::Int(shifts))], &speeds, "ahci", &[]))
    };
    holds_and_nearly(id, &at(1.5, 2), &at(6.0, 0));
    // An older disk on a newer port was never lowered.
    holds_and_nearly(id, &at(3.0, 1), &at(3.0, 0));
    assert_eq!(finding(&at(1.5, 2), id).unwrap().gain.unwrap().at_most_ratio, Some(4.0));
    unknown_for_want_of(id, &stack(sata_with(&[], &[], "ahci", &[])), "sata_speed_gbit_s");
    // What was never lowered needs no speeds; what was, is measured against the slower end.
    let counted = |shifts| stack(sata_with(&[("ata_speed_downshifts", Fact::Int(shifts))], &[], "ahci", &[]));
    holds_and_nearly(id, &at(1.5, 2), &counted(0));
    unknown_for_want_of(id, &counted(1), "sata_speed_gbit_s");
    let older_drive = |now| {
        let drive = [("ata_speed_downshifts", Fact::Int(1)), ("ata_sata_generation", Fact::Int(2))];
        let speeds = [("sata_speed_gbit_s", Fact::Float(now)), ("sata_speed_max_gbit_s", Fact::Float(6.0))];
        stack(sata_with(&drive, &speeds, "ahci", &[]))
    };
    // Resets that failed limit the link without being counted as a lowering of the device.
    let limited = |limit| {
        let speeds = [
            ("sata_speed_gbit_s", Fact::Float(1.5)),
            ("sata_speed_max_gbit_s", Fact::Float(6.0)),
            ("sata_speed_limit_gbit_s", limit),
        ];
        stack(sata_with(&[("ata_speed_downshifts", Fact::Int(0))], &speeds, "ahci", &[]))
    };
    holds_and_nearly(id, &limited(Fact::Float(1.5)), &limited(Fact::Null));
    holds_and_nearly(id, &limited(Fact::Float(3.0)), &limited(Fact::Float(6.0)));
    holds_and_nearly(id, &older_drive(1.5), &older_drive(3.0));
    assert_eq!(finding(&older_drive(1.5), id).unwrap().gain.unwrap().at_most_ratio, Some(2.0));
}

#[test]
fn no_ncq() {
    let with_depth = |depth, driver: &str| stack(sata_with(&[("queue_depth", Fact::Int(depth))], &[], driver, &[]));
    holds_and_nearly("no-ncq", &with_depth(1, "ahci"), &with_depth(32, "ahci"));
    // IDE mode has a finding of its own.
    holds_and_nearly("no-ncq", &with_depth(1, "ahci"), &with_depth(1, "ata_piix"));
    unknown_for_want_of("no-ncq", &stack(sata_with(&[], &[], "ahci", &[])), "queue_depth");
}

#[test]
fn a20_sata_fifo() {
    let id = "a20-sata-fifo";
    let run = |driver: &str, write| {
        let phases = [sequential("seq-write", write), sequential("seq-read", 200.0)];
        Builder::new(sata_with(&[], &[], driver, &[])).phases(phases).build()
    };
    holds_and_nearly(id, &run("ahci-sunxi", 40.0), &run("ahci-sunxi", 125.0));
    holds_and_nearly(id, &run("ahci_sunxi", 40.0), &run("ahci", 40.0));
    assert_eq!(finding(&run("ahci-sunxi", 40.0), id).unwrap().confidence, Confidence::Probable);
    unknown_for_want_of(id, &stack(sata_with(&[], &[], "ahci-sunxi", &[])), "sunxi_ahci_p0dmacr");
    let refused = [sequential("seq-write", 40.0).refused(), sequential("seq-read", 200.0)];
    let refused = Builder::new(sata_with(&[], &[], "ahci-sunxi", &[])).phases(refused).build();
    unknown_for_want_of(id, &refused, "sunxi_ahci_p0dmacr");
}

#[test]
fn link_power_management() {
    let id = "link-power-management";
    let policy = |p: &str| stack(sata_with(&[], &[("link_power_policy", text(p))], "ahci", &[]));
    holds_and_nearly(id, &policy("min_power"), &policy("max_performance"));
    holds_and_nearly(id, &policy("min_power"), &policy("keep_firmware_settings"));
    assert_eq!(finding(&policy("med_power_with_dipm"), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &stack(sata_with(&[], &[], "ahci", &[])), "link_power_policy");
}

#[test]
fn usb_bulk_only() {
    let driver = |d: &str| usb(&[("usb_driver", text(d))]);
    holds_and_nearly("usb-bulk-only", &driver("usb-storage"), &driver("uas"));
    unknown_for_want_of("usb-bulk-only", &usb(&[]), "usb_driver");
}

#[test]
fn usb2_speed() {
    let at = |speed, version: &str| usb(&[("usb_speed_mbit_s", Fact::Int(speed)), ("usb_version", text(version))]);
    holds_and_nearly("usb2-speed", &at(480, " 2.10"), &at(5000, " 3.20"));
    let able = finding(&at(480, " 2.10"), "usb2-speed").unwrap();
    assert_eq!(able.confidence, Confidence::Probable);
    assert!(able.gain.is_some());
    let old = finding(&at(480, " 2.00"), "usb2-speed").unwrap();
    assert_eq!((old.confidence, old.gain), (Confidence::Low, None));
    unknown_for_want_of("usb2-speed", &usb(&[]), "usb_speed_mbit_s");
}

fn lanes(speed: f64, width: i64, slot_speed: f64, slot_width: i64) -> Vec<(&'static str, Fact)> {
    vec![
        ("pcie_speed_gt_s", Fact::Float(speed)),
        ("pcie_width", Fact::Int(width)),
        ("pcie_max_speed_gt_s", Fact::Float(8.0)),
        ("pcie_max_width", Fact::Int(4)),
        ("pcie_port_max_speed_gt_s", Fact::Float(slot_speed)),
        ("pcie_port_max_width", Fact::Int(slot_width)),
    ]
}

#[test]
fn pcie_link_degraded() {
    let id = "pcie-link-degraded";
    let bad = nvme(&[], &lanes(2.5, 1, 8.0, 4));
    holds_and_nearly(id, &bad, &nvme(&[], &lanes(8.0, 4, 16.0, 16)));
    // A slot that does no more is no fault of the link.
    holds_and_nearly(id, &bad, &nvme(&[], &lanes(5.0, 1, 5.0, 1)));
    assert_eq!(finding(&bad, id).unwrap().gain.unwrap().at_most_ratio, Some(15.75));
    unknown_for_want_of(id, &nvme(&[], &lanes(2.5, 1, 8.0, 4)[..4]), "pcie_port_max_speed_gt_s");
    // Where the narrowest link is known by both of its ends, they decide: it may be the one above a switch.
    let above_switch = |width, most: (Fact, i64)| {
        let ends = [("pcie_narrowest_max_speed_gt_s", most.0), ("pcie_narrowest_max_width", Fact::Int(most.1))];
        let own = lanes(8.0, width, 16.0, 4);
        nvme(&[], &own.into_iter().chain(ends).collect::<Vec<_>>())
    };
    let (one_of_four, full) = (above_switch(1, (Fact::Float(8.0), 4)), above_switch(2, (Fact::Float(8.0), 2)));
    holds_and_nearly(id, &one_of_four, &full);
    assert_eq!(finding(&one_of_four, id).unwrap().gain.unwrap().at_most_ratio, Some(4.0));
    unknown_for_want_of(id, &above_switch(1, (Fact::Null, 4)), "pcie_narrowest_max_speed_gt_s");
}

#[test]
fn nvme_host_memory_off() {
    let hmb = |on| nvme(&[("nvme_hmb", Fact::Bool(on))], &[]);
    holds_and_nearly("nvme-host-memory-off", &hmb(false), &hmb(true));
    // A device that asks for none has no such attribute.
    holds_and_nearly("nvme-host-memory-off", &hmb(false), &nvme(&[("nvme_hmb", Fact::Null)], &[]));
}

#[test]
fn virtio_single_queue() {
    let id = "virtio-single-queue";
    let guest = |queues, processors| {
        let mut run = stack(vec![disk("vda", "virtio", &[("hardware_queues", Fact::Int(queues))])]);
        run.environment.cpus[0].count = processors;
        run
    };
    holds_and_nearly(id, &guest(1, 4), &guest(4, 4));
    holds_and_nearly(id, &guest(1, 4), &guest(1, 1));
    unknown_for_want_of(id, &stack(vec![disk("vda", "virtio", &[])]), "hardware_queues");
}

#[test]
fn queue_settings() {
    let on = |transport: &str, facts: &[(&str, Fact)]| stack(vec![disk("sda", transport, facts)]);
    let cache = |transport: &str, v: &str| on(transport, &[("write_cache", text(v))]);
    holds_and_nearly("write-through-cache", &cache("sata", "write through"), &cache("sata", "write back"));
    holds_and_nearly("write-through-cache", &cache("sata", "write through"), &cache("virtio", "write through"));
    unknown_for_want_of("write-through-cache", &on("sata", &[]), "write_cache");

    let sectors =
        |now, hardware| on("sata", &[("max_sectors_kb", Fact::Int(now)), ("max_hw_sectors_kb", Fact::Int(hardware))]);
    holds_and_nearly("max-sectors-below-hardware", &sectors(120, 32_767), &sectors(1280, 32_767));
    holds_and_nearly("max-sectors-below-hardware", &sectors(120, 32_767), &sectors(128, 128));
    unknown_for_want_of("max-sectors-below-hardware", &on("sata", &[]), "max_sectors_kb");

    let scheduler = |transport: &str, v: &str| on(transport, &[("scheduler", text(v))]);
    holds_and_nearly("bfq-on-nvme", &scheduler("nvme", "bfq"), &scheduler("nvme", "none"));
    holds_and_nearly("bfq-on-nvme", &scheduler("nvme", "bfq"), &scheduler("mmc", "bfq"));
    unknown_for_want_of("bfq-on-nvme", &on("nvme", &[]), "scheduler");
}

#[test]
fn read_ahead_small() {
    let id = "read-ahead-small";
    let run = |kb, buffered| {
        let stack = vec![disk("sda", "sata", &[("read_ahead_kb", Fact::Int(kb))])];
        Builder::new(stack).phases([sequential("seq-read", 400.0), sequential("buffered-read", buffered)]).build()
    };
    holds_and_nearly(id, &run(16, 100.0), &run(128, 100.0));
    // Small, but it costs nothing.
    holds_and_nearly(id, &run(16, 100.0), &run(16, 395.0));
    unknown_for_want_of(id, &stack(vec![disk("sda", "sata", &[])]), "read_ahead_kb");
}

#[test]
fn misaligned_partition() {
    let id = "misaligned-partition";
    let partition = |start, aligned, offset| {
        let facts = [
            ("start_bytes", Fact::Int(start)),
            ("aligned", Fact::Bool(aligned)),
            ("alignment_offset_bytes", Fact::Int(offset)),
        ];
        stack(vec![layer(LayerKind::Partition, "sda1", None, &facts), disk("sda", "sata", &[])])
    };
    holds_and_nearly(id, &partition(63 * 512, false, 3584), &partition(1 << 20, true, 0));
    holds_and_nearly(id, &partition(63 * 512, false, -1), &partition(1 << 20, true, -1));
    let unknown = stack(vec![layer(LayerKind::Partition, "sda1", None, &[]), disk("sda", "sata", &[])]);
    unknown_for_want_of(id, &unknown, "aligned");
}

#[test]
fn btrfs_direct_fallback() {
    let id = "btrfs-direct-fallback";
    let btrfs = |checksums| [("fstype", text("btrfs")), ("checksums", Fact::Bool(checksums))];
    let fell = || [sequential("seq-write", 300.0).fallback("btrfs with checksums")];
    let holds = on_filesystem(&btrfs(true)).phases(fell()).build();
    holds_and_nearly(id, &holds, &on_filesystem(&btrfs(true)).phases([sequential("seq-write", 300.0)]).build());
    holds_and_nearly(id, &holds, &on_filesystem(&btrfs(false)).phases(fell()).build());
    unknown_for_want_of(id, &on_filesystem(&btrfs(true)).build(), "direct I/O proof");
}

#[test]
fn mounts() {
    let fs = |facts: &[(&str, Fact)]| on_filesystem(facts).build();
    let fstype = |v: &str| fs(&[("fstype", text(v))]);
    holds_and_nearly("ntfs-fuse", &fstype("fuseblk"), &fstype("ntfs3"));
    holds_and_nearly("ntfs-fuse", &fstype("fuse.ntfs-3g"), &fstype("fuse.sshfs"));
    unknown_for_want_of("ntfs-fuse", &fs(&[]), "fstype");

    let sync = |v| fs(&[("sync_mount", Fact::Bool(v))]);
    holds_and_nearly("sync-mount", &sync(true), &sync(false));
    unknown_for_want_of("sync-mount", &fs(&[]), "sync_mount");

    let lazy = |fstype: &str, v| fs(&[("fstype", text(fstype)), ("lazy_init_running", Fact::Bool(v))]);
    holds_and_nearly("ext4-lazy-init", &lazy("ext4", true), &lazy("ext4", false));
    holds_and_nearly("ext4-lazy-init", &lazy("ext4", true), &lazy("xfs", true));
    unknown_for_want_of("ext4-lazy-init", &fs(&[("fstype", text("ext4"))]), "lazy_init_running");
}

#[test]
fn stacked_devices() {
    let over =
        |kind, facts: &[(&str, Fact)]| Builder::new(vec![layer(kind, "over0", None, facts), disk("sda", "sata", &[])]);
    let dio = |v| over(LayerKind::Loop, &[("dio", Fact::Bool(v))]).build();
    holds_and_nearly("loop-double-cache", &dio(false), &dio(true));
    unknown_for_want_of("loop-double-cache", &over(LayerKind::Loop, &[]).build(), "dio");

    let dm = |kind: &str, system| {
        let phase = sequential("seq-read", 200.0).cpu(0.0, system, 0.0);
        over(LayerKind::Dm, &[("dm_type", text(kind))]).phases([phase]).build()
    };
    holds_and_nearly("dm-crypt-queues", &dm("crypt-luks2", 0.7), &dm("lvm", 0.7));
    assert_eq!(finding(&dm("crypt-luks2", 0.7), "dm-crypt-queues").unwrap().confidence, Confidence::Probable);
    assert_eq!(finding(&dm("crypt-luks2", 0.1), "dm-crypt-queues").unwrap().confidence, Confidence::Low);
    unknown_for_want_of("dm-crypt-queues", &over(LayerKind::Dm, &[]).build(), "dm_type");

    let md = |facts: &[(&str, Fact)]| over(LayerKind::Md, facts).build();
    let action = |v: &str| md(&[("sync_action", text(v)), ("degraded", Fact::Int(0))]);
    holds_and_nearly("raid-resync", &action("resync"), &action("idle"));
    holds_and_nearly("raid-resync", &action("check"), &md(&[("md_level", text("raid0"))]));
    unknown_for_want_of("raid-resync", &md(&[("degraded", Fact::Int(1))]), "sync_action");
}

#[test]
fn governor_ondemand() {
    let id = "cpu-governor-ondemand";
    let host = |governor: &str, busy: Fact| {
        let facts = [("cpu_governors", Fact::List(vec![governor.into()])), ("io_is_busy", busy)];
        stack(vec![disk("sda", "sata", &[]), layer(LayerKind::Host, "host", None, &facts)])
    };
    holds_and_nearly(id, &host("ondemand", Fact::Bool(false)), &host("ondemand", Fact::Bool(true)));
    holds_and_nearly(id, &host("ondemand", Fact::Bool(false)), &host("schedutil", Fact::Null));
    unknown_for_want_of(id, &host("ondemand", Fact::Null), "io_is_busy");
    unknown_for_want_of(id, &stack(sata()), "cpu_governors");
}

#[test]
fn raspberry_pi_throttled() {
    let id = "raspberry-pi-throttled";
    let board = |bits: Fact| {
        let facts = [("raspberry_pi_throttled", bits)];
        let mut run = stack(vec![disk("sda", "usb", &[]), layer(LayerKind::Host, "host", None, &facts)]);
        run.environment.machine = Some("Raspberry Pi 4 Model B Rev 1.4".into());
        run
    };
    holds_and_nearly(id, &board(Fact::Int(0x5_0005)), &board(Fact::Int(0)));
    assert_eq!(finding(&board(Fact::Int(0x5_0005)), id).unwrap().confidence, Confidence::High);
    assert_eq!(finding(&board(Fact::Int(0x5_0000)), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &board(Fact::Null), "raspberry_pi_throttled");
    let mut other = board(Fact::Null);
    other.environment.machine = Some("ODROID-N2".into());
    holds_and_nearly(id, &board(Fact::Int(1)), &other);
    // A machine that does not say what it is, but is no ARM machine.
    let facts = [("raspberry_pi_throttled", Fact::Null), ("architecture", text("x86_64"))];
    let nameless = stack(vec![disk("sda", "usb", &[]), layer(LayerKind::Host, "host", None, &facts)]);
    holds_and_nearly(id, &board(Fact::Int(1)), &nameless);
}

#[test]
fn buffered_far_below_direct() {
    let id = "buffered-far-below-direct";
    let run = |buffered, system| {
        let slow = sequential("buffered-write", buffered).own(0.01, system).cpu(0.01, system, 0.0);
        Builder::new(sata()).phases([sequential("seq-write", 200.0), slow]).build()
    };
    holds_and_nearly(id, &run(80.0, 0.6), &run(190.0, 0.6));
    let ratio = finding(&run(80.0, 0.6), id).unwrap().gain.unwrap().at_most_ratio.unwrap();
    assert!((2.4..2.6).contains(&ratio), "{ratio}");
    unknown_for_want_of(id, &stack(sata()), "buffered-write.throughput_bytes_per_s");
}

#[test]
fn virtual_disk_cap() {
    let id = "virtual-disk-cap";
    let run = |write| {
        let flat = |name: &str, iops: f64| random(name, iops).exactly(iops * 4096.0).jitter(0.005);
        Builder::new(vec![disk("vda", "virtio", &[])])
            .phases([flat("rand-read-qd32", 3000.0), flat("rand-write-qd32", write)])
            .build()
    };
    holds_and_nearly(id, &run(3010.0), &run(3200.0));
    unknown_for_want_of(id, &stack(vec![disk("vda", "virtio", &[])]), "rand-read-qd32.iops");
    // In a container the disks are the host's own.
    let mut container = stack(sata());
    container.environment.virtualization = Some("docker".into());
    assert_eq!(missing(&container, id), None);
}

#[test]
fn steal_and_foreign_traffic() {
    let one = |phase: Phase| Builder::new(sata()).virtual_machine().phase(phase).build();
    let steal = |share| one(sequential("seq-read", 200.0).steal(share));
    holds_and_nearly("cpu-steal", &steal(0.1), &steal(0.03));
    let mut unseen = steal(0.1);
    unseen.samples.clear();
    unknown_for_want_of("cpu-steal", &unseen, "system samples");

    let foreign = |share| one(sequential("seq-read", 200.0).foreign(share));
    holds_and_nearly("foreign-traffic", &foreign(0.1), &foreign(0.04));
    // The end of our own read-ahead, or one journal commit, in one of the windows is nobody's use.
    let mut burst = foreign(0.0);
    let record = burst.phases[0].record.as_mut().unwrap();
    let window = record.quiet_after.as_mut().unwrap();
    (window.read_bytes, window.operations) = (8 << 20, 2);
    holds_and_nearly("foreign-traffic", &foreign(0.1), &burst);
    let mut unwatched = foreign(0.1);
    for phase in &mut unwatched.phases {
        let record = phase.record.as_mut().unwrap();
        (record.quiet_before, record.quiet_after) = (None, None);
    }
    unknown_for_want_of("foreign-traffic", &unwatched, "quiet windows");
}

/// Every id of the catalogue appears in these tests.
#[test]
fn every_finding_is_tested() {
    let tests = [
        include_str!("findings.rs"),
        include_str!("findings_of_adapters.rs"),
        include_str!("findings_of_cards.rs"),
        include_str!("findings_of_runs.rs"),
        include_str!("findings_of_settings.rs"),
        include_str!("network.rs"),
        include_str!("shares.rs"),
    ];
    for text in diagnose::catalogue() {
        let quoted = format!("\"{}\"", text.id);
        assert!(tests.iter().any(|t| t.contains(&quoted)), "{} has no test", text.id);
    }
}

/// A finding whose text is only probable never reaches high.
#[test]
fn probable_knowledge_makes_no_high_finding() {
    let stacks = [sata(), mmc("MMC", &[("cmdq_en", Fact::Bool(false)), ("mmc_revision", Fact::Int(8))], &[], &[])];
    for layers in stacks {
        let run = Builder::new(layers).phases(healthy(100.0)).build();
        for found in diagnose::findings(&run) {
            let text = diagnose::page(&found.id).unwrap();
            if text.status == model::CatalogueStatus::Probable {
                assert!(found.confidence < Confidence::High, "{}", found.id);
            }
        }
    }
}
