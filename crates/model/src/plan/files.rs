//! A stream of operations on files: what is done to which of them.

use super::is_default;
use serde::{Deserialize, Serialize};

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
    /// In the order in which their directories have them, which is read before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_by_directory: bool,
    /// So many of them lie in one directory, one directory after the other; 0: all in one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub directory_files: u64,
    /// Directories above each file, of which each holds ten of the next level; 0: one, where they do not all lie in one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub directory_levels: u32,
    /// What changes a directory is followed by an fsync of it, by a descriptor of its own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_directory: bool,
    /// They have the names that they were given by [`FileOperation::Rename`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub file_renamed: bool,
}

impl FilesPlan {
    /// The directories that its files lie in, but for those above them; 0 where all lie in one.
    pub fn directories(&self) -> u64 {
        if self.directory_files == 0 { 0 } else { self.file_count.div_ceil(self.directory_files) }
    }

    /// Directories above each file.
    pub fn levels(&self) -> u32 {
        if self.directory_files == 0 { 0 } else { self.directory_levels.max(1) }
    }

    /// On how many files or directories it is done.
    pub fn members(&self) -> u64 {
        if self.file_operation == FileOperation::List { self.directories().max(1) } else { self.file_count }
    }

    /// Whether something of them is there when each of them is removed.
    pub fn leaves_something(&self) -> bool {
        self.file_kind == FileKind::HardLink || self.directory_files > 0
    }

    /// The largest buffer that an operation has: a transaction's data are written twice.
    pub fn buffer_bytes(&self) -> u64 {
        if self.file_operation == FileOperation::Journal { self.file_bytes.saturating_mul(2) } else { self.file_bytes }
    }
}

/// What stands under the name that is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    #[default]
    File,
    /// One more name of a file that all of them are names of (link(2)).
    HardLink,
    /// A symbolic link that leads nowhere (symlink(2)).
    Symlink,
}

named! {
    /// What is done to a file or a directory.
    #[derive(Default, Hash)]
    pub enum FileOperation {
        /// Opens a new file (O_CREAT, O_EXCL), writes its data if it has some, syncs it if that is asked for, closes it.
        #[default]
        Create = "create",
        /// Looks its attributes up by its name.
        Stat = "stat",
        /// Opens it for reading, and closes it.
        Open = "open",
        /// Looks its attributes up and, where it is not empty, opens it, reads all of it, and closes it.
        ReadFile = "read-file",
        /// Gives it another name in its directory, or its old one back.
        Rename = "rename",
        /// Writes a new file beside it, syncs it if that is asked for, and renames it over this one: how files are saved.
        Replace = "replace",
        /// A transaction with a rollback journal, as SQLite's (journal_mode=DELETE): a journal is made, written and synced, the file is
        /// written in place and synced, and the journal removed. As many bytes go to the one as to the other.
        Journal = "journal",
        /// Removes it.
        Delete = "delete",
        /// Opens a directory of files, reads all names in it, and closes it.
        List = "list",
        /// Makes a directory.
        Mkdir = "mkdir",
        /// Looks the attributes of a directory up by its name.
        StatDir = "stat-dir",
        /// Gives a directory another name, or its old one back.
        RenameDir = "rename-dir",
        /// Removes an empty directory.
        Rmdir = "rmdir",
    }
}

impl FileOperation {
    /// What makes that on which it is done: itself, where it makes something.
    pub fn maker(self) -> Self {
        match self {
            Self::Mkdir | Self::StatDir | Self::RenameDir | Self::Rmdir => Self::Mkdir,
            _ => Self::Create,
        }
    }

    /// Whether it makes what it is done on.
    pub fn makes(self) -> bool {
        self == self.maker()
    }

    /// Whether it changes what is there.
    pub fn changes_data(self) -> bool {
        !matches!(self, Self::Stat | Self::Open | Self::ReadFile | Self::List | Self::StatDir)
    }

    /// Whether it is done once to each file: it makes or removes it, or gives it another name.
    pub fn once(self) -> bool {
        self.changes_data() && !matches!(self, Self::Replace | Self::Journal)
    }

    /// Whether it writes data to files.
    pub fn sends_data(self) -> bool {
        matches!(self, Self::Create | Self::Replace | Self::Journal)
    }

    /// Whether another name is looked for in its place after it.
    pub fn renames(self) -> bool {
        matches!(self, Self::Rename | Self::RenameDir)
    }
}
