//! Writes that take longer from pass to pass: the sensor of wear that SD cards lack.

use model::{Growth, PhaseRecord};
use serde::{Deserialize, Serialize};

/// Passes that are kept; beyond, every second of them is.
const MOST_PASSES: usize = 256;
/// Fewer passes say nothing of a trend.
const FEWEST_PASSES: usize = 8;
/// Kinds of pass, which take turns.
const KINDS: u32 = 4;
const LEVEL: f64 = 0.95;

/// How long the writes of a pass took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PassTimes {
    pub pass: u32,
    /// Of its laps the median of their median write, nanoseconds.
    pub median_ns: u64,
    /// Of its laps the median of their 99th percentile, nanoseconds.
    pub p99_ns: u64,
    /// What its laps wrote.
    #[serde(default)]
    pub bytes: u64,
    /// Time of their writes; 0 where it was not counted.
    #[serde(default)]
    pub write_ns: u64,
}

/// Medians and 99th percentiles of laps, and what came of whole passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    laps: Vec<(u64, u64)>,
    /// Bytes and time of the laps since the last pass.
    #[serde(default)]
    written: (u64, u64),
    passes: Vec<PassTimes>,
}

impl Times {
    /// A lap of writes has ended.
    pub(crate) fn lap(&mut self, record: &PhaseRecord) {
        let at = |share| record.latency.quantile(share);
        if let (Some(median), Some(p99)) = (at(0.5), at(0.99)) {
            self.laps.push((median, p99));
        }
        self.written.0 += record.bytes;
        self.written.1 += record.duration_ns();
    }

    /// The pass has ended.
    pub(crate) fn pass(&mut self, pass: u32) {
        let median = |of: fn(&(u64, u64)) -> u64| {
            stats::median(&self.laps.iter().map(|lap| of(lap) as f64).collect::<Vec<_>>()).map(|ns| ns as u64)
        };
        if let (Some(median_ns), Some(p99_ns)) = (median(|lap| lap.0), median(|lap| lap.1)) {
            let (bytes, write_ns) = std::mem::take(&mut self.written);
            self.passes.push(PassTimes { pass, median_ns, p99_ns, bytes, write_ns });
        }
        self.laps.clear();
        if self.passes.len() > MOST_PASSES {
            // Whole turns of the kinds, so that each keeps its share.
            let kinds = KINDS as usize;
            self.passes = self
                .passes
                .iter()
                .enumerate()
                .filter(|(i, _)| (i / kinds).is_multiple_of(2))
                .map(|(_, p)| *p)
                .collect();
        }
    }
}

impl Times {
    /// The passes that are kept, in their order.
    pub fn passes(&self) -> &[PassTimes] {
        &self.passes
    }

    /// How the median write has grown.
    pub fn median_growth(&self) -> Option<Growth> {
        growth(&self.passes, |times| times.median_ns)
    }

    /// How the 99th percentile has grown.
    pub fn p99_growth(&self) -> Option<Growth> {
        growth(&self.passes, |times| times.p99_ns)
    }
}

/// Kinds of pass differ in how long their writes take: each pass is compared with the median of its kind, and the trend is
/// that of all (Theil and Sen, with Sen's interval).
fn growth(passes: &[PassTimes], time: fn(&PassTimes) -> u64) -> Option<Growth> {
    let of_kind = |kind: u32| passes.iter().filter(move |p| p.pass % KINDS == kind);
    let mut points = Vec::new();
    for kind in 0..KINDS {
        let logs = |p: &PassTimes| (time(p).max(1) as f64).ln();
        // One alone has nothing to be compared with.
        let Some(usual) =
            stats::median(&of_kind(kind).map(logs).collect::<Vec<_>>()).filter(|_| of_kind(kind).count() > 1)
        else {
            continue;
        };
        points.extend(of_kind(kind).map(|p| (f64::from(p.pass), logs(p) - usual)));
    }
    let (first, last) = (passes.first()?.pass, passes.last()?.pass);
    let line = stats::theil_sen(&points).filter(|_| points.len() >= FEWEST_PASSES)?;
    let (low, high) = stats::theil_sen_interval(&points, LEVEL)?;
    let share = |slope: f64| (slope * f64::from(last - first)).exp() - 1.0;
    Some(Growth {
        first_pass: first,
        last_pass: last,
        passes: points.len(),
        share: share(line.slope),
        low: share(low),
        high: share(high),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A median that grows by this share over all, with a noise of a percent.
    fn passes(count: u32, share: f64) -> Vec<PassTimes> {
        // Between -1 and 1, seeded.
        let noise = |pass: u32| (model::random::mix(u64::from(pass)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        (1..=count)
            .map(|pass| {
                let usual = [80_000.0, 1_000_000.0, 300_000.0, 9_000_000.0][(pass % KINDS) as usize];
                let grown = (1.0 + share).powf(f64::from(pass - 1) / f64::from(count - 1));
                let median_ns = (usual * grown * (1.0 + 0.01 * noise(pass))) as u64;
                PassTimes { pass, median_ns, p99_ns: 2 * median_ns, bytes: 0, write_ns: 0 }
            })
            .collect()
    }

    #[test]
    fn what_grows_is_told_and_what_does_not_is_not() {
        let grown = growth(&passes(40, 0.2), |p| p.median_ns).unwrap();
        assert!(grown.is_certain() && (0.17..0.23).contains(&grown.share), "{grown:?}");
        assert!(grown.low < 0.2 && grown.high > 0.2 && grown.passes == 40, "{grown:?}");
        let same = growth(&passes(40, 0.0), |p| p.p99_ns).unwrap();
        assert!(!same.is_certain() && same.share.abs() < 0.02, "{same:?}");
        assert_eq!(growth(&passes(7, 0.5), |p| p.median_ns), None);
        assert_eq!(growth(&[], |p| p.median_ns), None);
    }

    #[test]
    fn what_is_kept_has_constant_size_and_all_kinds() {
        let mut times = Times::default();
        for pass in 1..=5_000 {
            times.laps.push((pass.into(), pass.into()));
            times.pass(pass);
        }
        assert!((MOST_PASSES / 4..=MOST_PASSES).contains(&times.passes.len()), "{}", times.passes.len());
        for kind in 0..KINDS {
            assert!(times.passes.iter().filter(|p| p.pass % KINDS == kind).count() > 10);
        }
    }
}
