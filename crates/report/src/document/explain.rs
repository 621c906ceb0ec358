//! `narrows/explain/1`.

use model::{FindingText, UseText};
use serde::Serialize;

/// What `narrows explain ID --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/explain/1")]
pub struct ExplainDocument<'a> {
    /// The page; its keys stand beside `schema`.
    #[serde(flatten)]
    pub page: &'a FindingText,
}

impl<'a> ExplainDocument<'a> {
    /// The document of a page.
    pub fn new(page: &'a FindingText) -> Self {
        Self { page }
    }
}

/// What `narrows explain --json` prints without an id.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/explain/1")]
pub struct ExplainListDocument<'a> {
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
        Self { findings }
    }
}

/// What `narrows explain for-USE --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/explain/1")]
pub struct ExplainUseDocument<'a> {
    /// The use; its keys stand beside `schema`.
    #[serde(flatten)]
    pub used: &'a UseText,
}

impl<'a> ExplainUseDocument<'a> {
    /// The document of a use.
    pub fn new(used: &'a UseText) -> Self {
        Self { used }
    }
}
