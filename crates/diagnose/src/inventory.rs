//! The catalogue over an inventory alone, for `inspect`: no run was made, so whatever rests on one is unknown.

use crate::catalogue;
use model::{Environment, Finding, Plan, Run, RunState, Stack, Target, TargetKind, Undecided};

/// What the catalogue says of a run or of an inventory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assessment {
    /// Findings that hold, the surest first.
    pub findings: Vec<Finding>,
    /// Findings that could not be decided.
    pub unknown: Vec<Undecided>,
}

/// Everything that the catalogue says of a run.
pub fn assess(run: &Run) -> Assessment {
    Assessment { findings: catalogue::findings(run), unknown: catalogue::unknown(run) }
}

/// Everything that the catalogue says of a storage path on which nothing was measured.
///
/// `kernel_log` are the kernel's messages since boot, where they could be read. A condition that would need a measurement
/// is then unknown for want of it, unless the facts alone decide it.
pub fn findings_of_stack(stack: &Stack, environment: &Environment, kernel_log: Option<&[String]>) -> Assessment {
    assess(&unmeasured(stack, environment, kernel_log))
}

/// A run in which nothing was executed: conditions read it as they read any other.
fn unmeasured(stack: &Stack, environment: &Environment, kernel_log: Option<&[String]>) -> Run {
    Run {
        schema: Run::SCHEMA.into(),
        id: String::new(),
        command: "inspect".into(),
        program_version: String::new(),
        state: RunState::Complete,
        plan: Plan::default(),
        environment: environment.clone(),
        target: Target {
            name: String::new(),
            kind: if stack.mount.is_some() { TargetKind::Directory } else { TargetKind::BlockDevice },
            path: None,
            size_bytes: None,
            writable: false,
            stack: stack.clone(),
        },
        sessions: Vec::new(),
        experiment: None,
        duration_ns: 0,
        bytes_written: 0,
        remarks: Vec::new(),
        phases: Vec::new(),
        samples: Vec::new(),
        kernel_log: kernel_log.map(<[String]>::to_vec),
    }
}
