//! What the ranks of a group have in common below one directory: a file in which each has a part of its own, and a directory of
//! files whose names differ by rank.
//!
//! Rank 0 makes both under names that nobody else knows before, and the others open them. That they found the same file is known
//! by a mark that the file holds until all have looked. Where all ranks are on one machine the file loses its name at once; else
//! rank 0 removes it at the end, since a server of files takes one away whose name is gone. What a killed group leaves has no
//! lock, and is removed by the next one.

use super::own_directory::{OwnDirectory, remove_left};
use super::refusal::{Attempt, refusal};
use model::{BlockStream, Failure, StreamPlan};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use sys::Locked;

const FILE_PREFIX: &str = ".narrows-shared-";
/// Sets of files of each rank.
const SETS: u32 = 1 << 12;
/// Clients of a server of files see a new name after some seconds at the latest (nfs(5), acdirmax: 60 s for a directory that was
/// listed before).
const VISIBLE_WITHIN: Duration = Duration::from_secs(8);
const PAUSE: Duration = Duration::from_millis(50);

/// What a group shares, and which part is this rank's.
#[derive(Clone, Debug)]
pub struct Sharing {
    /// The last part of the names: hexadecimal digits, drawn for this group.
    pub name: String,
    /// What only ranks of this group know.
    pub mark: String,
    pub rank: u32,
    pub ranks: u32,
}

/// What a rank does about it; all wait for each other between two of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharingStep {
    /// Rank 0 makes the file and the directory.
    Make,
    /// The others open them.
    Find,
    /// The file is emptied, and loses its name where all ranks are on this machine.
    Begin { all_here: bool },
}

/// The file and the directory of a group, open.
#[derive(Debug)]
pub(super) struct Shared {
    sharing: Sharing,
    parent: File,
    /// The name is still there, and this rank removes it.
    named: bool,
}

impl Shared {
    /// Makes or opens the file.
    ///
    /// # Errors
    /// Something has its name; it is not found, or is another file.
    pub fn open(
        step: SharingStep,
        sharing: &Sharing,
        parent: &File,
        path: &Path,
    ) -> Result<(Self, File, OwnDirectory), Failure> {
        let name = file_name(sharing);
        let (parent, makes) = (parent.try_clone().map_err(|e| refusal(Attempt::Look, path, &e))?, sharing.rank == 0);
        let file = match step {
            SharingStep::Make => {
                remove_left_files(&parent);
                remove_left(&parent);
                make(&parent, sharing).map_err(|e| refusal(Attempt::Create, &path.join(&name), &e))?
            }
            _ => find(&parent, sharing).map_err(|e| {
                let what = format!("{}: the file that rank 0 made is not there ({e})", path.display());
                Failure::refused(what)
                    .remedy("name the same directory, on storage that all ranks share, and run as one user")
            })?,
        };
        // Where there are no locks, nobody removes what is not locked.
        let _ = sys::lock_shared(&file);
        let shared = Self { sharing: sharing.clone(), parent, named: makes };
        let directory = OwnDirectory::shared(&shared.parent, &sharing.name, makes, shared.sets());
        let directory = directory.map_err(|e| refusal(Attempt::Create, path, &e))?;
        Ok((shared, file, directory))
    }

    /// All have it open.
    ///
    /// # Errors
    /// Those of ftruncate(2) and unlink(2).
    pub fn begin(&mut self, file: &File, all_here: bool) -> io::Result<()> {
        if self.named {
            file.set_len(0)?;
            file.sync_all()?;
            if all_here {
                self.remove()?;
            }
        }
        Ok(())
    }

    fn remove(&mut self) -> io::Result<()> {
        self.named = false;
        sys::remove_file(&self.parent, file_name(&self.sharing).as_str()).map_err(io::Error::from_raw_os_error)
    }

    /// Numbers of the sets of files that are this rank's.
    fn sets(&self) -> RangeInclusive<u32> {
        let first = self.sharing.rank.saturating_mul(SETS);
        first..=first.saturating_add(SETS - 1)
    }

    /// The number by which this rank's set goes; `None` where there are too many.
    pub fn set(&self, set: u32) -> Option<u32> {
        (set < SETS).then(|| self.sets().start() + set)
    }

    /// Where what these streams write ends, where all ranks together leave no gap in it.
    pub fn interleaved_end(&self, streams: &[StreamPlan]) -> Option<u64> {
        interleaved_end(streams, u64::from(self.sharing.ranks))
    }
}

/// Where streams end that write their strides whole between them, `ranks` times as many of them in all.
pub(super) fn interleaved_end(streams: &[StreamPlan], ranks: u64) -> Option<u64> {
    let first = streams.first()?.blocks()?.block;
    let stride = first.stride_with_gaps()?;
    let whole = (streams.len() as u64).checked_mul(ranks)?.checked_mul(first.block_size_bytes)? == stride;
    let fits = |(stream, number): (&StreamPlan, u64)| {
        let Some(BlockStream { block, .. }) = stream.blocks() else { return false };
        block.only_writes()
            && block.files.is_empty()
            && block.stride_with_gaps() == Some(stride)
            && block.run_blocks == 1
            && block.block_size_bytes == first.block_size_bytes
            && block.region_start_bytes == first.region_start_bytes + number * first.block_size_bytes
    };
    let fits = streams.iter().zip(0..).all(fits);
    (whole && fits).then(|| streams.iter().filter_map(|s| Some(s.blocks()?.block.region_end())).max().unwrap_or(0))
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.named {
            // What cannot be removed now is found by the next group.
            let _ = self.remove();
        }
    }
}

fn file_name(sharing: &Sharing) -> String {
    format!("{FILE_PREFIX}{}", sharing.name)
}

fn make(parent: &File, sharing: &Sharing) -> io::Result<File> {
    let file = sys::create_own_file(parent, file_name(sharing).as_str())?;
    let marked = file.write_all_at(sharing.mark.as_bytes(), 0).and_then(|()| file.sync_all());
    match marked {
        Ok(()) => Ok(file),
        Err(e) => {
            let _ = sys::remove_file(parent, file_name(sharing).as_str());
            Err(e)
        }
    }
}

fn find(parent: &File, sharing: &Sharing) -> io::Result<File> {
    let began = Instant::now();
    loop {
        match sys::open_own_file(parent, file_name(sharing).as_str()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound && began.elapsed() < VISIBLE_WITHIN => {
                std::thread::sleep(PAUSE)
            }
            Err(e) => return Err(e),
            Ok(file) => {
                let mut mark = vec![0; sharing.mark.len()];
                file.read_exact_at(&mut mark, 0)?;
                let same = mark == sharing.mark.as_bytes();
                return if same { Ok(file) } else { Err(io::Error::other("another file has its name")) };
            }
        }
    }
}

/// Removes the files of groups that are no more: this user's, called as groups call them, and locked by nobody.
fn remove_left_files(parent: &File) {
    let mut left = Vec::new();
    // Where a directory cannot be listed, nothing is found.
    let _ = sys::each_entry(parent, |name, is_directory| {
        left.extend((!is_directory && name.starts_with(FILE_PREFIX)).then(|| name.to_owned()));
    });
    for name in left {
        if let Ok(file) = sys::open_own_file(parent, name.as_str())
            && let Ok(Locked::Held) = sys::lock_exclusively(&file, Duration::ZERO)
        {
            let _ = sys::remove_file(parent, name.as_str());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharing(rank: u32, mark: &str) -> Sharing {
        Sharing { name: "00ff".into(), mark: mark.into(), rank, ranks: 2 }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn all_open_the_file_of_the_first_and_nothing_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let parent = sys::open_directory(directory.path()).unwrap();
        let open = |step, rank| Shared::open(step, &sharing(rank, "mark"), &parent, directory.path());
        let (mut first, file, own) = open(SharingStep::Make, 0).unwrap();
        let (second, other, others) = open(SharingStep::Find, 1).unwrap();
        first.begin(&file, true).unwrap();
        assert_eq!(other.metadata().unwrap().len(), 0);
        other.write_all_at(b"x", 7).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 8);
        assert_eq!(names(directory.path()), [".narrows-files-00ff"], "the file has no name any more");
        assert_eq!((first.set(3), second.set(3), second.set(SETS)), (Some(3), Some(SETS + 3), None));
        // A file of each is removed by the one whose it is, and the directory by whoever is last.
        std::fs::write(directory.path().join(".narrows-files-00ff/3.0"), "").unwrap();
        std::fs::write(directory.path().join(".narrows-files-00ff/4099.0"), "").unwrap();
        drop((first, own));
        assert_eq!(names(&directory.path().join(".narrows-files-00ff")), ["4099.0"]);
        drop((second, others));
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn what_is_another_file_is_refused_and_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let parent = sys::open_directory(directory.path()).unwrap();
        let foreign = directory.path().join(".narrows-shared-00ff");
        std::fs::write(&foreign, "somebody's").unwrap();
        // It is nobody's by its lock; held, it is somebody's.
        let held = File::open(&foreign).unwrap();
        assert_eq!(sys::lock_shared(&held).unwrap(), Locked::Held);
        let make = Shared::open(SharingStep::Make, &sharing(0, "mark"), &parent, directory.path());
        assert!(make.unwrap_err().message.contains(".narrows-shared-00ff"));
        let find = |mark: &str| Shared::open(SharingStep::Find, &sharing(1, mark), &parent, directory.path()).map(drop);
        assert!(find("other mark").unwrap_err().message.contains("is not there"));
        std::os::unix::fs::symlink(&foreign, directory.path().join(".narrows-shared-ee")).unwrap();
        let link = Sharing { name: "ee".into(), ..sharing(1, "somebody's") };
        assert!(Shared::open(SharingStep::Find, &link, &parent, directory.path()).is_err());
        assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "somebody's");
        // What a killed group left is removed.
        drop(held);
        let (shared, _, _own) =
            Shared::open(SharingStep::Make, &sharing(0, "mark"), &parent, directory.path()).unwrap();
        drop(shared);
        assert!(!foreign.exists());
    }
}
