//! What is said of words in the lab's files that nothing knows.

/// The name that may have been meant, as the end of a sentence; empty if none is alike.
pub fn did_you_mean<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> String {
    spec::nearest(text, known).map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}

/// What the reader of TOML says, and for a word that it does not know the one that may have been meant.
pub fn explained(error: &toml::de::Error) -> String {
    let said = error.to_string();
    // serde: unknown field `speed`, expected one of `title`, `machine`
    let words = error.message().split_once("unknown ").map_or("", |(_, rest)| rest);
    let mut quoted = words.split('`').skip(1).step_by(2);
    let meant = quoted.next().map(|unknown| did_you_mean(unknown, quoted)).unwrap_or_default();
    format!("{}{meant}", said.trim_end())
}
