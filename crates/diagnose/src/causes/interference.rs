//! Others: users of the same disk, the hypervisor's processors, and caps set on purpose.

use super::probes::{self, Probe};
use super::{Cause, CauseKind, CauseNature, Trial};
use crate::guard::require;
use crate::{machine, phrase, series, stack_view};
use model::{Confidence, Direction, Evidence, LimitLayer, PhaseRun, PhaseStatus, Reason, Run, Step};

/// Others' share above which a phase is not the target's own (DESIGN.md, "Measuring truthfully").
const FOREIGN: f64 = 0.05;
/// Processor time that the hypervisor may take before it is worth naming.
const STEAL: f64 = 0.05;
/// Time that the workers may wait for a processor before it is worth naming.
const WAIT: f64 = 0.05;
/// Storage is not this even; token buckets are.
const FLAT_SPREAD: f64 = 0.02;
/// Two phases at the same cap agree to this.
const SAME: f64 = 0.03;

/// Whether the phase was refused because others used the device.
fn refused_for_others(phase: &PhaseRun) -> Option<&Reason> {
    Reason::find(&phase.reasons, "foreign-traffic").filter(|_| phase.status == PhaseStatus::Refused)
}

/// Traffic of others in the quiet windows, or writes while we only read. Where it made a phase be refused, it may be the bottleneck if nothing that
/// stands explains more; where every phase stands, it is a remark.
pub fn foreign_traffic(run: &Run) -> Option<Cause> {
    let (phase, ratio) = machine::executed(run)
        .map(|(p, r)| (p, machine::foreign_ratio(r).unwrap_or(0.0)))
        .filter(|(p, ratio)| *ratio > FOREIGN || refused_for_others(p).is_some())
        .max_by(|a, b| {
            let refused = |p: &PhaseRun| p.status == PhaseStatus::Refused;
            refused(a.0).cmp(&refused(b.0)).then(a.1.total_cmp(&b.1))
        })?;
    let (standing, confidence) = match phase.status {
        PhaseStatus::Refused => (CauseNature::Remainder, Confidence::Probable),
        _ => (CauseNature::Distortion, Confidence::Low),
    };
    let name = &phase.plan.name;
    let (statement, evidence) = match refused_for_others(phase).filter(|_| ratio <= FOREIGN) {
        Some(reason) => (
            format!("others use the same disk: during {name} {}", reason.text()),
            Evidence::measurement("why it was refused", reason.text(), format!("{name} diskstats")),
        ),
        None => (
            format!("others use the same disk: their traffic around {name} is {}", beside(phase, ratio)),
            Evidence::measured("other I/O over own", ratio, format!("{name} quiet windows")),
        ),
    };
    Some(
        Cause::new(LimitLayer::Unknown, standing, statement)
            .with_confidence(confidence)
            .with_evidence([evidence])
            .decided_by("the same check while nothing else uses the disk")
            .step(Step::StopOtherUsers, None),
    )
}

/// Others' traffic as a share of ours; where it is several times ours, as a rate.
fn beside(phase: &PhaseRun, ratio: f64) -> String {
    /// A share beyond this tells less than the rate.
    const MAX: f64 = 2.0;
    let own = phase.record.as_ref().map_or(0.0, |r| r.bytes as f64 * 1e9 / r.duration_ns().max(1) as f64);
    match ratio <= MAX {
        true => format!("{} of ours", phrase::percent(ratio)),
        false => format!("{}, beside {} of ours", phrase::rate(ratio * own), phrase::rate(own)),
    }
}

/// Processor time taken by the hypervisor. Where it made every phase be refused, it is what hides the storage; otherwise a
/// remark.
pub fn steal(run: &Run) -> Option<Cause> {
    let (phase, steal) = machine::executed(run)
        .filter_map(|(p, _)| machine::cpus_during(run, p).map(|c| (p, c.steal)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, s)| *s >= STEAL)?;
    let name = &phase.plan.name;
    let hides = Reason::find(&phase.reasons, "steal").is_some() && probes::all(run).is_empty();
    let (standing, confidence) =
        if hides { (CauseNature::Remainder, Confidence::Probable) } else { (CauseNature::Distortion, Confidence::Low) };
    Some(
        Cause::new(
            LimitLayer::Throttle,
            standing,
            format!("the hypervisor took {} of the processors during {name}", phrase::percent(steal)),
        )
        .with_confidence(confidence)
        .with_evidence([Evidence::measured("CPU steal share", steal, format!("{name} /proc/stat"))])
        .decided_by("the same check at an hour or on a machine without steal"),
    )
}

/// Workers that could have run and waited for a processor: a remark, because how much of it the storage would have used
/// was not seen.
pub fn busy_machine(run: &Run) -> Option<Cause> {
    let (phase, share) = machine::executed(run)
        .filter(|(p, _)| p.plan.measures_target())
        .filter_map(|(p, r)| {
            let workers = r.engine_threads(&p.plan);
            let waited = r.usage.cpu_wait_ns? as f64 / r.duration_ns().max(1) as f64;
            Some((p, waited / f64::from(workers)))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, share)| *share > WAIT)?;
    let name = &phase.plan.name;
    Some(
        Cause::new(
            LimitLayer::Cpu,
            CauseNature::Distortion,
            format!(
                "other programs kept the processors busy: during {name} the workers waited for one {} of the time",
                phrase::percent(share)
            ),
        )
        .with_confidence(Confidence::Low)
        .with_evidence([Evidence::measured("time on a run queue over wall time", share, format!("{name} schedstat"))])
        .decided_by("the same check while nothing else runs on this machine")
        .step(Step::StopOtherWork, None),
    )
}

pub(super) struct Plateau<'a> {
    phase: &'a str,
    pub value: f64,
    /// Bytes per second.
    rate: f64,
    spread: f64,
}

pub(super) fn flat<'a>(run: &Run, probe: Option<Probe<'a>>, quantity: &str) -> Option<Plateau<'a>> {
    let probe = probe?;
    let spread = series::relative_spread(probe.record)?;
    let value = machine::value(run, &probe.id(quantity))?;
    let even = FLAT_SPREAD + series::grain(probe.record, probe.bytes_per_s, probe.block);
    (spread <= even).then_some(Plateau { phase: probe.name(), value, rate: probe.bytes_per_s, spread })
}

/// A cap on a virtual disk: reads and writes meet the same rate, and both are as even as only a limiter makes them; or each
/// has its own, and both are round numbers besides, which is no evidence by itself.
pub fn cap(run: &Run) -> Option<Cause> {
    require(stack_view::is_virtual_disk(&run.target.stack, &run.environment))?;
    let deepest = |direction| probes::depths(run, direction).pop();
    let both = [Direction::Read, Direction::Write];
    let pairs = [
        (both.map(deepest), "iops", "operations"),
        (both.map(|d| probes::fastest(run, d)), "throughput_bytes_per_s", "bytes"),
    ];
    let flat = pairs.map(|([read, write], quantity, what)| {
        Some((flat(run, read, quantity)?, flat(run, write, quantity)?, quantity, what))
    });
    let flat = || flat.iter().flatten();
    let same = flat().find(|(a, b, ..)| (a.value / b.value - 1.0).abs() <= SAME);
    let (a, b, quantity, what) =
        same.or_else(|| flat().find(|(a, b, quantity, _)| are_round(a, b, quantity) && as_limited(run, a, b)))?;
    let shown = |v: f64| if *quantity == "iops" { phrase::iops(v) } else { phrase::rate(v) };
    let statement = match same {
        Some(_) => format!("a cap on {what} per second: reads and writes both run evenly at {}", shown(a.value)),
        None => format!(
            "caps on reads and on writes: reads run evenly at {} ({}), writes at {} ({}), round numbers both",
            shown(a.value),
            phrase::rate(a.rate),
            shown(b.value),
            phrase::rate(b.rate)
        ),
    };
    let evidence = |f: &Plateau<'_>| {
        [
            Evidence::measured(f.phase, f.value, format!("{}.{quantity}", f.phase)),
            Evidence::measured("relative spread of windows", f.spread, format!("{} series", f.phase)),
        ]
    };
    Some(
        Cause::new(LimitLayer::Throttle, CauseNature::Path, statement)
            .of_kind(if *quantity == "iops" { CauseKind::Operations } else { CauseKind::OfItsLayer })
            .with_evidence(evidence(a))
            .with_evidence(evidence(b))
            .decided_by("another block size: under a cap the same quantity stays at the same value")
            .tried_by(Trial::Sizes)
            .step(Step::CompareWithGrant, None),
    )
}

/// Whether something beside the roundness of two rates speaks for a limiter: operations of another size meet them as well (a limit
/// on bytes holds them all, a medium gives each size its own), or they are more even than media are, on processors that nobody took
/// away meanwhile.
fn as_limited(run: &Run, a: &Plateau<'_>, b: &Plateau<'_>) -> bool {
    /// A size of its own.
    const OTHER_SIZE: f64 = 4.0;
    /// Of the spread that counts as even.
    const VERY_EVEN: f64 = 0.5;
    let probes = probes::all(run);
    [a, b].iter().all(|flat| {
        let Some(own) = probes.iter().find(|p| p.name() == flat.phase) else { return false };
        let met_otherwise = probes.iter().any(|p| {
            let sizes = (p.block / own.block).max(own.block / p.block);
            p.direct
                && p.direction == own.direction
                && sizes >= OTHER_SIZE
                && (p.bytes_per_s / flat.rate - 1.0).abs() <= SAME
        });
        let grain = series::grain(own.record, own.bytes_per_s, own.block);
        let undisturbed = machine::steal(run, own.phase) == 0.0;
        met_otherwise || undisturbed && flat.spread <= FLAT_SPREAD * VERY_EVEN + grain
    })
}

/// Whether two rates are such as somebody set: numbers of one or two digits, both in what is limited, operations, or 10^6 or 2^20
/// bytes a second.
fn are_round(a: &Plateau<'_>, b: &Plateau<'_>, quantity: &str) -> bool {
    const ROUND: [f64; 13] = [1.0, 1.2, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.5, 8.0, 10.0];
    /// A limiter is that exact; a phase sees its bucket's first fill as well.
    const EXACT: f64 = 0.006;
    let round = |value: f64| {
        let digits = value / 10f64.powf(value.log10().floor());
        ROUND.iter().any(|r| (digits / r - 1.0).abs() <= EXACT)
    };
    let both = |of: fn(&Plateau<'_>) -> f64| round(of(a)) && round(of(b));
    both(|f| f.value) || quantity != "iops" && both(|f| f.value / 1_048_576.0)
}
