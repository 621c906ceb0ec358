//! Findings that rest on measurements: paths compared, caps, other users.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, require};
use crate::causes::compared::HeldByProcessor;
use crate::causes::{self, Cause};
use crate::machine;
use crate::stack_view::{DiskPath, Missing};
use crate::subject::Subject;
use model::facts as names;
use model::{Access, Confidence, Evidence, Operation, PhaseStatus, TargetKind, Work};

fn need_rate(on: &Subject<'_>, work: Work) -> Result<f64, Missing> {
    on.rate(work).ok_or(Missing(work.throughput()))
}

fn need_iops(on: &Subject<'_>, work: Work) -> Result<f64, Missing> {
    on.value_of_work(work, "iops").ok_or(Missing(work.iops()))
}

/// What is missing where a machine was away for most of the time.
const PROCESSORS: &str = "processors that ran for most of the time";

/// The case that a cause makes; unknown where it rests on how long something took on a machine that was away for most of the time.
pub(super) fn case_of(on: &Subject<'_>, cause: Cause) -> Decision {
    if on.run.is_some_and(|run| causes::absent::is_doubtful(run, &cause)) {
        return Err(Missing(PROCESSORS).into());
    }
    Ok(seen_as(cause))
}

fn seen_as(cause: Cause) -> Match {
    let confidence = cause.confidence;
    Match::observed(model::Cause::from(cause).evidence).at_most(confidence)
}

/// A plateau at a limit that the cloud publishes.
pub fn cloud_published_limit(on: &Subject<'_>) -> Decision {
    let volume = |path: &DiskPath<'_>| path.disk.text(names::CLOUD_VOLUME).is_some();
    require(on.disks().iter().any(volume))?;
    match on.measured(causes::published::limit) {
        Some(cause) => case_of(on, cause),
        None if on.rate(Work::SequentialRead).is_some() || on.rate(Work::QueuedRead).is_some() => Err(DoesNotHold),
        None => Err(Missing(Work::SequentialRead.throughput()).into()),
    }
}

/// Buffered writes well below direct ones.
pub fn buffered_far_below_direct(on: &Subject<'_>) -> Decision {
    exclude(on.is_null())?;
    need_rate(on, Work::BufferedWrite)?;
    need_rate(on, Work::SequentialWrite)?;
    let step = on.measured(causes::write_step);
    match step.as_ref().and_then(|step| step.held) {
        // Where the processors are what held them, it is not the page cache.
        Some(HeldByProcessor::Full { .. }) => return Err(DoesNotHold),
        Some(HeldByProcessor::Away { .. }) => return Err(Missing(PROCESSORS).into()),
        None => {}
    }
    let step = step.ok_or(DoesNotHold)?;
    let confidence = if step.busy() { Confidence::Probable } else { Confidence::Low };
    Ok(Match::observed(step.evidence()).at_most(confidence).gain(
        &on.rate_id(Work::BufferedWrite),
        Some(step.direct_over_buffered()),
        "direct over buffered write of this run",
    ))
}

/// A cap that reads and writes meet alike.
pub fn virtual_disk_cap(on: &Subject<'_>) -> Decision {
    require(on.is_virtual_disk())?;
    if let Some(cause) = on.measured(causes::cap) {
        return case_of(on, cause);
    }
    need_iops(on, Work::QueuedRead)?;
    need_iops(on, Work::QueuedWrite)?;
    Err(DoesNotHold)
}

/// A virtual disk that fell to its baseline.
pub fn burst_credit_spent(on: &Subject<'_>) -> Decision {
    require(on.is_virtual_disk())?;
    if on.executed().next().is_none() {
        return Err(Missing(Work::SequentialWrite.throughput()).into());
    }
    case_of(on, on.measured(causes::burst_credit_spent_cause).ok_or(DoesNotHold)?)
}

/// A volume of Amazon EBS whose own counters say that a limit held it.
pub fn ebs_limit_exceeded(on: &Subject<'_>) -> Decision {
    let is_ebs = |p: &DiskPath<'_>| p.disk.text(names::MODEL).is_some_and(|m| m.trim() == "Amazon Elastic Block Store");
    require(on.disks().iter().any(is_ebs))?;
    match on.measured(causes::granted_limit_exceeded) {
        Some(cause) => case_of(on, cause),
        None if on.disks().iter().any(|p| p.disk.int(names::EBS_VOLUME_IOPS_EXCEEDED_RUN_US).is_some()) => {
            Err(DoesNotHold)
        }
        None => Err(Missing(names::EBS_VOLUME_IOPS_EXCEEDED_RUN_US).into()),
    }
}

/// Processor time taken by the hypervisor.
pub fn cpu_steal(on: &Subject<'_>) -> Decision {
    exclude(on.environment.virtualization.is_none() && on.samples().is_empty())?;
    if on.samples().len() < 2 {
        return Err(Missing("system samples").into());
    }
    // That time was stolen was seen, whatever it did to the numbers.
    let cause = on.measured(causes::steal).ok_or(DoesNotHold)?;
    Ok(Match::observed(model::Cause::from(cause).evidence))
}

/// Others that use the same disk.
pub fn foreign_traffic(on: &Subject<'_>) -> Decision {
    let alone = on.run.is_some_and(|run| matches!(run.target.kind, TargetKind::Null | TargetKind::Sim));
    if !alone && on.executed().all(|(_, r)| r.quiet_before.is_none() && r.quiet_after.is_none()) {
        return Err(Missing("quiet windows").into());
    }
    on.measured(causes::foreign_traffic).map(seen_as).ok_or(DoesNotHold)
}

/// A thread that spends nearly all of its time copying into the page cache: its own processor is the limit, whatever
/// the storage could take. Unlike [`buffered_far_below_direct`] this needs no direct phase to compare with.
pub fn buffered_write_by_processor(on: &Subject<'_>) -> Decision {
    /// Share of each writing thread's time in the kernel.
    const NEARLY_ALL: f64 = 0.8;
    /// A direct rate that is no better clears it.
    const NO_GAIN: f64 = 1.1;
    let writes = on.executed().filter(|(p, _)| {
        p.plan.access == Access::Buffered
            && !p.plan.streams.is_empty()
            && p.plan.streams.iter().all(|s| s.blocks().is_some_and(|s| s.block.operation == Operation::Write))
            && p.status == PhaseStatus::Measured
    });
    let busiest = writes
        .filter_map(|(p, r)| Some((&p.plan.name, machine::own_system_for_certain(on.run?, p, r)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let none = || if on.is_null() { DoesNotHold } else { Missing(Work::BufferedWrite.throughput()).into() };
    let (phase, system) = busiest.ok_or_else(none)?;
    let id = machine::throughput_id(phase);
    let ratio = on.direct_rate(Work::SequentialWrite).zip(on.value(&id)).map(|(d, b)| d / b);
    exclude(system < NEARLY_ALL || ratio.is_some_and(|r| r < NO_GAIN))?;
    let share = Evidence::measured("own system CPU share", system, format!("{phase} getrusage"));
    let rate = on.value(&id).map(|v| Evidence::measured("buffered write, bytes per second", v, id.clone()));
    Ok(Match::observed(std::iter::once(share).chain(rate)).at_most(Confidence::Probable).gain(
        &id,
        ratio,
        "direct over buffered write of this run",
    ))
}

/// A device that took writes into a fast cache first, and then fell.
pub fn write_cache_exhausted(on: &Subject<'_>) -> Decision {
    let written = on.measured(|run| machine::phase_of_work(run, Work::SequentialWrite));
    let (phase, record) = written.ok_or(Missing(Work::SequentialWrite.throughput()))?;
    // Throttling at the same time explains the fall better.
    let throttled = on.samples_of(phase).iter().any(|s| s.throttle.raspberry_pi_bits.is_some_and(|b| b & 0xf != 0));
    exclude(throttled || record.intervals.is_empty())?;
    case_of(on, on.measured(causes::exhausted).ok_or(DoesNotHold)?)
}
