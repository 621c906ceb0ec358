//! Evidence in words: what was read or measured, its value with its unit, and where it is from.

use crate::fact;
use crate::quantity;
use model::{Evidence, EvidenceKind, LimitLayer, Metric, Run, Unit};

/// How sure, as it stands behind a statement.
pub(crate) fn confidence_word(c: model::Confidence) -> &'static str {
    match c {
        model::Confidence::High => "high confidence",
        model::Confidence::Probable => "probable",
        model::Confidence::Low => "low confidence",
    }
}

/// A statement of what limits, and how sure that is. What is not known is not known with any confidence.
pub(crate) fn with_confidence(statement: &str, layer: LimitLayer, confidence: model::Confidence) -> String {
    match layer {
        LimitLayer::Unknown => statement.to_owned(),
        _ => format!("{statement} ({})", confidence_word(confidence)),
    }
}

/// How a number is written.
type Written = fn(f64) -> String;

/// What a number is of, and how it is written, where its name ends in its unit: `direct write, bytes per second`. JSON has it so.
fn unit_behind(what: &str) -> Option<(&str, Written)> {
    let (name, unit) = what.rsplit_once(", ")?;
    let written: Written = match unit {
        "bytes per second" => quantity::rate,
        "bytes" => |v| format!("{} bytes", quantity::thousands(&format!("{v:.0}"))),
        "ns" => |v| quantity::quantity(v, Unit::Ns),
        "kHz" => |v| format!("{} MHz", quantity::significant(v / 1e3, 4)),
        "1/1000 degree C" => |v| format!("{:.1} deg C", v / 1e3),
        _ => return None,
    };
    Some((name, written))
}

/// A number of evidence in words. Where it repeats a metric of the run, it is written as the tables write that metric.
/// Otherwise its unit is in the name (`busy share`, or behind a comma), else in the source where that is a metric's id.
fn number(e: &Evidence, metric: Option<&Metric>, n: &serde_json::Number) -> Option<String> {
    let v = n.as_f64()?;
    let same = |value: f64| (value - v).abs() <= value.abs() * 1e-3;
    if let Some(metric) = metric.filter(|m| m.value.is_some_and(same)) {
        return quantity::metric(metric).map(|shown| shown.value());
    }
    let words: Vec<&str> = e.what.split(|c: char| !c.is_alphanumeric()).collect();
    let says = |known: &[&str]| words.iter().any(|w| known.contains(w));
    if let Some((_, written)) = unit_behind(&e.what) {
        return Some(written(v));
    }
    if e.what.starts_with("bytes ") && v >= 0.0 {
        return Some(quantity::size(v as u64));
    }
    if says(&["share", "utilisation"]) && (0.0..=64.0).contains(&v) {
        return Some(format!("{} %", quantity::significant(v * 100.0, 2)));
    }
    // A comparison of two values of a metric has the metric as its source, but not its unit; nor has a count.
    let unitless = says(&["ratio", "over", "times", "factor", "scaling", "spread", "flight", "operations"]);
    let unit = quantity::unit_of_name(&e.what).or_else(|| quantity::unit_of_name(&e.source).filter(|_| !unitless));
    Some(match unit {
        Some(unit) => quantity::quantity(v, unit),
        None if n.is_f64() => quantity::significant(v, 3),
        None => n.to_string(),
    })
}

/// Whether the evidence is a fact of a layer: its source is the layer's name and then the fact's.
fn is_layer_fact(e: &Evidence) -> bool {
    e.source.strip_suffix(e.what.as_str()).is_some_and(|layer| layer.ends_with(' '))
}

/// A value of evidence in words, given the metric that its source names; `None` where there is none.
fn value(e: &Evidence, metric: Option<&Metric>) -> Option<String> {
    fn words(e: &Evidence, metric: Option<&Metric>, value: &serde_json::Value) -> Option<String> {
        match value {
            serde_json::Value::Null => None,
            serde_json::Value::Bool(true) => Some("yes".into()),
            serde_json::Value::Bool(false) => Some("no".into()),
            serde_json::Value::String(s) => Some(s.clone()),
            serde_json::Value::Number(n) => number(e, metric, n),
            serde_json::Value::Array(list) => {
                Some(list.iter().filter_map(|v| words(e, metric, v)).collect::<Vec<_>>().join(", "))
                    .filter(|s| !s.is_empty())
            }
            other @ serde_json::Value::Object(_) => Some(other.to_string()),
        }
    }
    if is_layer_fact(e)
        && let Ok(value) = serde_json::from_value::<model::Fact>(e.value.clone())
    {
        return fact::value(&e.what, &value);
    }
    words(e, metric, &e.value)
}

/// A piece of evidence in words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RenderedEvidence {
    pub kind: EvidenceKind,
    /// What it is, without the unit that its value shows.
    pub name: String,
    /// Where there is one.
    pub value: Option<String>,
    /// What is said of something absent.
    absence: &'static str,
    /// Where it was read.
    pub source: String,
}

impl RenderedEvidence {
    /// A piece of evidence from a run.
    pub fn of(run: &Run, evidence: &Evidence) -> Self {
        Self::new(evidence, run.metric(&evidence.source))
    }

    /// The same without a run, where facts are all there is.
    pub fn of_fact(evidence: &Evidence) -> Self {
        Self::new(evidence, None)
    }

    fn new(evidence: &Evidence, metric: Option<&Metric>) -> Self {
        let shown = matches!(evidence.value, serde_json::Value::Number(_) | serde_json::Value::Array(_));
        let name = match is_layer_fact(evidence) {
            true => fact::name(&evidence.what),
            false => unit_behind(&evidence.what).filter(|_| shown).map_or(&*evidence.what, |(name, _)| name).to_owned(),
        };
        Self {
            kind: evidence.kind,
            name,
            value: value(evidence, metric),
            // A fact that the system did not tell is not known; anything else is not there.
            absence: if is_layer_fact(evidence) { "not known" } else { "not there" },
            source: evidence.source.clone(),
        }
    }

    /// In one line: `buffered write throughput: 41.0 MB/s`.
    pub fn line(&self) -> String {
        match (self.kind, &self.value) {
            (EvidenceKind::Absence, _) => format!("{}: {}", self.absence, self.name),
            (_, Some(value)) => format!("{}: {value}", self.name),
            (_, None) => self.name.clone(),
        }
    }

    /// What stands in the place of the value.
    pub fn without_value(&self) -> &'static str {
        if self.kind == EvidenceKind::Absence { self.absence } else { "-" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_reads_as_people_write_it() {
        let fact = |e: Evidence| RenderedEvidence::of_fact(&e).line();
        let line =
            |what: &str, value: serde_json::Value, source: &str| fact(Evidence::measurement(what, value, source));
        let id = "seq-write.throughput_bytes_per_s";
        assert_eq!(line("direct write, bytes per second", 59.2e6.into(), id), "direct write: 59.2 MB/s");
        assert_eq!(line("rate at depth 32", 3344.0.into(), "rand-read-qd32.iops"), "rate at depth 32: 3 340 IOPS");
        assert_eq!(
            line("mean operations in flight", 31.4.into(), "rand-read-qd32.iops"),
            "mean operations in flight: 31.4"
        );
        assert_eq!(
            line("latency at depth over depth 1", 30.1.into(), "x.latency_ns_mean"),
            "latency at depth over depth 1: 30.1"
        );
        assert_eq!(
            line("own system CPU share", 0.834.into(), "buffered-write getrusage"),
            "own system CPU share: 83 %"
        );
        assert_eq!(
            line("write rate before and after, bytes per second", vec![4e8, 5.5e7].into(), "seq-write series"),
            "write rate before and after: 400 MB/s, 55.0 MB/s"
        );
        assert_eq!(line("time of an access, ns", 298.0.into(), "cost of an access"), "time of an access: 298 ns");
        assert_eq!(line("longest time, ns", 300_000_000.into(), "w series"), "longest time: 300 ms");
        assert_eq!(line("width of the bus, bytes", 4.0.into(), "cost of an access"), "width of the bus: 4 bytes");
        assert_eq!(line("real capacity, bytes", 16_777_216.into(), "places"), "real capacity: 16 777 216 bytes");
        assert_eq!(line("frequency, kHz", vec![1_200_000, 600_000].into(), "s"), "frequency: 1 200 MHz, 600.0 MHz");
        assert_eq!(line("frequency, kHz", "1 to 2".into(), "s"), "frequency, kHz: 1 to 2");
        assert_eq!(line("heat of cpu, 1/1000 degree C", 85_012.into(), "s"), "heat of cpu: 85.0 deg C");
        assert_eq!(fact(Evidence::absence("a command queue", "/sys")), "not there: a command queue");
        assert_eq!(fact(Evidence::fact("queue_depth", 1, "sda queue_depth")), "queue depth: 1");
        assert_eq!(fact(Evidence::fact("clock_hz", 150_000_000, "mmc1 clock_hz")), "clock: 150.0 MHz");
        assert_eq!(
            fact(Evidence::fact("mmc_host_cqe", false, "fe32.mmc mmc_host_cqe")),
            "host has a command queue engine: no"
        );
        assert_eq!(fact(Evidence::absence("cmdq_en", "mmcblk1 cmdq_en")), "not known: command queue in use");
    }
}
