//! A run in progress.
//!
//! Its tables are streams: of a phase that takes long its rows come while it runs, of others when they are done, and they are
//! synced. After every phase run.json, which names the phases, is replaced. So whatever run.json names, the tables have; what
//! they have beyond that is the phase a crash cut off.

mod growing;

use crate::bundle_files::{self, KERNEL_LOG, LATENCY, RAW, RUN, SERIES, SUMS, SYSTEM, WRITER_LOCK};
use crate::directory::Archive;
use crate::lock::{self, Lock, LockAttempt};
use crate::order::{self, ORDER};
use crate::series::SeriesForm;
use crate::system::Layout;
use crate::table::{PendingRows, Table};
use crate::{ArchiveError, Result, checksums, index, latency, sweep};
use model::{Interval, PhaseRun, Run, SystemSample};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of the run the tables have.
#[derive(Clone, Copy, Debug, Default)]
struct StoredRows {
    /// Phases in series.csv.
    series: usize,
    /// Phases in latency.csv.
    latency: usize,
    /// Bytes of latency.csv that are good and synced.
    latency_bytes: u64,
    /// Samples of the run that system.csv has, or had before it was thinned.
    samples: usize,
}

/// A run in progress: `runs/.<id>.partial/`. Its lock tells other processes that the run lives.
///
/// Dropping it before anything was measured removes it; after that it stays, for [`Archive::recover`].
#[derive(Debug)]
pub struct Partial {
    archive: Archive,
    id: String,
    directory: PathBuf,
    _writer: Option<Lock>,
    pub(crate) series: Table<SeriesForm>,
    pub(crate) system: Table<Layout>,
    stored: StoredRows,
    keep: bool,
}

impl Partial {
    pub(crate) fn begin(archive: &Archive, run: &Run) -> Result<Self> {
        bundle_files::check(run)?;
        let directory = archive.partial_dir(&run.id);
        let (writer, order) = {
            // Under the archive's lock, so that `recover` never sees the directory without its writer's lock.
            let _lock = archive.lock()?;
            sweep::sweep(archive);
            if is_in_use(archive, &archive.run_dir(&run.id)) || is_in_use(archive, &directory) {
                return Err(ArchiveError::Exists { id: run.id.clone(), archive: archive.directory().to_owned() });
            }
            let order = order::next(archive, &run.id, || index::highest(archive))?;
            archive.storage.create_dir(&directory)?;
            let lock = directory.join(WRITER_LOCK);
            match archive.storage.open_lock(&lock).and_then(|file| lock::attempt(&lock, file)) {
                Ok(LockAttempt::Held(lock)) => (Some(lock), order),
                Ok(LockAttempt::Taken | LockAttempt::Unknown) => (None, order),
                Err(e) => {
                    // Nothing is in it; the first error is the one that tells.
                    let _ = archive.storage.remove_tree(&directory);
                    return Err(e);
                }
            }
        };
        let mut partial = Self {
            archive: archive.clone(),
            id: run.id.clone(),
            directory,
            _writer: writer,
            series: Table::new(SeriesForm),
            system: Table::new(Layout::default()),
            stored: StoredRows::default(),
            keep: false,
        };
        partial.write(run)?;
        archive.storage.replace(&partial.directory.join(ORDER), &order::file(order))?;
        partial.keep = measured(run);
        Ok(partial)
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it is written until it is finished.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes durable what a phase brought. `run` is the whole run so far; tables grow by the phases and samples that
    /// were not there last time, run.json is replaced. After an error (a full disk) the next call, or
    /// [`Partial::finish`], makes up for it.
    ///
    /// # Errors
    /// [`ArchiveError::Io`], [`ArchiveError::Unstorable`].
    pub fn phase_done(&mut self, run: &Run) -> Result<()> {
        self.check(run)?;
        self.keep |= measured(run);
        self.write(run)
    }

    /// The run holds fewer samples now than when [`Partial::phase_done`] last stored all of them: these are stored.
    pub fn run_was_thinned(&mut self, run: &Run) {
        self.stored.samples = run.samples.len();
    }

    /// Keeps what a foreign tool printed, byte for byte, as `raw/<name>`; gives where it will lie in the finished bundle.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]; [`ArchiveError::Unstorable`] for a name that is not one plain file's.
    pub fn raw(&mut self, name: &str, content: &mut dyn Read) -> Result<PathBuf> {
        let path = self.raw_path(name)?;
        self.archive.storage.replace_from(&path, content)?;
        Ok(self.archive.run_dir(&self.id).join(RAW).join(name))
    }

    /// The same of a file that another bundle of this archive keeps: where the file system can, both share its content.
    ///
    /// # Errors
    /// As [`Partial::raw`].
    pub fn link_raw(&mut self, name: &str, kept: &Path) -> Result<()> {
        let path = self.raw_path(name)?;
        self.archive.storage.link(kept, &path)
    }

    fn raw_path(&self, name: &str) -> Result<PathBuf> {
        let plain =
            !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && !name.contains(['/', '\\', '\0', '\n']);
        if !plain {
            let reason = format!("'{}' cannot be the name of a file in {RAW}/", name.escape_default());
            return Err(ArchiveError::Unstorable { id: self.id.clone(), reason });
        }
        let directory = self.directory.join(RAW);
        self.archive.storage.create_dirs(&directory)?;
        Ok(directory.join(name))
    }

    fn check(&self, run: &Run) -> Result<()> {
        bundle_files::check(run)?;
        if run.id == self.id {
            return Ok(());
        }
        let reason = format!("it was begun as {}", self.id);
        Err(ArchiveError::Unstorable { id: run.id.clone(), reason })
    }

    fn write(&mut self, run: &Run) -> Result<()> {
        let storage = self.archive.storage.clone();
        self.write_series(&run.phases)?;
        self.write_latency(&run.phases)?;
        self.write_samples(run)?;
        if let Some(entries) = &run.kernel_log {
            storage.replace(&self.directory.join(KERNEL_LOG), bundle_files::kernel_log(entries).as_bytes())?;
        }
        storage.sync_dir(&self.directory)?;
        storage.replace(&self.directory.join(RUN), &bundle_files::run_json(run)?)
    }

    fn write_series(&mut self, phases: &[PhaseRun]) -> Result<()> {
        let storage = &self.archive.storage;
        let path = self.directory.join(SERIES);
        let mut new = phases.get(self.stored.series..).unwrap_or_default();
        if self.series.grows() {
            match new.split_first() {
                Some((first, rest)) if self.series.grows_by(&first.plan.name) => {
                    self.series.end(storage, &path, &first.plan.name, intervals(first))?;
                    self.stored.series += 1;
                    new = rest;
                }
                _ => self.series.forget(storage, &path)?,
            }
        }
        self.series.append(storage, &path, &new.iter().map(part_of).collect::<Vec<_>>())?;
        self.stored.series = phases.len();
        Ok(())
    }

    fn write_latency(&mut self, phases: &[PhaseRun]) -> Result<()> {
        let stored = &mut self.stored;
        let mut text = latency::lines(phases.get(stored.latency..).unwrap_or_default());
        if stored.latency_bytes == 0 {
            text.insert_str(0, &latency::header());
        }
        if !text.is_empty() {
            self.archive.storage.append(&self.directory.join(LATENCY), stored.latency_bytes, text.as_bytes())?;
        }
        stored.latency_bytes += text.len() as u64;
        stored.latency = phases.len();
        Ok(())
    }

    fn write_samples(&mut self, run: &Run) -> Result<()> {
        let mut new = run.samples.get(self.stored.samples..).unwrap_or_default();
        self.fit(new)?;
        let storage = &self.archive.storage;
        let path = self.directory.join(SYSTEM);
        if let Some(tally) = self.system.growing() {
            // What was taken after the phase stands behind it.
            let last_ns = tally.map(|(_, last_ns)| last_ns);
            let behind = new.iter().rposition(|s| Some(s.at_ns) == last_ns).map_or(new.len(), |last| last + 1);
            let (during, after) = new.split_at(behind);
            self.system.end(storage, &path, "", during)?;
            self.stored.samples += during.len();
            new = after;
        }
        self.system.append(storage, &path, &[PendingRows { phase: "", items: new, ended: true }])?;
        self.stored.samples = run.samples.len();
        Ok(())
    }

    /// Makes room for a CPU, a disk or a sensor that has no column yet: the file begins anew.
    fn fit(&mut self, samples: &[SystemSample]) -> Result<u64> {
        if self.system.form().fits_all(samples) {
            return Ok(0);
        }
        let layout = self.system.form().with(samples);
        self.system.reform(&self.archive.storage, &self.directory.join(SYSTEM), layout)
    }

    /// Writes what is not written yet and the checksums, and gives the bundle its name. Returns its directory.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] (the partial bundle stays, for a later [`Archive::recover`]), [`ArchiveError::Unstorable`].
    pub fn finish(mut self, run: &Run) -> Result<PathBuf> {
        self.check(run)?;
        self.keep = true;
        // Given once more: it is the end that counts.
        let order = {
            let _lock = self.archive.lock()?;
            order::next(&self.archive, &run.id, || index::highest(&self.archive))?
        };
        self.write(run)?;
        seal(&self.archive, &self.directory, order)?;
        let _lock = self.archive.lock()?;
        publish(&self.archive, &self.directory, run)
    }

    /// Removes it: nothing was measured, or nobody wants it.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn discard(mut self) -> Result<()> {
        self.keep = true;
        self.archive.storage.remove_tree(&self.directory)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.keep {
            // Nobody is left to tell; `recover` clears it away later.
            let _ = self.archive.storage.remove_tree(&self.directory);
        }
    }
}

fn intervals(phase: &PhaseRun) -> &[Interval] {
    phase.record.as_ref().map_or(&[], |record| &record.intervals)
}

fn part_of(phase: &PhaseRun) -> PendingRows<'_, SeriesForm> {
    PendingRows { phase: &phase.plan.name, items: intervals(phase), ended: true }
}

/// Whether a name is in use, by whatever.
fn is_in_use(archive: &Archive, path: &Path) -> bool {
    !matches!(archive.storage.is_directory(path), Ok(false))
}

/// Removes what belongs to the writing of a bundle: the writer's lock, and files that never got their name.
fn clear_transient(archive: &Archive, directory: &Path) -> Result<()> {
    for folder in [directory.join(RAW), directory.to_owned()] {
        let names = match archive.storage.names(&folder) {
            // A file of that name is kept as it is.
            Err(_) if folder != directory => continue,
            names => names?,
        };
        for name in names.iter().filter(|n| bundle_files::is_transient(n)) {
            archive.storage.remove_file(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Whether there is anything in it that took time to get.
pub(crate) fn measured(run: &Run) -> bool {
    run.phases.iter().any(|p| p.record.is_some())
}

/// Writes the checksums: from then on the bundle is whole and only lacks its name.
pub(crate) fn seal(archive: &Archive, directory: &Path, order: u64) -> Result<()> {
    archive.storage.replace(&directory.join(ORDER), &order::file(order))?;
    archive.storage.replace(&directory.join(SUMS), checksums::text(directory)?.as_bytes())
}

/// Gives a whole bundle its name and enters it in the index. The archive's lock must be held.
pub(crate) fn publish(archive: &Archive, directory: &Path, run: &Run) -> Result<PathBuf> {
    let storage = &archive.storage;
    let path = archive.run_dir(&run.id);
    if is_in_use(archive, &path) {
        return Err(ArchiveError::Exists { id: run.id.clone(), archive: archive.directory().to_owned() });
    }
    clear_transient(archive, directory)?;
    storage.sync_dir(directory)?;
    storage.rename(directory, &path)?;
    storage.sync_dir(&archive.runs_dir())?;
    // The bundle is safe. The index is a cache that mends itself, so its trouble is not the run's.
    let _ = index::append(archive, run, order::of_bundle(&path, &run.id));
    Ok(path)
}
