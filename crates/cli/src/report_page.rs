//! The card and the page of a run.

use crate::archives;
use crate::args::{GlobalArgs, ReportArgs};
use crate::conclusions::Conclusions;
use crate::output::Output;
use archive::Archive;
use model::{Failure, FailureKind, Run};
use report::document::{CheckDocument, PageDocument};
use report::{Check, Compare};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `narrows report RUN... -o FILE`.
pub fn command(args: &ReportArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let archive = archives::open(global)?;
    let mut runs: Vec<Run> = Vec::new();
    for name in &args.runs {
        for found in archive.resolve(name)? {
            let run = found.load()?;
            if runs.iter().all(|have| have.id != run.id) {
                runs.push(run);
            }
        }
    }
    let path = match (&runs[..], &args.output) {
        ([run], elsewhere) => write(&archive, run, &Conclusions::of(run), elsewhere.as_deref())?,
        (several, Some(path)) => write_several(several, path)?,
        (several, None) => {
            let message = format!("these are {} runs, and their page has no place of its own", several.len());
            return Err(Failure::new(FailureKind::Usage, message).remedy("narrows report RUN... -o FILE.html"));
        }
    };
    let path = path.display().to_string();
    match PageDocument::new(&runs, &path).filter(|_| output.is_json()) {
        Some(document) => output.document(&document),
        None => output.text(&format!("{path}\n")),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of several runs.
fn write_several(runs: &[Run], path: &Path) -> Result<PathBuf, Failure> {
    let conclusions: Vec<Conclusions> = runs.iter().map(Conclusions::of).collect();
    let starts: Vec<String> = runs.iter().map(started).collect();
    let parts = runs.iter().zip(&conclusions).zip(&starts);
    let checks: Vec<Check<'_>> = parts.map(|((run, c), started)| check(run, c, started, None, None)).collect();
    save(path, &report::runs_page(env!("CARGO_PKG_VERSION"), &checks))?;
    Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

fn save(path: &Path, html: &str) -> Result<(), Failure> {
    std::fs::write(path, html).map_err(|e| {
        Failure::new(FailureKind::Environment, format!("cannot write the page to {}: {e}", path.display()))
            .remedy("-o FILE.html elsewhere")
    })
}

/// Whether a page could be written to `path`, before anything is measured for it. Creates nothing.
pub fn check_destination(path: &Path) -> Result<(), Failure> {
    let cannot = |reason: String| {
        Failure::new(FailureKind::Environment, format!("cannot write the page to {}: {reason}", path.display()))
            .remedy("nothing was measured: name a file in a directory that exists and that you may write to")
    };
    if path.is_dir() {
        return Err(cannot("it is a directory".into()));
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let target = if path.exists() { path } else { directory };
    if target == directory && !directory.is_dir() {
        return Err(cannot(format!("{} is no directory", directory.display())));
    }
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK).map_err(|e| cannot(std::io::Error::from(e).to_string()))
}

/// Writes the page of one or several comparisons.
pub fn write_comparisons(path: &Path, title: &str, views: &[Compare<'_>]) -> Result<(), Failure> {
    save(path, &report::compare_page(title, env!("CARGO_PKG_VERSION"), views))
}

/// Writes the page into the archive, or where it was asked for.
pub fn write(
    archive: &Archive,
    run: &Run,
    conclusions: &Conclusions,
    elsewhere: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let started = started(run);
    let html = report::page(&check(run, conclusions, &started, None, None));
    match elsewhere {
        None => Ok(archive.write_report(&run.id, &html)?),
        Some(path) => {
            std::fs::write(path, html).map_err(|e| {
                Failure::new(FailureKind::Environment, format!("cannot write the page to {}: {e}", path.display()))
                    .remedy(format!("the run itself is kept: narrows report {} -o FILE", run.id))
            })?;
            Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
        }
    }
}

/// The card on the terminal, or the document.
pub fn show(run: &Run, conclusions: &Conclusions, page: Option<&Path>, output: &Output) {
    let page = page.map(|p| p.display().to_string());
    let fetch = page.as_deref().and_then(fetch_line);
    let started = started(run);
    let check = check(run, conclusions, &started, page.as_deref(), fetch.as_deref());
    if output.is_json() {
        output.document(&CheckDocument::new(&check));
    } else {
        output.text(&report::card(&check, output.style()));
    }
}

/// The card as Markdown, without paths of this machine.
pub fn show_markdown(run: &Run, conclusions: &Conclusions, output: &Output) {
    output.text(&report::markdown(&check(run, conclusions, &started(run), None, None)));
}

fn check<'a>(
    run: &'a Run,
    conclusions: &'a Conclusions,
    started: &'a str,
    page: Option<&'a str>,
    fetch: Option<&'a str>,
) -> Check<'a> {
    Check {
        run,
        started,
        limit: &conclusions.limit,
        causes: &conclusions.causes,
        findings: &conclusions.findings,
        ratings: &conclusions.ratings,
        depth_curves: &conclusions.depth_curves,
        next_step: conclusions.next_step.as_ref(),
        page,
        fetch,
    }
}

/// When the run started, for people: `2026-11-20 21:30 UTC`.
fn started(run: &Run) -> String {
    run.sessions.first().map(|s| crate::wall::to_the_minute(&s.started)).unwrap_or_default()
}

/// Over ssh: how to get the page to the machine where somebody sits.
fn fetch_line(page: &str) -> Option<String> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    // "client port server port": the address under which the client reached this machine.
    let server = connection.split_whitespace().nth(2)?;
    let host = if server.contains(':') { format!("[{server}]") } else { server.to_owned() };
    let user = std::env::var("USER").ok().filter(|u| !u.is_empty()).map(|u| u + "@").unwrap_or_default();
    Some(format!("scp '{}' .", format!("{user}{host}:{page}").replace('\'', "'\\''")))
}
