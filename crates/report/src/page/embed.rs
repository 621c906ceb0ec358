//! Making text safe inside the page, and the policy that lets exactly these blocks run.

use sha2::{Digest, Sha256};

/// JSON for a script element: no `<`, so neither `</script` nor `<!--` can end or open anything; no line separators,
/// which older parsers take for line ends.
pub(super) fn json(value: &serde_json::Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 with padding (RFC 4648), for hash sources of a Content-Security-Policy.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |w, b| w << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let symbol = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(symbol) } else { '=' });
        }
    }
    out
}

fn sources(blocks: &[&str]) -> String {
    let hashes: Vec<String> =
        blocks.iter().map(|b| format!("'sha256-{}'", base64(&Sha256::digest(b.as_bytes())))).collect();
    hashes.join(" ")
}

/// The Content-Security-Policy: no network at all, and only these inlined blocks (CSP level 2, hash sources).
pub(super) fn policy(scripts: &[&str], styles: &[&str]) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        sources(scripts),
        sources(styles)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (text, expected) in pairs {
            assert_eq!(base64(text.as_bytes()), expected);
        }
    }

    #[test]
    fn data_cannot_leave_their_element() {
        let text = json(&serde_json::json!({"name": "</script><!--\u{2028}&"}));
        assert!(!text.contains('<') && !text.contains('\u{2028}') && !text.contains('&'), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["name"], "</script><!--\u{2028}&");
    }
}
