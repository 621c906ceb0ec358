//! A reason as a run holds it: a code for programs, and a sentence for people, as `code: sentence`. Documents and bundles
//! hold the two apart ([`as_objects`]).

use serde::Serialize;

/// A reason, taken apart. Only here: who needs to know why compares codes and no sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reason<'a> {
    /// Stable, one word; `None` of a reason that another tool gave in its own words.
    pub code: Option<&'a str>,
    /// What people are shown.
    #[serde(rename = "text")]
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

/// Reasons in JSON, for `#[serde(with = "...")]`: each is `{"code", "text"}`, the code null where there is none. Bundles of
/// before hold them as `code: sentence`; both are read.
pub mod as_objects {
    use super::Reason;
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Line(String),
        Apart { code: Option<String>, text: String },
    }

    /// Writes them apart.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(reasons: &[String], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(reasons.iter().map(|r| Reason::of(r)))
    }

    /// Reads either form.
    ///
    /// # Errors
    /// What is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
        let line = |w| match w {
            Written::Line(line) | Written::Apart { code: None, text: line } => line,
            Written::Apart { code: Some(code), text } => format!("{code}: {text}"),
        };
        Ok(Vec::<Written>::deserialize(deserializer)?.into_iter().map(line).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_one_is_written() {
        #[derive(serde::Deserialize, Serialize)]
        struct Holder(#[serde(with = "as_objects")] Vec<String>);
        let written = r#"[{"code":"steal","text":"the hypervisor: 9 %"},{"code":null,"text":"budget"}]"#;
        for form in [r#"["steal: the hypervisor: 9 %","budget"]"#, written] {
            let holder: Holder = serde_json::from_str(form).unwrap();
            assert_eq!(holder.0, ["steal: the hypervisor: 9 %", "budget"]);
            assert_eq!(serde_json::to_string(&holder).unwrap(), written);
        }
        assert!(serde_json::from_str::<Holder>("[3]").is_err());
    }

    #[test]
    fn a_code_is_one_word() {
        let reasons = ["steal: the hypervisor: 9 %".to_owned(), "a job said: no".to_owned(), "budget".to_owned()];
        assert_eq!(Reason::of(&reasons[0]), Reason { code: Some("steal"), sentence: "the hypervisor: 9 %" });
        assert_eq!(Reason::of(&reasons[1]), Reason { code: None, sentence: "a job said: no" });
        assert_eq!(Reason::find(&reasons, "steal"), Some("the hypervisor: 9 %"));
        assert_eq!(Reason::find(&reasons, "budget"), None);
    }
}
