//! What CrystalDiskMark copies and KDiskMark saves as text: a row for each test, MB/s of 10^6 bytes (both say so), from version 7 on
//! with operations and mean latency beside it.
//!
//! `SEQ    1MiB (Q=  8, T= 1):  3534.812 MB/s [   3371.1 IOPS] <  2370.66 us>`, `Random Read 4KiB (Q=  8,T= 8) :   403.263 MB/s`.

use super::localized::{decimal, plain};
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};

const MB: f64 = 1e6;

/// The tool, and its version, of `CrystalDiskMark 8.0.4 x64 (C) ...` or `KDiskMark (3.0.0): https://...`.
fn title(line: &str) -> Option<(&'static str, Option<String>)> {
    let line = line.trim();
    let (tool, rest) = [("crystaldiskmark", "CrystalDiskMark "), ("kdiskmark", "KDiskMark")]
        .into_iter()
        .find_map(|(tool, start)| Some((tool, line.strip_prefix(start)?)))?;
    let version = rest.trim_start().trim_start_matches('(').split([' ', ')', ':']).next().unwrap_or_default();
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    // Who copies by hand leaves the author away: `CrystalDiskMark 5.1.0 x64`.
    let is_bare = is_version && rest.split_whitespace().count() <= 3 && version.contains('.');
    let is_title = rest.contains("(C)") || rest.contains("hiyohiyo") || rest.contains("://") || is_bare;
    is_title.then(|| (tool, is_version.then(|| version.to_owned())))
}

/// Whether any line is the title of one of them, or a row that no other program prints.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| title(line).is_some() || is_row_of_its_own(&plain(line)))
}

/// Names of rows before 6, without queue and threads.
const OLD_ROWS: [&str; 8] = [
    "sequential read",
    "sequential write",
    "random read 512kb",
    "random write 512kb",
    "random read 4kb",
    "random write 4kb",
    "random read 4kib",
    "random write 4kib",
];

/// Whether a line without a title above it is a row: it has one of the names of old, or says how deep the queue was and how many
/// threads there were; and its rate has three digits behind the point, as all versions print it.
fn is_row_of_its_own(line: &str) -> bool {
    let Some((name, rest)) = row(line) else { return false };
    let (what, queue) = name.split_once('(').map_or((name, None), |(what, queue)| (what, Some(queue)));
    let has_queue = queue.is_some_and(|q| of_queue(q, "q").is_some() && of_queue(q, "t").is_some());
    let is_old = OLD_ROWS.contains(&what.trim().to_ascii_lowercase().as_str());
    let digits = rest.split_once("MB/s").map_or("", |(digits, _)| digits.trim());
    (has_queue || is_old)
        && digits.split(['.', ',']).nth(1).is_some_and(|d| d.len() == 3)
        && figures("", name, Some("read"), rest).is_some()
}

/// Reads all results: a run for each title. Without one a run begins with the first row, and with each row of a test that the
/// run has already: another drive.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut section = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some((tool, version)) = title(line) {
            run.take().into_iter().for_each(|r| found.push(r));
            let mut new = ImportedRun::new(tool, found.file, number);
            new.source_version = version;
            run = Some(new);
            section = None;
            // A rule stands above the title of one of them.
            let above = number.saturating_sub(1).max(1);
            if text.line(above).starts_with("----") {
                found.used(above);
            }
            found.used(number);
            continue;
        }
        let line = plain(line);
        let part = line.trim().strip_prefix('[').filter(|l| l.contains(']') && !l.contains("B/s"));
        if run.is_none() && (is_row_of_its_own(&line) || part.is_some_and(|p| is_part_of_a_result(p, text, number))) {
            run = Some(ImportedRun::new("crystaldiskmark", found.file, number));
            section = None;
        }
        let Some(open) = run.as_mut() else { continue };
        if let Some(name) = part {
            section = direction(name);
            found.used(number);
        } else if let Some((name, rest)) = row(&line) {
            let Some((test, figures)) = figures(open.source_format, name, section, rest) else {
                found.not_understood(number, "a row of results of another form");
                continue;
            };
            found.used(number);
            if open.groups.iter().any(|g| g.name == test) {
                let next = ImportedRun::new(open.source_format, found.file, number);
                found.push(std::mem::replace(open, next));
            }
            figures.into_run(open);
        } else if is_frame(&line) {
            found.used(number);
            if let Some(test) = line.trim().strip_prefix("Test") {
                open.remark(format!("test file and target: {}", test.trim_start_matches([' ', ':'])));
            }
        }
    }
    run.into_iter().for_each(|r| found.push(r));
}

/// Whether `[Read]` has a row of results below it.
fn is_part_of_a_result(part: &str, text: &Text, number: usize) -> bool {
    direction(part).is_some() && is_row_of_its_own(&plain(text.line(number + 1)))
}

fn direction(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    ["read", "write", "mix"].into_iter().find(|d| name.starts_with(d))
}

/// Name and figures of a row.
fn row(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(':')?;
    (rest.contains("MB/s") && !line.trim_start().starts_with('*')).then(|| (name.trim(), rest.trim()))
}

/// Lines around the results.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    let starts =
        ["* ", "--", "Crystal Dew World", "Flexible I/O Tester", "Profile", "Test", "Mode", "Time", "Date", "OS"];
    let labelled =
        |s: &&str| line.strip_prefix(*s).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    starts.iter().any(|s| if s.ends_with(' ') || *s == "--" { line.starts_with(s) } else { labelled(s) })
}

/// The name of the test, and its figures.
fn figures(tool: &str, name: &str, section: Option<&str>, rest: &str) -> Option<(String, TestFigures)> {
    let (what, queue) = name.split_once('(').map_or((name, None), |(what, queue)| (what.trim(), Some(queue)));
    let lower = what.to_ascii_lowercase();
    let kind = if lower.starts_with("seq") {
        "seq"
    } else if lower.starts_with("r") {
        "rnd"
    } else {
        return None;
    };
    let section = section.or_else(|| ["read", "write"].into_iter().find(|d| lower.contains(d)))?;
    let mut test = format!("{tool}.{kind}{}", block(&lower).unwrap_or_default());
    for (mark, letter) in [("q", 'q'), ("t", 't')] {
        let Some(count) = queue.and_then(|q| of_queue(q, mark)) else { continue };
        test += &format!("{}{letter}{count}", if letter == 'q' { "-" } else { "" });
    }
    let test = format!("{test}.{section}");
    let (megabytes, more) = rest.split_once("MB/s")?;
    let digits = megabytes.trim();
    let rate = decimal(digits)?;
    let between = |open: char, unit: &str| -> Option<(f64, &str)> {
        let digits = more.split_once(open)?.1.split_once(unit)?.0.trim();
        Some((decimal(digits)?, digits))
    };
    // A test that was left out stands there with zeros.
    let mut figures = TestFigures::of(test.as_str()).rate(Some(rate * MB), digits, "MB/s");
    if let Some((iops, digits)) = between('[', "IOPS") {
        figures = figures.iops(Some(iops), digits);
    }
    if let Some((us, digits)) = between('<', "us") {
        figures = figures.latency("mean", Some(us * 1e3), digits, "us");
    }
    Some((test, figures))
}

/// `1m` of `seq 1mib`, `4k` of `random read 4kib` and of `random read 4kb`.
fn block(what: &str) -> Option<String> {
    let at = what.find(|c: char| c.is_ascii_digit())?;
    let digits: String = what[at..].chars().take_while(char::is_ascii_digit).collect();
    let unit = what[at + digits.len()..].trim_start().chars().next().filter(|c| matches!(c, 'k' | 'm' | 'g'))?;
    Some(format!("{digits}{unit}"))
}

/// The number after `Q=` or `T=` (before 5, queue depths are `QD=`).
fn of_queue(queue: &str, mark: &str) -> Option<u32> {
    let lower = queue.to_ascii_lowercase();
    let names = if mark == "q" { ["q=", "qd="] } else { ["t=", "t="] };
    let rest = names.iter().find_map(|name| Some(lower.split_once(name)?.1))?;
    rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
