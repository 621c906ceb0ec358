//! The job that the options of a section make together.

use super::block::Blocks;
use super::number::Units;
use super::supported::positive;
use crate::job::{Extent, Files, Job, Steady};
use crate::job_key::flow;
use model::{
    Access, BlockSize, EngineKind, Flow, IoClass, IoPriority, Mix, OpenSync, Operation, Order, Rate, Sync, ThinkTime,
    Verify, VerifyKind,
};

/// What a job that has ended takes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitWhat {
    /// Jobs of its reporting group.
    Group,
    /// Jobs up to the next stonewall: our phase.
    Stonewall,
    /// All, also those that have not started.
    All,
}

/// What the options of a section have said so far.
#[derive(Clone, Debug)]
pub(super) struct Draft {
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
    pub mixed_reads: u32,
    pub no_map: bool,
    pub order: Option<Order>,
    pub invalidate: bool,
    pub do_verify: bool,
    pub verify: Option<VerifyKind>,
    pub verify_fatal: bool,
    pub random_seed: Option<u64>,
    pub repeat: bool,
    pub steady_window_ns: u64,
    pub steady: Option<(bool, u32)>,
    pub steady_by_latency: bool,
    pub steady_round_ns: u64,
    pub flow_weight: Option<u32>,
    pub sequence_moves: bool,
    pub zero: bool,
    /// `dedupe_mode=working_set`, and its share of the region.
    pub working_set: bool,
    pub working_set_percent: u32,
    /// What ends with it, where `exitall` is given.
    pub exit_all: bool,
    pub exit_what: ExitWhat,
    /// `prioclass`, and `prio`.
    pub priority_class: Option<IoClass>,
    pub priority_level: Option<u8>,
    /// The job that must have ended before this one starts.
    pub wait_for: Option<String>,
    /// `zonemode=strided`, and its sizes: what is done of a zone, its length, and what lies between two.
    pub zones_strided: bool,
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
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            job: {
                let mut job = Job { together: false, ..Job::default() };
                job.stream.path.engine = Some(EngineKind::Psync);
                job
            },
            name: None,
            stonewall: false,
            new_group: false,
            group_reporting: false,
            directory: None,
            filenames: Vec::new(),
            notes: Vec::new(),
            kind: "read".into(),
            modifier: None,
            blocks: Blocks::default(),
            rates: [None; 3],
            rates_iops: [None; 3],
            per_file: None,
            files: 1,
            mixed_reads: 50,
            no_map: false,
            order: None,
            invalidate: true,
            do_verify: true,
            verify: None,
            verify_fatal: false,
            random_seed: None,
            repeat: true,
            steady_window_ns: 0,
            steady: None,
            steady_by_latency: false,
            steady_round_ns: 1_000_000_000,
            flow_weight: None,
            sequence_moves: false,
            zero: false,
            working_set: false,
            working_set_percent: 5,
            exit_all: false,
            exit_what: ExitWhat::Group,
            priority_class: None,
            priority_level: None,
            wait_for: None,
            zones_strided: false,
            zone_size: 0,
            zone_range: None,
            zone_skip: 0,
            hugepage_bytes: None,
            fills: false,
            verify_pattern: false,
            maps_memory: false,
            burns: false,
            burn_percent: None,
            burn_cycle_us: 50_000,
        }
    }
}

impl Draft {
    /// Another value from the command line replaces all that the text says of the same thing.
    pub fn supersede(&mut self, option: &str) {
        match option {
            "bs" | "blocksize" => self.blocks.forget_all_but_sizes(),
            "bsrange" | "blocksize_range" => self.blocks.forget_splits(),
            "rate" => self.rates_iops = [None; 3],
            "rate_iops" => self.rates = [None; 3],
            "filename" => self.filenames.clear(),
            _ => {}
        }
    }

    /// The job of a section. An error names the option that does not go with the others.
    pub fn finish(
        mut self,
        name: &str,
        group: u32,
        units: Units,
    ) -> Result<(Job, Vec<String>), (&'static str, String)> {
        let mut job = self.job.clone();
        job.stream.name = name.to_owned();
        let random = self.kind.starts_with("rand");
        let operation = self.kind.strip_prefix("rand").unwrap_or(&self.kind).to_owned();
        let block = job.stream.block_mut();
        (block.operation, block.mix, block.trim_before_write) = match operation.as_str() {
            "write" => (Operation::Write, None, false),
            "trim" => (Operation::Trim, None, false),
            "trimwrite" => (Operation::Write, None, true),
            "rw" => (Operation::Write, Some(Mix { read_percent: self.mixed_reads }), false),
            _ => (Operation::Read, None, false),
        };
        let (sizes, notes) = self.blocks.resolve();
        job.block = sizes;
        self.notes.extend(notes);
        self.pace(&mut job)?;
        job.stream.block_mut().order = if random { self.random_order() } else { Order::Sequential };
        if !random {
            // fio's alignment is one of random offsets.
            job.stream.block_mut().align_bytes = None;
        }
        self.modify(&mut job, random, units)?;
        self.zones(&mut job, random)?;
        job.stream.path.io_priority = match (self.priority_class, self.priority_level) {
            (None, None) => None,
            (Some(IoClass::Idle), _) => Some(IoPriority { class: IoClass::Idle, level: 0 }),
            (class, level) => {
                Some(IoPriority { class: class.unwrap_or(IoClass::BestEffort), level: level.unwrap_or(0) })
            }
        };
        job.stream.content.zero = self.zero;
        if self.fills && job.size.is_none() && self.per_file.is_none() {
            job.size = Some(Extent::Percent(100));
            self.notes.push("fill_device: all that the target offers; some of a file system stays free".into());
        }
        if self.maps_memory {
            job.stream.path.access = Some(Access::Buffered);
            if std::mem::take(&mut job.stream.path.open_sync) != OpenSync::None {
                job.stream.durability.sync = Sync::FdatasyncEach;
            }
        }
        if self.burns {
            self.burn(&mut job)?;
        }
        job.stream.content.pool_percent = if self.working_set { self.working_set_percent } else { 0 };
        if matches!(job.stream.path.engine, Some(EngineKind::Psync | EngineKind::Mmap))
            && job.stream.path.queue_depth > 1
        {
            self.notes.push(format!(
                "job '{name}': iodepth={} with a synchronous engine is depth 1; ioengine=io_uring keeps a queue",
                job.stream.path.queue_depth
            ));
            job.stream.path.queue_depth = 1;
        }
        let path = &mut job.stream.path;
        path.batch_submit = path.batch_submit.map(|n| n.min(path.queue_depth));
        path.batch_complete = path.batch_complete.map(|n| n.min(path.queue_depth));
        if job.time_based && job.time_ns.is_none() {
            return Err(("time_based", "needs runtime".into()));
        }
        job.drop_cache = self.invalidate;
        if let Some(mut kind) = self.verify {
            if self.verify_pattern {
                kind = VerifyKind::Stamp;
                let what =
                    "every byte is compared with what was written; each sector differs, and is not of the pattern";
                self.notes.push(format!("verify_pattern: {what}"));
            }
            job.stream.verify = Some(Verify {
                kind,
                read_back: self.do_verify && job.stream.changes_data(),
                stop_at_first: self.verify_fatal,
            });
        }
        let limits = &mut job.stream.limits;
        limits.exit_group = group.saturating_add(1);
        limits.ends_phase = self.exit_all && self.exit_what != ExitWhat::Group;
        limits.ends_group = self.exit_all && self.exit_what == ExitWhat::Group;
        job.stream.timing.flow = self.flow_weight.map(|weight| Flow { weight, ..*flow(&mut job) });
        job.seed = match (self.random_seed, self.repeat) {
            (Some(seed), _) => Some(seed),
            // The same offsets in each run, as fio does: the name makes them differ from job to job.
            (None, true) => {
                Some(name.bytes().fold(0x9e37, |seed: u64, b| seed.wrapping_mul(31).wrapping_add(u64::from(b))))
            }
            (None, false) => None,
        };
        // 0 would be no group.
        job.shared_group = self.group_reporting.then_some(group.saturating_add(1));
        if let Some((slope, limit)) = self.steady {
            let round_ns = self.steady_round_ns;
            let window = (self.steady_window_ns / round_ns).clamp(2, 1 << 20) as u32;
            let most =
                job.time_ns.map_or(window.saturating_mul(10), |t| (t / round_ns).min(1 << 20) as u32).max(window);
            let (range_permille, slope_permille) = if slope { (u32::MAX, limit) } else { (limit, u32::MAX) };
            job.steady = Some(Steady {
                round_ns: Some(round_ns),
                round_passes: false,
                window_rounds: window,
                range_permille,
                slope_permille,
                most_rounds: most,
                by_latency: self.steady_by_latency,
            });
        }
        job.files = self.files()?;
        self.amounts(&mut job);
        Ok((job, self.notes))
    }

    /// `zonemode=strided`: so much of each zone in sequence, then the next, and from the end to the start again (seen with
    /// fio 3.33).
    fn zones(&self, job: &mut Job, random: bool) -> Result<(), (&'static str, String)> {
        if !self.zones_strided {
            return match self.zone_size > 0 || self.zone_range.is_some() || self.zone_skip > 0 {
                true => Err(("zonemode", "zones need zonemode=strided; of zoned devices none is supported".into())),
                false => Ok(()),
            };
        }
        let fail = |what: &str| Err(("zonemode", what.to_owned()));
        let mut sizes = job.blocks_used();
        let (Some(BlockSize::Fixed { bytes }), None) = (sizes.next(), sizes.next()) else {
            return fail("strided zones of blocks of one size and one direction are supported");
        };
        let blocks = self.zone_size.div_ceil((*bytes).max(1));
        drop(sizes);
        let range = self.zone_range.unwrap_or(self.zone_size);
        match (u32::try_from(blocks), range.checked_add(self.zone_skip)) {
            _ if random || self.modifier.is_some() => fail("strided zones are supported for plain sequential orders"),
            _ if self.zone_size == 0 => fail("strided needs zonesize"),
            _ if range < self.zone_size => fail("zonerange is at least zonesize"),
            (Ok(blocks), Some(stride_bytes)) => {
                let block = job.stream.block_mut();
                (block.run_blocks, block.order) = (blocks, Order::Strided { stride_bytes });
                Ok(())
            }
            _ => fail("the zones are too large"),
        }
    }

    /// `ioengine=cpuio`: cycles of a chunk that is computed, and a pause such that the load is the share asked for.
    fn burn(&self, job: &mut Job) -> Result<(), (&'static str, String)> {
        let Some(percent) = self.burn_percent else { return Err(("cpuload", "ioengine=cpuio needs it".into())) };
        let spin_ns = u64::from(self.burn_cycle_us) * 1000;
        let pause_ns = spin_ns * 100 / u64::from(percent);
        job.stream.timing.think = Some(ThinkTime { pause_ns, spin_ns, after_operations: 1 });
        job.size.get_or_insert(Extent::Bytes(job.largest_block()));
        Ok(())
    }

    fn pace(&self, job: &mut Job) -> Result<(), (&'static str, String)> {
        let (bytes, operations) = (self.rates.iter().flatten().count(), self.rates_iops.iter().flatten().count());
        if bytes > 0 && operations > 0 {
            return Err(("rate_iops", "and rate exclude each other; one of them is the limit".into()));
        }
        let rates = if bytes > 0 { self.rates } else { self.rates_iops };
        let pacing = job.pacing();
        [pacing.read, pacing.write, pacing.trim] = rates;
        Ok(())
    }

    fn files(&self) -> Result<Files, (&'static str, String)> {
        let whole = self.filenames.iter().find(|n| n.starts_with('/'));
        if let (Some(name), Some(directory)) = (whole, &self.directory) {
            let what =
                format!("'{name}' beside directory={directory}, where fio would look for it; leave one of them out");
            return Err(("filename", what));
        }
        Ok(match self.filenames.as_slice() {
            [one] if one.starts_with('/') => Files::Target,
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
            let used = match job.size {
                Some(Extent::Bytes(bytes)) => bytes.min(all),
                Some(percent) => percent.of(each).saturating_mul(files),
                None => all,
            };
            // A size in per cent is a part of each file; one in bytes leaves the files as they are.
            let region = if matches!(job.size, Some(Extent::Percent(_))) { used } else { all };
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

    fn random_order(&self) -> Order {
        match self.order {
            Some(Order::Random) | None if self.no_map => Order::RandomReplace,
            None => Order::Random,
            Some(Order::Sequence { .. }) => Order::Sequence { advances: self.sequence_moves },
            Some(order) => order,
        }
    }

    /// What stands behind the colon of `rw`: after how many blocks a new offset is drawn, or what is added to each offset.
    fn modify(&self, job: &mut Job, random: bool, units: Units) -> Result<(), (&'static str, String)> {
        let Some(text) = &self.modifier else { return Ok(()) };
        let fail = |what: String| Err(("rw", what));
        if random {
            match positive(text, units) {
                Ok(blocks) => job.stream.block_mut().run_blocks = blocks,
                Err(what) => return fail(what),
            }
            return Ok(());
        }
        let added = match units.signed_bytes(text) {
            Ok(added) => added,
            Err(what) => return fail(what),
        };
        let mut sizes = job.blocks_used();
        let (Some(BlockSize::Fixed { bytes }), None) = (sizes.next(), sizes.next()) else {
            return fail("an offset is added to blocks of one size and one direction".into());
        };
        let distance = i128::from(*bytes) + i128::from(added);
        drop(sizes);
        let largest = i128::from(job.largest_block());
        job.stream.block_mut().order = match distance {
            d if d == -largest => Order::Reverse,
            d if d >= largest => match u64::try_from(d) {
                Ok(stride_bytes) => Order::Strided { stride_bytes },
                Err(_) => return fail(format!("'{text}' is too large")),
            },
            _ => {
                return fail(format!(
                    "'{text}': gaps forwards, and blocks one by one backwards (minus twice the size), are supported"
                ));
            }
        };
        Ok(())
    }
}
