//! Reports of sd-card-bench.sh: times to boot and to install, random and sequential rates. Each rate is the mean of three
//! iozone runs of 100 MiB without its spread; `MB/s` there is MiB/s (the script divides iozone's kB/s by 1024). The raw iozone
//! output that follows is read as iozone's.

use super::number::finite;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

const MIB: f64 = 1_048_576.0;
const BOOT: &str = "Average time until /etc/rc.local execution:";
const RANDOM: &str = "IOPS read/write:";
const SEQUENTIAL: &str = "Sequential:";
/// Real work, in seconds.
const WORK: [(&str, &str); 3] = [
    ("First desktop install:", "install-1"),
    ("Desktop removal time:", "removal"),
    ("Second desktop install:", "install-2"),
];

/// Whether a line is of a report.
fn is_own(line: &str) -> bool {
    let text = line.trim();
    let is_sequential = text.starts_with(SEQUENTIAL) && text.contains("MB/s read");
    text.starts_with(BOOT) || text.starts_with(RANDOM) || is_sequential || WORK.iter().any(|(w, _)| text.starts_with(w))
}

/// Whether there is a report.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| is_own(line))
}

/// Reads all reports: one ends where a line of its kind comes again.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    for (number, line) in text.lines() {
        if found.is_used(number) || !is_own(line) {
            continue;
        }
        let groups = groups(line.trim());
        let Some(groups) = groups.filter(|g| !g.is_empty()) else {
            found.not_understood(number, "a figure of sd-card-bench is missing here");
            continue;
        };
        found.used(number);
        let repeats = |r: &ImportedRun| groups.iter().any(|(name, _)| r.groups.iter().any(|g| g.name == *name));
        if run.as_ref().is_some_and(repeats) {
            run.take().into_iter().for_each(|r| found.push(r));
        }
        let file = found.file;
        let run = run.get_or_insert_with(|| ImportedRun::new("sd-card-bench", file, number));
        for (name, metric) in groups {
            run.push(name, vec![metric]);
        }
        run.remark("rates are means of three runs of iozone, without their spread");
    }
    run.into_iter().for_each(|r| found.push(r));
}

/// The figures of a line; `None` if one of them is missing.
fn groups(line: &str) -> Option<Vec<(String, ImportedMetric)>> {
    let time = |name: &str, rest: &str| {
        let (value, unit) = rest.trim().split_once(' ')?;
        let runs = rest
            .split_once('(')
            .map_or(1, |(_, list)| list.split([',', ' ', ')']).filter(|r| finite(r).is_some()).count());
        let id = format!("{name}.elapsed_s");
        let original = Original::new(value, "sec");
        let metric =
            ImportedMetric::new(id, Unit::S, Some(Better::Lower), finite(value)?, runs.max(1) as u64, original)?;
        unit.starts_with("sec").then(|| (name.to_owned(), metric))
    };
    if let Some(rest) = line.strip_prefix(BOOT) {
        return Some(vec![time("boot", rest)?]);
    }
    for (label, name) in WORK {
        if let Some(rest) = line.strip_prefix(label) {
            return Some(vec![time(name, rest)?]);
        }
    }
    if let Some(rest) = line.strip_prefix(RANDOM) {
        let mut out = Vec::new();
        for part in rest.split(',') {
            let (size, rates) = part.split_once(':')?;
            let (read, write) = rates.split_once('/')?;
            for (direction, value) in [("read", read), ("write", write)] {
                let name = format!("random-{direction}-{}", size.trim());
                let id = format!("{name}.iops");
                let digits = value.trim();
                let original = Original::new(value.trim(), "IOPS");
                let metric =
                    ImportedMetric::new(id, Unit::OpsPerS, Some(Better::Higher), finite(digits)?, 3, original)?;
                if out.iter().any(|(other, _)| *other == name) {
                    return None;
                }
                out.push((name, metric));
            }
        }
        return Some(out);
    }
    let mut out = Vec::new();
    for part in line.strip_prefix(SEQUENTIAL)?.split(',') {
        let mut words = part.split_whitespace();
        let (value, unit, direction) = (words.next()?, words.next()?, words.next()?);
        if unit != "MB/s" || !matches!(direction, "read" | "write") || words.next().is_some() {
            return None;
        }
        let name = format!("sequential-{direction}");
        if out.iter().any(|(other, _)| *other == name) {
            return None;
        }
        let id = format!("{name}.throughput_bytes_per_s");
        let original = Original::new(value, unit);
        out.push((
            name,
            ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), finite(value)? * MIB, 3, original)?,
        ));
    }
    // The script writes both; one alone is a sentence.
    (out.len() == 2).then_some(out)
}
