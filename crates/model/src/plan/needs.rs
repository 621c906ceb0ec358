//! What a plan takes: memory while it runs, and bytes that it writes. Pure: nothing is asked of a machine, nothing overflows.

use super::{
    Arrivals, BlockPlan, BlockStream, CallKind, EngineKind, FileOperation, FilesPlan, Operation, PhasePlan, Plan, Rate,
    SteadyState, StopRule, StreamPlan, TraceKind,
};
use crate::{Histogram, Interval, NS_PER_S, Round};
use CallKind::{Chmod, Chown, Fdatasync, Fsync, Link, Mkdir, Open, Rename, Rmdir, Symlink, SyncFs, Truncate, Unlink};
use serde::Serialize;

/// Intervals and rounds that a worker keeps at most; more are joined.
const MAX_KEPT: u64 = 8192;
/// Before the warm-up cut, after it, and of the interval that runs.
const HISTOGRAMS_A_STREAM: u64 = 3;
/// Where directions are told apart: before the cut, after it, and in the summary.
const HISTOGRAMS_A_DIRECTION: u64 = 3;
/// Joined from all workers.
const HISTOGRAMS_A_PHASE: u64 = 2;
/// An operation in flight, its place in the batch, the lists of free places and completions, a ring's entries.
const TABLE_BYTES_A_PLACE: u64 = 512;
/// A thread: the touched part of its stack, and what the kernel keeps of it.
const THREAD_BYTES: u64 = 128 << 10;

/// Memory that a phase takes before it starts, bytes. What the kernel's page cache takes is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryNeed {
    /// Data in flight: depth times block size, over all streams.
    pub buffers: u64,
    /// Latencies.
    pub histograms: u64,
    /// Series, rounds, operations in flight, threads.
    pub tables: u64,
    /// What verified data must hold: 8 bytes for each of the smallest pieces that are written; and their read-back.
    pub verify: u64,
}

impl MemoryNeed {
    pub fn total(&self) -> u64 {
        self.buffers.saturating_add(self.histograms).saturating_add(self.tables).saturating_add(self.verify)
    }
}

/// The unit of the page cache.
const PAGE_BYTES: u64 = 4096;

impl StreamPlan {
    fn bytes_written_at_most(&self, phase: &PhasePlan) -> Option<u64> {
        if let Some(files) = self.files() {
            return match files.file_operation {
                FileOperation::Create => Some(files.file_count.saturating_mul(files.file_bytes)),
                writes if writes.sends_data() && files.file_bytes > 0 => {
                    self.limits.total_operations.map(|n| n.saturating_mul(files.buffer_bytes()))
                }
                _ => Some(0),
            };
        }
        if let Some(replay) = self.replay() {
            return Some(replay.replay_bytes[1].saturating_add(replay.replay_before[1]));
        }
        let Some(BlockStream { block, .. }) = self.blocks() else { return Some(0) };
        if !block.changes_data() || (block.operation == Operation::Trim && !block.trim_before_write) {
            return Some(0);
        }
        let once = (phase.stop == StopRule::RegionOnce).then(|| block.all_region_bytes());
        let amount = [once, self.limits.total_bytes].into_iter().flatten().min();
        if let Some(trace) = self.trace().filter(|trace| !trace.ops.0.is_empty()) {
            let written = trace.ops.0.iter().filter(|op| op.kind == TraceKind::Write).map(|op| u64::from(op.len));
            return Some(written.sum());
        }
        let counted = self.limits.total_operations.map(|n| n.saturating_mul(block.block_size_bytes));
        let paced = self.timing.pacing.filter(|p| p.arrivals == Arrivals::Fixed).and_then(|p| p.write).map(|rate| {
            let per_s = match rate {
                Rate::BytesPerS(bytes) => bytes,
                Rate::OperationsPerS(n) => n.saturating_mul(block.block_size_bytes),
            };
            let in_time = u128::from(per_s) * u128::from(phase.time_limit_ns) / u128::from(NS_PER_S);
            // The first one starts at once.
            u64::try_from(in_time).unwrap_or(u64::MAX).saturating_add(block.block_size_bytes)
        });
        [amount.map(|bytes| block.writes_of(bytes)), counted, paced].into_iter().flatten().min()
    }
}

impl BlockPlan {
    /// What is written of so many bytes that a mix moves: its share, and as much more as chance gives it once in a billion.
    fn writes_of(&self, bytes: u64) -> u64 {
        /// Standard deviations.
        const CHANCE: f64 = 6.0;
        let block = self.block_size_bytes.max(1) as f64;
        match self.mix.filter(|_| self.block_sizes.is_none()) {
            Some(mix) => {
                let share = f64::from(100 - mix.read_percent.min(100)) / 100.0;
                let operations = bytes as f64 / block;
                let most = operations * share + CHANCE * (operations * share * (1.0 - share)).sqrt();
                bytes.min((most.ceil() * block) as u64)
            }
            None => bytes,
        }
    }
}

impl PhasePlan {
    /// Memory that it takes, with intervals of this length.
    pub fn memory(&self, interval_ns: u64) -> MemoryNeed {
        let intervals = (self.time_limit_ns / interval_ns.max(1)).saturating_add(64).min(MAX_KEPT);
        // Of each interval also the rate, while steadiness is looked at.
        let of_intervals = intervals * (size_of::<Interval>() + size_of::<f64>()) as u64;
        let series = of_intervals + MAX_KEPT * size_of::<Round>() as u64;
        // The joined series beside those of the streams, and the rounds of a steady state.
        let joined = of_intervals + MAX_KEPT * size_of::<Round>() as u64;
        let mut need = MemoryNeed { buffers: self.buffer_bytes(), tables: joined, ..MemoryNeed::default() };
        let mut histograms = HISTOGRAMS_A_PHASE;
        for stream in &self.streams {
            let depth = u64::from(stream.path.queue_depth);
            let threads = match stream.path.engine {
                EngineKind::PsyncThreads => depth.saturating_add(1),
                _ => 1,
            };
            let told_apart = match stream.directions().len() as u64 {
                // One direction is the stream itself: only its summary is another.
                0 | 1 => 1,
                several => HISTOGRAMS_A_DIRECTION * several,
            };
            histograms = histograms.saturating_add(HISTOGRAMS_A_STREAM + told_apart);
            need.verify = need.verify.saturating_add(stream.verify_state_bytes());
            need.tables = need
                .tables
                .saturating_add(series)
                .saturating_add(depth * TABLE_BYTES_A_PLACE)
                .saturating_add(threads.saturating_mul(THREAD_BYTES));
        }
        need.histograms = histograms.saturating_mul(Histogram::MEMORY_BYTES);
        need
    }

    /// How many packages have room in `room` bytes where this phase of packages needs `needed`; `None` where it has none, or not even one
    /// fits.
    pub fn fewer_packages(&self, needed: u64, room: u64) -> Option<u64> {
        /// They are not of one size.
        const SAFE: f64 = 0.8;
        let digest = self.streams.iter().find_map(|s| s.replay()?.replay_digest.strip_prefix("packages:"))?;
        let count: u64 = digest.split(':').nth(1)?.parse().ok()?;
        let fits = count as f64 * room as f64 / needed.max(1) as f64 * SAFE;
        Some(fits as u64).filter(|n| *n > 0)
    }

    /// Bytes that it writes at most; `None` where only its time bounds them.
    pub fn bytes_written_at_most(&self) -> Option<u64> {
        let makes_first = |s: &StreamPlan| s.replay().is_some_and(|replay| replay.replay_before[1] > 0);
        if self.skip.is_some() || !(self.is_write() || self.streams.iter().any(makes_first)) {
            return Some(0);
        }
        if let StopRule::SteadyRounds(SteadyState { round_bytes: Some(bytes), most_rounds, .. }) = self.stop {
            return Some(bytes.saturating_mul(u64::from(most_rounds)));
        }
        self.streams.iter().try_fold(0u64, |sum, s| Some(sum.saturating_add(s.bytes_written_at_most(self)?)))
    }
}

/// What a change of a directory or an inode makes a file system write; many share their blocks.
const CHANGE: u64 = 2 * PAGE;
const SHARED_CHANGE: u64 = PAGE / 8;
/// So many share none.
const ALONE: u64 = 2048;
const PAGE: u64 = 4096;

/// What a sync of one file makes a file system write beside its data: journal, log or tree. Measured with `run packages` (41 306 syncs)
/// on a loop device, kernel 6.18: ext4 17 kB, xfs 8 kB, btrfs (metadata twice) 117 kB.
fn sync_bytes(fstype: Option<&str>) -> u64 {
    match fstype {
        Some("btrfs" | "bcachefs") => 128 << 10,
        Some("xfs") => 12 << 10,
        _ => 16 << 10,
    }
}

fn is_synced(stream: &StreamPlan) -> bool {
    stream.durability.sync == crate::Sync::FdatasyncEach
}

fn changes_bytes(changes: u64) -> u64 {
    let alone = changes.min(ALONE);
    alone.saturating_mul(CHANGE).saturating_add((changes - alone).saturating_mul(SHARED_CHANGE))
}

impl Plan {
    /// The most memory that any of its phases takes, bytes: phases follow one another.
    pub fn memory_bytes(&self) -> u64 {
        let live = self.phases.iter().filter(|p| p.skip.is_none());
        live.map(|p| p.memory(self.interval_ns).total()).max().unwrap_or(0)
    }

    /// What a file system writes for a block that is synced by itself: the pages that it lies in, and what the journal holds of it,
    /// counted as three times as much at least.
    pub fn synced_bytes(block_bytes: u64, fstype: Option<&str>) -> u64 {
        // What is no multiple of a page lies in one more.
        let pages = block_bytes.div_ceil(PAGE) + u64::from(!block_bytes.is_multiple_of(PAGE));
        let data = pages.saturating_mul(PAGE);
        data.saturating_add(data.saturating_mul(3).max(sync_bytes(fstype).saturating_sub(PAGE)))
    }

    /// What calls on files make a file system write beside their bytes: for what changes a directory or an inode, and for each sync.
    fn metadata_of_files(stream: &StreamPlan, fstype: Option<&str>) -> u64 {
        if let Some(replay) = stream.replay() {
            let calls = |kinds: &[CallKind]| kinds.iter().filter_map(|kind| replay.replay_calls.get(kind)).sum::<u64>();
            let changes = calls(&[Open, Truncate, Rename, Link, Symlink, Unlink, Mkdir, Rmdir, Chmod, Chown]);
            let changes = changes.saturating_add(replay.replay_before[0]);
            let syncs = calls(&[Fsync, Fdatasync, SyncFs]);
            return changes_bytes(changes).saturating_add(syncs.saturating_mul(sync_bytes(fstype)));
        }
        let files = stream.files().filter(|files| files.file_operation.changes_data());
        files.map_or(0, |files| {
            let each = stream.limits.total_operations.unwrap_or(0).max(files.file_count);
            if is_synced(stream) {
                return each.saturating_mul(Self::beside_a_synced_file(fstype));
            }
            let last_pages = if files.file_operation.sends_data() { each.saturating_mul(PAGE) } else { 0 };
            changes_bytes(each).saturating_add(last_pages)
        })
    }

    /// What an operation on a file that is synced makes a file system write beside its bytes: the change of its directory, its inode
    /// and its last page, and a sync.
    fn beside_a_synced_file(fstype: Option<&str>) -> u64 {
        CHANGE + PAGE + (32 << 10).max(sync_bytes(fstype))
    }

    /// What an operation of a stream on a file makes a file system write at most.
    pub fn file_bytes_at_most(stream: &StreamPlan, files: &FilesPlan, fstype: Option<&str>) -> u64 {
        let beside = if is_synced(stream) { Self::beside_a_synced_file(fstype) } else { CHANGE + PAGE };
        files.buffer_bytes().saturating_add(beside)
    }

    /// As [`Self::bytes_written_at_most`], with what a file system of this type adds to writes that are synced one by one, and to calls
    /// on files.
    pub fn device_bytes_at_most(&self, fstype: Option<&str>) -> Option<u64> {
        let live = self.phases.iter().filter(|p| p.skip.is_none());
        let more = live
            .flat_map(|p| {
                p.streams.iter().filter(|s| is_synced(s)).filter_map(|s| Some((s, s.bytes_written_at_most(p)?)))
            })
            .map(|(s, bytes)| {
                // What is not of blocks is synced page by page.
                let block = s.blocks().map_or(PAGE_BYTES, |s| s.block.block_size_bytes).max(1);
                (bytes / block).saturating_mul(Self::synced_bytes(block, fstype)).saturating_sub(bytes)
            })
            .fold(0u64, u64::saturating_add);
        let live = self.phases.iter().filter(|p| p.skip.is_none());
        let files = live.flat_map(|p| &p.streams).map(|s| Self::metadata_of_files(s, fstype));
        let bytes = self.bytes_written_at_most()?.saturating_add(files.fold(more, u64::saturating_add));
        // Inodes, extents, bitmaps.
        Some(bytes.saturating_add(fstype.map_or(0, |_| bytes / 32)))
    }

    /// Bytes that it writes at most; `None` where only time bounds them.
    pub fn bytes_written_at_most(&self) -> Option<u64> {
        self.phases.iter().try_fold(0u64, |sum, p| Some(sum.saturating_add(p.bytes_written_at_most()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Mix, Pacing};
    use super::*;
    use crate::{BlockPlan, Limits, Timing};

    fn plan(stream: StreamPlan) -> Plan {
        let phase = PhasePlan {
            name: "p".into(),
            access: Access::Direct,
            streams: vec![stream],
            time_limit_ns: 10 * NS_PER_S,
            ..PhasePlan::default()
        }
        .alike();
        Plan { interval_ns: NS_PER_S / 10, phases: vec![phase], ..Plan::default() }
    }

    fn stream() -> StreamPlan {
        StreamPlan { kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(), ..StreamPlan::default() }
    }

    #[test]
    fn calls_on_files_reach_the_device_with_what_a_file_system_writes_beside_them() {
        let calls = [(Open, 10), (Fsync, 4), (CallKind::Write, 10), (CallKind::Read, 1000)].into_iter().collect();
        let replay = crate::ReplayPlan { replay_calls: calls, replay_bytes: [5, 1 << 20], ..Default::default() };
        let plan = plan(StreamPlan { kind: crate::StreamKind::Replay(replay), ..StreamPlan::default() });
        let bytes = plan.device_bytes_at_most(None).unwrap();
        assert_eq!(bytes, (1 << 20) + 10 * 8192 + 4 * 16384);
        let on_btrfs = (1 << 20) + 10 * 8192 + 4 * (128 << 10);
        assert_eq!(plan.device_bytes_at_most(Some("btrfs")), Some(on_btrfs + on_btrfs / 32), "with its own blocks");
        assert!(bytes > plan.bytes_written_at_most().unwrap());
    }

    #[test]
    fn what_is_written_is_bounded_where_the_plan_bounds_it() {
        let write = |s: StreamPlan| StreamPlan {
            kind: BlockPlan { operation: Operation::Write, ..s.blocks().unwrap().block.clone() }.into(),
            ..s
        };
        assert_eq!(plan(stream()).bytes_written_at_most(), Some(0));
        assert_eq!(plan(write(stream())).bytes_written_at_most(), None);
        assert_eq!(
            plan(write(StreamPlan { limits: Limits { total_bytes: Some(7), ..stream().limits }, ..stream() }))
                .bytes_written_at_most(),
            Some(7)
        );
        let paced = Pacing { write: Some(Rate::BytesPerS(1 << 20)), ..Pacing::default() };
        let paced = plan(write(StreamPlan { timing: Timing { pacing: Some(paced), ..stream().timing }, ..stream() }));
        assert_eq!(paced.bytes_written_at_most(), Some((10 << 20) + 4096));
        let only_reads = StreamPlan {
            kind: BlockPlan { mix: Some(Mix { read_percent: 100 }), ..stream().blocks().unwrap().block.clone() }.into(),
            ..stream()
        };
        assert_eq!(plan(write(only_reads)).bytes_written_at_most(), Some(0));
        let mut once = plan(write(StreamPlan {
            kind: BlockPlan { files: vec!["a".into(), "b".into()], ..stream().blocks().unwrap().block.clone() }.into(),
            ..stream()
        }));
        once.phases[0].stop = StopRule::RegionOnce;
        assert_eq!(once.bytes_written_at_most(), Some(2 << 30));
        once.phases[0].streams[0].limits.total_bytes = Some(1 << 20);
        assert_eq!(once.bytes_written_at_most(), Some(1 << 20), "it ends with the smaller of the two");
        // Of what a mix moves, its share and what chance adds.
        let half = |bytes| {
            let mix = BlockPlan { mix: Some(Mix { read_percent: 50 }), ..stream().blocks().unwrap().block.clone() };
            let limits = Limits { total_bytes: Some(bytes), ..stream().limits };
            plan(write(StreamPlan { kind: mix.into(), limits, ..stream() })).bytes_written_at_most().unwrap()
        };
        assert!((1u64 << 29..(1 << 29) + (1 << 24)).contains(&half(1 << 30)), "{}", half(1 << 30));
        assert_eq!(half(4096), 4096, "one operation may be a write");
    }
}
