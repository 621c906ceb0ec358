//! fio's outputs: JSON and JSON+ of one machine or of clients, terse lines, and the text for people, of fio 1 to 3.
//!
//! All of them in one file, also mixed with what a terminal showed. The forms are read one after another, the exact ones
//! first; an execution that was printed in several forms, twice, or again and again while it went on, is one run.

mod amount;
mod duplicates;
mod job;
mod json;
mod lines;
mod normal;
mod report;
mod snapshots;
mod terse;
mod tree;

use super::{Found, Text};
use model::CompactSort as _;
use report::Report;

/// Whether anything in the text may be of fio.
pub(super) fn detect(text: &Text) -> bool {
    let all = text.all();
    ["\"fio version\"", "\"jobname\"", ";fio-", ": (groupid=", ": (g=", "Run status group"]
        .iter()
        .any(|s| all.contains(s))
        || text.lines().any(|(_, l)| {
            l.starts_with("2;") && l.matches(";").count() > 100
                || lines::lone_direction(l).is_some()
                || lines::lone_group(l).is_some()
        })
}

pub(super) fn read(text: &Text, found: &mut Found) {
    let mut reports = json::read(text, found);
    reports.extend(terse::read(text, found));
    let normal = normal::read(text, found);
    reports.extend(normal.reports);
    reports.compact_sort_by_key(|r| r.first_line);
    for (line, message) in normal.messages {
        attach(&mut reports, line, message);
    }
    for report in snapshots::fold(duplicates::remove(reports)) {
        if report.has_result() {
            let run = report.into_run(found);
            found.push(run);
        } else {
            let errors =
                report.jobs.iter().filter_map(|j| Some(format!("job '{}' ended with {}", j.name, j.error.as_ref()?)));
            let mismatches = report.remarks.iter().filter(|r| r.contains("verify failed")).take(1);
            let data = mismatches.map(|r| format!("data did not come back as they were written: {r}"));
            let why: Vec<String> =
                std::iter::once("fio reported no result here".to_owned()).chain(data).chain(errors.take(3)).collect();
            found.not_understood(report.first_line, why.join("; "));
        }
    }
}

/// What fio says beside its reports comes before the report that it concerns.
fn attach(reports: &mut [Report], line: usize, message: String) {
    let next = reports.iter().position(|r| r.last_line > line);
    let Some(report) = next.or_else(|| reports.len().checked_sub(1)).and_then(|i| reports.get_mut(i)) else { return };
    report.interrupted |= message.contains("terminating on signal");
    report.remark(message);
}
