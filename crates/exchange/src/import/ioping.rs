//! What `ioping` prints at its end: requests one after the other, their rate while one was under way, and their latencies. Units stand
//! beside each number (ioping.c, print_statistics); until 0.8 one stood for all four latencies, and bytes were `mb`.

use super::localized::decimal;
use super::{Found, ImportedMetric, ImportedRun, Original, Text};
use model::{Better, Unit};

const LATENCIES: &str = "min/avg/max/mdev = ";

/// The target, of `--- . (ext4 /dev/vda 252.0 GiB) ioping statistics ---`.
fn title(line: &str) -> Option<&str> {
    line.trim().strip_prefix("--- ")?.strip_suffix(" ioping statistics ---")
}

/// Whether any line is the title of ioping's statistics.
pub(super) fn detect(text: &Text) -> bool {
    text.lines().any(|(_, line)| title(line).is_some())
}

/// Reads all statistics: a run each. What it says of single requests is theirs, too.
pub(super) fn read(text: &Text, found: &mut Found) {
    let mut first_request = None;
    let mut unread = text.lines();
    while let Some((number, line)) = found.next_of(&mut unread) {
        if is_request(line) {
            first_request = first_request.or(Some(number));
            found.used(number);
        }
        let Some(target) = title(line) else { continue };
        let after = |ahead: usize| text.line(number + ahead);
        let Some(metrics) = requests(after(1)) else {
            found.not_understood(number, "no rate of requests follows");
            continue;
        };
        found.used_range(number, number + 1);
        let more = usize::from(after(2).starts_with("generated "));
        found.used_range(number + 2, number + 1 + more);
        let test = if after(1).contains(" written") { "ioping.write" } else { "ioping.read" };
        let mut run = ImportedRun::new(
            "ioping",
            target.split(" (").next().unwrap_or(target),
            first_request.take().unwrap_or(number),
        );
        run.target = Some(target.to_owned());
        let latencies = after(2 + more).strip_prefix(LATENCIES).and_then(latencies);
        match &latencies {
            Some(_) => found.used(number + 2 + more),
            None => run.remark("no latencies follow the rate"),
        }
        let of = |f: Figure| {
            let better = if f.unit == Unit::Ns { Better::Lower } else { Better::Higher };
            ImportedMetric::new(format!("{test}.{}", f.quantity), f.unit, Some(better), f.value, 1, f.original)
        };
        run.push(test, metrics.into_iter().chain(latencies.into_iter().flatten()).filter_map(of).collect());
        run.remark("one request at a time; the rate is of the time in which one was under way, without pauses and without the first request");
        found.push(run);
    }
}

/// `4 KiB <<< . (ext4 /dev/vda 252.0 GiB): request=1 time=283.4 us (warmup)`.
fn is_request(line: &str) -> bool {
    line.contains(": request=") && line.contains(" time=")
}

struct Figure {
    quantity: &'static str,
    unit: Unit,
    value: f64,
    original: Original,
}

/// Of `4 requests completed in 1.42 ms, 16 KiB read, 2.82 k iops, 11.0 MiB/s` the rates.
fn requests(line: &str) -> Option<Vec<Figure>> {
    let mut parts = line.split(", ");
    parts.next()?.contains(" requests completed in ").then_some(())?;
    let mut out = Vec::new();
    for part in parts {
        if let Some(iops) = part.strip_suffix("iops") {
            let (value, original) = scaled(iops, "iops", |unit| power(unit, 1e3))?;
            out.push(Figure { quantity: "iops", unit: Unit::OpsPerS, value, original });
        } else if let Some(rate) = part.strip_suffix("/s") {
            let bytes = |unit: &str| power(unit.strip_suffix(['B', 'b'])?.trim_end_matches('i'), 1024.0);
            let (value, original) = scaled(rate, "/s", bytes)?;
            out.push(Figure { quantity: "throughput_bytes_per_s", unit: Unit::BytesPerS, value, original });
        }
    }
    (!out.is_empty()).then_some(out)
}

/// Of `272.2 us / 354.0 us / 480.4 us / 78.3 us` the least, the mean and the greatest.
fn latencies(text: &str) -> Option<Vec<Figure>> {
    let ns = |unit: &str| {
        let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("hour", 3600e9)];
        units.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns)
    };
    let common = text.trim_end().rsplit(' ').next()?;
    let each = text.split('/').map(|part| {
        let part = part.trim();
        if part.contains(' ') { scaled(part, "", ns) } else { scaled(&format!("{part} {common}"), "", ns) }
    });
    let values: Vec<(f64, Original)> = each.collect::<Option<_>>()?;
    let names = ["latency_ns_min", "latency_ns_mean", "latency_ns_max"];
    (values.len() == 4).then_some(())?;
    let figure = |(quantity, (value, original))| Figure { quantity, unit: Unit::Ns, value, original };
    Some(names.into_iter().zip(values).map(figure).collect())
}

/// A number with the word after it, by what that word means; `ending` is what else the unit has.
fn scaled(text: &str, ending: &str, scale: impl Fn(&str) -> Option<f64>) -> Option<(f64, Original)> {
    let mut words = text.split_whitespace();
    let digits = words.next()?;
    let unit = words.next().unwrap_or_default();
    let separator = if ending.starts_with('/') || unit.is_empty() { "" } else { " " };
    Some((decimal(digits)? * scale(unit)?, Original::new(digits, format!("{unit}{separator}{ending}").trim_end())))
}

/// 1 of nothing, 1000 or 1024 of k, its square of M and so on.
fn power(prefix: &str, base: f64) -> Option<f64> {
    let at = ["", "k", "m", "g", "t"].iter().position(|p| p.eq_ignore_ascii_case(prefix))?;
    Some(base.powi(i32::try_from(at).ok()?))
}
