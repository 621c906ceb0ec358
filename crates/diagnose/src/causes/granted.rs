//! What a volume itself counts of its limits: on Amazon EBS, the time in which more was asked for than volume or machine
//! (EC2 instance) let pass.

use super::{Cause, CauseNature};
use crate::phrase;
use crate::stack_view::Facts;
use model::facts as names;
use model::{Confidence, Layer, LayerKind, LimitLayer, Run, Step};

/// Of each limit: its fact, in words, what to do.
static LIMITS: [(&str, &str, Step); 4] = [
    (names::EBS_VOLUME_IOPS_EXCEEDED_RUN_US, "operations of the volume", Step::ProvisionOperations),
    (names::EBS_VOLUME_BYTES_EXCEEDED_RUN_US, "bytes of the volume", Step::ProvisionThroughput),
    (names::EBS_INSTANCE_IOPS_EXCEEDED_RUN_US, "operations of the machine", Step::LargerInstance),
    (names::EBS_INSTANCE_BYTES_EXCEEDED_RUN_US, "bytes of the machine", Step::LargerInstance),
];
/// Share of the run from which a limit held it: a check asks for as much as there is for most of its time.
const HELD: f64 = 0.1;

/// The limit that was exceeded for the longest time.
pub fn granted_limit_exceeded(run: &Run) -> Option<Cause> {
    let disks = || run.target.stack.layers.iter().filter(|l| l.kind == LayerKind::Disk);
    let granted = disks().flat_map(|disk: &Layer| {
        LIMITS.iter().filter_map(move |limit| Some((disk, limit, disk.int(limit.0).filter(|us| *us > 0)? as f64 / 1e6)))
    });
    let (disk, (fact, what, remedy), seconds) = granted.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let share = seconds / (run.duration_ns as f64 / 1e9).max(1e-9);
    let held = share >= HELD;
    let statement = format!(
        "the limit of {what}, as {} itself counts: for {seconds:.1} s of this run ({}) more was asked for than it lets pass",
        disk.name,
        phrase::percent(share.min(1.0))
    );
    Some(
        Cause::new(LimitLayer::Throttle, CauseNature::Distortion, statement)
            .with_confidence(if held { Confidence::High } else { Confidence::Low })
            .with_evidence(LIMITS.iter().map(|(name, ..)| disk.evidence(name)))
            .decided_by(format!("the same check after the limit was raised ({fact})"))
            .step(remedy.clone(), None),
    )
}
