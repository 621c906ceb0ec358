//! `narrows runs`: the archive of runs.

use crate::archives;
use crate::args::{GlobalArgs, RunsArgs, RunsCommand, RunsFilter};
use crate::output::Output;
use crate::report_page;
use crate::run_source::{RunSource, Wants};
use archive::{Archive, Recovered, RunRef};
use model::{Failure, FailureKind};
use report::document::{ActionDocument, RunEntry, RunsDocument};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

mod deletion;
mod merge;
mod wear;

/// Executes the command; without a subcommand, `list`.
pub fn command(args: &RunsArgs, global: &GlobalArgs, output: &Output) -> Result<ExitCode, Failure> {
    let archive = archives::open(global)?;
    let all = RunsCommand::List(RunsFilter::default());
    match args.command.as_ref().unwrap_or(&all) {
        RunsCommand::List(filter) => list(&archive, filter, output),
        RunsCommand::Prune { filter, keep, older_than, dry_run, yes } => {
            let chosen = fits_rule(&archive, filter, *keep, older_than.as_deref(), output)?;
            deletion::prune(&archive, &chosen, *dry_run, *yes, output)
        }
        RunsCommand::Wear(args) => wear::command(&archive, args, output),
        RunsCommand::Show { run } => show(&archive, run, output),
        RunsCommand::Path { runs } => path(&archive, runs, output),
        RunsCommand::Verify { runs } => verify(&archive, runs, output),
        RunsCommand::Recover => recover(&archive, output),
        RunsCommand::Merge { from } => merge::command(&archive, from, output),
        RunsCommand::Reindex => reindex(&archive, output),
        RunsCommand::Tag { run, tags, delete } => tag(&archive, run.as_deref(), tags, *delete, output),
        RunsCommand::Delete { runs, yes } => deletion::delete(&archive, runs, *yes, output),
    }
}

/// Tags by run, where they can be read: of an archive of somebody else the runs may be, and the tags not.
fn readable_tags(archive: &Archive, output: &Output) -> Result<Tags, Failure> {
    tags_by_run(archive).or_else(|failure| match failure.kind {
        FailureKind::Environment => {
            output.warning(&format!("without tags: {}", failure.message));
            Ok(Tags::new())
        }
        _ => Err(failure),
    })
}

/// Tags by run.
type Tags = BTreeMap<String, Vec<String>>;

/// Tags by run.
fn tags_by_run(archive: &Archive) -> Result<Tags, Failure> {
    let mut by_run = Tags::new();
    for (tag, ids) in archive.tags()? {
        for id in ids {
            by_run.entry(id).or_default().push(tag.clone());
        }
    }
    Ok(by_run)
}

/// The moment that lies so long ago, as seconds since 1970.
pub(crate) fn ago(option: &str, age: &str) -> Result<i64, Failure> {
    let ns = model::parse_duration_ns(age)
        .map_err(|e| Failure::usage(format!("{option} {age}: {e}")).remedy(format!("{option} 7d, or 12h, or 30m")))?;
    let seconds = i64::try_from(ns / model::NS_PER_S).unwrap_or(i64::MAX);
    Ok(jiff::Timestamp::now().as_second().saturating_sub(seconds))
}

fn started_at(entry: &RunEntry) -> Option<i64> {
    entry.started.as_deref()?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}

/// The runs that fit, newest last.
fn fitting(archive: &Archive, filter: &RunsFilter, tags: Tags, output: &Output) -> Result<Vec<RunEntry>, Failure> {
    let since = filter.since.as_deref().map(|age| ago("--since", age)).transpose()?;
    let mut out = Vec::new();
    for entry in entries(archive, tags, output)? {
        let of_tag = filter.tag.as_ref().is_none_or(|tag| entry.tags.contains(tag));
        let of_target = filter.target.as_ref().is_none_or(|target| entry.target.contains(target.as_str()));
        let young = since.is_none_or(|since| started_at(&entry).is_some_and(|at| at >= since));
        if of_tag && of_target && young && filter.workload.as_ref().is_none_or(|w| *w == entry.workload) {
            out.push(entry);
        }
    }
    Ok(out)
}

/// The runs that a rule names: of what fits, all that is older, but for the newest of each workload on each target. A tag says that
/// somebody wants the run.
fn fits_rule(
    archive: &Archive,
    filter: &RunsFilter,
    keep: Option<usize>,
    older_than: Option<&str>,
    output: &Output,
) -> Result<Vec<RunEntry>, Failure> {
    let before = older_than.map(|age| ago("--older-than", age)).transpose()?;
    let mut seen: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    for entry in fitting(archive, filter, tags_by_run(archive)?, output)?.into_iter().rev() {
        let newer = seen.entry((entry.target.clone(), entry.command.clone(), entry.workload.clone())).or_default();
        *newer += 1;
        let kept = keep.is_some_and(|keep| *newer <= keep);
        let old = before.is_none_or(|before| started_at(&entry).is_some_and(|at| at < before));
        let wanted = !entry.tags.is_empty() && filter.tag.is_none();
        if !kept && old && !wanted {
            chosen.push(entry);
        }
    }
    Ok(chosen)
}

fn list(archive: &Archive, filter: &RunsFilter, output: &Output) -> Result<ExitCode, Failure> {
    // What a program that was killed left is a run, too; where nothing may be written, the others are listed.
    let _ = archive.recover();
    // What is asked by tag is not answered without them.
    let tags = if filter.tag.is_some() { tags_by_run(archive)? } else { readable_tags(archive, output)? };
    let entries = fitting(archive, filter, tags, output)?;
    output.answer(&RunsDocument::new(&entries), || report::runs(&entries));
    Ok(ExitCode::SUCCESS)
}

/// All runs of the archive that can be read.
fn entries(archive: &Archive, mut tags: Tags, output: &Output) -> Result<Vec<RunEntry>, Failure> {
    let mut entries = Vec::new();
    for indexed in archive.list()? {
        let tags = tags.remove(&indexed.id).unwrap_or_default();
        let Some(run) = indexed.run else {
            output.warning(&format!("{}: {}", indexed.id, indexed.problem.unwrap_or_default()));
            continue;
        };
        entries.push(RunEntry {
            run_id: indexed.id,
            started: run.started,
            command: run.command,
            workload: run.workload,
            device: run.device,
            target: run.target,
            state: run.state,
            duration_s: run.duration_ns as f64 / 1e9,
            bytes_written: run.bytes_written,
            fake: run.capacity.filter(|c| c.kind.is_fake()),
            metrics: run.metrics,
            tags,
        });
    }
    Ok(entries)
}

fn show(archive: &Archive, run: &OsStr, output: &Output) -> Result<ExitCode, Failure> {
    let (run, found) = RunSource::one(archive, run, Wants::Newest)?;
    let is_held = found.is_some_and(|found| archive.holds(&found));
    let tags = if is_held { readable_tags(archive, output)?.remove(&run.id).unwrap_or_default() } else { Vec::new() };
    let page = Some(archive.report_path(&run.id)).filter(|p| is_held && p.is_file());
    report_page::show(&run, &conclusions::of_run(&run), page.as_deref(), &tags, true, output);
    Ok(ExitCode::SUCCESS)
}

/// Where bundles lie, a line each, for a shell.
fn path(archive: &Archive, runs: &[String], output: &Output) -> Result<ExitCode, Failure> {
    let found = chosen(archive, runs)?.into_iter();
    let lines: Vec<(String, String)> = found.map(|run| (run.id, run.path.display().to_string())).collect();
    output.answer_text(&ActionDocument::new("path", &lines), |_| {
        lines.iter().map(|(_, path)| format!("{path}\n")).collect::<String>()
    });
    Ok(ExitCode::SUCCESS)
}

/// The runs named, or all.
fn chosen(archive: &Archive, runs: &[String]) -> Result<Vec<RunRef>, Failure> {
    if runs.is_empty() {
        return Ok(archive.ids()?.into_iter().map(|id| RunRef { path: archive.run_dir(&id), id }).collect());
    }
    let mut chosen: Vec<RunRef> = Vec::new();
    for run in runs {
        for found in archive.resolve(run)? {
            if chosen.iter().all(|have| have.path != found.path) {
                chosen.push(found);
            }
        }
    }
    Ok(chosen)
}

/// The id of a run of this archive. A path of a bundle elsewhere means that bundle, and not the run here that has its id.
fn held<'r>(archive: &Archive, found: &'r RunRef, action: &str) -> Result<&'r str, Failure> {
    if archive.holds(found) {
        return Ok(&found.id);
    }
    let (path, here) = (found.path.display(), archive.directory().display());
    let message = format!("{path} is a bundle outside of the archive {here}: {action}");
    let remedy = match found.path.parent().filter(|p| p.file_name().is_some_and(|n| n == "runs")).and_then(Path::parent)
    {
        Some(other) => format!("name its archive: --archive '{}'", other.display()),
        None => "copy it into runs/ of an archive, or remove the directory yourself".to_owned(),
    };
    Err(Failure::refused(message).remedy(remedy))
}

fn verify(archive: &Archive, runs: &[String], output: &Output) -> Result<ExitCode, Failure> {
    let (mut lines, mut altered) = (Vec::new(), Vec::new());
    for found in chosen(archive, runs)? {
        // A bundle that cannot even be checked is an answer about that bundle; the others are still of interest.
        let (clean, text) = match found.verify() {
            Ok(verification) => (verification.is_clean(), verification.to_string()),
            Err(error) => (false, error.to_string()),
        };
        let name = if archive.holds(&found) { found.id } else { found.path.display().to_string() };
        if !clean {
            altered.push(name.clone());
        }
        lines.push((name, text));
    }
    finish("verify", &lines, &altered, output);
    if !output.is_json() {
        let runs = if lines.len() == 1 { "run" } else { "runs" };
        output.text(&match altered.len() {
            0 => format!("{} {runs}, all as they were written\n", lines.len()),
            n => format!("{} {runs}, {n} altered: {}\n", lines.len(), altered.join(" ")),
        });
    }
    Ok(if altered.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn recover(archive: &Archive, output: &Output) -> Result<ExitCode, Failure> {
    let (left, mut failed) = crate::experiment::recover(archive, output);
    let recoveries = archive.recover()?;
    failed.extend(recoveries.iter().filter(|r| matches!(r.outcome, Recovered::Failed { .. })).map(|r| r.id.clone()));
    let recovered = recoveries.into_iter().map(|r| (r.id, r.outcome.to_string()));
    let lines: Vec<(String, String)> = left.into_iter().chain(recovered).collect();
    finish("recover", &lines, &failed, output);
    Ok(if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(4) })
}

fn reindex(archive: &Archive, output: &Output) -> Result<ExitCode, Failure> {
    let count = archive.reindex()?;
    finish("reindex", &[("index.jsonl".to_owned(), format!("{count} runs"))], &[], output);
    Ok(ExitCode::SUCCESS)
}

fn tag(
    archive: &Archive,
    run: Option<&str>,
    tags: &[String],
    delete: bool,
    output: &Output,
) -> Result<ExitCode, Failure> {
    let Some(run) = run else {
        let lines: Vec<(String, String)> = archive
            .tags()?
            .into_iter()
            .map(|(tag, ids)| (tag, ids.into_iter().collect::<Vec<_>>().join(" ")))
            .collect();
        finish("tag", &lines, &[], output);
        return Ok(ExitCode::SUCCESS);
    };
    if tags.is_empty() {
        return Err(Failure::usage("which tag?").remedy(format!("narrows runs tag {run} TAG")));
    }
    let found = archive.resolve_one(run)?;
    let id = held(archive, &found, "tags are of runs in it")?;
    for tag in tags {
        if delete {
            archive.tag_remove(tag, Some(id))?;
        } else {
            archive.tag_add(tag, id)?;
        }
    }
    let now = tags_by_run(archive)?.remove(id).unwrap_or_default();
    finish("tag", &[(id.to_owned(), now.join(" "))], &[], output);
    Ok(ExitCode::SUCCESS)
}

/// What was done to each, a line or a row each.
pub(super) fn finish(action: &str, lines: &[(String, String)], failed: &[String], output: &Output) {
    output.answer(&ActionDocument::new(action, lines).except(failed), || report::actions(lines));
}
