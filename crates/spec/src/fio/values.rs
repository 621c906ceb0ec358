//! What values of options say.

use super::number::Units;
use crate::extent::Extent;
use crate::values::{self, above_0, not_0, whole};
use model::FillPattern;

pub(super) const NEEDS_VALUE: &str = "needs a value";

pub(super) fn flag(text: &str, units: Units) -> Result<bool, String> {
    match text {
        "" | "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        // fio takes every number but 0 for yes.
        _ => units.bytes(text).map(|n| n != 0).map_err(|_| format!("'{text}' is neither 0 nor 1")),
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
pub(super) fn one_of<T: Clone>(text: &str, values: &[(&str, T)]) -> Result<T, OptionError> {
    let names = || values.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    values::one_of(text, values)
        .map_err(|_| OptionError::unsupported(format!("'{text}' is not supported: {} are", names())))
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
pub(super) fn takes(met: bool, what: &str) -> Result<(), OptionError> {
    if met { Ok(()) } else { Err(OptionError::unsupported(what)) }
}

/// What is wrong with the value of an option.
#[derive(Debug)]
pub(super) struct OptionError {
    pub what: String,
    /// Whether fio takes the value, so that it may be left out.
    pub unsupported: bool,
}

impl OptionError {
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self { what: what.into(), unsupported: true }
    }
}

impl From<String> for OptionError {
    fn from(what: String) -> Self {
        Self { what, unsupported: false }
    }
}

impl From<&str> for OptionError {
    fn from(what: &str) -> Self {
        what.to_owned().into()
    }
}

/// Processors of a mask, as a number.
pub(super) fn mask(text: &str, units: Units) -> Result<Vec<u32>, String> {
    let mask = above_0(units.bytes(text)?).ok_or("a mask of 0 leaves no processor")?;
    Ok((0..u64::BITS).filter(|cpu| mask >> cpu & 1 == 1).collect())
}

/// What buffers are filled with: texts in quotes, hexadecimal digits as they stand, and whole numbers of 32 bits, least byte
/// first, without the zeros behind their highest byte (seen with fio 3.33), one behind the other.
pub(super) fn pattern(text: &str) -> Result<FillPattern, OptionError> {
    let mut bytes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (inner, behind) = quoted.split_once('"').ok_or_else(|| format!("'{text}': a quote is not closed"))?;
            bytes.extend(inner.bytes());
            rest = behind;
        } else if rest.starts_with('\'') {
            let what = format!("'{text}': the content of a file is not supported: 0xHEX, \"text\" and numbers are");
            return Err(OptionError::unsupported(what));
        } else if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let count = digits.bytes().take_while(u8::is_ascii_hexdigit).count();
            let (hex, behind) = digits.split_at(count);
            // An odd first digit is a byte of its own.
            bytes.extend(FillPattern::try_from(format!("{}{hex}", if count % 2 == 1 { "0" } else { "" }))?.bytes());
            rest = behind;
        } else {
            let sign = usize::from(rest.starts_with('-'));
            let count = sign + rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
            let (digits, behind) = rest.split_at(count);
            let number: i32 =
                digits.parse().map_err(|_| format!("'{rest}' is not a pattern: 0xHEX, \"text\", NUMBER"))?;
            let used = 4 - number.to_le_bytes().iter().rev().take_while(|b| **b == 0).count();
            bytes.extend(&number.to_le_bytes()[..used.max(1)]);
            rest = behind;
        }
    }
    Ok(FillPattern::of(bytes)?)
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
