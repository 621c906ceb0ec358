//! What a text asks for, before anything is known of the target: jobs in phases.

use crate::budget::Budget;
use crate::extent::Extent;
use crate::packages::PackagesJob;
use crate::values::one_of;
use model::{
    Access, BlockPlan, BlockSize, BlockSizes, CopyMethod, CopyPlan, EngineKind, FileKind, FileOperation, FileOrder,
    FilesPlan, LatencyTarget, Limits, Mix, NS_PER_S, Operation, Order, PhaseKind, SteadyState, StreamKind, StreamPlan,
    Sync,
};

/// How the files of a job are named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Files {
    /// The target itself.
    #[default]
    Target,
    /// These, below the target.
    Named(Vec<String>),
    /// So many of its own, with names made from the job's.
    Own(u32),
}

/// One job: one stream, or `copies` of them. [`Job::named`] makes one that is neutral.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// What each of its streams does, but for what depends on the target: sizes, region, files, group and seed are filled in
    /// when the plan is made, and engine and access from what is asked for here. Without the bytes of a round: by the probe.
    pub stream: StreamPlan,
    /// By which calls; `None`: io_uring for direct access, plain calls for buffered.
    pub engine: Option<EngineKind>,
    /// Past the page cache or through it; `None`: through it.
    pub access: Option<Access>,
    /// Sizes of reads, writes and trims.
    pub block: BlockSizes,
    pub copies: u32,
    /// Whether the copies are reported one by one.
    pub separate: bool,
    /// Jobs of a phase with the same number are reported as one.
    pub shared_group: Option<u32>,
    /// Whether each copy gets one of its processors.
    pub cpus_split: bool,
    pub size: Option<Extent>,
    /// What it does to its own files as a whole; `None`: its operations are on blocks.
    pub file_operation: Option<FileOperation>,
    /// Whether what it does is done with packages.
    pub on_packages: bool,
    /// With which, and how.
    pub packages: PackagesJob,
    /// How many times as fast as what it does again it pauses, in thousandths; 0: it does not; `None`: not said.
    pub speed_milli: Option<u32>,
    /// By which accesses it copies; `None`: it does not, or as programs do.
    pub copy: Option<CopyMethod>,
    /// Length of each file, where that is more than what is used of it.
    pub file_bytes: Option<u64>,
    /// Of the smallest and the largest of files that are created as a whole.
    pub file_lengths: Option<(u64, u64)>,
    /// What is created as a whole.
    pub file_kind: FileKind,
    /// In the order in which directories have them.
    pub file_by_directory: bool,
    /// How many whole files lie in one directory; 0: all.
    pub directory_files: u32,
    /// Directories above each.
    pub directory_levels: u32,
    /// Directories are synced after what changed them.
    pub sync_directory: bool,
    /// How many targets the text names beside each other; in a directory each has a file.
    pub targets_named: u32,
    pub offset: Extent,
    pub offset_step: Extent,
    /// What offsets in per cent are rounded up to; `None`: the smallest block.
    pub offset_align: Option<u64>,
    pub files: Files,
    /// How many files its operations on files as a whole are done to; of operations on blocks nothing.
    pub file_count: Option<u32>,
    /// How its own files are named, with `$jobname`, `$jobnum` and `$filenum`.
    pub file_format: Option<String>,
    /// Bytes a loop, or a part of the region; `None`: the region.
    pub amount: Option<Extent>,
    pub loops: u32,
    /// The loops are passes over the region, after which it goes on only until its amount is reached.
    pub loops_of_region: bool,
    /// A pass is over what its stride comes to, and leaves out the rest.
    pub leaves_gaps: bool,
    pub time_ns: Option<u64>,
    /// Goes on beyond its time until so many operations are done; 0: does not.
    pub least_operations: u64,
    /// Uses its whole time, covering the region again as needed.
    pub time_based: bool,
    pub ramp_ns: u64,
    pub steady: Option<SteadyState>,
    /// Whether what it uses must have been written before, beyond what reads need.
    pub laid_out: bool,
    pub cold: bool,
    /// Dropped from the page cache before, without more being asked.
    pub drop_cache: bool,
    /// `None`: from the run's seed.
    pub seed: Option<u64>,
    /// Share of a budget.
    pub weight: f64,
    /// The highest is given up first.
    pub priority: u32,
    /// Only where its blocks are split for the pages that they lie in.
    pub only_split: bool,
    /// Only where it is asked for by its name.
    pub only_asked: bool,
}

/// What ends by its amount ends after a day at the latest.
const ENDLESS_NS: u64 = 86_400 * NS_PER_S;
/// A job that goes on until enough operations are done takes so many times its time at most.
const MAX_TIMES: u64 = 10;

impl Job {
    /// One of this name, and neutral otherwise.
    pub fn named(name: &str) -> Self {
        let stream = StreamPlan { name: name.to_owned(), ..StreamPlan::default() };
        Self { stream, copies: 1, loops: 1, weight: 1.0, ..Self::default() }
    }

    /// What its operations do, by a name of the text form.
    pub fn set_operation(&mut self, text: &str) -> Result<(), String> {
        self.file_operation = one_of(text, &FileOperation::NAMES).ok();
        if self.file_operation.is_some() {
            return Ok(());
        }
        let block = self.stream.block_mut();
        block.read_before_write = text == "rewrite";
        (block.operation, block.mix, block.trim_before_write) = match text {
            "read" => (Operation::Read, None, false),
            "write" => (Operation::Write, None, false),
            "mix" => (Operation::Write, block.mix.or(Some(Mix { read_percent: 50 })), false),
            "trim" => (Operation::Trim, None, false),
            "write-zeroes" => (Operation::WriteZeroes, None, false),
            "trim-write" => (Operation::Write, None, true),
            "rewrite" => (Operation::Write, block.mix, false),
            _ => return Err(format!("no operation '{text}'")),
        };
        Ok(())
    }

    /// Once all is said of it: where its operations are on files, its stream is of that kind. Which files it has is decided
    /// when the plan is made.
    pub fn infer_kind(&mut self, copies: bool) {
        if copies || self.copy.is_some() {
            let block = self.only_block().and_then(|bytes| u32::try_from(bytes).ok());
            self.stream.kind = StreamKind::Copy(CopyPlan {
                copy_bytes: block.filter(|_| self.copy.is_some()).unwrap_or(CopyPlan::default().copy_bytes),
                copy_by: self.copy.unwrap_or_default(),
                copy_writes: self.stream.blocks().is_some_and(|s| s.block.operation == Operation::Write),
                // A share of what there is cannot be told here: it is all of it.
                copy_set_bytes: if let Some(Extent::Bytes(bytes)) = self.size { bytes } else { 0 },
            });
            return;
        }
        if let StreamKind::Block(block) = &mut self.stream.kind
            && let Some(trace) = &mut block.trace
        {
            trace.trace_speed_milli = self.speed_milli.unwrap_or(1000);
        }
        if self.on_packages {
            self.packages.speed_milli = self.speed_milli.unwrap_or(1000);
            self.stream.kind = self.packages.named().into();
        }
        let Some(file_operation) = self.file_operation else { return };
        self.files = self.file_count.map_or_else(|| std::mem::take(&mut self.files), Files::Own);
        let file_count = if let Files::Own(count) = self.files { count.into() } else { 0 };
        let file_shuffle = self.stream.blocks().is_some_and(|s| s.block.file_order == FileOrder::Random);
        let same = self.file_bytes.unwrap_or(0);
        let (least, file_bytes) = self.file_lengths.unwrap_or((same, same));
        let file_bytes_least = Some(least).filter(|least| *least != file_bytes);
        self.stream.kind = FilesPlan {
            file_operation,
            file_count,
            file_set: 0,
            file_bytes,
            file_bytes_least,
            file_kind: self.file_kind,
            file_shuffle,
            file_by_directory: self.file_by_directory,
            directory_files: self.directory_files.into(),
            directory_levels: self.directory_levels,
            sync_directory: self.sync_directory,
            file_renamed: false,
        }
        .into();
    }

    /// Through the page cache where nothing else is said, and always where whole files are operated on.
    pub fn access(&self) -> Access {
        let on_files = self.file_operation.is_some() || self.stream.replay().is_some();
        self.access.filter(|_| !on_files).unwrap_or_default()
    }

    /// What of its time counts starts so long after its phase.
    pub fn start_ns(&self) -> u64 {
        self.stream.timing.start_delay_ns.saturating_add(self.ramp_ns)
    }

    /// When it has taken as long as it says and enough operations are enough, from the start of its phase; `None` where
    /// only the time counts, or nothing is said of it.
    pub fn enough_ns(&self) -> Option<u64> {
        let time = self.time_ns.filter(|_| self.least_operations > 0 && self.steady.is_none())?;
        Some(self.start_ns().saturating_add(time))
    }

    /// The search for a depth with which it ends.
    pub fn search(&self) -> Option<LatencyTarget> {
        self.stream.limits.latency_target.filter(|target| !target.goes_on)
    }

    /// The longest that it takes after its ramp.
    pub fn time_at_most(&self) -> u64 {
        let times = if self.enough_ns().is_some() { MAX_TIMES } else { 1 };
        let search = self.search().map(|target| target.time_at_most(self.stream.path.queue_depth));
        self.time_ns.map_or(search.unwrap_or(ENDLESS_NS), |time| time.saturating_mul(times))
    }

    /// Files of its own that its copies make together.
    pub fn own_files(&self) -> u64 {
        match self.files {
            Files::Own(each) if self.file_operation.is_none() => u64::from(each).saturating_mul(u64::from(self.copies)),
            _ => 0,
        }
    }

    /// Whether it is a log: files of its own that grow by what is synced at once.
    pub fn is_log(&self) -> bool {
        self.own_files() > 0 && self.stream.durability.sync == Sync::FdatasyncEach
    }

    /// Whether it writes all of its region, once and in sequence, whatever that takes.
    pub fn writes_whole(&self) -> bool {
        // How far files of its own came is known by their lengths.
        let own = matches!(self.files, Files::Own(_));
        let timed = if own { self.time_based } else { self.time_ns.is_some() };
        let by_region = !timed && self.amount.is_none() && self.steady.is_none();
        let always = !self.only_asked && !self.only_split && self.file_operation.is_none();
        let whole = |block: &BlockPlan| {
            block.only_writes_in_sequence() && (self.copies == 1 || own) || self.is_interleaved() && block.only_writes()
        };
        by_region
            && always
            && self.stream.blocks().is_some_and(|s| whole(s.block))
            && self.stream.limits == Limits::default()
            && self.loops == 1
    }

    /// Whether blocks are read, or calls made again, and nothing is written to blocks.
    pub fn only_looks(&self) -> bool {
        self.file_operation.is_none() && self.stream.blocks().is_none_or(|s| s.block.operation == Operation::Read)
    }

    /// Whether its copies take turns, block by block.
    pub fn is_interleaved(&self) -> bool {
        self.stream.blocks().is_some_and(|s| s.block.order == Order::Strided { stride_bytes: 0 })
    }

    /// Whether what it reads must not be in the page cache.
    pub fn is_cold(&self) -> bool {
        self.cold
            && match self.stream.files() {
                Some(files) => !files.file_operation.changes_data(),
                None if self.stream.replay().is_some() => true,
                None => self.access() == Access::Buffered && self.stream.reads(),
            }
    }

    /// The largest block of the directions that it has.
    pub fn largest_block(&self) -> u64 {
        self.blocks_used().map(BlockSize::max_bytes).max().unwrap_or(4096)
    }

    /// Its block size, where it has one size and one direction.
    pub fn only_block(&self) -> Option<u64> {
        match self.blocks_used().collect::<Vec<_>>()[..] {
            [BlockSize::Fixed { bytes }] => Some(*bytes),
            _ => None,
        }
    }

    /// Sizes of the directions that it has.
    pub fn blocks_used(&self) -> impl Iterator<Item = &BlockSize> {
        self.stream.blocks().into_iter().flat_map(|s| s.block.sizes_used(&self.block))
    }
}

/// Jobs that run side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Phase {
    pub name: String,
    pub kind: PhaseKind,
    pub jobs: Vec<Job>,
    /// A point of a sweep: left out, with the reason, where the target cannot do it.
    pub optional: bool,
}

impl Phase {
    /// Whether it copies memory, and its target has no part in it.
    pub fn copies_memory(&self) -> bool {
        self.jobs.iter().any(|j| matches!(j.stream.kind, StreamKind::Copy(_)))
    }

    /// Whether what it measures is the target.
    pub fn measures_target(&self) -> bool {
        self.kind == PhaseKind::Measure && !self.copies_memory()
    }

    /// Whether it changes what the target holds.
    pub fn changes_data(&self) -> bool {
        self.jobs.iter().any(|j| j.stream.changes_data())
    }

    /// Whether it reads through the page cache, or writes through it.
    fn passes_page_cache(&self) -> [bool; 2] {
        // Whole files, packages and calls that are done again may go either way.
        let by_calls = |j: &Job| j.file_operation.is_some() || j.on_packages || j.stream.replay().is_some();
        let buffered = |j: &&Job| by_calls(j) || j.access() == Access::Buffered;
        let mixed = |j: &Job| by_calls(j) || j.stream.blocks().is_some_and(|s| s.block.mix.is_some());
        [
            self.jobs.iter().filter(buffered).any(|j| mixed(j) || !j.stream.changes_data()),
            self.jobs.iter().filter(buffered).any(|j| mixed(j) || j.stream.changes_data()),
        ]
    }

    /// Its share of a budget, and when it is given up: the largest of its jobs.
    pub fn weight(&self) -> (f64, u32) {
        self.jobs.iter().fold((0.0, 0), |(w, p), j| (j.weight.max(w), j.priority.max(p)))
    }
}

/// A workload that was read from a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    pub name: String,
    /// What it is, in one line.
    pub title: String,
    /// The question it answers.
    pub answers: String,
    /// The target that the text itself names: a path that is not relative.
    pub target: Option<String>,
    /// That the text names more than one target, and where: then the command line says which one it is.
    pub second_target: Option<String>,
    /// Length of the intervals of the series.
    pub interval_ns: u64,
    pub(crate) quiet_ns: u64,
    pub(crate) phases: Vec<Phase>,
    /// What was asked for and is done otherwise or not at all.
    pub notes: Vec<String>,
    /// Whether an existing target that the workload changes is written over before it is read.
    pub(crate) lays_out_targets: bool,
    /// All ranks of a group work in one file, and in one directory of files.
    pub shared_file: bool,
    /// Whether its regions may shrink to what a small target offers.
    pub(crate) scales_to_fit: bool,
    /// Where its phases share a budget of time.
    pub(crate) budget: Budget,
}

impl Workload {
    /// One of which nothing is said yet.
    pub(crate) fn new() -> Self {
        Self { interval_ns: 100_000_000, quiet_ns: 200_000_000, lays_out_targets: true, ..Self::default() }
    }

    /// Has its layout write no more than this.
    pub fn limit_prefill(&mut self, bytes: u64) {
        self.budget.layout_bytes = Some(bytes);
    }

    /// Whether a job of it installs or removes packages.
    pub fn has_packages(&self) -> bool {
        self.phases.iter().flat_map(|p| &p.jobs).any(|j| j.on_packages)
    }

    /// Leaves out the pauses of the studied board where packages are installed, unless it was said how fast it pauses, and notes
    /// it.
    pub fn drop_pauses(&mut self) {
        let pauses = |job: &&mut Job| job.on_packages && !job.packages.is_real && job.speed_milli.is_none();
        let jobs = self.phases.iter_mut().flat_map(|p| &mut p.jobs).filter(pauses);
        let left_out = jobs.map(|job| {
            (job.speed_milli, job.packages.speed_milli) = (Some(0), 0);
            job.stream.kind = job.packages.named().into();
        });
        if left_out.count() > 0 {
            self.notes.push(
                "without the pauses of the studied board's processor (RK3399 of a NanoPi M4), since this machine's is another; --set \
                 speed=1 keeps them, --real has this machine's dpkg do it"
                    .to_owned(),
            );
        }
    }

    /// Whether all that it does is to copy, by accesses that it names: its target is a region. One that only measures memory,
    /// as `check` does beside other things, takes any target and has no use for it.
    pub fn copies_region(&self) -> bool {
        let names_accesses = self.phases.iter().flat_map(|p| &p.jobs).any(|j| j.copy.is_some());
        names_accesses && self.phases.iter().all(Phase::copies_memory)
    }

    /// Leaves out the phases that measure something else than these, and the layout where none of them uses it.
    pub fn keep_phases(&mut self, names: &[&str]) {
        self.phases.retain(|p| !p.measures_target() || names.contains(&p.name.as_str()));
        self.phases.iter_mut().flat_map(|p| &mut p.jobs).for_each(|job| job.only_asked = false);
        if self.phases.iter().filter(|p| p.measures_target()).all(|p| p.jobs.iter().all(|job| job.own_files() > 0)) {
            self.phases.retain(|p| p.kind != PhaseKind::Layout);
        }
    }

    /// Names of the phases that measure the target.
    pub fn phase_names(&self) -> impl Iterator<Item = &str> {
        self.phases.iter().filter(|p| p.measures_target()).map(|p| p.name.as_str())
    }

    /// Gives the entries of logs, which its files grow by, this size.
    pub fn with_log_entries(&mut self, bytes: u64) {
        for job in self.phases.iter_mut().flat_map(|p| &mut p.jobs).filter(|job| job.is_log()) {
            job.block.write = BlockSize::Fixed { bytes };
        }
    }

    /// Whether anything that it measures reads through the page cache, or writes through it.
    pub fn passes_page_cache(&self) -> [bool; 2] {
        let each = self.phases.iter().filter(|p| p.measures_target()).map(Phase::passes_page_cache);
        each.fold([false, false], |[reads, writes], [r, w]| [reads || r, writes || w])
    }

    /// The same of one phase; neither, where there is none of this name.
    pub fn phase_passes_page_cache(&self, name: &str) -> [bool; 2] {
        self.phases.iter().find(|p| p.name == name).map_or([false, false], Phase::passes_page_cache)
    }

    /// Whether it writes something before it measures, without result.
    pub fn preconditions(&self) -> bool {
        self.phases.iter().any(|p| p.kind == PhaseKind::Precondition)
    }

    /// Whether its own operations change the target (layout of a new file not counted).
    pub fn changes_data(&self) -> bool {
        self.phases.iter().any(Phase::changes_data)
    }
}
