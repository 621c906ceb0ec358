//! Requests that the block layer splits: t(n) = t0 + n / B, and t0 is paid for each piece.

use super::{Cause, CauseKind, CauseNature, depth, link, probes};
use crate::guard::exclude;
use crate::stack_view::{self, Facts};
use crate::{machine, phrase};
use model::facts as names;
use model::{Direction, Evidence, LimitLayer, Run, Step};

/// Share of a piece's time that its fixed part must be before splitting is worth naming.
const FIXED_SHARE: f64 = 0.25;
/// What larger requests must promise.
const GAIN: f64 = 1.25;

/// Large requests that run at no more than this many times the rate of single commands of a piece's size cost what those cost.
const AS_SINGLE: f64 = 1.25;
/// A processor this busy is full: of commands, where there are many more of them than was asked.
const FULL: f64 = 0.9;
/// So many requests for each operation are many more.
const MANY: f64 = 4.0;
/// A rate from this share of its link on is the link's.
const AT_LINK: f64 = 0.85;

/// Requests that a setting splits below what the hardware takes, where that is what they cost.
pub fn small_requests(run: &Run) -> Option<Cause> {
    one_at_a_time(run).or_else(|| as_single_commands(run))
}

/// Sequential requests, split, that run just as fast as random ones of a piece's size at their best depth, or keep a processor full:
/// each piece costs a command.
fn as_single_commands(run: &Run) -> Option<Cause> {
    let path = stack_view::only_disk(&run.target.stack)?;
    let kib = |name: &'static str| path.disk.need_number(name).ok().map(|v| v * 1024.0);
    let (most, hardware) = (kib(names::MAX_SECTORS_KB)?, kib(names::MAX_HW_SECTORS_KB)?);
    let large = probes::fastest(run, Direction::Read).filter(|p| p.block >= 2.0 * most)?;
    let ceiling = link::narrowest_link(run).map(|(_, c, _)| c);
    let pieces = machine::requests_per_operation(run, large.phase, &path.disk.name);
    exclude(
        most <= 0.0
            || hardware < 2.0 * most
            || pieces.is_some_and(|n| n < large.block / most / 2.0)
            || ceiling.is_some_and(|c| large.bytes_per_s >= c * AT_LINK),
    )?;
    let single = probes::depths(run, Direction::Read)
        .into_iter()
        .filter(|p| p.block <= most && p.block * 2.0 > most)
        .max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
        .filter(|p| large.bytes_per_s <= p.bytes_per_s * AS_SINGLE);
    let full = machine::cpus_during(run, large.phase).map(|c| c.full()).filter(|f| *f >= FULL && pieces >= Some(MANY));
    let name = large.name();
    let rate = phrase::rate(large.bytes_per_s);
    let kib = most / 1024.0;
    let why = match (single, full) {
        (Some(single), _) => {
            format!("no more than {} gives in single ones ({})", single.name(), phrase::rate(single.bytes_per_s))
        }
        (None, Some(full)) => format!("with a processor {} busy with so many commands", phrase::percent(full)),
        (None, None) => return None,
    };
    let statement =
        format!("requests are split into {kib:.0} KiB, each a command of its own: {name} reaches {rate}, {why}");
    Some(
        Cause::new(LimitLayer::BlockLayer, CauseNature::Setting, statement)
            .of_kind(CauseKind::Split)
            .by_time()
            .with_evidence([path.disk.evidence(names::MAX_SECTORS_KB), path.disk.evidence(names::MAX_HW_SECTORS_KB)])
            .with_evidence([Evidence::measured(
                "rate, bytes per second",
                large.bytes_per_s,
                large.id("throughput_bytes_per_s"),
            )])
            .with_evidence(single.map(|p| {
                let id = p.id("throughput_bytes_per_s");
                Evidence::measured("rate of single commands, bytes per second", p.bytes_per_s, id)
            }))
            .with_evidence(
                pieces.map(|n| Evidence::measured("requests for each operation", n, format!("{name} diskstats"))),
            )
            .decided_by("the same sequential phase with a larger max_sectors_kb, alternating")
            .step(Step::RaiseMaxSectors, ceiling.map(|c| c / large.bytes_per_s)),
    )
}

/// One command at a time, split so small that most of its time is fixed. Where commands overlap, the fixed part hides
/// behind the transfers of others, and nothing is claimed.
fn one_at_a_time(run: &Run) -> Option<Cause> {
    let path = stack_view::only_disk(&run.target.stack)?;
    let kib = |name: &'static str| path.disk.need_number(name).ok().map(|v| v * 1024.0);
    let (most, hardware) = (kib(names::MAX_SECTORS_KB)?, kib(names::MAX_HW_SECTORS_KB)?);
    let serial = path.disk.int(names::QUEUE_DEPTH) == Some(1)
        || depth::scaling(run, Direction::Read).is_some_and(|s| s.ratio() <= depth::SERIALISED);
    let small = probes::depths(run, Direction::Read)
        .first()
        .copied()
        .or_else(|| probes::sizes(run, Direction::Read).first().copied())
        .filter(|p| p.depth == 1.0 && p.block < most)?;
    let large = probes::fastest(run, Direction::Read).filter(|p| p.block >= 2.0 * most)?;
    exclude(most <= 0.0 || hardware <= most || !serial)?;
    // The time of one piece, and what of it is not transfer: two points of the same line, at the small size and the piece.
    let piece = most / large.bytes_per_s;
    let measured = small.latency_ns(run)? / 1e9;
    let per_byte = (piece - measured) / (most - small.block);
    let fixed = measured - per_byte * small.block;
    exclude(per_byte <= 0.0 || fixed / piece < FIXED_SHARE)?;
    let unsplit = hardware.min(large.block);
    let ratio = unsplit / (fixed + per_byte * unsplit) / large.bytes_per_s;
    exclude(ratio < GAIN)?;
    let name = large.name();
    Some(
        Cause::new(
            LimitLayer::BlockLayer,
            CauseNature::Setting,
            format!(
                "requests are split into {:.0} KiB, one at a time, and {} of each is fixed time ({name} at {})",
                most / 1024.0,
                phrase::percent(fixed / piece),
                phrase::rate(large.bytes_per_s)
            ),
        )
        .of_kind(CauseKind::Split)
        .by_time()
        .with_evidence([
            path.disk.evidence(names::MAX_SECTORS_KB),
            path.disk.evidence(names::MAX_HW_SECTORS_KB),
            Evidence::measured("fixed time of a command, ns", fixed * 1e9, small.id("latency_ns_mean")),
            Evidence::measured("time of a piece, ns", piece * 1e9, large.id("throughput_bytes_per_s")),
            Evidence::measured("rate without fixed time, bytes per second", 1.0 / per_byte, "both"),
        ])
        .decided_by("the same sequential phase with a larger max_sectors_kb, alternating")
        .step(Step::RaiseMaxSectors, Some(ratio))
        .based_on(format!("t0 + n / B at {:.0} KiB over the present rate", unsplit / 1024.0)),
    )
}
