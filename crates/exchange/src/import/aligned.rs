//! Words of a line with the columns they stand in: tables that are aligned by blanks.

/// A word and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// The word.
    pub text: &'a str,
    /// Characters before it.
    pub start: usize,
    /// Characters up to its end.
    pub end: usize,
}

/// The words of a line. Columns count characters, not bytes: names need not be ASCII.
pub(crate) fn words(line: &str) -> Vec<Word<'_>> {
    let mut out = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let mut column = 0;
    for (at, c) in line.char_indices() {
        match (c.is_whitespace(), open) {
            (false, None) => open = Some((at, column)),
            (true, Some((from, start))) => {
                out.push(Word { text: &line[from..at], start, end: column });
                open = None;
            }
            _ => {}
        }
        column += 1;
    }
    if let Some((from, start)) = open {
        out.push(Word { text: &line[from..], start, end: column });
    }
    out
}

/// Which column each right-aligned word stands under: the one whose end is nearest, at most `slack` characters away, each
/// further to the right than the one before. `None` where a word fits nowhere.
pub(crate) fn by_ends(words: &[Word], ends: &[usize], slack: usize) -> Option<Vec<usize>> {
    let mut next = 0;
    words
        .iter()
        .map(|word| {
            let rest = ends.get(next..).unwrap_or_default().iter().enumerate();
            let (offset, end) = rest.min_by_key(|(_, end)| end.abs_diff(word.end))?;
            let column = next + offset;
            next = column + 1;
            (end.abs_diff(word.end) <= slack).then_some(column)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let found = words(" é  bc");
        assert_eq!(found[0], Word { text: "é", start: 1, end: 2 });
        assert_eq!(found[1], Word { text: "bc", start: 4, end: 6 });
        assert!(words("  ").is_empty());
    }

    #[test]
    fn blanks_leave_columns_out() {
        let row = words("      12        345");
        assert_eq!(by_ends(&row, &[4, 9, 14, 19], 2), Some(vec![1, 3]));
        assert_eq!(by_ends(&row, &[4, 14], 2), None);
    }
}
