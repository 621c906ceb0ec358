//! What a machine needs and this host does not have.

/// What a machine needs is not to be had on this host: its test is skipped. What stands in the way of anything else (a full
/// disk, a place that cannot be written to, a program that does not compile) is no reason to skip.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(String);

impl Unavailable {
    /// With what is missing, and the remedy.
    pub fn because(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}
