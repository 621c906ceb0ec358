//! When a number is not shown: the rules, their codes and thresholds.
//!
//! A rule fires on evidence, never on its absence, with two exceptions that the definition of the phase asks for: a
//! cold read must be proven cold, and a record must be whole. A machine without counters (containers, virtual disks),
//! without frequencies or temperatures simply switches the rules off that need them.

mod arc;
mod ceiling;
mod device;
mod flushes;
mod foreign;
mod generator;
mod machine;
mod others;
mod pacing;
mod record;
pub(crate) mod slices;
mod steadiness;
mod verified;

use crate::Context;
use crate::rate::CountedRate;
use model::{EngineKind, PhasePlan, PhaseRecord, Reason, TargetKind};

pub use ceiling::{LINE_RATE_TOLERANCE, MEMORY_TOLERANCE};
pub use device::{COLD_BYTES_TOLERANCE, DIRECT_BYTES_RATIO, RESIDENT_TOLERANCE_PAGES, RESIDENT_TOLERANCE_RATIO};
pub use generator::{GENERATOR_USER_LIMIT, MIN_DEPTH_RATIO};
pub use machine::{CLOCK_STEP_LEAST_NS, CLOCK_STEP_LIMIT, CPU_MATTERS, FREQUENCY_DROP_LIMIT, STEAL_LIMIT};
pub use others::{FOREIGN_LIMIT, LONE_BURST_OPERATIONS};
pub use pacing::PACE_TOLERANCE;
pub(crate) use record::failed_operations;
pub use record::{MIN_OPERATIONS, MIN_SECONDS};
pub(crate) use steadiness::steady;

/// What the rules say of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Validity {
    pub refusals: Vec<Reason>,
    pub remarks: Vec<Reason>,
}

/// What a rule looks at.
#[derive(Clone, Copy)]
pub(crate) struct RuleInput<'a> {
    pub plan: &'a PhasePlan,
    pub record: &'a PhaseRecord,
    pub rate: Option<&'a CountedRate>,
    pub context: &'a Context<'a>,
}

impl RuleInput<'_> {
    fn reads_only(&self) -> bool {
        !self.plan.streams.is_empty() && !self.plan.is_write()
    }

    /// Threads of ours that did the work.
    fn workers(&self) -> u32 {
        self.record.engine_threads(self.plan)
    }

    /// CPU of our workers over the phase, in cores.
    fn cores(&self, ns: u64) -> f64 {
        match self.record.duration_ns() {
            0 => 0.0,
            time => ns as f64 / time as f64,
        }
    }
}

/// All rules on one phase.
pub(crate) fn judge_validity(case: RuleInput<'_>) -> Validity {
    let RuleInput { plan, record, context, .. } = case;
    let mut out = Validity::default();
    verified::data_verified(case, &mut out);
    record::record_complete(case, &mut out);
    machine::machine_not_disturbed(case, &mut out);
    out.refusals.extend(context.group.and_then(crate::group::not_together).filter(|_| plan.measures_target()));
    // `null:` and the memory copy have no storage that could be cold, direct, foreign or linked; of operations that move no
    // data nobody knows how many bytes are theirs.
    let storage = context.target != TargetKind::Null && record.engine.kind != EngineKind::Null && !plan.copies_memory();
    if storage && plan.moves_data() {
        device::reached_device(case, &mut out);
        arc::not_served_by_the_arc(case, &mut out);
        flushes::reach_the_device(case, &mut out);
        ceiling::within_ceiling(case, &mut out);
        generator::generator_not_limiting(case, &mut out);
        foreign::no_other_io(case, &mut out);
    } else if !storage && !plan.copies_memory() {
        out.remarks.push(Reason::OwnOverhead {});
    }
    steadiness::steadiness_remark(case, &mut out);
    pacing::pace_kept(case, &mut out);
    out
}
