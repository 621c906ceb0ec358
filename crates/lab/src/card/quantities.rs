//! Sizes, times and rates as a card's file writes them: `"4MiB"`, `"30ms"`, `"10MiB/s"`.

use model::{parse_bytes, parse_duration_ns};
use serde::{Deserialize, Deserializer, de::Error};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

/// Bytes per second, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

impl Rate {
    /// Time of `bytes` at this rate, nanoseconds, rounded down. Differences of the times of growing lengths add up to
    /// the time of the whole, whatever pieces it came in.
    pub fn time_ns(self, bytes: u64) -> u64 {
        u64::try_from(u128::from(bytes) * 1_000_000_000 / u128::from(self.0)).unwrap_or(u64::MAX)
    }

    /// Bytes in `ns` at this rate.
    pub fn bytes_in(self, ns: u64) -> u64 {
        u64::try_from(u128::from(ns) * u128::from(self.0) / 1_000_000_000).unwrap_or(u64::MAX)
    }
}

fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, |t| parse_bytes(t).map(Self).map_err(|e| e.to_string()))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, |t| parse_duration_ns(t).map(Self).map_err(|e| e.to_string()))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text(deserializer, |t| {
            let bytes =
                t.trim().strip_suffix("/s").ok_or_else(|| format!("'{t}' is not a rate: write it as 10MiB/s"))?;
            match parse_bytes(bytes).map_err(|e| e.to_string())? {
                0 => Err(format!("'{t}': a rate is more than 0")),
                rate => Ok(Self(rate)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Three {
        size: Size,
        time: Time,
        rate: Rate,
    }

    #[test]
    fn they_are_written_as_people_do() {
        let three: Three = toml::from_str("size = '4KiB'\ntime = '1.5ms'\nrate = '10MB/s'").unwrap();
        assert_eq!((three.size.0, three.time.0, three.rate.0), (4096, 1_500_000, 10_000_000));
        for (bad, why) in [
            ("size = 'x'\ntime = '1s'\nrate = '1MB/s'", "does not start with a number"),
            ("size = '1k'\ntime = '1y'\nrate = '1MB/s'", "unknown unit 'y'"),
            ("size = '1k'\ntime = '1s'\nrate = '1MB'", "write it as 10MiB/s"),
            ("size = '1k'\ntime = '1s'\nrate = '0/s'", "more than 0"),
        ] {
            let error = toml::from_str::<Three>(bad).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn pieces_cost_what_the_whole_costs() {
        let rate = Rate(66_000_001);
        let pieces: u64 = (0..2048).map(|i| rate.time_ns((i + 1) * 512) - rate.time_ns(i * 512)).sum();
        assert_eq!(pieces, rate.time_ns(1 << 20));
        assert_eq!(Rate(1_000_000).bytes_in(1_500_000_000), 1_500_000);
        assert_eq!(Rate(1).time_ns(u64::MAX), u64::MAX);
    }
}
