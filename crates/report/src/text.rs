//! Text from outside made safe for a terminal, and laid out by the columns it takes there.

use crate::Style;
pub use model::is_control;
use model::push_escaped;
use unicode_width::UnicodeWidthChar;

/// Columns that a character takes on a terminal (UAX #11): 0 for combining marks, 2 for wide East Asian letters and
/// emoji; 1 for one that acts, which never comes there as it is.
pub fn char_width(c: char) -> usize {
    if is_control(c) { 1 } else { c.width().unwrap_or(0) }
}

/// Stands for a space at which no line is broken, until the line is whole: a character for private use, one column wide.
pub const GLUE: char = '\u{E000}';

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// The text with acting characters (and, for `ascii`, all outside ASCII) written as escapes: `\n`, `\x1b`, `\u{202e}`.
pub fn plain(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Typography of our own sentences has ASCII spellings; anything else is escaped.
            '±' if ascii => out.push_str("+/-"),
            '×' if ascii => out.push('x'),
            '°' if ascii => out.push_str(" deg "),
            'µ' | 'μ' if ascii => out.push('u'),
            '–' | '—' if ascii => out.push('-'),
            '…' if ascii => out.push_str("..."),
            '\u{2009}' | '\u{202F}' | '\u{A0}' if ascii => out.push(' '),
            c if is_control(c) => push_escaped(&mut out, c),
            c if ascii && !c.is_ascii() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// The same for a text of several lines, whose ends stay.
pub fn plain_lines(text: &str, ascii: bool) -> String {
    text.split('\n').map(|line| plain(line, ascii)).collect::<Vec<_>>().join("\n")
}

/// Each line in at most `columns`; what goes on stands two columns further in than the line.
pub fn hanging_lines(text: &str, columns: usize) -> String {
    let line = |line: &str| {
        if width(line) <= columns {
            return line.to_owned();
        }
        let margin = " ".repeat(line.len() - line.trim_start().len());
        let pieces = wrap(line, columns.saturating_sub(margin.len() + 2));
        format!("{margin}{}", pieces.join(&format!("\n{margin}  ")))
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The text in at most `columns`, with the middle left out where it is too long: both ends of a path tell something.
pub fn shorten(text: &str, columns: usize, ascii: bool) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mark = if ascii { "..." } else { "…" };
    let room = columns.saturating_sub(width(mark));
    let (head_room, tail_room) = (room.div_ceil(2), room / 2);
    let take = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let mut taken = Vec::new();
        for c in chars {
            if used + char_width(c) > room {
                break;
            }
            used += char_width(c);
            taken.push(c);
        }
        taken
    };
    let head: String = take(&mut text.chars(), head_room).into_iter().collect();
    let tail: String = take(&mut text.chars().rev(), tail_room).into_iter().rev().collect();
    format!("{head}{mark}{tail}")
}

/// Lines of at most `columns`, broken at spaces; a word longer than a line is cut.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let w = width(word);
        if used > 0 && used + 1 + w > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        if w <= columns - used {
            line.push_str(word);
            used += w;
            continue;
        }
        for c in word.chars() {
            if used + char_width(c) > columns {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            line.push(c);
            used += char_width(c);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The lines of a text, those that are wider than so many columns broken at spaces.
pub fn broken(text: &str, columns: usize) -> Vec<String> {
    let wide = |line: &str| if width(line) > columns { wrap_quantities(line, columns) } else { vec![line.to_owned()] };
    text.split('\n').flat_map(wide).collect()
}

/// As many whole words from the start of a text as fit in so many columns.
pub fn first_words(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        let gap = usize::from(!out.is_empty());
        if width(&out) + gap + width(word) > columns {
            break;
        }
        out.push_str(&" "[..gap]);
        out.push_str(word);
    }
    // What ends in the middle of a thought says more without the word that leads to its other half.
    out.trim_end_matches([',', ';', ':', '(']).to_owned()
}

/// Whether a sentence stands in the last lines of a text, however both are broken into lines and painted.
pub fn is_in_last_lines(text: &str, lines: usize, sentence: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let unpainted = Style::unpainted(text);
    let all: Vec<&str> = unpainted.lines().collect();
    words(&all[all.len().saturating_sub(lines)..].join(" ")).contains(&words(sentence))
}

/// `a, b and c`.
pub(crate) fn and_list(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        names => names.concat(),
    }
}

/// As [`wrap`], but never between a number and its unit: `4 KiB`, `70 %`, `1 min 05 s`.
pub fn wrap_quantities(text: &str, columns: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let glued = chars.iter().enumerate().map(|(i, c)| {
        let before = i.checked_sub(1).and_then(|b| chars.get(b)).is_some_and(char::is_ascii_digit);
        let after = chars.get(i + 1).is_some_and(|a| a.is_ascii_alphanumeric() || *a == '%');
        if *c == ' ' && before && after { GLUE } else { *c }
    });
    wrap(&glued.collect::<String>(), columns).into_iter().map(|l| l.replace(GLUE, " ")).collect()
}

/// Lines that an editor broke joined again: a line of more than 90 columns goes on in the next one. Short lines, such as
/// commands, stay on their own.
pub fn unbroken(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.trim().lines() {
        match lines.last_mut() {
            Some(last) if goes_on => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => lines.push(line.trim().to_owned()),
        }
        goes_on = width(line) > 90;
    }
    lines
}

/// The first letter large: statements are written to stand behind a colon.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// The text filled with spaces on the right to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    format!("{text}{:fill$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_act_is_escaped() {
        assert_eq!(plain("a\x1b[31mb\nc\u{202e}d", false), "a\\x1b[31mb\\nc\\u{202e}d");
        assert_eq!(plain("\u{9b}2J", false), "\\x9b2J");
        assert_eq!(plain("é ± µs", true), "\\u{e9} +/- us");
        assert_eq!(plain("é", false), "é");
    }

    #[test]
    fn width_counts_columns_not_characters() {
        assert_eq!(width("abc"), 3);
        assert_eq!(width("存储"), 4);
        assert_eq!(width("e\u{301}"), 1);
    }

    #[test]
    fn shortening_keeps_both_ends_and_never_exceeds() {
        assert_eq!(first_words("maybe the device", 9), "maybe the");
        assert_eq!(first_words("maybe the device", 4), "");
        assert_eq!(first_words("another program, pid 4711", 16), "another program");
        assert_eq!(broken("short", 80), ["short"]);
        assert_eq!(broken("a   b\nlonger than that", 12), ["a   b", "longer than", "that"]);
        assert_eq!(shorten("/mnt/data", 20, false), "/mnt/data");
        assert_eq!(shorten("/a/very/long/path/to/a/file", 11, false), "/a/ve…/file");
        for columns in 4..20 {
            assert!(width(&shorten("存储存储存储存储存储存储", columns, false)) <= columns);
            assert!(width(&shorten("/x/存储/abcdefghijklmnop", columns, true)) <= columns);
        }
    }

    #[test]
    fn numbers_stay_with_their_units() {
        assert_eq!(wrap_quantities("depth 32, region of 256 MiB", 22), ["depth 32, region of", "256 MiB"]);
    }

    #[test]
    fn only_long_lines_go_on() {
        let long = "x".repeat(95);
        assert_eq!(
            unbroken(&format!("{long}\nafterwards.\necho none > f\n")),
            [format!("{long} afterwards."), "echo none > f".into()]
        );
    }

    #[test]
    fn announcements_fit_and_hang() {
        let text = "narrows: writes at most 19 MB to /a/b, takes 3 s\n  and a line that is long as well\nshort\n";
        let told = hanging_lines(text, 24);
        assert!(told.lines().all(|l| width(l) <= 24), "{told}");
        assert!(told.starts_with("narrows: writes at\n  most 19 MB") && told.ends_with("short\n"), "{told}");
        assert!(told.contains("\n  and a line that is\n    long"), "{told}");
        assert_eq!(hanging_lines(text, 80), text);
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing() {
        let text = "one two three aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa four 存储存储存储存储";
        let lines = wrap(text, 12);
        assert!(lines.iter().all(|l| width(l) <= 12), "{lines:?}");
        let squeezed = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(squeezed(&lines.concat()), squeezed(text));
    }
}
