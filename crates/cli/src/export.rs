//! `narrows export`: runs in other tools' formats.

use crate::archives;
use crate::args::{ExportArgs, ExportFormat, GlobalArgs};
use crate::output::Output;
use crate::output_file;
use crate::run_source::RunSource;
use exchange::{ExportedFile, Options};
use model::{Failure, Run};
use report::document::ActionDocument;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod of_many;

/// Executes the command.
pub fn command(args: &ExportArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    // Stdout by its usual name is where it goes without one.
    let destination = args.output.as_deref().filter(|path| *path != Path::new("-"));
    let to_directory = destination.is_some_and(is_directory);
    check_combination(args, destination, output, to_directory)?;
    let archive = archives::open(global)?;
    if matches!(args.format, ExportFormat::HistoryCsv | ExportFormat::OpenMetrics) {
        return of_many::command(args, &archive, destination, output);
    }
    let runs: Vec<Run> = RunSource::all(&archive, &args.runs)?.into_iter().map(|(run, _)| run).collect();
    let run = match &runs[..] {
        [run] => run,
        [first, ..] if args.format == ExportFormat::Csv => first,
        _ => {
            let message =
                format!("{} runs cannot be in one export; csv, history-csv and openmetrics hold many", runs.len());
            return Err(Failure::usage(message).remedy("narrows export RUN for each of them"));
        }
    };
    let options = Options {
        phases: args.phases.clone(),
        keep_refused: args.keep_refused,
        bins: args.format == ExportFormat::FioJsonPlus,
    };
    // A row of CSV says of each number what became of it.
    if args.format != ExportFormat::Csv {
        say_withheld(run, &options, output);
    }
    let document = match args.format {
        ExportFormat::FioLogs => {
            return write_all(&exchange::fio_logs(run, &options)?, run, destination, output);
        }
        ExportFormat::FioJson | ExportFormat::FioJsonPlus if to_directory => {
            return write_all(&exchange::fio_json_files(run, &options)?, run, destination, output);
        }
        ExportFormat::FioJson | ExportFormat::FioJsonPlus => exchange::fio_json(run, &options)?,
        ExportFormat::Csv => exchange::csv(&runs, &options)?,
        ExportFormat::Bencher => exchange::bencher(run, &options)?,
        ExportFormat::HistoryCsv | ExportFormat::OpenMetrics => return Err(Failure::internal("they hold many")),
        ExportFormat::Hlog => exchange::hlog(run, &options)?,
        ExportFormat::Iozone => exchange::iozone(run, &options)?,
        ExportFormat::BonnieCsv => exchange::bonnie_csv(run, &options)?,
    };
    match destination {
        None => output.text(&document),
        Some(path) => {
            // Another tool's run is called by the path of its file.
            let id = Path::new(&run.id).file_name().unwrap_or_default().to_string_lossy();
            let file = if to_directory { path.join(format!("{id}.{}", extension(args.format))) } else { path.into() };
            if let Some(parent) = file.parent().filter(|_| to_directory) {
                create_directory(parent)?;
            }
            output_file::write(&file, document.as_bytes())?;
            finish(run, &[file], output);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which numbers are not in an export: where they would be is a zero, or nothing.
pub fn say_withheld(run: &Run, options: &Options, output: &Output) {
    for (phase, why) in exchange::withheld(run, options) {
        output.warning(&format!(
            "{phase}: its numbers are refused ({why}) and are not in the export; narrows export --keep-refused has them"
        ));
    }
}

/// What can be told from the arguments alone.
fn check_combination(
    args: &ExportArgs,
    destination: Option<&Path>,
    output: &Output,
    to_directory: bool,
) -> Result<(), Failure> {
    let usage = |message: &str, remedy: &str| Err(Failure::usage(message).remedy(remedy));
    if args.format == ExportFormat::FioLogs && !to_directory {
        return match destination {
            Some(path) if path.exists() => {
                usage("fio-logs is a directory of files, and --output is a file", "--output DIR/")
            }
            Some(_) => Ok(()),
            None => usage("fio-logs is a directory of files and needs one", "--output DIR"),
        };
    }
    let is_json = matches!(args.format, ExportFormat::FioJson | ExportFormat::FioJsonPlus | ExportFormat::Bencher);
    if output.is_json() && !is_json && destination.is_none() {
        return usage("with --json, stdout is JSON; this format is not", "--output FILE, or leave --json away");
    }
    Ok(())
}

/// Whether the user means a directory: there is one, or the name ends like one.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::FioJson | ExportFormat::FioJsonPlus | ExportFormat::Bencher => "json",
        ExportFormat::OpenMetrics => "prom",
        ExportFormat::Csv | ExportFormat::HistoryCsv | ExportFormat::BonnieCsv => "csv",
        ExportFormat::Hlog => "hlog",
        ExportFormat::Iozone => "txt",
        ExportFormat::FioLogs => "log",
    }
}

fn write_all(
    files: &[ExportedFile],
    run: &Run,
    directory: Option<&Path>,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let directory = directory.unwrap_or(Path::new("."));
    let mut written = Vec::new();
    for file in files {
        let path = directory.join(&file.path);
        create_directory(path.parent().unwrap_or(directory))?;
        output_file::write(&path, file.text.as_bytes())?;
        written.push(path);
    }
    finish(run, &written, output);
    Ok(ExitCode::SUCCESS)
}

fn create_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|e| {
        Failure::environment(format!("cannot create the directory {}: {e}", path.display()))
            .remedy("--output DIR elsewhere")
    })
}

/// The names of what was written, a line each.
fn finish(run: &Run, files: &[PathBuf], output: &Output) {
    tell(files, &run.id, output);
}

/// The same of what is of many runs.
fn tell(files: &[PathBuf], of: &str, output: &Output) {
    let lines: Vec<(String, String)> = files.iter().map(|f| (f.display().to_string(), of.to_owned())).collect();
    output.answer_text(&ActionDocument::new("export", &lines), |_| {
        lines.iter().map(|(file, _)| format!("{file}\n")).collect::<String>()
    });
}
