//! What a plan was made to decide, as its notes say it.

use super::Plan;

const MADE_FOR: &str = "made for: ";
/// What stands before a class.
const CLASS: &str = "class ";

/// What a plan is to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A use, by its name.
    Use(String),
    /// A speed class.
    Class(String),
}

impl Purpose {
    /// The note of a plan that says it.
    pub fn note(&self) -> String {
        match self {
            Self::Use(name) => format!("{MADE_FOR}{name}"),
            Self::Class(name) => format!("{MADE_FOR}{CLASS}{name}"),
        }
    }
}

impl Plan {
    /// What it was made for; nothing of one that decides nothing in particular.
    pub fn purposes(&self) -> impl Iterator<Item = Purpose> {
        self.notes.iter().filter_map(|note| note.strip_prefix(MADE_FOR)).map(|name| match name.strip_prefix(CLASS) {
            Some(class) => Purpose::Class(class.to_owned()),
            None => Purpose::Use(name.to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_note_says_is_read_again() {
        let purposes = [Purpose::Class("V30".into()), Purpose::Use("camera".into())];
        let mut plan = Plan { notes: purposes.iter().map(Purpose::note).collect(), ..Plan::default() };
        plan.notes.insert(1, "another".into());
        assert_eq!(plan.purposes().collect::<Vec<_>>(), purposes);
    }
}
