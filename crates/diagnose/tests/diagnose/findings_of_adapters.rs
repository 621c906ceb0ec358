//! Findings of host adapters and links (SATA, USB, NVMe): a run that triggers each, one that nearly does, and what is
//! missing.

use crate::expect::*;
use crate::run_builder::*;
use model::{Better, Confidence, Fact, Layer, LayerKind, Metric, Run, Unit};

#[test]
fn host_without_ncq() {
    let id = "ahci-host-without-ncq";
    let run =
        |depth, host: Fact| stack(sata_with(&[("queue_depth", Fact::Int(depth))], &[], "ahci", &[("ncq_host", host)]));
    let cannot = run(1, Fact::Bool(false));
    holds_and_nearly(id, &cannot, &run(1, Fact::Bool(true)));
    holds_and_nearly(id, &cannot, &run(32, Fact::Bool(true)));
    // One condition, one finding.
    assert!(finding(&cannot, "no-ncq").is_none());
    assert!(finding(&run(1, Fact::Bool(true)), "no-ncq").is_some());
    unknown_for_want_of(id, &run(1, Fact::Null), "ncq_host");
}

#[test]
fn samsung_on_ati() {
    let id = "ncq-samsung-on-ati";
    let run = |model: &str, vendor: &str, depth| {
        let drive = [("model", text(model)), ("queue_depth", Fact::Int(depth))];
        let host = [("ncq_host", Fact::Bool(true)), ("pci_vendor_id", text(vendor))];
        stack(sata_with(&drive, &[], "ahci", &host))
    };
    let pair = run("Samsung SSD 860 EVO 500GB", "0x1002", 1);
    holds_and_nearly(id, &pair, &run("Samsung SSD 860 EVO 500GB", "0x1022", 1));
    holds_and_nearly(id, &pair, &run("Samsung SSD 850 EVO 500GB", "0x1002", 1));
    holds_and_nearly(id, &pair, &run("Samsung SSD 870 QVO 1TB", "0x1002", 32));
    assert!(finding(&pair, "no-ncq").is_none());
    let blind =
        stack(sata_with(&[("model", text("Samsung SSD 870"))], &[], "ahci", &[("pci_vendor_id", text("0x1002"))]));
    unknown_for_want_of(id, &blind, "queue_depth");
}

#[test]
fn short_dma() {
    let id = "ahci-short-dma";
    let run = |wide: Fact, memory| {
        let mut layers = sata_with(&[], &[], "ahci", &[("ahci_64bit_dma", wide)]);
        layers.push(layer(LayerKind::Host, "host", None, &[("memory_bytes", Fact::Int(memory))]));
        stack(layers)
    };
    holds_and_nearly(id, &run(Fact::Bool(false), 8 << 30), &run(Fact::Bool(true), 8 << 30));
    holds_and_nearly(id, &run(Fact::Bool(false), 8 << 30), &run(Fact::Bool(false), 2 << 30));
    assert_eq!(finding(&run(Fact::Bool(false), 8 << 30), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &run(Fact::Null, 8 << 30), "ahci_64bit_dma");
}

#[test]
fn port_multiplier() {
    let id = "port-multiplier-serialised";
    let run = |behind, fbs: Fact| {
        stack(sata_with(&[], &[("port_multiplier", Fact::Bool(behind))], "ahci", &[("ahci_fbs", fbs)]))
    };
    holds_and_nearly(id, &run(true, Fact::Bool(false)), &run(true, Fact::Bool(true)));
    holds_and_nearly(id, &run(true, Fact::Bool(false)), &run(false, Fact::Bool(false)));
    unknown_for_want_of(id, &run(true, Fact::Null), "ahci_fbs");
}

#[test]
fn transfer_mode_and_errors() {
    let mode = |m: &str| stack(sata_with(&[("ata_dma_mode", text(m))], &[], "ahci", &[]));
    let id = "ata-slow-transfer-mode";
    holds_and_nearly(id, &mode("XFER_PIO_4"), &mode("XFER_UDMA_6"));
    holds_and_nearly(id, &mode("XFER_MW_DMA_2"), &mode("XFER_UDMA_7"));
    unknown_for_want_of(id, &mode("<unknown>"), "ata_dma_mode");

    let id = "ata-errors";
    let ring = |errors: &[&str]| stack(sata_with(&[("ata_errors", list(errors))], &[], "ahci", &[]));
    let one = "[    5.120000000]Timeout";
    holds_and_nearly(id, &ring(&[one]), &ring(&[]));
    assert_eq!(finding(&ring(&[one]), id).unwrap().confidence, Confidence::Low);
    assert_eq!(finding(&ring(&[one, one]), id).unwrap().confidence, Confidence::Probable);
    unknown_for_want_of(id, &stack(sata_with(&[], &[], "ahci", &[])), "ata_errors");
}

#[test]
fn remapped_nvme() {
    let run = |hidden| stack(sata_with(&[], &[], "ahci", &[("remapped_nvme", Fact::Int(hidden))]));
    holds_and_nearly("nvme-remapped", &run(1), &run(0));
    holds_and_nearly("nvme-remapped", &run(2), &stack(sata_with(&[], &[], "ahci", &[])));
}

/// Captured trees carry the register; then nothing has to be measured.
#[test]
fn the_register_of_the_a20_decides() {
    let id = "a20-sata-fifo";
    let tree = |value: Fact, kernel: &str| {
        let mut run = stack(sata_with(&[], &[], "ahci-sunxi", &[("sunxi_ahci_p0dmacr", value)]));
        run.environment.kernel = Some(kernel.into());
        run
    };
    holds_and_nearly(id, &tree(Fact::Int(0x4400), "4.19.38-sunxi"), &tree(Fact::Int(0x4433), "4.19.38-sunxi"));
    holds_and_nearly(id, &tree(Fact::Int(0x0), "3.4.39"), &tree(Fact::Int(0x33), "3.4.39"));
    assert_eq!(finding(&tree(Fact::Int(0x4400), "4.19.38-sunxi"), id).unwrap().confidence, Confidence::High);
    // Without it the release decides nothing: the change came with 5.3, distributions had it earlier.
    for kernel in ["3.4.39", "4.19.38-sunxi", "5.10.103-sunxi"] {
        unknown_for_want_of(id, &tree(Fact::Null, kernel), "sunxi_ahci_p0dmacr");
    }
}

#[test]
fn uas_unused() {
    let id = "usb-uas-unused";
    let run = |driver: &str, able| {
        usb(&[("usb_driver", text(driver)), ("usb_uas_capable", Fact::Bool(able)), ("usb_path", text("2-1"))])
    };
    holds_and_nearly(id, &run("usb-storage", true), &run("uas", true));
    holds_and_nearly(id, &run("usb-storage", true), &run("usb-storage", false));
    let refused =
        "usb 2-1: USB controller 11280000.usb does not support streams, which are required by the UAS driver.";
    let told = logged(run("usb-storage", true), &["usb 2-1.4: UAS is ignored for this device", refused]);
    let evidence = finding(&told, id).unwrap().evidence;
    assert!(evidence.iter().any(|e| e.value == refused), "{evidence:?}");
    // Where a parameter forbids it, no log is needed for the reason.
    let forbidden = |quirks: &str| {
        let facts =
            [("usb_driver", text("usb-storage")), ("usb_uas_capable", Fact::Bool(true)), ("usb_id", text("0bc2:ab38"))];
        let run = usb(&facts.into_iter().chain([("usb_storage_quirks", text(quirks))]).collect::<Vec<_>>());
        let evidence = finding(&run, id).unwrap().evidence;
        evidence.iter().any(|e| e.what == "usb_storage_quirks" && e.value == quirks)
    };
    assert!(forbidden("152d:578:t,bc2:ab38:ku") && forbidden("0bc2:AB38:u"));
    assert!(!forbidden("0bc2:ab38:k") && !forbidden("152d:0578:u") && !forbidden("none") && !forbidden("0bc2:ab38"));
    unknown_for_want_of(id, &usb(&[("usb_driver", text("usb-storage"))]), "usb_uas_capable");
}

#[test]
fn uas_unstable() {
    let id = "usb-uas-unstable";
    let run = |driver: &str, bridge: &str| usb(&[("usb_driver", text(driver)), ("usb_id", text(bridge))]);
    let abort = "sd 0:0:0:0: [sda] tag#11 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN";
    let other = "sd 1:0:0:0: [sdb] tag#11 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN";
    let aborted = logged(run("uas", "174c:55aa"), &[abort]);
    holds_and_nearly(id, &aborted, &logged(run("uas", "174c:55aa"), &[other]));
    holds_and_nearly(id, &aborted, &run("usb-storage", "152d:0578"));
    assert_eq!(finding(&aborted, id).unwrap().confidence, Confidence::High);
    assert_eq!(finding(&run("uas", "152d:0578"), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &run("uas", "174c:55aa"), "kernel log");
}

#[test]
fn nvme_power_states() {
    let id = "nvme-power-states";
    let run = |limit, slowest| {
        let drive = disk("nvme0n1", "nvme", &[("nvme_ps_max_latency_us", Fact::Int(limit))]);
        let mut run = Builder::new(vec![drive]).phase(random("rand-read-qd1", 12_000.0)).build();
        let max = Metric::measured("rand-read-qd1.latency_ns_max", Unit::Ns, Some(Better::Lower), slowest, 1000);
        run.phases[0].metrics.push(max);
        run
    };
    holds_and_nearly(id, &run(100_000, 9e6), &run(0, 9e6));
    holds_and_nearly(id, &run(100_000, 9e6), &run(100_000, 4e5));
    assert_eq!(finding(&run(100_000, 9e6), id).unwrap().confidence, Confidence::Low);
    let unmeasured = nvme(&[("nvme_ps_max_latency_us", Fact::Int(100_000))], &[]);
    unknown_for_want_of(id, &unmeasured, "rand-read-qd1.latency_ns_max");
}

#[test]
fn nvme_single_queue() {
    let id = "nvme-single-queue";
    let run = |queues, processors| {
        let mut run = nvme(&[("hardware_queues", Fact::Int(queues))], &[]);
        run.environment.cpus[0].count = processors;
        run
    };
    holds_and_nearly(id, &run(1, 6), &run(6, 6));
    holds_and_nearly(id, &run(1, 6), &run(1, 1));
    unknown_for_want_of(id, &nvme(&[], &[]), "hardware_queues");
}

#[test]
fn pi5_pcie_gen2() {
    let id = "pi5-pcie-gen2";
    let run = |board: Option<&str>, speed, able| {
        let link = [
            ("pcie_speed_gt_s", Fact::Float(speed)),
            ("pcie_max_speed_gt_s", Fact::Float(able)),
            ("pcie_width", Fact::Int(1)),
        ];
        let mut run = nvme(&[], &link);
        run.environment.machine = board.map(str::to_owned);
        run
    };
    let pi5 = Some("Raspberry Pi 5 Model B Rev 1.0");
    holds_and_nearly(id, &run(pi5, 5.0, 16.0), &run(pi5, 8.0, 16.0));
    holds_and_nearly(id, &run(pi5, 5.0, 8.0), &run(pi5, 5.0, 5.0));
    holds_and_nearly(id, &run(pi5, 5.0, 8.0), &run(Some("ROCK 5B"), 5.0, 8.0));
    assert_eq!(finding(&run(pi5, 5.0, 8.0), id).unwrap().gain.unwrap().at_most_ratio, Some(1.97));
    unknown_for_want_of(id, &run(None, 5.0, 8.0), "environment: machine");
}

#[test]
fn aspm_powersave() {
    let policy = |p: &str| nvme(&[], &[("pcie_aspm_policy", text(p))]);
    holds_and_nearly("aspm-powersave", &policy("powersupersave"), &policy("default"));
    holds_and_nearly("aspm-powersave", &policy("powersave"), &policy("performance"));
    unknown_for_want_of("aspm-powersave", &nvme(&[], &[]), "pcie_aspm_policy");
}

#[test]
fn pcie_bus_errors() {
    let id = "pcie-bus-errors";
    let run = || -> Run {
        let layers: Vec<Layer> = vec![
            disk("nvme0n1", "nvme", &[]),
            link("0000:01:00.0", 850, &[]),
            layer(LayerKind::Controller, "0000:01:00.0", Some("nvme"), &[("pci_address", text("0000:01:00.0"))]),
        ];
        stack(layers)
    };
    let own = logged(run(), &["nvme 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer"]);
    holds_and_nearly(id, &own, &logged(run(), &["nvme nvme0: 4/0/0 default/read/poll queues"]));
    assert_eq!(finding(&own, id).unwrap().confidence, Confidence::High);
    let elsewhere = logged(run(), &["pcieport 0001:00:00.0: AER: Corrected error message received"]);
    assert_eq!(finding(&elsewhere, id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &run(), "kernel log");
}

/// A few corrected errors since boot are the usual.
#[test]
fn counted_errors_of_the_pcie_link() {
    let id = "pcie-bus-errors";
    let counts = |corrected, uncorrected| {
        nvme(&[], &[("aer_correctable", Fact::Int(corrected)), ("aer_uncorrectable", Fact::Int(uncorrected))])
    };
    holds_and_nearly(id, &counts(2500, 0), &counts(3, 0));
    holds_and_nearly(id, &counts(0, 1), &counts(0, 0));
    assert_eq!(finding(&counts(2500, 0), id).unwrap().confidence, Confidence::High);
}

/// A link without such states does not sleep, whatever the policy says.
#[test]
fn a_link_without_power_states() {
    let link = |l1| {
        let facts = [
            ("pcie_aspm_policy", text("powersave")),
            ("pcie_aspm_l0s", Fact::Bool(false)),
            ("pcie_aspm_l1", Fact::Bool(l1)),
        ];
        nvme(&[], &facts)
    };
    holds_and_nearly("aspm-powersave", &link(true), &link(false));
}

#[test]
fn older_port() {
    let id = "sata-older-port";
    let run = |generation: Fact, port, rotational| {
        let drive = [("ata_sata_generation", generation), ("rotational", Fact::Bool(rotational))];
        stack(sata_with(&drive, &[("sata_speed_max_gbit_s", Fact::Float(port))], "ahci", &[]))
    };
    let ssd = run(Fact::Int(3), 3.0, false);
    holds_and_nearly(id, &ssd, &run(Fact::Int(3), 6.0, false));
    // Spinning disks do not fill 3 Gbit/s.
    holds_and_nearly(id, &ssd, &run(Fact::Int(3), 3.0, true));
    assert_eq!(finding(&ssd, id).unwrap().gain.unwrap().at_most_ratio, Some(2.0));
    unknown_for_want_of(id, &run(Fact::Null, 3.0, false), "ata_sata_generation");
}

#[test]
fn health() {
    let drive = |facts: &[(&str, Fact)]| stack(sata_with(facts, &[], "ahci", &[]));
    let ok = |v| ("health_ok", Fact::Bool(v));
    let id = "disk-unwell";
    holds_and_nearly(id, &drive(&[ok(false)]), &drive(&[ok(true)]));
    holds_and_nearly(
        id,
        &drive(&[ok(true), ("pending_sectors", Fact::Int(8))]),
        &drive(&[ok(true), ("pending_sectors", Fact::Int(0))]),
    );
    assert_eq!(
        finding(&drive(&[ok(true), ("reallocated_sectors", Fact::Int(4))]), id).unwrap().confidence,
        Confidence::Low
    );
    unknown_for_want_of(id, &drive(&[]), "health_ok");
    // A hypervisor's disk keeps no records.
    assert_eq!(missing(&drive(&[("emulated", Fact::Bool(true))]), id), None);

    let id = "sata-cable-errors";
    let crc = |n| drive(&[("interface_crc_errors", n)]);
    holds_and_nearly(id, &crc(Fact::Int(245)), &crc(Fact::Int(1)));
    unknown_for_want_of(id, &crc(Fact::Null), "interface_crc_errors");

    let id = "nvme-overheated";
    let hot =
        |minutes, warnings: &[&str]| nvme(&[("throttled_minutes", minutes), ("health_warnings", list(warnings))], &[]);
    holds_and_nearly(id, &hot(Fact::Int(14), &[]), &hot(Fact::Int(0), &[]));
    assert_eq!(finding(&hot(Fact::Int(14), &[]), id).unwrap().confidence, Confidence::Low);
    assert_eq!(finding(&hot(Fact::Int(14), &["temperature"]), id).unwrap().confidence, Confidence::High);
    unknown_for_want_of(id, &hot(Fact::Null, &[]), "throttled_minutes");
}

/// An inventory keeps the kernel's messages about storage as a fact of the host.
#[test]
fn messages_kept_by_an_inventory() {
    let mut run = stack(mmc("SD", &[], &[], &[("mmc_host", text("mmc0"))]));
    let kept = list(&["mmc0: running CQE recovery"]);
    run.target.stack.layers.push(layer(LayerKind::Host, "board", None, &[("kernel_log_storage", kept)]), 0);
    assert!(finding(&run, "cqe-recovery").is_some());
}
