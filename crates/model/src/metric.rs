//! One measured quantity as every JSON document and every table shows it.

use crate::Reason;
use serde::{Deserialize, Serialize};

/// The unit of a [`Metric`]; its text form is the suffix that JSON keys carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes per second (not MiB, not kB).
    BytesPerS,
    /// Operations per second.
    OpsPerS,
    /// Files or directories per second.
    FilesPerS,
    /// Nanoseconds.
    Ns,
    /// Seconds.
    S,
    /// Percent, 0 to 100 (CPU percentages of several cores may exceed 100).
    Percent,
    Bytes,
    /// A pure number.
    Ratio,
}

/// Which direction of a metric is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: rates.
    Higher,
    /// Less is better: latencies, CPU.
    Lower,
}

/// Whether the value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricStatus {
    /// Measured, and nothing speaks against it.
    Measured,
    /// Measured, but something makes it untrue; the value is in `rejected_value` and the reasons say why.
    Refused,
    /// Not measured because of the budget, an interruption or a missing permission.
    Skipped,
    /// Has no meaning on this target.
    NotApplicable,
}

impl MetricStatus {
    /// That a number of a run has no value, and why; in so many of all runs, where these are not zero.
    pub fn because(self, because: Reason, runs: u64, of_runs: u64) -> Reason {
        let because = Box::new(because);
        match self {
            Self::Refused => Reason::Refused { because, runs, of_runs },
            Self::Skipped => Reason::Skipped { because, runs, of_runs },
            Self::NotApplicable => Reason::NotApplicable { because, runs, of_runs },
            Self::Measured => Reason::NotFinite { because, runs, of_runs },
        }
    }
}

/// What `low` and `high` describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// How steady this one phase was (95 %); says nothing about another run.
    WithinRun,
    /// Over several runs (95 %).
    AcrossRuns,
}

/// On which side of a rejected value the true one is: what disturbed it can only have made it worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// A rate: undisturbed it is this or more.
    AtLeast,
    /// A latency or a time: undisturbed it is this or less.
    AtMost,
}

impl Bound {
    /// As people read it, before the number.
    pub fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }

    /// Where the true value lies, given the value that is the bound.
    pub fn range(self, value: f64) -> (f64, f64) {
        match self {
            Self::AtLeast => (value, f64::INFINITY),
            Self::AtMost => (f64::NEG_INFINITY, value),
        }
    }
}

/// A quantity with its identity `<phase>[.<job>][.read|.write].<quantity>`, value, interval and status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// For example `seq-write.throughput_bytes_per_s`.
    pub id: String,
    /// Unit of value, low, high and rejected value.
    pub unit: Unit,
    /// Direction, where there is one.
    pub better: Option<Better>,
    /// Whether the value stands.
    pub status: MetricStatus,
    /// The value; `None` unless measured.
    pub value: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// What the interval describes; `None` where there is no interval.
    pub interval: Option<IntervalKind>,
    /// How many observations carry the value (operations, rounds, or runs).
    pub n: u64,
    /// Why it is refused or skipped; remarks where measured.
    pub reasons: Vec<Reason>,
    /// What was measured but must not be believed.
    pub rejected_value: Option<f64>,
    /// That the true value is on this side of the rejected one; `None` where it may be on either, and where nothing is rejected.
    #[serde(default)]
    pub bound: Option<Bound>,
}

impl Metric {
    /// A metric that was measured, still without an interval.
    pub fn measured(id: impl Into<String>, unit: Unit, better: Option<Better>, value: f64, n: u64) -> Self {
        Self {
            id: id.into(),
            unit,
            better,
            status: MetricStatus::Measured,
            value: value.is_finite().then_some(value),
            low: None,
            high: None,
            interval: None,
            n,
            reasons: Vec::new(),
            rejected_value: None,
            bound: None,
        }
    }

    /// A metric that was not measured, with the reason.
    pub fn absent(
        id: impl Into<String>,
        unit: Unit,
        better: Option<Better>,
        status: MetricStatus,
        reason: Reason,
    ) -> Self {
        Self {
            id: id.into(),
            unit,
            better,
            status,
            value: None,
            low: None,
            high: None,
            interval: None,
            n: 0,
            reasons: vec![reason],
            rejected_value: None,
            bound: None,
        }
    }

    /// Adds a within-run interval.
    pub fn within_run(mut self, low: f64, high: f64) -> Self {
        if low.is_finite() && high.is_finite() {
            self.low = Some(low);
            self.high = Some(high);
            self.interval = Some(IntervalKind::WithinRun);
        }
        self
    }

    /// Turns a measured metric into a refused one: the value moves to `rejected_value`, the interval goes.
    pub fn refuse(&mut self, reasons: &[Reason]) {
        if self.status == MetricStatus::Measured {
            self.status = MetricStatus::Refused;
            self.rejected_value = self.value.take();
            self.low = None;
            self.high = None;
            self.interval = None;
        }
        self.reasons.extend(reasons.iter().filter(|r| !self.reasons.contains(r)).cloned().collect::<Vec<_>>());
    }

    /// Where the true value lies, of a refused one that is a bound: what makes it one, and both ends.
    pub fn bounded(&self) -> Option<(Bound, f64, f64)> {
        let value = self.rejected_value.filter(|v| v.is_finite() && self.status == MetricStatus::Refused)?;
        self.bound.map(|bound| (bound, bound.range(value).0, bound.range(value).1))
    }

    /// The number of a refused metric that something only slowed, whether it is a bound or may be too good beside it: for comparisons
    /// whose sides suffer both alike.
    pub fn slowed(&self) -> Option<f64> {
        let value = self.rejected_value.filter(|v| v.is_finite() && self.status == MetricStatus::Refused)?;
        let is_time = matches!(self.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS | Unit::Ns | Unit::S);
        let slowed = is_time
            && self.reasons.iter().any(Reason::only_worsens)
            && self.reasons.iter().all(|reason| reason.only_worsens() || reason.is("no-interval"));
        (slowed || self.bound.is_some()).then_some(value)
    }

    /// Why the number is no result although a tool printed it: what it is of ended with an error, which is the whole reason
    /// of the code `failed`.
    pub fn failure(&self) -> Option<&Reason> {
        Reason::find(&self.reasons, "failed")
    }
}
