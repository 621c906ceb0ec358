//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

use crate::args::{CheckArgs, GlobalArgs};
use crate::execution::{Execution, Page};
use crate::output::Output;
use crate::report_page;
use crate::signals::SecondSignal;
use conduct::{Budget, Wanted, Wear, plan, random_u64};
use model::{Failure, FailureKind, TargetKind, parse_bytes};
use report::document::PlanDocument;
use spec::{Readiness, Workload};
use std::process::ExitCode;
use sys::Links;

/// Executes the command.
pub fn command(args: &CheckArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    // Whatever can be wrong with the plan is said before anything is touched.
    let workload = workload(args)?;
    let most = args.max_write.as_deref().map(max_write).transpose()?.map(Wear::AtMost);
    let bounds = most.or_else(|| (!args.exhaust).then_some(Wear::Usual));
    let page = Page { file: args.report.as_deref(), identify: args.identify };
    let execution = Execution::prepare(global, &args.marks.tags, page, SecondSignal::Ends, output)?;
    let execution = execution.keeping_every(args.keep_every.as_deref())?;
    let mut opened = execution.open(&Wanted {
        name: &args.target,
        links: Links::Follow,
        consent: args.permissions.consent(),
        registers: args.permissions.read_registers,
        interval_ns: workload.interval_ns,
        region: false,
        probe: (!args.read_only && !args.plan).then(|| bounds.unwrap_or(Wear::AtMost(u64::MAX))),
    })?;
    if args.read_only && opened.target.kind == TargetKind::Directory {
        let what = "--read-only: a check of a directory reads what it has written there, and nothing may be written";
        return Err(Failure::new(FailureKind::Refused, what)
            .remedy("narrows check FILE --read-only   an existing file, or the device itself"));
    }
    if args.read_only {
        opened.readiness = Readiness::ReadOnly("--read-only: nothing is written".to_owned());
    }
    // What is simulated wears nothing.
    let bounds = if opened.target.kind == TargetKind::Sim { most } else { bounds };
    let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
    let plan = plan::plan_within(&workload, &opened, seed, bounds)?;
    if args.plan {
        if output.is_json() {
            output.document(&PlanDocument::new(&opened.target, &plan));
        } else {
            output.text(&report::plan_text(&plan, output.style()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    execution.terminal().announce(&plan, &opened, true, bounds);
    let executed = execution.conducted().execute("check", plan, Budget::Kept, &mut opened, None)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| {
        let show = if args.details { report_page::show } else { report_page::show_on_a_screen };
        show(run, conclusions, page, output);
        Ok(())
    }))
}

/// The check, or those of its phases that decide a use.
fn workload(args: &CheckArgs) -> Result<Workload, Failure> {
    let usage = |what: String| Failure::new(FailureKind::Usage, what);
    let mut workload = spec::built_in("check", &[("budget".to_owned(), args.budget.clone())]).map_err(|errors| {
        let what: Vec<&str> = errors.iter().map(|e| e.what.as_str()).collect();
        usage(format!("--budget: {}", what.join("; "))).remedy("for example --budget 60s")
    })?;
    if let Some(name) = &args.made_for {
        let used = judge::use_named(name).map_err(|what| {
            usage(format!("--for: {what}")).remedy("narrows explain for-etcd   the page of a use, with its limits")
        })?;
        workload.keep_phases(&judge::deciding_phases(&used));
        used.log_bytes.into_iter().for_each(|bytes| workload.with_log_entries(bytes));
        workload.notes.push(conduct::made_for(name));
    }
    workload.check_budget().map_err(|e| plan::failure(&e))?;
    Ok(workload)
}

/// `--max-write`.
pub fn max_write(text: &str) -> Result<u64, Failure> {
    let usage = |what: String| Failure::new(FailureKind::Usage, format!("--max-write: {what}"));
    let bytes = parse_bytes(text).map_err(|e| usage(e.to_string()).remedy("for example --max-write 1GiB"))?;
    if bytes == 0 {
        return Err(usage("nothing may be written".to_owned()).remedy("--read-only   measures what reading tells"));
    }
    Ok(bytes)
}
