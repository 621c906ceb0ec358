//! How long a run of contiguous data takes, by its length, and what of that is certain while the run may still go on.

use super::quantities::Rate;

/// Time of a run that continues nothing, by its length: the time of the first point below it, straight lines between the
/// points, and the sequential rate beyond the last. Without points: the sequential rate alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Length in bytes and time in nanoseconds, in ascending order of length.
    points: Vec<(u64, u64)>,
    rate: Rate,
}

impl Curve {
    /// From points in ascending order of length.
    pub fn new(points: Vec<(u64, u64)>, rate: Rate) -> Self {
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        Self { points, rate }
    }

    /// Time of a run that ends at `len` bytes, nanoseconds.
    pub fn total_ns(&self, len: u64) -> u64 {
        let above = self.points.partition_point(|(bytes, _)| *bytes < len);
        match (above.checked_sub(1).map(|below| self.points[below]), self.points.get(above)) {
            (None, None) => self.rate.time_ns(len),
            (None, Some((_, time))) => *time,
            (Some((bytes, time)), None) => time.saturating_add(self.rate.time_ns(len - bytes)),
            (Some((b0, t0)), Some((b1, t1))) => {
                let part = |time: u64, bytes: u64| u128::from(time) * u128::from(bytes);
                // Both weights are parts of b1 - b0, so that the result lies between the two times.
                ((part(t0, b1 - len) + part(*t1, len - b0)) / u128::from(b1 - b0)) as u64
            }
        }
    }

    /// What a run that has come to `len` bytes costs at least, however it goes on, nanoseconds. Where a short run takes
    /// longer than a longer one (the card has to fill its page), the difference is due only when the run ends.
    pub fn certain_ns(&self, len: u64) -> u64 {
        let above = self.points.partition_point(|(bytes, _)| *bytes < len);
        self.points[above..].iter().map(|(_, time)| *time).fold(self.total_ns(len), u64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn class_4() -> Curve {
        Curve::new(vec![(1024, 10 * MS), (4096, 30 * MS), (16384, 500 * MS)], Rate(10_000_000))
    }

    #[test]
    fn the_points_are_met_and_the_rate_follows() {
        let curve = class_4();
        assert_eq!(curve.total_ns(512), 10 * MS);
        assert_eq!(curve.total_ns(1024), 10 * MS);
        assert_eq!(curve.total_ns(2560), 20 * MS);
        assert_eq!(curve.total_ns(4096), 30 * MS);
        assert_eq!(curve.total_ns(16384), 500 * MS);
        assert_eq!(curve.total_ns(16384 + 10_000_000), 1500 * MS);
        assert_eq!(Curve::new(vec![], Rate(1000)).total_ns(500), 500 * MS);
    }

    #[test]
    fn what_is_certain_never_falls_and_never_exceeds_what_the_run_takes() {
        // 1 KiB slower than 4 KiB, as the industrial card of the study.
        let curve = Curve::new(vec![(1024, 2400), (4096, 1300), (16384, 2200)], Rate(30_000_000));
        assert_eq!((curve.certain_ns(512), curve.certain_ns(1024), curve.certain_ns(4096)), (1300, 1300, 1300));
        let mut last = 0;
        for len in (512..65536).step_by(512) {
            let certain = curve.certain_ns(len);
            assert!(certain >= last && certain <= curve.total_ns(len), "{len}");
            last = certain;
        }
        assert_eq!(class_4().certain_ns(1024), 10 * MS);
    }
}
