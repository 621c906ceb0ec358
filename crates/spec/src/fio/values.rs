//! What values of options say.

use super::number::Units;
use crate::extent::Extent;
use crate::values::{self, not_0, whole};

pub(super) const NEEDS_VALUE: &str = "needs a value";

pub(super) fn flag(text: &str, units: Units) -> Result<bool, String> {
    match text {
        "" | "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => values::flag(&units.plain(text)?).map_err(|_| format!("'{text}' is neither 0 nor 1")),
    }
}

pub(super) fn count(text: &str, units: Units) -> Result<u32, String> {
    whole(&units.plain(text)?)
}

pub(super) fn positive(text: &str, units: Units) -> Result<u32, String> {
    count(text, units).and_then(not_0)
}

pub(super) fn percent(text: &str, units: Units) -> Result<u32, String> {
    values::percent(&units.plain(text.trim_end_matches('%').trim())?)
}

pub(super) fn extent(text: &str, units: Units) -> Result<Extent, String> {
    // Beyond 100 % a size would be one of another target.
    if text.ends_with('%') { percent(text, units).map(Extent::Percent) } else { units.bytes(text).map(Extent::Bytes) }
}

/// The value of a name.
pub(super) fn one_of<T: Clone>(text: &str, values: &[(&str, T)]) -> Result<T, Mistake> {
    let names = || values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    values::one_of(text, values)
        .map_err(|_| Mistake::unsupported(format!("'{text}' is not supported: {} are", names())))
}

/// Read, write, trim: what is left out takes the one before it; what is empty stays.
pub(super) fn triple<T: Clone>(
    into: &mut [T; 3],
    text: &str,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<(), String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!("'{text}': at most three values: read, write, trim"));
    }
    if parts.iter().all(|p| p.is_empty()) {
        return Err(NEEDS_VALUE.to_owned());
    }
    for (at, value) in into.iter_mut().enumerate() {
        // `8k,` says reads only.
        let part = parts.get(at).copied().or_else(|| parts.last().copied()).unwrap_or_default();
        if !part.is_empty() {
            *value = read(part)?;
        }
    }
    Ok(())
}

/// The same of what fio takes and this program does not.
pub(super) fn takes(met: bool, what: &str) -> Result<(), Mistake> {
    if met { Ok(()) } else { Err(Mistake::unsupported(what)) }
}

/// What is wrong with the value of an option.
#[derive(Debug)]
pub(super) struct Mistake {
    pub what: String,
    /// Whether fio takes the value, so that it may be left out.
    pub unsupported: bool,
}

impl Mistake {
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self { what: what.into(), unsupported: true }
    }
}

impl From<String> for Mistake {
    fn from(what: String) -> Self {
        Self { what, unsupported: false }
    }
}

impl From<&str> for Mistake {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

pub(super) fn need(met: bool, what: &str) -> Result<(), String> {
    if met { Ok(()) } else { Err(what.to_owned()) }
}

pub(super) fn text(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|t| !t.is_empty())
}

/// Names that a colon separates; one that belongs to a name is escaped.
pub(super) fn separated(text: &str) -> Vec<String> {
    let text = text.replace("\\:", "\0");
    text.split(':').filter(|n| !n.is_empty()).map(|n| n.replace('\0', ":")).collect()
}
