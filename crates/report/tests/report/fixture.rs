//! A constructed check of an SD card in a small board: every kind of status, series with stalls, system samples, a
//! storage path, findings. Figures are invented; nothing here was measured.

#[path = "fixture/machine.rs"]
mod machine;

use machine::{environment, stack};
use model::*;
use report::{Check, NextStep};
use std::collections::BTreeMap;

/// A run and its conclusions, owned.
pub struct Sample {
    pub run: Run,
    pub limit: Limit,
    pub causes: Vec<Cause>,
    pub findings: Vec<Finding>,
    pub ratings: Vec<Rating>,
    pub next_step: Option<NextStep>,
    pub page: Option<String>,
    pub fetch: Option<String>,
}

impl Sample {
    pub fn check(&self) -> Check<'_> {
        Check {
            run: &self.run,
            limit: &self.limit,
            causes: &self.causes,
            findings: &self.findings,
            ratings: &self.ratings,
            next_step: self.next_step.as_ref(),
            started: "2026-11-20 21:30 UTC",
            page: self.page.as_deref(),
            fetch: self.fetch.as_deref(),
        }
    }

    pub fn phase_mut(&mut self, name: &str) -> &mut PhaseRun {
        self.run.phases.iter_mut().find(|p| p.plan.name == name).expect("phase of the fixture")
    }

    pub fn refuse(&mut self, name: &str, reasons: &[&str]) {
        let reasons: Vec<String> = reasons.iter().map(|r| (*r).to_owned()).collect();
        let phase = self.phase_mut(name);
        phase.status = PhaseStatus::Refused;
        phase.reasons = reasons.clone();
        phase.metrics.iter_mut().for_each(|m| m.refuse(&reasons));
    }

    pub fn without(&mut self, name: &str, status: PhaseStatus, reason: &str) {
        let phase = self.phase_mut(name);
        phase.status = status;
        phase.reasons = vec![reason.to_owned()];
        phase.record = None;
        phase.steady = None;
        let status = match status {
            PhaseStatus::NotApplicable => MetricStatus::NotApplicable,
            _ => MetricStatus::Skipped,
        };
        for m in &mut phase.metrics {
            *m = Metric::absent(m.id.clone(), m.unit, m.better, status, reason);
        }
    }
}

/// A small generator (xorshift64*): the fixture must be the same on every machine.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
    }
    /// About normal, mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..6).map(|_| self.unit()).sum::<f64>() * 2f64.sqrt() - 3.0 * 2f64.sqrt()
    }
}

struct Shape {
    name: &'static str,
    kind: PhaseKind,
    engine: EngineKind,
    access: Access,
    operation: Operation,
    order: Order,
    block: u64,
    depth: u32,
    sync: Sync,
    seconds: f64,
    rate: f64,
    spread: f64,
    stalls: f64,
}

const PHASES: [Shape; 11] = {
    use Access::{Buffered, Direct};
    use EngineKind::{IoUring, Memory, Psync};
    use Operation::{Read, Write};
    use Order::{Random as Rand, Sequential as Seq};
    const MIB: u64 = 1 << 20;
    #[allow(clippy::too_many_arguments)]
    const fn shape(
        name: &'static str,
        engine: EngineKind,
        access: Access,
        operation: Operation,
        order: Order,
        block: u64,
        depth: u32,
        seconds: f64,
        rate: f64,
        spread: f64,
        stalls: f64,
    ) -> Shape {
        Shape {
            name,
            kind: PhaseKind::Measure,
            engine,
            access,
            operation,
            order,
            block,
            depth,
            sync: Sync::None,
            seconds,
            rate,
            spread,
            stalls,
        }
    }
    [
        Shape {
            kind: PhaseKind::MemoryCopy,
            ..shape("copy", Memory, Buffered, Read, Seq, MIB, 1, 1.0, 4.21e9 / 1048576.0, 0.01, 0.0)
        },
        Shape {
            kind: PhaseKind::Layout,
            sync: Sync::FsyncAtEnd,
            ..shape("layout", IoUring, Direct, Write, Seq, MIB, 8, 4.4, 58.0, 0.08, 0.0)
        },
        shape("seq-write", IoUring, Direct, Write, Seq, MIB, 8, 6.0, 56.5, 0.09, 0.03),
        Shape {
            sync: Sync::FsyncPerRound,
            ..shape("buffered-write", Psync, Buffered, Write, Seq, MIB, 1, 6.0, 39.1, 0.3, 0.1)
        },
        shape("seq-read", IoUring, Direct, Read, Seq, MIB, 8, 4.0, 63.0, 0.015, 0.0),
        shape("buffered-read", Psync, Buffered, Read, Seq, MIB, 1, 4.0, 61.8, 0.03, 0.0),
        shape("rand-read-qd1", IoUring, Direct, Read, Rand, 4096, 1, 4.0, 3201.0, 0.04, 0.0),
        shape("rand-read-qd32", IoUring, Direct, Read, Rand, 4096, 32, 4.0, 3344.0, 0.03, 0.0),
        Shape {
            sync: Sync::FdatasyncEach,
            ..shape("sync-write", Psync, Direct, Write, Rand, 4096, 1, 5.0, 212.0, 0.2, 0.05)
        },
        shape("rand-write-qd1", IoUring, Direct, Write, Rand, 4096, 1, 6.0, 1480.0, 0.25, 0.16),
        shape("rand-write-qd32", IoUring, Direct, Write, Rand, 4096, 32, 6.0, 1502.0, 0.25, 0.14),
    ]
};

const STEP_NS: Ns = 100_000_000;

fn plan_of(s: &Shape) -> PhasePlan {
    PhasePlan {
        name: s.name.into(),
        kind: s.kind,
        engine: s.engine,
        access: s.access,
        cold: s.name == "buffered-read",
        drop_cache: false,
        streams: vec![StreamPlan {
            operation: s.operation,
            order: s.order,
            block_size_bytes: s.block,
            queue_depth: s.depth,
            region_start_bytes: 0,
            region_bytes: 256 << 20,
            sync: s.sync,
            round_bytes: (s.sync == Sync::FsyncPerRound).then_some(64 << 20),
            seed: 7,
            ..StreamPlan::default()
        }],
        time_limit_ns: (s.seconds * 1e9) as u64,
        stop: match (s.kind, s.operation) {
            (PhaseKind::Layout, _) => StopRule::RegionOnce,
            (_, Operation::Read) => StopRule::EarlyWhenSteady { half_width_ratio: 0.02 },
            _ => StopRule::Time,
        },
        warmup: Warmup { min_ns: 300_000_000, share: 0.1, max_ns: 2_000_000_000 },
        skip: None,
    }
}

fn record_of(s: &Shape, start: Ns, random: &mut Random) -> PhaseRecord {
    let mut latency = Histogram::new();
    let mut intervals = Vec::new();
    let steps = (s.seconds * 10.0) as u64;
    let mean_ns = f64::from(s.depth) / s.rate * 1e9;
    let mut stalled = 0;
    for i in 0..steps {
        let mut interval = Interval { start_ns: start + i * STEP_NS, length_ns: STEP_NS, ..Interval::default() };
        if stalled == 0 && random.unit() < s.stalls {
            stalled = 1 + (random.unit() * 4.0) as u64 + if s.name == "rand-write-qd1" && i == 31 { 12 } else { 0 };
        }
        if stalled > 0 {
            stalled -= 1;
            if stalled == 0 {
                latency.record_n((2.0 + random.unit() * 9.0) as u64 * 130_000_000, 1 + u64::from(s.depth) / 4);
            }
            intervals.push(interval);
            continue;
        }
        let operations = (s.rate / 10.0 * (1.0 + s.spread * random.normal())).max(1.0) as u64;
        interval.operations = operations;
        interval.bytes = operations * s.block;
        let at = |q: f64| (mean_ns * q) as u64;
        interval.latency_ns_p50 = Some(at(0.93 + 0.05 * random.normal()));
        interval.latency_ns_p99 = Some(at(2.4 + 0.5 * random.normal().abs()));
        interval.latency_ns_max = Some(at(4.0 + 3.0 * random.unit()));
        for _ in 0..operations.min(400) {
            let z = random.normal();
            latency.record_n(
                at((z * 0.22).exp() * if random.unit() < 0.02 { 4.5 } else { 0.93 }),
                operations.div_ceil(400),
            );
        }
        intervals.push(interval);
    }
    let operations: u64 = intervals.iter().map(|i| i.operations).sum();
    let direct = s.access == Access::Direct;
    PhaseRecord {
        started_ns: start,
        ended_ns: start + steps * STEP_NS,
        operations,
        bytes: operations * s.block,
        short_operations: 0,
        errors: BTreeMap::new(),
        stop: match (s.kind, s.operation) {
            (PhaseKind::Layout, _) => StopCause::RegionDone,
            (_, Operation::Read) => StopCause::Steady,
            _ => StopCause::TimeUsed,
        },
        warmup: WarmupCut {
            rule: "the first 10 % of the time, at least 0.3 s, at most 2 s".into(),
            cut_ns: (s.seconds * 1e8) as u64 / STEP_NS * STEP_NS,
            operations: operations / 10,
            bytes: operations / 10 * s.block,
        },
        engine: EngineRecord {
            kind: s.engine,
            features: if s.engine == EngineKind::IoUring {
                ["registered-file", "registered-buffers", "single-issuer"].map(String::from).to_vec()
            } else {
                vec![]
            },
            missing: if s.engine == EngineKind::IoUring {
                vec!["defer-taskrun: the kernel lacks it (EINVAL)".into()]
            } else {
                vec![]
            },
            batch_submit: s.depth.min(16),
            batch_complete: 1,
        },
        direct: direct
            .then(|| DirectProof::Proven("statx STATX_DIOALIGN: 512 bytes; ext4 without data=journal".into())),
        cold: (s.name == "buffered-read").then(|| ColdProof {
            resident_pages_before: Some(0),
            device_read_bytes: Some(operations * s.block + 40_960),
            phase_read_bytes: operations * s.block,
            method: "fsync, DONTNEED".into(),
        }),
        data: (s.operation == Operation::Read).then(|| DataProof::Real("written by this run".into())),
        usage: WorkerUsage {
            user_ns: (s.seconds * 0.8e7) as u64,
            system_ns: (s.seconds * if direct { 6e7 } else { 3.1e8 }) as u64,
            voluntary_switches: operations,
            involuntary_switches: 12,
        },
        mean_depth: Some(f64::from(s.depth) * 0.98),
        longest_gap_ns: latency.max().map(|ns| ns / u64::from(s.depth)),
        quiet_before: Some(QuietWindow { length_ns: 250_000_000, ..QuietWindow::default() }),
        quiet_after: Some(QuietWindow {
            length_ns: 250_000_000,
            write_bytes: 8192,
            operations: 2,
            ..QuietWindow::default()
        }),
        latency,
        intervals,
        rounds: Vec::new(),
        streams: Vec::new(),
        steady: None,
        verify: None,
    }
}

fn metrics_of(s: &Shape, r: &PhaseRecord) -> Vec<Metric> {
    let (rate, half) = (s.rate, s.rate * (s.spread / (s.seconds * 10.0).sqrt() + s.stalls / 8.0) * 1.1);
    let id = |q: &str| format!("{}.{q}", s.name);
    let bytes = s.block as f64;
    let n = r.operations;
    let mut out = vec![
        Metric::measured(id("throughput_bytes_per_s"), Unit::BytesPerS, Some(Better::Higher), rate * bytes, n)
            .within_run((rate - half) * bytes, (rate + half) * bytes),
    ];
    if s.kind == PhaseKind::MemoryCopy {
        return out;
    }
    out.push(
        Metric::measured(id("iops"), Unit::OpsPerS, Some(Better::Higher), rate, n).within_run(rate - half, rate + half),
    );
    for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
        let value = r.latency.quantile(q).unwrap_or(0) as f64;
        let mut m = Metric::measured(id(&format!("latency_ns_{name}")), Unit::Ns, Some(Better::Lower), value, n);
        if (name == "p99" && n < 1_000) || (name == "p999" && n < 10_000) {
            m = Metric::absent(
                m.id,
                m.unit,
                m.better,
                MetricStatus::Skipped,
                format!("too-few: {n} operations do not carry this percentile"),
            );
        }
        out.push(m);
    }
    let max = r.latency.max().unwrap_or(0) as f64;
    out.push(Metric::measured(id("latency_ns_max"), Unit::Ns, Some(Better::Lower), max, n));
    let stall = r.longest_gap_ns.unwrap_or(0) as f64;
    out.push(Metric::measured(id("stall_ns_max"), Unit::Ns, Some(Better::Lower), stall, n));
    out.push(Metric::measured(id("cpu_percent"), Unit::Percent, Some(Better::Lower), 6.8, 24));
    out
}

fn samples(phases: &[PhaseRun], end: Ns, random: &mut Random) -> Vec<SystemSample> {
    let mut out = Vec::new();
    let mut disk = DiskCounters { name: "mmcblk1".into(), ..DiskCounters::default() };
    let mut cpus = vec![CpuTicks { user: 9_000, system: 4_000, idle: 500_000, ..CpuTicks::default() }; 4];
    let step: Ns = 250_000_000;
    for k in 0..=end / step {
        let at = k * step;
        let active = phases.iter().find(|p| p.record.as_ref().is_some_and(|r| r.started_ns <= at && at < r.ended_ns));
        let mut io = 0.0;
        if let Some((p, r)) = active.and_then(|p| Some((p, p.record.as_ref()?))) {
            let bytes: u64 =
                r.intervals.iter().filter(|i| i.start_ns + step > at && i.start_ns <= at).map(|i| i.bytes).sum();
            if p.plan.kind != PhaseKind::MemoryCopy {
                io = 0.8;
                if p.plan.is_write() {
                    disk.sectors_written += bytes / 512;
                    disk.writes += bytes / 4096;
                } else {
                    disk.sectors_read += bytes / 512;
                    disk.reads += bytes / 4096;
                }
                disk.busy_ms += 245;
                disk.weighted_ms += 245 * u64::from(p.plan.queue_depth());
            }
        }
        for (i, c) in cpus.iter_mut().enumerate() {
            let busy = if i == 0 && active.is_some() { 4.0 + 6.0 * random.unit() } else { 1.0 + random.unit() };
            c.system += busy as u64;
            c.user += (busy / 3.0) as u64 + u64::from(random.unit() < 0.4);
            c.softirq += u64::from(i == 0 && random.unit() < 0.5);
            let rest = 25 - busy as u64 - 2;
            let wait = if i < 2 { (rest as f64 * io) as u64 } else { 0 };
            c.iowait += wait;
            c.idle += rest - wait;
        }
        out.push(SystemSample {
            at_ns: at,
            disks: vec![disk.clone()],
            cpus: cpus.clone(),
            cpu_khz: vec![Some(if active.is_some() { 1_500_000 } else { 600_000 }); 4],
            temperatures: vec![Temperature {
                name: "cpu-thermal".into(),
                millidegrees_c: 48_200 + (at / 40_000_000) as i64 * 8 + (random.unit() * 500.0) as i64,
            }],
            ..SystemSample::default()
        });
    }
    out
}

/// The whole check, all phases measured.
pub fn sd_card() -> Sample {
    let mut random = Random(0x5eed_cafe_f00d_1234);
    let mut start: Ns = 1_200_000_000;
    let mut phases = Vec::new();
    for s in &PHASES {
        let record = record_of(s, start, &mut random);
        start = record.ended_ns + 600_000_000;
        phases.push(PhaseRun {
            plan: plan_of(s),
            status: PhaseStatus::Measured,
            reasons: vec![],
            steady: (s.kind == PhaseKind::Measure).then_some(s.stalls < 0.1),
            changes: Vec::new(),
            metrics: metrics_of(s, &record),
            record: Some(record),
        });
    }
    let samples = samples(&phases, start, &mut random);
    let run = Run {
        schema: Run::SCHEMA.into(),
        id: "20261120T213000Z-7f3a9c21".into(),
        command: "check".into(),
        program_version: "0.1.0".into(),
        state: RunState::Complete,
        plan: Plan {
            name: "check".into(),
            seed: 20_261_120,
            budget_ns: 60_000_000_000,
            size: TargetSize {
                bytes: 256 << 20,
                reason: "256 MiB rung: 1 GiB would take more than its share of the budget".into(),
            },
            interval_ns: STEP_NS,
            quiet_ns: 250_000_000,
            phases: PHASES.iter().map(plan_of).collect(),
            ..Plan::default()
        },
        environment: environment(),
        target: Target {
            name: "/mnt/data".into(),
            kind: TargetKind::Directory,
            path: Some("/mnt/data".into()),
            size_bytes: Some(27_400_000_000),
            writable: true,
            stack: stack(),
        },
        sessions: vec![Session {
            started: "2026-11-20T21:30:00Z".into(),
            ended: Some("2026-11-20T21:30:58Z".into()),
            boot_id: environment().boot_id,
            clock_step_ns: Some(0),
        }],
        experiment: None,
        duration_ns: start,
        bytes_written: 1_902_000_000,
        remarks: vec!["The registered ring runs without DEFER_TASKRUN: Linux 6.1 or newer has it.".into()],
        phases,
        samples,
        kernel_log: Some(vec![
            "[ 5123.101001] mmc1: tuning execution failed: -5".into(),
            "[ 5123.204410] mmcblk1: p1".into(),
        ]),
    };
    let limit = Limit {
        layer: LimitLayer::Driver,
        statement: "the host's command path: one command at a time".into(),
        confidence: Confidence::Probable,
        evidence: vec![
            Evidence::measurement("depth 32 over depth 1, random read", 1.04, "rand-read-qd32.iops"),
            Evidence::fact("the card's application class", "A2", "/sys/block/mmcblk1/device/ssr"),
            Evidence::absence("a command queue in the host", "/sys/block/mmcblk1/device/cmdq_en"),
            Evidence::measurement(
                "buffered write throughput",
                39.1 * 1_048_576.0,
                "buffered-write.throughput_bytes_per_s",
            ),
        ],
    };
    let findings = vec![
        Finding {
            id: "sd-a2-without-queue".into(),
            title: "An A2 card in a host without command queue".into(),
            layer: LimitLayer::Driver,
            confidence: Confidence::Probable,
            evidence: limit.evidence[..3].to_vec(),
            gain: Some(Gain { metric: "rand-read-qd32.iops".into(), at_most_ratio: Some(2.5), basis: "published A2 cards with and without queue".into() }),
            fix: "Use a host with SD command queueing, or an A1 card. On a Raspberry Pi 5: dtparam=sd_cqe=2, then test integrity.".into(),
            source: "SD card study; rpi/linux PRs 6046, 6301, 6591".into(),
        },
        Finding {
            id: "sdr104-derated".into(),
            title: "SDR104 runs below its clock".into(),
            layer: LimitLayer::Link,
            confidence: Confidence::Low,
            evidence: vec![Evidence::measurement("sequential read", 63.0 * 1_048_576.0, "seq-read.throughput_bytes_per_s")],
            gain: None,
            fix: "Restore the clock if tuning is clean.".into(),
            source: "SD card study".into(),
        },
    ];
    let rating = |class: &str, indication: &str, approximation| Rating {
        class: class.into(),
        met: None,
        indication: Some(indication.into()),
        approximation,
        reasons: vec!["10 minutes on a card filled to 75 % were not run".into()],
    };
    let causes = vec![
        Cause {
            layer: limit.layer,
            statement: limit.statement.clone(),
            confidence: limit.confidence,
            evidence: limit.evidence.clone(),
            decided_by: "the same card in a host with a command queue".into(),
        },
        Cause {
            layer: LimitLayer::PageCache,
            statement: "copying through the page cache".into(),
            confidence: Confidence::Low,
            evidence: vec![Evidence::fact("clock_hz", 75_000_000, "mmc1 clock_hz")],
            decided_by: "the same writes with direct I/O".into(),
        },
    ];
    Sample {
        run,
        limit,
        causes,
        findings,
        ratings: vec![rating("A1", "above", true), rating("A2", "below", true), rating("V30", "above", true)],
        next_step: Some(NextStep {
            text: "a host with SD command queueing".into(),
            predicted_ratio: Some(2.5),
            basis: "published A2 cards with and without queue".into(),
        }),
        page: Some("~/.local/share/narrows/reports/20261120T213000Z-7f3a9c21.html".into()),
        fetch: None,
    }
}

/// The same with everything that can go wrong: refusals, skips, an interruption, hostile names.
pub fn troubled() -> Sample {
    let mut s = sd_card();
    s.refuse(
        "seq-read",
        &["link-ceiling: 131 MB/s is above the line rate of SDR104 (104 MB/s): the data did not come over this link"],
    );
    s.refuse(
        "buffered-read",
        &["cold-unproven: the device read 12.1 MB while the phase read 259 MB; the rest came from memory"],
    );
    s.without("sync-write", PhaseStatus::Skipped, "budget: 5 s needed, 1.2 s left");
    s.without("rand-write-qd1", PhaseStatus::Skipped, "interrupted");
    s.without("rand-write-qd32", PhaseStatus::Skipped, "interrupted");
    s.run.state = RunState::Interrupted;
    s.run.remarks.push("Direct I/O is unproven on this file system: the kernel does not tell (statx STATX_DIOALIGN is missing before Linux 6.1).".into());
    s.limit = Limit {
        layer: LimitLayer::Unknown,
        statement: "not known: the sequential read that would decide it was refused".into(),
        confidence: Confidence::Low,
        evidence: vec![],
    };
    s.next_step = None;
    s.findings.clear();
    s.ratings.clear();
    s
}

/// `null:`: no stack, huge rates, nothing written.
pub fn null_target() -> Sample {
    let mut s = sd_card();
    s.run.target = Target {
        name: "null:".into(),
        kind: TargetKind::Null,
        path: None,
        size_bytes: None,
        writable: true,
        stack: Stack::default(),
    };
    s.run.bytes_written = 0;
    s.run.kernel_log = None;
    s.run.samples.clear();
    s.run.remarks.clear();
    for p in &mut s.run.phases {
        for m in &mut p.metrics {
            let factor = match m.unit {
                Unit::BytesPerS | Unit::OpsPerS => 4_800.0,
                Unit::Ns => 1e-4,
                _ => 1.0,
            };
            for v in [&mut m.value, &mut m.low, &mut m.high].into_iter().flatten() {
                *v *= factor;
            }
        }
    }
    for name in ["buffered-write", "buffered-read", "sync-write"] {
        s.without(name, PhaseStatus::NotApplicable, "null: has no page cache and nothing to make durable");
    }
    s.limit = Limit {
        layer: LimitLayer::Generator,
        statement: "this program: nothing lies below it".into(),
        confidence: Confidence::High,
        evidence: vec![],
    };
    s.findings.clear();
    s.ratings.clear();
    s.next_step = None;
    s.page = None;
    s
}

/// A simulated card: nothing was real.
pub fn simulated() -> Sample {
    let mut s = sd_card();
    s.run.target.name = "sim:a2-card-no-queue".into();
    s.run.target.kind = TargetKind::Sim;
    s.run.target.path = None;
    s.run.environment.kernel = Some("simulated".into());
    let mut sim = Layer::new(LayerKind::Sim, "a2-card-no-queue");
    sim.set("title", "an A2 card without command queue");
    s.run.target.stack.layers.push(sim);
    s.run.remarks.clear();
    s
}

/// Names that try to act on a terminal, a page or a Markdown renderer.
pub const HOSTILE: &str = "/mnt/<script>alert(1)</script>\x1b[31m\u{202e}\"'`|*_<!--\u{2028}]]>&amp;\n@team #1";

/// The whole check with hostile text wherever text comes from outside.
pub fn hostile() -> Sample {
    let mut s = sd_card();
    s.run.target.name = HOSTILE.into();
    s.run.target.path = Some(HOSTILE.into());
    s.run.remarks = vec![HOSTILE.into()];
    s.run.environment.hostname = Some(HOSTILE.into());
    s.run.environment.kernel_command_line = Some(HOSTILE.into());
    s.run.kernel_log = Some(vec![HOSTILE.into()]);
    s.run.phases[2].plan.name = HOSTILE.into();
    if let Some(m) = &mut s.run.target.stack.mount {
        m.mount_point = HOSTILE.into();
        m.options = vec![HOSTILE.into()];
    }
    for l in &mut s.run.target.stack.layers {
        l.name = HOSTILE.into();
        l.driver = Some(HOSTILE.into());
        l.ceiling_source = Some(HOSTILE.into());
        l.set("model", HOSTILE);
        l.set(HOSTILE, HOSTILE);
    }
    for sample in &mut s.run.samples {
        for t in &mut sample.temperatures {
            t.name = HOSTILE.into();
        }
        for d in &mut sample.disks {
            d.name = HOSTILE.into();
        }
    }
    s.refuse("seq-read", &[HOSTILE]);
    s.limit.statement = HOSTILE.into();
    s.limit.evidence.push(Evidence::fact(HOSTILE, HOSTILE, HOSTILE));
    s.findings[0].title = HOSTILE.into();
    s.findings[0].id = HOSTILE.into();
    s.findings[0].fix = HOSTILE.into();
    s.ratings[0].class = HOSTILE.into();
    s.next_step = Some(NextStep { text: HOSTILE.into(), predicted_ratio: Some(2.0), basis: HOSTILE.into() });
    s.page = Some(HOSTILE.into());
    s
}
