//! Findings of SD cards, eMMC and MTD flash: a run that triggers each, one that nearly does, and what is missing.

use crate::expect::*;
use crate::run_builder::*;
use model::{Confidence, Fact, Layer, LayerKind, Run};

const INT_A2: (&str, Fact) = ("app_performance_class", Fact::Int(2));

#[test]
fn pi5_sd_queue_off() {
    let id = "pi5-sd-queue-off";
    let board = |machine: &str, class, depth| {
        let card = [("app_performance_class", Fact::Int(class)), ("queue_depth", Fact::Int(depth))];
        let mut run = stack(mmc("SD", &card, &[], &[]));
        run.environment.machine = Some(machine.into());
        run
    };
    let pi5 = "Raspberry Pi 5 Model B Rev 1.0";
    holds_and_nearly(id, &board(pi5, 2, 1), &board(pi5, 2, 32));
    holds_and_nearly(id, &board(pi5, 2, 1), &board(pi5, 1, 1));
    // The host of a Pi 4 has no command queue: `sd-a2-without-queue` says what there is to say.
    holds_and_nearly(id, &board(pi5, 2, 1), &board("Raspberry Pi 4 Model B Rev 1.4", 2, 1));
    unknown_for_want_of(id, &stack(mmc("SD", &[INT_A2], &[], &[])), "environment: machine");
}

#[test]
fn cqe_recovery() {
    let id = "cqe-recovery";
    let card = || stack(mmc("SD", &[], &[], &[("mmc_host", text("mmc0"))]));
    let holds = logged(card(), &["[  347.583229] mmc0: running CQE recovery"]);
    holds_and_nearly(id, &holds, &logged(card(), &["[  347.58] mmc0: new SDR104 card"]));
    // Of another host.
    holds_and_nearly(id, &holds, &logged(card(), &["[  347.58] mmc1: running CQE recovery"]));
    holds_and_nearly(id, &holds, &stack(mmc("MMC", &[("cmdq_en", Fact::Bool(false))], &[], &[])));
    assert_eq!(finding(&holds, id).unwrap().confidence, Confidence::High);
    unknown_for_want_of(id, &card(), "kernel log");
}

#[test]
fn counterfeit_cards() {
    let id = "sd-counterfeit";
    let card = |manfid: &str, oemid: &str, serial: &str| {
        let facts =
            [("manfid", text(manfid)), ("oemid", text(oemid)), ("serial", text(serial)), ("model", text("00000"))];
        stack(mmc("SD", &facts, &[], &[]))
    };
    let fake = card("0x000012", "0x3456", "0x00000000");
    // Genuine cards of Samsung are called `00000`.
    holds_and_nearly(id, &fake, &card("0x00001b", "0x534d", "0x12345678"));
    holds_and_nearly(id, &fake, &card("0x000012", "0x5678", "0x00000000"));
    assert_eq!(finding(&fake, id).unwrap().confidence, Confidence::Probable);
    assert_eq!(finding(&card("0x000012", "0x3456", "0x0000000f"), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &stack(mmc("SD", &[("manfid", text("0x12"))], &[], &[])), "oemid");
}

#[test]
fn emmcs_that_are_slower_with_a_block_count() {
    let id = "emmc-slow-with-cmd23";
    let device = |kind: &str, manfid: &str, name: &str| {
        stack(mmc(kind, &[("manfid", text(manfid)), ("model", text(name))], &[], &[]))
    };
    holds_and_nearly(id, &device("MMC", "0x000011", "MMC16G"), &device("MMC", "0x000011", "016G72"));
    holds_and_nearly(id, &device("MMC", "0x000002", "SDM032"), &device("MMC", "0x000015", "SDM032"));
    // "N.B. This doesn't affect SD cards."
    holds_and_nearly(id, &device("MMC", "0x000002", "SDMB-32"), &device("SD", "0x000002", "SDMB-32"));
    unknown_for_want_of(id, &stack(mmc("MMC", &[], &[], &[])), "manfid");
}

#[test]
fn emmc_worn() {
    let id = "emmc-worn";
    let device = |life: &str, spare: &str| {
        stack(mmc(
            "MMC",
            &[("mmc_revision", Fact::Int(8)), ("life_time", text(life)), ("pre_eol", text(spare))],
            &[],
            &[],
        ))
    };
    holds_and_nearly(id, &device("0x01 0x0a", "0x01"), &device("0x09 0x09", "0x01"));
    holds_and_nearly(id, &device("0x03 0x03", "0x02"), &device("0x00 0x00", "0x00"));
    unknown_for_want_of(id, &stack(mmc("MMC", &[("mmc_revision", Fact::Int(8))], &[], &[])), "life_time");
    // Before 5.0 there is no such register, so nothing is missing.
    assert_eq!(missing(&stack(mmc("MMC", &[("mmc_revision", Fact::Int(6))], &[], &[])), id), None);
}

#[test]
fn partition_off_allocation_unit() {
    let id = "partition-off-allocation-unit";
    let card = |start, unit: Fact| {
        let mut layers = vec![layer(LayerKind::Partition, "mmcblk0p2", None, &[("start_bytes", Fact::Int(start))])];
        layers.extend(mmc("SD", &[("allocation_unit_bytes", unit)], &[], &[]));
        stack(layers)
    };
    holds_and_nearly(id, &card(1 << 20, Fact::Int(4 << 20)), &card(8 << 20, Fact::Int(4 << 20)));
    assert_eq!(finding(&card(1 << 20, Fact::Int(4 << 20)), id).unwrap().confidence, Confidence::Low);
    unknown_for_want_of(id, &card(1 << 20, Fact::Null), "allocation_unit_bytes");
}

#[test]
fn one_data_line() {
    let id = "mmc-one-data-line";
    let card = |width, widths: &[&str]| {
        stack(mmc("SD", &[("sd_bus_widths", list(widths))], &[("bus_width", Fact::Int(width))], &[]))
    };
    holds_and_nearly(id, &card(1, &["1", "4"]), &card(4, &["1", "4"]));
    holds_and_nearly(id, &card(1, &["1", "4"]), &card(1, &["1"]));
    assert_eq!(finding(&card(1, &["1", "4"]), id).unwrap().gain.unwrap().at_most_ratio, Some(4.0));
    let emmc = stack(mmc("MMC", &[], &[("bus_width", Fact::Int(1))], &[]));
    assert_eq!(finding(&emmc, id).unwrap().gain, None);
    unknown_for_want_of(id, &stack(mmc("SD", &[], &[], &[])), "bus_width");
}

#[test]
fn emmc_below_host_mode() {
    let id = "emmc-below-host-mode";
    let device = |mode: &str, modes: &[&str]| {
        let bus = [("bus_mode", text(mode)), ("bus_width", Fact::Int(8))];
        let mut layers = mmc("MMC", &[("mmc_revision", Fact::Int(8))], &bus, &[("mmc_host_modes", list(modes))]);
        layers[1].ceiling_bytes_per_s = Some(52_000_000);
        stack(layers)
    };
    let slow = device("mmc-hs", &["mmc-hs", "hs200"]);
    holds_and_nearly(id, &slow, &device("hs200", &["mmc-hs", "hs200"]));
    holds_and_nearly(id, &slow, &device("mmc-hs", &["mmc-hs"]));
    assert_eq!(finding(&slow, id).unwrap().gain.unwrap().at_most_ratio, Some(3.85));
    let blind = stack(mmc("MMC", &[("mmc_revision", Fact::Int(8))], &[("bus_mode", text("mmc-hs"))], &[]));
    unknown_for_want_of(id, &blind, "mmc_host_modes");
}

#[test]
fn clock_below_request() {
    let id = "mmc-clock-below-request";
    let bus = |mode: &str, asked, actual| {
        let facts =
            [("bus_mode", text(mode)), ("clock_requested_hz", Fact::Int(asked)), ("clock_hz", Fact::Int(actual))];
        stack(mmc("MMC", &[], &facts, &[]))
    };
    holds_and_nearly(id, &bus("hs200", 200_000_000, 150_000_000), &bus("hs200", 200_000_000, 187_500_000));
    assert_eq!(finding(&bus("hs200", 200_000_000, 150_000_000), id).unwrap().gain.unwrap().at_most_ratio, Some(1.33));
    // A derated SDR104 bus has a finding of its own.
    holds_and_nearly(id, &bus("hs200", 200_000_000, 100_000_000), &bus("sdr104", 208_000_000, 150_000_000));
    unknown_for_want_of(id, &stack(mmc("SD", &[], &[], &[])), "clock_hz");
}

fn nor(kind: &str) -> Vec<Layer> {
    vec![disk("mtd1", "mtd", &[("mtd_type", text(kind))]), layer(LayerKind::Controller, "physmap", None, &[])]
}

/// The study: 32 MB in 7.27 s, 7.26 s of them system time.
#[test]
fn nor_flash_read_with_all_system_time() {
    let id = "nor-flash-cpu-copy";
    let run = |kind: &str, system| {
        let read = sequential("seq-read", 4.6).own(0.0, system).cpu(0.0, system, 0.0);
        let mut run = Builder::new(nor(kind)).phase(read).build();
        run.environment.kernel = Some("2.6.31".into());
        run
    };
    holds_and_nearly(id, &run("nor", 0.998), &run("nor", 0.4));
    // NAND controllers move data by DMA or by their own driver.
    holds_and_nearly(id, &run("nor", 0.998), &run("nand", 0.998));
    let found = finding(&run("nor", 0.998), id).unwrap();
    assert_eq!((found.confidence, found.gain), (Confidence::Probable, None));
    unknown_for_want_of(id, &stack(nor("nor")), "a direct read phase of an MTD device");
    let refused: Run = Builder::new(nor("nor")).phase(sequential("seq-read", 4.6).own(0.0, 1.0).refused()).build();
    unknown_for_want_of(id, &refused, "a direct read phase of an MTD device");
}

#[test]
fn emmc_cache_and_queue() {
    let id = "emmc-cache-off";
    let cache =
        |bytes, on: Fact| stack(mmc("MMC", &[("emmc_cache_bytes", Fact::Int(bytes)), ("emmc_cache_on", on)], &[], &[]));
    holds_and_nearly(id, &cache(1 << 20, Fact::Bool(false)), &cache(1 << 20, Fact::Bool(true)));
    holds_and_nearly(id, &cache(1 << 20, Fact::Bool(false)), &cache(0, Fact::Bool(false)));
    unknown_for_want_of(id, &cache(1 << 20, Fact::Null), "emmc_cache_on");

    // What EXT_CSD says of the queue decides, where it was read.
    let queue = |supported: Fact| {
        let card =
            [("cmdq_en", Fact::Bool(false)), ("mmc_revision", Fact::Int(8)), ("emmc_queue_supported", supported)];
        stack(mmc("MMC", &card, &[], &[]))
    };
    holds_and_nearly("emmc-without-queue", &queue(Fact::Bool(true)), &queue(Fact::Bool(false)));
}

#[test]
fn bus_errors() {
    let id = "mmc-bus-errors";
    let host = |kinds: Fact| stack(mmc("SD", &[], &[], &[("mmc_error_kinds", kinds)]));
    holds_and_nearly(id, &host(list(&["Data CRC Error Occurred: 12"])), &host(list(&["Command Timeout Occurred: 4"])));
    holds_and_nearly(id, &host(list(&["Request Timedout: 11"])), &host(list(&["Command CRC Errors Occurred: 1"])));
    unknown_for_want_of(id, &host(Fact::Null), "mmc_error_kinds");
}

#[test]
fn spi_nor_slow_read() {
    let id = "spi-nor-slow-read";
    let flash = |driver: &str, fast: Fact, lines: Fact| {
        let bus = [("spi_fast_read", fast), ("spi_read_lines", lines)];
        stack(vec![disk("mtd0", "mtd", &[("mtd_flash_driver", text(driver))]), link("spi0.0", 1, &bus)])
    };
    let slow = flash("spi-nor", Fact::Bool(false), Fact::Int(1));
    holds_and_nearly(id, &slow, &flash("spi-nor", Fact::Bool(true), Fact::Int(1)));
    holds_and_nearly(id, &slow, &flash("spi-nor", Fact::Bool(false), Fact::Int(4)));
    holds_and_nearly(id, &slow, &flash("physmap-flash", Fact::Null, Fact::Null));
    unknown_for_want_of(id, &flash("spi-nor", Fact::Null, Fact::Null), "spi_fast_read");
}
