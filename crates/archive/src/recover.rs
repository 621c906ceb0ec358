//! After a crash.

use crate::bundle::load;
use crate::bundle_files::{self, LATENCY, RUN, SERIES, SYSTEM, WRITER_LOCK};
use crate::csv::Tolerance;
use crate::directory::Archive;
use crate::id::id_of_partial;
use crate::lock::{self, LockAttempt};
use crate::partial::{measured, publish, seal};
use crate::series::SeriesForm;
use crate::storage::open_regular;
use crate::system::Layout;
use crate::table::{Form, retain};
use crate::{ArchiveError, Result, checksums, latency, order, sweep};
use model::{Run, RunState};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What became of one partial run.
#[derive(Debug)]
pub struct Recovery {
    pub id: String,
    /// What became of it.
    pub outcome: Recovered,
}

/// What became of a partial run.
#[derive(Debug)]
pub enum Recovered {
    /// It is a run now, marked truncated: whole up to the last phase that was complete, and with the series of the next as
    /// far as it was kept.
    Truncated {
        path: PathBuf,
        /// What was lost, in words.
        remarks: Vec<String>,
    },
    /// Only its name was missing; nothing was lost.
    Complete { path: PathBuf },
    /// Nothing had been measured; it was removed.
    Empty,
    /// A living process writes it; it was left alone.
    InProgress,
    /// This file system cannot lock, so nobody can tell whether it lives; it was left alone.
    Undecided,
    /// It could not be recovered and was left as it is.
    Failed(ArchiveError),
}

impl std::fmt::Display for Recovered {
    /// One line for a person.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truncated { path, .. } => {
                write!(f, "recovered, marked truncated: {}", path.display())
            }
            Self::Complete { path } => write!(f, "was complete, only its name was missing: {}", path.display()),
            Self::Empty => write!(f, "nothing had been measured; removed"),
            Self::InProgress => write!(f, "is still being written; left alone"),
            Self::Undecided => {
                write!(f, "this file system has no locks, so nobody can tell whether it is being written; left alone")
            }
            Self::Failed(error) => write!(f, "could not be recovered, left as it is: {error}"),
        }
    }
}

/// See [`Archive::recover`].
pub(crate) fn recover(archive: &Archive) -> Result<Vec<Recovery>> {
    let runs = archive.runs_dir();
    if !archive.storage.is_directory(&runs)? {
        return Ok(Vec::new());
    }
    let _lock = archive.lock()?;
    sweep::sweep(archive);
    archive.finish_deletions()?;
    let names = archive.storage.names(&runs)?;
    Ok(names
        .iter()
        .filter_map(|n| id_of_partial(n))
        .map(str::to_owned)
        .map(|id| {
            let outcome = one(archive, &id).unwrap_or_else(Recovered::Failed);
            Recovery { id, outcome }
        })
        .collect())
}

fn one(archive: &Archive, id: &str) -> Result<Recovered> {
    let directory = archive.partial_dir(id);
    let lock = directory.join(WRITER_LOCK);
    let _writer = match lock::attempt(&lock, archive.storage.open_lock(&lock)?)? {
        LockAttempt::Held(lock) => lock,
        LockAttempt::Taken => return Ok(Recovered::InProgress),
        LockAttempt::Unknown => return Ok(Recovered::Undecided),
    };
    // SHA256SUMS is written last. A directory that agrees with it was finished, up to its name.
    if checksums::verify(&directory).is_ok_and(|v| v.is_clean() && v.intact > 0)
        && let Ok(run) = load(&directory, Some(id), Tolerance::Strict)
    {
        return Ok(Recovered::Complete { path: publish(archive, &directory, &run)? });
    }
    if open_regular(&directory.join(RUN))?.is_none() && !has_rows(&directory)? {
        archive.storage.remove_tree(&directory)?;
        return Ok(Recovered::Empty);
    }
    let mut run = load(&directory, Some(id), Tolerance::DropTail)?;
    if !measured(&run) && !has_rows(&directory)? {
        archive.storage.remove_tree(&directory)?;
        return Ok(Recovered::Empty);
    }
    run.state = RunState::Truncated;
    run.remarks.push("the program ended before the run did; recovered up to there".to_owned());
    write(archive, &directory, &run)?;
    seal(archive, &directory, order::of_bundle(&directory, id))?;
    let path = publish(archive, &directory, &run)?;
    Ok(Recovered::Truncated { path, remarks: run.remarks })
}

/// Writes the files of a run that was cut off. Its tables keep their rows, as far as these can be read and are of its phases:
/// there may be more of them than the run has in memory.
fn write(archive: &Archive, directory: &Path, run: &Run) -> Result<()> {
    let storage = &archive.storage;
    let phases = run.phases.iter().filter(|p| p.record.is_some());
    let names: HashSet<&str> = phases.map(|p| p.plan.name.as_str()).collect();
    let series = directory.join(SERIES);
    if !retain::<SeriesForm>(storage, &series, |columns, row| names.contains(row.cell(columns[0])))? {
        storage.replace(&series, SeriesForm.header().as_bytes())?;
    }
    let system = directory.join(SYSTEM);
    if !retain::<Layout>(storage, &system, |_, _| true)? {
        storage.replace(&system, Layout::default().header().as_bytes())?;
    }
    storage.replace(&directory.join(LATENCY), (latency::header() + &latency::lines(&run.phases)).as_bytes())?;
    storage.replace(&directory.join(RUN), &bundle_files::run_json(run)?)
}

/// Whether a table of phases has more than its header.
fn has_rows(directory: &Path) -> Result<bool> {
    for (name, header) in [(SERIES, SeriesForm.header()), (LATENCY, latency::header())] {
        if let Some((_, size_bytes)) = open_regular(&directory.join(name))?
            && size_bytes > header.len() as u64
        {
            return Ok(true);
        }
    }
    Ok(false)
}
