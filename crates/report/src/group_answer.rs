//! What all ranks of a group say to one question, of a command that is no run.

use crate::presentation::{Part, Tone};
use crate::quantity;
use model::{GroupAnswer, GroupPhase, RankOutcome};

/// Ranks that are named: those that say no or nothing first.
const SHOWN: usize = 32;

/// The answer of all, in a sentence, with what it is called where all say yes and where one says no; `None` of another rank than 0.
pub(crate) fn of_all(group: Option<&GroupAnswer>, [yes, no]: [&str; 2]) -> Option<(Tone, String)> {
    let group = group.filter(|group| group.rank == 0)?;
    let count = |met| group.ranks.iter().filter(|r| r.met == met).count();
    let named = |met| group.ranks.iter().find(|r| r.met == met).map(named).unwrap_or_default();
    if let Some(percent) = group.overlap_percent.filter(|_| !group.is_together()) {
        let text = format!(
            "Not known of all: the ranks wrote together for {percent:.0} % of the time, and {:.0} % is the least; a --max-write \
             that none reaches within --for has all end at one time.",
            GroupPhase::LEAST_OVERLAP_PERCENT
        );
        return Some((Tone::Doubt, text));
    }
    Some(match group.met() {
        Some(true) => (Tone::Good, format!("All {} ranks: {yes}.", group.size)),
        Some(false) => (
            Tone::Bad,
            format!("{} of {} ranks: {no}, first rank {}.", count(Some(false)), group.size, named(Some(false))),
        ),
        None => {
            // What it says itself has what to do.
            let first = group.ranks.iter().find(|r| r.met.is_none()).map_or("", |r| r.statement.as_str());
            let own = first.strip_prefix("Not known: ").unwrap_or(first).trim_end_matches('.');
            let (none, size) = (count(None), group.size);
            (Tone::Doubt, format!("Not known: {none} of {size} ranks have no answer; rank {}: {own}.", named(None)))
        }
    })
}

fn named(rank: &RankOutcome) -> String {
    if rank.machine.is_empty() { rank.rank.to_string() } else { format!("{} ({})", rank.rank, rank.machine) }
}

/// What each says.
pub(crate) fn parts(group: Option<&GroupAnswer>) -> Vec<Part> {
    let Some(group) = group else { return Vec::new() };
    let place = format!("rank {} of {}, group {}", group.rank, group.size, group.id);
    if group.rank > 0 {
        return vec![Part::Named("Group", format!("{place}; the answer of all is in that of rank 0"))];
    }
    let mut ranks: Vec<&RankOutcome> = group.ranks.iter().collect();
    ranks.sort_by_key(|r| (r.met == Some(true), r.met.is_none(), r.rank));
    let row = |rank: &&RankOutcome| {
        let rate = rank.bytes_per_s.map_or_else(String::new, |rate| format!(", {}", quantity::rate(rate)));
        let said = rank.statement.trim_end_matches('.');
        (named(rank), format!("{said}; wrote {}{rate}", quantity::size(rank.bytes_written)))
    };
    let rows: Vec<(String, String)> = ranks.iter().take(SHOWN).map(row).collect();
    let tone = if group.met() == Some(true) { Tone::Good } else { Tone::Bad };
    vec![Part::Named("Group", place), Part::Statements { title: "Rank by rank", tone, rows }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_answer_of_all_names_the_first_that_says_no() {
        let rank = |rank, met| RankOutcome {
            rank,
            machine: format!("n{rank}"),
            met,
            statement: "s".into(),
            ..RankOutcome::default()
        };
        let group = |mets: &[Option<bool>]| GroupAnswer {
            size: mets.len() as u32,
            ranks: mets.iter().zip(0..).map(|(met, number)| rank(number, *met)).collect(),
            ..GroupAnswer::default()
        };
        let said = |mets: &[Option<bool>]| {
            of_all(Some(&group(mets)), ["clean", "wrong data"]).map(|(_, text)| text).unwrap_or_default()
        };
        assert_eq!(said(&[Some(true), Some(true)]), "All 2 ranks: clean.");
        assert_eq!(said(&[Some(true), None, Some(false)]), "1 of 3 ranks: wrong data, first rank 2 (n2).");
        let apart = GroupAnswer { overlap_percent: Some(70.0), ..group(&[Some(true)]) };
        let text = of_all(Some(&apart), ["clean", "wrong"]).map(|(_, text)| text);
        assert!(text.is_some_and(|text| text.starts_with("Not known of all")) && apart.met().is_none());
        assert_eq!(said(&[Some(true), None]), "Not known: 1 of 2 ranks have no answer; rank 1 (n1): s.");
        let mut short = group(&[None]);
        short.ranks[0].statement = "Not known: it wrote for 455 ms only, so --max-write 759MB or more (gd).".into();
        let text = of_all(Some(&short), ["", ""]).map(|(_, text)| text).unwrap_or_default();
        let expected = "Not known: 1 of 1 ranks have no answer; rank 0 (n0): it wrote for 455 ms only, so --max-write 759MB or more (gd).";
        assert_eq!(text, expected);
        let Some(Part::Statements { rows, .. }) = parts(Some(&group(&[Some(true), Some(false)]))).pop() else {
            panic!("rows")
        };
        assert_eq!(rows[0].0, "1 (n1)");
    }
}
