//! Rates, counts and times as fio prints them for people.

use super::super::number::finite;
use super::job::Quantity;
use model::CompactSort as _;

/// What `K`, `M`, `G` mean where no `i` follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Powers of 1000: fio since 2.16, and counts in all versions.
    Decimal,
    /// Powers of 1024: rates and sizes up to fio 2.15, which writes `KB/s` for KiB/s.
    Binary,
}

/// A number and what follows it: `67.4k` is (67.4, "k").
pub(super) fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    Some((finite(&text[..end])?, text[end..].trim()))
}

fn factor(letter: &str, base: f64) -> Option<f64> {
    let exponent = match letter {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        _ => return None,
    };
    Some(base.powi(exponent))
}

/// A count with a decimal suffix: `67.4k`, `756523K`.
pub(super) fn count(text: &str) -> Option<f64> {
    let (number, suffix) = split(text)?;
    Some(number * factor(suffix, 1000.0)?)
}

/// A size or rate, bytes (per second): `527MiB/s`, `552MB/s`, `661966KB/s`, `12B/s`, `35.2Mibit/s`, `154GiB`.
pub(super) fn bytes(text: &str, prefix: Prefix) -> Option<f64> {
    let (number, unit) = split(text)?;
    let unit = unit.strip_suffix("/s").unwrap_or(unit).trim_end();
    let (letters, divisor) = match unit.strip_suffix("bit").or_else(|| unit.strip_suffix('b')) {
        Some(letters) => (letters, 8.0),
        // The sum over clients is printed as `154Mi (161M)`.
        None => (unit.strip_suffix('B').unwrap_or(unit), 1.0),
    };
    let (letter, base) = match letters.strip_suffix('i') {
        Some(letter) => (letter, 1024.0),
        None if prefix == Prefix::Binary => (letters, 1024.0),
        None => (letters, 1000.0),
    };
    Some(number * factor(letter, base)? / divisor)
}

/// The relative error that rounding to the printed digits may have brought.
fn rounding(text: &str) -> f64 {
    let digits = text.trim().find(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(text, |end| &text.trim()[..end]);
    let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
    let value = finite(digits).unwrap_or(0.0);
    // fio cuts digits off in some places and rounds in others: a whole unit of the last place.
    if value > 0.0 { 10f64.powi(-(decimals as i32)) / value } else { 1.0 }
}

/// Bytes per second of a direction, of one or two printings and of bytes over time; a remark where they disagree.
///
/// fio 3.1 prints a binary figure 8 % low beside a right decimal one; bytes over time tell which is right.
pub(super) fn best_rate(
    printed: &[&str],
    prefix: Prefix,
    bytes_over_time: Option<f64>,
) -> Option<(Quantity, Option<String>)> {
    let mut all: Vec<(f64, &str)> = printed.iter().filter_map(|t| Some((bytes(t, prefix)?, t.trim()))).collect();
    all.compact_sort_by(|a, b| rounding(a.1).total_cmp(&rounding(b.1)));
    let first = *all.first()?;
    let second = all.get(1);
    let mut chosen = first;
    let mut remark = None;
    if let Some(second) = second {
        let allowed = rounding(first.1) + rounding(second.1) + 1e-9;
        if (first.0 - second.0).abs() > allowed * first.0.max(second.0) {
            // Without bytes over time: the decimal one.
            let distance = |v: f64| bytes_over_time.map_or(0.0, |t| (v - t).abs());
            let decimal_second = !second.1.contains('i') && first.1.contains('i');
            if distance(second.0) < distance(first.0) || (bytes_over_time.is_none() && decimal_second) {
                chosen = *second;
            }
            let other = if chosen == first { second.1 } else { first.1 };
            remark = Some(format!("fio printed {other} beside it, which is another rate"));
        }
    }
    let (number, unit) = chosen.1.split_at(chosen.1.find(|c: char| !(c.is_ascii_digit() || c == '.'))?);
    Some((Quantity::new(chosen.0, number, unit.trim()), remark))
}

/// Nanoseconds of a time unit in brackets: `usec`.
pub(super) fn time_unit_ns(unit: &str) -> Option<f64> {
    match unit {
        "nsec" | "ns" => Some(1.0),
        "usec" | "us" => Some(1e3),
        "msec" | "ms" => Some(1e6),
        "sec" | "s" => Some(1e9),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_all_versions() {
        use Prefix::{Binary, Decimal};
        for (text, prefix, want) in [
            ("661966KB/s", Binary, 661_966.0 * 1024.0),
            ("661966KiB/s", Binary, 661_966.0 * 1024.0),
            ("512B/s", Binary, 512.0),
            ("552MB/s", Decimal, 552e6),
            ("4405KiB/s", Decimal, 4405.0 * 1024.0),
            ("1.5GiB/s", Decimal, 1.5 * 1_073_741_824.0),
            ("80Mbit/s", Decimal, 10e6),
            ("8Kibit/s", Decimal, 1024.0),
            ("154Mi", Decimal, 154.0 * 1_048_576.0),
            ("161M", Decimal, 161e6),
            ("154GiB", Decimal, 154.0 * 1_073_741_824.0),
        ] {
            assert_eq!(bytes(text, prefix), Some(want), "{text}");
        }
        assert_eq!(bytes("nan KB/s", Binary), None);
        assert_eq!(bytes("12XB/s", Binary), None);
        assert_eq!(
            (count("67.4k"), count("5025.1k"), count("1.2M"), count("7x")),
            (Some(67_400.0), Some(5_025_100.0), Some(1.2e6), None)
        );
    }

    #[test]
    fn of_two_rates_the_right_one() {
        let over_time = 500.0 * 1_048_576.0 / 40.0;
        let (q, remark) = best_rate(&["12.0MiB/s", "13.1MB/s"], Prefix::Decimal, Some(over_time)).unwrap();
        assert_eq!((q.value, q.original.unit.as_str()), (13.1e6, "MB/s"));
        assert!(remark.unwrap().contains("12.0MiB/s"));
        // More digits win where both are right.
        let (q, remark) = best_rate(&["4405KiB/s", "4511kB/s"], Prefix::Decimal, None).unwrap();
        assert_eq!((q.value, remark), (4511e3, None));
        let (q, _) = best_rate(&["12.0MiB/s", "13.1MB/s"], Prefix::Decimal, None).unwrap();
        assert_eq!(q.value, 13.1e6);
    }
}
