//! What copies of a region cost, from the rates that a run measured.

use model::{AccessCost, CallCost, CopyMethod, CopyReport, CopyRow, Reason, Run};
use stats::{size_fit, step_fit};

/// What lies beside the accesses and is less than this share of the widest one's time is within the error of the rates: nothing is
/// said of it.
const MIN_BESIDE: f64 = 0.05;
/// A fit that misses a measured time by more than this share of it implies nothing: caches, or a machine that was busy.
const LOOSE_FIT: f64 = 0.25;

/// The rows of a run's copies, and what they imply.
pub fn copy_report(run: &Run) -> CopyReport {
    let mut rows: Vec<CopyRow> = run.phases.iter().filter_map(CopyRow::of).collect();
    for (row, phase) in rows.iter_mut().zip(run.phases.iter().filter(|p| CopyRow::of(p).is_some())) {
        let missing = phase.record.iter().flat_map(|r| r.engine.missing.iter().map(Reason::uncoded));
        row.reasons.extend(missing.collect::<Vec<_>>());
    }
    let costs = costs(&rows);
    let calls = calls(&rows, &costs);
    let bytes: Vec<Option<f64>> = rows.iter().map(|row| byte_rate(&rows, row)).collect();
    for (row, byte) in rows.iter_mut().zip(bytes) {
        row.ratio_to_byte = row.bytes_per_s.zip(byte).map(|(rate, byte)| rate / byte);
    }
    CopyReport { rows, costs, calls }
}

/// The rate of single bytes on the same bytes in the same direction.
fn byte_rate(rows: &[CopyRow], of: &CopyRow) -> Option<f64> {
    let same = |r: &&CopyRow| alike(r, of) && r.plan.copy_by == CopyMethod::Plain(1);
    rows.iter().find(same)?.bytes_per_s.filter(|rate| *rate > 0.0)
}

fn alike(a: &CopyRow, b: &CopyRow) -> bool {
    (a.plan.copy_writes, a.plan.copy_set_bytes) == (b.plan.copy_writes, b.plan.copy_set_bytes)
}

fn costs(rows: &[CopyRow]) -> Vec<AccessCost> {
    let mut costs: Vec<AccessCost> = Vec::new();
    for first in rows.iter().filter(|r| r.plain_bytes().is_some()) {
        let key = |c: &AccessCost| (c.writes, c.set_bytes) == (first.plan.copy_writes, first.plan.copy_set_bytes);
        if costs.iter().any(key) {
            continue;
        }
        let of_it = rows.iter().filter(|r| alike(r, first));
        let points: Vec<(f64, f64)> =
            of_it.filter_map(|r| Some((f64::from(r.plain_bytes()?), r.ns_per_byte()?))).collect();
        let holds = |worst: f64| points.len() > 2 && worst <= LOOSE_FIT;
        let Some(fit) = step_fit(&points).filter(|fit| holds(fit.worst_residual_ratio)) else { continue };
        costs.push(AccessCost {
            writes: first.plan.copy_writes,
            set_bytes: first.plan.copy_set_bytes,
            access_ns: fit.step,
            burst_bytes_per_s: (fit.unit > fit.step / fit.widest * MIN_BESIDE).then(|| 1e9 / fit.unit),
            width_bytes: fit.widest as u32,
            or_wider: fit.is_last,
            worst_residual_ratio: fit.worst_residual_ratio,
        });
    }
    costs
}

fn calls(rows: &[CopyRow], costs: &[AccessCost]) -> Option<CallCost> {
    let of_it = rows.iter().filter(|r| r.plan.copy_by == CopyMethod::Call && !r.plan.copy_writes);
    let points: Vec<(f64, f64)> = of_it
        .filter_map(|r| Some((f64::from(r.plan.copy_bytes), r.ns_per_byte()? * f64::from(r.plan.copy_bytes))))
        .collect();
    let fit = size_fit(&points)?;
    let ns_per_byte = 1.0 / fit.bandwidth;
    let cost = costs.iter().find(|c| !c.writes && c.set_bytes == 0);
    let implied = cost.and_then(|cost| {
        let beside = cost.burst_bytes_per_s.map_or(0.0, |rate| 1e9 / rate);
        let width = cost.access_ns / (ns_per_byte - beside);
        (width.is_finite() && width > 0.0).then(|| width.min(f64::from(cost.width_bytes)))
    });
    Some(CallCost { fixed_ns: fit.fixed, bytes_per_s: ns_per_byte.recip() * 1e9, implied_width_bytes: implied })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CopyPlan;

    fn row(copy_by: CopyMethod, copy_bytes: u32, ns: f64) -> CopyRow {
        let plan = CopyPlan { copy_bytes, copy_by, ..CopyPlan::default() };
        let bytes_per_s = Some(f64::from(copy_bytes) * 1e9 / ns);
        CopyRow { phase: "x".into(), plan, bytes_per_s, ratio_to_byte: None, reasons: Vec::new() }
    }

    /// A 32-bit bus with 100 ns a transaction, copied by the kernel byte by byte: the rows of the study.
    #[test]
    fn a_kernel_that_copies_bytes_over_a_wide_bus_is_told() {
        let plain =
            [1, 2, 4, 8, 16].map(|w: u32| row(CopyMethod::Plain(w), 4096, 4096.0 / f64::from(w.min(4)) * 100.0));
        let by_size = [1024, 4096, 16384].map(|n: u32| row(CopyMethod::Call, n, 1000.0 + f64::from(n) * 100.0));
        let rows: Vec<CopyRow> = plain.into_iter().chain(by_size).collect();
        let costs = costs(&rows);
        assert_eq!((costs.len(), costs[0].width_bytes, costs[0].or_wider), (1, 4, false));
        assert!((costs[0].access_ns - 100.0).abs() < 0.1, "{costs:?}");
        let calls = calls(&rows, &costs).unwrap();
        assert!((calls.implied_width_bytes.unwrap() - 1.0).abs() < 0.01, "{calls:?}");
        assert!((calls.fixed_ns - 1000.0).abs() < 1.0);
    }
}
