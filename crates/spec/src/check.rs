//! The plan of `narrows check`.

use crate::ladder::{SizeInputs, choose_size};
use crate::share::share;
use crate::text::{CheckText, PhaseText, SpecError};
use model::{
    Access, EngineKind, Operation, PhaseKind, PhasePlan, Plan, StopRule, StreamPlan, Sync, TargetKind, TargetSize,
    Warmup,
};

const CHECK: &str = include_str!("../workloads/check.toml");

/// The half-width at which a read phase may stop early: 1 % of the mean.
const EARLY_HALF_WIDTH: f64 = 0.01;

/// What may be done to the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Data may be written; layout comes first (a temporary file, or a target that was given up).
    Writable,
    /// Only reads; why, and how to change it.
    ReadOnly(String),
}

/// What the plan depends on.
#[derive(Clone, Debug)]
pub struct CheckInputs {
    /// Kind of the target.
    pub kind: TargetKind,
    /// What may be done to it.
    pub readiness: Readiness,
    /// All the time there is.
    pub budget_ns: u64,
    /// How much of it is already used (inventory, probe).
    pub used_ns: u64,
    /// The most that the target offers.
    pub max_bytes: u64,
    /// Sequential write rate of the probe.
    pub probe_bytes_per_s: Option<f64>,
    /// Rate of the probe's small rounds through the page cache, write and sync.
    pub probe_round_bytes_per_s: Option<f64>,
    /// Seed of everything random.
    pub seed: u64,
}

/// Resolves the built-in check-up.
pub fn check(inputs: &CheckInputs) -> Result<Plan, SpecError> {
    resolve(&toml::from_str(CHECK)?, inputs)
}

/// Whether a budget holds anything at all, before a target is touched.
pub fn check_budget(budget_ns: u64) -> Result<(), SpecError> {
    budget_holds(&toml::from_str(CHECK)?, budget_ns)
}

fn budget_holds(text: &CheckText, budget_ns: u64) -> Result<(), SpecError> {
    let least = least_budget_ns(text);
    if budget_ns < least {
        return Err(SpecError::Budget { given_s: budget_ns as f64 / 1e9, least_s: (least as f64 / 1e8).ceil() / 10.0 });
    }
    Ok(())
}

/// The least budget: one phase with its windows after the memory copy.
fn least_budget_ns(text: &CheckText) -> u64 {
    let fixed: u64 = text.phases.iter().filter_map(|p| p.time).sum();
    fixed + text.least_share + 3 * text.quiet
}

fn resolve(text: &CheckText, inputs: &CheckInputs) -> Result<Plan, SpecError> {
    budget_holds(text, inputs.budget_ns)?;
    let writable = inputs.readiness == Readiness::Writable;
    let layout_ns = if writable { (inputs.budget_ns as f64 * text.layout_share) as u64 } else { 0 };
    let size = choose_size(SizeInputs {
        max_bytes: inputs.max_bytes,
        write_bytes_per_s: if writable { inputs.probe_bytes_per_s } else { None },
        layout_ns,
    })
    .ok_or(SpecError::TooSmall { bytes: inputs.max_bytes, least: 1 << 20 })?;

    let skips: Vec<Option<String>> = text.phases.iter().map(|p| skip_of(p, inputs)).collect();
    let shared: Vec<usize> = (0..text.phases.len())
        .filter(|&i| skips[i].is_none() && text.phases[i].kind == PhaseKind::Measure && text.phases[i].time.is_none())
        .collect();
    let expected_layout_ns = match inputs.probe_bytes_per_s {
        _ if inputs.kind == TargetKind::Null => 0,
        Some(rate) if writable => ((size.bytes as f64 / rate * 1e9) as u64).min(layout_ns),
        _ => layout_ns,
    };
    let fixed: u64 = text.phases.iter().filter_map(|p| p.time).sum();
    let available = inputs.budget_ns.saturating_sub(inputs.used_ns + expected_layout_ns + fixed + text.quiet);
    let weights: Vec<(f64, u32)> = shared.iter().map(|&i| (text.phases[i].weight, text.phases[i].priority)).collect();
    let shares = share(available, text.least_share, text.quiet, &weights);

    let mut phases = Vec::with_capacity(text.phases.len());
    for (index, phase) in text.phases.iter().enumerate() {
        let mut skip = skips[index].clone();
        let time_limit_ns = match (phase.kind, phase.time, shared.iter().position(|&i| i == index)) {
            (_, Some(time), _) => time,
            (PhaseKind::Layout, ..) => layout_ns,
            (_, _, Some(at)) => shares[at].unwrap_or_else(|| {
                skip = Some(format!("budget: {:.0} s do not hold this phase", inputs.budget_ns as f64 / 1e9));
                0
            }),
            _ => 0,
        };
        phases.push(phase_of(text, phase, index, inputs, &size, time_limit_ns, skip));
    }
    Ok(Plan {
        name: text.name.clone(),
        seed: inputs.seed,
        budget_ns: inputs.budget_ns,
        size,
        interval_ns: text.interval,
        quiet_ns: text.quiet,
        phases,
        ..Plan::default()
    })
}

fn skip_of(phase: &PhaseText, inputs: &CheckInputs) -> Option<String> {
    match &inputs.readiness {
        Readiness::ReadOnly(reason) if phase.operation == Operation::Write => Some(reason.clone()),
        _ => None,
    }
}

fn phase_of(
    text: &CheckText,
    phase: &PhaseText,
    index: usize,
    inputs: &CheckInputs,
    size: &TargetSize,
    time_limit_ns: u64,
    skip: Option<String>,
) -> PhasePlan {
    let engine = match (inputs.kind, phase.kind, phase.access) {
        (TargetKind::Sim, ..) => EngineKind::Sim,
        (_, PhaseKind::MemoryCopy, _) => EngineKind::Memory,
        (TargetKind::Null, ..) => EngineKind::Null,
        // Ring workers would copy outside the thread's accounting and hide who burns the CPU.
        (_, _, Access::Buffered) => EngineKind::Psync,
        (_, _, Access::Direct) => EngineKind::IoUring,
    };
    let stop = match (phase.kind, phase.operation) {
        (PhaseKind::Layout, _) => StopRule::RegionOnce,
        // A second pass would come from the page cache.
        _ if phase.cold => StopRule::RegionOnce,
        (PhaseKind::Measure, Operation::Read) => StopRule::EarlyWhenSteady { half_width_ratio: EARLY_HALF_WIDTH },
        _ => StopRule::Time,
    };
    let stream = StreamPlan {
        operation: phase.operation,
        order: phase.order,
        block_size_bytes: phase.block_size,
        queue_depth: phase.depth,
        region_start_bytes: 0,
        region_bytes: size.bytes - size.bytes % phase.block_size,
        sync: phase.sync,
        round_bytes: (phase.sync == Sync::FsyncPerRound).then(|| round_bytes(inputs, time_limit_ns, size.bytes)),
        seed: inputs.seed.wrapping_add(index as u64 + 1),
        ..StreamPlan::default()
    };
    PhasePlan {
        name: phase.name.clone(),
        kind: phase.kind,
        engine,
        access: phase.access,
        cold: phase.cold,
        drop_cache: false,
        streams: if phase.kind == PhaseKind::MemoryCopy { Vec::new() } else { vec![stream] },
        time_limit_ns,
        stop,
        warmup: if phase.kind == PhaseKind::MemoryCopy {
            // Memory is warm after the first pass over it.
            Warmup { min_ns: text.interval, share: 0.0, max_ns: text.interval }
        } else {
            Warmup { min_ns: text.warmup.min, share: text.warmup.share, max_ns: text.warmup.max }
        },
        skip,
    }
}

/// A round that fits about sixteen times into the phase, a power of two from 1 to 64 MiB: small enough for a slow card
/// to give several samples, large enough for one fsync not to be all that is measured. Where the page cache writes back
/// far more slowly than the direct rate, at least four rounds fit: a sync that has begun cannot be cut short.
fn round_bytes(inputs: &CheckInputs, time_ns: u64, size: u64) -> u64 {
    const LEAST: u64 = 1 << 20;
    const MOST: u64 = 64 << 20;
    let part = |rate: f64, parts: f64| (rate * time_ns as f64 / 1e9 / parts) as u64;
    let wanted = inputs.probe_bytes_per_s.map_or(16 << 20, |r| part(r, 16.0));
    let fits = inputs.probe_round_bytes_per_s.map_or(u64::MAX, |r| part(r, 4.0));
    1 << wanted.min(fits).clamp(LEAST, MOST.min(size).max(LEAST)).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn inputs() -> CheckInputs {
        CheckInputs {
            kind: TargetKind::Directory,
            readiness: Readiness::Writable,
            budget_ns: 60 * S,
            used_ns: S / 10,
            max_bytes: 1 << 40,
            probe_bytes_per_s: Some(60e6),
            probe_round_bytes_per_s: None,
            seed: 7,
        }
    }

    /// What the plan takes if layout runs at the probe's rate.
    fn planned_ns(plan: &Plan) -> u64 {
        let layout_ns = plan.size.bytes * S / 60_000_000;
        let live: Vec<&PhasePlan> = plan.phases.iter().filter(|p| p.skip.is_none()).collect();
        let measured = live.iter().filter(|p| p.kind == PhaseKind::Measure).count() as u64;
        let phase_ns =
            |p: &PhasePlan| if p.name == "layout" { p.time_limit_ns.min(layout_ns) } else { p.time_limit_ns };
        live.iter().map(|p| phase_ns(p)).sum::<u64>() + (measured + 1) * plan.quiet_ns
    }

    #[test]
    fn the_order_is_the_one_promised() {
        let plan = check(&inputs()).unwrap();
        let names: Vec<&str> = plan.phases.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "copy",
                "layout",
                "seq-write",
                "buffered-write",
                "seq-read",
                "buffered-read",
                "rand-read-qd1",
                "rand-read-qd32",
                "sync-write",
                "rand-write-qd1",
                "rand-write-qd32"
            ]
        );
    }

    #[test]
    fn a_plan_fits_its_budget_and_skips_from_the_least_important() {
        for seconds in [2, 3, 5, 8, 10, 20, 60, 600] {
            let plan = check(&CheckInputs { budget_ns: seconds * S, ..inputs() }).unwrap();
            assert!(planned_ns(&plan) <= seconds * S, "{seconds} s: {}", planned_ns(&plan));
            if plan.phase("seq-read").unwrap().skip.is_some() {
                assert!(plan.phase("rand-write-qd32").unwrap().skip.is_some());
            }
        }
        assert!(check(&inputs()).unwrap().phases.iter().all(|p| p.skip.is_none()));
    }

    #[test]
    fn no_budget_is_an_error_that_names_the_least() {
        let error = check(&CheckInputs { budget_ns: 0, ..inputs() }).unwrap_err();
        assert!(error.to_string().contains("shortest useful check"), "{error}");
    }

    #[test]
    fn a_read_only_target_skips_every_write_with_the_reason() {
        let plan = check(&CheckInputs { readiness: Readiness::ReadOnly("no".into()), ..inputs() }).unwrap();
        for phase in &plan.phases {
            let is_write = phase.is_write();
            assert_eq!(phase.skip.as_deref(), is_write.then_some("no"), "{}", phase.name);
        }
    }

    #[test]
    fn rounds_suit_the_speed() {
        let bytes = |direct, rounds| {
            let inputs = CheckInputs { probe_bytes_per_s: direct, probe_round_bytes_per_s: rounds, ..inputs() };
            round_bytes(&inputs, 4 * S, 4 << 30)
        };
        assert_eq!(bytes(Some(2e9), None), 64 << 20);
        assert_eq!(bytes(Some(10e6), None), 2 << 20);
        assert_eq!(bytes(Some(1e3), None), 1 << 20);
        // A small round is mostly its sync: only where the page cache is slower by far does it decide.
        assert_eq!(bytes(Some(107e6), Some(35e6)), 16 << 20);
        assert_eq!(bytes(Some(107e6), Some(1.2e6)), 1 << 20);
        assert_eq!(bytes(None, Some(9e6)), 8 << 20);
    }
}
