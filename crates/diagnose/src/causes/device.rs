//! The device, named by exclusion: the queue was full, the processors idle, the link far from its ceiling.

use super::{Cause, CauseKind, CauseNature, Trial, depth, link, probes};
use crate::{machine, phrase, stack_view};
use model::facts as names;
use model::{Confidence, Direction, Evidence, LayerKind, LimitLayer, Run};

/// A processor below this is not what the storage waits for.
const IDLE_ENOUGH: f64 = 0.7;
/// A disk with requests in flight for this share of the time was never waiting for work.
const ALWAYS_BUSY: f64 = 0.9;
/// From this share of proportionality on, depth 32 had not yet reached the device's limit.
const STILL_SCALING: f64 = 0.8;

/// What remains when no other layer explains the numbers; `None` if not even that can be said.
pub fn device_itself(run: &Run) -> Option<Cause> {
    let disk = stack_view::disks(&run.target.stack).first().map(|p| p.disk)?;
    let best = link::best_direct(run)?;
    let phase = best.name();
    let rate = best.bytes_per_s;
    let run_phase = best.phase;
    let link_cleared = link::is_link_cleared(run);
    let cpu = machine::cpus_during(run, run_phase).map(|c| c.share.busy());
    let busy = machine::disk_busy(run, run_phase);
    let scaling = depth::scaling(run, Direction::Read);
    let virtual_disk = stack_view::is_virtual_disk(&run.target.stack, &run.environment);

    if link_cleared == Some(false) || cpu.is_some_and(|c| c >= IDLE_ENOUGH) || busy.is_some_and(|b| b < ALWAYS_BUSY) {
        // Something speaks against the device, too little for something else.
        return None;
    }
    let mut evidence = evidence(run, &best, cpu, busy);
    evidence.extend(scaling.iter().flat_map(depth::Scaling::evidence));

    let scales = scaling.map(|s| {
        if s.ratio() >= s.depth * STILL_SCALING {
            format!(
                "; random reads still scale with depth ({}), so their limit is each command's latency",
                phrase::times(s.ratio())
            )
        } else {
            format!("; random reads gain {} from depth {:.0} and no more", phrase::times(s.ratio()), s.depth)
        }
    });
    let seen = link_cleared == Some(true) && cpu.is_some() && (busy.is_some() || disk.kind == LayerKind::Sim);
    let subject = if virtual_disk { "the virtual disk, behind which this machine cannot see" } else { "the device" };
    // Where never more than one command was asked for, what shows is a command's latency, and not what the device can do.
    let shallow = probes::all(run).iter().all(|p| p.depth == 1.0) && best.random;
    let (kind, statement, decided) = match best.latency_ns(run).filter(|_| shallow) {
        Some(ns) => (
            CauseKind::OneCommand,
            format!(
                "the latency of {subject}: {phase} asks for one command at a time, each takes {:.0} us, which makes {}; \
                 more depth was not tried",
                ns / 1e3,
                phrase::iops(best.iops(run))
            ),
            "the same operations at more depth: narrows run depth",
        ),
        None => (
            CauseKind::OfItsLayer,
            format!(
                "{subject}: {} in {phase}, with no other layer near its ceiling{}",
                phrase::rate(rate),
                scales.unwrap_or_default()
            ),
            "another device on the same path",
        ),
    };
    Some(
        Cause::new(LimitLayer::Device, CauseNature::Remainder, statement)
            .of_kind(kind)
            .with_confidence(if seen && !virtual_disk { Confidence::Probable } else { Confidence::Low })
            .with_evidence(evidence)
            .decided_by(decided)
            .tried_by(Trial::Depths),
    )
}

/// What the rate is, and what else was looked at.
fn evidence(run: &Run, best: &probes::Probe<'_>, cpu: Option<f64>, busy: Option<f64>) -> Vec<Evidence> {
    let phase = best.name();
    let rate = best.bytes_per_s;
    let mut evidence = vec![Evidence::measured("direct rate, bytes per second", rate, machine::throughput_id(phase))];
    evidence.push(match link::narrowest_link(run) {
        Some((l, ceiling, _)) => {
            Evidence::measured("link utilisation", rate / ceiling, format!("{phase} over {}", l.name))
        }
        None => Evidence::absence("ceiling of the link", names::REALISTIC_BYTES_PER_S),
    });
    evidence.push(match cpu {
        Some(c) => Evidence::measured("busy share of the busiest processor", c, format!("{phase} /proc/stat")),
        None => Evidence::absence("processors during the phase", format!("{phase} /proc/stat")),
    });
    evidence.push(match busy {
        Some(b) => Evidence::measured("share of time with requests in flight", b, format!("{phase} diskstats")),
        None => Evidence::absence("counters of the disk", format!("{phase} diskstats")),
    });
    evidence
}
