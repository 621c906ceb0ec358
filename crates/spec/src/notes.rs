//! What is done otherwise than a text asks: each thing is said once, in the order in which it came up.

use std::collections::HashSet;

/// More notes than this nobody reads; how many there were is said.
const MAX: usize = 4096;

/// Notes, each of them once.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Vec<String>,
    known: HashSet<String>,
    more: usize,
}

impl Notes {
    /// Notes that are there already, and those to come.
    pub fn new(list: Vec<String>) -> Self {
        let known = list.iter().cloned().collect();
        Self { list, known, more: 0 }
    }

    /// Adds a note, unless it was made before.
    pub fn push(&mut self, note: String) {
        if self.list.len() >= MAX {
            self.more += usize::from(!self.known.contains(&note));
        } else if self.known.insert(note.clone()) {
            self.list.push(note);
        }
    }

    /// The notes in order, with a count of those beyond the bound.
    pub fn into_list(mut self) -> Vec<String> {
        if self.more > 0 {
            self.list.push(format!("and {} more of such notes", self.more));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_once_and_no_more_than_anyone_reads() {
        let mut notes = Notes::new(vec!["a".into()]);
        for note in ["b", "a", "b", "c"] {
            notes.push(note.into());
        }
        assert_eq!(notes.into_list(), ["a", "b", "c"]);
        let mut notes = Notes::default();
        (0..MAX + 3).for_each(|n| notes.push(n.to_string()));
        let list = notes.into_list();
        assert_eq!((list.len(), list[MAX].as_str()), (MAX + 1, "and 3 more of such notes"));
    }
}
