//! Why a file could not be read: a value, never a panic.

use std::io::ErrorKind;

/// Why a file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// There is no such file, or it is not a regular file.
    #[error("not there")]
    Missing,
    /// We may not read it.
    #[error("permission denied")]
    Denied,
    /// The kernel refused for another reason (many attributes return EINVAL or ENODEV).
    #[error("not readable")]
    Refused,
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::Missing,
            ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Refused,
        }
    }
}
