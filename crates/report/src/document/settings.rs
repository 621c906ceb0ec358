//! `narrows/settings/1` of the settings on a path.

use serde::Serialize;

/// What `narrows settings list TARGET --json` prints.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/settings/1")]
pub struct SettingsListDocument<'a> {
    /// As it was named.
    pub target: &'a str,
    /// What there is on its path.
    pub settings: &'a [ListedSetting],
}

/// A setting on the path to a target: several files where it has several there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedSetting {
    /// As an arm of an experiment names it.
    pub name: &'static str,
    /// What it decides, and its unit.
    pub about: &'static str,
    /// Its files.
    pub values: Vec<ListedValue>,
}

/// One file of a [`ListedSetting`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedValue {
    /// The file.
    pub path: String,
    /// What it holds.
    pub now: String,
    /// Other values that are worth a try.
    pub candidates: Vec<String>,
    /// Why it cannot be changed; `null` if it can.
    pub fixed: Option<String>,
}

impl<'a> SettingsListDocument<'a> {
    /// The document of a list.
    pub fn new(target: &'a str, settings: &'a [ListedSetting]) -> Self {
        Self { target, settings }
    }
}
