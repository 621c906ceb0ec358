//! Values and tables of TOML texts, as `--set` takes them.

/// A value as `--set` takes it.
pub(crate) fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The keys of a table, with what each says.
pub(crate) fn pairs_of(table: &toml::Table) -> Vec<(String, String)> {
    table.iter().map(|(key, value)| (key.clone(), plain(value))).collect()
}

/// Whether a text has a table of this head, such as `[experiment]`.
pub(crate) fn has_table(text: &str, head: &str) -> bool {
    text.lines().any(|line| line.trim() == head)
}
