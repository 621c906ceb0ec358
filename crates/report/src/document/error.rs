//! `narrows/error/1`.

use model::{Failure, FailureKind};
use serde::Serialize;

/// What any command prints under `--json` when it could not answer.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/error/1")]
pub struct ErrorDocument<'a> {
    /// Whose error it is.
    pub kind: FailureKind,
    /// What happened, and to what.
    pub message: &'a str,
    /// What to do; null if nothing can be done.
    pub remedy: Option<&'a str>,
}

impl<'a> ErrorDocument<'a> {
    /// The document of a failure.
    pub fn new(failure: &'a Failure) -> Self {
        Self { kind: failure.kind, message: &failure.message, remedy: failure.remedy.as_deref() }
    }
}
