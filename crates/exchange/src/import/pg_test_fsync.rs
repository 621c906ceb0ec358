//! What PostgreSQL's `pg_test_fsync` prints: how often a second a write is durable, by each way of syncing it, one after the other
//! (postgres: src/bin/pg_test_fsync/pg_test_fsync.c; `ops/sec`, since 9.3 with `usecs/op` beside it).

use super::localized::decimal;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Reason, Unit};

/// What stands above the figures of a test, and what the test is called here.
const TESTS: [(&str, &str); 5] = [
    ("Compare file sync methods using one ", "one_write"),
    ("Compare file sync methods using two ", "two_writes"),
    ("Compare open_sync with different write sizes", "sizes"),
    ("Test if fsync on non-write file descriptor is honored", "descriptors"),
    ("Non-sync'ed ", NOT_SYNCED),
];
const NOT_SYNCED: &str = "not_synced";

fn test(line: &str) -> Option<&'static str> {
    TESTS.iter().find(|(above, _)| line.trim_start().starts_with(above)).map(|(_, test)| *test)
}

/// What frames the figures: how long, whether direct I/O is there, what a test is for, ways that this system does not have.
fn is_frame(line: &str) -> bool {
    let line = line.trim();
    let ends = [" seconds per test", " second per test", " n/a", " n/a*"];
    let starts =
        ["O_DIRECT supported on", "Direct I/O is not supported on", "* This file system and its mount options"];
    let explains = ["(in ", "(This is designed to", "open_sync sizes.)", "(If the times are similar", "descriptor.)"];
    ends.iter().any(|end| line.ends_with(end)) || starts.iter().chain(&explains).any(|start| line.starts_with(start))
}

/// Whether a test of the sync methods is there.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| test(line) == Some("one_write"))
}

/// Reads all of them: a run for each time that the methods are compared anew.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut of: Option<&str> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some(test) = test(line) {
            if test == "one_write" || run.is_none() {
                run.take().into_iter().for_each(|run| found.push(run));
                let mut new = ImportedRun::new("pg_test_fsync", found.file, number);
                new.remark("one operation after the other, each durable before the next but for those without a sync");
                run = Some(new);
            }
            if text.lines().skip_while(|(n, _)| *n <= number).find_map(|(_, l)| figures(test, l)).is_none() {
                found.not_understood(number, "no rate follows");
            } else {
                found.used(number);
            }
            of = Some(test);
            continue;
        }
        if is_frame(line) {
            found.used(number);
            continue;
        }
        let Some((run, (name, metrics))) = run.as_mut().zip(of.and_then(|test| figures(test, line))) else { continue };
        found.used(number);
        run.push(name, metrics);
    }
    run.into_iter().filter(|run| !run.groups.is_empty()).for_each(|run| found.push(run));
}

/// Of `fdatasync   298.417 ops/sec    3351 usecs/op` what it is of, and its rate and time.
fn figures(test: &str, line: &str) -> Option<(String, Vec<ImportedMetric>)> {
    let (left, right) = line.split_once(" ops/sec")?;
    let (method, rate) = left.trim_end().rsplit_once(' ')?;
    let name = format!("pg_test_fsync.{test}.{}", id_of(method));
    let cached = || Reason::of("page-cache", "it is not synced: this is the rate of memory, not of the disk");
    let metric = |quantity, unit, better, value: Option<f64>, original| {
        let metric = ImportedMetric::new(format!("{name}.{quantity}"), unit, Some(better), value?, 1, original)?;
        Some(metric.doubted((test == NOT_SYNCED).then(cached)))
    };
    let iops = metric("iops", Unit::OpsPerS, Better::Higher, decimal(rate), Original::new(rate, "ops/sec"))?;
    let time = right.trim().strip_suffix("usecs/op").map(str::trim).and_then(|digits| {
        let ns = decimal(digits).map(|us| us * 1e3);
        metric("latency_ns_mean", Unit::Ns, Better::Lower, ns, Original::new(digits, "usecs/op"))
    });
    Some((name.clone(), std::iter::once(iops).chain(time).collect()))
}

/// `4 *  4kB open_sync writes` as part of an id: `4_4kb_open_sync_writes`.
fn id_of(method: &str) -> String {
    let words = method.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_ascii_lowercase()
}
