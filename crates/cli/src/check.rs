//! `narrows check`: inspect, measure, judge, diagnose, show, keep.

use crate::args::{CheckArgs, GlobalArgs};
use crate::execution::{Asked, Execution, Finished};
use crate::output::Output;
use crate::run::text;
use crate::signals::SecondSignal;
use crate::{group, report_page, side_by_side};
use conduct::{Budget, Executed, Wanted, WriteAllowance, plan, random_u64};
use model::{Failure, Purpose, Reason, RunState, TargetKind, parse_bytes};
use spec::{Readiness, Workload};
use std::ffi::OsStr;
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &CheckArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    // Whatever can be wrong with the plan is said before anything is touched.
    let max_write = args.max_write.as_deref().map(max_write).transpose()?.map(WriteAllowance::AtMost);
    let check = Check { args, workload: workload(args)?, max_write, output };
    let several = args.targets.len() > 1;
    if several && (args.report.is_some() || args.permissions.destroy.is_some()) {
        let what = format!("--report and --destroy are of one target, and these are {}", args.targets.len());
        return Err(Failure::usage(what).remedy("check that one alone"));
    }
    let (page, identify, keep_every) = (args.report.as_deref(), args.identify, args.keep_every.as_deref());
    let asked = Asked { page, identify, keep_every, ..Asked::of(&args.marks) };
    let mut execution = Execution::prepare(global, asked, SecondSignal::Ends, output)?;
    if several && !args.plan {
        group::refuse(&args.group, "a check of several targets")?;
        return check.side_by_side(&execution);
    }
    if !args.plan {
        let CheckArgs { budget, made_for, max_write, read_only, exhaust, .. } = args;
        let asked = format!("check {budget} {made_for:?} {max_write:?} {read_only} {exhaust}");
        if args.group.scale {
            return Err(Failure::usage("--scale is for workloads, and this is a check")
                .remedy("narrows run stream TARGET --group --scale"));
        }
        execution.meet(group::invitation(&args.group, asked)?)?;
    }
    // Several targets come here for their plans, which leave nothing to answer.
    let executed = args.targets.iter().map(|target| check.one(target, &execution)).collect::<Result<Vec<_>, _>>()?;
    Ok(executed.into_iter().flatten().next().map_or(ExitCode::SUCCESS, |executed| {
        execution.answer(executed, output, |run, conclusions, page| {
            report_page::show_check(run, conclusions, page, output);
            Ok(())
        })
    }))
}

/// What is done with each target.
struct Check<'a> {
    args: &'a CheckArgs,
    workload: Workload,
    max_write: Option<WriteAllowance>,
    output: &'a Output,
}

impl Check<'_> {
    /// Checks one target; `None` where only the plan was asked for, which is then shown.
    fn one(&self, target: &OsStr, execution: &Execution<'_>) -> Result<Option<Executed>, Failure> {
        let Self { args, workload, max_write, output } = self;
        let bounds = max_write.or_else(|| (!args.exhaust).then_some(WriteAllowance::Usual));
        let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
        let wanted = Wanted {
            probe: (!args.read_only && !args.plan).then(|| bounds.unwrap_or(WriteAllowance::AtMost(u64::MAX))),
            shared_in_group: args.group.shared_file,
            ..args.permissions.wanted(target, workload.interval_ns)
        };
        let (mut opened, seed) = execution.open_for(&wanted, seed)?;
        if args.read_only && opened.target.kind == TargetKind::Directory {
            let what =
                "--read-only: a check of a directory reads what it has written there, and nothing may be written";
            return Err(Failure::refused(what)
                .remedy("narrows check FILE --read-only   an existing file, or the device itself"));
        }
        if args.read_only {
            opened.readiness = Readiness::ReadOnly(Reason::of("--read-only", "nothing is written"));
        }
        // What is simulated wears nothing.
        let bounds = if opened.target.kind == TargetKind::Sim { *max_write } else { bounds };
        let plan = execution.plan(workload, &opened, seed, bounds)?;
        if args.plan {
            report_page::show_plan(&opened.target, &plan, output);
            return Ok(None);
        }
        execution.measure("check", plan, Budget::Kept, bounds, &mut opened).map(Some)
    }

    /// All targets, one after the other, shown together. One that cannot be checked does not keep the others from it.
    fn side_by_side(&self, execution: &Execution<'_>) -> Result<ExitCode, Failure> {
        let output = self.output;
        let (mut finished, mut failures): (Vec<Finished>, Vec<Failure>) = (Vec::new(), Vec::new());
        let mut not_checked = Vec::new();
        for target in &self.args.targets {
            match self.one(target, execution) {
                Ok(executed) => finished.extend(executed.map(|executed| execution.finish(executed))),
                Err(failure) => {
                    failures.push(failure);
                    not_checked.push(target.to_string_lossy().into_owned());
                }
            }
            if finished.last().is_some_and(|f| f.run.state == RunState::Interrupted) {
                break;
            }
        }
        if finished.is_empty() {
            let mut failures = failures.into_iter();
            let Some(first) = failures.next() else { return Ok(ExitCode::SUCCESS) };
            failures.for_each(|failure| output.beside(&failure));
            return Err(first);
        }
        // Why one has no verdict stands before the verdicts, which come last.
        failures.iter().for_each(|failure| output.beside(failure));
        side_by_side::show(&finished, &not_checked, output);
        let mut code = failures.first().map_or(ExitCode::SUCCESS, |f| ExitCode::from(f.kind.exit_code()));
        for one in finished {
            let own = execution.code(one, Ok(()), output);
            if code == ExitCode::SUCCESS {
                code = own;
            }
        }
        Ok(code)
    }
}

/// The check, or those of its phases that decide a use.
fn workload(args: &CheckArgs) -> Result<Workload, Failure> {
    let usage = |what: String| Failure::usage(what);
    let mut workload = text::built_in("check", "budget", Some(&args.budget), "60s")?;
    if args.made_for.is_empty() {
        workload.check_budget().map_err(|e| plan::failure(&e))?;
        return Ok(workload);
    }
    let used = args.made_for.iter().map(|name| {
        judge::use_named(name).map_err(|what| {
            usage(format!("--for: {what}")).remedy("narrows explain for-etcd   the page of a use, with its limits")
        })
    });
    let used = used.collect::<Result<Vec<_>, Failure>>()?;
    let phases: Vec<&str> = used.iter().flat_map(judge::deciding_phases).collect();
    workload.keep_phases(&phases);
    let mut entries: Vec<u64> = used.iter().filter_map(|u| u.log_bytes).collect();
    entries.sort_unstable();
    entries.dedup();
    if entries.len() > 1 {
        let names = args.made_for.join(",");
        return Err(usage(format!("--for {names}: their logs have entries of different sizes, {entries:?} bytes"))
            .remedy("ask for one of them at a time"));
    }
    entries.into_iter().for_each(|bytes| workload.with_log_entries(bytes));
    workload.notes.extend(used.iter().map(|of| Purpose::Use(of.id.clone()).note()));
    workload.check_budget().map_err(|e| plan::failure(&e))?;
    Ok(workload)
}

/// `--max-write`.
pub fn max_write(text: &str) -> Result<u64, Failure> {
    let usage = |what: String| Failure::usage(format!("--max-write: {what}"));
    let bytes = parse_bytes(text).map_err(|e| usage(e.to_string()).remedy("for example --max-write 1GiB"))?;
    if bytes == 0 {
        return Err(usage("nothing may be written".to_owned()).remedy("--read-only   measures what reading tells"));
    }
    Ok(bytes)
}
