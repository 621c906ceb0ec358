//! `narrows/explain/1`.

use model::LimitLayer;
use serde::{Deserialize, Serialize};

/// The page of a finding, as the catalogue has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainPage {
    /// Stable id.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// Where it sits.
    pub layer: LimitLayer,
    /// How well established: `confirmed`, `probable`.
    pub status: String,
    /// What it means, and why it costs something.
    pub meaning: String,
    /// What is shown as evidence, and where a person can read it.
    pub evidence: Vec<String>,
    /// What a predicted gain rests on, or why none is predicted.
    pub gain_basis: String,
    /// What to do.
    pub fix: String,
    /// How to undo it.
    pub undo: String,
    /// Where the knowledge comes from.
    pub sources: Vec<String>,
    /// Where to read more.
    pub links: Vec<String>,
}

/// What `narrows explain ID --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainDocument<'a> {
    /// `narrows/explain/1`.
    pub schema: &'static str,
    /// The page; its keys stand beside `schema`.
    #[serde(flatten)]
    pub page: &'a ExplainPage,
}

impl<'a> ExplainDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/explain/1";

    /// The document of a page.
    pub fn new(page: &'a ExplainPage) -> Self {
        Self { schema: Self::SCHEMA, page }
    }
}

/// What `narrows explain --json` prints without an id.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainListDocument<'a> {
    /// `narrows/explain/1`.
    pub schema: &'static str,
    /// All findings of the catalogue.
    pub findings: Vec<ExplainListEntry<'a>>,
}

/// One line of an [`ExplainListDocument`].
#[derive(Clone, Debug, Serialize)]
pub struct ExplainListEntry<'a> {
    /// Stable id.
    pub id: &'a str,
    /// In a few words.
    pub title: &'a str,
}

impl<'a> ExplainListDocument<'a> {
    /// The list of `(id, title)`.
    pub fn new(findings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let findings = findings.into_iter().map(|(id, title)| ExplainListEntry { id, title }).collect();
        Self { schema: ExplainDocument::SCHEMA, findings }
    }
}
