//! A constructed check of an SD card in a small board: every kind of status, series with stalls, system samples, a
//! storage path, findings. Figures are invented; nothing here was measured.

#[path = "fixture/machine.rs"]
pub mod machine;
#[path = "fixture/observed.rs"]
mod observed;
#[path = "fixture/phases.rs"]
mod phases;
#[path = "fixture/random.rs"]
mod random;
#[path = "fixture/runs.rs"]
mod runs;
#[path = "fixture/variants.rs"]
mod variants;

pub use runs::{depth, grid, jobs_and_changes, kdiskmark, latency, steady};
pub use variants::{HOSTILE, hostile, null_target, simulated, troubled};

use machine::{environment, stack};
use model::Reason;
use model::*;
use observed::samples;
use phases::{PHASES, metrics_of, plan_of, record_of};
use random::Random;
use report::{Check, NextStep};

/// A run and its conclusions, owned.
pub struct Sample {
    pub run: Run,
    pub limit: Limit,
    pub causes: Vec<Cause>,
    pub findings: Vec<Finding>,
    pub ratings: Vec<Rating>,
    pub limits: Vec<RowLimit>,
    pub fit: Vec<Fit>,
    pub depth_curves: Vec<DepthCurve>,
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
            limits: &self.limits,
            fit: &self.fit,
            asked_for: None,
            depth_curves: &self.depth_curves,
            scale: &[],
            next_step: self.next_step.as_ref(),
            answer: None,
            over_reports: &[],
            started: "2026-11-20 21:30 UTC",
            page: self.page.as_deref(),
            fetch: self.fetch.as_deref(),
        }
    }

    pub fn phase_mut(&mut self, name: &str) -> &mut PhaseRun {
        self.run.phases.iter_mut().find(|p| p.plan.name == name).expect("phase of the fixture")
    }

    pub fn refuse(&mut self, name: &str, reasons: &[&str]) {
        self.refuse_for(name, reasons.iter().map(|r| reason(r)).collect());
    }

    pub fn refuse_for(&mut self, name: &str, reasons: Vec<Reason>) {
        let phase = self.phase_mut(name);
        phase.status = PhaseStatus::Refused;
        phase.reasons = reasons.clone();
        phase.metrics.iter_mut().for_each(|m| m.refuse(&reasons));
    }

    pub fn without(&mut self, name: &str, status: PhaseStatus, reason: &str) {
        let phase = self.phase_mut(name);
        phase.status = status;
        let reason = self::reason(reason);
        let phase = self.phase_mut(name);
        phase.reasons = vec![reason.clone()];
        phase.record = None;
        phase.steady = None;
        let status = match status {
            PhaseStatus::NotApplicable => MetricStatus::NotApplicable,
            _ => MetricStatus::Skipped,
        };
        for m in &mut phase.metrics {
            *m = Metric::absent(m.id.clone(), m.unit, m.better, status, reason.clone());
        }
    }
}

/// The whole check, all phases measured.
/// `code: text`, as bundles of before have it.
pub fn reason(line: &str) -> Reason {
    serde_json::from_value(line.into()).unwrap()
}

#[allow(clippy::too_many_lines, reason = "a table of what there is")]
pub fn sd_card() -> Sample {
    let mut random = Random(0x5eed_cafe_f00d_1234);
    let mut start: Ns = 1_200_000_000;
    let mut phases = Vec::new();
    for s in &PHASES {
        let record = record_of(s, start, &mut random);
        start = record.ended_ns + 600_000_000;
        let (plan, metrics) = (plan_of(s), metrics_of(s, &record));
        let steady = plan.measures_target().then_some(s.stalls < 0.1);
        phases.push(PhaseRun { steady, ..test_runs::measured(plan, record, metrics) });
    }
    let samples = samples(&phases, start, &mut random);
    let mut run = Run {
        environment: environment(),
        sessions: vec![Session {
            started: "2026-11-20T21:30:00Z".into(),
            ended: Some("2026-11-20T21:30:58Z".into()),
            boot_id: environment().boot_id,
            clock_step_ns: Some(0),
        }],
        duration_ns: start,
        bytes_written: 1_902_000_000,
        capacity: None,
        remarks: vec!["The registered ring runs without DEFER_TASKRUN: Linux 6.1 or newer has it.".into()],
        samples,
        kernel_log: Some(vec![
            "[ 5123.101001] mmc1: tuning execution failed: -5".into(),
            "[ 5123.204410] mmcblk1: p1".into(),
        ]),
        ..test_runs::run(phases)
    };
    run.plan.seed = 20_261_120;
    run.plan.size.reason = "256 MiB rung: 1 GiB would take more than its share of the budget".into();
    run.plan.quiet_ns = 250_000_000;
    run.target.name = "/mnt/data".into();
    run.target.path = Some("/mnt/data".into());
    run.target.size_bytes = Some(27_400_000_000);
    run.target.stack = stack();
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
            next_step: None,
            is_limit: true,
        },
        Cause {
            layer: LimitLayer::PageCache,
            statement: "copying through the page cache".into(),
            confidence: Confidence::Low,
            evidence: vec![Evidence::fact("clock_hz", 75_000_000, "mmc1 clock_hz")],
            decided_by: "the same writes with direct I/O".into(),
            next_step: None,
            is_limit: false,
        },
    ];
    Sample {
        run,
        limit,
        causes,
        findings,
        ratings: vec![rating("A1", "above", true), rating("A2", "below", true), rating("V30", "above", true)],
        limits: vec![
            row("seq-write", LimitLayer::Link, "the link mmc1 (92 % of it) or the device", Confidence::Low),
            row(
                "rand-write-qd1",
                LimitLayer::Device,
                "each small write takes 30.0 ms, 43.0 times a read",
                Confidence::Probable,
            ),
        ],
        fit: vec![Fit {
            what: "root-fs".into(),
            title: "an operating system".into(),
            met: Some(false),
            threshold: 500.0,
            value: Some(33.0),
            bound: None,
            unit: Unit::OpsPerS,
            better: Better::Higher,
            metric: "rand-write-qd1.iops".into(),
            quantity: "random writes/s".into(),
            by: "A1".into(),
            margin_ratio: Some(0.066),
            ring_bytes: None,
            source: "SD Association".into(),
            reasons: vec![],
            needs: Vec::new(),
        }],
        depth_curves: vec![],
        next_step: Some(NextStep {
            step: Step::Fix("a host with SD command queueing".into()),
            predicted_ratio: Some(2.5),
            basis: "published A2 cards with and without queue".into(),
        }),
        page: Some("~/.local/share/narrows/reports/20261120T213000Z-7f3a9c21.html".into()),
        fetch: None,
    }
}

fn row(phase: &str, layer: LimitLayer, statement: &str, confidence: Confidence) -> RowLimit {
    RowLimit { phase: phase.into(), layer, statement: statement.into(), confidence, evidence: vec![], next_step: None }
}
