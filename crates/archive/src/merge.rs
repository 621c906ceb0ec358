//! Taking over the bundles of another archive: each as it is, checked before and after it is copied, and none over another.

use crate::bundle::summary;
use crate::bundle_files::SUMS;
use crate::checksums::{self, verify};
use crate::directory::Archive;
use crate::id::deleted_name;
use crate::lock::Lock;
use crate::resolve::RunRef;
use crate::storage::{open_regular, read_limited};
use crate::{ArchiveError, Result, index, is_run_id, order, tags};
use std::collections::BTreeSet;
use std::fmt;
use std::io::Read as _;
use std::path::Path;

/// More is no bundle that is taken over unseen.
const BUNDLE_LIMIT_BYTES: u64 = 4 << 30;
/// More lines are not compared.
const SUMS_LIMIT_BYTES: u64 = 16 << 20;
/// Where bundles from other machines lie until they are checked.
const INCOMING: &str = "incoming";

/// What came of a bundle.
#[derive(Debug)]
pub enum Adopted {
    /// It is in this archive now.
    Added,
    /// This archive has the same run, byte for byte.
    Duplicate,
    /// This archive has another run of this id, which stays.
    Conflict,
    /// It is not what it was when it was finished, or cannot be read.
    Refused(String),
}

impl fmt::Display for Adopted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added => f.write_str("added"),
            Self::Duplicate => f.write_str("already here"),
            Self::Conflict => f.write_str("another run of this id is here, and stays"),
            Self::Refused(why) => write!(f, "not taken: {why}"),
        }
    }
}

impl Archive {
    /// Copies a bundle into this archive.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] where this archive cannot be written; what is wrong with the bundle is in [`Adopted`].
    pub fn adopt(&self, bundle: &RunRef) -> Result<Adopted> {
        let refused = |e: ArchiveError| Ok(Adopted::Refused(e.to_string()));
        if !is_run_id(&bundle.id) {
            return Ok(Adopted::Refused("its name is not a run's id".to_owned()));
        }
        let own = self.run_dir(&bundle.id);
        if self.storage.is_directory(&own)? {
            let sums = |directory: &Path| read_limited(&directory.join(SUMS), SUMS_LIMIT_BYTES).ok().flatten();
            let (ours, theirs) = (sums(&own), sums(&bundle.path));
            return Ok(if ours.is_some() && ours == theirs { Adopted::Duplicate } else { Adopted::Conflict });
        }
        if let Err(error) = summary(&bundle.path, Some(&bundle.id)) {
            return refused(error);
        }
        let found = match verify(&bundle.path) {
            Ok(found) if found.is_clean() => checksums::names(&bundle.path)?,
            Ok(found) => return Ok(Adopted::Refused(found.to_string())),
            Err(error) => return refused(error),
        };
        let _lock = self.lock()?;
        // What a crash leaves under this name goes with the next recovery, as the rest of a deletion does.
        let staged = self.runs_dir().join(deleted_name(&bundle.id));
        self.storage.remove_tree(&staged)?;
        self.storage.create_dir(&staged)?;
        let copied = self.copy(&bundle.path, &staged, &found).and_then(|()| verify(&staged));
        match copied {
            Ok(copied) if copied.is_clean() => {
                self.storage.rename(&staged, &own)?;
                self.storage.sync_dir(&self.runs_dir())?;
                Ok(Adopted::Added)
            }
            Ok(copied) => {
                self.storage.remove_tree(&staged)?;
                Ok(Adopted::Refused(format!("it changed while it was copied: {copied}")))
            }
            Err(error) => {
                let _ = self.storage.remove_tree(&staged);
                if error.is_full() { Err(error) } else { refused(error) }
            }
        }
    }

    fn copy(&self, from: &Path, to: &Path, names: &BTreeSet<String>) -> Result<()> {
        let mut left = BUNDLE_LIMIT_BYTES;
        for name in names.iter().map(String::as_str).chain([SUMS]) {
            let (source, target) = (from.join(name), to.join(name));
            let Some((file, size_bytes)) = open_regular(&source)? else {
                return Err(ArchiveError::corrupt(&source, None, "it is gone"));
            };
            if size_bytes > left {
                return Err(ArchiveError::TooLarge { path: source, size_bytes, limit_bytes: left });
            }
            left -= size_bytes;
            if let Some(parent) = target.parent().filter(|parent| *parent != to) {
                self.storage.create_dirs(parent)?;
            }
            self.storage.replace_unsynced(&target, &mut file.take(size_bytes))?;
        }
        self.storage.sync_dir(to)
    }

    /// Ends a merge: brings the index up to date and the order of runs behind what was added, and takes over the tags that the other
    /// archive gave to these runs.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]; [`ArchiveError::Corrupt`] if the tags of one of both cannot be understood.
    pub fn end_merge(&self, other: &Archive, added: &BTreeSet<String>) -> Result<()> {
        if added.is_empty() {
            return Ok(());
        }
        index::list(self)?;
        {
            let _lock = self.lock()?;
            order::recount(self, index::highest(self)?)?;
        }
        let theirs = tags::read(other)?;
        tags::change(self, |ours| {
            for (tag, ids) in theirs.iter().filter(|(tag, _)| tags::check(tag).is_ok()) {
                let of_added: Vec<String> = ids.intersection(added).cloned().collect();
                ours.entry(tag.clone()).or_default().extend(of_added);
            }
        })
    }

    /// An empty archive inside of this one for bundles that come from another machine, gone again when it is dropped. `None` where
    /// another process has it.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn incoming(&self) -> Result<Option<Incoming>> {
        let Some(lock) = self.lock_side_file(&format!("{INCOMING}.lock"))? else { return Ok(None) };
        let directory = self.side_path(INCOMING);
        self.storage.remove_tree(&directory)?;
        let inner = Self::open(&directory);
        self.storage.create_dirs(&inner.runs_dir())?;
        Ok(Some(Incoming { outer: self.clone(), inner, _lock: lock }))
    }
}

/// See [`Archive::incoming`].
pub struct Incoming {
    outer: Archive,
    inner: Archive,
    _lock: Lock,
}

impl Incoming {
    pub fn archive(&self) -> &Archive {
        &self.inner
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // What is left goes at the next merge.
        let _ = self.outer.storage.remove_tree(self.inner.directory());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn with_runs(seeds: &[u64]) -> (tempfile::TempDir, Archive) {
        let directory = tempfile::tempdir().unwrap();
        let archive = Archive::open(directory.path().join("archive"));
        for seed in seeds {
            archive.save(&run(*seed)).unwrap();
        }
        (directory, archive)
    }

    fn run(seed: u64) -> model::Run {
        let mut run = test_runs::drawn::measured_run(seed, 2);
        run.id = format!("20260101T0000{:02}Z-0000abcd", seed % 60);
        run
    }

    fn bundles(archive: &Archive) -> Vec<RunRef> {
        archive.ids().unwrap().into_iter().map(|id| RunRef { path: archive.run_dir(&id), id }).collect()
    }

    #[test]
    fn bundles_are_taken_over_once_with_their_tags_and_none_over_another() {
        let (_a, ours) = with_runs(&[1]);
        let (_b, theirs) = with_runs(&[1, 2, 3]);
        let all = bundles(&theirs);
        theirs.tag_add("good", &all[1].id).unwrap();
        theirs.tag_add("good", &all[0].id).unwrap();
        // The first was made anew there: its SHA256SUMS differ from ours.
        fs::write(all[0].path.join("order"), "99\n").unwrap();
        fs::write(all[0].path.join(SUMS), checksums::text(&all[0].path).unwrap()).unwrap();
        // The third was altered.
        fs::write(all[2].path.join("system.csv"), "x").unwrap();
        let said: Vec<String> = all.iter().map(|b| ours.adopt(b).unwrap().to_string()).collect();
        assert_eq!(said[..2], ["another run of this id is here, and stays", "added"]);
        assert!(said[2].starts_with("not taken: ") && said[2].contains("system.csv"), "{said:?}");
        ours.end_merge(&theirs, &[all[1].id.clone()].into()).unwrap();
        assert_eq!(ours.list().unwrap().len(), 2);
        assert_eq!(ours.tags().unwrap()["good"], [all[1].id.clone()].into());
        assert!(matches!(ours.adopt(&all[1]).unwrap(), Adopted::Duplicate));
        assert_eq!(ours.load(&all[1].id).unwrap(), theirs.load(&all[1].id).unwrap());
        assert!(ours.verify(&all[1].id).unwrap().is_clean());
        // A run that is made now comes after all that were added.
        let before = ours.list().unwrap().iter().map(|e| e.order).max().unwrap();
        ours.save(&run(4)).unwrap();
        assert!(ours.list().unwrap().iter().any(|e| e.order > before));
    }

    #[test]
    fn what_leads_elsewhere_is_not_followed_and_nothing_is_left_of_it() {
        let (_a, ours) = with_runs(&[1]);
        let (outside, theirs) = with_runs(&[2]);
        let bundle = bundles(&theirs).remove(0);
        let secret = outside.path().join("secret");
        fs::write(&secret, "x").unwrap();
        fs::remove_file(bundle.path.join("series.csv")).unwrap();
        std::os::unix::fs::symlink(&secret, bundle.path.join("series.csv")).unwrap();
        assert!(matches!(ours.adopt(&bundle).unwrap(), Adopted::Refused(_)));
        let wrong = RunRef { id: "../../x".into(), path: bundle.path.clone() };
        assert!(matches!(ours.adopt(&wrong).unwrap(), Adopted::Refused(_)));
        assert_eq!(fs::read_dir(ours.runs_dir()).unwrap().count(), 1, "nothing is left of what was not taken");
        let incoming = ours.incoming().unwrap().unwrap();
        assert!(ours.incoming().unwrap().is_none(), "one at a time");
        let path = incoming.archive().directory().to_owned();
        assert!(path.is_dir());
        drop(incoming);
        assert!(!path.exists());
    }
}
