//! Requests that the block layer splits: t(n) = t0 + n / B, and t0 is paid for each piece.

use super::probes;
use super::{Cause, Standing, depth};
use crate::phrase;
use crate::stack_view::{self, Facts};
use model::facts as names;
use model::{Direction, Evidence, LimitLayer, Run};

/// Share of a piece's time that its fixed part must be before splitting is worth naming.
const FIXED_SHARE: f64 = 0.25;
/// What larger requests must promise.
const GAIN: f64 = 1.25;

/// One command at a time, split so small that most of its time is fixed. Where commands overlap, the fixed part hides
/// behind the transfers of others, and nothing is claimed.
pub fn small_requests(run: &Run) -> Option<Cause> {
    let paths = stack_view::disks(&run.target.stack);
    let [path] = paths.as_slice() else { return None };
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
    if most <= 0.0 || hardware <= most || !serial {
        return None;
    }
    // The time of one piece, and what of it is not transfer: two points of the same line, at the small size and the piece.
    let piece = most / large.bytes_per_s;
    let measured = small.latency_ns(run)? / 1e9;
    let per_byte = (piece - measured) / (most - small.block);
    let fixed = measured - per_byte * small.block;
    if per_byte <= 0.0 || fixed / piece < FIXED_SHARE {
        return None;
    }
    let unsplit = hardware.min(large.block);
    let ratio = unsplit / (fixed + per_byte * unsplit) / large.bytes_per_s;
    if ratio < GAIN {
        return None;
    }
    let name = large.name();
    Some(
        Cause::new(
            LimitLayer::BlockLayer,
            Standing::Setting,
            format!(
                "requests are split into {:.0} KiB, one at a time, and {} of each is fixed time ({name} at {})",
                most / 1024.0,
                phrase::percent(fixed / piece),
                phrase::rate(large.bytes_per_s)
            ),
        )
        .because([
            path.disk.evidence(names::MAX_SECTORS_KB),
            path.disk.evidence(names::MAX_HW_SECTORS_KB),
            Evidence::measurement(
                "fixed time of a command, ns",
                phrase::rounded(fixed * 1e9),
                small.id("latency_ns_mean"),
            ),
            Evidence::measurement(
                "time of a piece, ns",
                phrase::rounded(piece * 1e9),
                large.id("throughput_bytes_per_s"),
            ),
            Evidence::measurement("rate without fixed time, bytes per second", phrase::rounded(1.0 / per_byte), "both"),
        ])
        .decided_by("the same sequential phase with a larger max_sectors_kb, alternating")
        .step(
            "raise max_sectors_kb to what the hardware takes",
            Some(ratio),
            format!("t0 + n / B at {:.0} KiB over the present rate", unsplit / 1024.0),
        ),
    )
}
