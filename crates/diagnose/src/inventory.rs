//! What the catalogue says of a run, or of an inventory alone: then whatever rests on a measurement is unknown.

use crate::catalogue;
use crate::subject::Subject;
use model::{Environment, Finding, MetricKey, Run, Stack, TargetKind, Undecided, Work};

/// What the catalogue says of a run or of an inventory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// Findings that hold, the surest first.
    pub findings: Vec<Finding>,
    /// Findings that could not be decided.
    pub unknown: Vec<Undecided>,
}

/// The findings that hold for a run, the surest first, otherwise in the order of the catalogue.
pub fn findings(run: &Run) -> Vec<Finding> {
    catalogue::findings(Subject::of_run(run))
}

/// Findings that could not be decided of a run, each with what is missing and how to get it. A simulated region has no machine of
/// which anything could be missing.
pub fn unknown(run: &Run) -> Vec<Undecided> {
    if run.target.kind == TargetKind::Region && run.environment == Environment::default() {
        return Vec::new();
    }
    let mut unknown = catalogue::unknown(Subject::of_run(run));
    let is_measured = |missing: &str| Work::ALL.iter().any(|work| work.name() == MetricKey::of(missing).phase());
    // Nothing that is done to this machine has a simulated one tell more; what is measured can be measured.
    for of in unknown.iter_mut().filter(|of| run.target.kind == TargetKind::Sim && !is_measured(&of.missing)) {
        "a simulated device does not tell it".clone_into(&mut of.how_to_get);
    }
    unknown
}

/// Everything that the catalogue says of a storage path on which nothing was measured.
///
/// `kernel_log` are the kernel's messages since boot, where they could be read. A condition that would need a measurement
/// is then unknown for want of it, unless the facts alone decide it.
pub fn findings_of_stack(stack: &Stack, environment: &Environment, kernel_log: Option<&[String]>) -> Assessment {
    let on = Subject::of_stack(stack, environment, kernel_log);
    Assessment { findings: catalogue::findings(on), unknown: catalogue::unknown(on) }
}
