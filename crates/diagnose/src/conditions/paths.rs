//! Findings that rest on measurements: paths compared, caps, other users.

use super::{Case, Check};
use crate::causes::{self, Cause};
use crate::machine;
use crate::stack_view::Missing;
use model::{Confidence, Run, TargetKind};

fn need(run: &Run, id: &'static str) -> Result<f64, Missing> {
    machine::value(run, id).ok_or(Missing(id))
}

fn case_of(cause: Cause) -> Case {
    let confidence = cause.confidence;
    Case::seen(cause.evidence).at_most(confidence)
}

/// Buffered writes well below direct ones.
pub fn buffered_far_below_direct(run: &Run) -> Check {
    if run.target.kind == TargetKind::Null {
        return Ok(None);
    }
    need(run, "buffered-write.throughput_bytes_per_s")?;
    need(run, "seq-write.throughput_bytes_per_s")?;
    Ok(causes::buffered_write_step(run).map(|(buffered, direct, evidence, busy)| {
        Case::seen(evidence).at_most(if busy { Confidence::Probable } else { Confidence::Low }).gain(
            "buffered-write.throughput_bytes_per_s",
            Some(direct / buffered),
            "direct over buffered write of this run",
        )
    }))
}

/// A cap that reads and writes meet alike.
pub fn virtual_disk_cap(run: &Run) -> Check {
    if !crate::stack_view::is_virtual_disk(run) {
        return Ok(None);
    }
    if let Some(cause) = causes::cap(run) {
        return Ok(Some(case_of(cause)));
    }
    need(run, "rand-read-qd32.iops")?;
    need(run, "rand-write-qd32.iops")?;
    Ok(None)
}

/// Processor time taken by the hypervisor.
pub fn cpu_steal(run: &Run) -> Check {
    if run.environment.virtualization.is_none() && run.samples.is_empty() {
        return Ok(None);
    }
    if run.samples.len() < 2 {
        return Err(Missing("system samples"));
    }
    // That time was stolen was seen, whatever it did to the numbers.
    Ok(causes::steal(run).map(|c| Case::seen(c.evidence)))
}

/// Others that use the same disk.
pub fn foreign_traffic(run: &Run) -> Check {
    if matches!(run.target.kind, TargetKind::Null | TargetKind::Sim) {
        return Ok(causes::foreign(run).map(case_of));
    }
    if machine::executed(run).all(|(_, r)| r.quiet_before.is_none() && r.quiet_after.is_none()) {
        return Err(Missing("quiet windows"));
    }
    Ok(causes::foreign(run).map(case_of))
}
