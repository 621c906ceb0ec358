//! A reason as a run holds it: a code for programs, and a sentence for people, as `code: sentence`.

/// A reason, taken apart. Only here: who needs to know why compares codes and no sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason<'a> {
    /// Stable, one word; `None` of a reason that another tool gave in its own words.
    pub code: Option<&'a str>,
    /// What people are shown.
    pub sentence: &'a str,
}

impl<'a> Reason<'a> {
    /// The parts of a reason.
    pub fn of(text: &'a str) -> Self {
        match text.split_once(": ") {
            Some((code, sentence)) if !code.contains(' ') => Self { code: Some(code), sentence },
            _ => Self { code: None, sentence: text },
        }
    }

    /// The first of this code, its sentence.
    pub fn find(reasons: impl IntoIterator<Item = &'a String>, code: &str) -> Option<&'a str> {
        reasons.into_iter().map(|r| Self::of(r)).find(|r| r.code == Some(code)).map(|r| r.sentence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_one_word() {
        let reasons = ["steal: the hypervisor: 9 %".to_owned(), "a job said: no".to_owned(), "budget".to_owned()];
        assert_eq!(Reason::of(&reasons[0]), Reason { code: Some("steal"), sentence: "the hypervisor: 9 %" });
        assert_eq!(Reason::of(&reasons[1]), Reason { code: None, sentence: "a job said: no" });
        assert_eq!(Reason::find(&reasons, "steal"), Some("the hypervisor: 9 %"));
        assert_eq!(Reason::find(&reasons, "budget"), None);
    }
}
