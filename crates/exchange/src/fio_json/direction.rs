//! What went one way: fio's `read`, `write`, `trim`, `mixed` and `sync` objects.

use super::latency::LatencyStats;
use super::pairs::decimal;
use crate::Options;
use crate::job::{ExecutedJob, per_second};
use crate::side::Side;
use model::{Direction, Histogram, Interval};
use serde::Serialize;

/// One direction. The default is what fio prints for a direction that was not used.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct DirectionStats {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: LatencyStats,
    clat_ns: LatencyStats,
    lat_ns: LatencyStats,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

/// Spread of a series.
#[derive(Default)]
struct Spread {
    min: u64,
    max: u64,
    mean: f64,
    deviation: f64,
    n: u64,
}

fn spread(values: &[f64]) -> Spread {
    let n = values.len();
    if n == 0 {
        return Spread::default();
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Spread {
        min: values.iter().copied().fold(f64::INFINITY, f64::min) as u64,
        max: values.iter().copied().fold(0.0, f64::max) as u64,
        mean: decimal(mean),
        deviation: decimal(if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 }),
        n: n as u64,
    }
}

impl DirectionStats {
    /// What went one way. `series`: whether the intervals of the phase are of this and nothing else; else the spread over
    /// them is not known, and only the mean, which is the rate, is given.
    pub fn of(job: &ExecutedJob, side: &Side, series: bool, options: &Options) -> Self {
        let intervals = |of: &dyn Fn(&Interval) -> u64, unit: f64, mean: f64| {
            if !series {
                return Spread { mean: decimal(mean), ..Spread::default() };
            }
            spread(&job.full_intervals().map(|i| per_second(of(i), i.length_ns) / unit).collect::<Vec<_>>())
        };
        let bw = intervals(&|i| i.bytes, 1024.0, side.bytes_per_s / 1024.0);
        let iops = intervals(&|i| i.operations, 1.0, side.iops);
        let latency = &side.latency;
        Self {
            io_bytes: side.bytes,
            io_kbytes: side.bytes >> 10,
            bw_bytes: side.bytes_per_s as u64,
            bw: (side.bytes_per_s / 1024.0) as u64,
            iops: decimal(side.iops),
            runtime: side.time_ns / 1_000_000,
            total_ios: side.operations,
            // Which way they went is not recorded where there are several.
            short_ios: if series { job.short_operations() } else { 0 },
            drop_ios: 0,
            slat_ns: LatencyStats::default(),
            clat_ns: LatencyStats::with_percentiles(latency, options.bins),
            lat_ns: LatencyStats::of(latency),
            bw_min: bw.min,
            bw_max: bw.max,
            bw_agg: if bw.n > 0 { 100.0 } else { 0.0 },
            bw_mean: bw.mean,
            bw_dev: bw.deviation,
            bw_samples: bw.n,
            iops_min: iops.min,
            iops_max: iops.max,
            iops_mean: iops.mean,
            iops_stddev: iops.deviation,
            iops_samples: iops.n,
        }
    }
}

/// fio's `sync` object.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct SyncStats {
    total_ios: u64,
    lat_ns: LatencyStats,
}

impl SyncStats {
    /// Syncs that are operations of their own, and the fsync of each round. (An fdatasync after each write is part of that
    /// write's latency.)
    pub fn of(job: &ExecutedJob, shown: bool, options: &Options) -> Self {
        let mut latency = Histogram::new();
        if shown {
            if let Some(syncs) = job.summary.as_ref().and_then(|t| t.direction(Direction::Sync)) {
                latency.merge(&syncs.latency);
            }
            // Rounds are the phase's; they are this job's where it is all of it.
            if job.id.is_none() {
                job.record.rounds.iter().filter(|r| r.sync_ns > 0).for_each(|r| latency.record(r.sync_ns));
            }
        }
        Self { total_ios: latency.count(), lat_ns: LatencyStats::with_percentiles(&latency, options.bins) }
    }
}
