//! A document with its answer in a sentence.

use super::{FramesDocument, LayersDocument, RecordDocument, RecordPlanDocument, SoakDocument};
use serde::Serialize;

/// What has an answer that a sentence says.
pub trait Answers {
    /// The sentence, as every other output of it has it.
    fn answer(&self) -> String;
}

impl Answers for SoakDocument<'_> {
    fn answer(&self) -> String {
        let all = crate::group_answer::of_all(self.group.as_ref(), crate::soak::SOAKED);
        all.map_or_else(|| crate::soak::answer(&crate::soak::Soaked::of(self)), |(_, text)| text)
    }
}

impl Answers for RecordDocument {
    fn answer(&self) -> String {
        crate::record::answer(&crate::record::Taken::of(self))
    }
}

impl Answers for RecordPlanDocument {
    fn answer(&self) -> String {
        let all = crate::group_answer::of_all(self.group.as_ref(), crate::record::PLANNED);
        all.map_or_else(|| crate::record::plan_answer(self), |(_, text)| text)
    }
}

impl Answers for FramesDocument {
    fn answer(&self) -> String {
        crate::frames::verdict(self)
    }
}

impl Answers for LayersDocument {
    fn answer(&self) -> String {
        crate::layers::verdict(self)
    }
}

/// A document as `--json` prints it, with `answer` behind its own keys.
#[derive(Clone, Debug, Serialize)]
pub struct Answered<'a, T> {
    #[serde(flatten)]
    document: &'a T,
    answer: String,
    /// The run in the archive that holds it, where one was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// Its page.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<String>,
}

impl<'a, T: Answers> Answered<'a, T> {
    /// The sentence.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    pub fn new(document: &'a T) -> Self {
        Self { document, answer: document.answer(), run_id: None, report: None }
    }

    /// With the id of the run that was kept of it, and where its page is.
    pub fn kept(self, kept: Option<(String, String)>) -> Self {
        let (run_id, report) = kept.unzip();
        Self { run_id, report, ..self }
    }
}
