//! The word that documents have for a value.

use serde::Serialize;

/// The JSON name of a variant without data: `page-cache`; nothing of any other value.
pub fn json_name(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}
