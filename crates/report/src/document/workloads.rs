//! `narrows/workloads/1`.

use serde::Serialize;

/// What `narrows workloads --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/workloads/1")]
pub struct WorkloadsDocument<'a> {
    /// All that are built in.
    pub workloads: Vec<WorkloadEntry<'a>>,
}

/// One line of a [`WorkloadsDocument`].
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadEntry<'a> {
    /// By which it is run.
    pub name: &'a str,
    /// In a few words.
    pub title: &'a str,
    /// The question that it answers.
    pub answers: &'a str,
}

impl<'a> WorkloadsDocument<'a> {
    /// The list of `(name, title, answers)`.
    pub fn new(workloads: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Self {
        let entry = |(name, title, answers)| WorkloadEntry { name, title, answers };
        Self { workloads: workloads.into_iter().map(entry).collect() }
    }
}

/// What `narrows workloads show NAME --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/workloads/1")]
pub struct WorkloadDocument<'a> {
    /// By which it is run.
    pub name: &'a str,
    /// Its text, TOML.
    pub text: &'a str,
}

impl<'a> WorkloadDocument<'a> {
    /// The document of a text.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }
}
