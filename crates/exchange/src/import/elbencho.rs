//! What `elbencho` prints of each phase: the rates when the first thread was done and those when the last one was. Those of the
//! last are taken; they are of all that was done. The layout of Statistics.cpp: phase and result type at fixed columns.

use super::localized::decimal;
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};

const MIB: f64 = 1_048_576.0;
/// How far bytes over time may be from the rate beside them: MiB are printed whole.
const AGREES: f64 = 0.05;

/// The heading of the table.
fn is_heading(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words == ["OPERATION", "RESULT", "TYPE", "FIRST", "DONE", "LAST", "DONE"]
}

/// A row: phase (blank in all rows but the first), label, and what stands behind the colon.
fn row(line: &str) -> Option<(&str, &str, &str)> {
    let (left, right) = line.split_once(" :")?;
    let left = left.trim_end();
    let start = [
        "Elapsed time",
        "IOPS",
        "Throughput",
        "Total",
        "MiB",
        "MB/s",
        "IO",
        "Files",
        "Dirs",
        "Ent",
        "File",
        "Dir",
        "CPU",
        "Time",
        "Entries",
        "Svc",
    ]
    .iter()
    .filter_map(|label| left.find(label))
    .min()?;
    let phase = left[..start].trim();
    let is_phase = phase.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    is_phase.then_some((phase, left[start..].trim(), right.trim()))
}

/// Whether there is a table, or the first row of one with both of its times.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| is_heading(line) || opens(line).is_some())
}

/// The phase that a line opens, with the time that it took, seconds.
fn opens(line: &str) -> Option<(&str, f64)> {
    let (phase, label, values) = row(line)?;
    let mut times = values.split_whitespace();
    let (_, last) = (seconds(times.next()?)?, seconds(times.next()?)?);
    (label == "Elapsed time" && !phase.is_empty() && times.next().is_none()).then_some((phase, last))
}

/// `8.192s`, `1m23.456s`, `512ms`, `1h2m3s`.
fn seconds(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let value = decimal(&rest[..at])?;
        let behind = &rest[at..];
        let unit = &behind[..behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len())];
        total += value
            * match unit {
                "us" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &behind[unit.len()..];
    }
    (!text.is_empty()).then_some(total)
}

/// Nanoseconds of `12us`, `1.5ms`, `2s`.
fn latency(text: &str) -> Option<f64> {
    seconds(text).map(|s| s * 1e9)
}

struct Phase {
    name: String,
    seconds: f64,
    first_line: usize,
    rows: Vec<(String, String)>,
}

/// Reads all phases: those of one table are a run.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut phase: Option<Phase> = None;
    let mut command: Option<(usize, &str)> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some(at) = line.find("elbencho ").filter(|at| line[at + 9..].trim_start().starts_with('-')) {
            command = Some((number, line[at..].trim()));
        }
        if is_heading(line) {
            close(&mut run, phase.take(), found);
            run.take().into_iter().for_each(|r| push(r, found));
            let known = command.take();
            let mut new = ImportedRun::new("elbencho", found.file, known.map_or(number, |(at, _)| at));
            if let Some((at, command)) = known {
                found.used(at);
                described(&mut new, command);
            }
            run = Some(new);
            found.used(number);
        } else if let Some((name, seconds)) = opens(line) {
            close(&mut run, phase.take(), found);
            run.get_or_insert_with(|| ImportedRun::new("elbencho", found.file, number));
            phase = Some(Phase { name: name.to_owned(), seconds, first_line: number, rows: Vec::new() });
            found.used(number);
        } else if let Some((phase, ("", label, values))) = phase.as_mut().zip(row(line)) {
            phase.rows.push((label.to_owned(), values.to_owned()));
            found.used(number);
        } else if run.is_some() && (line.trim() == "---" || line.starts_with("====")) {
            found.used(number);
        }
    }
    close(&mut run, phase, found);
    run.into_iter().for_each(|r| push(r, found));
}

fn push(run: ImportedRun, found: &mut Found) {
    if run.groups.is_empty() {
        found.not_understood(run.first_line, "no phase of elbencho with a rate follows");
    } else {
        found.push(run);
    }
}

/// What the command says of the measurement.
pub(super) fn described(run: &mut ImportedRun, command: &str) {
    run.remark(format!("command: {command}"));
    let words: Vec<&str> = command.split_whitespace().map(|w| w.trim_matches('"')).collect();
    let direct = words.contains(&"--direct");
    run.is_direct = Some(direct);
    run.target = words.last().filter(|w| w.contains('/')).map(|w| (*w).to_owned());
    if let Some(target) = &run.target {
        run.name.clone_from(target);
    }
    if !direct {
        run.remark("without --direct these rates may be those of the page cache");
    }
}

/// The part of a name that a direction of a mix has.
fn direction(label: &str) -> &'static str {
    if label.ends_with(" read") || label.contains(" rd") {
        ".read"
    } else if label.ends_with(" write") || label.contains(" wr") {
        ".write"
    } else {
        ""
    }
}

fn close(run: &mut Option<ImportedRun>, phase: Option<Phase>, found: &mut Found) {
    let (Some(run), Some(phase)) = (run.as_mut(), phase) else { return };
    let name = phase.name.to_ascii_lowercase().replace(' ', "-");
    if let Some(why) = disagreement(&phase) {
        return found.not_understood(phase.first_line, why);
    }
    for part in ["", ".read", ".write"] {
        let mut figures = TestFigures::of(format!("{name}{part}"));
        for (label, values) in phase.rows.iter().filter(|(label, _)| direction(label) == part) {
            let last = values.split_whitespace().nth(1).unwrap_or_default();
            let value = decimal(last);
            let megabytes = if label.contains("MB/s") { 1e6 } else { MIB };
            let unit = if label.contains("MB/s") { "MB/s" } else { "MiB/s" };
            if label.starts_with("IOPS") {
                figures = figures.iops(value, last);
            } else if label.starts_with("Throughput") || label.starts_with("MiB/s") || label.starts_with("MB/s") {
                figures = figures.rate(value.map(|v| v * megabytes), last, unit);
            } else if ["Files/s", "Dirs/s", "Entries/s"].iter().any(|l| label.starts_with(l)) {
                figures = figures.files_per_s(value, last);
            } else if label.starts_with("IO") && label.contains("lat") && values.contains("avg=") {
                for (key, which) in [("min=", "min"), ("avg=", "mean"), ("max=", "max")] {
                    let printed = values.split_whitespace().find_map(|w| w.strip_prefix(key)).unwrap_or_default();
                    // Until 2.1 the unit stood in the label: `IO lat us`.
                    let ns = if label.contains(" us") { decimal(printed).map(|v| v * 1e3) } else { latency(printed) };
                    figures = figures.latency(which, ns, printed, "");
                }
            }
        }
        figures.into_run(run);
    }
    let longest = run.duration_ns.unwrap_or(0).saturating_add((phase.seconds * 1e9) as u64);
    run.duration_ns = Some(longest);
    run.remark("rates are those until the last thread was done");
}

/// Why the rate of a phase is not that of its bytes and its time, where all three were printed.
fn disagreement(phase: &Phase) -> Option<&'static str> {
    let last = |start: &str| {
        let (_, values) = phase.rows.iter().find(|(label, _)| label.starts_with(start))?;
        decimal(values.split_whitespace().nth(1)?)
    };
    let (rate, total) = (last("Throughput MiB/s")?, last("Total MiB")?);
    let counted = total / phase.seconds;
    let near = (rate - counted).abs() <= AGREES * rate.max(counted) + 1.0 + 1.0 / phase.seconds;
    (phase.seconds > 0.01 && !near).then_some("inconsistent: its MiB in its time are not the rate that it printed")
}
