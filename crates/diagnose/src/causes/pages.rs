//! Phases by the pages that their buffers lie in.

use super::probes::{self, Probe};
use crate::machine;
use model::facts as names;
use model::{BufferPages, Layer, PhaseRun, Run};

/// An operation has so many times the requests that its size asks for, where it is split for another reason.
const SPLIT: f64 = 1.5;

/// The pages of a phase, where all of its streams ask for the same.
fn pages(probe: &Probe<'_>) -> Option<BufferPages> {
    let mut pages = probe.phase.plan.streams.iter().map(|s| s.path.buffers.pages);
    let first = pages.next()?;
    pages.all(|p| p == first).then_some(first)
}

/// The largest difference between two direct sequential phases that ask the same but for their pages, in blocks that do not
/// fit `in_pages` bytes: the phase in ordinary pages, and how much faster the other is.
pub(crate) fn huge_over_ordinary(run: &Run, in_pages: f64) -> Option<(Probe<'_>, f64)> {
    let probes: Vec<Probe<'_>> =
        probes::all(run).into_iter().filter(|p| p.direct && !p.random && p.block > in_pages).collect();
    let of = |wanted: fn(BufferPages) -> bool| probes.iter().copied().filter(move |p| pages(p).is_some_and(wanted));
    let huge = |p: &Probe<'_>| p.record.engine.features.iter().any(|f| f.ends_with("huge-page-buffers"));
    of(|p| p == BufferPages::Ordinary)
        .flat_map(|a| of(|p| p != BufferPages::Ordinary).filter(huge).map(move |b| (a, b)))
        .filter(|(a, b)| (a.direction, a.block, a.depth) == (b.direction, b.block, b.depth))
        .map(|(a, b)| (a, b.bytes_per_s / a.bytes_per_s))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// A direct sequential phase whose operations the disk got in clearly more requests than its size needs.
pub(crate) fn split_phase<'a>(run: &'a Run, disk: &Layer, most: f64) -> Option<&'a PhaseRun> {
    let split = |p: &Probe<'_>| {
        let needed =
            (p.block / disk.int(names::MAX_SECTORS_KB).map_or(f64::INFINITY, |kb| kb as f64 * 1024.0)).ceil().max(1.0);
        let each = machine::requests_per_operation(run, p.phase, &disk.name);
        p.direct && !p.random && p.block > most && each.is_some_and(|n| n >= SPLIT * needed)
    };
    probes::all(run).into_iter().find(split).map(|p| p.phase)
}
