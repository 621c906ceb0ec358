//! Numbers as tools print them.

/// A finite number: `12`, ` 7.63`, `1e3`. Not `nan`, `inf`, `0x10` or `1_000`.
pub(crate) fn finite(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    (plain && text.bytes().any(|b| b.is_ascii_digit()))
        .then(|| text.parse().ok())
        .flatten()
        .filter(|v: &f64| v.is_finite())
}
