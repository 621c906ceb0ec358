//! Sizes and durations as people write them.

use serde::{Deserialize, Serialize};

/// A number of bytes that reads and writes itself as people write sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Why a size or a duration could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseUnitError {
    /// No number at the start.
    #[error("'{0}' does not start with a number")]
    NoNumber(String),
    /// The unit is not known.
    #[error("'{text}': unknown unit '{unit}' (known: {known})")]
    UnknownUnit {
        /// The whole text.
        text: String,
        unit: String,
        /// What would be accepted.
        known: &'static str,
    },
    /// Does not fit.
    #[error("'{0}' is too large")]
    TooLarge(String),
}

fn split(text: &str) -> Result<(f64, &str), ParseUnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| ParseUnitError::NoNumber(text.to_owned()))?;
    Ok((number, text[end..].trim()))
}

fn scale(text: &str, number: f64, factor: f64) -> Result<u64, ParseUnitError> {
    let value = number * factor;
    // 2^63 keeps every later sum of two in range.
    if !(0.0..9.2e18).contains(&value) {
        return Err(ParseUnitError::TooLarge(text.to_owned()));
    }
    Ok(value.round() as u64)
}

/// Reads `4096`, `4k`, `1MiB`, `1.5 GB`. `k`, `m`, `g`, `t` and `KiB`.. are powers of 1024; `kB`, `MB`.. are powers of
/// 1000 (`K`, `M`.. alone are binary, as in dd and fio).
pub fn parse_bytes(text: &str) -> Result<u64, ParseUnitError> {
    let (number, unit) = split(text)?;
    let factor: f64 = match unit {
        "" | "b" | "B" => 1.0,
        "k" | "K" | "KiB" | "kib" | "Ki" => 1024.0,
        "m" | "M" | "MiB" | "mib" | "Mi" => 1024f64.powi(2),
        "g" | "G" | "GiB" | "gib" | "Gi" => 1024f64.powi(3),
        "t" | "T" | "TiB" | "tib" | "Ti" => 1024f64.powi(4),
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => {
            return Err(ParseUnitError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                known: "k, KiB, kB, m, MiB, MB, g, GiB, GB, t, TiB, TB",
            });
        }
    };
    scale(text, number, factor)
}

/// Reads how many times as fast as it was, in thousandths: `max` is 0.
pub fn parse_speed_milli(text: &str) -> Result<u32, &'static str> {
    match (text, text.trim_end_matches('x').parse::<f64>()) {
        ("max", _) => Ok(0),
        (_, Ok(times)) if (0.001..=1_000_000.0).contains(&times) => Ok((times * 1000.0) as u32),
        _ => Err("max, or how many times as fast as it was, 0.001 to 1000000"),
    }
}

/// Reads `60s`, `2m`, `1.5h`, `500ms`, `7d`; a bare number is seconds. Result in nanoseconds.
pub fn parse_duration_ns(text: &str) -> Result<u64, ParseUnitError> {
    let (number, unit) = split(text)?;
    let factor = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "" | "s" | "sec" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => {
            return Err(ParseUnitError::UnknownUnit {
                text: text.to_owned(),
                unit: unit.to_owned(),
                known: "ns, us, ms, s, m, h, d",
            });
        }
    };
    scale(text, number, factor)
}

/// A number of bytes for a sentence: `512 bytes`, `64 MiB`, `15.7 GiB`.
pub fn bytes_text(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, unit)) if bytes.is_multiple_of(1 << shift) => format!("{} {unit}", bytes >> shift),
        Some((shift, unit)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// In binary units where that says it exactly, else in bytes.
pub fn exact_bytes_text(bytes: u64) -> String {
    if bytes > 0 && bytes.is_multiple_of(1 << 10) && bytes_text(bytes).find('.').is_none() {
        return bytes_text(bytes);
    }
    match bytes.is_multiple_of(1 << 10) {
        true if bytes > 0 => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// In decimal units, as rates and what is asked for in them are: three digits.
pub fn decimal_bytes_text(bytes: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    // What rounds up to the next unit is said in it.
    match units.into_iter().find(|(factor, _)| bytes as f64 >= 0.9995 * factor) {
        Some((factor, unit)) => {
            let value = bytes as f64 / factor;
            let digits = if value >= 99.95 {
                0
            } else if value >= 9.995 {
                1
            } else {
                2
            };
            let text = format!("{value:.digits$}");
            let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            format!("{text} {unit}")
        }
        None => format!("{bytes} bytes"),
    }
}

/// Two numbers of bytes in one sentence: as [`bytes_text`], or exactly where they would read the same.
pub fn distinct_bytes_text(a: u64, b: u64) -> (String, String) {
    let texts = (bytes_text(a), bytes_text(b));
    if a != b && texts.0 == texts.1 { (format!("{a} bytes"), format!("{b} bytes")) } else { texts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sizes_lose_nothing() {
        let all =
            [(245_760, "240 KiB"), (1_048_576, "1 MiB"), (1_572_864, "1536 KiB"), (1048, "1048 bytes"), (0, "0 bytes")];
        all.iter().for_each(|(bytes, text)| assert_eq!(exact_bytes_text(*bytes), *text));
    }

    #[test]
    fn decimal_sizes_have_three_digits_and_the_unit_that_was_asked_in() {
        let all = [
            (999, "999 bytes"),
            (1_000, "1 kB"),
            (567_279_616, "567 MB"),
            (999_900_000, "1 GB"),
            (20_000_000_000, "20 GB"),
            (1_234_000_000_000, "1.23 TB"),
            (1_048_576, "1.05 MB"),
            (100_000_000, "100 MB"),
        ];
        all.iter().for_each(|(bytes, text)| assert_eq!(decimal_bytes_text(*bytes), *text));
    }

    #[test]
    fn bytes_in_sentences() {
        assert_eq!(bytes_text(512), "512 bytes");
        assert_eq!(bytes_text(64 << 20), "64 MiB");
        assert_eq!(bytes_text(16_847_470_592), "15.7 GiB");
        assert_eq!(bytes_text(u64::MAX), "16777216.0 TiB");
        assert_eq!(distinct_bytes_text(1 << 30, 1 << 20), ("1 GiB".into(), "1 MiB".into()));
        assert_eq!(
            distinct_bytes_text((1 << 30) + 1, (1 << 30) + 2),
            ("1073741825 bytes".into(), "1073741826 bytes".into())
        );
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("4k"), Ok(4096));
        assert_eq!(parse_bytes("1MiB"), Ok(1 << 20));
        assert_eq!(parse_bytes("1.5 GB"), Ok(1_500_000_000));
        assert!(matches!(parse_bytes("4x"), Err(ParseUnitError::UnknownUnit { .. })));
        assert!(matches!(parse_bytes("99999999999999999999"), Err(ParseUnitError::TooLarge(_))));
        assert!(matches!(parse_bytes("-1"), Err(ParseUnitError::NoNumber(_))));
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration_ns("60s"), Ok(60_000_000_000));
        assert_eq!(parse_duration_ns("60"), Ok(60_000_000_000));
        assert_eq!(parse_duration_ns("500ms"), Ok(500_000_000));
        assert_eq!(parse_duration_ns("0"), Ok(0));
        assert!(parse_duration_ns("").is_err());
    }
}
