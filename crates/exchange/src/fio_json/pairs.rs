//! JSON objects with a fixed order of keys, and numbers as fio prints them.

use serde::ser::{Serialize, SerializeMap, Serializer};

/// An object whose keys stand in the order in which they were put in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairs<V>(pub Vec<(String, V)>);

impl<V> Default for Pairs<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> FromIterator<(String, V)> for Pairs<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl<V: Serialize> Serialize for Pairs<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Six decimals, as printf's `%f`; 0 for what is no number (JSON has no word for it, and readers want a number).
pub(crate) fn decimal(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded.is_finite() {
        rounded
    } else if value.is_finite() {
        value
    } else {
        0.0
    }
}
