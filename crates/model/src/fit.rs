//! What storage is good for: a use with its needs, and how a target stands to it.

use crate::{Better, Reason, Unit};
use serde::{Deserialize, Serialize};

/// One need of a use: a quantity of a phase of the check, and its limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// The phase of the check that shows it, by name.
    pub phase: String,
    /// The quantity: the last part of a metric's id, or `sustained_bytes_per_s`, the rate of the slowest second.
    pub quantity: String,
    /// At least this much is needed.
    #[serde(default)]
    pub least: Option<f64>,
    /// No more than this much may be.
    #[serde(default)]
    pub most: Option<f64>,
    /// The quantity in words: `random writes/s`.
    pub what: String,
    /// Who asks for it, in a word: `A1`.
    pub by: String,
}

impl Need {
    /// The limit, whichever way it goes.
    pub fn threshold(&self) -> f64 {
        self.least.or(self.most).unwrap_or(f64::NAN)
    }

    /// Which direction is the better one.
    pub fn better(&self) -> Better {
        if self.least.is_some() { Better::Higher } else { Better::Lower }
    }
}

/// A use: what `check --for` asks about, as `explain for-ID` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UseText {
    /// Stable; `check --for` takes it.
    pub id: String,
    /// In a few words, to stand behind "good for".
    pub title: String,
    /// Whether every check says how it stands to this use.
    pub summary: bool,
    /// What it does to storage.
    pub meaning: String,
    /// Where the limits come from.
    pub sources: Vec<String>,
    /// Bytes of an entry of its log, where that decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// How much is to be written, of a checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_bytes: Option<u64>,
    #[serde(rename = "need")]
    pub needs: Vec<Need>,
}

/// How a target stands to one need of a use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeedFit {
    /// The metric, or the phase and the quantity that was made of its series.
    pub metric: String,
    /// The quantity in words.
    pub quantity: String,
    /// Who asks for it, in a word.
    pub by: String,
    /// Unit of value and limit.
    pub unit: Unit,
    pub threshold: f64,
    pub value: Option<f64>,
    pub bound: Option<crate::Bound>,
    /// Whether it is met; `None` where that is not known.
    pub met: Option<bool>,
}

impl From<&Fit> for NeedFit {
    fn from(fit: &Fit) -> Self {
        let Fit { metric, quantity, by, unit, threshold, value, bound, met, .. } = fit.clone();
        Self { metric, quantity, by, unit, threshold, value, bound, met }
    }
}

/// How a target stands to a use: the need that decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Which use, as it was asked for.
    #[serde(rename = "for")]
    pub what: String,
    /// In a few words.
    pub title: String,
    /// Whether all its needs are met; `None` where that is not known.
    pub met: Option<bool>,
    /// The limit of the need that decides.
    pub threshold: f64,
    /// What was measured; `None` where no number stands.
    pub value: Option<f64>,
    /// On which side of the value the true one is, where something slowed the measurement.
    pub bound: Option<crate::Bound>,
    /// Unit of both.
    pub unit: Unit,
    /// Which direction is the better one.
    pub better: Better,
    /// The metric, or the phase and the quantity that was made of its series.
    pub metric: String,
    /// The quantity in words.
    pub quantity: String,
    /// Who asks for it, in a word.
    pub by: String,
    /// How many times better than its limit the value is: below 1 it is not met.
    pub margin_ratio: Option<f64>,
    /// Memory that a recorder would have needed to lose nothing, of streams with a rate.
    pub ring_bytes: Option<u64>,
    /// Where the limit comes from.
    pub source: String,
    /// Why it is not known.
    pub reasons: Vec<Reason>,
    /// Each need with its own answer, of a use that has more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedFit>,
}

impl Fit {
    /// Whether it is of one of these uses, whose names stand between commas.
    pub fn is_one_of(&self, names: &str) -> bool {
        names.split(',').any(|name| name == self.what)
    }
}

/// What limits one row of a card.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowLimit {
    /// The phase of the row.
    pub phase: String,
    pub layer: crate::LimitLayer,
    /// In a few words.
    pub statement: String,
    /// How sure.
    pub confidence: crate::Confidence,
    /// What it rests on.
    pub evidence: Vec<crate::Evidence>,
    /// What to do about it; `None` where nothing is known.
    pub next_step: Option<crate::NextStep>,
}

impl From<&RowLimit> for crate::Limit {
    fn from(row: &RowLimit) -> Self {
        let RowLimit { layer, statement, confidence, evidence, .. } = row.clone();
        Self { layer, statement, confidence, evidence }
    }
}
