//! Runs for these tests. They are read from JSON, as from a bundle, so that a plan may grow without touching them.

use model::{
    Bucket, Direction, DirectionSummary, Histogram, Interval, PhaseRun, Run, StreamPlan, StreamSummary, SystemSample,
    WorkerUsage,
};
use serde_json::{Value, json};

/// A stream: operation, order, block size, depth.
pub fn stream(operation: &str, order: &str, block_size_bytes: u64, queue_depth: u64) -> Value {
    json!({
        "operation": operation, "order": order, "block_size_bytes": block_size_bytes, "queue_depth": queue_depth,
        "region_start_bytes": 0, "region_bytes": 256u64 << 20, "sync": "none", "round_bytes": null, "seed": 1,
    })
}

fn metric(id: &str, unit: &str, value: f64) -> Value {
    json!({
        "id": id, "unit": unit, "better": "higher", "status": "measured", "value": value, "low": value * 0.99,
        "high": value * 1.01, "interval": "within-run", "n": 1000, "reasons": [], "rejected_value": null,
    })
}

/// A phase of 2 s, the first 0.5 s of which are warm-up: 1,000 operations a second, each 1 ms, but for one of 50 ms.
pub fn phase(name: &str, access: &str, streams: Vec<Value>) -> PhaseRun {
    let block = streams[0]["block_size_bytes"].as_u64().unwrap();
    let mut phase: PhaseRun = serde_json::from_value(json!({
        "plan": {
            "name": name, "kind": "measure", "engine": "io-uring", "access": access, "cold": false, "streams": streams,
            "time_limit_ns": 2_000_000_000u64, "stop": {"rule": "time"},
            "warmup": {"min_ns": 0, "share": 0.25, "max_ns": 500_000_000}, "skip": null,
        },
        "status": "measured", "reasons": [], "steady": true,
        "metrics": [
            metric(&format!("{name}.throughput_bytes_per_s"), "bytes_per_s", 1000.0 * block as f64),
            metric(&format!("{name}.iops"), "ops_per_s", 1000.0),
        ],
        "record": {
            "started_ns": 1_000_000_000u64, "ended_ns": 3_000_000_000u64, "operations": 2000, "bytes": 2000 * block,
            "short_operations": 0, "errors": {}, "stop": "time-used",
            "warmup": {"rule": "a quarter", "cut_ns": 500_000_000, "operations": 500, "bytes": 500 * block},
            "engine": {"kind": "io-uring", "features": [], "missing": [], "batch_submit": 1, "batch_complete": 1},
            "direct": null, "cold": null, "data": null,
            "usage": {"user_ns": 20_000_000, "system_ns": 100_000_000, "voluntary_switches": 2000,
                      "involuntary_switches": 3},
            "mean_depth": null, "quiet_before": null, "quiet_after": null, "rounds": [],
        },
    }))
    .expect("a phase");
    let record = phase.record.as_mut().unwrap();
    record.latency.record_n(1_000_000, 1499);
    record.latency.record(50_000_000);
    record.intervals = (0..20)
        .map(|i| Interval {
            start_ns: 1_000_000_000 + i * 100_000_000,
            length_ns: 100_000_000,
            operations: 100,
            bytes: 100 * block,
            latency_ns_p50: Some(1_000_000),
            latency_ns_p99: Some(1_000_000),
            latency_ns_max: Some(1_000_000),
        })
        .collect();
    phase
}

/// Has the record tell its streams apart: each did an equal part of everything, with these shares going each way. Reads
/// take 0.5 ms, syncs 9 ms, all else 2 ms.
pub fn tell_apart(phase: &mut PhaseRun, directions: &[(Direction, f64)]) {
    let streams = &phase.plan.streams;
    let record = phase.record.as_mut().unwrap();
    let n = streams.len() as f64;
    let part = |of: u64, share: f64| (of as f64 * share / n) as u64;
    let (all, warm) = (record.operations, record.warmup.operations);
    let summary = |stream: &StreamPlan| StreamSummary {
        name: stream.name.clone(),
        group: stream.group,
        engine: record.engine.kind,
        started_ns: record.started_ns,
        ended_ns: record.ended_ns,
        cut_ns: record.warmup.cut_ns,
        depth_search: None,
        stop: record.stop,
        short_operations: 0,
        errors: Default::default(),
        usage: WorkerUsage { user_ns: part(record.usage.user_ns, 1.0), ..Default::default() },
        mean_depth: None,
        longest_gap_ns: None,
        directions: directions
            .iter()
            .map(|(direction, share)| {
                let (operations, counted) = (part(all, *share), part(all.saturating_sub(warm), *share));
                let mut latency = Histogram::new();
                let each = match direction {
                    Direction::Read => 500_000,
                    Direction::Sync => 9_000_000,
                    _ => 2_000_000,
                };
                latency.record_n(each, counted);
                let bytes = |n: u64| {
                    if *direction == Direction::Sync { 0 } else { n.wrapping_mul(stream.block().block_size_bytes) }
                };
                DirectionSummary {
                    direction: *direction,
                    operations,
                    bytes: bytes(operations),
                    counted_operations: counted,
                    counted_bytes: bytes(counted),
                    latency,
                }
            })
            .collect(),
    };
    let streams = streams.iter().map(summary).collect();
    record.streams = streams;
}

/// A run of these phases on a disk `sda`.
pub fn run(phases: Vec<PhaseRun>) -> Run {
    let mut run: Run = serde_json::from_value(json!({
        "schema": Run::SCHEMA, "id": "20261120T213000Z-7f3a9c21", "command": "check", "program_version": "0.1.0",
        "state": "complete",
        "plan": {"name": "check", "seed": 1, "budget_ns": 60_000_000_000u64,
                 "size": {"bytes": 256u64 << 20, "reason": "rung"}, "interval_ns": 100_000_000,
                 "quiet_ns": 200_000_000, "phases": []},
        "environment": model::Environment::default(),
        "target": {"name": "/mnt/card", "kind": "directory", "path": "/mnt/card", "size_bytes": null, "writable": true,
                   "stack": {"mount": null, "layers": []}},
        "sessions": [{"started": "2026-11-20T21:30:00Z", "ended": "2026-11-20T21:30:09Z", "boot_id": null,
                      "clock_step_ns": 0}],
        "experiment": null, "duration_ns": 9_000_000_000u64, "bytes_written": 0, "remarks": [], "phases": [],
    }))
    .expect("a run");
    run.plan.phases = phases.iter().map(|p| p.plan.clone()).collect();
    run.phases = phases;
    run.samples = [0u64, 4].map(|s| sample(s * 1_000_000_000, s * 500)).to_vec();
    run
}

fn sample(at_ns: u64, count: u64) -> SystemSample {
    let disk = model::DiskCounters {
        name: "sda".into(),
        reads: 7 + count,
        sectors_read: 8 * count,
        busy_ms: count,
        weighted_ms: 2 * count,
        ..Default::default()
    };
    SystemSample { at_ns, disks: vec![disk], ..Default::default() }
}

/// A read phase and two write phases, as `check` has them.
pub fn plain() -> Run {
    run(vec![
        phase("rand-read-qd32", "direct", vec![stream("read", "random", 4096, 32)]),
        phase("rand-write-qd1", "direct", vec![stream("write", "random", 4096, 1)]),
        phase("sync-write", "buffered", vec![stream("write", "random", 4096, 1)]),
    ])
}

/// The phase refused, with its numbers moved aside.
pub fn refused(mut phase: PhaseRun) -> PhaseRun {
    phase.status = model::PhaseStatus::Refused;
    phase.reasons = vec!["foreign-traffic: 40 % by others".into()];
    let reasons = phase.reasons.clone();
    phase.metrics.iter_mut().for_each(|m| m.refuse(&reasons));
    phase
}

/// The phase skipped.
pub fn skipped(mut phase: PhaseRun) -> PhaseRun {
    phase.status = model::PhaseStatus::Skipped;
    phase.reasons = vec!["the budget is used up".into()];
    phase.metrics.clear();
    phase.record = None;
    phase
}

/// SplitMix64 (Steele, Lea, Flood 2014): a failing case is one number.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// All magnitudes alike, and the ends.
    fn number(&mut self) -> u64 {
        match self.next() % 8 {
            0 => 0,
            1 => u64::MAX,
            _ => self.next() >> (self.next() % 64),
        }
    }
    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[(self.next() % of.len() as u64) as usize]
    }
    fn text(&mut self) -> String {
        self.pick(&[
            "",
            "read",
            "a,b",
            "say \"x\"",
            "two\nlines",
            "ends\r",
            "../../etc",
            "é 测试",
            " x ",
            "EIO",
            "=1+1",
        ])
        .into()
    }
    fn float(&mut self) -> f64 {
        f64::from_bits(self.next())
    }
}

/// Streams with names and numbers of any kind, one too few or too many of them at times.
fn hostile_streams(phase: &mut PhaseRun, d: &mut Draw) {
    let stream = phase.plan.streams[0].clone();
    phase.plan.streams = (0..1 + d.next() % 4)
        .map(|_| StreamPlan { name: d.text(), group: d.next() as u32 % 3, ..stream.clone() })
        .collect();
    tell_apart(phase, &[(Direction::Read, 0.5), (Direction::Write, 0.3), (Direction::Sync, 0.01)]);
    let record = phase.record.as_mut().unwrap();
    for one in &mut record.streams {
        (one.started_ns, one.ended_ns, one.cut_ns) = (d.number(), d.number(), d.number());
        one.usage.user_ns = d.number();
        one.mean_depth = d.next().is_multiple_of(2).then(|| d.float());
        one.errors = (0..d.next() % 2).map(|_| (d.text(), d.number())).collect();
        for side in &mut one.directions {
            (side.operations, side.bytes) = (d.number(), d.number());
            (side.counted_operations, side.counted_bytes) = (d.number(), d.number());
            side.direction = Direction::ALL[(d.next() % 5) as usize];
        }
    }
    match d.next() % 8 {
        0 => drop(record.streams.pop()),
        1 => record.streams.extend(record.streams.first().cloned()),
        _ => {}
    }
}

/// Any run at all: every number at any magnitude, names that hurt, phases that were measured, refused and skipped.
#[allow(clippy::too_many_lines, reason = "a table of what there is")]
pub fn generated(seed: u64) -> Run {
    let d = &mut Draw(seed);
    let mut phases = Vec::new();
    for _ in 0..d.next() % 6 {
        let streams = (0..1 + d.next() % 3)
            .map(|_| {
                let mut s = stream(
                    d.pick(&["read", "write", "trim", "write-zeroes"]),
                    d.pick(&["sequential", "random", "random-replace", "reverse", "zoned"]),
                    d.number(),
                    1,
                );
                s["queue_depth"] = json!(d.next() as u32);
                s["sync"] = json!(d.pick(&["none", "fdatasync-each", "fsync-per-round", "fsync-at-end"]));
                if d.next().is_multiple_of(3) {
                    s["mix"] = json!({"read_percent": d.next() as u32});
                }
                s["round_bytes"] = json!(d.number());
                s["region_bytes"] = json!(d.number());
                s["region_start_bytes"] = json!(d.number());
                s
            })
            .collect::<Vec<_>>();
        let mut safe = streams;
        let sizes: Vec<Value> = safe.iter().map(|s| s["block_size_bytes"].clone()).collect();
        safe.iter_mut().for_each(|s| s["block_size_bytes"] = json!(512));
        let mut p = phase("p", d.pick(&["direct", "buffered"]), safe);
        for (stream, size) in p.plan.streams.iter_mut().zip(sizes) {
            stream.block_mut().block_size_bytes = size.as_u64().unwrap();
        }
        p.plan.name = d.text();
        p.plan.time_limit_ns = d.number();
        p.reasons = vec![d.text()];
        p.metrics[0].id = format!("{}.throughput_bytes_per_s", p.plan.name);
        p.metrics[0].value = Some(d.float());
        p.metrics[1].id = format!("{}.iops", p.plan.name);
        p.metrics[1].reasons = vec![d.text(), "warm-up-counted: all".into()][..(d.next() % 3) as usize].to_vec();
        p.metrics[1].high = Some(d.float());
        let record = p.record.as_mut().unwrap();
        record.started_ns = d.number();
        record.ended_ns = d.number();
        record.operations = d.number();
        record.bytes = d.number();
        record.warmup.cut_ns = d.number();
        record.warmup.operations = d.number();
        record.warmup.bytes = d.number();
        record.errors = (0..d.next() % 3).map(|_| (d.text(), d.number())).collect();
        record.usage.user_ns = d.number();
        record.usage.voluntary_switches = d.number();
        record.usage.involuntary_switches = d.number();
        record.mean_depth = (d.next().is_multiple_of(2)).then(|| d.float());
        record.engine.batch_submit = d.next() as u32;
        record.rounds = (0..d.next() % 3)
            .map(|_| model::Round {
                start_ns: d.number(),
                bytes: d.number(),
                write_ns: d.number(),
                sync_ns: d.number(),
            })
            .collect();
        record.latency = Histogram::from_buckets([], 0, 0, 0);
        for _ in 0..d.next() % 40 {
            let (value, n) = (d.number(), 1 + d.number() % (1 << 40));
            record.latency.record_n(value, n);
        }
        if d.next().is_multiple_of(8) {
            let bucket = Bucket { low_ns: 5, high_ns: 5, count: u64::MAX };
            record.latency = Histogram::from_buckets([bucket], 5, 5, 1);
        }
        for i in &mut record.intervals {
            *i = Interval {
                start_ns: d.number(),
                length_ns: d.number(),
                operations: d.number(),
                bytes: d.number(),
                latency_ns_p50: Some(d.number()),
                ..*i
            };
        }
        if d.next().is_multiple_of(2) {
            hostile_streams(&mut p, d);
        }
        phases.push(match d.next() % 4 {
            0 => refused(p),
            1 => skipped(p),
            _ => p,
        });
    }
    let mut run = run(phases);
    run.target.name = d.text();
    run.target.path = (d.next().is_multiple_of(2)).then(|| d.text());
    run.program_version = d.text();
    run.sessions[0].started = d.text();
    run.remarks = vec![d.text()];
    run.samples = (0..d.next() % 5).map(|_| sample(d.number(), d.number() >> 8)).collect();
    run
}
