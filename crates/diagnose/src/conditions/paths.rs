//! Findings that rest on measurements: paths compared, caps, other users.

use super::{Case, Check};
use crate::causes::{self, Cause};
use crate::machine;
use crate::stack_view::Missing;
use model::{Access, Confidence, Evidence, Operation, Run, TargetKind, Work};

fn need_rate(run: &Run, work: Work) -> Result<f64, Missing> {
    machine::rate(run, work).ok_or(Missing(work.throughput()))
}

fn need_iops(run: &Run, work: Work) -> Result<f64, Missing> {
    machine::value_doing(run, work, "iops").ok_or(Missing(work.iops()))
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
    need_rate(run, Work::BufferedWrite)?;
    need_rate(run, Work::SequentialWrite)?;
    Ok(causes::buffered_write_step(run).map(|(buffered, direct, evidence, busy)| {
        Case::seen(evidence).at_most(if busy { Confidence::Probable } else { Confidence::Low }).gain(
            &machine::rate_id(run, Work::BufferedWrite),
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
    need_iops(run, Work::QueuedRead)?;
    need_iops(run, Work::QueuedWrite)?;
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

/// A thread that spends nearly all of its time copying into the page cache: its own processor is the limit, whatever
/// the storage could take. Unlike [`buffered_far_below_direct`] this needs no direct phase to compare with.
pub fn buffered_write_by_processor(run: &Run) -> Check {
    /// Share of each writing thread's time in the kernel.
    const NEARLY_ALL: f64 = 0.8;
    /// A direct rate that is no better clears it.
    const NO_GAIN: f64 = 1.1;
    let writes = machine::executed(run).filter(|(p, _)| {
        p.plan.access == Access::Buffered
            && !p.plan.streams.is_empty()
            && p.plan.streams.iter().all(|s| s.block().operation == Operation::Write)
            && machine::standing(run, &p.plan.name).is_some()
    });
    let busiest = writes
        .filter_map(|(p, r)| machine::own_share(p, r).map(|(_, system)| (&p.plan.name, system)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((phase, system)) = busiest else {
        return if run.target.kind == TargetKind::Null {
            Ok(None)
        } else {
            Err(Missing(Work::BufferedWrite.throughput()))
        };
    };
    let id = machine::throughput_id(phase);
    let ratio = machine::direct_rate(run, Work::SequentialWrite).zip(machine::value(run, &id)).map(|(d, b)| d / b);
    if system < NEARLY_ALL || ratio.is_some_and(|r| r < NO_GAIN) {
        return Ok(None);
    }
    let share =
        Evidence::measurement("own system CPU share", crate::phrase::rounded(system), format!("{phase} getrusage"));
    let rate = machine::value(run, &id)
        .map(|v| Evidence::measurement("buffered write, bytes per second", crate::phrase::rounded(v), id.clone()));
    Ok(Some(Case::seen(std::iter::once(share).chain(rate)).at_most(Confidence::Probable).gain(
        &id,
        ratio,
        "direct over buffered write of this run",
    )))
}

/// A device that took writes into a fast cache first, and then fell.
pub fn write_cache_exhausted(run: &Run) -> Check {
    let Some((phase, record)) = machine::doing(run, Work::SequentialWrite) else {
        return Err(Missing(Work::SequentialWrite.throughput()));
    };
    let Some(fall) = crate::series::fall(record) else { return Ok(None) };
    // Throttling at the same time explains the fall better.
    let throttled = run.samples_of(phase).iter().any(|s| s.throttle.raspberry_pi_bits.is_some_and(|b| b & 0xf != 0));
    if throttled {
        return Ok(None);
    }
    let rates = vec![crate::phrase::rounded(fall.before), crate::phrase::rounded(fall.after)];
    let source = format!("{} series, fall at {}", phase.plan.name, crate::phrase::seconds(fall.at_ns));
    let seen = Evidence::measurement("write rate before and after, bytes per second", rates, source);
    Ok(Some(Case::seen([seen]).at_most(Confidence::Probable)))
}
