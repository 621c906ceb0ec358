//! What one contestant did in one round, and how rounds are summed up.

/// One round of one contestant.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub iops: f64,
    /// `None` where the peer does not tell.
    pub user_ns_per_op: Option<f64>,
    pub system_ns_per_op: Option<f64>,
}

/// Smallest, middle and largest of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// `None` without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let (first, last) = (*values.first()?, *values.last()?);
        let median = if n % 2 == 1 { values[n / 2] } else { (values[n / 2 - 1] + values[n / 2]) / 2.0 };
        Some(Self { min: first, median, max: last })
    }

    /// `median (min - max)` with so many decimals, each value divided by `unit`.
    pub fn show(&self, unit: f64, decimals: usize) -> String {
        format!("{:.d$} ({:.d$} - {:.d$})", self.median / unit, self.min / unit, self.max / unit, d = decimals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of([1_500_000.0]).unwrap().show(1e6, 2), "1.50 (1.50 - 1.50)");
    }
}
