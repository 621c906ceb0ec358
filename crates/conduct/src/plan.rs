//! From a workload and an opened target to the plan of a run.

use crate::simulated::data_fit_into_memory;
use crate::write_allowance::{bound, bounded};
use crate::{Opened, WriteAllowance};
use model::{Failure, FailureKind, PhaseKind, Plan, StopRule, TargetKind};
use spec::{PlainCalls, Probe, ResolveError, RunInputs, Workload};

/// What a plan has to know of an opened target.
pub fn inputs(opened: &Opened, seed: u64) -> RunInputs {
    let mount = opened.target.stack.mount.as_ref();
    RunInputs {
        kind: opened.target.kind,
        readiness: opened.readiness.clone(),
        max_bytes: opened.max_bytes,
        sector_bytes: opened.sector_bytes,
        memory_bytes: opened.memory_bytes,
        seed,
        probe: Probe {
            used_ns: opened.agreed.map_or_else(|| opened.rig.now(), |agreed| agreed.used_ns),
            bytes_per_s: opened.probe_bytes_per_s,
            round_bytes_per_s: opened.probe_round_bytes_per_s,
            written_bytes: opened.written_bytes(),
            page_request_bytes: opened.target.stack.page_request_bytes(sys::page_size()),
            plain_calls: match mount.map(|m| m.fstype.as_str()) {
                None => PlainCalls::None,
                Some("tmpfs" | "ramfs") => PlainCalls::All,
                Some(_) => PlainCalls::Writes,
            },
        },
        packages: crate::package_model(),
    }
}

/// The clock of the fastest cores of the board on which packages were installed for the published study, an RK3399.
const STUDIED_KHZ: i64 = 2_000_000;

/// Whether what the processor does between calls takes about as long as on that board: it is simulated, or known to be of its kind
/// and no faster.
fn is_like_studied_board(opened: &Opened) -> bool {
    let is_of_boards = |name: &str| ["aarch64", "arm", "riscv"].iter().any(|kind| name.starts_with(kind));
    let khz = opened.target.stack.layers.iter().find_map(|layer| layer.int(observe::facts::CPU_MAX_KHZ));
    opened.target.kind == TargetKind::Sim
        || opened.environment.architecture.as_deref().is_some_and(is_of_boards)
            && khz.is_some_and(|khz| khz <= STUDIED_KHZ)
}

/// The plan of a workload on an opened target; that of a built-in one bounds what it writes.
pub fn plan(workload: &Workload, opened: &Opened, seed: u64) -> Result<Plan, Failure> {
    let plan = as_asked(workload, opened, seed)?;
    let is_storage = matches!(opened.target.kind, TargetKind::Directory | TargetKind::File | TargetKind::BlockDevice);
    let ours = is_storage && !workload.has_budget() && spec::workload_text(&workload.name).is_some();
    Ok(if ours { bounded(plan, &opened.target.stack) } else { plan })
}

fn as_asked(workload: &Workload, opened: &Opened, seed: u64) -> Result<Plan, Failure> {
    let mut workload = workload.clone();
    if workload.has_packages() && !is_like_studied_board(opened) {
        workload.drop_pauses();
    }
    let plan = workload.plan(&inputs(opened, seed)).map_err(|error| match error {
        ResolveError::NothingLeft { .. } if opened.target.kind == TargetKind::Region => {
            failure(&error).remedy("name a larger part of the device: PATH@OFFSET+LENGTH")
        }
        // A directory and a simulated device need no permission: it is their room that is too small.
        ResolveError::NothingLeft { .. } if matches!(opened.target.kind, TargetKind::Directory | TargetKind::Sim) => {
            failure(&error).remedy("free some space, name a larger target, or --set block-size=SIZE: smaller blocks")
        }
        _ => failure(&error),
    })?;
    data_fit_into_memory(&plan, opened)?;
    // What would be refused when its turn comes is refused before anything is executed, and by --plan.
    plan.phases.iter().filter(|phase| phase.skip.is_none()).try_for_each(|phase| opened.rig.check(phase))?;
    Ok(plan)
}

/// The same, with what it may write: what is laid out is no more than its part of that, and what is measured ends after its
/// share, beside the time that it has.
pub fn plan_within(
    workload: &Workload,
    opened: &Opened,
    seed: u64,
    allowance: Option<WriteAllowance>,
) -> Result<Plan, Failure> {
    let after = |failure| failure_after_probe(failure, opened.rig.bytes_written());
    let Some(allowance) = allowance.filter(|_| opened.target.kind != TargetKind::Null) else {
        return plan(workload, opened, seed).map_err(after);
    };
    let mut workload = workload.clone();
    let device = (&opened.target.stack).into();
    workload.limit_prefill(allowance.layout_bytes(device));
    let mut plan = as_asked(&workload, opened, seed).map_err(after)?;
    let before = opened.written_bytes() + metadata_bytes(opened, allowance.usual_bytes(device));
    let shared = workload.has_budget();
    bound(&mut plan, allowance, &opened.target.stack, before, shared);
    Ok(plan)
}

/// A refusal says that nothing was changed: one that comes after a probe has written does not.
pub fn failure_after_probe(failure: Failure, written_bytes: u64) -> Failure {
    let refusal = matches!(failure.kind, FailureKind::Refused | FailureKind::Environment);
    if written_bytes == 0 || !refusal {
        return failure;
    }
    let written = model::bytes_text(written_bytes);
    Failure {
        kind: FailureKind::Invalid,
        message: format!("{} (after a probe wrote {written})", failure.message),
        ..failure
    }
}

/// What reaches the device at most, with what was written before the plan was made and what a file system writes of its own.
pub fn device_bytes_at_most(plan: &Plan, opened: &Opened) -> Option<u64> {
    let before = opened.rig.bytes_written();
    let before = before.saturating_add(metadata_bytes(opened, before));
    Some(plan.device_bytes_at_most(opened.target.stack.fstype())?.saturating_add(before))
}

/// What is kept for a file system's own blocks of so many bytes of data: inodes, extents, its journal.
fn metadata_bytes(opened: &Opened, bytes: u64) -> u64 {
    match opened.target.kind {
        TargetKind::Directory | TargetKind::File => bytes / 32,
        _ => 0,
    }
}

/// What a plan with preconditioning takes, as far as it can be foreseen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preconditioning {
    /// Bytes that are written before anything is measured.
    pub bytes: u64,
    /// The rate of a probe, and how long they take at it.
    pub probed: Option<(f64, u64)>,
    /// The least and the most that the rounds take together.
    pub rounds_ns: Option<(u64, u64)>,
}

/// What the preconditioning of a plan takes; `None` where it has none of known size.
pub fn preconditioning(plan: &Plan, bytes_per_s: Option<f64>) -> Option<Preconditioning> {
    let live = || plan.phases.iter().filter(|p| p.skip.is_none());
    let before = live().filter(|p| p.kind == PhaseKind::Precondition);
    let bytes = before.map(|p| p.bytes_written_at_most()).try_fold(0u64, |sum, b| Some(sum.saturating_add(b?)))?;
    let rounds = live().filter_map(|p| match p.stop {
        StopRule::SteadyRounds(steady) if p.kind == PhaseKind::Measure => {
            Some((steady.round_ns?.saturating_mul(steady.window_rounds.into()), steady.most_ns()?))
        }
        _ => None,
    });
    Some(Preconditioning {
        bytes,
        probed: bytes_per_s.filter(|r| *r > 0.0).map(|rate| (rate, (bytes as f64 / rate * 1e9) as u64)),
        rounds_ns: rounds.reduce(|a, b| (a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
    })
    .filter(|p| p.bytes > 0)
}

/// What an error of planning is to the user.
pub fn failure(error: &ResolveError) -> Failure {
    let failure = Failure::refused(error.to_string());
    match error {
        ResolveError::Budget { .. } => Failure::usage(error.to_string())
            .remedy("for example --budget 60s; in a workload: budget"),
        ResolveError::Nothing { .. } => {
            failure.remedy("free some space, name another target, or let more be written (--max-write)")
        }
        ResolveError::TooSmall { .. } => failure.remedy(
            "--set region=SIZE (of a fio file size=SIZE), or a larger target; a part of what a file system has free is not offered, it \
             always stays free",
        ),
        ResolveError::NoPackages { .. } => engine::without_file_traces(&error.to_string()),
        ResolveError::Plan(_) => failure.remedy("narrows run ... --set KEY=VALUE   changes a key of all its jobs"),
        ResolveError::NothingLeft { .. } => {
            failure.remedy("a directory needs no permission; a file: --overwrite; a block device: --destroy SERIAL")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_after_something_was_written_is_none() {
        let refused = || Failure::refused("too small").remedy("a larger one");
        assert_eq!(failure_after_probe(refused(), 0), refused());
        let after = failure_after_probe(refused(), 4096);
        assert_eq!((after.kind.exit_code(), after.remedy.as_deref()), (4, Some("a larger one")));
        assert!(after.message.starts_with("too small (after"), "{after}");
        let usage = Failure::usage("what?");
        assert_eq!(failure_after_probe(usage.clone(), 1), usage);
    }
}
