//! Which findings someone may have meant who misspelt an id, or knows only a word of it.

use crate::catalogue::catalogue;
use model::CompactSort as _;

/// At most so many are suggested.
const MAX: usize = 3;
/// A word of fewer letters is in too many texts.
const SHORTEST_WORD: usize = 3;
/// A misspelt id differs in at most one letter of so many.
const LETTERS_PER_ERROR: usize = 4;

/// The findings whose ids are like `text`, the likest first; then those whose id, then those whose title has its words.
pub fn near_ids(text: &str) -> Vec<&'static str> {
    let text = text.trim().to_lowercase().replace(['_', ' '], "-");
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.chars().count() >= SHORTEST_WORD).collect();
    let in_it = |whole: &str| words.iter().filter(|w| whole.contains(**w)).count();
    let mut near: Vec<(usize, usize, usize, &'static str)> = catalogue()
        .iter()
        .filter_map(|page| {
            let errors = distance(&text, &page.id);
            let of_id = in_it(&page.id);
            let of_title = in_it(&page.title.to_lowercase());
            let misspelt = errors <= page.id.len() / LETTERS_PER_ERROR;
            (misspelt || of_id + of_title > 0).then(|| {
                let rank = if misspelt { errors } else { usize::MAX };
                (rank, words.len() - of_id, words.len() - of_title, page.id.as_str())
            })
        })
        .collect();
    // Equal ranks stay in the order of the catalogue.
    near.compact_sort_by_key(|(errors, id, title, _)| (*errors, *id, *title));
    near.into_iter().take(MAX).map(|(.., id)| id).collect()
}

/// Levenshtein's edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_and_half_remembered() {
        assert_eq!(near_ids("a20_sata_fifo").first(), Some(&"a20-sata-fifo"));
        assert_eq!(near_ids("SDR104 derated").first(), Some(&"sdr104-derated"));
        assert_eq!(near_ids("a20-sata").first(), Some(&"a20-sata-fifo"));
        assert!(near_ids("ncq").contains(&"no-ncq"));
        assert!(near_ids("uas").iter().all(|id| id.contains("uas")), "{:?}", near_ids("uas"));
        assert!(near_ids("undervoltage").is_empty() || near_ids("undervoltage").len() <= MAX);
    }

    #[test]
    fn nothing_like_it() {
        for text in ["", "-", "zzzzqq", "é", "no"] {
            assert!(near_ids(text).is_empty(), "{text}: {:?}", near_ids(text));
        }
        assert!(near_ids(&"x".repeat(10_000)).is_empty());
    }
}
