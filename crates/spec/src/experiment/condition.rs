//! `when = "driver == 'ahci' && kernel != '6.1*'"`: the state in which an arm can run.

use std::collections::BTreeMap;

/// What is known of the machine and the target's path, by name: `driver`, `kernel`, `machine`, and any fact of a layer. A
/// name may have several values: each layer has a driver.
pub type Facts = BTreeMap<String, Vec<String>>;

/// Comparisons that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    text: String,
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    fact: String,
    equal: bool,
    value: String,
}

impl Condition {
    /// Reads `FACT == 'VALUE'` and `FACT != 'VALUE'`, joined by `&&`. A `*` at the end of a value stands for any end.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}': of the form FACT == 'VALUE', joined by &&");
        let mut terms = Vec::new();
        for part in text.split("&&") {
            let compared = |sign, equal| part.split_once(sign).map(|(fact, value)| (fact, equal, value));
            let (fact, equal, value) = compared("==", true).or_else(|| compared("!=", false)).ok_or_else(form)?;
            let (fact, value) = (fact.trim(), value.trim());
            let quoted = ['\'', '"'].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
            let named =
                !fact.is_empty() && fact.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
            match quoted.filter(|_| named) {
                Some(value) => terms.push(Term { fact: fact.to_owned(), equal, value: value.to_owned() }),
                None => return Err(form()),
            }
        }
        Ok(Self { text: text.to_owned(), terms })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds; an error names the fact that is not known.
    ///
    /// # Errors
    /// The name of a fact that the machine does not tell.
    pub fn holds(&self, facts: &Facts) -> Result<bool, String> {
        for term in &self.terms {
            let values = facts.get(&term.fact).filter(|v| !v.is_empty()).ok_or_else(|| term.fact.clone())?;
            let matches = |value: &String| match term.value.strip_suffix('*') {
                Some(start) => value.starts_with(start),
                None => *value == term.value,
            };
            if values.iter().any(matches) != term.equal {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_of_several_values_suffices() {
        let facts: Facts = [
            ("driver".to_owned(), vec!["sd".to_owned(), "ahci".to_owned()]),
            ("kernel".to_owned(), vec!["6.12.3".to_owned()]),
        ]
        .into();
        let holds = |text: &str| Condition::parse(text).unwrap().holds(&facts);
        assert_eq!(holds("driver == 'ahci'"), Ok(true));
        assert_eq!(holds("driver == \"ata_piix\""), Ok(false));
        assert_eq!(holds("driver != 'ata_piix' && kernel == '6.12*'"), Ok(true));
        assert_eq!(holds("kernel != '6.12*'"), Ok(false));
        assert_eq!(holds("governor == 'performance'"), Err("governor".to_owned()));
        for bad in ["", "driver", "driver = 'x'", "driver == ahci", "== 'x'", "a b == 'x'", "driver == 'x' &&"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
    }
}
