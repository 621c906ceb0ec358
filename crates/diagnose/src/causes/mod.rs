//! What may hold a run back, one module a kind of cause, and the order among them.

pub(crate) mod absent;
mod cached;
mod cgroup;
pub(crate) mod compared;
mod copies;
mod credit;
mod depth;
mod device;
mod filesystem;
mod gaps;
mod generator;
mod granted;
mod interference;
mod link;
pub(crate) mod nfs;
mod nfs_calls;
pub(crate) mod nfs_slots;
pub(crate) mod nfs_sync;
pub(crate) mod nfs_waits;
mod page_cache;
mod pages;
pub(crate) mod probes;
mod processor;
pub(crate) mod published;
mod responsive;
pub(crate) mod rows;
mod server_calls;
mod server_pipe;
mod small_writes;
pub(crate) mod smb;
mod splitting;
mod stacking;
mod thermal;
mod trial;
mod trials;
mod write_cache;
pub(crate) mod zfs;

use crate::elsewhere::{self, Elsewhere};
use model::{CompactSort as _, Confidence, Evidence, LimitLayer, NextStep, Run, Step, TargetKind};
use std::cmp::Reverse;
use std::ops::Deref;

// Findings repeat these causes with a page of their own.
pub(crate) use credit::burst_credit_spent_cause;
pub(crate) use gaps::between_gaps;
pub(crate) use granted::granted_limit_exceeded;
pub(crate) use interference::{cap, foreign_traffic, steal};
pub(crate) use page_cache::write_step;
pub(crate) use pages::{huge_over_ordinary, split_phase};
pub(crate) use small_writes::SLOW_WRITE_RATIO;
pub use trials::Trial;
pub(crate) use write_cache::exhausted;

/// One thing that may hold the run back: what is told of it, and what only this crate ranks, tries and shortens it by.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    told: model::Cause,
    /// The measurement on the same target that decides it, where there is one that changes no setting.
    pub trial: Option<Trial>,
    /// What kind of cause it is.
    pub(crate) nature: CauseNature,
    /// How many times as fast the path that it holds is without it, where that is known.
    pub(crate) speedup_without: Option<f64>,
    pub(crate) kind: CauseKind,
    /// Whether it rests on how long something took, and not on counts or on a setting that is seen.
    timed: bool,
    /// The statement without its numbers, for a row; `None` where it has no more than that.
    in_short: Option<String>,
}

impl Deref for Cause {
    type Target = model::Cause;

    fn deref(&self) -> &model::Cause {
        &self.told
    }
}

/// The special case within a layer, for findings and trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CauseKind {
    #[default]
    OfItsLayer,
    BurstCredit,
    MemoryLimit,
    Encryption,
    SlowMember,
    SyncMount,
    ReadAhead,
    /// One command is served at a time, which more depth would show.
    OneCommand,
    /// The block layer splits requests.
    Split,
    /// What is limited are operations, not bytes.
    Operations,
    /// What small operations wait for beside a writer.
    BesideWriter,
    /// Of a file system that has no block device here, which says itself what it is.
    Elsewhere,
}

impl From<Cause> for model::Cause {
    fn from(cause: Cause) -> Self {
        cause.told
    }
}

/// What is told first of all that may hold a run back: this order is the whole rule, for the causes of a run ([`causes()`])
/// and for its bottleneck ([`crate::headline`]). Within a place the surer comes first; particular causes then by how far below
/// its path each holds it, to the nearest power of two, and of one power what a setting changes comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseOrder {
    /// Slows or hides all that comes after it (a cap, a credit that ran out, a quota, heat): what is slow then says no more.
    Hides,
    /// What the command was asked for, where its answer names a limit.
    Answer,
    /// What keeps the target from the use that was asked about, or by far from one that everybody has.
    Use,
    /// A particular cause, without which its path is at least twice as fast.
    Particular,
    /// A layer that is named, without such a measure: a full link, a busy processor.
    Named,
    /// What is left where nothing else was seen.
    LeftOver,
    /// A low confidence.
    Hint,
    /// Something that happened and whose effect was not seen: told, but never the bottleneck.
    Remark,
}

/// What costs less than this says no more than that a layer is there; what a setting costs is particular earlier.
const PARTICULAR: f64 = 2.0;
const PARTICULAR_SETTING: f64 = 1.5;

/// How a cause distorts the run; ranks causes of one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseNature {
    /// The numbers are not the storage's: the generator, other users, throttling.
    Distortion,
    /// A setting of this machine: to change it costs nothing.
    Setting,
    /// A layer above the device, or the link: seen by comparing paths, depths or ceilings.
    Path,
    /// What remains when the others are ruled out.
    Remainder,
}

impl Cause {
    pub(crate) fn new(layer: LimitLayer, nature: CauseNature, statement: impl Into<String>) -> Self {
        let told = model::Cause {
            layer,
            statement: statement.into(),
            confidence: Confidence::Probable,
            evidence: Vec::new(),
            decided_by: String::new(),
            next_step: None,
            is_limit: false,
        };
        let kind = CauseKind::default();
        let timed = matches!(nature, CauseNature::Path | CauseNature::Remainder);
        Self { told, trial: None, nature, speedup_without: None, kind, timed, in_short: None }
    }

    /// A setting, but that it is what holds the path rests on how long something took.
    pub(crate) fn by_time(mut self) -> Self {
        self.timed = true;
        self
    }

    /// What a row says of it, where the statement has more.
    pub(crate) fn with_short(mut self, statement: impl Into<String>) -> Self {
        self.in_short = Some(statement.into());
        self
    }

    /// What a row says of it.
    pub(crate) fn in_short(&self) -> &str {
        self.in_short.as_deref().unwrap_or(&self.statement)
    }

    /// The same in other words.
    pub(crate) fn saying(mut self, statement: impl Into<String>) -> Self {
        self.told.statement = statement.into();
        self
    }

    pub(crate) fn of_kind(mut self, kind: CauseKind) -> Self {
        self.kind = kind;
        self
    }

    pub(crate) fn with_confidence(mut self, confidence: Confidence) -> Self {
        self.told.confidence = confidence;
        self
    }

    pub(crate) fn with_evidence(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.told.evidence.extend(evidence);
        self
    }

    pub(crate) fn decided_by(mut self, text: impl Into<String>) -> Self {
        self.told.decided_by = text.into();
        self
    }

    pub(crate) fn tried_by(mut self, trial: Trial) -> Self {
        self.trial = Some(trial);
        self
    }

    /// What to do, and how many times the current value that brings at most; a ceiling at or below it predicts nothing.
    pub(crate) fn step(mut self, step: Step, ratio: Option<f64>) -> Self {
        let predicted_ratio = ratio.filter(|r| r.is_finite() && *r > 1.0).map(|r| (r * 100.0).round() / 100.0);
        self.told.next_step = Some(NextStep { predicted_ratio, ..step.into() });
        self
    }

    /// What the step rests on in this run.
    pub(crate) fn based_on(mut self, basis: impl Into<String>) -> Self {
        let basis = basis.into();
        self.told.next_step.iter_mut().for_each(|step| step.basis.clone_from(&basis));
        self
    }

    /// How many times as fast its path is without it, where that is not what the next step promises.
    pub(crate) fn speedup_without(mut self, ratio: Option<f64>) -> Self {
        self.speedup_without = ratio.filter(|r| r.is_finite());
        self
    }

    /// Whether it rests on this phase: its evidence names a metric or a series of it.
    pub(crate) fn is_based_on(&self, phase: &str) -> bool {
        let own = |e: &Evidence| {
            e.source.strip_prefix(phase).is_some_and(|rest| rest.starts_with(['.', ' ']) || rest.is_empty())
        };
        self.evidence.iter().any(own)
    }

    /// What remains when the others are ruled out.
    pub(crate) fn is_remainder(&self) -> bool {
        self.nature == CauseNature::Remainder
    }

    /// Something that happened and whose effect was not seen: told, but never the bottleneck.
    pub(crate) fn is_remark(&self) -> bool {
        self.order() == CauseOrder::Remark
    }

    /// What is no device of this machine is not called one.
    pub(crate) fn is_elsewhere(&mut self, elsewhere: &Elsewhere) {
        let replaced = |text: &str| text.replace(elsewhere::THE_DEVICE, elsewhere.words);
        self.told.layer = elsewhere.layer;
        self.told.statement = replaced(&self.told.statement);
        self.told.decided_by = replaced(&self.told.decided_by);
        self.in_short = self.in_short.take().map(|text| replaced(&text));
    }

    /// How far below what its path gives without it the path is.
    fn ratio(&self) -> f64 {
        let speedup =
            self.speedup_without.or_else(|| self.next_step.as_ref().and_then(|s| s.predicted_ratio)).unwrap_or(1.0);
        // A full link is told before a step of the ladder that is smaller than this.
        const FULL_LINK: f64 = 1.5;
        if self.layer == LimitLayer::Link { speedup.max(FULL_LINK) } else { speedup }
    }

    /// Where it is told.
    pub(crate) fn order(&self) -> CauseOrder {
        let holds_all = matches!(self.layer, LimitLayer::Throttle | LimitLayer::ThermalPower)
            || self.nature == CauseNature::Distortion && self.layer != LimitLayer::Generator;
        match (self.confidence, self.nature) {
            (Confidence::Low, CauseNature::Distortion) => CauseOrder::Remark,
            (Confidence::Low, _) => CauseOrder::Hint,
            _ if holds_all => CauseOrder::Hides,
            (_, CauseNature::Remainder) => CauseOrder::LeftOver,
            (_, CauseNature::Setting) if self.ratio() >= PARTICULAR_SETTING => CauseOrder::Particular,
            _ if self.ratio() >= PARTICULAR => CauseOrder::Particular,
            _ => CauseOrder::Named,
        }
    }

    /// What it is ranked by: the least first.
    pub(crate) fn rank(&self) -> (CauseOrder, Reverse<Confidence>, Reverse<i32>, CauseNature) {
        let particular = self.order() == CauseOrder::Particular;
        let power = if particular { self.ratio().log2().round() as i32 } else { 0 };
        (self.order(), Reverse(self.confidence), Reverse(power), self.nature)
    }
}

/// All causes that the run gives reason to name, the most telling first (`CauseOrder`).
pub fn causes(run: &Run) -> Vec<Cause> {
    if run.target.kind == TargetKind::Null {
        return generator::null_target(run).into_iter().collect();
    }
    if run.target.kind == TargetKind::Region {
        return copies::of_region(run).into_iter().collect();
    }
    let mut causes = Vec::new();
    causes.extend(generator::own_processor(run));
    causes.extend(processor::quota(run));
    causes.extend(thermal::throttled(run));
    causes.extend(thermal::slowed_processor(run));
    causes.extend(foreign_traffic(run));
    causes.extend(steal(run));
    causes.extend(interference::busy_machine(run));
    let probable = |c: &Option<Cause>| c.as_ref().is_some_and(|c| c.confidence >= Confidence::Probable);
    let credit = burst_credit_spent_cause(run);
    // The plateau behind a credit that ran out is a cap as well; how it came to it is more.
    let cap = cap(run).filter(|_| !probable(&credit));
    let group = cgroup::limit(run);
    let capped = probable(&cap) || probable(&group) || probable(&credit);
    causes.extend(granted_limit_exceeded(run));
    causes.extend(published::limit(run));
    causes.extend(credit);
    causes.extend(cap);
    causes.extend(group);
    causes.extend(page_cache::direct_fallback(run));
    causes.extend(filesystem::in_user_mode(run));
    let on_nfs = nfs::mount(run).is_some();
    let on_share = on_nfs || smb::mount(run).is_some();
    // There each write waits for the server, which the client's counters tell.
    if !(on_nfs && filesystem::waits_for_each_write(run)) {
        causes.extend(page_cache::buffered_writes(run));
    }
    causes.extend(cached::served(run));
    if !on_share {
        causes.extend(page_cache::buffered_reads(run));
    }
    causes.extend(nfs::causes(run));
    causes.extend(nfs_sync::commit_for_each_sync(run));
    causes.extend(smb::causes(run));
    causes.extend(zfs::causes(run));
    causes.extend(link::utilisation(run));
    causes.extend(processor::saturated(run));
    causes.extend(processor::memory(run));
    if !capped {
        // A cap on operations looks like a serialised queue; the cap explains more.
        if !on_share {
            causes.extend(depth::serialised(run));
            causes.extend(depth::short_queue(run));
        }
        causes.extend(splitting::small_requests(run));
        causes.extend(gaps::is_stalled(run));
        causes.extend(stacking::above_the_disk(run));
        causes.extend(stacking::slow_member(run));
    }
    causes.extend(exhausted(run));
    if !on_share {
        causes.extend(small_writes::flush(run));
        causes.extend(small_writes::rewritten(run));
    }
    causes.extend(responsive::waits(run));
    if !causes.iter().any(|c| c.confidence >= Confidence::Probable) {
        causes.extend(device::device_itself(run));
        causes.extend(link::between(run));
    }
    if let Some(elsewhere) = elsewhere::of(&run.target.stack) {
        let rest = causes.iter_mut().filter(|c| c.layer == LimitLayer::Device);
        let rest = rest.filter(|c| !elsewhere.has_disk || c.nature == CauseNature::Remainder);
        rest.for_each(|cause| cause.is_elsewhere(&elsewhere));
    }
    absent::doubt(run, &mut causes);
    causes.compact_sort_by(|a, b| a.rank().cmp(&b.rank()).then(b.ratio().total_cmp(&a.ratio())));
    causes
}

/// How random reads scale with depth, with the measurements, where the depth was really in flight.
pub(crate) fn read_scaling(run: &Run) -> Option<(f64, Vec<Evidence>)> {
    depth::scaling(run, model::Direction::Read)
        .filter(|s| s.depth_was_there() != Some(false))
        .map(|s| (s.ratio(), s.evidence()))
}
