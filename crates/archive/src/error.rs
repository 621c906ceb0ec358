//! What can go wrong with an archive, and what to do about it.

use model::{Failure, FailureKind};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, ArchiveError>;

/// What happened, and to which file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The operating system refused.
    #[error("could not {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried: `write`, `create`.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A file of a bundle does not say what it must.
    #[error("{path} is damaged{at}: {reason}", path = path.display(), at = line.map(|l| format!(" at line {l}")).unwrap_or_default())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1; `None` where the file as a whole is meant.
        line: Option<u64>,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is larger than this program is willing to read.
    #[error("{path} has {size_bytes} bytes, more than the {limit_bytes} that such a file may have", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        size_bytes: u64,
        limit_bytes: u64,
    },
    /// The bundle follows a schema that this version does not know.
    #[error("{path} has the schema '{found}'; this program reads '{known}'", path = path.display())]
    UnknownSchema {
        /// run.json.
        path: PathBuf,
        /// What it says.
        found: String,
        /// What would be understood.
        known: &'static str,
    },
    /// No run, tag or bundle has this name.
    #[error("no run, tag, bundle or file is called '{text}' in {archive}", archive = archive.display())]
    NotFound {
        /// What was asked for.
        text: String,
        /// Where it was looked for.
        archive: PathBuf,
    },
    /// Several runs begin like this.
    #[error("'{text}' fits {count} runs, the first are {first}")]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// How many fit.
        count: usize,
        /// The first ids that match, for the message.
        first: String,
    },
    /// A run with this id is there already.
    #[error("a run {id} exists already in {archive}", archive = archive.display())]
    Exists { id: String, archive: PathBuf },
    /// The run is being written by a process that lives.
    #[error("run {id} is still being written by another process")]
    InProgress { id: String },
    /// A name that cannot be a tag.
    #[error("'{tag}' cannot be a tag: {reason}")]
    BadTag {
        tag: String,
        /// Why not.
        reason: &'static str,
    },
    /// The run cannot be stored as it is; a defect of the caller.
    #[error("run {id} cannot be stored: {reason}")]
    Unstorable {
        id: String,
        /// Why not.
        reason: String,
    },
}

impl ArchiveError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn corrupt(path: &Path, line: Option<u64>, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), line, reason: reason.into() }
    }

    fn errno(&self) -> Option<Errno> {
        match self {
            Self::Io { source, .. } => Errno::from_io_error(source),
            _ => None,
        }
    }

    /// Whether the file system of the archive is full (ENOSPC) or the quota used up (EDQUOT).
    pub fn is_full(&self) -> bool {
        matches!(self.errno(), Some(Errno::NOSPC | Errno::DQUOT))
    }

    /// The kind of failure, which decides the exit code.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::NotFound { .. } | Self::Ambiguous { .. } | Self::BadTag { .. } => FailureKind::Usage,
            Self::Exists { .. } | Self::InProgress { .. } => FailureKind::Refused,
            Self::Corrupt { .. } | Self::TooLarge { .. } | Self::UnknownSchema { .. } => FailureKind::Invalid,
            Self::Unstorable { .. } => FailureKind::Internal,
            Self::Io { .. } if matches!(self.errno(), Some(Errno::IO)) => FailureKind::Device,
            Self::Io { .. } => FailureKind::Environment,
        }
    }

    /// What the user can do.
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Self::Io { action, .. } => match self.errno()? {
                Errno::NOSPC | Errno::DQUOT => {
                    "free space there, or keep the archive elsewhere: --archive DIR or NARROWS_ARCHIVE=DIR"
                }
                Errno::ROFS => "that file system is read-only: --archive DIR or NARROWS_ARCHIVE=DIR elsewhere",
                Errno::ACCESS | Errno::PERM => {
                    "this user may not write there: --archive DIR or NARROWS_ARCHIVE=DIR elsewhere"
                }
                Errno::NOTDIR | Errno::EXIST => "a file is where a directory is needed: --archive DIR elsewhere",
                // Not even root may create one in /proc.
                Errno::NOENT if action.starts_with("create the directory") => {
                    "no directory can be made there: --archive DIR or NARROWS_ARCHIVE=DIR elsewhere"
                }
                Errno::NOENT if *action == "list" => {
                    "check the spelling: the directory of an archive, or of bundles, is needed"
                }
                Errno::MFILE => "this process may open too few files: ulimit -n 1024, then again",
                Errno::NFILE => "the machine has too many open files: end programs, or raise fs.file-max with sysctl",
                Errno::LOOP => "symbolic links in a bundle are not followed: copy the files themselves",
                _ => return None,
            },
            Self::Corrupt { path, .. } | Self::TooLarge { path, .. } => {
                let id = path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned())?;
                return Some(format!("narrows runs verify {id} tells which files were altered; copy them again"));
            }
            Self::UnknownSchema { .. } => "use the version of narrows that made it, or a newer one",
            Self::NotFound { .. } => "narrows runs list shows what is there",
            Self::Ambiguous { .. } => "give more of the id",
            Self::InProgress { .. } => "wait until it ends",
            Self::BadTag { .. } => "begin with a letter; then letters, digits, '-', '_' and '.', at most 64",
            Self::Exists { .. } | Self::Unstorable { .. } => return None,
        };
        Some(text.to_owned())
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        Self { kind: error.kind(), message: error.to_string(), remedy: error.remedy() }
    }
}
