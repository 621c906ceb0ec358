//! Numbers with units, as people of this field write them.
//!
//! MB/s is 10^6 bytes per second and MiB/s is 2^20. A value with an interval shows the digits that the interval carries
//! (the rounding rule of the Particle Data Group: errors 100-354 keep two digits, 355-949 one, 950-999 become 1000);
//! without one, three significant digits. Thousands are set apart by a space.

use model::{Metric, Unit};

/// A number scaled to a unit, in parts so that tables can align them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The number: `3 201`, `66.1`.
    pub number: String,
    /// The unit, `MB/s`; empty for pure numbers.
    pub unit: &'static str,
    /// Half the width of the interval at the same digits, `0.4`.
    pub half_width: Option<String>,
}

impl Shown {
    /// Number and unit: `66.1 MB/s`.
    pub fn value(&self) -> String {
        if self.unit.is_empty() { self.number.clone() } else { format!("{} {}", self.number, self.unit) }
    }

    /// With the interval, where there is one: `66.1 MB/s ± 0.4`.
    pub fn with_interval(&self, plus_minus: &str) -> String {
        match &self.half_width {
            Some(h) => format!("{} {plus_minus} {h}", self.value()),
            None => self.value(),
        }
    }
}

/// The decimal exponent of a positive number: 3 for 1000..9999.
fn exponent(v: f64) -> i32 {
    if v > 0.0 && v.is_finite() { v.log10().floor() as i32 } else { 0 }
}

/// Groups of three digits before the point, set apart by a space, from five digits on also where there are four.
pub(crate) fn thousands(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |d| ("-", d));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut grouped = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(c);
    }
    match fraction {
        Some(f) => format!("{sign}{grouped}.{f}"),
        None => format!("{sign}{grouped}"),
    }
}

/// The number rounded at 10^`place`: place -1 is one decimal, place 2 is whole hundreds.
fn rounded(v: f64, place: i32) -> String {
    if place >= 0 {
        let step = 10f64.powi(place);
        thousands(&format!("{:.0}", (v / step).round() * step))
    } else {
        thousands(&format!("{v:.*}", place.unsigned_abs() as usize))
    }
}

/// The number with `digits` significant digits.
pub fn significant(v: f64, digits: i32) -> String {
    if v == 0.0 || !v.is_finite() {
        return if v == 0.0 { "0".into() } else { "-".into() };
    }
    let place = exponent(v.abs()) - digits + 1;
    // 99.96 at three digits becomes 100, not 100.0.
    let step = 10f64.powi(place);
    let place = if exponent((v.abs() / step).round() * step) > exponent(v.abs()) { place + 1 } else { place };
    rounded(v, place)
}

/// Where a value whose interval is `half` wide to one side is rounded.
fn place_of_interval(value: f64, half: f64) -> i32 {
    let e = exponent(half);
    let leading = (half / 10f64.powi(e) * 100.0).round();
    let place = if leading < 355.0 {
        e - 1
    } else if leading < 950.0 {
        e
    } else {
        e + 1
    };
    // Four digits of a throughput are all that any clock and any block size here support.
    let place = place.max(exponent(value.abs()) - 3);
    // However wide the interval, the value's own leading digit stays.
    if value == 0.0 { place } else { place.min(exponent(value.abs())) }
}

/// A scale of a unit: from this value on, divided by this, called so.
struct Scale {
    from: f64,
    factor: f64,
    unit: &'static str,
}

const fn scale(from: f64, factor: f64, unit: &'static str) -> Scale {
    Scale { from, factor, unit }
}

/// Rates stay in MB/s up to 10 GB/s: people compare disks, cards and links in MB/s.
static BYTES_PER_S: [Scale; 4] =
    [scale(1e10, 1e9, "GB/s"), scale(1e6, 1e6, "MB/s"), scale(1e3, 1e3, "kB/s"), scale(0.0, 1.0, "B/s")];
static BYTES: [Scale; 5] = [
    scale(1e12, 1e12, "TB"),
    scale(1e9, 1e9, "GB"),
    scale(1e6, 1e6, "MB"),
    scale(1e3, 1e3, "kB"),
    scale(0.0, 1.0, "B"),
];
static NANOSECONDS: [Scale; 4] =
    [scale(1e9, 1e9, "s"), scale(1e6, 1e6, "ms"), scale(1e3, 1e3, "us"), scale(0.0, 1.0, "ns")];
static OPERATIONS: [Scale; 1] = [scale(0.0, 1.0, "IOPS")];
static FILES: [Scale; 1] = [scale(0.0, 1.0, "files/s")];
static SECONDS: [Scale; 3] = [scale(1.0, 1.0, "s"), scale(1e-3, 1e-3, "ms"), scale(0.0, 1e-6, "us")];
static PERCENT: [Scale; 1] = [scale(0.0, 1.0, "%")];
static RATIO: [Scale; 1] = [scale(0.0, 1.0, "")];

fn scale_of(unit: Unit, value: f64) -> &'static Scale {
    let scales: &'static [Scale] = match unit {
        Unit::BytesPerS => &BYTES_PER_S,
        Unit::OpsPerS => &OPERATIONS,
        Unit::FilesPerS => &FILES,
        Unit::Ns => &NANOSECONDS,
        Unit::S => &SECONDS,
        Unit::Percent => &PERCENT,
        Unit::Bytes => &BYTES,
        Unit::Ratio => &RATIO,
    };
    // A value that rounds up to the next unit at three digits takes it: 999.9 us is 1.00 ms.
    scales.iter().find(|s| value.abs() * 1.0005 >= s.from).unwrap_or(&scales[scales.len() - 1])
}

/// What was measured and does not stand, with the side of it on which the true one is, where that is known: `at least 28 900`.
pub(crate) fn rejected(metric: &Metric) -> Option<Shown> {
    let mut shown = shown(metric.rejected_value?, metric.unit, None);
    if let Some((bound, ..)) = metric.bounded() {
        shown.number = format!("{} {}", bound.words(), shown.number);
    }
    Some(shown)
}

/// A value in its unit, with the digits of its interval where there is one.
pub fn shown(value: f64, unit: Unit, interval: Option<(f64, f64)>) -> Shown {
    let scale = scale_of(unit, value);
    let scaled = value / scale.factor;
    // The longer side of an interval that is not symmetric: never claim to be closer than one is.
    let half = interval.map(|(low, high)| (value - low).max(high - value) / scale.factor).filter(|h| h.is_finite());
    match half {
        Some(half) if half > 0.0 => {
            let place = place_of_interval(scaled, half);
            // An interval below the last digit shown is rounded up to it, never to zero.
            let shown_half = half.max(10f64.powi(place));
            Shown { number: rounded(scaled, place), unit: scale.unit, half_width: Some(rounded(shown_half, place)) }
        }
        _ => Shown { number: significant(scaled, 3), unit: scale.unit, half_width: None },
    }
}

/// The value of a metric that stands; `None` unless it was measured.
pub fn metric(m: &Metric) -> Option<Shown> {
    let interval = m.low.zip(m.high);
    // What else happens so often a second is no I/O: requests merged, interrupts.
    let is_io = m.unit != Unit::OpsPerS || ["iops", "ops_per_s"].iter().any(|io| m.id.ends_with(io));
    let shown = shown(m.value?, m.unit, interval);
    Some(if is_io { shown } else { Shown { unit: "/s", ..shown } })
}

/// A value without interval: `66.1 MB/s`.
pub fn quantity(value: f64, unit: Unit) -> String {
    shown(value, unit, None).value()
}

/// A rate in MB/s (10^6).
pub fn rate(bytes_per_s: f64) -> String {
    quantity(bytes_per_s, Unit::BytesPerS)
}

/// A latency, three significant digits: `1.90 s`, `412 us`.
pub fn latency(ns: u64) -> String {
    quantity(ns as f64, Unit::Ns)
}

/// A decimal size: `1.9 GB`, `32 GB`; two digits unless a third says something.
pub fn size(bytes: u64) -> String {
    let scale = scale_of(Unit::Bytes, bytes as f64);
    let scaled = bytes as f64 / scale.factor;
    let number = if scaled < 100.0 { significant(scaled, 2) } else { significant(scaled, 3) };
    format!("{} {}", number.strip_suffix(".0").unwrap_or(&number), scale.unit)
}

/// A binary size where it is a whole and handy number of a binary unit, else decimal: `4 KiB`, `256 MiB`, `32 GB`.
pub fn binary_size(bytes: u64) -> String {
    for (shift, unit) in [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")] {
        let whole = bytes >> shift;
        if whole > 0 && bytes.is_multiple_of(1 << shift) && whole < 4096 {
            return format!("{} {unit}", thousands(&whole.to_string()));
        }
    }
    size(bytes)
}

/// A memory size in GiB with one decimal, as memory is sold; smaller ones in MiB or KiB.
pub fn memory_size(bytes: u64) -> String {
    match bytes {
        0..0x10_0000 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        0x10_0000..0xa0_0000 => format!("{:.1} MiB", bytes as f64 / f64::from(1u32 << 20)),
        0xa0_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1u32 << 30)),
    }
}

/// How fast something is going: operations and bytes after a stretch of time, and the latest latency and depth.
pub fn progress(operations: u64, bytes: u64, elapsed_ms: u64, latency_ns: Option<u64>, in_flight: u64) -> String {
    if elapsed_ms == 0 {
        return String::new();
    }
    let seconds = elapsed_ms as f64 / 1e3;
    let rates = format!("{}  {} IOPS", rate(bytes as f64 / seconds), count((operations as f64 / seconds) as u64));
    match latency_ns {
        Some(ns) => format!("{rates}  {} at depth {in_flight}", quantity(ns as f64, Unit::Ns)),
        None => rates,
    }
}

/// A duration for people: `850 ms`, `4.2 s`, `58 s`, `2 min 05 s`, `3 h 20 min`.
pub fn duration(ns: u64) -> String {
    let s = ns as f64 / 1e9;
    if s < 0.9995 {
        return quantity(ns as f64, Unit::Ns);
    }
    if s < 9.95 {
        return format!("{s:.1} s");
    }
    let whole = s.round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// How long work took: `9.79 s`, `134 s`, from ten minutes on `19 min 40 s`.
pub fn seconds(s: f64) -> String {
    if s < 600.0 { quantity(s, Unit::S) } else { duration((s * 1e9) as u64) }
}

/// A whole number with its thousands set apart.
pub fn count(n: u64) -> String {
    thousands(&n.to_string())
}

/// So many of something: `1 round`, `1 200 rounds`.
pub fn counted(n: u64, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A ratio: `1.04`, `2.5`, `12`.
pub fn ratio(r: f64) -> String {
    if r < 2.0 {
        format!("{r:.2}")
    } else if r < 9.95 {
        format!("{r:.1}")
    } else {
        significant(r, 2)
    }
}

/// The unit that a name ends in by the project's rule (`_bytes_per_s`, `_ns`, `_percent`, `.iops`).
pub fn unit_of_name(name: &str) -> Option<Unit> {
    let name = name.trim_end_matches(|c: char| c == '_' || c == 'p' || c.is_ascii_digit()).trim_end_matches("_max");
    [
        ("bytes_per_s", Unit::BytesPerS),
        ("iops", Unit::OpsPerS),
        ("files_per_s", Unit::FilesPerS),
        ("ops_per_s", Unit::OpsPerS),
        ("_ns", Unit::Ns),
        ("_percent", Unit::Percent),
        ("_bytes", Unit::Bytes),
        ("_s", Unit::S),
    ]
    .into_iter()
    .find_map(|(suffix, unit)| name.ends_with(suffix).then_some(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(value: f64, half: f64, unit: Unit) -> String {
        shown(value, unit, Some((value - half, value + half))).with_interval("±")
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(with(66.123e6, 0.41e6, Unit::BytesPerS), "66.1 MB/s ± 0.4");
        assert_eq!(with(59.2e6, 2.1e6, Unit::BytesPerS), "59.2 MB/s ± 2.1");
        assert_eq!(with(912.0e6, 113.0e6, Unit::BytesPerS), "910 MB/s ± 110");
        assert_eq!(with(41.0e6, 30.0e6, Unit::BytesPerS), "41 MB/s ± 30");
        assert_eq!(with(3_201.4, 12.2, Unit::OpsPerS), "3 201 IOPS ± 12");
        assert_eq!(with(1_234_567.0, 8_100.0, Unit::OpsPerS), "1 235 000 IOPS ± 8 000");
    }

    #[test]
    fn a_tiny_interval_neither_vanishes_nor_adds_digits() {
        assert_eq!(with(66.123e6, 2.0, Unit::BytesPerS), "66.12 MB/s ± 0.01");
        assert_eq!(with(123_456.0, 1.0, Unit::OpsPerS), "123 500 IOPS ± 100");
    }

    #[test]
    fn an_interval_wider_than_the_value_is_still_shown() {
        assert_eq!(with(5e6, 40e6, Unit::BytesPerS), "5 MB/s ± 40");
    }

    #[test]
    fn the_longer_side_of_a_lopsided_interval_counts() {
        assert_eq!(shown(100e6, Unit::BytesPerS, Some((88e6, 101e6))).with_interval("+/-"), "100 MB/s +/- 12");
    }

    #[test]
    fn latencies_have_three_digits_and_the_right_unit() {
        assert_eq!(latency(950), "950 ns");
        assert_eq!(latency(1_234), "1.23 us");
        assert_eq!(latency(999_900), "1.00 ms");
        assert_eq!(latency(1_900_000_000), "1.90 s");
        assert_eq!(latency(0), "0 ns");
    }

    #[test]
    fn one_of_something_is_not_several() {
        assert_eq!([0, 1, 1_200].map(|n| counted(n, "round")), ["0 rounds", "1 round", "1 200 rounds"]);
    }

    #[test]
    fn megabytes_are_not_mebibytes() {
        assert_eq!(rate(1_048_576.0), "1.05 MB/s");
        assert_eq!(rate(12.4e9), "12.4 GB/s");
        assert_eq!(rate(2_100e6), "2 100 MB/s");
        assert_eq!(size(31_914_983_424), "32 GB");
        assert_eq!(size(1_900_000_000), "1.9 GB");
        assert_eq!(binary_size(4096), "4 KiB");
        assert_eq!(binary_size(256 << 20), "256 MiB");
        assert_eq!(binary_size(31_914_983_424), "32 GB");
        assert_eq!(binary_size(512), "512 B");
    }

    #[test]
    fn durations() {
        assert_eq!(duration(850_000_000), "850 ms");
        assert_eq!(duration(58_300_000_000), "58 s");
        assert_eq!(duration(125_000_000_000), "2 min 05 s");
        assert_eq!(duration(59_600_000_000), "1 min 00 s");
    }

    #[test]
    fn units_are_read_from_names() {
        assert_eq!(unit_of_name("seq-write.throughput_bytes_per_s"), Some(Unit::BytesPerS));
        assert_eq!(unit_of_name("rand-read-qd32.latency_ns_p99"), Some(Unit::Ns));
        assert_eq!(unit_of_name("rand-read-qd32.latency_ns_max"), Some(Unit::Ns));
        assert_eq!(unit_of_name("rand-read-qd32.iops"), Some(Unit::OpsPerS));
        assert_eq!(unit_of_name("queue_depth"), None);
    }
}
