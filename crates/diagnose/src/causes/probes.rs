//! The phases of a run by what they ask, not by their names: the check's phases and those of any workload alike.

use crate::guard::require;
use crate::machine;
use model::{
    Access, BlockPlan, BlockStream, CompactSort as _, DirectProof, Direction, Operation, Order, Pacing, PhaseRecord,
    PhaseRun, PhaseStatus, Run, StreamPlan,
};

/// A phase that stands and asks one plain thing.
#[derive(Clone, Copy)]
pub(crate) struct Probe<'a> {
    pub phase: &'a PhaseRun,
    pub record: &'a PhaseRecord,
    /// Reads or writes.
    pub direction: Direction,
    /// Each block anywhere; otherwise one after the other.
    pub random: bool,
    /// Past the page cache, as far as is known.
    pub direct: bool,
    /// Bytes of an operation.
    pub block: f64,
    /// Operations in flight that were asked for.
    pub depth: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
}

impl<'a> Probe<'a> {
    /// The name of the phase.
    pub fn name(&self) -> &'a str {
        &self.phase.plan.name
    }

    /// A metric's id.
    pub fn id(&self, quantity: &str) -> String {
        format!("{}.{quantity}", self.name())
    }

    /// Operations per second.
    pub fn iops(&self, run: &Run) -> f64 {
        machine::value(run, &self.id("iops")).unwrap_or(self.bytes_per_s / self.block)
    }

    /// A metric of the phase, even if it was refused because of others (see [`with_other_io`]).
    pub fn value_despite_others(&self, quantity: &str) -> Option<f64> {
        let id = self.id(quantity);
        let metric = self.phase.metrics.iter().find(|m| m.id == id)?;
        metric.value.or(metric.rejected_value).filter(|v| *v > 0.0)
    }

    /// Mean latency, nanoseconds.
    pub fn latency_ns(&self, run: &Run) -> Option<f64> {
        machine::value(run, &self.id("latency_ns_mean"))
    }

    /// Writes, not reads.
    pub fn writes(&self) -> bool {
        self.direction == Direction::Write
    }
}

/// What makes a stream ask more than one thing, or hold back.
fn is_plain(stream: BlockStream<'_>) -> bool {
    stream.block.mix.is_none()
        && !stream.block.trim_before_write
        && !stream.block.read_before_write
        && stream.block.block_sizes.is_none()
        && stream.timing.pacing.is_none_or(|p| Pacing { arrivals: p.arrivals, ..Pacing::default() } == p)
        && stream.timing.think.is_none()
        && stream.timing.start_delay_ns == 0
        && matches!(stream.block.operation, Operation::Read | Operation::Write)
        && matches!(stream.block.order, Order::Sequential | Order::Random | Order::RandomReplace)
}

/// A phase whose only flaw is that others used the disk: its numbers are not the storage's, but a limit of ours that was
/// met was met all the same.
fn had_other_io(phase: &PhaseRun) -> bool {
    phase.status == PhaseStatus::Refused
        && !phase.reasons.is_empty()
        && phase.reasons.iter().all(|r| r.is("foreign-traffic"))
}

fn probe<'a>(phase: &'a PhaseRun, record: &'a PhaseRecord, bytes_per_s: f64) -> Option<Probe<'a>> {
    let streams = &phase.plan.streams;
    let first = streams.first()?.blocks()?;
    let access = |s: &StreamPlan| s.path.access;
    let asks = |block: &BlockPlan| (block.operation, block.order, block.block_size_bytes);
    let alike = |s: BlockStream<'_>| is_plain(s) && asks(s.block) == asks(first.block) && access(&s) == access(&first);
    require(phase.plan.measures_target() && phase.plan.moves_data())?;
    require(streams.iter().all(|s| s.blocks().is_some_and(alike)))?;
    Some(Probe {
        phase,
        record,
        direction: if first.block.operation == Operation::Read { Direction::Read } else { Direction::Write },
        random: first.block.order != Order::Sequential,
        direct: access(&first) == Access::Direct && !record.direct.as_ref().is_some_and(DirectProof::is_from_cache),
        block: first.block.block_size_bytes.max(1) as f64,
        depth: f64::from(phase.plan.queue_depth().max(1)),
        bytes_per_s,
    })
}

/// All probes of a run, in the order of its phases.
pub(crate) fn all(run: &Run) -> Vec<Probe<'_>> {
    let standing = |phase| {
        let PhaseRun { plan, .. }: &PhaseRun = phase;
        let (_, record) = machine::valid_phase(run, &plan.name)?;
        probe(phase, record, machine::throughput(run, &plan.name)?)
    };
    run.phases.iter().filter_map(standing).collect()
}

/// Those beside which others used the disk, too. They serve for limits that were set on ourselves, and for nothing else.
pub(crate) fn with_other_io(run: &Run) -> Vec<Probe<'_>> {
    let company = |phase| {
        let PhaseRun { plan, record, metrics, .. }: &PhaseRun = phase;
        let id = machine::throughput_id(&plan.name);
        let rate = metrics.iter().find(|m| m.id == id).and_then(|m| m.rejected_value)?;
        probe(phase, record.as_ref()?, rate)
    };
    let mut probes = all(run);
    probes.extend(run.phases.iter().filter(|p| had_other_io(p)).filter_map(company));
    probes
}

/// The fastest direct sequential phase of a direction.
pub(crate) fn fastest(run: &Run, direction: Direction) -> Option<Probe<'_>> {
    let wanted = |p: &Probe<'_>| p.direct && !p.random && p.direction == direction;
    all(run).into_iter().filter(wanted).max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// The fastest direct sequential phase.
pub(crate) fn fastest_of_all(run: &Run) -> Option<Probe<'_>> {
    let both = [fastest(run, Direction::Read), fastest(run, Direction::Write)];
    both.into_iter().flatten().max_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// The slowest sequential phase through the page cache: `cold` reads, or writes with their syncs.
pub(crate) fn buffered(run: &Run, direction: Direction) -> Option<Probe<'_>> {
    let buffered = |p: &Probe<'_>| {
        let synced = p.record.rounds.iter().any(|r| r.sync_ns > 0)
            || p.phase
                .plan
                .streams
                .iter()
                .all(|s| s.durability.flush.fsync_at_end || s.durability.sync == model::Sync::FsyncAtEnd);
        let honest = if p.writes() { synced } else { p.phase.plan.cold };
        let asked = p.phase.plan.streams.iter().all(|s| s.path.access == Access::Buffered);
        asked && !p.random && p.direction == direction && honest
    };
    all(run).into_iter().filter(buffered).min_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
}

/// Direct random phases of one direction and one size, by depth: of the size that has the most depths, the smallest of
/// those. One phase a depth.
pub(crate) fn depths(run: &Run, direction: Direction) -> Vec<Probe<'_>> {
    let mut probes: Vec<Probe<'_>> =
        all(run).into_iter().filter(|p| p.direct && p.random && p.direction == direction).collect();
    probes.compact_sort_by(|a, b| {
        a.block.total_cmp(&b.block).then(a.depth.total_cmp(&b.depth)).then(b.bytes_per_s.total_cmp(&a.bytes_per_s))
    });
    probes.dedup_by(|b, a| a.block == b.block && a.depth == b.depth);
    let mut best: &[Probe<'_>] = &[];
    for group in probes.chunk_by(|a, b| a.block == b.block) {
        if group.len() > best.len() {
            best = group;
        }
    }
    best.to_vec()
}

/// Direct phases at depth 1 of one direction, by size, where there are at least three sizes; sequential ones, else random
/// ones. One phase a size.
pub(crate) fn sizes(run: &Run, direction: Direction) -> Vec<Probe<'_>> {
    [false, true]
        .into_iter()
        .map(|random| {
            let mut probes: Vec<Probe<'_>> = all(run)
                .into_iter()
                .filter(|p| p.direct && p.random == random && p.direction == direction && p.depth == 1.0)
                .collect();
            probes.compact_sort_by(|a, b| a.block.total_cmp(&b.block).then(a.bytes_per_s.total_cmp(&b.bytes_per_s)));
            probes.dedup_by(|b, a| a.block == b.block);
            probes
        })
        .find(|p| p.len() >= 3)
        .unwrap_or_default()
}
