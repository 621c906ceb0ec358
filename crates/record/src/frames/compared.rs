//! A way at the rate at which all are compared.

use super::FramesMeasured;
use model::{FramesCompared, FramesLoad, SystemSample, cpu_share_total};
use recorder::FrameTime;

/// Of more frames than these the slowest of each group are listed and drawn.
const MOST_LISTED: usize = 3000;
/// Fewer frames have no 99th percentile.
const LEAST_FOR_P99: usize = 100;

/// What a measurement gave, by four looks at the machine: before it rests, before and after the measurement, and after it rested again.
pub(super) fn compared(measured: &FramesMeasured, samples: &[SystemSample; 4]) -> FramesCompared {
    let load = |from: usize| {
        let share = cpu_share_total(&samples[from], &samples[from + 1])?;
        Some(FramesLoad { busy: share.busy(), iowait: share.iowait })
    };
    FramesCompared {
        lost: measured.lost,
        write_ns_p50: measured.write_ns(0.5),
        write_ns_p99: measured.write_ns(0.99).filter(|_| measured.times.len() >= LEAST_FOR_P99),
        write_ns_max: measured.write_ns(1.0),
        durable_ns_max: measured.ages.quantile(1.0),
        ring_most_bytes: measured.ring_most,
        cpu_s_per_gb: (measured.durable_bytes > 0).then(|| measured.cpu_ns as f64 / measured.durable_bytes as f64),
        load_before: load(0),
        load_during: load(1),
        load_after: load(2),
        frames_ms: listed(&measured.times),
        frames: measured.times.len() as u64,
    }
}

/// Arrival after the first and time until it was written, milliseconds; of many the slowest of each group.
fn listed(times: &[FrameTime]) -> Vec<[f64; 2]> {
    let first = times.iter().map(|t| t.arrived).min().unwrap_or(0);
    let took = |t: &FrameTime| t.written.saturating_sub(t.arrived);
    let slowest =
        times.chunks(times.len().div_ceil(MOST_LISTED).max(1)).filter_map(|c| c.iter().max_by_key(|t| took(t)));
    let ms = |ns: u64| (ns as f64 / 1e3).round() / 1e3;
    slowest.map(|t| [ms(t.arrived - first), ms(took(t))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_frames_the_slowest_are_listed() {
        let time = |n: u64| FrameTime {
            arrived: n * 1_000_000,
            written: n * 1_000_000 + if n == 7000 { 9_000_000 } else { 1_000_000 },
        };
        let few: Vec<_> = (10..20).map(time).collect();
        assert_eq!(listed(&few)[..2], [[0.0, 1.0], [1.0, 1.0]]);
        let many: Vec<_> = (0..10_000).map(time).collect();
        let kept = listed(&many);
        assert!(kept.len() <= MOST_LISTED && kept.contains(&[7000.0, 9.0]));
    }
}
