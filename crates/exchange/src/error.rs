//! Why a run cannot be said in a format.

use model::{Failure, FailureKind, Run};

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, ExchangeError>;

/// Why a run cannot be said in a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// A phase was named that the run does not have.
    #[error("run {run} has no phase '{phase}'; it has: {known}")]
    NoSuchPhase {
        run: String,
        /// What was asked for.
        phase: String,
        /// What there is.
        known: String,
    },
    /// Nothing of what was asked for was executed.
    #[error("run {run} holds nothing that could be exported: {reason}")]
    NothingRecorded { run: String, reason: String },
    /// The run's phases are no grid of record sizes and operations.
    #[error("run {run} is not a grid of record sizes and operations: {reason}")]
    NoGrid {
        run: String,
        /// What is missing.
        reason: String,
    },
    /// A histogram could not be encoded; a defect of this program.
    #[error("the histogram of phase '{phase}' cannot be encoded: {reason}")]
    Encoding {
        phase: String,
        /// What the encoder said.
        reason: String,
    },
}

impl ExchangeError {
    /// The kind of failure, which decides the exit code.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::NoSuchPhase { .. } => FailureKind::Usage,
            Self::NothingRecorded { .. } | Self::NoGrid { .. } => FailureKind::Invalid,
            Self::Encoding { .. } => FailureKind::Internal,
        }
    }

    /// What the user can do.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::NoSuchPhase { run, .. } | Self::NothingRecorded { run, .. } => {
                Some(format!("narrows runs show {run} tells what was measured"))
            }
            Self::NoGrid { run, .. } => {
                Some(format!("for single phases: narrows export {run} --format csv, or --format fio-json"))
            }
            Self::Encoding { .. } => None,
        }
    }
}

impl From<ExchangeError> for Failure {
    fn from(error: ExchangeError) -> Self {
        Self { kind: error.kind(), message: error.to_string(), remedy: error.remedy() }
    }
}

/// Every phase that was named is there.
pub(crate) fn check_phases(run: &Run, wanted: &[String]) -> Result<()> {
    match wanted.iter().find(|w| run.phase(w).is_none()) {
        None => Ok(()),
        Some(phase) => {
            let known: Vec<&str> = run.phases.iter().map(|p| p.plan.name.as_str()).collect();
            Err(ExchangeError::NoSuchPhase {
                run: run.id.clone(),
                phase: phase.clone(),
                known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
            })
        }
    }
}
