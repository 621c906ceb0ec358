//! What holds back the copies of a region: the kernel's width, the cost of an access, or memory itself.

use super::{Cause, CauseNature};
use crate::conditions::copies::kernel_copies_narrowly;
use crate::copies::copy_report;
use crate::phrase;
use crate::subject::Subject;
use model::{AccessCost, Confidence, CopyReport, CopyRow, Evidence, LimitLayer, Run, Step};

/// The one cause of a run that only copies a region; `None` where too few of its widths were measured.
pub fn of_region(run: &Run) -> Option<Cause> {
    let report = copy_report(run);
    let cost = report.costs.iter().find(|c| !c.writes && c.set_bytes == 0);
    narrow_kernel(run, &report).or_else(|| match report.rows.iter().any(|r| r.plan.copy_set_bytes > 0) {
        true => memory(&report),
        false => cost.map(|cost| access(&report, cost)),
    })
}

/// The kernel copies by less than the bus takes.
fn narrow_kernel(run: &Run, report: &CopyReport) -> Option<Cause> {
    let case = kernel_copies_narrowly(&Subject::of_run(run)).ok()?;
    let calls = report.calls?;
    let width = calls.implied_width_bytes.map(|width| format!(" by {} at a time", bytes(width))).unwrap_or_default();
    let gain = case.gain.as_ref().and_then(|g| Some((g.at_most_ratio?, g.basis.clone())));
    let against = gain.as_ref().map_or_else(String::new, |(ratio, _)| {
        format!("; accesses as wide as the bus bring {}", phrase::rate(calls.bytes_per_s * ratio))
    });
    let statement = format!("the kernel's own copy{width}: {}{against}", phrase::rate(calls.bytes_per_s));
    let (ratio, basis) =
        gain.map_or((None, "kernel-copies-narrowly".to_owned()), |(ratio, basis)| (Some(ratio), basis));
    let cause = Cause::new(LimitLayer::Driver, CauseNature::Setting, statement)
        .with_confidence(case.confidence)
        .with_evidence(case.evidence)
        .decided_by("counting the accesses: a logic analyser, or an emulator (docs/iomem.md)");
    Some(cause.step(Step::CopyByBusWidth, ratio).based_on(basis))
}

fn bytes(width: f64) -> String {
    let rounded = (width * 100.0).round() / 100.0;
    if rounded == 1.0 { "1 byte".to_owned() } else { format!("{rounded} bytes") }
}

/// Each access costs its time, and no more are needed than the bus is narrow.
fn access(report: &CopyReport, cost: &AccessCost) -> Cause {
    let widest = format!("{}{} bit", cost.width_bytes * 8, if cost.or_wider { " or more" } else { "" });
    let best = best(report, |r| !r.plan.copy_writes);
    let rate = best.map_or_else(String::new, |(_, rate)| format!(": {} at best", phrase::rate(rate)));
    let statement = format!("the bus: an access takes {}, and is {widest} wide{rate}", phrase::time(cost.access_ns));
    let evidence = [
        Evidence::measured("time of an access, ns", cost.access_ns, "cost of an access, by widths"),
        Evidence::measurement("width of the bus, bytes", f64::from(cost.width_bytes), "cost of an access, by widths"),
    ];
    Cause::new(LimitLayer::Link, CauseNature::Path, statement)
        .with_evidence(evidence)
        .decided_by("bursts or DMA, where the device has them: they need fewer transactions")
}

/// Memory: the largest working set, which no cache holds.
fn memory(report: &CopyReport) -> Option<Cause> {
    let set = report.rows.iter().map(|r| r.plan.copy_set_bytes).max()?;
    let reads = |r: &CopyRow| !r.plan.copy_writes;
    // Rows of no set go round in all of the region.
    let (row, rate) = best(report, |r| reads(r) && r.plan.copy_set_bytes == 0)
        .or_else(|| best(report, |r| reads(r) && r.plan.copy_set_bytes == set))?;
    let statement = format!("memory itself: {} by the quickest way past the caches", phrase::rate(rate));
    let source = format!("{}.throughput_bytes_per_s", row.phase);
    let measured = Evidence::measured("rate of the quickest copy, bytes per second", rate, source);
    let cause = Cause::new(LimitLayer::Memory, CauseNature::Remainder, statement).with_confidence(Confidence::Probable);
    Some(
        cause
            .with_evidence([measured])
            .decided_by("the same on several processors at once: more together means that one of them was the limit"),
    )
}

fn best(report: &CopyReport, of: impl Fn(&CopyRow) -> bool) -> Option<(&CopyRow, f64)> {
    let rated = report.rows.iter().filter(|r| of(r)).filter_map(|r| Some((r, r.bytes_per_s?)));
    rated.max_by(|a, b| a.1.total_cmp(&b.1))
}
