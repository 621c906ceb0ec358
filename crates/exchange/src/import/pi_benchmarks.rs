//! The table that PiBenchmarks (`Storage.sh`) prints at its end: category, test and result of hdparm, dd, fio and iozone. What
//! fio printed as KB are KiB, as are iozone's; dd's MB are of 10^6, hdparm's of 2^20.

use super::number::finite;
use super::test_figures::TestFigures;
use super::{Found, ImportedRun, Text};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// `Category                  Test                      Result`.
fn is_heading(line: &str) -> bool {
    line.split_whitespace().eq(["Category", "Test", "Result"])
}

/// Category, test and result of a row: they stand in columns with blanks between.
fn row(line: &str) -> Option<(&str, String, String)> {
    let mut cells = line.trim().split("  ").map(str::trim).filter(|c| !c.is_empty());
    let (category, test, result) = (cells.next()?, cells.next()?, cells.next()?);
    let known = ["HDParm", "DD", "FIO", "IOZone"].contains(&category);
    (known && cells.next().is_none()).then(|| (category, test.to_owned(), result.to_owned()))
}

/// Whether there is a heading with a row of it below.
pub(super) fn detect(text: &Text) -> bool {
    text.lines()
        .any(|(number, line)| is_heading(line) && text.lines_from(number + 1).take(3).any(|(_, l)| row(l).is_some()))
}

/// Reads all tables: a run each.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if is_heading(line) {
            run.take().into_iter().for_each(|r| push(r, found));
            let mut new = ImportedRun::new("pibenchmarks", found.file, number);
            new.remark("disk reads of hdparm were served from the page cache; dd wrote with conv=fsync");
            run = Some(new);
            found.used(number);
            continue;
        }
        let Some(run) = run.as_mut() else { continue };
        if let Some((category, test, result)) = row(line) {
            match figures(category, &test, &result) {
                Some(figures) => {
                    figures.into_run(run);
                    found.used(number);
                }
                None => found.not_understood(number, "a result of PiBenchmarks of another form"),
            }
        } else if line.trim().starts_with("-----") || line.trim().starts_with("Score:") {
            found.used(number);
        }
    }
    run.into_iter().for_each(|r| push(r, found));
}

fn push(run: ImportedRun, found: &mut Found) {
    if run.groups.is_empty() {
        found.not_understood(run.first_line, "no result of PiBenchmarks follows");
    } else {
        found.push(run);
    }
}

fn figures(category: &str, test: &str, result: &str) -> Option<TestFigures> {
    let name =
        format!("pibenchmarks.{}.{}", category.to_ascii_lowercase(), test.to_ascii_lowercase().replace(' ', "-"));
    let of = TestFigures::of(name);
    // `2807 IOPS (11228 KB/s)`.
    if let Some((iops, rest)) = result.split_once(" IOPS") {
        let iops_value = finite(iops)?;
        let kib = rest.trim().strip_prefix('(').and_then(|r| r.strip_suffix("KB/s)")).map(str::trim);
        let rate = kib.and_then(finite).map(|v| v * KIB);
        // Both are of one block size, 4 KiB.
        let agrees = rate.is_none_or(|r| (r / 4096.0 - iops_value).abs() <= 0.05 * iops_value + 2.0);
        return agrees.then(|| of.iops(Some(iops_value), iops).rate(rate, kib.unwrap_or_default(), "KB/s"));
    }
    let (digits, unit) = result.split_once(' ')?;
    let scale = match (category, unit.trim()) {
        (_, "KB/s" | "kB/s") => KIB,
        ("DD", "MB/s") => 1e6,
        ("DD", "GB/s") => 1e9,
        (_, "MB/s" | "MB/sec") => MIB,
        (_, "GB/s") => MIB * KIB,
        _ => return None,
    };
    Some(of.rate(Some(finite(digits)? * scale), digits, unit.trim()))
}
