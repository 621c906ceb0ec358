//! Summaries of fio's results that tools for Kubernetes print: kbench (three tables of reads and writes), dbench (four lines)
//! and kubestr (a block for each job). Where fio's own results stand beside them these are runs of their own.

use super::localized::plain;
use super::number::finite;
use super::test_figures::{TestFigures, byte_rate, counted, grouped};
use super::{Found, ImportedRun, Text};

const KIB: f64 = 1024.0;
/// Lines of a table of kbench.
const TABLE_LINES: usize = 5;

/// A table of kbench by its heading: what its rows are of.
fn table(line: &str) -> Option<&'static str> {
    match bare(line) {
        "IOPS (Read/Write)" => Some("iops"),
        "Bandwidth in KiB/sec (Read/Write)" => Some("rate"),
        "Latency in ns (Read/Write)" => Some("latency"),
        _ => None,
    }
}

fn bare(line: &str) -> &str {
    line.trim_start_matches(['#', '>', '|', ' ', '\t']).trim_end()
}

fn is_dbench(line: &str) -> bool {
    bare(line).starts_with("Random Read/Write IOPS:") && line.contains("BW")
}

/// Whether there is a summary of one of them.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| table(line).is_some() || is_dbench(line) || bare(line).starts_with("JobName: "))
}

/// Reads all summaries.
pub(super) fn read(text: &Text, found: &mut Found) {
    kbench(text, found);
    dbench(text, found);
    kubestr(text, found);
}

/// A read and a written number, with what was printed.
type Pair = [(f64, String); 2];

/// The two numbers of `Random:          98,368 / 89,200`.
fn pair(line: &str, label: &str) -> Option<Pair> {
    let (read, write) = bare(line).strip_prefix(label)?.split_once('/')?;
    let number = |text: &str| Some((grouped(text)?, text.trim().to_owned()));
    Some([number(read)?, number(write)?])
}

fn kbench(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut figures: Vec<(String, &'static str, f64, String)> = Vec::new();
    let mut tables: Vec<&'static str> = Vec::new();
    let mut title: Option<(usize, Option<String>)> = None;
    for (number, line) in text.lines() {
        if bare(line) == "FIO Benchmark Summary" {
            finish_kbench(run.take(), std::mem::take(&mut figures), found);
            (title, tables) = (Some((number, None)), Vec::new());
            found.used(number);
            let above = number.saturating_sub(1).max(1);
            if bare(text.line(above)).starts_with("====") {
                found.used(above);
            }
        } else if let Some((_, name)) = title.as_mut()
            && let Some(of) = bare(line).strip_prefix("For: ")
        {
            *name = Some(of.to_owned());
            found.used(number);
        }
        let is_note = ["CPU Idleness Profiling:", "Size:", "SIZE:", "Quick Mode:", "QUICK MODE", "Mode:", "====="];
        if title.is_some() && is_note.iter().any(|n| bare(line).starts_with(n)) {
            found.used(number);
        }
        let Some(kind) = table(line) else { continue };
        let rows: Vec<(usize, &str)> =
            text.lines_from(number + 1).take(TABLE_LINES).take_while(|(_, l)| table(l).is_none()).collect();
        let both: Vec<(usize, &str, Pair)> = rows
            .iter()
            .flat_map(|(at, l)| ["Random:", "Sequential:"].map(|label| (*at, label, pair(l, label))))
            .filter_map(|(at, label, p)| Some((at, label, p?)))
            .collect();
        if both.len() != 2 {
            continue;
        }
        if tables.contains(&kind) {
            finish_kbench(run.take(), std::mem::take(&mut figures), found);
            tables.clear();
        }
        tables.push(kind);
        let (first, name) = title.clone().unwrap_or((number, None));
        let run = run.get_or_insert_with(|| ImportedRun::new("kbench", found.file, first.min(number)));
        if let Some(name) = name {
            run.name.clone_from(&name);
            run.target = Some(name);
        }
        found.used(number);
        for (at, label, values) in both {
            found.used(at);
            let access = label.trim_end_matches(':').to_ascii_lowercase();
            for (direction, (value, printed)) in ["read", "write"].iter().zip(values) {
                figures.push((format!("{access}.{direction}"), kind, value, printed));
            }
        }
        rows.iter().filter(|(_, l)| bare(l).starts_with("CPU Idleness:")).for_each(|(at, _)| found.used(*at));
    }
    finish_kbench(run, figures, found);
}

fn finish_kbench(run: Option<ImportedRun>, figures: Vec<(String, &'static str, f64, String)>, found: &mut Found) {
    let Some(mut run) = run else { return };
    for test in ["random.read", "random.write", "sequential.read", "sequential.write"] {
        let mut of = TestFigures::of(test);
        for (_, kind, value, printed) in figures.iter().filter(|(name, ..)| name == test) {
            of = match *kind {
                "iops" => of.iops(Some(*value), printed),
                "rate" => of.rate(Some(value * KIB), printed, "KiB/s"),
                _ => of.latency("mean", Some(*value), printed, "ns"),
            };
        }
        of.into_run(&mut run);
    }
    run.remark("operations, bytes and latencies are of three jobs of fio each with depths and blocks of its own");
    found.push(run);
}

/// The two texts of `A / B` or `A/B` behind a label.
fn two<'l>(text: &'l str, label: &str) -> Option<(&'l str, &'l str)> {
    let (_, rest) = text.split_once(label)?;
    let rest = rest.trim_start_matches([':', ' ']);
    let end = rest.find(". ").unwrap_or(rest.len());
    // A unit has a slash of its own: `523MiB/s / 500MiB/s`.
    let (a, b) = rest[..end].split_once(" / ").or_else(|| rest[..end].rsplit_once('/').filter(|(_, b)| *b != "s"))?;
    Some((a.trim(), b.trim()))
}

fn dbench(text: &Text, found: &mut Found) {
    for (number, line) in text.lines() {
        if !is_dbench(line) || found.is_used(number) {
            continue;
        }
        let line = plain(bare(line));
        let Some((read, write)) = two(&line, "IOPS:") else { continue };
        let mut run = ImportedRun::new("dbench", found.file, number);
        let rate = |pair: Option<(&str, &str)>, which: usize, unit: f64| {
            let text =
                pair.map_or(String::new(), |p| if which == 0 { p.0 } else { p.1 }.trim_end_matches('.').to_owned());
            (byte_rate(&text).or_else(|| finite(&text).map(|v| v * unit)), text)
        };
        let unit = if line.contains("KiB/s)") { KIB } else { f64::NAN };
        let bandwidth = two(&line, "BW(KiB/s):").or_else(|| two(&line, "BW:"));
        let latencies = text.line(number + 1);
        let (latency_unit, scale) = if latencies.contains("(ms)") { ("ms", 1e6) } else { ("usec", 1e3) };
        let latency = two(bare(latencies), "Read/Write").filter(|_| latencies.contains("Average Latency"));
        for (which, (name, iops)) in [("random.read", read), ("random.write", write)].into_iter().enumerate() {
            let (bytes, printed) = rate(bandwidth, which, unit);
            let ms = latency.map_or("", |l| if which == 0 { l.0 } else { l.1 });
            TestFigures::of(name)
                .iops(counted(iops), iops)
                .rate(bytes.filter(|b| b.is_finite()), &printed, "")
                .latency("mean", finite(ms).map(|v| v * scale), ms, latency_unit)
                .into_run(&mut run);
        }
        found.used(number);
        for (at, line) in text.lines_from(number + 1).take(3) {
            let line = bare(line);
            let own = if line.starts_with("Sequential Read/Write:") {
                two(line, "Read/Write").map(|(r, w)| {
                    for (name, text) in [("sequential.read", r), ("sequential.write", w)] {
                        TestFigures::of(name).rate(byte_rate(text), text, "").into_run(&mut run);
                    }
                })
            } else if line.starts_with("Mixed Random Read/Write IOPS") {
                two(line, "IOPS").map(|(r, w)| {
                    for (name, text) in [("mixed.read", r), ("mixed.write", w)] {
                        TestFigures::of(name).iops(counted(text), text).into_run(&mut run);
                    }
                })
            } else {
                latency.filter(|_| line.starts_with("Average Latency")).map(|_| ())
            };
            own.into_iter().for_each(|()| found.used(at));
        }
        for (at, line) in text.lines_from(number.saturating_sub(3).max(1)).take(3) {
            let is_frame = line.contains("Summary") || bare(line).starts_with("====");
            if at < number && is_frame {
                found.used(at);
            }
        }
        if run.groups.is_empty() {
            found.not_understood(number, "there is no rate in it");
        } else {
            found.push(run);
        }
    }
}

/// `JobName: read_iops`, its options, and a block for each direction.
fn kubestr(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut job: Option<String> = None;
    let mut direction = None;
    let mut version = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let line = bare(line);
        if let Some(name) = line.strip_prefix("FIO version - ") {
            run.take().filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
            version = Some(name.to_owned());
            found.used(number);
        } else if let Some(name) = line.strip_prefix("JobName: ") {
            (job, direction) = (Some(super::found::name(name.trim()).to_owned()), None);
            let version = &version;
            run.get_or_insert_with(|| {
                let mut new = ImportedRun::new("kubestr", found.file, number);
                new.source_version.clone_from(version);
                new
            });
            found.used(number);
        } else if let Some((name, run)) = job.as_ref().zip(run.as_mut()) {
            if line.starts_with("blocksize=") {
                run.remark(format!("job '{name}': {line}"));
                found.used(number);
            } else if matches!(line, "read:" | "write:") {
                direction = Some(line.trim_end_matches(':').to_owned());
                found.used(number);
            } else if let Some((iops, bw)) = line.strip_prefix("IOPS=").and_then(|l| l.split_once(" BW(KiB/s)="))
                && let Some(direction) = &direction
            {
                let kib = finite(bw).map(|v| v * KIB);
                TestFigures::of(format!("{name}.{direction}"))
                    .iops(finite(iops), iops)
                    .rate(kib, bw, "KiB/s")
                    .into_run(run);
                found.used(number);
            } else if line.starts_with("iops: min=") || line.starts_with("bw(KiB/s): min=") {
                found.used(number);
            }
        }
    }
    run.filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
}
