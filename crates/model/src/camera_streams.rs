//! Streams of cameras, as people write them: how many, and how much each brings.

use crate::units::parse_bytes;

/// Streams that all bring the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraStreams {
    pub count: u32,
    /// Of each, bytes a second.
    pub bytes_per_s: f64,
    /// Pictures a second of each, where that is said.
    pub frames_per_s: Option<f64>,
    /// Whether the rate is what is usual for pictures of that size, and was not said.
    pub is_assumed: bool,
}

/// How streams are written, for messages and help.
pub const CAMERA_STREAMS: &str = "COUNTxRATE: 4x16Mbit (bits a second of each), 2x40MB (bytes a second of each), 4x2MB@30 (bytes of a \
                                  picture, pictures a second), 4x1080p30 (lines and pictures a second, of which a usual rate is assumed)";

/// Lines of a picture, and Mbit/s of its H.264 at up to 30 and up to 60 pictures a second: what YouTube recommends for uploads ("Recommended
/// upload encoding settings", SDR, the higher where it has two).
const USUAL_MBITS: [(u32, f64, f64); 6] =
    [(360, 1.0, 1.5), (480, 2.5, 4.0), (720, 5.0, 7.5), (1080, 8.0, 12.0), (1440, 16.0, 24.0), (2160, 45.0, 68.0)];
const BITS_PER_BYTE: f64 = 8.0;
/// Units of bits a second, without the `/s` behind them.
const BIT_UNITS: [(&str, f64); 6] =
    [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("kbps", 1e3), ("mbps", 1e6), ("gbps", 1e9)];

impl CameraStreams {
    /// Reads `4x16Mbit`, `16Mbit`, `2x40MB`, `4x2MB@30`, `4x1080p30`, each with or without `/s`; `None` where it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (count, each) = text.split_once(['x', 'X', '*']).unwrap_or(("1", text));
        let count: u32 = count.trim().parse().ok().filter(|n| *n > 0)?;
        let each = each.trim();
        let (bytes_per_s, frames_per_s, is_assumed) = match each.split_once('@') {
            Some((size, rate)) => {
                let rate = positive(rate.trim().trim_end_matches("fps").trim_end())?;
                (bytes_of(size)? * rate, Some(rate), false)
            }
            None => {
                let said = each.strip_suffix("/s").unwrap_or(each);
                let usual = || usual_rate(said).map(|(bytes, rate)| (bytes, Some(rate), true));
                let bits = bits_of(said).map(|bits| (bits / BITS_PER_BYTE, None, false));
                bits.or_else(|| Some((bytes_of(said)?, None, false))).or_else(usual)?
            }
        };
        let all = bytes_per_s * f64::from(count);
        (all.is_finite() && bytes_per_s > 0.0).then_some(Self { count, bytes_per_s, frames_per_s, is_assumed })
    }
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0)
}

fn bits_of(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let (number, factor) = BIT_UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    Some(positive(number.trim())? * factor)
}

/// Bytes with their unit: a number without one would be bytes, which no camera is rated in.
fn bytes_of(text: &str) -> Option<f64> {
    let text = text.trim();
    parse_bytes(text).ok().filter(|_| text.ends_with(['b', 'B'])).map(|bytes| bytes as f64)
}

/// `1080p30`, `1080p`, `4k60`: bytes and pictures a second.
fn usual_rate(text: &str) -> Option<(f64, f64)> {
    let (lines, rate) = match text.split_once(['p', 'P']) {
        Some((lines, rate)) => (lines.parse().ok()?, rate),
        None => (2160, text.strip_prefix("4k").or_else(|| text.strip_prefix("4K"))?),
    };
    let rate = if rate.is_empty() { 30.0 } else { positive(rate)? };
    let (_, slow, fast) = USUAL_MBITS.iter().find(|(known, ..)| *known == lines)?;
    let megabits = if rate <= 30.0 { slow } else { fast };
    (rate <= 60.0).then_some((megabits * 1e6 / BITS_PER_BYTE, rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_as_people_write_them() {
        for (text, count, bytes_per_s, frames_per_s, is_assumed) in [
            ("4x16Mbit", 4, 2e6, None, false),
            ("16Mbit", 1, 2e6, None, false),
            ("4 x 8 mbit/s", 4, 1e6, None, false),
            ("3x8Mbps", 3, 1e6, None, false),
            ("1x1.5Gbit", 1, 187.5e6, None, false),
            ("2x40MB/s", 2, 40e6, None, false),
            ("2X40MB", 2, 40e6, None, false),
            ("4x2MB@30", 4, 60e6, Some(30.0), false),
            ("4x100KiB@29.97fps", 4, 102_400.0 * 29.97, Some(29.97), false),
            ("4x1080p30", 4, 1e6, Some(30.0), true),
            ("4x1080p", 4, 1e6, Some(30.0), true),
            ("2x4k60", 2, 8.5e6, Some(60.0), true),
            ("720p25", 1, 625_000.0, Some(25.0), true),
        ] {
            let expected = CameraStreams { count, bytes_per_s, frames_per_s, is_assumed };
            assert_eq!(CameraStreams::parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_says_no_rate_is_none() {
        let wrong = [
            "",
            "4",
            "x1MB",
            "0x1MB",
            "4x",
            "1x0Mbit",
            "1x-1Mbit",
            "1xinfMbit",
            "1x1parsec",
            "4x16",
            "4x16M",
            "4x1080p90",
            "4x1081p30",
            "4x2MB@0",
            "4x2MB@",
            "4x2MB@x",
            "4x2@30",
            "4294967296x1MB",
            "1xnanMbit",
            "x",
            "@",
            "p",
            "4xp30",
        ];
        for text in wrong {
            assert_eq!(CameraStreams::parse(text), None, "{text}");
        }
        for text in ["4x1080p30", "4x16Mbit", "2x40MB", "4x2MB@30"] {
            assert!(CAMERA_STREAMS.contains(text), "{text} is named");
        }
    }
}
