//! `narrows/tune/1`.

use serde::Serialize;

/// What `narrows settings list TARGET --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct TuneListDocument<'a> {
    /// `narrows/tune/1`.
    pub schema: &'static str,
    /// As it was named.
    pub target: &'a str,
    /// What there is on its path.
    pub settings: &'a [TuneSetting],
}

/// A setting on the path to a target: several files where it has several there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneSetting {
    /// As an arm of an experiment names it.
    pub name: &'static str,
    /// What it decides, and its unit.
    pub about: &'static str,
    /// Its files.
    pub values: Vec<TuneValue>,
}

/// One file of a [`TuneSetting`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TuneValue {
    /// The file.
    pub path: String,
    /// What it holds.
    pub now: String,
    /// Other values that are worth a try.
    pub candidates: Vec<String>,
    /// Why it cannot be changed; `null` if it can.
    pub fixed: Option<String>,
}

impl<'a> TuneListDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/tune/1";

    /// The document of a list.
    pub fn new(target: &'a str, settings: &'a [TuneSetting]) -> Self {
        Self { schema: Self::SCHEMA, target, settings }
    }
}
