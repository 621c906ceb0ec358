//! A run in progress.
//!
//! After every phase the tables grow by what is new and are synced; then run.json, which names the phases, is replaced.
//! So whatever run.json names, the tables have; what they have beyond that is the phase a crash cut off, of which the series
//! and the samples come while it runs.

mod growing;

use crate::bundle_files::{self, KERNEL_LOG, LATENCY, RAW, RUN, SERIES, SUMS, SYSTEM, WRITER_LOCK};
use crate::lock::{self, Attempt, Lock};
use crate::order::{self, ORDER};
use crate::storage::read_limited;
use crate::system::Layout;
use crate::{Archive, ArchiveError, Result, checksums, index, latency, series, temporary};
use growing::Grown;
use model::Run;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How far one table got.
#[derive(Clone, Copy, Debug, Default)]
struct Table {
    /// Bytes known to be good and synced.
    length_bytes: u64,
    /// Phases, or samples, in it.
    items: usize,
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
    series: Table,
    latency: Table,
    system: Table,
    layout: Layout,
    /// What the tables have of a phase that is not done; `None` where that is nothing.
    grown: Option<Grown>,
    keep: bool,
}

impl Partial {
    pub(crate) fn begin(archive: &Archive, run: &Run) -> Result<Self> {
        bundle_files::check(run)?;
        let directory = archive.partial_dir(&run.id);
        let (writer, order) = {
            // Under the archive's lock, so that `recover` never sees the directory without its writer's lock.
            let _lock = archive.lock()?;
            temporary::sweep(archive);
            if is_taken(archive, &archive.run_dir(&run.id)) || is_taken(archive, &directory) {
                return Err(ArchiveError::Exists { id: run.id.clone(), archive: archive.directory().to_owned() });
            }
            let order = order::next(archive, &run.id)?;
            archive.storage.create_dir(&directory)?;
            let lock = directory.join(WRITER_LOCK);
            match archive.storage.open_lock(&lock).and_then(|file| lock::attempt(&lock, file)) {
                Ok(Attempt::Held(lock)) => (Some(lock), order),
                Ok(Attempt::Taken | Attempt::Unknown) => (None, order),
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
            series: Table::default(),
            latency: Table::default(),
            system: Table::default(),
            layout: Layout::default(),
            grown: None,
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
    pub fn raw_again(&mut self, name: &str, kept: &Path) -> Result<()> {
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
        let phases = |table: &Table| run.phases.get(table.items..).unwrap_or_default();
        let series = series::lines(phases(&self.series));
        self.append(SERIES, |s| &mut s.series, &series::header(), &series, run.phases.len())?;
        let latency = latency::lines(phases(&self.latency));
        self.append(LATENCY, |s| &mut s.latency, &latency::header(), &latency, run.phases.len())?;
        self.write_samples(run)?;
        if let Some(entries) = &run.kernel_log {
            storage.replace(&self.directory.join(KERNEL_LOG), bundle_files::kernel_log(entries).as_bytes())?;
        }
        storage.sync_dir(&self.directory)?;
        storage.replace(&self.directory.join(RUN), &bundle_files::run_json(run)?)?;
        self.grown = None;
        Ok(())
    }

    fn append(
        &mut self,
        name: &str,
        table: fn(&mut Self) -> &mut Table,
        header: &str,
        lines: &str,
        items: usize,
    ) -> Result<()> {
        let path = self.directory.join(name);
        let storage = self.archive.storage.clone();
        let grown = self.grown.is_some() && name != LATENCY;
        let table = table(self);
        let text = if table.length_bytes == 0 { header.to_owned() + lines } else { lines.to_owned() };
        if grown {
            let mut whole = read_limited(&path, u64::MAX)?.unwrap_or_default();
            whole.truncate(usize::try_from(table.length_bytes).unwrap_or(usize::MAX));
            whole.extend_from_slice(text.as_bytes());
            storage.replace(&path, &whole)?;
        } else if !text.is_empty() {
            storage.append(&path, table.length_bytes, text.as_bytes())?;
        }
        table.length_bytes += text.len() as u64;
        table.items = items;
        Ok(())
    }

    fn write_samples(&mut self, run: &Run) -> Result<()> {
        let new = run.samples.get(self.system.items..).unwrap_or_default();
        if self.system.length_bytes > 0 && self.layout.fits_all(new) {
            let lines = self.layout.lines(new);
            return self.append(SYSTEM, |s| &mut s.system, "", &lines, run.samples.len());
        }
        // A CPU, a disk or a sensor came that has no column yet: the file begins anew.
        let layout = Layout::of(&run.samples);
        let text = layout.header() + &layout.lines(&run.samples);
        self.archive.storage.replace(&self.directory.join(SYSTEM), text.as_bytes())?;
        self.system = Table { length_bytes: text.len() as u64, items: run.samples.len() };
        self.layout = layout;
        Ok(())
    }

    /// Writes all files anew from the whole run, syncs them, and gives the bundle its name. Returns its directory.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] (the partial bundle stays, for a later [`Archive::recover`]), [`ArchiveError::Unstorable`].
    pub fn finish(mut self, run: &Run) -> Result<PathBuf> {
        self.check(run)?;
        self.keep = true;
        // Given once more: it is the end that counts.
        let order = {
            let _lock = self.archive.lock()?;
            order::next(&self.archive, &run.id)?
        };
        complete(&self.archive, &self.directory, run, order)?;
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

/// Whether a name is in use, by whatever.
fn is_taken(archive: &Archive, path: &Path) -> bool {
    !matches!(archive.storage.directory(path), Ok(None))
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

/// Writes all files and their checksums. Once SHA256SUMS is there, the bundle is whole and only lacks its name.
pub(crate) fn complete(archive: &Archive, directory: &Path, run: &Run, order: u64) -> Result<()> {
    let storage = &archive.storage;
    storage.replace(&directory.join(ORDER), &order::file(order))?;
    for (name, content) in bundle_files::all(run)? {
        storage.replace(&directory.join(name), &content)?;
    }
    storage.replace(&directory.join(SUMS), checksums::text(directory)?.as_bytes())
}

/// Gives a whole bundle its name and enters it in the index. The archive's lock must be held.
pub(crate) fn publish(archive: &Archive, directory: &Path, run: &Run) -> Result<PathBuf> {
    let storage = &archive.storage;
    let path = archive.run_dir(&run.id);
    if is_taken(archive, &path) {
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
