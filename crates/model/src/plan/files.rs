//! A stream of operations on files: what is done to which of them.

use super::{PhasePlan, StopRule, StreamKind, StreamPlan, is_default};
use crate::bytes_text;
use serde::{Deserialize, Serialize};

/// The largest file that is created; larger ones are written by streams of blocks.
const MOST_FILE_BYTES: u64 = 64 << 20;
/// Files of one stream at most: what the largest file systems have inodes for.
const MOST_FILES: u64 = 1 << 32;

/// Operations on files or directories, each one of its own, in a directory that the run makes below the target and removes
/// with all that it made in it. One call at a time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesPlan {
    /// What is done to each.
    pub file_operation: FileOperation,
    /// How many there are.
    pub file_count: u64,
    /// Streams with the same number have the same files, also in later phases.
    pub file_set: u32,
    /// Bytes that are written to each file when it is created.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_bytes: u64,
    /// Bytes of the smallest, where their lengths differ: each is drawn from there up to `file_bytes`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_bytes_least: Option<u64>,
    /// What is created.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_kind: FileKind,
    /// In a random order; else in the order of their names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_shuffle: bool,
}

/// What stands under the name that is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A file.
    #[default]
    File,
    /// One more name of a file that all of them are names of (link(2)).
    HardLink,
    /// A symbolic link that leads nowhere (symlink(2)).
    Symlink,
}

/// What is done to a file or a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOperation {
    /// Opens a new file (O_CREAT, O_EXCL), writes its data if it has some, syncs it if that is asked for, closes it.
    #[default]
    Create,
    /// Looks its attributes up by its name.
    Stat,
    /// Opens it for reading, and closes it.
    Open,
    /// Looks its attributes up and, where it is not empty, opens it, reads all of it, and closes it.
    ReadFile,
    /// Removes it.
    Delete,
    /// Makes a directory.
    Mkdir,
    /// Looks the attributes of a directory up by its name.
    StatDir,
    /// Removes an empty directory.
    Rmdir,
}

impl FileOperation {
    /// All of them, with the names by which they are asked for.
    pub const NAMES: [(&'static str, Self); 8] = [
        ("create", Self::Create),
        ("stat", Self::Stat),
        ("open", Self::Open),
        ("read-file", Self::ReadFile),
        ("delete", Self::Delete),
        ("mkdir", Self::Mkdir),
        ("stat-dir", Self::StatDir),
        ("rmdir", Self::Rmdir),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, operation)| *operation == self).map_or("", |(name, _)| name)
    }

    /// What makes that on which it is done: itself, where it makes something.
    pub fn maker(self) -> Self {
        match self {
            Self::Create | Self::Stat | Self::Open | Self::ReadFile | Self::Delete => Self::Create,
            Self::Mkdir | Self::StatDir | Self::Rmdir => Self::Mkdir,
        }
    }

    /// Whether it makes what it is done on.
    pub fn makes(self) -> bool {
        self == self.maker()
    }

    /// Whether it makes or removes something. What does is done once to each file.
    pub fn changes_data(self) -> bool {
        !matches!(self, Self::Stat | Self::Open | Self::ReadFile | Self::StatDir)
    }
}

impl From<FilesPlan> for StreamKind {
    fn from(plan: FilesPlan) -> Self {
        Self::Files(plan)
    }
}

impl PhasePlan {
    /// Whether its operations are on files, and not on their blocks.
    pub fn operates_on_files(&self) -> bool {
        !self.streams.is_empty() && self.streams.iter().all(|s| s.files().is_some())
    }
}

impl StreamPlan {
    /// What cannot be of operations on files.
    pub(super) fn files_can_be(&self, files: &FilesPlan, phase: &PhasePlan) -> Result<(), String> {
        let bad = |what: &str| Err(what.to_owned());
        let FilesPlan { file_operation, file_count, file_bytes, .. } = *files;
        match file_count {
            0 => return bad("there are no files; say how many (own-files; fio: nrfiles)"),
            1..=MOST_FILES => {}
            n => return Err(format!("{n} files; {MOST_FILES} are possible")),
        }
        if files.file_kind != FileKind::File && file_bytes > 0 {
            return bad("links have no length of their own (file-size)");
        }
        if files.file_bytes_least.is_some_and(|least| least > file_bytes) {
            return bad("the smallest file is larger than the largest");
        }
        if file_bytes > MOST_FILE_BYTES {
            let (given, most) = (bytes_text(file_bytes), bytes_text(MOST_FILE_BYTES));
            return Err(format!("files of {given} each; up to {most} are possible: write larger ones by blocks"));
        }
        let done = self.limits.total_operations.unwrap_or(0);
        if file_operation.changes_data() && done > file_count {
            let name = file_operation.name();
            return Err(format!("{name}: {done} times for {file_count} files; each is there once (no loops)"));
        }
        if phase.streams.iter().any(|s| s.files().is_none()) {
            return bad("operations on files and on blocks are not done side by side; make phases of them");
        }
        if self.path.queue_depth > 1 {
            return Err(format!("depth {} of operations on files; use jobs side by side", self.path.queue_depth));
        }
        if matches!(phase.stop, StopRule::SteadyRounds(_) | StopRule::EarlyWhenSteady { .. }) {
            return bad("operations on files have no steady state here; give them a time");
        }
        if self.verify.is_some() || self.limits.total_bytes.is_some() {
            return bad("operations on files are not verified, and end by time or number");
        }
        Ok(())
    }
}
