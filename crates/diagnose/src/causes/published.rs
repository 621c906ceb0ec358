//! A plateau at a limit that the cloud publishes for this instance or this volume. It says what the plateau may be and no more: other volumes
//! of the instance count as well, and what was provisioned for a volume is not seen from inside.

use super::interference::flat;
use super::probes::{self, Probe};
use super::{Cause, CauseKind, CauseNature};
use crate::stack_view::{self, Facts};
use crate::{machine, phrase};
use model::facts as names;
use model::{Confidence, Direction, Evidence, Layer, LimitLayer, Run, Step};

/// A limiter holds what it is told to this; what is published is rounded, and MB may mean MiB (5 %) where the text says MB.
const AGREES: f64 = 0.03;
/// gp3 gives so much to each volume, whatever else is bought (EBS user guide, "General Purpose SSD volumes").
const GP3: (f64, f64) = (125.0 * 1_048_576.0, 3_000.0);
/// What Google publishes of its persistent disks by type: MiB/s and operations a second (reads, writes) of each disk, and more for each GiB.
/// The limits of an instance come on top. (Compute Engine documentation, "About Persistent Disk performance", read on 2026-11-28; guests do
/// not see the type.)
const GOOGLE: [(&str, [f64; 3], [f64; 3]); 3] = [
    ("pd-standard", [0.0, 0.0, 0.0], [0.12, 0.75, 1.5]),
    ("pd-balanced", [140.0, 3_000.0, 3_000.0], [0.28, 6.0, 6.0]),
    ("pd-ssd", [240.0, 6_000.0, 6_000.0], [0.48, 30.0, 30.0]),
];
const GOOGLE_SOURCE: &str = "https://cloud.google.com/compute/docs/disks/performance, read on 2026-11-28";
/// Blocks up to this count as one operation on EBS; larger ones as several.
const ONE_OPERATION: f64 = 16_384.0;

/// A limit with its words.
struct Limit {
    words: String,
    bytes_per_s: f64,
    /// Of reads and of writes.
    iops: [f64; 2],
    source: String,
}

/// Of a persistent disk of this size, for each type that it may be.
fn of_google(disk: &Layer) -> Vec<Limit> {
    let gib = disk.int(names::SIZE_BYTES).map_or(0.0, |bytes| bytes as f64 / f64::from(1 << 30));
    let of = |(name, each, per_gib): &(&str, [f64; 3], [f64; 3])| {
        let [mib, read, write] = [0, 1, 2].map(|i| each[i] + per_gib[i] * gib);
        let words = format!("a Google persistent disk of {gib:.0} GiB, if it is {name}");
        Limit { words, bytes_per_s: mib * 1_048_576.0, iops: [read, write], source: GOOGLE_SOURCE.to_owned() }
    };
    GOOGLE.iter().filter(|_| gib > 0.0).map(of).collect()
}

fn limits(disk: &Layer) -> Vec<Limit> {
    let number = |name: &str| disk.int(name).map(|n| n as f64);
    let of = |words: &str, bytes: &str, iops: &str| {
        let source = disk.text(names::PUBLISHED_SOURCE).unwrap_or_default().to_owned();
        let words = format!("{} {words}", disk.text(names::PUBLISHED_OF)?);
        Some(Limit { words, bytes_per_s: number(bytes)?, iops: [number(iops)?; 2], source })
    };
    let lasting = of("(lasting)", names::PUBLISHED_BYTES_PER_S, names::PUBLISHED_IOPS);
    let burst = of("(a burst, which ends)", names::PUBLISHED_BURST_BYTES_PER_S, names::PUBLISHED_BURST_IOPS);
    // Where there is no burst, both are one.
    let burst = burst.filter(|b| lasting.as_ref().is_none_or(|l| b.bytes_per_s > l.bytes_per_s));
    let gp3 = (disk.text(names::CLOUD_VOLUME) == Some("ebs")).then(|| Limit {
        words: "an EBS volume of type gp3 without more bought".to_owned(),
        bytes_per_s: GP3.0,
        iops: [GP3.1; 2],
        source: "EBS user guide, General Purpose SSD volumes".to_owned(),
    });
    let google = disk.text(names::CLOUD_VOLUME) == Some("google-persistent-disk");
    let by_size = if google { of_google(disk) } else { Vec::new() };
    [lasting, burst, gp3].into_iter().flatten().chain(by_size).collect()
}

/// The probe, its quantity and value, and what is published, where it runs evenly at this limit.
fn meets<'a>(run: &'a Run, limit: &Limit) -> Option<(Probe<'a>, &'static str, f64, f64)> {
    let near = |value: f64, of: f64| (value / of - 1.0).abs() <= AGREES;
    let both = [Direction::Read, Direction::Write];
    let large = both
        .into_iter()
        .filter_map(|d| probes::fastest(run, d))
        .map(|p| (p, "throughput_bytes_per_s", limit.bytes_per_s));
    let small = both.into_iter().zip(limit.iops).filter_map(|(d, iops)| Some((probes::depths(run, d).pop()?, iops)));
    let small = small.filter(|(p, _)| p.block <= ONE_OPERATION && p.depth > 1.0).map(|(p, iops)| (p, "iops", iops));
    let at = |(probe, quantity, of): (Probe<'a>, &'static str, f64)| {
        let plateau = flat(run, Some(probe), quantity)?;
        near(plateau.value, of).then_some((probe, quantity, plateau.value, of))
    };
    large.chain(small).find_map(at)
}

/// The first limit that is met.
pub(crate) fn limit(run: &Run) -> Option<Cause> {
    let disks = stack_view::disks(&run.target.stack);
    let disk = disks.iter().map(|path| path.disk).find(|disk| disk.text(names::CLOUD_VOLUME).is_some())?;
    let (limit, (probe, quantity, value, published)) =
        limits(disk).into_iter().find_map(|l| meets(run, &l).map(|m| (l, m)))?;
    let shown = |v: f64| if quantity == "iops" { phrase::iops(v) } else { phrase::rate(v) };
    // A hypervisor that takes processor time makes rates of its own.
    let sure = machine::cpus_during(run, probe.phase).is_none_or(|c| c.steal < 0.02);
    Some(
        Cause::new(
            LimitLayer::Throttle,
            CauseNature::Path,
            format!(
                "{} runs evenly at {}, what is published of {} ({})",
                probe.name(),
                shown(value),
                limit.words,
                shown(published)
            ),
        )
        .of_kind(if quantity == "iops" { CauseKind::Operations } else { CauseKind::OfItsLayer })
        .with_confidence(if sure { Confidence::Probable } else { Confidence::Low })
        .with_evidence([
            Evidence::measured(probe.name(), value, probe.id(quantity)),
            Evidence::measured("published limit", published, limit.source),
            disk.evidence(names::CLOUD_VOLUME),
        ])
        .decided_by(
            "the provider's own counters (CloudWatch, Azure Monitor), and what was provisioned for volume and instance",
        )
        .step(Step::CompareWithGrant, None),
    )
}
