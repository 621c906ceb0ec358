//! `narrows copy`: what copies of a region cost by the width of their accesses.

use crate::args::{CopyArgs, GlobalArgs};
use crate::execution::{Execution, Page};
use crate::output::Output;
use crate::signals::SecondSignal;
use conduct::region::{RegionKind, RegionRights, kind_of, open_region, open_with_mapping};
use conduct::{Budget, plan, random_u64};
use model::{Failure, FailureKind};
use report::document::CopyDocument;
use std::path::Path;
use std::process::ExitCode;

/// Executes the command.
pub fn command(args: &CopyArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let region = Path::new(&args.region);
    let name = match kind_of(region)? {
        RegionKind::Calls if args.mapped.is_some() => "copy",
        RegionKind::Memory => "copy-memory",
        RegionKind::SimulatedBus | RegionKind::Mapped => "copy",
        RegionKind::Calls => "copy-calls",
    };
    let set: Vec<(String, String)> = args.time.iter().map(|time| ("time".to_owned(), time.clone())).collect();
    let workload = spec::built_in(name, &set).map_err(|errors| {
        let what: Vec<&str> = errors.iter().map(|e| e.what.as_str()).collect();
        Failure::new(FailureKind::Usage, format!("--time: {}", what.join("; "))).remedy("for example --time 500ms")
    })?;
    let page = Page { file: None, identify: false };
    let execution = Execution::prepare(global, &args.tags, page, SecondSignal::Ends, output)?;
    let rights = RegionRights { writes: args.allow_writes, registers: args.read_registers };
    let mut opened = match &args.mapped {
        Some(mapped) => open_with_mapping(region, Path::new(mapped), rights, workload.interval_ns)?,
        None => open_region(region, rights, workload.interval_ns)?,
    };
    let plan = plan::plan(&workload, &opened, random_u64()?)?;
    let executed = execution.conducted().execute("copy", plan, Budget::Foreseen, &mut opened, None)?;
    Ok(execution.answer(executed, output, |run, conclusions, _| {
        let report = diagnose::copy_report(run);
        output.answer(&CopyDocument::new(run, &report, &conclusions.findings), |style| {
            report::copy_text(run, &report, &conclusions.findings, style)
        });
        Ok(())
    }))
}
