//! Bytes of unknown origin as lines of text.

use super::{IMPORT_LIMIT_BYTES, ImportError};

/// Every so many lines, where one starts is remembered: a number a line would take more than the text where lines are short.
const LINES_A_MARK: usize = 32;
/// A text of more lines is no output of a tool: a day of four disks in seconds is 1 million.
const MAX_LINES: usize = 8 << 20;
/// Text of 16-bit units is refused above this: beside what was read there is what it becomes.
const UTF16_LIMIT_BYTES: u64 = IMPORT_LIMIT_BYTES / 4;

/// No mail quotes more.
const MAX_QUOTED_BYTES: usize = 1 << 20;

/// Share of control characters above which something is no text.
const CONTROL_LIMIT_PERCENT: usize = 5;

/// Beginnings of packed files.
const PACKED: &[(&[u8], &str)] = &[
    (&[0x1f, 0x8b], "gzip"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
];

/// A decoded text. Lines count from 1 and end at line feeds; CRLF is as good as LF.
///
/// It takes the bytes over and decodes them where they lie, so that a large file is in memory once.
#[derive(Debug)]
pub(crate) struct Text {
    content: String,
    /// Where every [`LINES_A_MARK`]-th line starts.
    marks: Vec<usize>,
    lines: usize,
}

impl Text {
    /// Decodes UTF-8 (with or without a mark), UTF-16 with a mark, else Latin-1; terminal control sequences go.
    pub fn decode(mut bytes: Vec<u8>) -> Result<Self, ImportError> {
        let size_bytes = bytes.len() as u64;
        let limit_bytes = if is_utf16(&bytes) { UTF16_LIMIT_BYTES } else { IMPORT_LIMIT_BYTES };
        if size_bytes > limit_bytes {
            return Err(ImportError::TooLarge { size_bytes, limit_bytes });
        }
        if let Some((_, name)) = PACKED.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Err(ImportError::Packed(name));
        }
        let content = match bytes.as_slice() {
            [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
            _ => {
                if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
                    bytes.drain(..3);
                }
                eight_bit(bytes)
            }
        };
        if content.trim().is_empty() {
            return Err(ImportError::Empty);
        }
        check_is_text(&content)?;
        let content = without_inline_code(unquoted(without_escapes(content)));
        let lines = content.bytes().filter(|b| *b == b'\n').count() + 1;
        if lines > MAX_LINES {
            return Err(ImportError::TooManyLines { lines, limit: MAX_LINES });
        }
        let starts = std::iter::once(0).chain(content.match_indices('\n').map(|(i, _)| i + 1));
        let marks = starts.step_by(LINES_A_MARK).collect();
        Ok(Self { content, marks, lines })
    }

    pub fn all(&self) -> &str {
        &self.content
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.lines
    }

    pub fn size_bytes(&self) -> usize {
        self.content.len()
    }

    /// A line by its number from 1, without its end; empty if there is none.
    pub fn line(&self, number: usize) -> &str {
        self.lines_from(number).next().map_or("", |(_, line)| line)
    }

    /// All lines with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines_from(1)
    }

    /// The lines from the one of that number on; none where there is no such line.
    pub fn lines_from(&self, number: usize) -> impl Iterator<Item = (usize, &str)> {
        let index = number.checked_sub(1).filter(|i| *i < self.lines);
        let start = index.and_then(|i| self.marks.get(i / LINES_A_MARK)).copied();
        let skipped = index.unwrap_or(0) % LINES_A_MARK;
        let rest = start.and_then(|s| self.content.get(s..)).map(|rest| rest.split('\n'));
        let lines = rest.into_iter().flatten().skip(skipped).map(|line| line.trim_end_matches('\r'));
        (number..).zip(lines)
    }

    /// The number of the line that a byte offset lies in.
    pub fn line_at(&self, offset: usize) -> usize {
        let mark = self.marks.partition_point(|s| *s <= offset).saturating_sub(1);
        let start = self.marks.get(mark).copied().unwrap_or(0);
        let before = self.content.as_bytes().get(start..offset).unwrap_or_default();
        mark * LINES_A_MARK + 1 + before.iter().filter(|b| **b == b'\n').count()
    }
}

fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn eight_bit(bytes: Vec<u8>) -> String {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error,
    };
    let fault = error.utf8_error();
    let mut bytes = error.into_bytes();
    // A text of UTF-8 that is cut inside a character is still UTF-8.
    if fault.error_len().is_none() && !bytes[..fault.valid_up_to()].is_ascii() {
        bytes.truncate(fault.valid_up_to());
        let mut text = String::from_utf8(bytes).unwrap_or_default();
        text.push(char::REPLACEMENT_CHARACTER);
        return text;
    }
    latin1(bytes)
}

/// Every byte is a character; those above 0x7f take two bytes as UTF-8. Done from the end, where the bytes lie.
fn latin1(mut bytes: Vec<u8>) -> String {
    let length = bytes.len();
    let wide = bytes.iter().filter(|b| !b.is_ascii()).count();
    bytes.reserve_exact(wide);
    bytes.resize(length + wide, 0);
    let mut to = bytes.len();
    for from in (0..length).rev() {
        let byte = bytes[from];
        let mut utf8 = [0; 2];
        let encoded = char::from(byte).encode_utf8(&mut utf8).len();
        to -= encoded;
        bytes[to..to + encoded].copy_from_slice(&utf8[..encoded]);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn check_is_text(content: &str) -> Result<(), ImportError> {
    if let Some(at) = content.find('\0') {
        return Err(ImportError::Binary(format!("byte {at} of it is zero")));
    }
    let strange =
        |c: &char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}' | '\u{8}' | '\u{c}' | '\u{7}');
    let control = content.chars().filter(strange).count();
    if control * 100 > content.len() * CONTROL_LIMIT_PERCENT {
        return Err(ImportError::Binary(format!("{control} of its characters are control characters")));
    }
    Ok(())
}

/// Without the `> ` that a mail puts before every line of what it quotes.
fn unquoted(content: String) -> String {
    let is_quoted = content.lines().filter(|l| !l.trim().is_empty()).all(|l| l.starts_with('>'));
    if !is_quoted || content.len() > MAX_QUOTED_BYTES {
        return content;
    }
    let bare = |line: &str| -> String {
        let line = line.trim_start_matches('>');
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    content.split('\n').map(bare).collect::<Vec<_>>().join("\n")
}

/// Without the backquotes around lines that are code as a whole, as pages in Markdown have them.
fn without_inline_code(content: String) -> String {
    let inner = |line: &str| -> Option<String> {
        let inner = line.trim().strip_prefix('`')?.strip_suffix('`')?;
        (!inner.is_empty() && !inner.contains('`')).then(|| inner.to_owned())
    };
    if content.len() > MAX_QUOTED_BYTES || !content.lines().any(|line| inner(line).is_some()) {
        return content;
    }
    content.split('\n').map(|line| inner(line).unwrap_or_else(|| line.to_owned())).collect::<Vec<_>>().join("\n")
}

/// Without `ESC [ ... letter` (colours, cursor movements): captures of terminals are full of them.
fn without_escapes(content: String) -> String {
    if !content.contains('\u{1b}') {
        return content;
    }
    // A sequence is of ASCII, so what is left is as good UTF-8 as it was.
    let mut bytes = content.into_bytes();
    let (mut from, mut to) = (0, 0);
    while let Some(byte) = bytes.get(from).copied() {
        from += 1;
        if byte != 0x1b {
            bytes[to] = byte;
            to += 1;
        } else if bytes.get(from) == Some(&b'[') {
            from += 1;
            while matches!(bytes.get(from), Some(0x20..=0x3f)) {
                from += 1;
            }
            from += usize::from(matches!(bytes.get(from), Some(0x40..=0x7e)));
        }
    }
    bytes.truncate(to);
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_and_line_ends() {
        let le: Vec<u8> = [0xff, 0xfe].into_iter().chain("a\r\nä".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let be: Vec<u8> = [0xfe, 0xff].into_iter().chain("a\r\nä".encode_utf16().flat_map(u16::to_be_bytes)).collect();
        for bytes in [&le[..], &be, "\u{feff}a\nä".as_bytes(), b"a\r\n\xe4", "a\nä".as_bytes()] {
            let text = Text::decode(bytes.to_vec()).unwrap();
            assert_eq!((text.line(1), text.line(2), text.line(3), text.line(0)), ("a", "ä", "", ""), "{bytes:?}");
            assert_eq!((text.line_count(), text.line_at(0), text.line_at(text.all().find('ä').unwrap())), (2, 1, 2));
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(Text::decode(b"".to_vec()).unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode(b" \r\n\t\n".to_vec()).unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode([0xff, 0xfe].to_vec()).unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode([0x1f, 0x8b, 8, 0].to_vec()).unwrap_err(), ImportError::Packed("gzip"));
        assert!(matches!(Text::decode(b"abc\0def".to_vec()), Err(ImportError::Binary(_))));
        assert!(matches!(Text::decode(b"abc\x01\x02".to_vec()), Err(ImportError::Binary(_))));
    }

    #[test]
    fn quotes_of_a_mail_go_where_all_of_it_is_quoted() {
        let line = |text: &str, number| Text::decode(text.as_bytes().to_vec()).unwrap().line(number).to_owned();
        assert_eq!((line("> a\n>\n>   b\r\n", 1), line("> a\n>\n>   b\r\n", 3)), ("a".to_owned(), "  b".to_owned()));
        assert_eq!(line("> a\nb\n", 1), "> a");
    }

    #[test]
    fn colours_go() {
        let text = Text::decode(b"\x1b[1;31mred\x1b[0m\x1b[K\n\x1b".to_vec()).unwrap();
        assert_eq!((text.line(1), text.line(2)), ("red", ""));
    }

    #[test]
    fn lines_are_found_by_number_and_by_offset() {
        let content: String = (1..=200).map(|n| format!("line {n}\n")).collect();
        let text = Text::decode(content.clone().into_bytes()).unwrap();
        assert_eq!(text.line_count(), 201);
        assert!(
            text.lines().zip(1..).all(|((number, line), n)| number == n && (n == 201 || line == format!("line {n}")))
        );
        for n in [1, 31, 32, 33, 64, 65, 200] {
            assert_eq!(text.line(n), format!("line {n}"));
            assert_eq!(text.line_at(content.find(&format!("line {n}\n")).unwrap()), n);
            assert_eq!(text.lines_from(n).count(), 202 - n);
        }
        assert_eq!((text.line(0), text.line(201), text.line(202)), ("", "", ""));
        assert_eq!((text.lines_from(0).count(), text.lines_from(202).count()), (0, 0));
    }

    #[test]
    fn more_lines_than_any_tool_prints_are_refused() {
        let lines = vec![b'\n'; MAX_LINES];
        assert!(matches!(Text::decode([lines, b"x".to_vec()].concat()), Err(ImportError::TooManyLines { .. })));
    }
}
