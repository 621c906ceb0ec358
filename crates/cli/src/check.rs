//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

use crate::args::{CheckArgs, GlobalArgs};
use crate::execution::{Execution, Page};
use crate::output::Output;
use crate::report_page;
use crate::signals::SecondSignal;
use conduct::{Budget, Wanted, plan, random_u64};
use model::{Failure, FailureKind};
use std::process::ExitCode;
use sys::Links;

/// Executes the command.
pub fn command(args: &CheckArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    // Whatever can be wrong with the plan is said before anything is touched.
    let workload = spec::built_in("check", &[("budget".to_owned(), args.budget.clone())]).map_err(|errors| {
        let what: Vec<&str> = errors.iter().map(|e| e.what.as_str()).collect();
        Failure::new(FailureKind::Usage, format!("--budget: {}", what.join("; "))).remedy("for example --budget 60s")
    })?;
    workload.check_budget().map_err(|e| plan::failure(&e))?;

    let page = Page { file: args.report.as_deref(), identify: args.identify };
    let execution = Execution::prepare(global, &args.tags, page, SecondSignal::Ends, output)?;
    let execution = execution.keeping_every(args.keep_every.as_deref())?;
    let mut opened = execution.open(&Wanted {
        name: &args.target,
        links: Links::Follow,
        consent: args.permissions.consent(),
        registers: args.permissions.read_registers,
        interval_ns: workload.interval_ns,
        region: false,
        probe: true,
    })?;
    let seed = args.seed.map_or_else(random_u64, Ok)?;
    let plan = plan::plan(&workload, &opened, seed)?;
    let executed = execution.conducted().execute("check", plan, Budget::Kept, &mut opened, None)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| {
        report_page::show(run, conclusions, page, output);
        Ok(())
    }))
}
