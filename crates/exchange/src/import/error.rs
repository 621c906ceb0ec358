//! Why bytes cannot be imported at all.

use model::{Failure, FailureKind};

/// Why bytes cannot be imported at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Nothing, or blanks only.
    #[error("it is empty")]
    Empty,
    /// The file is binary, not text.
    #[error("it is not text: {0}")]
    Binary(String),
    /// The text is compressed by this program.
    #[error("it is packed ({0})")]
    Packed(&'static str),
    /// More than [`super::IMPORT_LIMIT_BYTES`].
    #[error("it has {size_bytes} bytes; at most {limit_bytes} are read")]
    TooLarge {
        size_bytes: u64,
        /// What is read at most.
        limit_bytes: u64,
    },
    /// More lines than any tool prints.
    #[error("it has {lines} lines; at most {limit} are read")]
    TooManyLines {
        /// How many it has.
        lines: usize,
        /// How many are read at most.
        limit: usize,
    },
}

impl ImportError {
    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Empty => "run the tool again with its output going into the file",
            Self::Binary(_) => "give the text that the tool printed",
            Self::Packed(_) => "unpack it first, for example: zcat FILE | narrows import -",
            Self::TooLarge { .. } | Self::TooManyLines { .. } => "split it, or import the part that holds the result",
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::new(FailureKind::Invalid, error.to_string()).remedy(error.remedy())
    }
}
