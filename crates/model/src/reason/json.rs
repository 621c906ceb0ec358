//! Reasons in JSON, by way of a value: what is derived for so many variants is there once, and not once for each way in and out.

use super::Reason;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

/// As documents and bundles have it.
#[derive(Deserialize, Serialize)]
struct Written {
    code: Option<String>,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = match self {
            Self::Other { .. } => None,
            known => {
                Self::serialize(known, serde_json::value::Serializer).map_err(ser::Error::custom)?.get("data").cloned()
            }
        };
        Written { code: self.code().map(str::to_owned), text: self.text(), data }.serialize(serializer)
    }
}

/// Bundles of before hold them in a line; what a later version means with a code that has other data is taken by its words.
impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Value::String(line) = &value {
            return Ok(of_line(line));
        }
        let known = Self::deserialize(&value).ok();
        let words = |Written { code, text, .. }| Self::Other { code, text };
        known.map_or_else(|| serde_json::from_value(value).map(words).map_err(de::Error::custom), Ok)
    }
}

/// A line as bundles of before have it: `code: text`, where the code is one word.
fn of_line(line: &str) -> Reason {
    match line.split_once(": ") {
        Some((code, text)) if !code.contains(' ') => Reason::of(code, text),
        _ => Reason::uncoded(line),
    }
}

/// Reasons as lines, where a document has them so.
pub mod as_lines {
    use super::{Deserialize, Deserializer, Reason, Serializer};

    /// Writes each as `code: text`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(reasons: &[Reason], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(reasons.iter().map(Reason::to_string))
    }

    /// Reads either form.
    ///
    /// # Errors
    /// What is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Reason>, D::Error> {
        Vec::deserialize(deserializer)
    }
}

/// One reason as a line, where a document has it so.
pub mod as_line {
    use super::{Deserialize, Deserializer, Reason, Serializer};

    /// Writes it as `code: text`.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(reason: &Option<Reason>, serializer: S) -> Result<S::Ok, S::Error> {
        match reason {
            Some(reason) => serializer.collect_str(reason),
            None => serializer.serialize_none(),
        }
    }

    /// Reads either form.
    ///
    /// # Errors
    /// What is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Reason>, D::Error> {
        Option::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_read_and_one_is_written() {
        let written = r#"[{"code":"steal","text":"the hypervisor: 9 %"},{"code":null,"text":"budget"}]"#;
        for form in [r#"["steal: the hypervisor: 9 %","budget"]"#, written] {
            let reasons: Vec<Reason> = serde_json::from_str(form).unwrap();
            assert_eq!(reasons, [Reason::of("steal", "the hypervisor: 9 %"), Reason::uncoded("budget")]);
            assert_eq!(serde_json::to_string(&reasons).unwrap(), written);
        }
        assert!(serde_json::from_str::<Reason>("3").is_err());
        // A code is one word.
        assert_eq!(of_line("a job said: no"), Reason::uncoded("a job said: no"));
    }

    #[test]
    fn data_come_back_and_words_are_kept_where_there_are_none() {
        let all = [
            Reason::Steal { percent: 12.5 },
            Reason::Interrupted {},
            Reason::PageCache { percent: 75.0 },
            Reason::ForeignTraffic {
                percent: 9.0,
                bytes_per_s: 1e6,
                seen: ForeignSeen::QuietWindows,
                processes: vec!["pid 7 dd".into()],
                accounts_seen: true,
            },
        ];
        for reason in all {
            let json = serde_json::to_value(&reason).unwrap();
            assert_eq!((json["code"].as_str(), json["text"].as_str()), (reason.code(), Some(reason.text().as_str())));
            assert!(json["data"].is_object(), "{json}");
            assert_eq!(serde_json::from_value::<Reason>(json).unwrap(), reason);
        }
        // The same code in a bundle without data, and with those of another version.
        for json in [
            r#"{"code":"steal","text":"a lot"}"#,
            r#"{"code":"interrupted","text":"a lot"}"#,
            r#"{"code":"steal","text":"a lot","data":{"share":0.5}}"#,
        ] {
            let reason: Reason = serde_json::from_str(json).unwrap();
            assert!(matches!(reason, Reason::Other { .. }) && reason.text() == "a lot", "{reason:?}");
        }
    }

    use super::super::ForeignSeen;
}
