//! What a target does while all of it is written: the rate by how much was, and where it falls.

use model::{Cliff, Filled, FilledPart, Interval, PhaseRecord};

/// Parts into which what was written is cut.
const PARTS: u64 = 10;
/// Seconds of which the first rate is the median, and those that must be slow for a fall.
const SECONDS: usize = 5;
/// A fall to more than so much of the first rate is none.
const FALL: f64 = 0.8;

/// The series in seconds, or in intervals where these are longer: bytes that were written at the end of each, and its rate.
fn seconds(intervals: &[Interval]) -> Vec<(u64, f64)> {
    let (mut all, mut bytes, mut ns) = (0u64, 0u64, 0u64);
    let mut out = Vec::new();
    for interval in intervals {
        (bytes, ns) = (bytes.saturating_add(interval.bytes), ns.saturating_add(interval.length_ns));
        if ns >= 1_000_000_000 {
            all = all.saturating_add(bytes);
            out.push((all, bytes as f64 * 1e9 / ns as f64));
            (bytes, ns) = (0, 0);
        }
    }
    out
}

fn median(seconds: &[(u64, f64)]) -> Option<f64> {
    let mut rates: Vec<f64> = seconds.iter().map(|s| s.1).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// What a phase of writes shows; `None` where it wrote nothing. What took less than a second has no parts.
pub fn filled(record: &PhaseRecord) -> Option<Filled> {
    let seconds = seconds(&record.intervals);
    if record.bytes == 0 {
        return None;
    }
    let last = seconds.last().map_or(0, |s| s.0);
    let part = |i: u64| {
        let (from, to) = (last / PARTS * i, if i + 1 == PARTS { last } else { last / PARTS * (i + 1) });
        let inside: Vec<f64> = seconds.iter().filter(|s| s.0 > from && s.0 <= to).map(|s| s.1).collect();
        let rate = inside.iter().sum::<f64>() / inside.len() as f64;
        let least = inside.iter().copied().fold(f64::INFINITY, f64::min);
        (!inside.is_empty()).then_some(FilledPart { end_bytes: to, bytes_per_s: rate, least_bytes_per_s: least })
    };
    let bytes_per_s = record.bytes as f64 * 1e9 / record.duration_ns().max(1) as f64;
    let parts = (0..PARTS).filter_map(part).collect();
    Some(Filled { bytes: record.bytes, bytes_per_s, cliff: cliff(&seconds), parts })
}

/// The first moment from which on the seconds are slow, to the end of the phase by their median.
fn cliff(seconds: &[(u64, f64)]) -> Option<Cliff> {
    if seconds.len() < 2 * SECONDS {
        return None;
    }
    let first = median(&seconds[..SECONDS])?;
    let slow =
        |from: usize| median(&seconds[from..(from + SECONDS).min(seconds.len())]).is_some_and(|m| m < FALL * first);
    let is_slow = |i: &usize| seconds[*i].1 < FALL * first && slow(*i);
    let at = (1..=seconds.len() - SECONDS).find(is_slow)?;
    let (before, after) = (median(&seconds[..at])?, median(&seconds[at..])?);
    // One that recovers was a gap.
    (after < FALL * before).then_some(Cliff {
        before_bytes_per_s: before,
        bytes: seconds[at - 1].0,
        after_bytes_per_s: after,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rates: &[u64]) -> PhaseRecord {
        let interval = |(i, mb): (u64, &u64)| Interval {
            start_ns: i * 500_000_000,
            length_ns: 500_000_000,
            operations: 1,
            bytes: mb * 500_000,
            ..Interval::default()
        };
        let intervals: Vec<Interval> = (0..).zip(rates).map(interval).collect();
        let bytes = intervals.iter().map(|i| i.bytes).sum();
        PhaseRecord { bytes, ended_ns: rates.len() as u64 * 500_000_000, intervals, ..PhaseRecord::default() }
    }

    #[test]
    fn a_cache_that_runs_out_is_a_cliff_however_short_it_is_in_all() {
        let mut rates = vec![530; 60];
        rates.extend(vec![180; 6_000]);
        let found = filled(&record(&rates)).unwrap();
        let cliff = found.cliff.unwrap();
        assert_eq!((cliff.before_bytes_per_s, cliff.after_bytes_per_s), (530e6, 180e6));
        assert_eq!(cliff.bytes, 15_900_000_000);
        assert_eq!(found.parts.len(), 10);
        assert!(
            found.parts[0].bytes_per_s > 181e6 && found.parts[0].least_bytes_per_s == 180e6,
            "{:?}",
            found.parts[0]
        );
        assert_eq!(found.parts[9].bytes_per_s, 180e6);
    }

    #[test]
    fn gaps_noise_and_short_phases_are_none() {
        let mut gap = vec![100; 200];
        gap[80..100].fill(0);
        assert_eq!(filled(&record(&gap)).unwrap().cliff, None, "it comes back");
        let noise: Vec<u64> = (0..400).map(|i| 90 + i * 7919 % 20).collect();
        assert_eq!(filled(&record(&noise)).unwrap().cliff, None);
        assert_eq!(filled(&record(&[500, 500, 100, 100])).unwrap().cliff, None, "two seconds");
        assert_eq!(filled(&record(&[])), None);
        let short = filled(&record(&[500])).unwrap();
        assert_eq!((short.bytes_per_s, short.parts, short.cliff), (500e6, Vec::new(), None), "half a second");
    }
}
