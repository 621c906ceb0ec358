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
/// Blocks up to this count as one operation on EBS; larger ones as several.
const ONE_OPERATION: f64 = 16_384.0;

/// A limit with its words.
struct Limit {
    words: String,
    bytes_per_s: f64,
    iops: f64,
    source: String,
}

fn limits(disk: &Layer) -> Vec<Limit> {
    let number = |name: &str| disk.int(name).map(|n| n as f64);
    let of = |words: &str, bytes: &str, iops: &str| {
        let source = disk.text(names::PUBLISHED_SOURCE).unwrap_or_default().to_owned();
        let words = format!("{} {words}", disk.text(names::PUBLISHED_OF)?);
        Some(Limit { words, bytes_per_s: number(bytes)?, iops: number(iops)?, source })
    };
    let lasting = of("(lasting)", names::PUBLISHED_BYTES_PER_S, names::PUBLISHED_IOPS);
    let burst = of("(a burst, which ends)", names::PUBLISHED_BURST_BYTES_PER_S, names::PUBLISHED_BURST_IOPS);
    // Where there is no burst, both are one.
    let burst = burst.filter(|b| lasting.as_ref().is_none_or(|l| b.bytes_per_s > l.bytes_per_s));
    let gp3 = (disk.text(names::CLOUD_VOLUME) == Some("ebs")).then(|| Limit {
        words: "an EBS volume of type gp3 without more bought".to_owned(),
        bytes_per_s: GP3.0,
        iops: GP3.1,
        source: "EBS user guide, General Purpose SSD volumes".to_owned(),
    });
    [lasting, burst, gp3].into_iter().flatten().collect()
}

/// The probe and its value, where it runs evenly at this limit.
fn meets<'a>(run: &'a Run, limit: &Limit) -> Option<(Probe<'a>, &'static str, f64)> {
    let near = |value: f64, of: f64| (value / of - 1.0).abs() <= AGREES;
    let both = [Direction::Read, Direction::Write];
    let large = both
        .into_iter()
        .filter_map(|d| probes::fastest(run, d))
        .map(|p| (p, "throughput_bytes_per_s", limit.bytes_per_s));
    let small = both.into_iter().filter_map(|d| probes::depths(run, d).pop());
    let small = small.filter(|p| p.block <= ONE_OPERATION && p.depth > 1.0).map(|p| (p, "iops", limit.iops));
    let at = |(probe, quantity, of): (Probe<'a>, &'static str, f64)| {
        let plateau = flat(run, Some(probe), quantity)?;
        near(plateau.value, of).then_some((probe, quantity, plateau.value))
    };
    large.chain(small).find_map(at)
}

/// The first limit that is met.
pub(crate) fn limit(run: &Run) -> Option<Cause> {
    let disks = stack_view::disks(&run.target.stack);
    let disk = disks.iter().map(|path| path.disk).find(|disk| disk.text(names::CLOUD_VOLUME).is_some())?;
    let (limit, (probe, quantity, value)) = limits(disk).into_iter().find_map(|l| meets(run, &l).map(|m| (l, m)))?;
    let shown = |v: f64| if quantity == "iops" { phrase::iops(v) } else { phrase::rate(v) };
    let published = if quantity == "iops" { limit.iops } else { limit.bytes_per_s };
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
