//! Reads a bundle directory back into a run.

use crate::bundle_files::{KERNEL_LOG, LATENCY, PHASE_LIMIT, RUN, SERIES, SYSTEM};
use crate::csv::{Dropped, Tolerance};
use crate::latency::Owner;
use crate::series::Series;
use crate::storage::{open_regular, read_limited};
use crate::upgrade::upgraded;
use crate::{ArchiveError, Result, latency, series, system};
use model::{PhaseRun, Run, SystemSample};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// More than any run.json of weeks; parsed, it takes a few times as much.
const RUN_LIMIT_BYTES: u64 = 256 << 20;
const KERNEL_LOG_LIMIT_BYTES: u64 = 256 << 20;

/// What is looked at before memory is spent on the rest.
#[derive(Deserialize)]
struct Outline {
    schema: String,
    id: String,
    phases: Vec<IgnoredAny>,
}

fn json<'a, T: Deserialize<'a>>(path: &Path, content: &'a [u8]) -> Result<T> {
    serde_json::from_slice(content).map_err(|e| ArchiveError::corrupt(path, Some(e.line() as u64), e.to_string()))
}

/// run.json's bytes, checked for schema, size and (where given) id.
fn run_json(directory: &Path, expected_id: Option<&str>) -> Result<Vec<u8>> {
    let path = directory.join(RUN);
    let content =
        read_limited(&path, RUN_LIMIT_BYTES)?.ok_or_else(|| ArchiveError::corrupt(&path, None, "it is missing"))?;
    let outline: Outline = json(&path, &content)?;
    if outline.schema != Run::SCHEMA {
        return Err(ArchiveError::UnknownSchema { path, found: outline.schema, known: Run::SCHEMA });
    }
    if outline.phases.len() > PHASE_LIMIT {
        return Err(ArchiveError::corrupt(&path, None, format!("it has more than {PHASE_LIMIT} phases")));
    }
    if expected_id.is_some_and(|id| id != outline.id) {
        let reason = format!("it belongs to the run '{}', not to this directory", outline.id);
        return Err(ArchiveError::corrupt(&path, None, reason));
    }
    // It becomes the name of files.
    if !crate::is_run_id(&outline.id) {
        return Err(ArchiveError::corrupt(&path, None, "its id is none of a run"));
    }
    Ok(content)
}

/// Loads the bundle in `directory`, which need not lie in an archive.
///
/// Tables that are missing leave their part empty and a remark in the run.
///
/// # Errors
/// [`ArchiveError::Corrupt`] with file and line, [`ArchiveError::TooLarge`], [`ArchiveError::UnknownSchema`],
/// [`ArchiveError::Io`].
pub fn load_bundle(directory: &Path) -> Result<Run> {
    load(directory, None, Tolerance::Strict)
}

/// Loads a bundle; with [`Tolerance::DropTail`], tables that a crash cut off are read up to there.
pub(crate) fn load(directory: &Path, expected_id: Option<&str>, tolerance: Tolerance) -> Result<Run> {
    let mut run: Run = json(&directory.join(RUN), &upgraded(run_json(directory, expected_id)?))?;
    let mut remarks = Vec::new();
    load_series(directory, &mut run, tolerance, &mut remarks)?;
    load_latency(directory, &mut run, tolerance, &mut remarks)?;
    load_samples(directory, &mut run, tolerance, &mut remarks)?;
    run.kernel_log = kernel_log(directory)?;
    run.remarks.append(&mut remarks);
    run.bound_memory();
    Ok(run)
}

fn kernel_log(directory: &Path) -> Result<Option<Vec<String>>> {
    let Some(content) = read_limited(&directory.join(KERNEL_LOG), KERNEL_LOG_LIMIT_BYTES)? else { return Ok(None) };
    // What the kernel prints need not be UTF-8.
    Ok(Some(String::from_utf8_lossy(&content).split_terminator('\n').map(str::to_owned).collect()))
}

/// run.json alone: metrics, plan and machine, without series, histograms, samples and kernel messages.
pub(crate) fn summary(directory: &Path, expected_id: Option<&str>) -> Result<Run> {
    json(&directory.join(RUN), &upgraded(run_json(directory, expected_id)?))
}

/// Opens a table; one that is missing is a remark.
fn table(directory: &Path, name: &str, remarks: &mut Vec<String>) -> Result<Option<BufReader<File>>> {
    let opened = open_regular(&directory.join(name))?;
    if opened.is_none() {
        remarks.push(format!("{name} is missing from the bundle"));
    }
    Ok(opened.map(|(file, _)| BufReader::with_capacity(64 << 10, file)))
}

fn note(name: &str, dropped: Dropped, remarks: &mut Vec<String>) {
    if let Some((line, reason)) = dropped {
        remarks.push(format!("{name} was dropped from line {line} on: {reason}"));
    }
}

/// A table speaks of phases that run.json does not know: the phase that a crash cut off, or a damaged bundle.
fn unknown_phases(
    directory: &Path,
    name: &str,
    phases: Vec<String>,
    tolerance: Tolerance,
    remarks: &mut Vec<String>,
) -> Result<()> {
    let Some(first) = phases.first() else { return Ok(()) };
    if tolerance == Tolerance::Strict {
        let reason = format!("it speaks of a phase '{first}' that {RUN} does not record");
        return Err(ArchiveError::corrupt(&directory.join(name), None, reason));
    }
    remarks.push(format!("{name}: the lines of '{}' were dropped, the phase was not complete", phases.join("', '")));
    Ok(())
}

/// A phase of the plan of which only the series came into the archive: the program ended in it.
fn cut_off(run: &mut Run, phases: &mut Series, remarks: &mut Vec<String>) {
    let done: HashSet<String> = run.phases.iter().map(|p| p.plan.name.clone()).collect();
    for plan in run.plan.phases.iter().filter(|p| !done.contains(&p.name)) {
        let series = phases.remove(&plan.name);
        let phase = series.and_then(|series| PhaseRun::cut_off(plan.clone(), series.into_items()));
        let Some(phase) = phase else { continue };
        let ended_ns = phase.record.as_ref().map_or(0, |r| r.ended_ns);
        remarks.push(format!(
            "{} was cut off after {:.1} s of the run: its series up to there and the samples are all that was kept of it; what \
             it wrote is not in the bytes written",
            plan.name,
            ended_ns as f64 / 1e9
        ));
        run.duration_ns = run.duration_ns.max(ended_ns);
        run.phases.push(phase);
    }
}

fn load_series(directory: &Path, run: &mut Run, tolerance: Tolerance, remarks: &mut Vec<String>) -> Result<()> {
    let Some(content) = table(directory, SERIES, remarks)? else { return Ok(()) };
    let (mut phases, dropped) = series::read(&directory.join(SERIES), content, tolerance)?;
    note(SERIES, dropped, remarks);
    for phase in &mut run.phases {
        if let Some(record) = &mut phase.record
            && let Some(series) = phases.remove(&phase.plan.name)
        {
            record.intervals = series.into_items();
        }
    }
    if tolerance == Tolerance::DropTail {
        cut_off(run, &mut phases, remarks);
    }
    unknown_phases(directory, SERIES, phases.into_keys().collect(), tolerance, remarks)
}

fn load_latency(directory: &Path, run: &mut Run, tolerance: Tolerance, remarks: &mut Vec<String>) -> Result<()> {
    let Some(content) = table(directory, LATENCY, remarks)? else { return Ok(()) };
    let mut asked = HashSet::new();
    for (phase, record) in run.phases.iter().filter_map(|p| p.record.as_ref().map(|r| (&p.plan.name, r))) {
        asked.insert(Owner { phase: phase.clone(), side: None });
        for (place, stream) in record.streams.iter().enumerate() {
            asked.extend(
                stream.directions.iter().map(|d| Owner { phase: phase.clone(), side: Some((place, d.direction)) }),
            );
        }
    }
    let path = directory.join(LATENCY);
    let (mut histograms, unknown, dropped) = latency::read(&path, content, tolerance, |owner| asked.contains(owner))?;
    note(LATENCY, dropped, remarks);
    for phase in &mut run.phases {
        let Some(record) = &mut phase.record else { continue };
        let mut take = |side| histograms.remove(&Owner { phase: phase.plan.name.clone(), side });
        if let Some(histogram) = take(None) {
            record.latency = histogram;
        }
        for (place, stream) in record.streams.iter_mut().enumerate() {
            for one in &mut stream.directions {
                if let Some(histogram) = take(Some((place, one.direction))) {
                    one.latency = histogram;
                }
            }
        }
    }
    let recorded = |phase: &str| run.phases.iter().any(|p| p.plan.name == phase && p.record.is_some());
    let name = |o: &Owner| if recorded(&o.phase) { o.to_string() } else { o.phase.clone() };
    let mut names: Vec<String> = unknown.iter().map(name).collect();
    names.sort_unstable();
    names.dedup();
    unknown_phases(directory, LATENCY, names, tolerance, remarks)
}

pub(crate) fn load_samples(
    directory: &Path,
    run: &mut Run,
    tolerance: Tolerance,
    remarks: &mut Vec<String>,
) -> Result<()> {
    let Some(content) = table(directory, SYSTEM, remarks)? else { return Ok(()) };
    let thin = |samples: &mut Vec<SystemSample>| {
        std::mem::swap(&mut run.samples, samples);
        run.bound_memory();
        std::mem::swap(&mut run.samples, samples);
    };
    let (samples, dropped) = system::read(&directory.join(SYSTEM), content, tolerance, thin)?;
    note(SYSTEM, dropped, remarks);
    run.samples = samples;
    Ok(())
}
