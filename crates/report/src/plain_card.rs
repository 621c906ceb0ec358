//! Markdown for an issue or a forum: nobody scrolls through more than a screen or two of somebody else's numbers.

/// Lines of a text at most.
pub(crate) const MOST_LINES: usize = 40;

/// Lines that belong together: a table, a list or a paragraph. What may be left out stands at its end.
struct Block<'a> {
    lines: Vec<&'a str>,
    /// Lines of it that always stay.
    least: usize,
    left_out: usize,
}

impl<'a> Block<'a> {
    fn of(lines: Vec<&'a str>) -> Self {
        let first = lines.first().copied().unwrap_or_default();
        let least = match first {
            // Head, rule and a row.
            table if table.starts_with('|') => 3,
            list if list.starts_with("- ") || list.starts_with("1. ") => 1,
            _ => lines.len(),
        };
        Self { least: least.min(lines.len()), lines, left_out: 0 }
    }

    /// Lines with the one that counts what is left out, and the empty one behind.
    fn height(&self) -> usize {
        self.lines.len() + usize::from(self.left_out > 0) + 1
    }

    fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        if self.left_out > 0 {
            let columns = self.lines.first().map_or(0, |l| unescaped_bars(l).saturating_sub(2));
            let more = format!("and {} more", self.left_out);
            text.push_str(&match self.lines[0].starts_with('|') {
                true => format!("\n| {more} |{}", " |".repeat(columns)),
                false => format!("\n- {more}"),
            });
        }
        text
    }
}

fn unescaped_bars(line: &str) -> usize {
    line.replace("\\|", "").matches('|').count()
}

/// The text within [`MOST_LINES`]: the last rows of its longest tables and lists are left out, and counted.
pub(crate) fn folded(text: &str) -> String {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for part in text.split("\n\n") {
        let lines: Vec<&str> = part.lines().filter(|l| !l.trim().is_empty()).collect();
        if !lines.is_empty() {
            blocks.push(Block::of(lines));
        }
    }
    let height = |blocks: &[Block<'_>]| blocks.iter().map(Block::height).sum::<usize>().saturating_sub(1);
    while height(&blocks) > MOST_LINES {
        let longest = blocks.iter_mut().filter(|b| b.lines.len() > b.least).max_by_key(|b| b.lines.len());
        let Some(longest) = longest else { break };
        // The line that counts takes the place of the first that goes.
        let gone = if longest.left_out == 0 && longest.lines.len() > longest.least + 1 { 2 } else { 1 };
        longest.lines.truncate(longest.lines.len() - gone);
        longest.left_out += gone;
    }
    let mut text = blocks.iter().map(Block::text).collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_table_and_a_long_list_keep_their_first_rows_and_say_how_many_are_left_out() {
        let rows: String = (0..90).map(|i| format!("| row {i} \\| x | 1 |\n")).collect();
        let items: String = (0..30).map(|i| format!("- item {i}\n")).collect();
        let text = format!("### head\n\n\n| a | b |\n|---|---|\n{rows}\n{items}\nlast words\n");
        let folded = folded(&text);
        assert!(folded.lines().count() <= MOST_LINES, "{folded}");
        assert!(folded.lines().count() >= MOST_LINES - 2, "no more is left out than must be: {folded}");
        for stays in ["### head", "| a | b |", "| row 0 ", "- item 0", "last words"] {
            assert!(folded.contains(stays), "{stays}: {folded}");
        }
        let counted = |start: &str| -> usize {
            let line = folded.lines().find_map(|l| l.strip_prefix(start)).expect("a line that counts");
            line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number")
        };
        let shown = |start: &str| folded.lines().filter(|l| l.starts_with(start)).count();
        assert_eq!(counted("| and ") + shown("| row"), 90);
        assert_eq!(counted("- and ") + shown("- item"), 30);
    }

    #[test]
    fn a_short_text_stays_as_it_is() {
        let text = "**a**\n\n- b\n- c\n\nlast\n";
        assert_eq!(folded(text), text);
    }
}
