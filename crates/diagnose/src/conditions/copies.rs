//! Copies of a device's memory by a processor, as a run of copies shows them.

use super::{Decision, Match, NoCase::DoesNotHold, exclude, require};
use crate::copies::copy_report;
use crate::machine;
use crate::stack_view::Facts;
use crate::subject::Subject;
use model::facts as names;
use model::{CallCost, Confidence, CopyMethod, CopyRow, Evidence, PhaseRun};

/// The study saw 7.27 s of system time in 7.27 s; a device that is waited for leaves most of it idle.
const ALL_SYSTEM: f64 = 0.9;
/// A width below this share of the bus's is narrower, and no error of the fit.
const NARROWER: f64 = 0.75;
/// Parallel NOR flash answers within 150 ns (data sheets of the CFI parts say 70 to 150 ns). Twice as long for a word of the bus is more
/// than one access of it.
const LONGEST_ACCESS_NS: f64 = 300.0;
const PAGE_BYTES: f64 = 4096.0;

/// The kernel copies a device by accesses that are narrower than its bus: its thread is in the kernel all the time, the rate does not
/// depend on the size of the call above a page, and an access at the bus's width would bring more at a time.
pub fn kernel_copies_narrowly(on: &Subject<'_>) -> Decision {
    let run = on.run.ok_or(DoesNotHold)?;
    let report = copy_report(run);
    let calls = report.calls.ok_or(DoesNotHold)?;
    // A call's own time must not be what is measured.
    exclude(calls.fixed_ns * calls.bytes_per_s / 1e9 > PAGE_BYTES)?;
    let is_call = |p: &&PhaseRun| CopyRow::of(p).is_some_and(|row| row.plan.copy_by == CopyMethod::Call);
    let measured = run.phases.iter().filter(is_call).filter_map(|p| Some((p, p.record.as_ref()?)));
    let shares = measured.filter_map(|(p, r)| Some((&p.plan.name, machine::own_system_for_certain(run, p, r)?)));
    let busiest = shares.max_by(|a, b| a.1.total_cmp(&b.1));
    let (phase, system) = busiest.filter(|(_, system)| *system >= ALL_SYSTEM).ok_or(DoesNotHold)?;
    let cost = report.costs.iter().find(|c| !c.writes && c.set_bytes == 0);
    let seen = |more: Vec<Evidence>| {
        let common = [
            Evidence::measured("own system CPU share", system, format!("{phase} getrusage")),
            Evidence::measured("rate of the kernel's copy, bytes per second", calls.bytes_per_s, "calls by size"),
        ];
        Match::observed(common.into_iter().chain(more)).at_most(Confidence::Probable)
    };
    if let (Some(cost), Some(width)) = (cost, calls.implied_width_bytes) {
        exclude(width >= f64::from(cost.width_bytes) * NARROWER)?;
        let best = report.rows.iter().filter(|r| r.plain_bytes() == Some(cost.width_bytes) && !r.plan.copy_writes);
        let best = best.filter_map(|r| r.bytes_per_s).fold(0.0, f64::max);
        let evidence = vec![
            Evidence::measured("width of the kernel's accesses, bytes", width, "cost of an access, by widths"),
            Evidence::measurement(
                "width of the bus, bytes",
                f64::from(cost.width_bytes),
                "cost of an access, by widths",
            ),
            Evidence::measured("time of an access, ns", cost.access_ns, "cost of an access, by widths"),
        ];
        let basis = format!("copies by accesses of {} bytes, measured beside", cost.width_bytes);
        return Ok(seen(evidence).gain("copy rate", Some(best / calls.bytes_per_s), basis));
    }
    by_declared_width(on, calls, &seen)
}

/// Where the device can be reached by calls alone: by the width that its map declares, and what such flash takes for an access.
fn by_declared_width(on: &Subject<'_>, calls: CallCost, seen: &dyn Fn(Vec<Evidence>) -> Match) -> Decision {
    super::any_disk_of(on, "mtd", |path| {
        require(path.disk.need_text(names::MTD_TYPE)? == "nor")?;
        let width = path.disk.need_int(names::MTD_BANK_WIDTH_BYTES)?;
        let word_ns = 1e9 / calls.bytes_per_s * width as f64;
        exclude(width < 2 || word_ns < LONGEST_ACCESS_NS)?;
        let word = Evidence::measured("time of a word of the bus, ns", word_ns, "calls by size");
        let facts = [path.disk.evidence(names::MTD_TYPE), path.disk.evidence(names::MTD_BANK_WIDTH_BYTES), word];
        Ok(seen(facts.into()))
    })
}
