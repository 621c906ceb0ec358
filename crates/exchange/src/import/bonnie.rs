//! What bonnie++ measures, whichever way it was printed: twelve tests, each with a rate, a share of CPU and the worst
//! latency.

use super::{ABSURD, ImportedMetric, ImportedRun, Original};
use crate::bonnie_tests::{IO_TESTS, NAMES, TESTS, is_throughput};
use model::{Better, Metric, MetricStatus, Reason, Unit};

/// A cell of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Cell {
    /// Blank: the test was not run.
    #[default]
    NotRun,
    /// Plus signs: the test took less than half a second, and bonnie++ refuses to give a number.
    TooFast,
    /// A number in bytes or operations a second, percent, or nanoseconds, with what was printed.
    Value(f64, String),
}

impl Cell {
    /// The number, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value, _) => Some(*value),
            _ => None,
        }
    }
}

/// One line of bonnie++'s results.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Results {
    /// The machine's name, or what `-m` said.
    pub name: String,
    /// The program's version.
    pub version: Option<String>,
    /// Where it starts.
    pub first_line: usize,
    /// Size of the file, as printed: `80G`.
    pub size: String,
    /// Number of files in units of 1024, with their sizes, as printed: `16:1000:10/4`.
    pub files: String,
    /// Processes at once, as printed.
    pub concurrency: String,
    pub rates: [Cell; TESTS],
    /// Shares of CPU.
    pub cpus: [Cell; TESTS],
    /// Max latency of each test.
    pub latencies: [Cell; TESTS],
    /// Whether the figures of throughput stand there and could not be read.
    pub unread_io: bool,
    /// Rates of creating files that the text of version 2 prints wrong.
    pub doubtful_files: bool,
}

impl Results {
    /// Whether any test was run.
    pub fn is_empty(&self) -> bool {
        let all = self.rates.iter().chain(&self.cpus).chain(&self.latencies);
        all.into_iter().all(|c| *c == Cell::NotRun)
    }

    pub fn into_run(self, source_format: &'static str, file: &str) -> ImportedRun {
        let name = if self.name.is_empty() { file } else { &self.name };
        let mut run = ImportedRun::new(source_format, name, self.first_line);
        run.source_version = self.version.clone();
        for (test, name) in NAMES.iter().enumerate() {
            let metrics = [self.rate(test), self.cpu(test), self.latency(test)];
            run.push(*name, metrics.into_iter().flatten().collect());
        }
        if !self.size.is_empty() {
            run.remark(format!("file of {}", self.size));
        }
        if !self.files.is_empty() && self.files != "0" {
            run.remark(format!("{} x 1024 files", self.files));
        }
        if !matches!(self.concurrency.as_str(), "" | "1") {
            run.remark(format!("{} processes at once", self.concurrency));
        }
        if self.doubtful_files && self.rates[IO_TESTS..].iter().any(|c| c.value().is_some()) {
            run.remark("bonnie++ 2 prints wrong rates of creating files in its text; its CSV line has them right");
        }
        run
    }

    fn rate(&self, test: usize) -> Option<ImportedMetric> {
        let (quantity, unit, printed) = if is_throughput(test) {
            ("throughput_bytes_per_s", Unit::BytesPerS, "K/s")
        } else if test < IO_TESTS {
            ("ops_per_s", Unit::OpsPerS, "/s")
        } else {
            ("ops_per_s", Unit::FilesPerS, "/s")
        };
        let id = format!("{}.{quantity}", NAMES[test]);
        let better = Some(Better::Higher);
        let doubtful = self.doubtful_files && test >= IO_TESTS;
        match &self.rates[test] {
            Cell::Value(value, text) if doubtful => {
                let reason = "the text of bonnie++ 2 prints the number of files here, not their rate";
                let mut metric = Metric::absent(id, unit, better, MetricStatus::Refused, Reason::uncoded(reason));
                metric.rejected_value = Some(*value);
                Some(ImportedMetric { metric, original: Original::new(text, printed) })
            }
            cell => of_cell(id, unit, better, cell, printed),
        }
    }

    /// Printed as whole percents: shown, and too coarse to be judged.
    fn cpu(&self, test: usize) -> Option<ImportedMetric> {
        of_cell(format!("{}.cpu_percent", NAMES[test]), Unit::Percent, None, &self.cpus[test], "%")
    }

    fn latency(&self, test: usize) -> Option<ImportedMetric> {
        let id = format!("{}.latency_ns_max", NAMES[test]);
        of_cell(id, Unit::Ns, Some(Better::Lower), &self.latencies[test], "")
    }
}

fn of_cell(id: String, unit: Unit, better: Option<Better>, cell: &Cell, printed: &str) -> Option<ImportedMetric> {
    match cell {
        Cell::NotRun => None,
        Cell::TooFast => {
            let reason = "it took less than 0.5 s, too little for bonnie++ to give a number";
            let metric = Metric::absent(id, unit, better, MetricStatus::Skipped, Reason::uncoded(reason));
            Some(ImportedMetric { metric, original: Original::new("+++++", printed) })
        }
        Cell::Value(value, text) => {
            // A latency carries its unit in the text: `1532ms`.
            let digits = text.trim_end_matches(|c: char| unit == Unit::Ns && c.is_ascii_alphabetic());
            let printed = if unit == Unit::Ns { &text[digits.len()..] } else { printed };
            ImportedMetric::new(id, unit, better, *value, 1, Original::new(digits, printed))
        }
    }
}

/// Plus signs: too fast to measure. Widths differ (`+++`, `+++++`, `++++++`).
pub(crate) fn is_plus(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|b| b == b'+')
}

/// A worst latency in nanoseconds: `48125us`, `1532ms`, `101s`, or blank.
pub(crate) fn latency(text: &str) -> Option<Cell> {
    if text.is_empty() {
        return Some(Cell::NotRun);
    }
    if is_plus(text) {
        return Some(Cell::TooFast);
    }
    let (digits, ns) = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)]
        .into_iter()
        .find_map(|(suffix, ns)| Some((text.strip_suffix(suffix)?, ns)))?;
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value: f64 = digits.parse().ok().filter(|_| plain)?;
    (value * ns < ABSURD).then(|| Cell::Value(value * ns, text.to_owned()))
}

/// A share of CPU in percent, plus signs, or blank.
pub(crate) fn cpu(text: &str) -> Option<Cell> {
    match text {
        "" => Some(Cell::NotRun),
        plus if is_plus(plus) => Some(Cell::TooFast),
        digits => {
            let plain = digits.len() <= 6 && digits.bytes().all(|b| b.is_ascii_digit());
            let value: f64 = digits.parse().ok().filter(|_| plain)?;
            Some(Cell::Value(value, digits.to_owned()))
        }
    }
}

/// A rate in bytes or operations a second, plus signs, or blank. Without a suffix throughput is in K; the text of
/// version 2 has the suffixes k, m and g, all powers of 1024, on throughput; on seeks they are not documented.
pub(crate) fn rate(test: usize, text: &str) -> Option<Cell> {
    if text.is_empty() {
        return Some(Cell::NotRun);
    }
    if is_plus(text) {
        return Some(Cell::TooFast);
    }
    let (digits, scale) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1024.0),
        b'm' | b'M' => (&text[..text.len() - 1], 1_048_576.0),
        b'g' | b'G' => (&text[..text.len() - 1], 1_073_741_824.0),
        _ if is_throughput(test) => (text, 1024.0),
        _ => (text, 1.0),
    };
    if digits.len() < text.len() && !is_throughput(test) {
        return None;
    }
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value: f64 = digits.parse().ok().filter(|_| plain && !digits.is_empty())?;
    (value * scale < ABSURD).then(|| Cell::Value(value * scale, text.to_owned()))
}

/// Whether a text is the size of a file: `4G`, `8096M`, `31G:64k`.
pub(crate) fn is_size(text: &str) -> bool {
    let first = text.split(':').next().unwrap_or_default();
    let digits = first.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']);
    !digits.is_empty() && first.len() - digits.len() <= 1 && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        assert_eq!(rate(0, "439"), Some(Cell::Value(439.0 * 1024.0, "439".to_owned())));
        assert_eq!(rate(1, "2.5g").and_then(|c| c.value()), Some(2.5 * 1_073_741_824.0));
        assert_eq!(rate(5, "228.9").and_then(|c| c.value()), Some(228.9));
        assert_eq!(rate(5, "1.2k"), None);
        assert_eq!(rate(6, "+++++"), Some(Cell::TooFast));
        assert_eq!(rate(6, ""), Some(Cell::NotRun));
        for bad in ["12x", "-3", "1e3", "++", "nan", "k", "12us", "99999999999999999999"] {
            assert_eq!(rate(1, bad), None, "{bad}");
        }
        assert_eq!(latency("1532ms").and_then(|c| c.value()), Some(1.532e9));
        assert_eq!(latency("101s").and_then(|c| c.value()), Some(1.01e11));
        for bad in ["1532", "1532m", "us", "-1us", "1.2.3us"] {
            assert_eq!(latency(bad), None, "{bad}");
        }
        assert_eq!(cpu("474").and_then(|c| c.value()), Some(474.0));
        assert_eq!(cpu("12.5"), None);
    }

    #[test]
    fn sizes() {
        assert!(is_size("80G") && is_size("8096M") && is_size("31G:64k") && is_size("300"));
        assert!(!is_size("") && !is_size("G") && !is_size("host1") && !is_size("1GG"));
    }
}
