//! What is said of options and engines that are not simply supported.

use model::{EngineKind, FileOperation};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What is said of options and engines in words.
#[derive(Deserialize)]
pub(super) struct Words {
    /// They change neither what is done nor what is measured, and why.
    pub harmless: Listed,
    /// They are refused, and what comes nearest; empty: nothing does.
    pub refused: Listed,
    /// What `ioengine` may be.
    pub engines: Vec<Engine>,
}

/// Engines of fio that are carried out in the same way.
#[derive(Deserialize)]
pub(super) struct Engine {
    /// Separated by blanks.
    pub names: String,
    /// What carries them out.
    pub engine: EngineKind,
    /// Of those that operate on files and directories as a whole: what they do.
    pub operation: Option<FileOperation>,
    /// What is not as there; empty: nothing.
    #[serde(default)]
    pub says: String,
}

/// The lists of `fio-options.toml`.
pub(super) static WORDS: LazyLock<Words> =
    LazyLock::new(|| toml::from_str(include_str!("../../fio-options.toml")).expect("a test reads it"));

/// Options, separated by blanks, by what is to be said of them.
type Listed = BTreeMap<String, String>;

/// What such a list says of an option.
pub(super) fn listed(list: &'static Listed, name: &str) -> Option<&'static str> {
    list.iter().find(|(_, names)| names.split_whitespace().any(|n| n == name)).map(|(says, _)| says.as_str())
}
