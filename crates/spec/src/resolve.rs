//! A workload and what is known of the target become a plan.

mod files;
mod layout;
mod shares;
mod stream;

use crate::extent::Extent;
use crate::job::{Job, Phase, Workload};
use crate::ladder::{MIN_BYTES, choose_size};
use crate::notes::Notes;
use crate::packages::PackagePlans;
use crate::run_inputs::{PlainCalls, Readiness, RunInputs};
use model::{
    Access, CopyPlan, EngineKind, NS_PER_S, PhaseKind, PhasePlan, Plan, PlanError, Reason, SteadyState, StopRule,
    StreamPlan, TargetKind, TargetSize, VerifyKind, Warmup,
};
use shares::Share;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// A new file is this large where nobody says how large.
const DEFAULT_BYTES: u64 = 1 << 30;
/// At most 2^10: 1 GiB becomes 1 MiB.
const MAX_HALVINGS: u32 = 10;
/// The half-width at which a phase of a budget that may stop early does: 1 % of the mean.
pub const EARLY_HALF_WIDTH: f64 = 0.01;
/// A copy of memory that does not say how long it takes.
const COPY_NS: u64 = NS_PER_S / 2;

/// Why a workload has no plan on a target.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The target is too small.
    #[error(
        "phase '{phase}'{}: it uses {} of the target, which offers {}; use a smaller region (fio: size)",
        if .job.is_empty() { String::new() } else { format!(", job '{}'", .job) },
        model::distinct_bytes_text(*.needed, *.offered).0,
        model::distinct_bytes_text(*.needed, *.offered).1
    )]
    TooSmall {
        /// Name of the phase.
        phase: String,
        /// Name of the job, empty if it has none.
        job: String,
        /// Bytes that it uses.
        needed: u64,
        /// Bytes that there are.
        offered: u64,
    },
    /// It cannot be carried out.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Plan(Vec<PlanError>),
    /// The budget holds nothing.
    #[error("a budget of {given_s} s is too short: the shortest useful one is {least_s} s")]
    Budget {
        /// What was asked for, seconds.
        given_s: f64,
        /// What is needed, seconds.
        least_s: f64,
    },
    /// The target holds nothing.
    #[error("{bytes} bytes of the target may be used; {least} bytes are the least that can be measured")]
    Nothing {
        /// What it offers.
        bytes: u64,
        /// What is needed.
        least: u64,
    },
    /// It is done with packages, whose calls this build does not know.
    #[error("phase '{phase}': what is done with packages")]
    NoPackages { phase: String },
    /// Everything was left out.
    #[error("nothing of '{workload}' can be done on this target: {reason}")]
    NothingLeft {
        workload: String,
        /// Why the first phase is left out.
        reason: String,
    },
}

impl Workload {
    /// The plan on a target. Nothing in it is left to decide; [`Plan::notes`] say what is not as the text asked.
    ///
    /// # Errors
    /// Where the target is too small, memory does not suffice, or what is asked for cannot be.
    pub fn plan(&self, inputs: &RunInputs) -> Result<Plan, ResolveError> {
        let most = if self.scales_to_fit { MAX_HALVINGS } else { 0 };
        let mut halvings = 0;
        let mut wanted = self.clone();
        let splits = |job: &Job| inputs.probe.page_request_bytes.is_some_and(|n| job.largest_block() > n);
        let has_place = |job: &Job| !job.only_asked && (!job.only_split || splits(job));
        wanted.phases.retain(|phase| phase.jobs.iter().any(has_place));
        loop {
            match wanted.plan_scaled(inputs, halvings) {
                Err(ResolveError::TooSmall { .. }) if halvings < most => halvings += 1,
                result => return result,
            }
        }
    }

    /// The plan with all regions halved so many times.
    fn plan_scaled(&self, inputs: &RunInputs, halvings: u32) -> Result<Plan, ResolveError> {
        self.check_budget()?;
        let mut resolver = Resolver::new(self, inputs, halvings)?;
        let mut phases = Vec::new();
        let mut first_to_need = None;
        for (index, phase) in self.phases.iter().enumerate() {
            let planned =
                if phase.copies_memory() { resolver.memory_copy(phase) } else { resolver.phase(phase, index)? };
            phases.extend(resolver.missing_files(&phase.name));
            if !resolver.used.laid_out.is_empty() {
                first_to_need.get_or_insert(phases.len());
            }
            phases.push(planned);
        }
        let used = resolver.used.ends.values().copied().max().unwrap_or(0);
        if let Some(layout) = resolver.layout() {
            // What is written before is written to a new file: its first pass allocates. What a later phase is to find
            // again must not be written over in between.
            let verified = phases.iter().position(|p| p.streams.iter().any(|s| s.verify.is_some()));
            phases.insert(first_to_need.into_iter().chain(verified).min().unwrap_or(0), layout);
        }
        let mut plan = Plan {
            name: self.name.clone(),
            seed: inputs.seed,
            budget_ns: self.budget.total_ns.unwrap_or(0),
            size: TargetSize { bytes: used, reason: resolver.reason(used) },
            interval_ns: self.interval_ns,
            quiet_ns: self.quiet_ns,
            phases,
            notes: resolver.notes.into_list(),
        };
        let errors = leave_out_optional(&mut plan, &self.phases, inputs);
        if !errors.is_empty() {
            return Err(ResolveError::Plan(errors));
        }
        if !plan.phases.iter().any(|p| p.skip.is_none() && p.kind != PhaseKind::Layout) {
            let reason = plan.phases.iter().find_map(|p| p.skip.as_ref().map(Reason::to_string)).unwrap_or_default();
            return Err(ResolveError::NothingLeft { workload: self.name.clone(), reason });
        }
        if self.has_budget() {
            return Ok(plan);
        }
        plan.budget_ns = longest_ns(&plan);
        Ok(plan)
    }
}

/// What the phases of a plan and the quiet windows around them take at most.
fn longest_ns(plan: &Plan) -> u64 {
    let live = plan.phases.iter().filter(|p| p.skip.is_none());
    let (layouts, others): (Vec<&PhasePlan>, Vec<&PhasePlan>) = live.partition(|p| p.kind == PhaseKind::Layout);
    let windows = (others.len() as u64).saturating_add(1).saturating_mul(plan.quiet_ns);
    // Delays may count from the start of the run.
    let passed = others.iter().fold(0u64, |passed, p| passed.saturating_add(p.resumed_after(passed).time_limit_ns));
    layouts.iter().fold(windows.saturating_add(passed), |sum, p| sum.saturating_add(p.time_limit_ns))
}

/// Points of a sweep that cannot be done are left out; what remains wrong is returned.
fn leave_out_optional(plan: &mut Plan, phases: &[Phase], inputs: &RunInputs) -> Vec<PlanError> {
    let optional: HashSet<&str> = phases.iter().filter(|p| p.optional).map(|p| p.name.as_str()).collect();
    let mut rest = Vec::new();
    for error in plan.check(inputs.sector_bytes, inputs.memory_bytes) {
        match error {
            PlanError::Stream { phase, what, .. } if optional.contains(phase.as_str()) => {
                plan.phases.iter_mut().filter(|p| p.name == phase).for_each(|p| p.skip = Some(Reason::uncoded(&*what)));
            }
            other => rest.push(other),
        }
    }
    rest
}

struct Resolver<'a> {
    workload: &'a Workload,
    inputs: &'a RunInputs,
    /// What is offered to jobs that do not say how much they use.
    whole: u64,
    size_reason: String,
    /// How often amounts of bytes are halved, so that they fit.
    halvings: u32,
    /// What layout may take, and each phase; without a budget nobody is told.
    layout_ns: Option<u64>,
    shares: Vec<Share>,
    used: ResourceUse,
    notes: Notes,
    packages: PackagePlans,
}

/// What the streams so far use.
#[derive(Default)]
struct ResourceUse {
    /// End of what is used, by file; the empty name is the target itself.
    ends: BTreeMap<String, u64>,
    /// Sum of what the phases need, bytes.
    needed: u128,
    /// End of what a file holds because a phase that is measured wrote it, from its start.
    written: BTreeMap<String, u64>,
    /// End of what must have been written before, by file.
    laid_out: BTreeMap<String, u64>,
    /// Files of which data are verified, and how: those that are laid out are stamped.
    verified: BTreeMap<String, VerifyKind>,
    /// Which files jobs have that operate on files.
    file_sets: files::FileSets,
    /// How many they are.
    streams: u64,
}

impl<'a> Resolver<'a> {
    fn new(workload: &'a Workload, inputs: &'a RunInputs, halvings: u32) -> Result<Self, ResolveError> {
        let new_data = Self::lays_out_on(workload, inputs);
        let layout_ns = workload.layout_ns(inputs);
        let budgeted = layout_ns.is_some();
        // Preconditioning is of all of a device (SNIA PTS): what the rest holds decides how much it can clean up.
        let whole_device = matches!(inputs.kind, TargetKind::BlockDevice | TargetKind::Sim) && workload.preconditions();
        let bounded = new_data && !budgeted && !whole_device;
        let most = if bounded { inputs.max_bytes.min(DEFAULT_BYTES) } else { inputs.max_bytes };
        let may_write = workload.budget.layout_bytes.filter(|_| new_data && inputs.readiness == Readiness::Writable);
        let most = may_write.map_or(most, |bytes| most.min(bytes));
        let rate = inputs.probe.bytes_per_s.filter(|_| inputs.readiness == Readiness::Writable);
        let (whole, mut size_reason) = match choose_size(most, rate, layout_ns.unwrap_or(u64::MAX)) {
            Some(size) if budgeted => (size.bytes, size.reason),
            Some(size) if bounded => (size.bytes, "1 GiB, or the largest step below that fits".to_owned()),
            None if budgeted => return Err(ResolveError::Nothing { bytes: most, least: MIN_BYTES }),
            _ => (inputs.max_bytes, "all that the target offers".to_owned()),
        };
        let mut notes = Notes::new(workload.notes.clone());
        if halvings > 0 {
            size_reason = format!("1/{} of what the workload says, so that it fits", 1u64 << halvings);
            notes.push(format!(
                "the target offers {}: all regions are {size_reason}; runs with other sizes are not comparable",
                model::bytes_text(inputs.max_bytes)
            ));
        }
        let shares = workload.shares(inputs, whole);
        let (used, packages) = (ResourceUse::default(), PackagePlans::default());
        Ok(Self { workload, inputs, whole, size_reason, halvings, layout_ns, shares, notes, used, packages })
    }

    /// Why so much of the target is used.
    fn reason(&self, used: u64) -> String {
        if used == 0 {
            "no region: operations on files".to_owned()
        } else if used == self.whole || self.halvings > 0 {
            self.size_reason.clone()
        } else {
            "as the workload says".to_owned()
        }
    }

    /// An amount in bytes of this target.
    fn amount(&self, extent: Extent) -> u64 {
        match extent {
            Extent::Bytes(bytes) => bytes >> self.halvings,
            Extent::Percent(_) => extent.of(self.inputs.max_bytes),
        }
    }

    /// Whether data are written before they are read: always into a new file; over an existing target only if the
    /// workload changes it anyway.
    fn lays_out_on(workload: &Workload, inputs: &RunInputs) -> bool {
        match inputs.kind {
            TargetKind::Directory | TargetKind::Sim => true,
            TargetKind::File | TargetKind::BlockDevice => {
                workload.lays_out_targets && inputs.readiness == Readiness::Writable && workload.changes_data()
            }
            TargetKind::Null | TargetKind::Region | TargetKind::Foreign => false,
        }
    }

    fn fixed_engine(&self) -> Option<EngineKind> {
        match self.inputs.kind {
            TargetKind::Sim => Some(EngineKind::Sim),
            TargetKind::Null => Some(EngineKind::Null),
            _ => None,
        }
    }

    fn engine_of(&self, job: &Job) -> EngineKind {
        if job.file_operation.is_some() || job.stream.replay().is_some() {
            return EngineKind::Files;
        }
        self.fixed_engine().or(job.engine).unwrap_or(match job.access() {
            // Ring workers would copy outside the thread's accounting and hide who burns the CPU.
            access if job.stream.path.queue_depth == 1 && (access == Access::Buffered || self.plain_calls(job)) => {
                EngineKind::Psync
            }
            _ => EngineKind::IoUring,
        })
    }

    /// Priorities of single requests are a matter of rings.
    fn plain_calls(&self, job: &Job) -> bool {
        let quicker = match self.inputs.probe.plain_calls {
            PlainCalls::None => false,
            PlainCalls::Writes => !job.stream.reads(),
            PlainCalls::All => true,
        };
        quicker && job.stream.path.priority_shares.is_empty()
    }

    /// Copies memory to memory, where the target has no part in it, or a region that is the target.
    fn memory_copy(&mut self, phase: &Phase) -> PhasePlan {
        self.used.streams += 1;
        let interval = self.workload.interval_ns;
        let stream = &phase.jobs[0].stream;
        PhasePlan {
            skip: stream.copied().and_then(|copy| self.skipped_copy(copy)),
            name: phase.name.clone(),
            kind: phase.kind,
            engine: EngineKind::Memory,
            streams: vec![StreamPlan {
                kind: stream.kind.clone(),
                seed: self.inputs.seed.wrapping_add(self.used.streams),
                ..StreamPlan::default()
            }],
            time_limit_ns: phase.jobs.iter().filter_map(|j| j.time_ns).max().unwrap_or(COPY_NS),
            // Memory is warm after the first pass over it.
            warmup: Warmup { min_ns: interval, share: 0.0, max_ns: interval },
            ..PhasePlan::default()
        }
        .alike()
    }

    /// Why a copy cannot be made of this region.
    fn skipped_copy(&self, copy: &CopyPlan) -> Option<Reason> {
        let bytes = copy.copy_set_bytes.max(u64::from(copy.copy_bytes));
        let offered = self.inputs.max_bytes;
        match &self.inputs.readiness {
            _ if self.inputs.kind != TargetKind::Region => None,
            Readiness::ReadOnly(reason) if copy.copy_writes => Some(reason.clone()),
            _ if bytes > offered => {
                let (needed, there) = model::distinct_bytes_text(bytes, offered);
                Some(Reason::uncoded(format!("it copies {needed} of a region of {there}")))
            }
            _ => None,
        }
    }

    /// The phase with its share of the budget, and why it has none.
    fn with_share<'p>(&self, phase: &'p Phase, index: usize) -> (Cow<'p, Phase>, Option<Reason>) {
        let leaves_open = phase.jobs.iter().any(|j| j.time_ns.is_none() && j.steady.is_none());
        let (time_ns, skip) = match (&self.shares[index], phase.kind, self.layout_ns) {
            (Some(Ok(share)), ..) => (*share, None),
            (Some(Err(reason)), ..) => (0, Some(reason.clone())),
            (None, PhaseKind::Layout, Some(layout_ns)) => (layout_ns, None),
            // Of a budget, what is not written to has no part.
            (None, PhaseKind::Measure, Some(_)) if leaves_open => (0, None),
            (None, ..) => return (Cow::Borrowed(phase), None),
        };
        let mut phase = phase.clone();
        for job in phase.jobs.iter_mut().filter(|j| j.time_ns.is_none()) {
            job.time_ns = Some(time_ns);
            job.time_based = job.amount.is_none() && job.stream.limits.total_operations.is_none();
        }
        (Cow::Owned(phase), skip)
    }

    fn stop(&self, phase: &Phase, index: usize, streams: &[StreamPlan]) -> StopRule {
        let shares = self.shares[index].is_some();
        let blocks = || streams.iter().filter_map(|s| Some(s.blocks()?.block.all_region_bytes()));
        let pass = || blocks().fold(0, u64::saturating_add);
        let all = |test: fn(&Job) -> bool| phase.jobs.iter().all(test);
        match phase.jobs.iter().find_map(|j| j.steady) {
            _ if phase.kind == PhaseKind::Layout => StopRule::RegionOnce,
            Some(steady) => {
                // A round that has no length is one pass over the region.
                let round_bytes = steady.round_ns.is_none().then(pass);
                StopRule::SteadyRounds(SteadyState { round_bytes, ..steady })
            }
            None if phase.jobs.iter().any(|j| j.enough_ns().is_some()) => StopRule::LeastOperations {
                time_ns: phase.jobs.iter().filter_map(Job::enough_ns).max().unwrap_or(0),
                operations: phase.jobs.iter().map(|j| j.least_operations).max().unwrap_or(0),
            },
            None if streams.iter().all(|s| s.limits.total_bytes.is_some() || s.limits.total_operations.is_some()) => {
                StopRule::Amount
            }
            None if streams.iter().any(|s| s.limits.latency_target.is_some()) => StopRule::Time,
            // A second pass would come from the page cache.
            None if shares && all(Job::is_cold) => StopRule::RegionOnce,
            None if shares && all(Job::only_looks) => StopRule::EarlyWhenSteady { half_width_ratio: EARLY_HALF_WIDTH },
            None => StopRule::Time,
        }
    }

    /// Why a log cannot be measured here: what it costs to grow is the file system's.
    fn grows_nowhere(&self, phase: &Phase) -> Option<Reason> {
        let grows = phase.jobs.iter().any(Job::is_log);
        let elsewhere = matches!(self.inputs.kind, TargetKind::File | TargetKind::BlockDevice);
        // Beside others on the same bytes its syncs would be theirs.
        (grows && elsewhere && (self.workload.has_budget() || phase.jobs.len() > 1))
            .then(|| Reason::uncoded("a log grows in a file of its own: name a directory"))
    }

    fn phase(&mut self, phase: &Phase, index: usize) -> Result<PhasePlan, ResolveError> {
        let (phase, no_share) = self.with_share(phase, index);
        let phase = phase.as_ref();
        let first = phase.jobs.first();
        let (engine, access) =
            first.map_or((EngineKind::IoUring, Access::Buffered), |j| (self.engine_of(j), j.access()));
        let end = |job: &Job| job.start_ns().saturating_add(job.time_at_most());
        let limit_ns = phase.jobs.iter().map(end).max().unwrap_or(0);
        let mut streams = Vec::new();
        for (number, job) in phase.jobs.iter().enumerate() {
            for copy in 0..job.copies {
                let mut stream = self.stream(phase, job, number as u32, copy)?;
                (stream.path.engine, stream.path.access) = (self.engine_of(job), job.access());
                let own_ns = job.ramp_ns.saturating_add(job.time_at_most());
                stream.limits.time_limit_ns = Some(own_ns).filter(|_| end(job) < limit_ns);
                streams.push(stream);
            }
        }
        let rounds_ns = phase.jobs.iter().find_map(|j| j.steady).and_then(SteadyState::most_ns);
        let ramp = phase.jobs.iter().map(|j| j.ramp_ns).max().unwrap_or(0);
        let skip = match &self.inputs.readiness {
            Readiness::ReadOnly(reason) if phase.changes_data() => Some(reason.clone()),
            _ => no_share.or_else(|| self.grows_nowhere(phase)),
        };
        let stop = self.stop(phase, index, &streams);
        Ok(PhasePlan {
            name: phase.name.clone(),
            kind: phase.kind,
            engine,
            access,
            cold: phase.jobs.iter().any(Job::is_cold),
            drop_cache: phase.jobs.iter().any(|j| j.drop_cache && j.access() == Access::Buffered && j.stream.reads()),
            streams,
            time_limit_ns: rounds_ns.unwrap_or(limit_ns),
            stop,
            warmup: if self.workload.has_budget() && ramp == 0 {
                self.workload.budget.warmup
            } else {
                Warmup { min_ns: ramp, share: 0.0, max_ns: ramp }
            },
            ranks: None,
            skip,
        })
    }
}
