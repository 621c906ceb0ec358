//! One execution printed twice: the same document twice in a capture, or text, JSON and terse lines of the same run.

use super::job::{Direction, FioJob};
use super::report::Report;
use model::CompactSort as _;
use std::collections::BTreeMap;

/// Reports of jobs of one name among which a twin is looked for, the last ones first: a file may hold tens of thousands.
const MAX_LOOKED_AT: usize = 1000;

/// Keeps each execution once, in its most exact form, with a remark on the others.
pub(super) fn remove(reports: Vec<Report>) -> Vec<Report> {
    let mut kept: Vec<Report> = Vec::new();
    // Places in `kept` of what has a result, by the name of the first job.
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut order = reports;
    order.compact_sort_by_key(|r| (exactness(r.format), r.first_line));
    for report in order {
        if !report.has_result() {
            kept.push(report);
            continue;
        }
        let name = report.jobs.first().map(|j| j.name.clone()).unwrap_or_default();
        let places = by_name.entry(name).or_default();
        let twin = places.iter().rev().take(MAX_LOOKED_AT).copied().find(|place| same(&kept[*place], &report));
        match twin.map(|place| &mut kept[place]) {
            Some(twin) => {
                twin.interrupted |= report.interrupted;
                twin.remark(format!(
                    "printed again from line {} on ({}); it is one run",
                    report.first_line, report.format
                ));
                for remark in report.remarks {
                    if !twin.remarks.contains(&remark) {
                        twin.remark(remark);
                    }
                }
            }
            None => {
                places.push(kept.len());
                kept.push(report);
            }
        }
    }
    kept.compact_sort_by_key(|r| r.first_line);
    kept
}

/// The most exact form first.
fn exactness(format: &str) -> u8 {
    match format {
        "fio-json" => 0,
        "fio-terse" => 1,
        _ => 2,
    }
}

fn same(a: &Report, b: &Report) -> bool {
    let one_form = a.format == b.format;
    // Two executions never agree in every digit of every latency; printings of one do.
    let tolerance = if one_form { 0.0 } else { 0.02 };
    let times_agree = !one_form || (a.started == b.started && a.local_time == b.local_time);
    times_agree
        && a.truncated == b.truncated
        && a.jobs.len() == b.jobs.len()
        && a.version.as_ref().zip(b.version.as_ref()).is_none_or(|(a, b)| a == b)
        && a.jobs.iter().zip(&b.jobs).all(|(a, b)| same_job(a, b, tolerance))
}

fn same_job(a: &FioJob, b: &FioJob, tolerance: f64) -> bool {
    fn used(j: &FioJob) -> Vec<&Direction> {
        j.directions.iter().filter(|d| d.is_used() && d.name != "sync").collect()
    }
    let (da, db) = (used(a), used(b));
    a.name == b.name
        // Only the JSON says which client a job is of.
        && a.host.as_ref().zip(b.host.as_ref()).is_none_or(|(a, b)| a == b)
        && da.len() == db.len()
        && da.iter().zip(&db).all(|(a, b)| same_direction(a, b, tolerance))
}

fn same_direction(a: &Direction, b: &Direction, tolerance: f64) -> bool {
    let near = |a: f64, b: f64, slack: f64| (a - b).abs() <= tolerance * a.abs().max(b.abs()) + slack;
    let pairs = [
        (&a.iops, &b.iops, 1.0),
        (&a.throughput, &b.throughput, 1024.0),
        (&a.completion.mean, &b.completion.mean, 1e3),
        (&a.total.mean, &b.total.mean, 1e3),
        (&a.total.max, &b.total.max, 1e3),
    ];
    let runtimes = a.runtime_ns.zip(b.runtime_ns).is_none_or(|(a, b)| near(a, b, 0.0));
    let counts = a.operations == 0 || b.operations == 0 || a.operations == b.operations;
    a.name == b.name
        && runtimes
        && counts
        && pairs.iter().all(|(a, b, slack)| {
            let slack = if tolerance == 0.0 { 0.0 } else { *slack };
            a.as_ref().zip(b.as_ref()).is_none_or(|(a, b)| near(a.value, b.value, slack))
        })
}
