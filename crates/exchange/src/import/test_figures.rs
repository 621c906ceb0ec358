//! The figures of one test in the quantities that most tools print.

use super::{ImportedMetric, ImportedRun, Original};
use model::{Better, Unit};

/// The figures of a test; a figure of zero was not measured.
pub(super) struct TestFigures {
    name: String,
    metrics: Vec<ImportedMetric>,
}

impl TestFigures {
    pub fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), metrics: Vec::new() }
    }

    fn add(
        mut self,
        quantity: &str,
        unit: Unit,
        better: Option<Better>,
        value: Option<f64>,
        original: Original,
    ) -> Self {
        let id = format!("{}.{quantity}", self.name);
        let value = value.filter(|v| *v > 0.0);
        self.metrics.extend(value.and_then(|v| ImportedMetric::new(id, unit, better, v, 1, original)));
        self
    }

    pub fn iops(self, value: Option<f64>, digits: &str) -> Self {
        self.add("iops", Unit::OpsPerS, Some(Better::Higher), value, Original::new(digits, "IOPS"))
    }

    pub fn files_per_s(self, value: Option<f64>, digits: &str) -> Self {
        self.add("files_per_s", Unit::FilesPerS, Some(Better::Higher), value, Original::new(digits, "1/s"))
    }

    /// A rate in bytes a second, with what was printed.
    pub fn rate(self, bytes_per_s: Option<f64>, digits: &str, unit: &str) -> Self {
        let original = Original::new(digits, unit);
        self.add("throughput_bytes_per_s", Unit::BytesPerS, Some(Better::Higher), bytes_per_s, original)
    }

    /// `mean`, `min`, `max`, `p99`.
    pub fn latency(self, which: &str, ns: Option<f64>, digits: &str, unit: &str) -> Self {
        let original = Original::new(digits, unit);
        self.add(&format!("latency_ns_{which}"), Unit::Ns, Some(Better::Lower), ns, original)
    }

    pub fn bytes(self, quantity: &str, better: Option<Better>, bytes: Option<f64>, digits: &str, unit: &str) -> Self {
        let id = format!("{}.{quantity}", self.name);
        let metric =
            bytes.and_then(|v| ImportedMetric::new(id, Unit::Bytes, better, v, 1, Original::new(digits, unit)));
        Self { metrics: self.metrics.into_iter().chain(metric).collect(), ..self }
    }

    pub fn into_run(self, run: &mut ImportedRun) {
        run.push(self.name, self.metrics);
    }
}

/// A whole number with commas between its thousands, or without: `204,584`, `61058`.
pub(super) fn grouped(text: &str) -> Option<f64> {
    let groups: Vec<&str> = text.trim().split(',').collect();
    let digits = |g: &&str| !g.is_empty() && g.bytes().all(|b| b.is_ascii_digit());
    let shaped = groups.len() == 1 || groups[0].len() <= 3 && groups[1..].iter().all(|g| g.len() == 3);
    (groups.iter().all(digits) && shaped).then(|| groups.concat().parse().ok()).flatten()
}

/// A number with k or M for powers of 1000: `75.7k`, `(97.1k)`, `9986`.
pub(super) fn counted(text: &str) -> Option<f64> {
    let text = text.trim();
    let (digits, scale) = match text.chars().next_back()? {
        'k' | 'K' => (&text[..text.len() - 1], 1e3),
        'm' | 'M' => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    Some(super::number::finite(digits).filter(|v| *v >= 0.0)? * scale)
}

/// Bytes a second of `523MiB/s`, `388.78 MB/s`, `1.23 GB/s`, `14950KB/s`: the unit means what it says.
pub(super) fn byte_rate(text: &str) -> Option<f64> {
    let text = text.trim().strip_suffix("/s")?;
    let at = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let power =
        |unit: &str| ["B", "K", "M", "G", "T"].iter().position(|p| unit.eq_ignore_ascii_case(p)).map(|p| p as i32);
    let unit = text[at..].trim();
    let (prefix, base) = match unit.strip_suffix("iB") {
        Some(prefix) => (prefix, 1024_f64),
        None => (unit.strip_suffix('B')?, 1000_f64),
    };
    let scale = base.powi(if prefix.is_empty() { 0 } else { power(prefix)? });
    Some(super::number::finite(&text[..at])? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_their_forms() {
        assert_eq!(
            (grouped("204,584"), grouped("61058"), grouped("12,34"), grouped("")),
            (Some(204_584.0), Some(61_058.0), None, None)
        );
        assert_eq!(
            (counted("75.7k"), counted("9986"), counted("x"), counted("nan")),
            (Some(75_700.0), Some(9986.0), None, None)
        );
        assert_eq!(byte_rate("523MiB/s"), Some(523.0 * 1_048_576.0));
        assert_eq!((byte_rate("1.23 GB/s"), byte_rate("12 B/s"), byte_rate("3 m/s")), (Some(1.23e9), Some(12.0), None));
    }
}
