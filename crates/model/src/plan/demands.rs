//! Whether a plan can be carried out at all. Pure: nothing is asked of a machine.

use super::{
    Access, BlockSize, BlockStream, EngineKind, Operation, Order, PhasePlan, Plan, Rate, SteadyState, StopRule,
    StreamPlan, Timing,
};
use crate::{bytes_text, distinct_bytes_text, exact_bytes_text};

/// The most that one read or write transfers: MAX_RW_COUNT of the kernel (`include/linux/fs.h`) with 4 KiB pages.
const MAX_BLOCK_BYTES: u64 = 0x7fff_f000;
/// The most that one trim takes away, as large as the length of an operation can be.
const MAX_TRIM_BYTES: u64 = 0xffff_f000;
/// The largest ring (IORING_MAX_ENTRIES, `io_uring/io_uring.h`).
const MAX_DEPTH: u32 = 32_768;
/// Blocks that wait to be read and verified at most.
const MAX_BACKLOG: u32 = 1 << 20;
/// Why a plan cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A stream says what cannot be.
    #[error("phase '{phase}'{}: {what}", of_stream(.stream))]
    Stream {
        /// Name of the phase.
        phase: String,
        /// Name of the stream, empty if it has none.
        stream: String,
        /// What, and what to do.
        what: String,
    },
    /// A phase says what cannot be.
    #[error("phase '{phase}': {what}")]
    Phase {
        phase: String,
        /// What, and what to do.
        what: String,
    },
    /// More memory than there is.
    #[error(
        "phase '{phase}' needs {} of memory ({} of it for operations in flight: depth x block size x jobs{}), {} are \
         available; {}",
        distinct_bytes_text(*.needed, *.available).0,
        bytes_text(*.buffers),
        of_verify(.verify),
        distinct_bytes_text(*.needed, *.available).1,
        less(.needed, .verify)
    )]
    Memory {
        /// Name of the phase.
        phase: String,
        /// All it needs.
        needed: u64,
        buffers: u64,
        /// Of that, what verified data must hold.
        verify: u64,
        /// What there is.
        available: u64,
    },
}

fn of_verify(bytes: &u64) -> String {
    if *bytes == 0 { String::new() } else { format!("; {} to know what verified data must hold", bytes_text(*bytes)) }
}

fn less(needed: &u64, verify: &u64) -> &'static str {
    if verify.saturating_mul(2) > *needed {
        "verify a smaller region or larger blocks"
    } else {
        "use fewer jobs, a smaller depth or smaller blocks"
    }
}

fn of_stream(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(", job '{name}'") }
}

impl Plan {
    /// Everything that keeps it from being carried out on a target with sectors of `sector_bytes`, where
    /// `memory_bytes` are available (`None`: unknown).
    pub fn check(&self, sector_bytes: u64, memory_bytes: Option<u64>) -> Vec<PlanError> {
        let mut errors = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        for phase in &self.phases {
            let name = || phase.name.clone();
            if !names.insert(&phase.name) {
                errors.push(PlanError::Phase { phase: name(), what: "the name is used twice".into() });
            }
            if phase.skip.is_some() {
                continue;
            }
            if let Some(what) = phase.contradiction().or_else(|| phase.verify_contradiction()) {
                errors.push(PlanError::Phase { phase: name(), what });
            }
            for stream in phase.streams.iter().filter(|_| !phase.copies_memory()) {
                if let Err(what) = stream.can_be(phase, sector_bytes.max(1)) {
                    errors.push(PlanError::Stream { phase: name(), stream: stream.name.clone(), what });
                }
            }
            let need = phase.memory(self.interval_ns);
            if let Some(available) = memory_bytes.filter(|&a| need.total() > a) {
                let needed = need.total();
                let buffers = need.buffers;
                let verify = need.verify;
                errors.push(PlanError::Memory { phase: name(), needed, buffers, verify, available });
            }
        }
        errors
    }
}

impl PhasePlan {
    fn contradiction(&self) -> Option<String> {
        if self.streams.is_empty() && !self.copies_memory() {
            return Some("it has no stream".into());
        }
        match self.stop {
            StopRule::Amount => {
                let endless =
                    self.streams.iter().find(|s| s.limits.total_bytes.is_none() && s.limits.total_operations.is_none());
                endless.map(|s| format!("the stream{} has no amount after which it ends", of_stream(&s.name)))
            }
            StopRule::SteadyRounds(SteadyState { round_ns: None, round_bytes: None, .. }) => {
                Some("a round has no length".into())
            }
            StopRule::SteadyRounds(s) if s.window_rounds < 2 || s.most_rounds < s.window_rounds => {
                Some("steady state needs a window of 2 rounds or more, and no fewer rounds than that".into())
            }
            StopRule::Time if self.time_limit_ns == 0 => Some("it has no time".into()),
            _ => None,
        }
    }
}

fn size_can_be(size: &BlockSize) -> Result<(), String> {
    match size {
        BlockSize::Range { min_bytes, max_bytes, step_bytes } if *step_bytes == 0 || min_bytes > max_bytes => {
            Err(format!("block sizes from {min_bytes} to {max_bytes} in steps of {step_bytes} are none"))
        }
        BlockSize::Split(shares) if shares.iter().all(|s| s.weight == 0) => {
            Err("no block size has a weight above 0".into())
        }
        _ if size.min_bytes() == 0 => Err("a block size is 0".into()),
        _ => Ok(()),
    }
}

impl StreamPlan {
    fn can_be(&self, phase: &PhasePlan, sector: u64) -> Result<(), String> {
        let latencies = self.limits.latency_target.is_some() || self.limits.max_latency_ns.is_some();
        let shares = self.limits.ends_group || self.limits.least_rate.is_some() || latencies;
        if shares
            && (phase.streams.len() > 1 || self.limits.least_rate.is_some())
            && self.path.engine == EngineKind::Sim
        {
            return Err(
                "a simulated device ends its streams each by itself; leave out ends-group (fio: exitall), least-rate (rate_min), latency-target and max-latency".into()
            );
        }
        self.limits.latencies_can_be(&phase.stop)?;
        if let Some(files) = self.files() {
            return self.files_can_be(files, phase);
        }
        if let Some(replay) = self.replay() {
            return self.replay_can_be(replay, phase);
        }
        match self.blocks() {
            Some(blocks) => blocks.blocks_can_be(phase, sector),
            None => Err("a copy of memory is not of this target".into()),
        }
    }
}

impl BlockStream<'_> {
    /// What cannot be of a trace that is done again.
    fn trace_can_be(&self) -> Result<(), String> {
        let bad = |what: &str| Err(what.to_owned());
        let Some(trace) = &self.block.trace else { return bad("there is no trace to do again") };
        let ops = &trace.ops.0;
        if ops.is_empty() {
            return bad("the operations of the trace are not here: name its file again");
        }
        if ops.iter().any(|op| op.offset.saturating_add(op.len.into()) > self.block.region_bytes) {
            return bad("the trace goes beyond the region");
        }
        if ops.iter().any(|op| u64::from(op.len) > self.block.block_size_bytes) {
            return bad("an operation of the trace is longer than the buffers");
        }
        if self.verify.is_some() || self.timing != Timing::default() || self.block.files.len() > 1 {
            return bad("a trace has its own times and places, and is not verified");
        }
        Ok(())
    }

    fn blocks_can_be(&self, phase: &PhasePlan, sector: u64) -> Result<(), String> {
        if let Some(sizes) = &self.block.block_sizes {
            for size in self.block.sizes_used(sizes) {
                size_can_be(size)?;
                if size.max_bytes() > self.block.block_size_bytes {
                    return Err(format!(
                        "buffers of {} bytes hold no block of {}",
                        self.block.block_size_bytes,
                        size.max_bytes()
                    ));
                }
            }
        }
        let least = self.block.min_block_bytes();
        let most = self.block.block_size_bytes;
        let possible = if self.reads() || self.block.sends_data() { MAX_BLOCK_BYTES } else { MAX_TRIM_BYTES };
        if least == 0 || most > possible {
            return Err(format!("block size {most}: from 1 to {possible} bytes are possible"));
        }
        if self.path.queue_depth == 0 || self.path.queue_depth > MAX_DEPTH {
            return Err(format!("depth {}: from 1 to {MAX_DEPTH} is possible", self.path.queue_depth));
        }
        if self.block.region_bytes < most {
            let [region, block] = [self.block.region_bytes, most].map(exact_bytes_text);
            return Err(format!("a region of {region} holds no block of {block}"));
        }
        // Offsets are signed to the kernel (loff_t).
        if self.block.region_start_bytes.checked_add(self.block.region_bytes).is_none_or(|end| end > i64::MAX as u64) {
            return Err("the region ends beyond what an offset can say (2^63)".into());
        }
        self.calls_can_be(sector)?;
        self.verify_can_be(phase)?;
        self.pattern_can_be()
    }

    fn calls_can_be(&self, sector: u64) -> Result<(), String> {
        let engine = self.path.engine;
        let direct = self.path.access == Access::Direct;
        match engine {
            EngineKind::Psync | EngineKind::Mmap | EngineKind::Fallocate | EngineKind::Ftruncate
                if self.path.queue_depth > 1 =>
            {
                return Err(format!("depth {} with one call at a time; use io_uring", self.path.queue_depth));
            }
            EngineKind::Fallocate | EngineKind::Ftruncate if self.block.files.is_empty() => {
                return Err(
                    "fallocate and ftruncate are for files that the run makes: own-files, in a directory".into()
                );
            }
            EngineKind::Fallocate | EngineKind::Ftruncate if self.reads() => {
                return Err("fallocate and ftruncate read nothing: use them for writes".into());
            }
            EngineKind::Ftruncate if self.block.operation != Operation::Write => {
                return Err("ftruncate is for writes".into());
            }
            EngineKind::Mmap if direct => return Err("a mapping cannot be direct; use io_uring or psync".into()),
            EngineKind::Mmap if matches!(self.block.operation, Operation::Trim | Operation::WriteZeroes) => {
                return Err("a mapping cannot trim; use psync".into());
            }
            _ => {}
        }
        if matches!(engine, EngineKind::Sim | EngineKind::Null) {
            return Ok(());
        }
        if !self.path.priority_shares.is_empty() && (!direct || engine != EngineKind::IoUring) {
            return Err("priorities of single requests need io_uring and direct access (fio: ioengine=io_uring or \
                        libaio, direct=1)"
                .into());
        }
        if !direct {
            return Ok(());
        }
        let fits = |size: &BlockSize| size.is_multiple_of(sector);
        let sizes_fit = match &self.block.block_sizes {
            None => self.block.block_size_bytes.is_multiple_of(sector),
            Some(sizes) => self.block.sizes_used(sizes).all(fits),
        };
        if !sizes_fit {
            return Err(format!(
                "direct I/O needs block sizes that are multiples of the sector, {sector} bytes; use such a size, or \
                 buffered access"
            ));
        }
        let aligned = self.block.align_bytes.is_none_or(|a| a.is_multiple_of(sector));
        if !(aligned && self.block.region_start_bytes.is_multiple_of(sector)) {
            return Err(format!("direct I/O needs offsets that are multiples of the sector, {sector} bytes"));
        }
        Ok(())
    }

    fn pattern_can_be(&self) -> Result<(), String> {
        let bad = |what: &str| Err(what.to_owned());
        self.path.priorities_can_be()?;
        let sums = |of: fn(&super::Zone) -> u32| self.block.zones.iter().map(|z| u64::from(of(z))).sum::<u64>() == 100;
        match self.block.order {
            Order::Zoned if !(sums(|z| z.access_percent) && sums(|z| z.region_percent)) => {
                return bad("the zones' shares of operations and of the region each sum to 100 %");
            }
            Order::Strided { stride_bytes } if stride_bytes < self.block.min_block_bytes() => {
                return bad("a stride is at least one block, from start to start");
            }
            Order::Strided { stride_bytes }
                if self.block.run_blocks > 1
                    && stride_bytes < u64::from(self.block.run_blocks).saturating_mul(self.block.min_block_bytes()) =>
            {
                return bad("a stride is at least as long as its blocks in a row");
            }
            Order::Zipf { theta_milli: 0 | 1000 } => return bad("zipf needs a theta above 0 that is not 1"),
            Order::Pareto { h_milli } if h_milli == 0 || h_milli >= 1000 => {
                return bad("pareto needs a power above 0 and below 1");
            }
            Order::Sequence { .. } => {
                let starts = self.block.region_bytes / self.block.min_block_bytes().max(1);
                match self.block.sequence.iter().find(|n| **n >= starts) {
                    _ if self.block.sequence.is_empty() => return bad("a sequence names at least one block"),
                    Some(n) => {
                        return Err(format!("block {n} of the sequence is beyond the region, of {starts} blocks"));
                    }
                    None => {}
                }
            }
            Order::Traced => self.trace_can_be()?,
            Order::Normal { deviation_percent: d } if d == 0 || d > 100 => {
                return bad("normal needs a deviation from 1 to 100 %");
            }
            _ => {}
        }
        if self.block.mix.is_some_and(|m| m.read_percent > 100)
            || self.content.compress_percent > 100
            || self.content.dedupe_percent > 100
        {
            return bad("a share is above 100 %");
        }
        let sequential = self.block.sequential_percents;
        if sequential.iter().any(|p| *p > 100) || (sequential != [0; 3] && self.block.order.is_sequential()) {
            return bad("shares that are sequential are those of a random order, up to 100 %");
        }
        if self.timing.flow.is_some_and(|f| f.weight == 0) {
            return bad("a weight of 0 never starts anything");
        }
        match self.block.verify_backlog {
            0 => {}
            1..=MAX_BACKLOG if self.verify.is_some() && self.block.operation == Operation::Write => {}
            1..=MAX_BACKLOG => return bad("verify-backlog is for streams that write and verify"),
            _ => return Err(format!("verify-backlog: from 1 to {MAX_BACKLOG} blocks are possible")),
        }
        if self.block.align_bytes == Some(0) {
            return bad("an alignment of 0");
        }
        let zero = |r: Option<Rate>| matches!(r, Some(Rate::BytesPerS(0) | Rate::OperationsPerS(0)));
        if self.timing.pacing.is_some_and(|p| zero(p.read) || zero(p.write) || zero(p.trim)) {
            return bad("a rate of 0 never starts anything");
        }
        let outside = |name: &String| {
            name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..") || name.contains('\0')
        };
        if let Some(name) = self.block.files.iter().find(|n| outside(n)) {
            return Err(format!("the file '{name}' is not below the target"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "demands_tests.rs"]
mod tests;
