//! `narrows copy`: what copies of a region cost by the width of their accesses.

use crate::args::{CopyArgs, GlobalArgs};
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::run::text;
use crate::signals::SecondSignal;
use conduct::region::{RegionKind, RegionRights, kind_of, open_region, open_with_mapping};
use conduct::{Budget, plan, random_u64};
use model::Failure;
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
    let workload = text::built_in(name, "time", args.time.as_deref(), "500ms")?;
    let asked = Asked { tags: &args.tags, ..Asked::default() };
    let execution = Execution::prepare(global, asked, SecondSignal::Ends, output)?;
    let rights = RegionRights { writes: args.allow_writes, registers: args.read_registers };
    let mut opened = match &args.mapped {
        Some(mapped) => open_with_mapping(region, Path::new(mapped), rights, workload.interval_ns)?,
        None => open_region(region, rights, workload.interval_ns)?,
    };
    let plan = plan::plan(&workload, &opened, random_u64()?)?;
    let executed = execution.conducted().execute("copy", plan, Budget::Foreseen, &mut opened, None)?;
    Ok(execution.answer(executed, output, |run, conclusions, _| {
        let report = diagnose::copy_report(run);
        output.answer(&CopyDocument::new(run, &report, &conclusions.findings), || {
            report::copy(run, &report, &conclusions.findings)
        });
        Ok(())
    }))
}
