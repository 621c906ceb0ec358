//! What can go wrong with a setting.

use std::io;
use std::path::PathBuf;

/// What could not be done, to what, and why.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// There is no such file: the machine has no such setting, or the device has gone.
    #[error("{0} cannot be read: there is no such file")]
    Missing(String),
    /// The path is not one of a setting, or leads elsewhere.
    #[error("{0} is not a setting: {1}")]
    Outside(String, &'static str),
    /// No tunable has this name.
    #[error("there is no setting '{name}'{}; narrows settings list TARGET shows all", .near.map_or(String::new(), |n| format!(": did you mean {n}?")))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The nearest that there is.
        near: Option<&'static str>,
    },
    /// The target has nothing that a pattern asks for.
    #[error("{pattern}: the target has no {name}")]
    NoPlace {
        /// With `{disk}` or the like.
        pattern: String,
        /// What is not there.
        name: &'static str,
    },
    /// The file cannot be opened, read or written.
    #[error("{path} cannot be {done}: {source}")]
    Access {
        /// The file.
        path: String,
        /// `read` or `written`.
        done: &'static str,
        source: io::Error,
    },
    /// The kernel refused the value or left another one in force.
    #[error("{path} does not take {value}: {why}")]
    NotTaken {
        /// The file.
        path: String,
        /// What was asked for.
        value: String,
        /// An error of the kernel, or the value that is in force.
        why: String,
    },
    /// A mount or its options.
    #[error("{0}")]
    Mount(String),
    /// A command could not be started, failed or was ended.
    #[error("'{0}' {1}")]
    Command(String, String),
    /// A journal cannot be kept, found or trusted.
    #[error("{path}: {why}")]
    Journal {
        /// The directory or the file.
        path: PathBuf,
        why: String,
    },
}

impl SettingError {
    /// An error of the journal.
    pub(crate) fn journal(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self::Journal { path: path.into(), why: why.to_string() }
    }
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, SettingError>;
