//! `narrows/explain/1`.

use model::{FindingText, UseText};
use serde::Serialize;

/// What `narrows explain ID --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainDocument<'a> {
    /// `narrows/explain/1`.
    pub schema: &'static str,
    /// The page; its keys stand beside `schema`.
    #[serde(flatten)]
    pub page: &'a FindingText,
}

impl<'a> ExplainDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/explain/1";

    /// The document of a page.
    pub fn new(page: &'a FindingText) -> Self {
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

/// What `narrows explain for-USE --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainUseDocument<'a> {
    /// `narrows/explain/1`.
    pub schema: &'static str,
    /// The use; its keys stand beside `schema`.
    #[serde(flatten)]
    pub used: &'a UseText,
}

impl<'a> ExplainUseDocument<'a> {
    /// The document of a use.
    pub fn new(used: &'a UseText) -> Self {
        Self { schema: ExplainDocument::SCHEMA, used }
    }
}
