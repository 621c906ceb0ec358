//! What a test expects of a finding, and small paths to state it on.

use crate::run_builder::*;
use model::{Fact, Layer, LayerKind, Run};

/// A run in which nothing was measured.
pub fn stack(layers: Vec<Layer>) -> Run {
    Builder::new(layers).build()
}

pub fn text(value: &str) -> Fact {
    value.into()
}

pub fn list(values: &[&str]) -> Fact {
    Fact::List(values.iter().map(|v| (*v).to_owned()).collect())
}

/// With these lines in the kernel's log.
pub fn logged(mut run: Run, lines: &[&str]) -> Run {
    run.kernel_log = Some(lines.iter().map(|l| (*l).to_owned()).collect());
    run
}

/// Holds in the first, does not hold in the second (and is decided there).
#[track_caller]
pub fn holds_and_nearly(id: &str, holds: &Run, nearly: &Run) {
    assert!(diagnose::page(id).is_some(), "{id} is not in the catalogue");
    let found = finding(holds, id).unwrap_or_else(|| panic!("{id} does not hold; missing: {:?}", missing(holds, id)));
    assert!(!found.evidence.is_empty() && !found.fix.is_empty() && !found.source.is_empty());
    if let Some(gain) = &found.gain {
        assert!(gain.at_most_ratio.is_some_and(|r| r > 1.0), "{id}: {gain:?}");
    }
    assert!(missing(holds, id).is_none());
    assert!(finding(nearly, id).is_none(), "{id} holds in the near miss");
    assert_eq!(missing(nearly, id), None, "{id} is unknown in the near miss");
}

/// Neither holds nor is denied: that fact is missing.
#[track_caller]
pub fn unknown_for_want_of(id: &str, run: &Run, fact: &str) {
    assert!(finding(run, id).is_none(), "{id} holds without {fact}");
    assert_eq!(missing(run, id).as_deref(), Some(fact), "{id}");
}

pub fn mmc(kind: &str, card: &[(&str, Fact)], bus: &[(&str, Fact)], host: &[(&str, Fact)]) -> Vec<Layer> {
    let mut device = disk("mmcblk0", "mmc", card);
    device.set("mmc_type", kind);
    let mut link = link("mmc0", 23, bus);
    link.ceiling_bytes_per_s = Some(25_000_000);
    vec![device, link, layer(LayerKind::Controller, "mmc0", Some("sdhci-pci"), host)]
}

pub fn sata_with(
    disk_facts: &[(&str, Fact)],
    link_facts: &[(&str, Fact)],
    driver: &str,
    host: &[(&str, Fact)],
) -> Vec<Layer> {
    vec![
        disk("sda", "sata", disk_facts),
        link("ata1", 270, link_facts),
        layer(LayerKind::Controller, "0000:00:1f.2", Some(driver), host),
    ]
}

pub fn usb(facts: &[(&str, Fact)]) -> Run {
    stack(vec![disk("sda", "usb", &[]), link("2-1", 400, facts)])
}

pub fn nvme(disk_facts: &[(&str, Fact)], link_facts: &[(&str, Fact)]) -> Run {
    stack(vec![disk("nvme0n1", "nvme", disk_facts), link("0000:01:00.0", 3500, link_facts)])
}

pub fn on_filesystem(facts: &[(&str, Fact)]) -> Builder {
    Builder::new(vec![layer(LayerKind::Filesystem, "fs", None, facts), disk("sda", "sata", &[])])
}

/// On a machine whose processors compute nothing and ran for so much of the time in each phase (or between two, by an empty name).
pub fn idle_but_away(mut run: Run, ran: impl Fn(&str) -> f64) -> Run {
    let phases: Vec<(String, u64, u64)> = run
        .phases
        .iter()
        .filter_map(|p| p.record.as_ref().map(|r| (p.plan.name.clone(), r.started_ns, r.ended_ns)))
        .collect();
    let (mut before_ns, mut ticks) = (0, 0.0);
    for sample in &mut run.samples {
        let at = sample.at_ns;
        let phase = phases.iter().find(|(_, from, to)| *from < at && at <= *to);
        ticks += (at - before_ns) as f64 / 1e7 * ran(phase.map_or("", |p| p.0.as_str()));
        before_ns = at;
        let all = model::CpuTicks { idle: ticks as u64, ..model::CpuTicks::default() };
        sample.cpus.iter_mut().for_each(|cpu| *cpu = all);
    }
    run
}
