//! What `ior` and `mdtest` print: ior's rows of each repetition are MiB a second (ior-output.c), and so are its maxima; mdtest's
//! summary is operations a second.

use super::number::finite;
use super::test_figures::TestFigures;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

const MIB: f64 = 1_048_576.0;

/// `Max Write: 1499.68 MiB/sec (1572.53 MB/sec)`: the direction and bytes a second, if both units agree.
fn maximum(line: &str) -> Option<(&'static str, f64, &str)> {
    let line = line.trim();
    let (direction, rest) = [("write", "Max Write:"), ("read", "Max Read:")]
        .into_iter()
        .find_map(|(direction, label)| Some((direction, line.strip_prefix(label)?)))?;
    let (mib, mb) = rest.split_once("MiB/sec (")?;
    let digits = mib.trim();
    let value = finite(digits)? * MIB;
    let mb = finite(mb.strip_suffix("MB/sec)")?)? * 1e6;
    ((value - mb).abs() <= 0.01 * mb + 1e4 && value > 0.0).then_some((direction, value, digits))
}

/// The columns of `access    bw(MiB/s)  IOPS  Latency(s)  block(KiB) ...`.
fn heading(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    (words.first() == Some(&"access") && words.contains(&"bw(MiB/s)") && words.contains(&"iter")).then_some(words)
}

fn is_summary(line: &str) -> bool {
    summary(line).is_some()
}

/// Whether what follows are times: `SUMMARY rate: (of 3 iterations)`, `SUMMARY time (in ops/sec): (of 1 iterations)`.
fn summary(line: &str) -> Option<bool> {
    let (what, iterations) = line.trim().strip_prefix("SUMMARY")?.split_once(": (of ")?;
    let kind = what.trim().split(' ').next().unwrap_or_default();
    (iterations.ends_with("iterations)") && matches!(kind, "" | "rate" | "time")).then_some(kind == "time")
}

/// Whether there is an output of one of them.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| maximum(line).is_some() || heading(line).is_some() || is_summary(line))
}

/// Reads all outputs.
pub(super) fn read(text: &Text, found: &mut Found) {
    ior(text, found);
    mdtest(text, found);
}

/// Whether a line is the first of an output, or of an operation of it that is named already.
fn ior(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut columns: Vec<&str> = Vec::new();
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let trimmed = line.trim();
        if trimmed.starts_with("IOR-") && trimmed.contains(": MPI Coordinated Test of Parallel I/O") {
            run.take().into_iter().for_each(|r| finish(r, found));
            let mut new = ImportedRun::new("ior", found.file, number);
            new.source_version = trimmed.split(':').next().map(str::to_owned);
            run = Some(new);
            found.used(number);
        } else if let Some(of) = heading(line) {
            let has_rows = |r: &ImportedRun| r.groups.iter().any(|g| g.name.contains('['));
            if run.as_ref().is_some_and(has_rows) {
                run.take().into_iter().for_each(|r| finish(r, found));
            }
            run.get_or_insert_with(|| ImportedRun::new("ior", found.file, number));
            columns = of;
            found.used(number);
        } else if let Some((direction, value, digits)) = maximum(line) {
            let run = run.get_or_insert_with(|| ImportedRun::new("ior", found.file, number));
            TestFigures::of(format!("max-{direction}")).rate(Some(value), digits, "MiB/s").into_run(run);
            found.used(number);
        } else if let Some(run) = run.as_mut() {
            let words: Vec<&str> = trimmed.split_whitespace().collect();
            let is_row = matches!(words.first(), Some(&"write" | &"read")) && words.len() == columns.len();
            if is_row {
                let cell = |name: &str| columns.iter().position(|c| *c == name).map_or("", |i| words[i]);
                let (bw, iops, wait) = (cell("bw(MiB/s)"), cell("IOPS"), cell("Latency(s)"));
                TestFigures::of(format!("{}[{}]", words[0], cell("iter")))
                    .rate(finite(bw).map(|v| v * MIB), bw, "MiB/s")
                    .iops(finite(iops), iops)
                    .latency("mean", finite(wait).map(|v| v * 1e9), wait, "s")
                    .into_run(run);
                found.used(number);
            } else if option(trimmed, run) {
                found.used(number);
            }
        }
    }
    run.into_iter().for_each(|r| finish(r, found));
}

fn finish(run: ImportedRun, found: &mut Found) {
    if run.groups.is_empty() {
        found.not_understood(run.first_line, "no result of ior follows");
    } else {
        found.push(run);
    }
}

/// `api : POSIX`, `xfersize : 25 MiB`, and lines that only frame.
fn option(line: &str, run: &mut ImportedRun) -> bool {
    let known = [
        "api",
        "test filename",
        "access",
        "type",
        "segments",
        "nodes",
        "tasks",
        "clients per node",
        "repetitions",
        "xfersize",
        "blocksize",
        "aggregate filesize",
        "ordering in a file",
        "ordering inter file",
    ];
    if let Some((label, value)) = line.split_once(':').filter(|(l, _)| known.contains(&l.trim())) {
        if label.trim() == "test filename" {
            run.target = Some(value.trim().to_owned());
            value.trim().clone_into(&mut run.name);
        }
        run.remark(format!("{}: {}", label.trim(), value.trim()));
        return true;
    }
    let frames = [
        "Began ",
        "Command line",
        "Machine ",
        "TestID",
        "StartTime",
        "Path ",
        "FS ",
        "Options:",
        "Results:",
        "------",
        "Commencing ",
        "Summary of all tests",
        "Operation ",
        "Finished ",
        "Participating tasks",
        "verbose",
        "apiVersion",
        "remove ",
        "write ",
        "read ",
        "stonewall",
    ];
    frames.iter().any(|f| line.starts_with(f))
}

/// The operation and its rates of a row: `File creation  :  2943.697  2943.674  2943.686  0.006`.
fn rates(line: &str) -> Option<(String, [f64; 4], String)> {
    let words: Vec<&str> = line.split_whitespace().filter(|w| *w != ":").collect();
    let (kind, rest) = words.split_first()?;
    let (what, numbers) = rest.split_at(rest.len().checked_sub(4)?);
    let known = matches!(*kind, "File" | "Directory" | "Tree");
    let numbers: Option<Vec<f64>> = numbers.iter().map(|n| finite(n)).collect();
    let values: [f64; 4] = numbers?.try_into().ok()?;
    let [max, min, mean, _] = values;
    let ordered = min <= mean * 1.001 + 0.001 && mean <= max * 1.001 + 0.001;
    (known && what.len() == 1 && ordered).then(|| {
        let name = format!("{kind}-{}", what[0].trim_end_matches(':')).to_ascii_lowercase();
        (name, values, words[words.len() - 2].to_owned())
    })
}

/// What a row of a summary says of an operation: its rate, or how long it took.
fn row_metrics(name: &str, [max, min, mean, _]: [f64; 4], digits: &str, times: bool) -> Vec<ImportedMetric> {
    let (quantity, unit, better, as_written) = match times {
        true => ("elapsed_s", Unit::S, None, "s"),
        false => ("files_per_s", Unit::FilesPerS, Some(Better::Higher), "1/s"),
    };
    let values = [("", mean, digits.to_owned()), ("_min", min, min.to_string()), ("_max", max, max.to_string())];
    let metric = |(which, value, text): (&str, f64, String)| {
        let id = format!("{name}.{quantity}{which}");
        ImportedMetric::new(id, unit, better, value, 1, Original::new(text, as_written))
    };
    // What was not done is 0 in all columns.
    values.into_iter().filter(|_| mean > 0.0).filter_map(metric).collect()
}

fn mdtest(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut start: Option<(usize, Option<String>)> = None;
    let mut times = false;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        let trimmed = line.trim();
        if trimmed.starts_with("mdtest-") && trimmed.contains("was launched with") {
            run.take().filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
            start = Some((number, trimmed.split(' ').next().map(str::to_owned)));
            found.used(number);
        } else if let Some(is_of_times) = summary(line) {
            found.used(number);
            // The times are of the run whose rates came before.
            let goes_on = is_of_times && !times && run.is_some();
            times = is_of_times;
            if goes_on {
                continue;
            }
            run.take().filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
            let (first, version) = start.take().unwrap_or((number, None));
            let mut new = ImportedRun::new("mdtest", found.file, first);
            new.source_version = version;
            new.remark(trimmed.trim_end_matches(':').to_owned());
            run = Some(new);
        } else if let Some((run, (name, values, digits))) = run.as_mut().zip(rates(line)) {
            found.used(number);
            let metrics = row_metrics(&name, values, &digits, times);
            if !metrics.is_empty() {
                run.push(name, metrics);
            }
        } else {
            let frames =
                ["-- started", "-- finished", "Command line used:", "Path", "FS", "Nodemap", "Operation", "---------"];
            if (run.is_some() || start.is_some())
                && (frames.iter().any(|f| trimmed.starts_with(f)) || trimmed.contains(" tasks, "))
            {
                found.used(number);
            }
        }
    }
    run.filter(|r| !r.groups.is_empty()).into_iter().for_each(|r| found.push(r));
}
