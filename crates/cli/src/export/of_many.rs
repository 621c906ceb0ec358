//! Formats that hold many runs: a table of a history, and metrics of the latest runs.

use super::{create_directory, is_directory, tell};
use crate::args::{ExportArgs, ExportFormat};
use crate::output::Output;
use crate::output_file;
use crate::run_source::{Part, RunSource, Wants};
use archive::Archive;
use exchange::{HistoryRow, Options, ScrapedRun, history_csv, openmetrics};
use judge::{disks_used_percent, history_key};
use model::{Conclusions, Failure, HistoryKey, Run};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Executes the command.
pub fn command(
    args: &ExportArgs,
    archive: &Archive,
    destination: Option<&Path>,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let is_table = args.format == ExportFormat::HistoryCsv;
    // Findings rest on series and samples; a table of thousands of runs on their metrics.
    let part = if is_table { Part::Compared } else { Part::Whole };
    let (mut runs, mut known): (Vec<Run>, HashSet<String>) = (Vec::new(), HashSet::new());
    for name in &args.runs {
        let source = RunSource::load(archive, name, part, Wants::Newest)?;
        source.unreadable.iter().for_each(|run| output.warning(&format!("not read: {run}")));
        for mut run in source.runs {
            if is_table {
                run.samples = Vec::new();
            } else {
                newest_only(&mut runs, &run);
            }
            if known.insert(run.id.clone()) {
                runs.push(run);
            }
        }
    }
    let files = if is_table { table(args, &runs)? } else { vec![("narrows.prom", metrics(&runs))] };
    let of = format!("{} runs", runs.len());
    let Some(path) = destination else {
        // What makes the table is for those who keep files.
        files.first().into_iter().for_each(|(_, text)| output.text(text));
        return Ok(ExitCode::SUCCESS);
    };
    let written = match is_directory(path) {
        true => {
            create_directory(path)?;
            files.into_iter().map(|(name, text)| write(path.join(name), &text)).collect::<Result<Vec<_>, _>>()?
        }
        false => match files.first() {
            Some((_, text)) => vec![write(path.to_owned(), text)?],
            None => Vec::new(),
        },
    };
    tell(&written, &of, output);
    Ok(ExitCode::SUCCESS)
}

fn write(path: PathBuf, text: &str) -> Result<PathBuf, Failure> {
    output_file::publish(&path, text.as_bytes()).map(|()| path)
}

/// Of each target and workload only the last run is wanted: the others need not be held.
fn newest_only(runs: &mut Vec<Run>, next: &Run) {
    runs.retain(|run| run.target.name != next.target.name || run.plan.name != next.plan.name);
}

fn table(args: &ExportArgs, runs: &[Run]) -> Result<Vec<(&'static str, String)>, Failure> {
    let keys: Vec<HistoryKey> = runs.iter().map(history_key).collect();
    let rows: Vec<HistoryRow<'_>> = runs.iter().zip(&keys).map(|(run, key)| row(run, key)).collect();
    let options = Options { phases: args.phases.clone(), keep_refused: args.keep_refused, bins: false };
    let table = history_csv(&rows, &options)?;
    Ok(vec![("history.csv", table.csv), ("schema.sql", table.schema)])
}

fn row<'a>(run: &'a Run, key: &'a HistoryKey) -> HistoryRow<'a> {
    HistoryRow { run, machine: &key.machine, device: &key.device, plan: &key.plan }
}

fn metrics(runs: &[Run]) -> String {
    let concluded: Vec<Conclusions> = runs.iter().map(conclusions::of_run).collect();
    let scraped: Vec<ScrapedRun<'_>> = runs.iter().zip(&concluded).map(|(run, c)| scraped(run, c)).collect();
    openmetrics(&scraped)
}

fn scraped<'a>(run: &'a Run, concluded: &'a Conclusions) -> ScrapedRun<'a> {
    let began = run.sessions.first().and_then(|s| s.started.parse::<jiff::Timestamp>().ok());
    ScrapedRun {
        run,
        findings: &concluded.findings,
        began_s: began.map(|at| at.as_millisecond() as f64 / 1e3),
        wear: disks_used_percent(run).into_iter().map(|(serial, percent)| (serial, percent / 100.0)).collect(),
    }
}
