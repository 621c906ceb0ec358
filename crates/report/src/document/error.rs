//! `narrows/error/1`.

use model::{Failure, FailureKind};
use serde::Serialize;

/// What any command prints under `--json` when it could not answer.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorDocument<'a> {
    /// `narrows/error/1`.
    pub schema: &'static str,
    /// Whose error it is.
    pub kind: FailureKind,
    /// What happened, and to what.
    pub message: &'a str,
    /// What to do; null if nothing can be done.
    pub remedy: Option<&'a str>,
}

impl<'a> ErrorDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/error/1";

    /// The document of a failure.
    pub fn new(failure: &'a Failure) -> Self {
        Self { schema: Self::SCHEMA, kind: failure.kind, message: &failure.message, remedy: failure.remedy.as_deref() }
    }
}
