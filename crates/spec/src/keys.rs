//! Tables of keys: each row is what a text may say, what that may be, what it means, and what it does. One table feeds a
//! reader, `--set`, messages and the documentation.

/// A key that says something of a `T`.
#[derive(Clone, Copy, Debug)]
pub struct Key<T> {
    /// As it is written.
    pub name: &'static str,
    /// What it may be.
    pub expects: &'static str,
    pub meaning: &'static str,
    pub(crate) set: fn(&mut T, &str) -> Result<(), String>,
}

impl<T> Key<T> {
    /// Gives the key a value.
    ///
    /// # Errors
    /// What is wrong with the value, and what is expected.
    pub(crate) fn set(&self, to: &mut T, value: &str) -> Result<(), String> {
        (self.set)(to, value.trim()).map_err(|what| format!("{what}; expected: {}", self.expects))
    }
}

/// Finds a key by its name.
pub(crate) fn find<T>(keys: &'static [Key<T>], name: &str) -> Option<&'static Key<T>> {
    keys.iter().find(|k| k.name == name)
}

pub(crate) fn names<T>(keys: &'static [Key<T>]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|k| k.name)
}

/// The candidate that is most like `text`, if one is alike: at most a third of its letters differ.
pub fn nearest<'a>(text: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    candidates
        .into_iter()
        .map(|c| (strsim::levenshtein(text, c), c))
        .filter(|(d, c)| *d <= c.len().div_ceil(3) || (text.len() >= 3 && c.contains(text)))
        .min()
        .map(|(_, c)| c.to_owned())
}

/// Rows of a table: name, what it may be, what it does, what it means.
macro_rules! keys {
    ($(#[$doc:meta])* $table:ident of $of:ty: $($name:literal, $expects:literal, |$to:ident, $text:ident| $does:expr, $meaning:literal;)*) => {
        $(#[$doc])*
        pub(crate) const $table: &[$crate::keys::Key<$of>] = &[$($crate::keys::Key {
            name: $name,
            expects: $expects,
            meaning: $meaning,
            set: |$to, $text| {
                $does;
                Ok(())
            },
        }),*];
    };
}
pub(crate) use keys;
