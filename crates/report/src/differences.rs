//! What differs in the environment of two sides, in words.

use model::EnvironmentDifference;

/// All values of both sides: `6.1.0 -> 6.12.0 / 6.12.1`.
pub(crate) fn values(of: &EnvironmentDifference) -> String {
    sides(of, |all| all.join(" / "))
}

/// The first of several differences, for a sentence, which has no room for many values: what differs, its values, and how many more there are.
pub(crate) fn first(all: &[EnvironmentDifference]) -> Option<(&str, String, String)> {
    let (first, more) = all.split_first()?;
    let few = |all: &[String]| match all {
        [first, _, _, ..] => format!("{first} and {} others", all.len() - 1),
        few => few.join(" / "),
    };
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    Some((&first.what, sides(first, few), more))
}

fn sides(of: &EnvironmentDifference, known: impl Fn(&[String]) -> String) -> String {
    let side = |all: &[String]| if all.is_empty() { "not known".to_owned() } else { known(all) };
    format!("{} -> {}", side(&of.a), side(&of.b))
}
