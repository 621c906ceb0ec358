//! What texts are read with.

use crate::text_error::{TextError, TextErrorKind, TextPosition};
use std::collections::BTreeMap;

/// Texts that include each other at most, one below the other.
const INCLUDE_DEPTH: u32 = 16;
/// Mistakes that are told at once.
pub(crate) const MAX_ERRORS: usize = 256;

/// What a text is read with.
#[derive(Clone, Copy, Debug)]
pub struct TextInputs<'a> {
    /// Name of the text, for messages.
    pub file: &'a str,
    pub text: &'a str,
    /// Texts that it may include, by the name by which it does. What is missing is asked for with
    /// [`TextErrorKind::NeedsInclude`].
    pub includes: &'a BTreeMap<String, String>,
    /// `--set KEY=VALUE`, in order. TOML: `KEY` for all jobs or `PHASE.KEY`; fio: an option for all jobs.
    pub set: &'a [(String, String)],
    /// Variables of the environment, for `${NAME}` in fio's job files.
    pub variables: &'a BTreeMap<String, String>,
    /// The machine, for `$pagesize`, `$mb_memory` and `$ncpus`.
    pub machine: TextMachine,
    /// Unsupported options of fio's job files become notes instead of errors.
    pub lenient: bool,
}

impl<'a> TextInputs<'a> {
    /// Of a text of this program, which includes nothing and asks for nothing of the machine.
    pub fn own(file: &'a str, text: &'a str) -> Self {
        static NOTHING: BTreeMap<String, String> = BTreeMap::new();
        let machine = TextMachine { page_size_bytes: 4096, memory_bytes: 0, processors: 1 };
        Self { file, text, includes: &NOTHING, set: &[], variables: &NOTHING, machine, lenient: false }
    }

    /// The name and the text that another text, itself included at `depth`, includes at a place. It stands beside the other;
    /// the text that is read itself has no directory here: the caller knows it.
    pub(crate) fn included(&self, at: &TextPosition, depth: u32, name: &str) -> Result<(String, &'a str), TextError> {
        let name = match at.file.rsplit_once('/') {
            Some((directory, _)) if depth > 0 && !name.starts_with('/') => format!("{directory}/{name}"),
            _ => name.to_owned(),
        };
        match self.includes.get(&name) {
            _ if depth >= INCLUDE_DEPTH => {
                Err(at.error(TextErrorKind::Form, "include", "includes go too deep; do they go round?"))
            }
            Some(text) => Ok((name, text)),
            None => Err(at.error(TextErrorKind::NeedsInclude, &name, "an included text")),
        }
    }
}

/// What a text may ask of the machine.
#[derive(Clone, Copy, Debug)]
pub struct TextMachine {
    /// Size of a page of memory.
    pub page_size_bytes: u64,
    pub memory_bytes: u64,
    /// Processors online.
    pub processors: u32,
}
