//! `narrows run layers`: what each layer of a path costs.

use super::text;
use crate::args::{GlobalArgs, RunArgs};
use crate::check;
use crate::execution::{Asked, Execution};
use crate::output::Output;
use crate::progress_line::ProgressLine;
use crate::signals::SecondSignal;
use conduct::{Language, Source, random_u64};
use experiments::layers::{LayersResult, LayersWanted, layers, layers_plan};
use model::{Failure, FailureKind, LayersStudy};
use report::document::{Answered, LayersDocument, LayersPlanDocument};
use std::process::ExitCode;

/// Executes it.
pub(super) fn command(
    args: &RunArgs,
    source: &Source,
    global: &GlobalArgs,
    output: &Output,
) -> Result<ExitCode, Failure> {
    super::refuse_what_is_for_phases(args, "layers")?;
    let set = text::settings(args, Language::Toml)?;
    let study = spec::parse_layers(&source.name, &source.text, &set).map_err(|e| text::study_mistakes(&e, "layers"))?;
    let Some(target) = args.target.as_deref() else {
        return Err(Failure::usage("the layers of which path?").remedy("narrows run layers DIRECTORY, FILE or DEVICE"));
    };
    if args.permissions.consent().destroy.is_some() || args.permissions.consent().overwrite {
        return Err(Failure::usage("layers are measured by reading, and by writing to a file of their own")
            .remedy("leave out --destroy and --overwrite"));
    }
    let seed = args.marks.seed.map_or_else(random_u64, Ok)?;
    let wanted = LayersWanted { target, study: &study, seed };
    let asked = Asked { page: args.report.as_deref(), ..Asked::of(&args.marks) };
    let execution = Execution::prepare(global, asked, SecondSignal::Ends, output)?;
    let plan = layers_plan(&wanted, &execution.conducted())?;
    let most = args.max_write.as_deref().map(check::max_write).transpose()?;
    if let Some(most) = most.filter(|most| *most < plan.bytes_written_at_most) {
        let bytes = report::quantity::size;
        let what =
            format!("it may write {}, and --max-write allows {}", bytes(plan.bytes_written_at_most), bytes(most));
        return Err(Failure::refused(what).remedy("--set writes=false, --set region=64MiB or --set rounds=2"));
    }
    let plan = LayersPlanDocument {
        target: target.to_string_lossy().into_owned(),
        levels: plan.levels,
        left_out: plan.left_out,
        bytes_at_most: plan.bytes_written_at_most,
        ns_at_most: plan.ns_at_most,
    };
    if args.plan {
        output.answer(&plan, || report::layers_plan(&plan));
        return Ok(ExitCode::SUCCESS);
    }
    if args.report.is_none() {
        execution.archive().check_writable()?;
    }
    let started = jiff::Timestamp::now();
    let progress = ProgressLine::new(global.json, output.style().columns());
    let result = layers(&wanted, &execution.conducted(), &|round, level| {
        let what = match round {
            0 => format!("{}: fills a file of {}", plan.target, report::quantity::size(study.bytes)),
            _ => format!("round {round} of {}: {level}", study.rounds),
        };
        match progress.is_shown() {
            true => progress.draw(&what),
            false if !global.json => output.aside(&format!("{what}\n")),
            false => {}
        }
    });
    progress.wipe();
    let result = result?;
    let mut document = document(result, &study, &plan.target, seed, &started);
    let page = report::layers_page(&document);
    document.page = Some(super::write_page("layers", args, &page, &started, execution.archive())?);
    output.answer(&Answered::new(&document), || report::layers(&document));
    if let Some(code) = execution.signals().exit_code().filter(|_| document.interrupted) {
        return Ok(ExitCode::from(code));
    }
    Ok(if document.layers.is_empty() { ExitCode::from(FailureKind::Invalid.exit_code()) } else { ExitCode::SUCCESS })
}

fn document(
    result: LayersResult,
    study: &LayersStudy,
    target: &str,
    seed: u64,
    started: &jiff::Timestamp,
) -> LayersDocument {
    LayersDocument {
        target: target.to_owned(),
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed,
        region_bytes: result.bytes,
        block_bytes: study.block_bytes,
        depth: study.depth,
        bytes_written: result.written_bytes,
        levels: result.levels,
        layers: result.costs,
        dearest: result.dearest,
        left_out: result.left_out,
        interrupted: result.interrupted,
        page: None,
    }
}
