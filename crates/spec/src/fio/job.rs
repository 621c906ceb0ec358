//! The job that the options of a section make together.

use super::block::{Blocks, SizeOption};
use super::number::Units;
use super::priority::Priorities;
use super::values::{OptionError, positive};
use crate::extent::Extent;
use crate::job::{Files, Job};
use model::{
    Access, BlockSize, BufferPages, EngineKind, FileOperation, FillPattern, Flow, OpenSync, Operation, Order, Rate,
    SteadyState, Sync, ThinkTime, Verify, VerifyKind,
};

/// What a job that has ended takes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ExitScope {
    /// Jobs of its reporting group.
    #[default]
    Group,
    /// Jobs up to the next stonewall: our phase.
    Stonewall,
    /// All, also those that have not started.
    All,
}

/// Longer trims than this are cut, by the length of an operation.
const MAX_TRIM_BYTES: u64 = 2 << 30;

/// An option that does not go with the others, and why.
pub(super) type OptionConflict = (&'static str, OptionError);

/// What the options of a section have said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct JobOptions {
    /// What needs no other option to be understood.
    pub job: Job,
    /// Instead of the section's.
    pub name: Option<String>,
    pub stonewall: bool,
    pub new_group: bool,
    pub group_reporting: bool,
    pub directory: Option<String>,
    pub filenames: Vec<String>,
    /// What is done otherwise than the text says.
    pub notes: Vec<String>,
    pub kind: String,
    /// `rw=NAME:THIS`.
    pub modifier: Option<String>,
    pub blocks: Blocks,
    /// Bytes a second of reads, writes and trims, and operations a second.
    pub rates: [Option<Rate>; 3],
    pub rates_iops: [Option<Rate>; 3],
    /// Length of each file.
    pub per_file: Option<u64>,
    pub files: u32,
    pub no_map: bool,
    pub order: Option<Order>,
    pub do_verify: bool,
    pub verify: Option<VerifyKind>,
    pub verify_fatal: bool,
    pub repeat: bool,
    pub steady_window_ns: u64,
    /// Whether the slope is looked at, whether that of the latency, and the limit.
    pub steady: Option<(bool, bool, u32)>,
    pub steady_round_ns: u64,
    pub sequence_moves: bool,
    /// `dedupe_mode=working_set`, and its share of the region.
    pub working_set: bool,
    pub working_set_percent: u32,
    /// What ends with it, where `exitall` is given.
    pub exit_all: bool,
    pub exit_what: ExitScope,
    pub priorities: Priorities,
    /// The job that must have ended before this one starts.
    pub wait_for: Option<String>,
    /// `zonemode=strided`, and its sizes: what is done of a zone, its length, and what lies between two.
    pub zones_strided: Option<bool>,
    pub zone_size: u64,
    pub zone_range: Option<u64>,
    pub zone_skip: u64,
    pub hugepage_bytes: Option<u64>,
    /// `fill_device`: all that there is, where no size is given.
    pub fills: bool,
    pub verify_pattern: bool,
    /// `ioengine=libpmem`: a mapping, direct or not.
    pub maps_memory: bool,
    /// `ioengine=cpuio`: the share of each cycle that it computes, and how long it does.
    pub burns: bool,
    pub burn_percent: Option<u32>,
    pub burn_cycle_us: u32,
    /// `iodepth_low`: a full queue is not filled again before so few are in flight.
    pub low_depth: Option<u32>,
}

impl JobOptions {
    /// The options' defaults.
    pub fn new() -> Self {
        let mut job = Job { separate: true, drop_cache: true, loops_of_region: true, ..Job::named("") };
        job.engine = Some(EngineKind::Psync);
        // Without a weight there is no flow.
        job.stream.timing.flow = Some(Flow { weight: 0, ..Flow::default() });
        Self {
            job,
            kind: "read".into(),
            files: 1,
            do_verify: true,
            repeat: true,
            steady_round_ns: 1_000_000_000,
            working_set_percent: 5,
            burn_cycle_us: 50_000,
            ..Self::default()
        }
    }

    /// Another value from the command line replaces all that the text says of the same thing.
    pub fn override_option(&mut self, option: &str) {
        match option {
            "bs" | "blocksize" => self.blocks.forget_beyond(SizeOption::Size),
            "bsrange" | "blocksize_range" => self.blocks.forget_beyond(SizeOption::Range),
            "rate" => self.rates_iops = [None; 3],
            "rate_iops" => self.rates = [None; 3],
            "cmdprio_percentage" => self.priorities.splits = Default::default(),
            "cmdprio_bssplit" => self.priorities.percents = [0; 3],
            "filename" => self.filenames.clear(),
            _ => {}
        }
    }

    /// Notes what an option does otherwise, or no more.
    pub fn note(&mut self, option: &str, what: Option<String>) {
        self.notes.retain(|n| !n.starts_with(option));
        self.notes.extend(what.map(|what| format!("{option}{what}")));
    }

    /// The job of a section, and what is not as its text says.
    pub fn finish(mut self, name: &str, group: u32, units: Units) -> Result<(Job, Vec<String>), OptionConflict> {
        let mut job = std::mem::take(&mut self.job);
        job.stream.name = name.to_owned();
        job.block = self.blocks.resolve();
        self.operations(&mut job, units)?;
        self.pace(&mut job)?;
        self.zones(&mut job)?;
        self.way(&mut job)?;
        self.verification(&mut job);
        self.ends(&mut job, group);
        if self.repeat {
            // The same offsets in each run, as fio does: the name makes them differ from job to job.
            let of_name = |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte));
            job.seed.get_or_insert_with(|| name.bytes().fold(0x9e37, of_name));
        }
        // 0 would be no group.
        job.shared_group = self.group_reporting.then_some(group.saturating_add(1));
        job.files = self.files()?;
        self.amounts(&mut job);
        if let Some(operation) = job.file_operation {
            // fio's engines write nothing to what they create.
            let each = self.per_file.unwrap_or_else(|| job.size.map_or(0, |s| s.of(0)) / u64::from(self.files));
            job.file_bytes = Some(each).filter(|_| operation.maker() == FileOperation::Create && !operation.makes());
            job.files = Files::Own(self.files);
            job.infer_kind(false);
        }
        Ok((job, self.notes))
    }

    /// What it does, in which order.
    fn operations(&mut self, job: &mut Job, units: Units) -> Result<(), OptionConflict> {
        let (random, operation) = self.kind.strip_prefix("rand").map_or((false, self.kind.as_str()), |o| (true, o));
        let ours = match operation {
            "rw" => "mix",
            "trimwrite" => "trim-write",
            other => other,
        };
        let on_files = job.file_operation;
        job.set_operation(ours).map_err(|what| ("rw", what.into()))?;
        job.file_operation = on_files;
        let block = job.stream.block_mut();
        if random {
            // fio 3.33: "Any use of blockalign= turns off randommap", where it is another than that of the blocks.
            let smallest = [&job.block.read, &job.block.write, &job.block.trim].map(BlockSize::min_bytes);
            let aligned = block.align_bytes.is_some_and(|align| smallest.iter().any(|bytes| *bytes != align));
            if aligned && !self.no_map && matches!(self.order, Some(Order::Random) | None) {
                self.note(
                    "blockalign",
                    Some(" turns the map of blocks off, as in fio: some come twice, some not at all".into()),
                );
            }
            block.order = match self.order {
                Some(Order::Random) | None if self.no_map || aligned => Order::RandomReplace,
                None => Order::Random,
                Some(Order::Sequence { .. }) => Order::Sequence { advances: self.sequence_moves },
                Some(order) => order,
            };
            if let Some(blocks) = &self.modifier {
                block.run_blocks = positive(blocks, units).map_err(|what| ("rw", what.into()))?;
            }
            return Ok(());
        }
        let order = match &self.modifier {
            Some(added) => stride(job, added, units).map_err(|what| ("rw", what))?,
            None => Order::Sequential,
        };
        if matches!(order, Order::Strided { .. }) {
            (job.leaves_gaps, job.stream.block_mut().run_blocks) = (true, 1);
        }
        // fio's alignment, and its share of random offsets, are of random orders.
        job.stream.block_mut().sequential_percents = [0; 3];
        (job.stream.block_mut().order, job.stream.block_mut().align_bytes) = (order, None);
        Ok(())
    }

    /// `zonemode=strided`: so much of each zone in sequence, then the next, and from the end to the start again (seen with
    /// fio 3.33).
    fn zones(&self, job: &mut Job) -> Result<(), OptionConflict> {
        let fail = |what: &str| Err(("zonemode", OptionError::from(what)));
        let lacks = |option, what: &str| Err((option, OptionError::unsupported(what)));
        let range = self.zone_range.unwrap_or(self.zone_size);
        // fio 3.33: a size of zones without a mode means strided zones; a skip or a range alone means nothing.
        if !self.zones_strided.unwrap_or(self.zone_size > 0) {
            let excluded = "and zonemode=none exclude each other; zonemode=strided has zones";
            return if self.zone_size > 0 { Err(("zonesize", excluded.into())) } else { Ok(()) };
        }
        let said = if self.zones_strided.is_some() { "zonemode" } else { "zonesize" };
        match job.only_block() {
            None => lacks(said, "strided zones of blocks of one size and one direction are supported"),
            _ if self.kind.starts_with("rand") || self.modifier.is_some() => {
                lacks(said, "strided zones are supported for plain sequential orders")
            }
            _ if self.zone_size == 0 => fail("strided needs zonesize"),
            _ if range < self.zone_size => fail("zonerange is at least zonesize"),
            Some(bytes) => match (u32::try_from(self.zone_size.div_ceil(bytes)), range.checked_add(self.zone_skip)) {
                (Ok(blocks), Some(stride_bytes)) => {
                    let block = job.stream.block_mut();
                    (block.run_blocks, block.order) = (blocks, Order::Strided { stride_bytes });
                    Ok(())
                }
                _ => fail("the zones are too large"),
            },
        }
    }

    /// By which calls, from which memory, with which priority.
    fn way(&mut self, job: &mut Job) -> Result<(), OptionConflict> {
        job.stream.path.io_priority = self.priorities.own();
        let writes = job.stream.changes_data();
        for operation in [(job.stream.reads(), Operation::Read), (writes, Operation::Write)] {
            let shares = self.priorities.shares(operation.1).map_err(|what| ("cmdprio_bssplit", what.into()))?;
            job.stream.path.priority_shares.extend(shares.into_iter().filter(|_| operation.0));
        }
        if self.fills && job.size.is_none() && self.per_file.is_none() {
            job.size = Some(Extent::Percent(100));
            self.notes.push("fill_device: all that the target offers; some of a file system stays free".into());
        }
        let trims = job.stream.blocks().is_some_and(|s| !s.block.reads() && !s.block.sends_data());
        if let Some(bytes) = job.only_block().filter(|bytes| trims && *bytes > MAX_TRIM_BYTES) {
            let parts = bytes.div_ceil(MAX_TRIM_BYTES).next_power_of_two();
            job.block.trim = BlockSize::Fixed { bytes: bytes / parts };
            let block = job.stream.block_mut();
            block.run_blocks = block.run_blocks.max(1).saturating_mul(u32::try_from(parts).unwrap_or(u32::MAX));
            self.notes.push(format!("bs: each trim of {bytes} bytes is {parts} trims, back to back"));
        }
        if job.engine == Some(EngineKind::Mmap) && !self.maps_memory && job.access == Some(Access::Direct) {
            job.access = Some(Access::Buffered);
            self.notes.push(
                "ioengine=mmap: a mapping is of the page cache, as it is in fio; direct=1 changes nothing".into(),
            );
        }
        if self.maps_memory {
            job.access = Some(Access::Buffered);
            if std::mem::take(&mut job.stream.path.open_sync) != OpenSync::None {
                job.stream.durability.sync = Sync::FdatasyncEach;
            }
        }
        if self.burns {
            // Cycles of a chunk that is computed, and a pause such that the load is the share asked for.
            let percent = self.burn_percent.ok_or_else(|| ("cpuload", OptionError::from("ioengine=cpuio needs it")))?;
            let spin_ns = u64::from(self.burn_cycle_us) * 1000;
            let pause_ns = spin_ns * 100 / u64::from(percent);
            job.stream.timing.think = Some(ThinkTime { pause_ns, spin_ns, after_operations: 1 });
            job.size.get_or_insert(Extent::Bytes(job.largest_block()));
        }
        job.stream.content.pool_percent = if self.working_set { self.working_set_percent } else { 0 };
        let path = &mut job.stream.path;
        if let BufferPages::Reserved { page_bytes } = &mut path.buffers.pages {
            *page_bytes = self.hugepage_bytes;
        }
        if !matches!(job.engine, Some(EngineKind::IoUring | EngineKind::Null)) && path.queue_depth > 1 {
            self.notes.push(format!(
                "job '{}': iodepth={} with a synchronous engine is depth 1; ioengine=io_uring keeps a queue",
                job.stream.name, path.queue_depth
            ));
            path.queue_depth = 1;
        }
        if let Some(low) = self.low_depth {
            let awaited = path.queue_depth.saturating_sub(low).max(path.batch_complete.unwrap_or(1));
            path.batch_complete = Some(awaited).filter(|n| *n > 1);
        }
        path.batch_submit = path.batch_submit.map(|n| n.min(path.queue_depth));
        path.batch_complete = path.batch_complete.map(|n| n.min(path.queue_depth));
        Ok(())
    }

    fn verification(&mut self, job: &mut Job) {
        let Some(kind) = self.verify else { return };
        if std::mem::take(&mut job.stream.fill_pattern) != FillPattern::default() {
            self.notes
                .push("buffer_pattern: data that are verified differ from place to place, and are not of it".into());
        }
        if self.verify_pattern {
            let what = "every byte is compared with what was written; each sector differs, and is not of the pattern";
            self.notes.push(format!("verify_pattern: {what}"));
        }
        job.stream.verify = Some(Verify {
            kind: if self.verify_pattern { VerifyKind::Stamp } else { kind },
            read_back: self.do_verify && job.stream.changes_data(),
            stop_at_first: self.verify_fatal,
        });
    }

    /// What ends it, and what ends with it.
    fn ends(&mut self, job: &mut Job, group: u32) {
        if job.time_based && job.time_ns.is_none() {
            job.time_based = false;
            self.notes.push(format!("job '{}': time_based has no effect without runtime, as in fio", job.stream.name));
        }
        let limits = &mut job.stream.limits;
        limits.latency_target = limits.latency_target.filter(|search| search.latency_ns > 0);
        limits.exit_group = group.saturating_add(1);
        limits.ends_phase = self.exit_all && self.exit_what != ExitScope::Group;
        limits.ends_group = self.exit_all && self.exit_what == ExitScope::Group;
        if let Some((slope, by_latency, limit)) = self.steady {
            let round_ns = self.steady_round_ns;
            let window_rounds = (self.steady_window_ns / round_ns).clamp(2, 1 << 20) as u32;
            let most = job.time_ns.map_or(window_rounds.saturating_mul(10), |t| (t / round_ns).min(1 << 20) as u32);
            let (range_permille, slope_permille) = if slope { (u32::MAX, limit) } else { (limit, u32::MAX) };
            job.steady = Some(SteadyState {
                round_ns: Some(round_ns),
                round_bytes: None,
                window_rounds,
                range_permille,
                slope_permille,
                most_rounds: most.max(window_rounds),
                by_latency,
            });
        }
    }

    fn pace(&self, job: &mut Job) -> Result<(), OptionConflict> {
        let [bytes, operations] = [self.rates, self.rates_iops].map(|rates| rates.iter().any(Option::is_some));
        if bytes && operations {
            return Err(("rate_iops", "and rate exclude each other; one of them is the limit".into()));
        }
        let pacing = job.stream.timing.pacing.get_or_insert_default();
        [pacing.read, pacing.write, pacing.trim] = if bytes { self.rates } else { self.rates_iops };
        job.stream.timing.flow = job.stream.timing.flow.filter(|flow| flow.weight > 0);
        Ok(())
    }

    fn files(&self) -> Result<Files, OptionConflict> {
        let whole = self.filenames.iter().find(|n| n.starts_with('/'));
        if let (Some(name), Some(directory)) = (whole, &self.directory) {
            let what =
                format!("'{name}' beside directory={directory}, where fio would look for it; leave one of them out");
            return Err(("filename", what.into()));
        }
        Ok(match self.filenames.as_slice() {
            [one] if one.starts_with('/') => Files::Target,
            names if names.iter().any(|name| name.starts_with('/')) => {
                Files::Named(names.iter().map(|name| below(name)).collect())
            }
            [] => Files::Own(self.files),
            names => Files::Named(names.to_vec()),
        })
    }

    /// How large the files are, how much of them is used, and how much is done: `filesize` is the length of each, `size`
    /// what is done of them all, where it is less; `io_size` does not follow from either; `number_ios` only ends sooner.
    fn amounts(&self, job: &mut Job) {
        if let Some(each) = self.per_file {
            let files = match &job.files {
                Files::Named(names) => names.len() as u64,
                Files::Own(count) => u64::from(*count),
                Files::Target => 1,
            };
            let all = each.saturating_mul(files);
            // A size in per cent is a part of each file; one in bytes leaves the files as they are.
            let (region, used) = match job.size {
                Some(Extent::Bytes(bytes)) => (all, bytes.min(all)),
                Some(percent) => [percent.of(each).saturating_mul(files); 2].into(),
                None => (all, all),
            };
            job.size = Some(Extent::Bytes(region));
            job.file_bytes = Some(each);
            job.amount = match job.amount {
                None => (used < region).then_some(Extent::Bytes(used)),
                Some(percent @ Extent::Percent(_)) => Some(Extent::Bytes(percent.of(used))),
                bytes => bytes,
            };
        }
        if let Some(operations) = job.stream.limits.total_operations {
            // Of each loop; and the amount holds beside it.
            job.stream.limits.total_operations = Some(operations.saturating_mul(u64::from(job.loops)));
            job.amount.get_or_insert(Extent::Percent(100));
        }
    }
}

/// The name below a target of what has a path of its own.
pub(super) fn below(path: &str) -> String {
    path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// What stands behind the colon of `rw` where offsets follow one another: what is added to each of them.
fn stride(job: &Job, text: &str, units: Units) -> Result<Order, OptionError> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let added = sign * i128::from(units.bytes(digits)?);
    let bytes = job.only_block().ok_or_else(|| {
        OptionError::unsupported("an offset that is added is supported for blocks of one size and one direction")
    })?;
    match u64::try_from(i128::from(bytes) + added) {
        Ok(stride_bytes) if stride_bytes >= bytes => Ok(Order::Strided { stride_bytes }),
        _ if added == -2 * i128::from(bytes) => Ok(Order::Reverse),
        _ => Err(OptionError::unsupported(format!(
            "'{text}': gaps forwards, and blocks one by one backwards (minus twice the size), are supported"
        ))),
    }
}
