//! Whether others wrote to the file of somebody's that a run only reads: on shared storage no counter of this machine shows it, the file's
//! own size and times do. They are those of the server, and only compared with themselves: its clock may be another.

use model::{PhasePlan, Reason, Run, TargetKind};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// What tells whether a file was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    inode: u64,
    bytes: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl FileState {
    /// Of a file that the phase only reads; asked of the server, not of a cache.
    pub fn of_read(run: &Run, plan: &PhasePlan) -> Option<Self> {
        let reads = run.target.kind == TargetKind::File && plan.moves_data() && !plan.is_write();
        run.target.path.as_deref().filter(|_| reads).and_then(Self::of)
    }

    fn of(path: &str) -> Option<Self> {
        let seen = statx(CWD, path, AtFlags::STATX_FORCE_SYNC, StatxFlags::BASIC_STATS).ok()?;
        Some(Self {
            inode: seen.stx_ino,
            bytes: seen.stx_size,
            modified: (seen.stx_mtime.tv_sec, seen.stx_mtime.tv_nsec),
            changed: (seen.stx_ctime.tv_sec, seen.stx_ctime.tv_nsec),
        })
    }

    /// What has to be known of a phase that began with this file.
    pub fn changed_since(self, run: &Run) -> Option<Reason> {
        self.changed_to(Self::of(run.target.path.as_deref()?)?)
    }

    /// Another file of that name is not the one that is open.
    fn changed_to(self, now: Self) -> Option<Reason> {
        (now.inode == self.inode && now != self)
            .then_some(Reason::ChangedByOthers { was_bytes: self.bytes, is_bytes: now.bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_that_somebody_writes_to_is_another_state() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("f");
        std::fs::write(&path, [1; 4096]).expect("a file");
        let state = || FileState::of(path.to_str().expect("a path")).expect("it is there");
        let before = state();
        assert_eq!(before.changed_to(state()), None);
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("it opens");
        file.write_all(&[2; 512]).expect("it is written");
        drop(file);
        let reason = before.changed_to(state()).expect("it is longer");
        assert_eq!(reason, Reason::ChangedByOthers { was_bytes: 4096, is_bytes: 4608 });
        assert!(reason.text().contains("from 4096 to 4608 bytes"), "{}", reason.text());
        // Another file of that name is not the one that is read.
        let before = state();
        let other = directory.path().join("g");
        std::fs::write(&other, [3; 16]).expect("a file");
        std::fs::rename(&other, &path).expect("it takes the name");
        assert_eq!(before.changed_to(state()), None);
    }
}
