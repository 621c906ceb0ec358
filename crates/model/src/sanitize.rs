//! Text from elsewhere, made harmless for the place where it is shown. Names of targets and devices, reasons, kernel messages
//! and whole bundles come from other machines and other people; a terminal obeys some characters, a spreadsheet some texts.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character could act on a terminal or reorder what stands beside it: C0 and C1 controls, line and
/// paragraph separators, bidirectional marks and isolates, the byte order mark.
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c), 0x200E..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x061C | 0xFEFF | 0xE0000..=0xE007F)
}

/// Adds a character as an escape: `\n`, `\x1b`, `\u{202e}`.
pub fn push_escaped(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = match c {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        c if u32::from(c) < 0x100 => write!(out, "\\x{:02x}", u32::from(c)),
        c => write!(out, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// A line of text with acting characters written as escapes.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) { push_escaped(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// The same JSON with acting characters written as `\u` escapes: JSON itself asks for that only below U+0020, but documents are
/// looked at on terminals.
pub fn sanitize_json(json: String) -> String {
    let acting = |c: char| c != '\n' && is_control(c);
    if !json.contains(acting) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if !acting(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// A text as a field of comma-separated values (RFC 4180) that a spreadsheet shows and does not execute: where it begins like a
/// formula (`=`, `+`, `-`, `@`, also full-width or after blanks) an apostrophe stands before it, and it is quoted where it
/// holds a separator of any locale. Numbers are no texts, and never pass here. (OWASP, "CSV Injection".)
pub fn csv_text(text: &str) -> String {
    let shown = sanitize(text);
    let is_formula = shown.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    match is_formula || shown.contains([',', ';', '|', '"']) {
        true => format!("\"{}{}\"", if is_formula { "'" } else { "" }, shown.replace('"', "\"\"")),
        false => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_other_text_stays() {
        assert_eq!(sanitize("größer 盤 ±"), "größer 盤 ±");
        assert_eq!(sanitize("a\x1b[2J\u{9b}m\u{202e}\r\n\t\u{7f}"), "a\\x1b[2J\\x9bm\\u{202e}\\r\\n\\t\\x7f");
        assert_eq!(sanitize_json("{\n \"\u{9b}\u{e0001}\"}".into()), "{\n \"\\u009b\\udb40\\udc01\"}");
    }

    #[test]
    fn no_cell_is_a_formula_and_none_begins_another() {
        for formula in ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", " =1", "\u{a0}=1", "＝1", "－1"] {
            let cell = csv_text(formula);
            assert!(cell.starts_with("\"'") && cell.ends_with('"'), "{cell}");
        }
        assert_eq!(csv_text("\t=1"), "\\t=1");
        assert_eq!(csv_text("\r=1"), "\\r=1");
        assert_eq!(csv_text("a;=1"), "\"a;=1\"");
        assert_eq!(csv_text("a\",=1"), "\"a\"\",=1\"");
        assert_eq!(csv_text("a\n=1"), "a\\n=1");
        assert_eq!(csv_text("seq-read"), "seq-read");
        assert_eq!(csv_text(""), "");
    }
}
