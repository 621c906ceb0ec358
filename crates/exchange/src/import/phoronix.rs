//! Results of the Phoronix Test Suite: `composite.xml`, and what it prints on the terminal. Of its tests those of storage are
//! read. Their `MB/s` are MiB/s: the profiles of fio, iozone, dbench and tiobench divide by 1024.

use super::localized::decimal;
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};

const MIB: f64 = 1_048_576.0;
/// Tests of storage, by the names of their profiles.
const STORAGE: [&str; 5] = ["fio", "iozone", "dbench", "tiobench", "fs-mark"];

/// The profile of `pts/fio-2.1.0`, if it is one of storage.
fn profile(identifier: &str) -> Option<&'static str> {
    let name = identifier.trim().split('/').next_back()?;
    STORAGE.into_iter().find(|p| {
        name.strip_prefix(p).is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix('-').is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()))
        })
    })
}

/// What stands between the first `<tag>` and its end, and what comes after.
fn inner<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.split_once(&format!("</{tag}>"))
}

/// A name of a test as a part of an id.
fn slug(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

fn figures(test: String, scale: &str, printed: &str) -> Option<TestFigures> {
    let value = decimal(printed.trim()).filter(|v| *v > 0.0)?;
    let of = TestFigures::of(test);
    Some(match scale.trim() {
        "MB/s" | "MB/sec" => of.rate(Some(value * MIB), printed.trim(), "MB/s"),
        "IOPS" => of.iops(Some(value), printed.trim()),
        "Files/s" => of.files_per_s(Some(value), printed.trim()),
        _ => return None,
    })
}

/// `    pts/fio-2.1.0 [Type: Random Read - Engine: Linux AIO]`: the profile and what was asked.
fn heading(line: &str) -> Option<(&'static str, &str)> {
    let (identifier, rest) = line.trim().split_once(" [")?;
    let is_identifier = identifier.starts_with("pts/") || identifier.starts_with("local/");
    let profile = profile(identifier).filter(|_| is_identifier)?;
    Some((profile, rest.strip_suffix(']')?))
}

/// Whether there is either.
pub(super) fn detect(text: &Text) -> bool {
    text.all().contains("<PhoronixTestSuite>") || text.lines().any(|(_, line)| heading(line).is_some())
}

/// Reads `composite.xml` and the text that a terminal shows.
pub(super) fn read(text: &Text, found: &mut Found) {
    composite(text, found);
    terminal(text, found);
}

fn composite(text: &Text, found: &mut Found) {
    let all = text.all();
    let Some(start) = all.find("<PhoronixTestSuite>") else { return };
    let mut runs: Vec<ImportedRun> = Vec::new();
    let mut rest = &all[start..];
    while let Some((result, after)) = inner(rest, "Result") {
        rest = after;
        let of = |tag: &str| inner(result, tag).map_or("", |(t, _)| t);
        let Some(profile) = profile(of("Identifier")) else { continue };
        let test = format!("{profile}.{}", slug(of("Description")));
        let mut entries = of("Data");
        while let Some((entry, more)) = inner(entries, "Entry") {
            entries = more;
            let value = inner(entry, "Value").map_or("", |(t, _)| t);
            let system = inner(entry, "Identifier").map_or("", |(t, _)| t);
            let Some(figures) = figures(test.clone(), of("Scale"), value) else { continue };
            let at = runs.iter().position(|r| r.name == system).unwrap_or_else(|| {
                let mut run = ImportedRun::new("phoronix", system, text.line_at(start));
                run.remark("MB/s of these tests are MiB/s; each is the mean of several executions");
                runs.push(run);
                runs.len() - 1
            });
            figures.into_run(&mut runs[at]);
        }
    }
    let (first, last) = (text.line_at(start), text.line_at(all.len().saturating_sub(1)));
    if runs.is_empty() {
        return found.not_understood(first, "no test of storage among these results");
    }
    found.used_range(1, last);
    runs.into_iter().for_each(|r| found.push(r));
}

/// Of the terminal: a heading, and the mean below it.
fn terminal(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut open: Option<(usize, String)> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some((profile, asked)) = heading(line) {
            open = Some((number, format!("{profile}.{}", slug(asked))));
            found.used(number);
            continue;
        }
        let Some((first, test)) = open.as_ref() else { continue };
        let trimmed = line.trim();
        if let Some((digits, scale)) = trimmed.strip_prefix("Average: ").and_then(|m| m.split_once(' ')) {
            if let Some(figures) = figures(test.clone(), scale, digits) {
                let run = run.get_or_insert_with(|| ImportedRun::new("phoronix", found.file, *first));
                figures.into_run(run);
                run.remark("MB/s of these tests are MiB/s; each is the mean of several executions");
                found.used(number);
            } else {
                found.not_understood(number, "the unit of this mean is none of storage");
            }
        } else if ["Deviation:", "Test ", "Estimated ", "Started Run", "Running ", "Type:", "Samples:"]
            .iter()
            .any(|f| trimmed.starts_with(f))
            || decimal(trimmed).is_some()
        {
            found.used(number);
        }
    }
    run.into_iter().for_each(|r| found.push(r));
}
