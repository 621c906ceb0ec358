//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

use crate::args::{CheckArgs, GlobalArgs};
use crate::conduct::Budget;
use crate::execution::{Execution, Page, random_u64};
use crate::output::Output;
use crate::report_page;
use crate::run::plan;
use crate::target::{self, Wanted};
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
    let execution = Execution::prepare(global, &args.tags, page)?.keeping_every(&args.keep_every)?;
    let (links, permissions) = (Links::Follow, &args.permissions);
    let wanted =
        Wanted { name: &args.target, links, permissions, only: None, interval_ns: workload.interval_ns(), probe: true };
    execution.opening(&args.target);
    let mut opened = target::open(&wanted, &execution.control)?;
    let seed = args.seed.map_or_else(random_u64, Ok)?;
    let plan = plan::plan(&workload, &opened, seed)?;
    let executed = execution.execute("check", plan, Budget::Kept, &mut opened)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| {
        report_page::show(run, conclusions, page, output);
        Ok(())
    }))
}
