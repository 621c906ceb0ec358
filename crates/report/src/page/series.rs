//! The series that the plots draw, as columns of JSON, thinned so that the page stays small.

use super::t;
use model::{Interval, PhaseRecord, PhaseStatus, Run, SystemSample, cpu_share, cpu_share_total, disk_rate};
use serde_json::{Value, json};

/// Points of the program's own series, over all phases; more are thinned.
const IO_POINTS: usize = 1_200;
/// Points of the observer's series; of more, every n-th sample is used, so that each rate covers the whole gap.
const SYSTEM_POINTS: usize = 700;
/// Temperature sensors drawn.
const SENSORS: usize = 6;

/// Four significant digits: more than a pixel can show.
fn short(v: f64) -> Value {
    if v == 0.0 || !v.is_finite() {
        return if v.is_finite() { json!(0) } else { Value::Null };
    }
    let scale = 10f64.powi(3 - v.abs().log10().floor() as i32);
    json!((v * scale).round() / scale)
}

/// Seconds since the run's start, to the millisecond.
fn seconds(ns: u64) -> Value {
    json!((ns as f64 / 1e6).round() / 1e3)
}

/// Of every group the slowest and the fastest interval and the one with the longest operation, each as it was: what is
/// left out lies between what is shown.
fn thin(intervals: &[Interval], keep: usize) -> Vec<Interval> {
    if intervals.len() <= keep || keep == 0 {
        return intervals.to_vec();
    }
    let group = (intervals.len() * 3).div_ceil(keep).max(4);
    let mut out = Vec::with_capacity(keep + 3);
    for chunk in intervals.chunks(group) {
        let rate = |i: &usize| chunk[*i].bytes as f64 / chunk[*i].length_ns.max(1) as f64;
        let all = || 0..chunk.len();
        let mut picked: Vec<usize> = [
            all().min_by(|a, b| rate(a).total_cmp(&rate(b))),
            all().max_by(|a, b| rate(a).total_cmp(&rate(b))),
            all().max_by_key(|i| chunk[*i].latency_ns_max),
        ]
        .into_iter()
        .flatten()
        .collect();
        picked.sort_unstable();
        picked.dedup();
        out.extend(picked.into_iter().map(|i| chunk[i]));
    }
    out
}

fn io(records: &[(String, &PhaseRecord, Vec<Value>)]) -> Value {
    let total: usize = records.iter().map(|(_, r, _)| r.intervals.len()).sum();
    let [mut time, mut rate, mut p50, mut p99, mut max] = [const { Vec::<Value>::new() }; 5];
    for (_, record, _) in records {
        let share = if total > IO_POINTS { record.intervals.len() * IO_POINTS / total } else { usize::MAX };
        for i in thin(&record.whole_intervals(), share.max(3)) {
            time.push(seconds(i.start_ns + i.length_ns / 2));
            let moved = short(i.bytes as f64 / 1e6 / (i.length_ns.max(1) as f64 / 1e9));
            // Operations on files may move nothing: then there is no such rate.
            rate.push(if record.bytes > 0 { moved } else { Value::Null });
            let micros = |ns: Option<u64>| ns.map_or(Value::Null, |ns| short(ns as f64 / 1e3));
            p50.push(micros(i.latency_ns_p50));
            p99.push(micros(i.latency_ns_p99));
            max.push(micros(i.latency_ns_max));
        }
        // A gap, so that no line joins two phases.
        time.push(seconds(record.ended_ns));
        [&mut rate, &mut p50, &mut p99, &mut max].into_iter().for_each(|c| c.push(Value::Null));
    }
    json!({"t": time, "rate": rate, "p50": p50, "p99": p99, "max": max, "thinned": total > IO_POINTS})
}

type Pair<'a> = (&'a SystemSample, &'a SystemSample);

fn middle(pair: &Pair<'_>) -> Value {
    seconds(pair.0.at_ns.midpoint(pair.1.at_ns))
}

fn column(pairs: &[Pair<'_>], value: impl Fn(&Pair<'_>) -> Option<f64>) -> Vec<Value> {
    pairs.iter().map(|p| value(p).map_or(Value::Null, short)).collect()
}

fn known(columns: &[&Vec<Value>]) -> bool {
    columns.iter().any(|c| c.iter().any(|v| !v.is_null()))
}

fn cpu(pairs: &[Pair<'_>]) -> Value {
    let share =
        |pick: fn(&model::CpuShare) -> f64| column(pairs, |(a, b)| cpu_share_total(a, b).map(|s| pick(&s) * 100.0));
    let user = share(|s| s.user);
    if !known(&[&user]) {
        return Value::Null;
    }
    let busiest = column(pairs, |(a, b)| {
        let busy = a.cpus.iter().zip(&b.cpus).filter_map(|(a, b)| cpu_share(a, b)).map(|s| s.busy() * 100.0);
        busy.fold(None, |m: Option<f64>, v| Some(m.map_or(v, |m| m.max(v))))
    });
    json!({
        "t": pairs.iter().map(middle).collect::<Vec<_>>(),
        "user": user, "system": share(|s| s.system), "irq": share(|s| s.irq),
        "steal": share(|s| s.steal), "iowait": share(|s| s.iowait), "busiest": busiest,
    })
}

fn disk(run: &Run, pairs: &[Pair<'_>]) -> Value {
    let lowest: Vec<&str> = run.target.stack.lowest_counted().iter().map(|l| l.name.as_str()).collect();
    let rate = |(a, b): &Pair<'_>, write: bool| {
        let mut sum = None;
        for (before, after) in a.disks.iter().zip(&b.disks).filter(|(d, _)| lowest.contains(&d.name.as_str())) {
            let r = disk_rate(before, after, b.at_ns.saturating_sub(a.at_ns))?;
            *sum.get_or_insert(0.0) += if write { r.write_bytes_per_s } else { r.read_bytes_per_s } / 1e6;
        }
        sum
    };
    let (read, write) = (column(pairs, |p| rate(p, false)), column(pairs, |p| rate(p, true)));
    if !known(&[&read, &write]) {
        return Value::Null;
    }
    json!({
        "t": pairs.iter().map(middle).collect::<Vec<_>>(),
        "name": t(&lowest.join(", ")), "read": read, "write": write,
    })
}

fn temperature(samples: &[&SystemSample]) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for reading in samples.iter().flat_map(|s| &s.temperatures) {
        if names.len() < SENSORS && !names.contains(&reading.name.as_str()) {
            names.push(&reading.name);
        }
    }
    if names.is_empty() {
        return Value::Null;
    }
    let values = |name: &str| -> Vec<Value> {
        let reading = |s: &&SystemSample| s.temperatures.iter().find(|r| r.name == name).map(|r| r.millidegrees_c);
        samples.iter().map(|s| reading(s).map_or(Value::Null, |m| json!((m as f64 / 100.0).round() / 10.0))).collect()
    };
    json!({
        "t": samples.iter().map(|s| seconds(s.at_ns)).collect::<Vec<_>>(),
        "series": names.iter().map(|n| json!({"name": t(n), "values": values(n)})).collect::<Vec<_>>(),
    })
}

fn frequency(samples: &[&SystemSample]) -> Value {
    let edge = |s: &SystemSample, highest: bool| {
        let known = s.cpu_khz.iter().flatten();
        if highest { known.max() } else { known.min() }.map_or(Value::Null, |k| short(*k as f64 / 1e3))
    };
    let slowest: Vec<Value> = samples.iter().map(|s| edge(s, false)).collect();
    if !known(&[&slowest]) {
        return Value::Null;
    }
    json!({
        "t": samples.iter().map(|s| seconds(s.at_ns)).collect::<Vec<_>>(),
        "slowest": slowest, "fastest": samples.iter().map(|s| edge(s, true)).collect::<Vec<_>>(),
    })
}

/// All plots' data; `None` where there is no series to draw.
pub(super) fn data(run: &Run) -> Option<Value> {
    let changes = |p: &model::PhaseRun, r: &PhaseRecord| -> Vec<Value> {
        p.changes.iter().map(|c| seconds(r.started_ns + c.at_ns)).collect()
    };
    let records: Vec<(String, &PhaseRecord, Vec<Value>)> = run
        .phases
        .iter()
        // Memory is ten or a hundred times faster: on one scale with it nothing of the storage would be seen.
        .filter(|p| !p.plan.copies_memory())
        .filter_map(|p| {
            let refused = if p.status == PhaseStatus::Refused { " (refused)" } else { "" };
            let record = p.record.as_ref()?;
            Some((format!("{}{refused}", t(&p.plan.name)), record, changes(p, record)))
        })
        .filter(|(_, r, _)| !r.intervals.is_empty())
        .collect();
    if records.is_empty() {
        return None;
    }
    let samples: Vec<&SystemSample> =
        run.samples.iter().step_by(run.samples.len().div_ceil(SYSTEM_POINTS).max(1)).collect();
    let pairs: Vec<Pair<'_>> = samples.windows(2).map(|w| (w[0], w[1])).collect();
    let phases: Vec<Value> = records
        .iter()
        .map(|(name, r, changes)| {
            json!({
                "name": name, "from": seconds(r.started_ns), "to": seconds(r.ended_ns),
                "cut": seconds(r.started_ns + r.warmup.cut_ns), "changes": changes,
            })
        })
        .collect();
    Some(json!({
        "phases": phases, "io": io(&records), "cpu": cpu(&pairs), "disk": disk(run, &pairs),
        "temperature": temperature(&samples), "frequency": frequency(&samples),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_stall_and_the_longest_operation() {
        let mut intervals: Vec<Interval> = (0..10_000u64)
            .map(|i| Interval {
                start_ns: i,
                length_ns: 1,
                bytes: 50 + i % 7,
                latency_ns_max: Some(10),
                ..Interval::default()
            })
            .collect();
        intervals[5_003].bytes = 0;
        intervals[7_001].latency_ns_max = Some(99);
        let thinned = thin(&intervals, 900);
        assert!(thinned.len() <= 903, "{}", thinned.len());
        assert!(thinned.iter().any(|i| i.start_ns == 5_003 && i.bytes == 0));
        assert!(thinned.iter().any(|i| i.start_ns == 7_001));
        assert!(thinned.is_sorted_by_key(|i| i.start_ns));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(short(66.123_456), json!(66.12));
        assert_eq!(short(1_234_567.0), json!(1_235_000.0));
        assert_eq!(short(0.0), json!(0));
        assert_eq!(short(f64::NAN), Value::Null);
    }
}
