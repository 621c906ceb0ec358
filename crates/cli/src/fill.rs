//! `narrows fill`: where the rate falls, and how much the fast cache holds.

use crate::args::{FillArgs, GlobalArgs};
use crate::execution::{Asked, Execution};
use crate::option_value::{bytes, more_than_nothing};
use crate::output::Output;
use crate::report_page;
use crate::run::text;
use crate::signals::SecondSignal;
use conduct::{Budget, Language, Source, plan, random_u64};
use model::{Failure, TargetKind};
use std::process::ExitCode;

/// Executes the command: the workload `fill`, with what is free in a directory as its region.
pub fn command(args: &FillArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let text = spec::workload_text("fill").unwrap_or_default().to_owned();
    let source = Source { name: "fill".into(), text, language: Language::Toml, directory: ".".into() };
    let mut set = vec![("quiet".to_owned(), args.rest.clone()), ("fill.loops".to_owned(), args.passes.to_string())];
    if args.random {
        set.push(("order".to_owned(), "random".to_owned()));
    }
    if args.verify {
        set.push(("verify".to_owned(), "stamp".to_owned()));
    }
    if let Some(size) = &args.size {
        more_than_nothing("--size", bytes("--size", size), "4GB")?;
    }
    set.extend(args.size.clone().map(|size| ("region".to_owned(), size)));
    let mut workload = text::workload(&source, &set, false)?;
    let asked = Asked { page: args.report.as_deref(), ..Asked::of(&args.marks) };
    let execution = Execution::prepare(global, asked, SecondSignal::Ends, output)?;
    let mut opened = execution.open(&args.permissions.wanted(&args.target, workload.interval_ns))?;
    if opened.target.kind == TargetKind::Directory && args.size.is_none() {
        // All that a file there may take, instead of what is usual.
        set.push(("region".to_owned(), opened.max_bytes.to_string()));
        workload = text::workload(&source, &set, false)?;
    }
    let plan = plan::plan(&workload, &opened, args.marks.seed.map_or_else(random_u64, Ok)?)?;
    if args.plan {
        report_page::show_plan(&opened.target, &plan, output);
        return Ok(ExitCode::SUCCESS);
    }
    let executed = execution.measure("fill", plan, Budget::Foreseen, None, &mut opened)?;
    Ok(execution.answer(executed, output, |run, conclusions, page| {
        report_page::show_fill(run, conclusions, page, output);
        Ok(())
    }))
}
