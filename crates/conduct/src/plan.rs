//! From a workload and an opened target to the plan of a run.

use crate::Opened;
use model::{Failure, FailureKind, Plan, TargetKind};
use spec::{Probe, RunError, RunInputs, Workload};

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
            used_ns: opened.rig.now(),
            bytes_per_s: opened.probe_bytes_per_s,
            round_bytes_per_s: opened.probe_round_bytes_per_s,
            written_bytes: opened.rig.bytes_written(),
            page_request_bytes: opened.target.stack.page_request_bytes(sys::page_size()),
            plain_calls: mount.is_some_and(|m| matches!(m.fstype.as_str(), "tmpfs" | "ramfs")),
        },
    }
}

/// The plan of a workload on an opened target.
pub fn plan(workload: &Workload, opened: &Opened, seed: u64) -> Result<Plan, Failure> {
    workload.plan(&inputs(opened, seed)).map_err(|error| match error {
        RunError::NothingLeft { .. } if opened.target.kind == TargetKind::Region => {
            failure(&error).remedy("name a larger part of the device: PATH@OFFSET+LENGTH")
        }
        _ => failure(&error),
    })
}

/// What an error of planning is to the user.
pub fn failure(error: &RunError) -> Failure {
    let failure = Failure::new(FailureKind::Refused, error.to_string());
    match error {
        RunError::Budget { .. } => Failure::new(FailureKind::Usage, error.to_string())
            .remedy("for example --budget 60s; in a workload: budget"),
        RunError::Nothing { .. } => failure.remedy("free some space, or name another target"),
        RunError::TooSmall { .. } => failure.remedy("--set size=..., or a larger target"),
        RunError::Plan(_) => failure.remedy("narrows run ... --set KEY=VALUE   changes a key of all its jobs"),
        RunError::NothingLeft { .. } => {
            failure.remedy("a directory needs no permission; a file: --overwrite; a block device: --destroy SERIAL")
        }
    }
}
