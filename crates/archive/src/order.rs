//! Which run ended last. Boards without a clock chip begin each boot in the past, so the time in an id does not tell.
//!
//! Each run has a number that is greater than those of all runs that the archive held when it was given: at least the time of
//! its own id, and at least one more than the highest (a hybrid logical clock: Kulkarni and others, OPODIS 2014). So numbers
//! of machines whose clocks are right compare by time when archives are merged, and on a machine whose clock went back they
//! go on from where they were. The number is in the bundle (`order`), given at the beginning and once more at the end; the
//! highest is in the archive (`counter`), and is found again from the bundles. A bundle without one has the time of its id.

use crate::Result;
use crate::directory::Archive;
use crate::storage::read_limited;
use std::path::Path;

/// The number of a run, in its bundle.
pub(crate) const ORDER: &str = "order";
/// The highest number that was given, in the archive.
const COUNTER: &str = "counter";
/// Twenty digits and a line break fit.
const LIMIT_BYTES: u64 = 32;
/// The end of the year 9999; a bundle that claims more is not believed.
const HIGHEST: u64 = (99_991_231_235_959 << 16) | 0xffff;

/// The number that follows from the time in an id: its fourteen digits, then its fraction of a second.
pub(crate) fn of_id(id: &str) -> u64 {
    let digits: String = id.chars().take(16).filter(char::is_ascii_digit).collect();
    let fraction = id.get(17..21).and_then(|f| u64::from_str_radix(f, 16).ok()).unwrap_or(0);
    ((digits.parse::<u64>().unwrap_or(0) << 16) | fraction).min(HIGHEST)
}

fn parsed(content: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(content).ok()?.strip_suffix('\n')?;
    let number: u64 = text.parse().ok()?;
    (number <= HIGHEST && number.to_string() == text).then_some(number)
}

/// What a bundle says; `None` where it says nothing that can be believed.
pub(crate) fn stored(bundle: &Path) -> Option<u64> {
    parsed(&read_limited(&bundle.join(ORDER), LIMIT_BYTES).ok()??)
}

/// The number of a bundle.
pub(crate) fn of_bundle(bundle: &Path, id: &str) -> u64 {
    stored(bundle).unwrap_or_else(|| of_id(id))
}

/// The file in a bundle.
pub(crate) fn file(order: u64) -> Vec<u8> {
    format!("{order}\n").into_bytes()
}

/// The next number, for this run; `highest` finds what the bundles have, where it was not counted. The archive's lock must be held.
pub(crate) fn next(archive: &Archive, id: &str, highest: impl FnOnce() -> Result<u64>) -> Result<u64> {
    let path = archive.directory().join(COUNTER);
    let counted = archive.storage.read_limited(&path, LIMIT_BYTES).ok().flatten().and_then(|c| parsed(&c));
    let highest = counted.map_or_else(highest, Ok)?;
    // Bundles that were copied here may be newer than what was counted.
    let newest = archive.ids()?.last().map_or(0, |id| of_id(id));
    let order = of_id(id).max(highest.max(newest).saturating_add(1)).min(HIGHEST);
    archive.storage.replace(&path, &file(order))?;
    Ok(order)
}

/// Writes the counter anew. The archive's lock must be held.
pub(crate) fn recount(archive: &Archive, highest: u64) -> Result<()> {
    archive.storage.replace(&archive.directory().join(COUNTER), &file(highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_with_the_time_of_ids() {
        let ids = ["19700101T000000Z-00000000", "20261120T213000Z-7f3a9c21", "20261120T213000Z-7f3b0000"];
        let numbers: Vec<u64> = ids.iter().map(|id| of_id(id)).collect();
        assert!(numbers.is_sorted() && numbers[1] < numbers[2], "{numbers:?}");
        assert_eq!(of_id("99991231T235959Z-ffffffff"), HIGHEST);
    }

    #[test]
    fn only_what_was_written_here_is_believed() {
        assert_eq!(parsed(&file(17)), Some(17));
        for wrong in ["", "17", "017\n", "+17\n", " 17\n", "17\n\n", "x\n", "18446744073709551615\n", "-1\n"] {
            assert_eq!(parsed(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
