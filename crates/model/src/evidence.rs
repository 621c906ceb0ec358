//! What a statement of the diagnosis rests on.

use serde::{Deserialize, Serialize};

/// How the program came to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceKind {
    /// Read from the system (a file, a register, a log line).
    Fact,
    /// Measured in this run.
    Measurement,
    /// Something that would be needed, or would be there, and is not.
    Absence,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the program came to know.
    pub kind: EvidenceKind,
    /// What it is, in words: `buffered write throughput`, `queue_depth`.
    pub what: String,
    /// Its value as JSON (number, text, boolean); `null` for an absence.
    pub value: serde_json::Value,
    /// Where it comes from: a metric id, a path under /sys, a kernel log line.
    pub source: String,
}

impl Evidence {
    /// A fact read from `source`.
    pub fn fact(what: impl Into<String>, value: impl Into<serde_json::Value>, source: impl Into<String>) -> Self {
        Self { kind: EvidenceKind::Fact, what: what.into(), value: value.into(), source: source.into() }
    }

    /// A measurement of this run; `source` is a metric id or a series.
    pub fn measurement(
        what: impl Into<String>,
        value: impl Into<serde_json::Value>,
        source: impl Into<String>,
    ) -> Self {
        Self { kind: EvidenceKind::Measurement, what: what.into(), value: value.into(), source: source.into() }
    }

    /// A number that was measured, to four significant figures, so that JSON stays readable.
    pub fn measured(what: impl Into<String>, value: f64, source: impl Into<String>) -> Self {
        Self::measurement(what, four_figures(value), source)
    }

    /// Something that is not there; `source` is where it was looked for.
    pub fn absence(what: impl Into<String>, source: impl Into<String>) -> Self {
        Self { kind: EvidenceKind::Absence, what: what.into(), value: serde_json::Value::Null, source: source.into() }
    }
}

/// Rounded to four significant figures.
pub fn four_figures(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}
