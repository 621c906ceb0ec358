//! Two ways of one run side by side, where the processors may be what the slower one is held by: then its rate says nothing of the way.

use super::absent::MOSTLY_THERE;
use super::probes::{self, Probe};
use super::{Cause, CauseNature};
use crate::guard::exclude;
use crate::{machine, phrase};
use model::{Confidence, Direction, Evidence, LimitLayer, PhaseRecord, PhaseRun, Run, Step};

/// A processor this busy is full.
pub(super) const FULL: f64 = 0.9;
/// And nearly full, in the faster one of two phases of which the slower fills it.
const NEARLY_FULL: f64 = 0.8;
/// Of what fills a processor, this share is most of it.
const MOST: f64 = 0.5;
/// A processor that was busy like this before the phase, or in user mode without us: the load is somebody else's.
pub(super) const OTHERS_BUSY: f64 = 0.5;
/// The slower way below this share of the faster one is a step.
pub(crate) const WELL_BELOW: f64 = 0.8;
/// One operation after the other for which processors compute all the time waits for them, and not for a network.
const COMPUTED: f64 = 0.9;

/// Why the slower one of two phases is slower, where it is not its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HeldByProcessor {
    /// The machine did not have its processors for a part of the time: it did not run, or a hypervisor gave them to others.
    Away {
        /// Share of the time for which it had them in the slower phase.
        slower: f64,
        faster: f64,
    },
    /// The processors are full with what is not our own thread's work, and the faster way fills them, too.
    Full {
        /// How much of the busiest processor was used in the slower phase.
        busiest: f64,
        /// What our own threads used of one.
        own: f64,
    },
}

impl HeldByProcessor {
    pub fn evidence(&self, slower: &str, faster: &str) -> Vec<Evidence> {
        let stat = |name: &str| format!("{name} /proc/stat");
        match *self {
            Self::Away { slower: in_slower, faster: in_faster } => [(slower, in_slower), (faster, in_faster)]
                .map(|(name, share)| {
                    Evidence::measured("share of the time for which this machine had its processors", share, stat(name))
                })
                .into(),
            Self::Full { busiest, own } => vec![
                Evidence::measured("busiest processor", busiest, stat(slower)),
                Evidence::measured("own CPU time over wall time", own, format!("{slower} getrusage")),
            ],
        }
    }

    /// What is told of it: only a hint, for what fills the processors was not seen.
    pub fn cause(&self, pair: &str, slower: &str) -> Cause {
        let statement = match *self {
            Self::Away { slower: share, .. } => format!(
                "this machine had its processors for {} of the time during {slower}: two ways are not compared ({pair})",
                phrase::percent(share)
            ),
            Self::Full { busiest, own } => format!(
                "the processors: one is {} busy during {slower}, {} of one with our own work ({pair})",
                phrase::percent(busiest),
                phrase::percent(own)
            ),
        };
        Cause::new(LimitLayer::Cpu, CauseNature::Path, statement)
            .with_confidence(Confidence::Low)
            .decided_by(
                "the same two phases, alternating, while nothing else uses the processors, or on a faster machine",
            )
            .step(Step::StopOtherWork, None)
    }
}

/// Whether the processors are what the slower phase is held by.
///
/// A processor that our own thread fills by copying is none of it: that is the way itself. So is one that a kernel's thread fills for the
/// slower way alone (a flusher). What the faster way costs, too, is not.
pub(crate) fn held_by_processor(run: &Run, slower: &Probe<'_>, faster: &Probe<'_>) -> Option<HeldByProcessor> {
    let had = |p: &Probe<'_>| machine::had_processors(run, p.phase);
    if let (Some(in_slower), Some(in_faster)) = (had(slower), had(faster)) {
        // As if both had had them all the time; where most of it is missing, nothing is known of either.
        let is_step = |slower: f64, faster: f64| slower < WELL_BELOW * faster;
        let alike = is_step(slower.bytes_per_s, faster.bytes_per_s)
            && !is_step(slower.bytes_per_s / in_slower, faster.bytes_per_s / in_faster);
        if in_slower.min(in_faster) < MOSTLY_THERE || alike {
            return Some(HeldByProcessor::Away { slower: in_slower, faster: in_faster });
        }
    }
    let during = machine::cpus_during(run, slower.phase).filter(|c| c.full() >= FULL)?;
    let threads = f64::from(slower.record.engine_threads(&slower.phase.plan).max(1));
    let (user, system) = machine::own_share(slower.phase, slower.record)?;
    let (own_user, own) = (user * threads, (user + system) * threads);
    // On a machine of many processors one that is full may be ours; where all are full, ours is a part of them.
    let filled = if during.all >= FULL * during.processors as f64 { during.all } else { during.full() };
    exclude(own >= MOST * filled)?;
    let others = during.all - during.kernel_processors - own_user >= OTHERS_BUSY
        || machine::busy_before(run, slower.record).is_some_and(|busy| busy >= OTHERS_BUSY);
    let also = machine::cpus_during(run, faster.phase).is_some_and(|beside| beside.full() >= NEARLY_FULL);
    (others || also).then(|| HeldByProcessor::Full { busiest: during.full(), own })
}

/// Direct over buffered of a direction, where both rates are those of their ways.
pub(crate) fn direct_over_buffered(run: &Run, direction: Direction) -> Option<f64> {
    let (buffered, direct) = (probes::buffered(run, direction)?, probes::fastest(run, direction)?);
    let held = held_by_processor(run, &buffered, &direct);
    held.is_none().then(|| direct.bytes_per_s / buffered.bytes_per_s)
}

/// How many processors computed during a phase that has one operation at a time, where that explains how long each takes. What was busy
/// before is not counted.
pub(super) fn computed_meanwhile(run: &Run, phase: &PhaseRun, record: &PhaseRecord) -> Option<f64> {
    let all = machine::cpus_during(run, phase)?.all - machine::busy_before(run, record).unwrap_or(0.0);
    Some(all).filter(|all| *all >= COMPUTED)
}

/// Whether a processor of this machine is what the phase waits for.
pub(super) fn is_busy(run: &Run, phase: &PhaseRun) -> bool {
    machine::cpus_during(run, phase).is_some_and(|c| c.full() >= FULL)
}
