//! What `hdparm -t` and `-T` print. MB there are 2^20 bytes (hdparm(8), time_device).

use super::localized::{decimal, plain};
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Reason, Unit};

const MIB: f64 = 1_048_576.0;
const KIB: f64 = 1024.0;

/// What a line measured.
fn test(line: &str) -> Option<&'static str> {
    let rest = line.trim_start().strip_prefix("Timing ")?;
    // `buffer-cache reads` is the old name of cached reads.
    if rest.starts_with("cached reads:") || rest.starts_with("buffer-cache reads:") {
        Some("hdparm.cached_read")
    } else if rest.starts_with("buffered disk reads:") {
        Some("hdparm.buffered_read")
    } else if rest.starts_with("O_DIRECT cached reads:") {
        Some("hdparm.direct_cached_read")
    } else if rest.starts_with("O_DIRECT disk reads:") || rest.starts_with("O_DIRECT disk reads (offset") {
        Some("hdparm.direct_read")
    } else if rest.starts_with("buffered disk reads (offset") {
        Some("hdparm.buffered_read_offset")
    } else {
        None
    }
}

/// Whether any line is hdparm's.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| test(line).is_some())
}

/// Reads all timings: a run for each time that hdparm names a device.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut run: Option<ImportedRun> = None;
    let mut device: Option<(usize, String)> = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if let Some(name) = line.trim().strip_suffix(':').filter(|n| n.starts_with('/') && !n.contains(' ')) {
            device = Some((number, name.to_owned()));
            continue;
        }
        let Some(test) = test(line) else { continue };
        let (rate, lines) = rate(text, number);
        let Some((value, original)) = rate else {
            found.not_understood(number, "there is no rate in it");
            continue;
        };
        found.used_range(number, number + lines - 1);
        let repeats = |r: &ImportedRun| r.groups.iter().any(|g| g.name == test);
        if device.is_some() || run.as_ref().is_none_or(repeats) {
            let mut named = run.as_ref().and_then(|r| r.target.clone());
            run.take().into_iter().for_each(|r| found.push(r));
            let mut first_line = number;
            if let Some((line, name)) = device.take() {
                found.used(line);
                (first_line, named) = (line, Some(name));
            }
            let mut new = ImportedRun::new("hdparm", named.as_deref().unwrap_or(found.file), first_line);
            new.target = named;
            run = Some(new);
        }
        let Some(run) = run.as_mut() else { continue };
        let id = format!("{test}.throughput_bytes_per_s");
        let is_cached = test == "hdparm.cached_read";
        let cached = is_cached
            .then(|| Reason::of("page-cache", "-T reads what lies in memory: this is not the rate of the disk"));
        let metric = ImportedMetric::new(id, Unit::BytesPerS, Some(Better::Higher), value, 1, original)
            .map(|m| m.doubted(cached.clone()));
        run.push(test, metric.into_iter().chain(amount(text.line(number), test)).collect());
        if test.ends_with("cached_read") {
            run.remark(match is_cached {
                true => "cached reads measure memory and processor, not the disk",
                false => "direct cached reads read one place again and again: they measure the link, not the medium",
            });
        }
    }
    run.into_iter().for_each(|r| found.push(r));
}

/// How much was read, of `2 MB in  3.00 seconds = 682.67 kB/sec`: of little, a rate says little.
fn amount(line: &str, test: &str) -> Option<ImportedMetric> {
    let line = plain(line);
    let digits = line.split_once(": ")?.1.split_once(" MB ")?.0.trim();
    let original = Original::new(digits, "MB");
    ImportedMetric::new(format!("{test}.bytes"), Unit::Bytes, None, decimal(digits)? * MIB, 1, original)
}

/// The rate after the last `=`, and how many lines it took: a mail program may have put the unit onto the next.
fn rate(text: &Text, number: usize) -> (Option<(f64, Original)>, usize) {
    let line = plain(text.line(number));
    let Some((_, right)) = line.rsplit_once('=') else { return (None, 1) };
    let next = text.line(number + 1);
    let mut words = right.split_whitespace();
    let (digits, unit, lines) = match (words.next(), words.next()) {
        (Some(digits), Some(unit)) => (digits, unit, 1),
        (Some(digits), None) => (digits, next.trim(), 2),
        _ => return (None, 1),
    };
    let scale = match unit {
        "MB/sec" | "MB/s" => MIB,
        "kB/sec" | "kB/s" | "KB/sec" => KIB,
        _ => return (None, 1),
    };
    (decimal(digits).filter(|v| *v > 0.0).map(|v| (v * scale, Original::new(digits, unit))), lines)
}
