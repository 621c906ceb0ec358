//! `when = "driver == 'ahci' && kernel != '6.1*'"`: the state in which an arm can run.

/// Comparisons that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// As it was written.
    pub text: String,
    /// All terms must hold.
    pub terms: Vec<Term>,
}

/// What one fact is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub fact: String,
    /// Whether it is to be the value, or none of it.
    pub equal: bool,
    /// A `*` at the end stands for any end.
    pub value: String,
}

impl Condition {
    /// Reads `FACT == 'VALUE'` and `FACT != 'VALUE'`, joined by `&&`. A `*` at the end of a value stands for any end.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let term = |part: &str| {
            let compared = |sign, equal| part.split_once(sign).map(|(fact, value)| (fact, equal, value));
            let (fact, equal, value) = compared("==", true).or_else(|| compared("!=", false))?;
            let (fact, value) = (fact.trim(), value.trim());
            let value = ['\'', '"'].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q))?;
            let named =
                !fact.is_empty() && fact.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'));
            named.then(|| Term { fact: fact.to_owned(), equal, value: value.to_owned() })
        };
        let terms: Option<Vec<Term>> = text.split("&&").map(term).collect();
        let terms = terms.ok_or_else(|| format!("'{text}': of the form FACT == 'VALUE', joined by &&"))?;
        Ok(Self { text: text.to_owned(), terms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_comparison_is_refused() {
        for bad in ["", "driver", "driver = 'x'", "driver == ahci", "== 'x'", "a b == 'x'", "driver == 'x' &&"] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
        let read = Condition::parse("driver != 'ahci' && kernel == \"6.1*\"").unwrap();
        let term = |fact: &str, equal, value: &str| Term { fact: fact.into(), equal, value: value.into() };
        assert_eq!(read.terms, [term("driver", false, "ahci"), term("kernel", true, "6.1*")]);
    }
}
