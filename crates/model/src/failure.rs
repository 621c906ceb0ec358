//! An error as the user and the JSON contract `narrows/error/1` see it.

use serde::{Deserialize, Serialize};

/// Whose error it is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// The command line or an input text is wrong (exit 2).
    Usage,
    /// The program refuses for safety; nothing was changed (exit 3).
    Refused,
    /// The machine lacks something: permission, space, a kernel feature (exit 3).
    Environment,
    /// The device failed (exit 3 where nothing could be measured).
    Device,
    /// It ran, but the answer is not valid (exit 4).
    Invalid,
    /// A defect of this program (exit 3).
    Internal,
}

impl FailureKind {
    /// The process's exit code for it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Refused | Self::Environment | Self::Device | Self::Internal => 3,
            Self::Invalid => 4,
        }
    }
}

/// What happened, to what, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure, which decides the exit code.
    pub kind: FailureKind,
    /// What happened, and to what.
    pub message: String,
    /// What the user can do; the exact command where there is one.
    pub remedy: Option<String>,
}

impl Failure {
    /// A failure without a remedy yet.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), remedy: None }
    }

    /// The command line, a file that it names or a value is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// It was understood, and is not done.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Refused, message)
    }

    /// The machine lacks something or is in the way.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Environment, message)
    }

    /// The storage failed.
    pub fn device(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Device, message)
    }

    /// Nothing that was measured may be used.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Invalid, message)
    }

    /// A defect of this program.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, message)
    }

    /// Adds what to do.
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}
