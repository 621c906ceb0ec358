//! iozone's output: its banner and settings, then a table, an Excel-style report, or the sums of throughput mode.
//!
//! iozone's kB are 1024 bytes. A rate of 0 is a test that did not run.

use super::iozone_session::{Mode, Session};
use super::{Found, Text, iozone_report, iozone_table};
use model::RunState;

const BANNER: &str = "Iozone: Performance Test of File I/O";

/// Whether there is anything of iozone in the text.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| {
        line.contains(BANNER)
            || iozone_table::is_heading(line)
            || iozone_report::operation(line).is_some()
            || children(line).is_some()
    })
}

/// Reads all sessions.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut session: Option<Session> = None;
    let mut table: Option<iozone_table::Heading> = None;
    let mut report: Option<iozone_report::Report> = None;
    // Between the banner and the first results every line is iozone's.
    let mut in_settings = false;
    for (number, line) in text.lines() {
        if found.is_used(number) || line.trim().is_empty() {
            continue;
        }
        let text_of = line.trim();
        if text_of.contains(BANNER) || text_of.starts_with("Run began:") && !in_settings {
            if let Some(done) = session.take() {
                done.finish(found);
            }
            (table, report, in_settings) = (None, None, true);
            session = Some(Session::new(found.file, number));
            found.used(number);
            continue;
        }
        let starts_here =
            iozone_table::is_heading(line) || iozone_report::operation(line).is_some() || children(line).is_some();
        if session.is_none() && starts_here {
            session = Some(Session::new(found.file, number));
        }
        let Some(session) = session.as_mut() else { continue };
        if let Some(heading) = iozone_table::heading(line) {
            (table, report, in_settings) = (Some(heading), None, false);
            found.used(number);
        } else if let Some(operation) = iozone_report::operation(line) {
            (table, report, in_settings) = (None, Some(iozone_report::Report::new(operation)), false);
            found.used(number);
        } else if let Some((operation, value, unit)) = children(line) {
            in_settings = false;
            throughput(session, number, (&operation, value, unit), found);
        } else if session.setting(line) {
            found.used(number);
        } else if let Some(report) = report.as_mut().filter(|_| text_of.starts_with('"')) {
            report.row(session, number, line, found);
        } else if let Some(heading) = table.as_ref().filter(|_| iozone_table::is_row(line)) {
            heading.row(session, number, line, found);
        } else if text_of.starts_with("iozone: interrupted") {
            session.run.state = RunState::Interrupted;
            session.run.remark("iozone was interrupted");
            found.used(number);
        } else if in_settings || is_frame(text_of) {
            found.used(number);
        }
    }
    if let Some(session) = session {
        session.finish(found);
    }
}

/// Lines around results that carry none themselves. What the parent saw includes the start of the processes, and the rest
/// is the same once more per process.
fn is_frame(line: &str) -> bool {
    const STARTS: [&str; 9] = [
        "Parent sees throughput for",
        "Min throughput per",
        "Max throughput per",
        "Avg throughput per",
        "Min xfer",
        "iozone test complete",
        "exiting iozone",
        "Excel output is below",
        "Excel chart generation",
    ];
    STARTS.iter().any(|s| line.starts_with(s))
        || line.contains("random") && line.contains("bkwd") && line.contains("stride")
}

/// `Children see throughput for  4 initial writers  =  1074.97 kB/sec`.
fn children(line: &str) -> Option<(String, &str, &str)> {
    let rest = line.trim().strip_prefix("Children see throughput for")?;
    let (what, right) = rest.split_once('=')?;
    let mut words = what.split_whitespace();
    words.next().filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
    let operation: Vec<&str> = words.collect();
    let mut cells = right.split_whitespace();
    Some((operation.join("-"), cells.next()?, cells.next()?))
}

fn throughput(session: &mut Session, number: usize, (operation, value, unit): (&str, &str, &str), found: &mut Found) {
    session.mode = match unit.to_ascii_lowercase().as_str() {
        "kb/sec" | "kbytes/sec" => Mode::KibPerS,
        "ops/sec" => Mode::OpsPerS,
        "microseconds/op" | "usec/op" => Mode::MicrosPerOp,
        _ => {
            found.not_understood(number, format!("the unit {unit} is not known"));
            return;
        }
    };
    session.has_unit = true;
    if session.has("", operation) {
        session.split(number, found);
    }
    if session.add("", operation, session.record_kib, value) {
        found.used(number);
    } else {
        found.not_understood(number, format!("'{value}' is not a rate"));
    }
}
