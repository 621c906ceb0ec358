//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

use crate::args::{CheckArgs, GlobalArgs};
use crate::conduct::Budget;
use crate::execution::{Execution, random_u64};
use crate::output::Output;
use crate::report_page;
use crate::target::{self, Wanted};
use model::{Failure, FailureKind, NS_PER_S, parse_duration_ns};
use spec::{CheckInputs, SpecError};
use std::process::ExitCode;

/// Length of the intervals of the series, as in the check's plan.
const INTERVAL_NS: u64 = NS_PER_S / 10;

/// Executes the command.
pub fn command(args: &CheckArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let budget_ns = parse_duration_ns(&args.budget)
        .map_err(|e| Failure::new(FailureKind::Usage, format!("--budget: {e}")).remedy("for example --budget 60s"))?;
    // Whatever can be wrong with the plan is said before anything is touched.
    spec::check_budget(budget_ns).map_err(|e| plan_failure(&e))?;

    let execution = Execution::prepare(global, &args.tags, args.report.as_deref())?;
    let wanted = Wanted { name: &args.target, permissions: &args.permissions, interval_ns: INTERVAL_NS, probe: true };
    let mut opened = target::open(&wanted, &execution.control)?;
    let seed = args.seed.map_or_else(random_u64, Ok)?;
    let plan = spec::check(&CheckInputs {
        kind: opened.target.kind,
        readiness: opened.readiness.clone(),
        budget_ns,
        used_ns: opened.rig.now(),
        max_bytes: opened.max_bytes,
        probe_bytes_per_s: opened.probe_bytes_per_s,
        probe_round_bytes_per_s: opened.probe_round_bytes_per_s,
        seed,
    })
    .map_err(|e| plan_failure(&e))?;
    let executed = execution.execute("check", plan, Budget::Kept, &mut opened)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| {
        report_page::show(run, conclusions, page, output);
        Ok(())
    }))
}

fn plan_failure(error: &SpecError) -> Failure {
    match error {
        SpecError::Budget { .. } => {
            Failure::new(FailureKind::Usage, error.to_string()).remedy("for example --budget 60s")
        }
        SpecError::TooSmall { .. } => {
            Failure::new(FailureKind::Refused, error.to_string()).remedy("free some space, or name another target")
        }
        SpecError::Toml(_) | SpecError::Phase { .. } => Failure::new(FailureKind::Internal, error.to_string()),
    }
}
