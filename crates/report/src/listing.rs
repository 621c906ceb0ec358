//! Lists and pages: `runs list`, `workloads`, `explain`.

use crate::document::RunEntry;
use crate::finding_page::LAYERS;
use crate::headline::metric_words;
use crate::presentation::{Head, Item, Part, Presentation, SectionName, Tone, statements};
use crate::quantity;
use crate::text::unbroken;
use model::{FindingText, RunState, UseText, json_name};

/// `2026-11-20T21:30:00.123Z` as `2026-11-20 21:30`; other texts as they are.
pub(crate) fn minute(started: &str) -> String {
    match (started.get(..10), started.get(10..11), started.get(11..16)) {
        (Some(day), Some("T"), Some(time)) => format!("{day} {time}"),
        _ => started.to_owned(),
    }
}

/// The runs: of each what it was, then its headline numbers.
pub fn runs(entries: &[RunEntry]) -> Presentation {
    let nothing = || vec![Part::Sentence(Tone::Plain, "No runs in the archive yet. `narrows check` makes one.".into())];
    list(if entries.is_empty() { nothing() } else { entries.iter().flat_map(of_run).collect() })
}

fn of_run(e: &RunEntry) -> [Part; 2] {
    let started = e.started.as_deref().map_or_else(|| "-".to_owned(), minute);
    let workload = Some(&e.workload).filter(|w| !w.is_empty() && **w != e.command);
    let what = workload.map_or_else(|| e.command.clone(), |w| format!("{} {w}", e.command));
    let state = (e.state != RunState::Complete).then(|| json_name(&e.state));
    let tags = (!e.tags.is_empty()).then(|| format!("[{}]", e.tags.join(", ")));
    let of = std::iter::once(format!("{what} {}", e.target)).chain(state).chain(tags);
    // Where its name does not say it.
    let device = e.device.as_ref().filter(|d| !e.target.ends_with(d.as_str()));
    let device = device.map_or_else(String::new, |device| format!(" on {device}"));
    let took = Some((e.duration_s * 1e9) as u64).filter(|ns| *ns > 0);
    let time = took.map_or_else(String::new, quantity::duration);
    let time = Some(time + &device).map(|time| time.trim_start().to_owned()).filter(|time| !time.is_empty());
    let fake = e.fake.as_ref().map(|fake| {
        let real = fake.real_bytes.map(quantity::size).unwrap_or_default();
        format!("FAKE: at most {real} of {} are real", quantity::size(fake.claimed_bytes))
    });
    let numbers = e.metrics.iter().map(|m| format!("{} {}", m.key().phase(), metric_words(m)));
    let told = fake.into_iter().chain(time).chain(numbers).collect::<Vec<String>>().join(", ");
    let item = Item::new(format!("{}  {started}", e.run_id), of.collect::<Vec<String>>().join("  "));
    [Part::Item(item), Part::Hint(told)]
}

/// What was done to each of several subjects.
pub fn actions(lines: &[(String, String)]) -> Presentation {
    list(vec![statements(lines.iter().cloned())])
}

fn list(parts: Vec<Part>) -> Presentation {
    let mut presentation = Presentation { wide: true, ..Presentation::default() };
    presentation.push(SectionName::Numbers, parts);
    presentation
}

/// All findings by layer, from the top of the path to its bottom.
pub fn explain_list(findings: &[FindingText]) -> Presentation {
    let mut presentation = Presentation::default();
    for layer in LAYERS {
        let here = findings.iter().filter(|f| f.layer == layer).map(|f| (f.id.clone(), f.title.clone()));
        let here: Vec<(String, String)> = here.collect();
        let heading = || Part::Item(Item::new(json_name(&layer), ""));
        presentation
            .push(SectionName::Findings, if here.is_empty() { Vec::new() } else { vec![heading(), statements(here)] });
    }
    presentation
}

/// All built-in workloads `(name, title, answers)`: each with its question.
pub fn workloads<'a>(workloads: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Presentation {
    let row = |(name, title, answers): (&str, &str, &str)| (name.to_owned(), format!("{title}. {answers}"));
    list(vec![statements(workloads.into_iter().map(row))])
}

/// The page of a finding.
pub fn explain(page: &FindingText) -> Presentation {
    let about = format!("{}, layer: {}, {}", page.id, json_name(&page.layer), json_name(&page.status));
    let list = |items: &[String]| vec![Part::List(items.to_vec())];
    pages(
        Head { subject: page.title.clone(), about: vec![about], ..Head::default() },
        [
            ("What it means", sentences(reflow(&page.meaning))),
            ("What it rests on", list(&page.evidence)),
            ("What fixing it can bring", sentences(reflow(&page.gain_basis))),
            // Commands in a fix stand on lines of their own.
            ("What to do", sentences(unbroken(&page.fix))),
            ("How to undo it", sentences(unbroken(&page.undo))),
            ("Sources", list(&page.sources)),
            ("Read more", list(&page.links)),
        ],
    )
}

/// The page of a use: what it needs, and where the limits come from.
pub fn explain_use(used: &UseText) -> Presentation {
    let needs = used.needs.iter().map(|need| {
        let unit =
            quantity::unit_of_name(&need.quantity).or_else(|| quantity::unit_of_name(&format!(".{}", need.quantity)));
        let limit = quantity::quantity(need.threshold(), unit.unwrap_or(model::Unit::OpsPerS));
        let side = if need.least.is_some() { "at least" } else { "at most" };
        format!("{} ({}): {side} {limit}", need.what, need.phase)
    });
    pages(
        Head { subject: used.title.clone(), ..Head::default() },
        [
            ("What it does", sentences(reflow(&used.meaning))),
            ("What it needs", vec![Part::List(needs.collect())]),
            ("How to test it", sentences(vec![format!("narrows check TARGET --for {}", used.id)])),
            ("Sources", vec![Part::List(used.sources.to_vec())]),
        ],
    )
}

/// Paragraphs below their headings; a heading of nothing is left out.
fn pages(head: Head, parts: impl IntoIterator<Item = (&'static str, Vec<Part>)>) -> Presentation {
    let mut presentation = Presentation { head, ..Presentation::default() };
    for (heading, parts) in parts {
        let heading = Part::Item(Item::new(heading, ""));
        if parts.iter().any(|part| *part != Part::List(Vec::new())) {
            presentation.push(SectionName::Others, std::iter::once(heading).chain(parts).collect());
        }
    }
    presentation
}

fn sentences(paragraphs: Vec<String>) -> Vec<Part> {
    paragraphs.into_iter().filter(|p| !p.is_empty()).map(|p| Part::Sentence(Tone::Plain, p)).collect()
}

/// Lines that were broken for an editor joined again; an empty line is a new paragraph.
fn reflow(text: &str) -> Vec<String> {
    text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
