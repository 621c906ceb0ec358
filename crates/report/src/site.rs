//! What a site was made of, as a command says it.

use crate::document::SiteDocument;
use crate::presentation::{Head, Part, Presentation, SectionName, Tone, listed};
use crate::quantity::counted;

/// Bundles that are not counted, named one by one.
const MOST_PROBLEMS: usize = 20;

/// The site: what is counted, what is not, and how much of it was new.
pub fn site(of: &SiteDocument<'_>) -> Presentation {
    let count = |n: usize, what: &str| counted(n as u64, what);
    let answer = format!(
        "{} of {} on {} are counted, {} not.",
        count(of.runs, "run"),
        count(of.machines, "machine"),
        count(of.devices, "device model"),
        count(of.problems.len(), "bundle"),
    );
    let tone = if of.problems.is_empty() { Tone::Good } else { Tone::Doubt };
    let head = Head { command: "site".to_owned(), answer: Some((tone, answer)), ..Head::default() };
    let mut presentation = Presentation { head, ..Presentation::default() };
    let cost = format!(
        "{} read, the others were known; {} of {} written, {} removed.",
        count(of.read, "bundle"),
        of.written,
        count(of.pages, "page"),
        of.removed
    );
    presentation.push(SectionName::Numbers, vec![Part::Sentence(Tone::Plain, cost)]);
    let named = of.problems.iter().take(MOST_PROBLEMS).map(|p| format!("{}: {}", p.id, p.why));
    let more = of.problems.len().saturating_sub(MOST_PROBLEMS);
    let more = (more > 0).then(|| format!("and {more} more (not-counted.html has all)"));
    presentation.push(SectionName::Rejected, listed(named.chain(more).collect()));
    presentation.on_page(Some(of.site.clone()))
}
