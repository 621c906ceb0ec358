//! fio's outputs: JSON and JSON+ of a run or of clients, terse lines, the text for people.

use super::{Found, Text};

/// Whether anything in the text may be of fio.
pub(super) fn detect(text: &Text) -> bool {
    text.all().contains("fio")
}

/// Reads all of it.
pub(super) fn read(_text: &Text, _found: &mut Found) {}
