//! The page of a finding, as the catalogue holds it and `explain` shows it.

use crate::LimitLayer;
use serde::{Deserialize, Serialize};

/// How well the knowledge behind a finding is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CatalogueStatus {
    /// Read in a primary source.
    Confirmed,
    /// From secondary sources or a single report.
    Probable,
}

/// The page of a finding, as `explain` shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingText {
    /// Stable id.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it sits.
    pub layer: LimitLayer,
    /// How well established.
    pub status: CatalogueStatus,
    /// What it means, and why it costs something.
    pub meaning: String,
    /// What is shown as evidence, and where a person can read it.
    pub evidence: Vec<String>,
    /// What a predicted gain rests on, or why none is predicted.
    pub gain_basis: String,
    /// What to do; the first line is a whole sentence that fits a card.
    pub fix: String,
    pub undo: String,
    /// Where the knowledge comes from.
    pub sources: Vec<String>,
    /// Where to read more.
    pub links: Vec<String>,
}
