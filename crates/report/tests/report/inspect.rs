//! An inspection as text, over the constructed machine.

use crate::fixture::machine;
use model::*;
use report::{Inspection, Style, inspection, text};

fn finding() -> Finding {
    Finding {
        id: "sd-a2-without-queue".into(),
        title: "A2 card without a command queue".into(),
        layer: LimitLayer::Controller,
        confidence: Confidence::Probable,
        evidence: vec![
            Evidence::fact("app_performance_class", 2, "mmcblk1 app_performance_class"),
            Evidence::absence("cmdq_en", "mmcblk1 cmdq_en"),
        ],
        gain: None,
        fix: "Use a host with SD command queueing, or an A1 card.\nA second line that the page has.".into(),
        source: "k:drivers/mmc".into(),
    }
}

fn undecided(id: &str, how: &str) -> Undecided {
    Undecided {
        id: id.into(),
        title: "t".into(),
        layer: LimitLayer::Device,
        missing: "clock_hz".into(),
        how_to_get: how.into(),
    }
}

fn shown(style: &Style, stack: &Stack) -> String {
    let (findings, environment) = ([finding()], machine::environment());
    let debugfs = "run as root with debugfs mounted: mount -t debugfs none /sys/kernel/debug";
    let unknown = [
        undecided("sdr104-derated", debugfs),
        undecided("cpu-steal", "narrows check TARGET measures it"),
        undecided("sd-high-speed-only", debugfs),
    ];
    inspection(
        &Inspection {
            target: "/mnt/data",
            root: None,
            stack,
            environment: &environment,
            findings: &findings,
            unknown: &unknown,
            missing: &["run as root to see /sys/kernel/debug/mmc1/ios".into()],
            verbose: true,
            read_from: |fact| fact.starts_with("temperature").then_some("hwmon temp1_input"),
        },
        None,
    )
    .text(style)
}

/// The constructed machine with what only an inspection shows: messages of the kernel and a long fact.
fn stack() -> Stack {
    let mut stack = machine::stack();
    let mut host = Layer::new(LayerKind::Host, "Raspberry Pi Compute Module 4");
    let mut messages: Vec<String> = (0..9).map(|n| format!("mmcblk1: error -110 sending status, try {n}")).collect();
    messages.push("mmcblk10: another card's".into());
    messages.push("sda: limiting SATA link speed to 3.0 Gbps".into());
    host.set("kernel_log_storage", messages);
    host.set("memory_bytes", 3_981_000_000_u64);
    stack.layers.push(host, 0);
    stack
}

#[test]
fn the_path_in_eighty_columns() {
    insta::assert_snapshot!(shown(&Style::default(), &stack()));
}

#[test]
fn every_width_holds_and_nothing_acts() {
    let mut hostile = stack();
    hostile.layers[2].name = "mmcblk1\x1b[2J".into();
    hostile.layers[2].driver =
        Some("driver-with-a-name-that-goes-on-and-on-and-on-beyond-every-line-of-a-terminal".into());
    hostile.layers[2].set("model", "\u{202e}\n\x07 卡".repeat(60));
    for columns in 40..100 {
        for ascii in [false, true] {
            let text = shown(&Style { width: columns, ascii, ..Style::default() }, &hostile);
            for line in text.lines() {
                assert!(text::width(line) <= columns, "{columns}: {line}");
            }
            assert!(!text.contains('\x1b') && !text.contains('\x07') && !text.contains('\u{202e}'), "{text}");
            assert!(!ascii || text.is_ascii(), "{text}");
        }
    }
}

#[test]
fn a_path_without_ceilings_says_so() {
    let mut stack = stack();
    stack.layers.iter_mut().for_each(|l| l.ceiling_bytes_per_s = None);
    let text = shown(&Style::default(), &stack);
    assert!(text.contains("none is marked as the lowest") && !text.contains("THE LOWEST"), "{text}");
}
