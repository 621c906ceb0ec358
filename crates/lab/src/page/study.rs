//! The page of a study: what it shows in one sentence, what that rests on, and what was measured.

use super::{EMULATED, cards, sweep};
use crate::study::{ExperimentOutcome, Study, StudyCheck, StudyResult};
use maud::{Markup, html};
use report::{framed, text_of as t};
use std::path::Path;

const STYLE: &str = include_str!("study.css");

/// Longest output that is shown of one command.
const OUTPUT_LIMIT_BYTES: usize = 20_000;

/// The page, as HTML without anything to fetch.
pub fn page(study: &Study, shown: &StudyResult) -> String {
    let plan = &study.plan;
    let main = html! {
        p.banner role="note" { (EMULATED) }
        header {
            p.brand { span { "narrows lab study" } span { (t(&study.name)) } }
            h1 { (t(&plan.title)) }
        }
        (verdict(study, shown))
        section id="about" {
            h2 { "What was published, and what is done here" }
            @for paragraph in plan.about.trim().split("\n\n") { p { (t(paragraph)) } }
        }
        @if shown.seen().next().is_some() { (looked_at(shown)) }
        @if let Some(experiment) = &shown.experiment { (experimented(study, experiment)) }
        @if let Some(ranked) = &shown.ranked {
            section id="cards" {
                h2 { "The cards, measured and as their files say" }
                p.lead { "Ring: what the card server makes of the card's file. Dot: what was measured through the real drivers, as if
                    no time had been multiplied; the emulator's own time is in it and pulls the fastest back. Logarithmic. Pairs are of cards whose files
                    differ by " (format!("{:.0}", (ranked.apart - 1.0) * 100.0)) " % or more." }
                (cards::figures(&ranked.against, ranked.apart))
                (link("The ranking, with all numbers", &ranked.page))
                (as_printed(&ranked.text))
            }
        }
        section id="machines" {
            h2 { "Machines" }
            ul.notes { @for machine in &shown.machines { li { (t(machine)) } } }
        }
        footer {
            p { "narrows " (env!("CARGO_PKG_VERSION")) ", cargo xtask lab study " (t(&study.name)) ". This page is one file and loads nothing." }
        }
    };
    framed(&format!("narrows lab study {}", study.name), env!("CARGO_PKG_VERSION"), STYLE, &main)
}

/// The answer in one sentence: what the study shows if all is as expected, else what is not.
fn verdict(study: &Study, shown: &StudyResult) -> Markup {
    let all = shown.seen().count();
    let wrong: Vec<&StudyCheck> = shown.seen().filter(|s| !s.wrong.is_empty()).collect();
    html! {
        section.verdict id="verdict" {
            h2 { "What it shows" }
            p.statement {
                @match wrong.first() {
                    None => { (t(study.plan.shows.trim())) },
                    Some(first) => { "This did not come out: " (t(&first.what)) },
                }
            }
            p {
                @match (all, wrong.len()) {
                    (0, _) => {},
                    (all, 0) => { span.chip.sure { "all " (all) " as expected" } },
                    (all, wrong) => { span.chip.low { (wrong) " of " (all) " not as expected" } },
                }
                @if let Some(e) = &shown.experiment { span.chip { (e.arms.iter().map(|(_, runs)| runs.len()).sum::<usize>()) " runs" } }
                @if let Some(r) = &shown.ranked { span.chip { "times of the cards multiplied by " (r.slowness) } }
            }
        }
    }
}

fn looked_at(shown: &StudyResult) -> Markup {
    html! {
        section id="facts" {
            h2 { "What was looked at" }
            p.lead { "Each was asserted before it was seen" }
            @for step in &shown.steps {
                h3.form { (t(&step.title)) " " small { (t(&step.machine)) } }
                (checks(&step.seen))
            }
            @if let Some(ranked) = shown.ranked.as_ref().filter(|r| !r.seen.is_empty()) {
                h3.form { "The order of the cards" }
                (checks(&ranked.seen))
            }
        }
    }
}

fn checks(seen: &[StudyCheck]) -> Markup {
    html! {
        ul.checks {
            @for one in seen {
                li.(if one.wrong.is_empty() { "good" } else { "bad" }) {
                    p.what {
                        (t(&one.what)) " "
                        @if one.wrong.is_empty() { span.chip.sure { "as expected" } } @else { span.chip.low { "not as expected" } }
                    }
                    @for wrong in &one.wrong { p.wrong { (t(wrong)) } }
                    p.telling { @for words in &one.telling { code { (t(words)) } " " } }
                    details {
                        summary { "What was asked" @if !one.output.trim().is_empty() { ", and the whole answer" } }
                        pre { (t(&one.command)) }
                        @if !one.output.trim().is_empty() { pre { (output(&one.output)) } }
                    }
                }
            }
        }
    }
}

fn experimented(study: &Study, experiment: &ExperimentOutcome) -> Markup {
    let drawn = study.plan.plot.as_deref().and_then(|quantity| sweep::figure(quantity, &experiment.arms));
    html! {
        section id="experiment" {
            h2 { "The experiment" }
            @if let Some(drawn) = drawn {
                p.lead { "Each point is a run, the lines go through the medians. What may be read is how the lines lie to one another:
                    the figures are those of an emulator, and of what else this host was doing." }
                (drawn)
            }
            @for page in &experiment.pages { (link("Verdicts, pairs and latencies", page)) }
            (as_printed(&experiment.text))
        }
    }
}

/// A page that lies beside this one.
fn link(words: &str, page: &Path) -> Markup {
    let name = page.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    html! { p.more { (words) ": " a href=(name) { (t(&name)) } } }
}

fn as_printed(text: &str) -> Markup {
    html! { details { summary { "As narrows printed it" } pre { (output(text)) } } }
}

fn output(text: &str) -> String {
    let mut end = text.len().min(OUTPUT_LIMIT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { "\n..." } else { "" };
    // Line by line: what is made safe is the text, and not the ends of its lines.
    let lines: Vec<String> = text[..end].trim_end().lines().map(t).collect();
    format!("{}{more}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Step;

    fn study() -> Study {
        Study::parse(
            "x",
            "[lab]\ntitle = \"A < B\"\nabout = \"x\"\nshows = \"the driver queues\"\n[[lab.step]]\ntitle = \"s\"\n\
             machine = \"m\"\n[[lab.step.check]]\nwhat = \"w\"\ncommand = \"c\"\n",
        )
        .expect("sound")
    }

    fn shown(wrong: &[&str]) -> StudyResult {
        let seen = |wrong: &[&str]| StudyCheck {
            what: "the driver".into(),
            command: "narrows inspect".into(),
            telling: vec!["driver ahci".into()],
            output: "<ahci>\nsecond".into(),
            wrong: wrong.iter().map(|w| (*w).to_owned()).collect(),
        };
        StudyResult {
            steps: vec![Step { title: "step".into(), machine: "m".into(), seen: vec![seen(&[]), seen(wrong)] }],
            experiment: Some(ExperimentOutcome {
                text: "same".into(),
                pages: vec!["/a/reports/1.html".into()],
                arms: Vec::new(),
            }),
            ranked: None,
            machines: vec!["m: kernel 6.1".into()],
        }
    }

    #[test]
    fn a_study_says_what_it_shows_and_what_that_rests_on() {
        let page = page(&study(), &shown(&[]));
        for part in [
            "A &lt; B",
            "&lt;ahci&gt;\nsecond",
            "the driver queues",
            "all 2 as expected",
            "href=\"1.html\"",
            "kernel 6.1",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("<ahci>") && !page.contains("not as expected"));
        let warning = page.find(EMULATED).expect("the warning");
        assert!(warning < page.find("<h1").expect("a heading"), "the warning comes first");
    }

    #[test]
    fn what_is_not_as_expected_is_the_answer_then() {
        let page = page(&study(), &shown(&["driver x is missing"]));
        for part in ["This did not come out: the driver", "1 of 2 not as expected", "driver x is missing"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("the driver queues"));
    }
}
