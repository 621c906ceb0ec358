//! The link between controller and device: how much of what it carries in practice is used.

use super::probes::{self, Probe};
use super::{Cause, CauseNature, Trial};
use crate::guard::{exclude, require};
use crate::link_modes;
use crate::stack_view::{self, Facts};
use crate::{machine, phrase};
use model::facts as names;
use model::{Confidence, Direction, Evidence, Layer, LayerKind, LimitLayer, Run, Step, four_figures};

/// At this share of the realistic ceiling the link is named.
const NAMED: f64 = 0.85;
/// From this share on nothing else can be the limit; below it a medium may be as fast by chance.
const FULL: f64 = 0.97;
/// Below this share it is cleared.
const CLEARED: f64 = 0.6;

/// Reads and writes this near to each other meet one limit: media rarely give and take the same rate, a bus does.
const SAME_BOTH_WAYS: f64 = 0.03;

/// The narrowest link of a single-disk path: its layer, what it carries in practice (or its line rate, where nothing
/// else is known), and where that comes from.
pub(crate) fn narrowest_link(run: &Run) -> Option<(&Layer, f64, &'static str)> {
    // Several disks share or add links; their stack does not tell which.
    let path = stack_view::only_disk(&run.target.stack)?;
    std::iter::once(path.disk)
        .chain(path.below)
        .filter_map(|l| {
            let realistic = l.need_number(names::REALISTIC_BYTES_PER_S).ok().map(|v| (l, v, "realistic ceiling"));
            realistic.or_else(|| l.ceiling_bytes_per_s.map(|v| (l, v as f64, "line rate")))
        })
        .filter(|(_, v, _)| *v > 0.0)
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The direct phase that moves the most: sequential, or random where there is no other.
pub(crate) fn best_direct(run: &Run) -> Option<Probe<'_>> {
    probes::fastest_of_all(run).or_else(|| {
        probes::all(run).into_iter().filter(|p| p.direct).max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
    })
}

/// Whether the link is cleared: known, and used to less than 60 %.
pub(crate) fn is_link_cleared(run: &Run) -> Option<bool> {
    let (_, ceiling, _) = narrowest_link(run)?;
    Some(best_direct(run)?.bytes_per_s / ceiling < CLEARED)
}

/// What one direct rate says of the link, with the rate the other way where it is known: full; full, or the device, which
/// cannot be told apart; somewhere between. `None` where the link is cleared, or not known.
pub(super) fn at(run: &Run, (rate, measured): (f64, Evidence), other: Option<f64>) -> Option<Cause> {
    let (layer, ceiling, kind) = narrowest_link(run)?;
    let share = rate / ceiling;
    exclude(share < CLEARED)?;
    let what = format!("{} {}", what(layer), layer.name);
    let percent = phrase::percent(share);
    let same = other.is_some_and(|o| (o / rate - 1.0).abs() <= SAME_BOTH_WAYS);
    let known = Evidence::fact(
        format!("{kind}, bytes per second"),
        four_figures(ceiling),
        layer.ceiling_source.clone().unwrap_or_else(|| layer.name.clone()),
    );
    let is_full = share >= FULL || (share >= NAMED && same && !stack_view::has_heads(run));
    let (of, sure, statement) = if is_full {
        (LimitLayer::Link, Confidence::Probable, format!("the {what}, {percent} of what it carries"))
    } else if share >= NAMED {
        (LimitLayer::Unknown, Confidence::Low, format!("the {what} ({percent} of it) or the device"))
    } else {
        (LimitLayer::Unknown, Confidence::Low, format!("the device, or the {what} ({percent} of it)"))
    };
    let cause = Cause::new(of, CauseNature::Path, statement).with_confidence(sure).with_evidence([measured, known]);
    Some(match is_full {
        true => cause,
        false => cause.step(Step::SeparateLinkAndDevice, None).based_on("what would separate the two"),
    })
}

/// How many times faster the same link could be in its best mode, where the facts tell: no faster than both ends.
fn faster_mode(run: &Run, layer: &Layer) -> Option<(f64, &'static str)> {
    let number = |name: &'static str| layer.need_number(name).ok();
    if let Some((now, port)) = number(names::SATA_SPEED_GBIT_S).zip(number(names::SATA_SPEED_MAX_GBIT_S)) {
        let drive =
            stack_view::disks(&run.target.stack).first().and_then(|path| stack_view::sata_generation_gbit_s(path.disk));
        return Some(match drive {
            Some(drive) => (port.min(drive) / now, "what port and drive both can do over the negotiated SATA speed"),
            None => (port / now, "the port's highest SATA speed over the negotiated one"),
        });
    }
    if let Ok(link) = link_modes::pcie(layer) {
        return Some((link.ratio, "line rate that both ends could do over that of the PCIe link as it is"));
    }
    let disks = stack_view::disks(&run.target.stack);
    disks.iter().find(|path| path.below.contains(layer)).and_then(link_modes::faster_card_bus)
}

fn evidence(phase: &str, rate: f64, (layer, ceiling, kind): (&Layer, f64, &str)) -> [Evidence; 2] {
    [
        Evidence::measured("direct rate, bytes per second", rate, machine::throughput_id(phase)),
        Evidence::fact(
            format!("{kind}, bytes per second"),
            four_figures(ceiling),
            layer.ceiling_source.clone().unwrap_or_else(|| layer.name.clone()),
        ),
    ]
}

fn what(layer: &Layer) -> &'static str {
    if layer.kind == LayerKind::Disk { "interface of the disk" } else { "link" }
}

/// A link between 60 and 85 % of what it carries is neither cleared nor full. Whose rate it is: that of the platters of a
/// hard disk; that of the link, where both directions give the same; else one of two, which is said.
pub fn between(run: &Run) -> Option<Cause> {
    let (layer, ceiling, kind) = narrowest_link(run)?;
    let best = best_direct(run)?;
    let share = best.bytes_per_s / ceiling;
    require((CLEARED..NAMED).contains(&share))?;
    let other = probes::fastest(run, if best.writes() { Direction::Read } else { Direction::Write });
    let same = other.filter(|o| !best.random && o.bytes_per_s >= best.bytes_per_s * (1.0 - SAME_BOTH_WAYS));
    let platters = stack_view::disks(&run.target.stack).first().map(|p| p.disk).filter(|_| stack_view::has_heads(run));
    let name = &layer.name;
    let what = what(layer);
    let reaches = format!(
        "{} reaches {}, {} of the {kind} of {name}",
        best.name(),
        phrase::rate(best.bytes_per_s),
        phrase::percent(share)
    );
    let (of, statement) = match (platters, same) {
        (Some(_), _) => {
            (LimitLayer::Device, format!("more likely the disk's platters than the {what} {name}: {reaches}"))
        }
        (None, Some(o)) => {
            let both = format!("{} and {} run at the same rate", best.name(), o.name());
            (LimitLayer::Link, format!("more likely the {what} {name} than the device: {both}; {reaches}"))
        }
        (None, None) => (
            LimitLayer::Unknown,
            format!("the {what} {name} or the device: {reaches}, too much to clear it and too little to name it"),
        ),
    };
    let also = same.map(|o| {
        let source = machine::throughput_id(o.name());
        Evidence::measured("direct rate the other way, bytes per second", o.bytes_per_s, source)
    });
    Some(
        Cause::new(of, CauseNature::Remainder, statement)
            .with_confidence(Confidence::Low)
            .with_evidence(evidence(best.name(), best.bytes_per_s, (layer, ceiling, kind)))
            .with_evidence(also)
            .with_evidence(platters.map(|d| d.evidence(names::ROTATIONAL)))
            .decided_by("the same device on a faster link, or a faster device on this link")
            .tried_by(Trial::Sizes),
    )
}

/// Names the link where a direct phase uses all of what it carries, or 85 % and more in both directions alike. Between 85 %
/// and all of it in one direction a medium may be as fast by chance: then both are named, and what would tell them apart.
pub fn utilisation(run: &Run) -> Option<Cause> {
    let (layer, ceiling, kind) = narrowest_link(run)?;
    let best = best_direct(run)?;
    let phase = best.name();
    let rate = best.bytes_per_s;
    let share = rate / ceiling;
    exclude(share < NAMED)?;
    let what = what(layer);
    let other = probes::fastest(run, if best.writes() { Direction::Read } else { Direction::Write });
    let same = other.filter(|o| o.name() != phase && o.bytes_per_s >= rate * (1.0 - SAME_BOTH_WAYS));
    let sure = share >= FULL || (same.is_some() && !stack_view::has_heads(run));
    let reaches = format!(
        "{phase} reaches {}, {} of its {kind} of {}",
        phrase::rate(rate),
        phrase::percent(share),
        phrase::rate(ceiling)
    );
    let also = same.map(|o| {
        let source = machine::throughput_id(o.name());
        Evidence::measured("direct rate the other way, bytes per second", o.bytes_per_s, source)
    });
    if !sure {
        let cause = Cause::new(
            LimitLayer::Unknown,
            CauseNature::Path,
            format!("the {what} {} or the device, which this run does not separate: {reaches}", layer.name),
        )
        .with_confidence(Confidence::Low)
        .with_evidence(evidence(phase, rate, (layer, ceiling, kind)))
        .with_evidence(also)
        .decided_by(Step::SeparateLinkAndDevice.text())
        .tried_by(Trial::Sizes);
        return Some(cause.step(Step::SeparateLinkAndDevice, None));
    }
    let cause = Cause::new(LimitLayer::Link, CauseNature::Path, format!("the {what} {}: {reaches}", layer.name))
        .with_evidence(evidence(phase, rate, (layer, ceiling, kind)))
        .with_evidence(also)
        .decided_by("the same device on a faster link, or this link set to a lower speed, alternating")
        .tried_by(Trial::Sizes);
    Some(match faster_mode(run, layer).filter(|(r, _)| *r > 1.01) {
        Some((ratio, basis)) => cause.step(Step::FasterModeOfLink, Some(ratio)).based_on(basis),
        None => cause.step(Step::FasterLink, None),
    })
}
