//! Studies that are no phases, as text: one table and its keys, which is what is built in where the text does not say otherwise.

use crate::keys::{self, Key};
use crate::text_error::{TextError, TextErrorKind, TextPosition};
use crate::toml_values::pairs_of;

/// A value between two others, that was said as `text`; what is expected in its place says the key, in units of its own.
pub(crate) fn within<T: PartialOrd>(text: &str, value: T, least: T, most: T) -> Result<T, String> {
    if value >= least && value <= most { Ok(value) } else { Err(format!("'{}' is out of range", text.trim())) }
}

/// What the table of this name says of a text, beside which nothing but its title may stand.
fn parse_pairs(table: &str, place: &TextPosition, text: &str) -> Result<Vec<(String, String)>, TextError> {
    let form = |key: &str, what: String| place.error(TextErrorKind::Form, key, what);
    let mut tables: toml::Table = toml::from_str(text).map_err(|e| form("", e.message().to_owned()))?;
    let study = tables.remove(table).and_then(|study| study.try_into().ok());
    match tables.keys().find(|key| !["name", "title", "answers"].contains(&key.as_str())) {
        Some(other) => Err(form(other, format!("is not part of a text of {table}"))),
        None => Ok(pairs_of(&study.ok_or_else(|| form(table, "is a table".to_owned()))?)),
    }
}

/// Reads such a text, with other values for some keys: the study, and what is wrong with single values.
///
/// # Errors
/// What is wrong with the form of the text.
pub(crate) fn read_study<T: Default>(
    table: &str,
    keys: &'static [Key<T>],
    file: &str,
    text: &str,
    set: &[(String, String)],
) -> Result<(T, Vec<TextError>), Vec<TextError>> {
    let place = TextPosition { file: file.to_owned(), line: 0 };
    let command_line = TextPosition::command_line();
    let read = |text| parse_pairs(table, &place, text).map_err(|error| vec![error]);
    let usual = read(crate::workload_text(table).unwrap_or_default())?;
    let mut study = T::default();
    let mut errors = Vec::new();
    for (place, pairs) in [(&place, &usual), (&place, &read(text)?), (&command_line, &set.to_vec())] {
        for (name, value) in pairs {
            let name = name.strip_prefix(table).and_then(|name| name.strip_prefix('.')).unwrap_or(name);
            let given = keys::find(keys, name).map(|key| key.set(&mut study, value));
            let nearest = || keys::nearest(name, keys::names(keys));
            errors.extend(match given {
                Some(given) => given.err().map(|what| place.error(TextErrorKind::Value, name, what)),
                None => Some(place.error(TextErrorKind::Unknown, name, "no such key").with_nearest(nearest())),
            });
        }
    }
    Ok((study, errors))
}
