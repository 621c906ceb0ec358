//! The card and the page of a run.

use crate::archives;
use crate::args::{GlobalArgs, ReportArgs};
use crate::output::Output;
use crate::output_file;
use crate::redaction::OnPage;
use crate::run_source::RunSource;
use archive::{Archive, Partial, RunRef};
use model::{Conclusions, Failure, Plan, Run, Target};
use report::document::{CheckDocument, FillDocument, PageDocument, PlanDocument, RunDocument};
use report::{Check, Compare, Side};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// `narrows report RUN... -o FILE`.
pub fn command(args: &ReportArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let archive = archives::open(global)?;
    let (mut runs, kept): (Vec<Run>, Vec<Option<RunRef>>) = RunSource::all(&archive, &args.runs)?.into_iter().unzip();
    if args.output.is_none() {
        for (run, found) in runs.iter().zip(&kept) {
            let what = match found {
                None => format!("{} is no run of the archive, where pages are kept", run.id),
                // The page of the run here that has its id is not the page of a bundle elsewhere.
                Some(found) if !archive.holds(found) && archive.has(&run.id) => {
                    format!("{} is outside of the archive, which has another run of this id", found.path.display())
                }
                Some(_) => continue,
            };
            return Err(Failure::usage(what).remedy("narrows report PATH -o FILE.html"));
        }
    }
    let path = match (&mut runs[..], &args.output) {
        ([run], elsewhere) => write(&archive, run, None, elsewhere.as_deref(), args.identify)?,
        (several, Some(path)) => write_several(several, path, args.identify)?,
        (several, None) => {
            let message = format!("these are {} runs, and their page has no place of its own", several.len());
            return Err(Failure::usage(message).remedy("narrows report RUN... -o FILE.html"));
        }
    };
    let path = path.display().to_string();
    output.answer_text(&PageDocument::new(&runs, &path), |_| format!("{path}\n"));
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of several runs.
fn write_several(runs: &mut [Run], path: &Path, identify: bool) -> Result<PathBuf, Failure> {
    let html = OnPage::of(&*runs, identify)?.lent(runs, |shown| {
        let conclusions: Vec<Conclusions> = shown.iter().map(conclusions::of_run).collect();
        let starts: Vec<String> = shown.iter().map(started).collect();
        let parts = shown.iter().zip(&conclusions).zip(&starts);
        let checks: Vec<Check<'_>> = parts.map(|((run, c), started)| Check::of(run, c, started)).collect();
        report::runs_page(env!("CARGO_PKG_VERSION"), &checks)
    })?;
    output_file::write(path, html.as_bytes())?;
    Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The page of one or several comparisons.
pub fn comparisons(title: &str, views: &[Compare<'_>], identify: bool) -> Result<String, Failure> {
    let on_page = OnPage::of(views.iter().flat_map(|v| v.a.runs.iter().chain(v.b.runs)), identify)?;
    let side = |side: &Side<'_>| -> Result<(String, Vec<Run>), Failure> {
        let runs = side.runs.iter().map(|run| Ok(on_page.run(run)?.into_owned())).collect::<Result<_, Failure>>()?;
        Ok((on_page.text(side.name), runs))
    };
    let parts = views
        .iter()
        .map(|v| Ok((on_page.comparison(v.comparison)?, side(&v.a)?, side(&v.b)?, on_page.text(v.question))));
    let parts = parts.collect::<Result<Vec<_>, Failure>>()?;
    let shown: Vec<Compare<'_>> = parts
        .iter()
        .map(|(comparison, a, b, question)| Compare {
            comparison,
            a: Side { name: &a.0, runs: &a.1 },
            b: Side { name: &b.0, runs: &b.1 },
            question,
            page: None,
        })
        .collect();
    Ok(report::compare_page(&on_page.text(title), env!("CARGO_PKG_VERSION"), &shown))
}

/// Writes the page into the archive, or where it was asked for; the run stays as it is. What was concluded of it is shown with
/// `identify`; else the page shows another run, without what identifies the machine, and what is concluded of that one: facts
/// are taken out more surely than words.
pub fn write(
    archive: &Archive,
    run: &mut Run,
    known: Option<&Conclusions>,
    elsewhere: Option<&Path>,
    identify: bool,
) -> Result<PathBuf, Failure> {
    let page = |shown: &Run| match known.filter(|_| identify) {
        Some(known) => report::page(&Check::of(shown, known, &started(shown))),
        None => report::page(&Check::of(shown, &conclusions::of_run(shown), &started(shown))),
    };
    let html = OnPage::of([&*run], identify)?
        .lent(std::slice::from_mut(run), |shown| shown.iter().map(page).collect::<String>())?;
    match elsewhere {
        None => Ok(archive.write_report(&run.id, &html)?),
        Some(path) => {
            output_file::write(path, html.as_bytes())
                .map_err(|e| e.remedy(format!("the run itself is kept: narrows report {} -o FILE", run.id)))?;
            Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
        }
    }
}

/// A run as it is shown, with where its page is and how to get that.
fn shown(run: &Run, conclusions: &Conclusions, page: Option<&Path>, show: impl FnOnce(&Check<'_>)) {
    let page = page.map(|p| p.display().to_string());
    let fetch = page.as_deref().and_then(fetch_line);
    let started = started(run);
    show(&Check { page: page.as_deref(), fetch: fetch.as_deref(), ..Check::of(run, conclusions, &started) });
}

/// A check: its document or its card; on a terminal no more than a screen, but for `--details`.
pub fn show_check(run: &Run, conclusions: &Conclusions, page: Option<&Path>, output: &Output) {
    let brief = output.is_terminal() && !output.is_markdown() && !output.has_details();
    shown(run, conclusions, page, |check| match brief {
        true => output.answer_text(&CheckDocument::new(check), |style| report::brief(check, style)),
        false => output.answer_whole(&CheckDocument::new(check), || report::describe(check)),
    });
}

/// Any other run: its document with its tags, or its card, of one that is looked at `whole`.
pub fn show(run: &Run, conclusions: &Conclusions, page: Option<&Path>, tags: &[String], whole: bool, output: &Output) {
    shown(run, conclusions, page, |check| {
        let document = RunDocument {
            scale: &conclusions.judged.scale,
            ..RunDocument::new(run, tags, &conclusions.judged.depth_curves)
        }
        .answering(check.answer());
        match whole {
            true => output.answer_whole(&document, || report::describe(check)),
            false => output.answer(&document, || report::describe(check)),
        }
    });
}

/// What would be done.
pub fn show_plan(target: &Target, plan: &Plan, output: &Output) {
    output.answer(&PlanDocument::new(target, plan), || report::plan(plan, target.stack.fstype()));
}

/// A target that was filled.
pub fn show_fill(run: &Run, conclusions: &Conclusions, page: Option<&Path>, output: &Output) {
    shown(run, conclusions, page, |check| output.answer(&FillDocument::new(check), || report::describe(check)));
}

/// Keeps a run that was made elsewhere, with its page: its id and where the page is. What cannot be kept is said, and changes no
/// answer.
pub fn keep(archive: &Archive, run: Result<Run, Failure>, output: &Output) -> Option<(String, String)> {
    let kept = run.and_then(|mut run| {
        archive.save(&run)?;
        let page = write(archive, &mut run, None, None, false)?;
        Ok((run.id, page.display().to_string()))
    });
    kept.inspect_err(|failure| output.beside(failure)).ok()
}

/// Begins the run of what keeps its result only at its end: where the program is killed before, this much is there. Whoever began it
/// discards it at the end.
pub fn begin(archive: &Archive, run: Result<Run, Failure>) -> Option<Partial> {
    archive.begin(&run.ok()?).ok()
}

/// When the run started, for people: `2026-11-20 21:30 UTC`.
pub(crate) fn started(run: &Run) -> String {
    run.sessions.first().map(|s| to_the_minute(&s.started)).unwrap_or_default()
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

/// RFC 3339 as people read it: `2026-11-20 21:30 UTC`; anything else as it is.
fn to_the_minute(rfc3339: &str) -> String {
    match rfc3339.parse::<jiff::Timestamp>() {
        Ok(at) => at.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => rfc3339.to_owned(),
    }
}
