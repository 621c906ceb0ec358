//! One thing that a study looked at.

/// One thing that was looked at.
pub struct StudyCheck {
    /// What was asserted.
    pub what: String,
    /// What was asked.
    pub command: String,
    /// What decides, of the answer: each in a few words.
    pub telling: Vec<String>,
    /// What was answered.
    pub output: String,
    /// What is not as asserted.
    pub wrong: Vec<String>,
}
