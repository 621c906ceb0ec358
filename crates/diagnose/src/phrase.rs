//! Quantities in the words of a statement: decimal units, three significant figures.

use model::four_figures;

fn figures(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// Thousands set apart by a space, as in the tables.
fn thousands(digits: &str) -> String {
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    fraction.map_or_else(|| out.clone(), |f| format!("{out}.{f}"))
}

/// `66.1 MB/s`, `3 360 MB/s`, `12.4 GB/s` (10^6 and 10^9): in MB/s up to 10 GB/s, as the tables write rates.
pub fn rate(bytes_per_s: f64) -> String {
    if bytes_per_s >= 1e10 {
        format!("{} GB/s", figures(bytes_per_s / 1e9))
    } else if bytes_per_s >= 1e9 {
        format!("{} MB/s", thousands(&format!("{:.0}", (bytes_per_s / 1e7).round() * 10.0)))
    } else if bytes_per_s >= 1e6 {
        format!("{} MB/s", figures(bytes_per_s / 1e6))
    } else {
        format!("{} kB/s", figures(bytes_per_s / 1e3))
    }
}

/// `66.1 MB`, `12.4 GB` (10^6 and 10^9).
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{} GB", figures(b / 1e9)),
        b if b >= 1e6 => format!("{} MB", figures(b / 1e6)),
        b => format!("{} kB", figures(b / 1e3)),
    }
}

/// `42 %` of a share from 0 to 1.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `2.4 times`, with two decimals below 2 where they matter.
pub fn times(ratio: f64) -> String {
    if ratio < 2.0 { format!("{ratio:.2} times") } else { format!("{ratio:.1} times") }
}

/// `3 201 IOPS`.
pub fn iops(per_s: f64) -> String {
    format!("{} IOPS", count(per_s))
}

/// A whole number with its thousands separated: `3 201`.
pub fn count(number: f64) -> String {
    thousands(&format!("{:.0}", four_figures(number)))
}

/// `52.0 us`, `1.30 ms`, `2.10 s`.
pub fn time(ns: f64) -> String {
    match ns {
        n if n >= 1e9 => format!("{} s", figures(n / 1e9)),
        n if n >= 1e6 => format!("{} ms", figures(n / 1e6)),
        n if n >= 1e3 => format!("{} us", figures(n / 1e3)),
        n => format!("{} ns", figures(n)),
    }
}

/// A duration in seconds: `3.2 s`.
pub fn seconds(ns: u64) -> String {
    format!("{:.1} s", ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_people_write_them() {
        assert_eq!(rate(66.14e6), "66.1 MB/s");
        assert_eq!(rate(1.9234e9), "1 920 MB/s");
        assert_eq!(rate(12.4e9), "12.4 GB/s");
        assert_eq!(iops(1_814.0), "1 814 IOPS");
        assert_eq!(iops(212.0), "212 IOPS");
        assert_eq!(rate(512e3), "512 kB/s");
        assert_eq!((bytes(980_000_000), bytes(1_240_000_000)), ("980 MB".to_owned(), "1.24 GB".to_owned()));
        assert_eq!(percent(0.42), "42 %");
        assert_eq!(times(1.04), "1.04 times");
        assert_eq!(times(6.61), "6.6 times");
        assert_eq!(four_figures(123_456.0), 123_500.0);
        assert_eq!(four_figures(f64::NAN), 0.0);
    }
}
