//! Bytes of unknown origin as lines of text.

use super::{IMPORT_LIMIT_BYTES, ImportError};

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
#[derive(Debug)]
pub(crate) struct Text {
    content: String,
    /// Where each line starts.
    starts: Vec<usize>,
}

impl Text {
    /// Decodes UTF-8 (with or without a mark), UTF-16 with a mark, else Latin-1; terminal control sequences go.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImportError> {
        if bytes.len() as u64 > IMPORT_LIMIT_BYTES {
            return Err(ImportError::TooLarge { size_bytes: bytes.len() as u64, limit_bytes: IMPORT_LIMIT_BYTES });
        }
        if let Some((_, name)) = PACKED.iter().find(|(magic, _)| bytes.starts_with(magic)) {
            return Err(ImportError::Packed(name));
        }
        let content = match bytes {
            [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
            [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
            [0xef, 0xbb, 0xbf, rest @ ..] => eight_bit(rest),
            _ => eight_bit(bytes),
        };
        if content.trim().is_empty() {
            return Err(ImportError::Empty);
        }
        check_is_text(&content)?;
        let content = without_escapes(&content);
        let starts = std::iter::once(0).chain(content.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Ok(Self { content, starts })
    }

    /// All of it.
    pub fn all(&self) -> &str {
        &self.content
    }

    /// How many lines there are.
    pub fn line_count(&self) -> usize {
        self.starts.len()
    }

    /// A line by its number from 1, without its end; empty if there is none.
    pub fn line(&self, number: usize) -> &str {
        let Some(start) = number.checked_sub(1).and_then(|i| self.starts.get(i)) else { return "" };
        let end = self.starts.get(number).map_or(self.content.len(), |next| next - 1);
        self.content.get(*start..end).unwrap_or_default().trim_end_matches('\r')
    }

    /// All lines with their numbers from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..=self.line_count()).map(|n| (n, self.line(n)))
    }

    /// The number of the line that a byte offset lies in.
    pub fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|s| *s <= offset)
    }

    /// Where a line starts, bytes; the end of the text for a line that is not there.
    #[allow(dead_code, reason = "for formats of several lines")]
    pub fn start_of(&self, line: usize) -> usize {
        line.checked_sub(1).and_then(|i| self.starts.get(i)).copied().unwrap_or(self.content.len())
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn eight_bit(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // A text of UTF-8 that is cut inside a character is still UTF-8.
        Err(e) if e.error_len().is_none() && !bytes[..e.valid_up_to()].is_ascii() => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        Err(_) => bytes.iter().map(|b| char::from(*b)).collect(),
    }
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

/// Without `ESC [ ... letter` (colours, cursor movements): captures of terminals are full of them.
fn without_escapes(content: &str) -> String {
    if !content.contains('\u{1b}') {
        return content.to_owned();
    }
    let mut out = String::with_capacity(content.len());
    let mut chars = content.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.next_if_eq(&'[').is_some() {
            while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
            chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_and_line_ends() {
        let le: Vec<u8> = [0xff, 0xfe].into_iter().chain("a\r\nä".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let be: Vec<u8> = [0xfe, 0xff].into_iter().chain("a\r\nä".encode_utf16().flat_map(u16::to_be_bytes)).collect();
        for bytes in [&le[..], &be, "\u{feff}a\nä".as_bytes(), b"a\r\n\xe4", "a\nä".as_bytes()] {
            let text = Text::decode(bytes).unwrap();
            assert_eq!((text.line(1), text.line(2), text.line(3), text.line(0)), ("a", "ä", "", ""), "{bytes:?}");
            assert_eq!((text.line_count(), text.line_at(0), text.line_at(text.start_of(2))), (2, 1, 2));
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(Text::decode(b"").unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode(b" \r\n\t\n").unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode(&[0xff, 0xfe]).unwrap_err(), ImportError::Empty);
        assert_eq!(Text::decode(&[0x1f, 0x8b, 8, 0]).unwrap_err(), ImportError::Packed("gzip"));
        assert!(matches!(Text::decode(b"abc\0def"), Err(ImportError::Binary(_))));
        assert!(matches!(Text::decode(b"abc\x01\x02"), Err(ImportError::Binary(_))));
    }

    #[test]
    fn colours_go() {
        let text = Text::decode(b"\x1b[1;31mred\x1b[0m\x1b[K\n\x1b").unwrap();
        assert_eq!((text.line(1), text.line(2)), ("red", ""));
    }
}
