//! Numbers as programs print them in the user's language: decimal commas, narrow and unbreakable blanks.

use super::number::finite;

/// The line with every kind of blank as a plain one, and the wide punctuation of Chinese and Japanese as ASCII. Narrow
/// blanks between digits, which group them, go.
pub(crate) fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => {
                let groups =
                    out.ends_with(|c: char| c.is_ascii_digit()) && chars.peek().is_some_and(char::is_ascii_digit);
                if !groups {
                    out.push(' ');
                }
            }
            '，' | '、' => out.push(','),
            '（' => out.push('('),
            '）' => out.push(')'),
            other => out.push(other),
        }
    }
    out
}

/// A number with a decimal point or a decimal comma. Never a thousands separator: none of the programs read here prints
/// one, so `190,048` is a little more than 190.
pub(crate) fn decimal(text: &str) -> Option<f64> {
    match text.matches([',', '.']).count() {
        0 => finite(text),
        1 => finite(&text.replace(',', ".")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_decimal() {
        assert_eq!(decimal("190,048"), Some(190.048));
        assert_eq!(decimal("1.5"), Some(1.5));
        assert_eq!(decimal("12"), Some(12.0));
        for bad in ["1.234,5", "nan", "", ",", "0x1", "1,2,3"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn blanks_become_plain() {
        assert_eq!(plain("1\u{202f}073\u{a0}741 824"), "1073741 824");
        assert_eq!(plain("78,7\u{202f}MB/s，\u{a0}（x）"), "78,7 MB/s, (x)");
    }
}
