//! Several runs on one page: their rates side by side, then each with all that its own page has but the plots over time, which
//! need scripts.

use super::{contents, framed, t};
use crate::describe::describe;
use crate::{Check, quantity};
use maud::{Markup, PreEscaped, html};
use model::{Finding, Order, PhaseRun, Run, Unit};
use std::collections::BTreeMap;

/// Runs of one table side by side: more of them are another table below.
const MOST_COLUMNS: usize = 7;

const STYLE: &str = "article.run{border-top:3px solid var(--line);margin-top:3rem;padding-top:1rem}.runs li{margin-bottom:.6rem;overflow-wrap:anywhere}.runs p{margin:.15rem 0}";

/// The page of several runs, in the order in which they are given.
pub fn runs_page(version: &str, checks: &[Check<'_>]) -> String {
    let title = format!("{} runs", checks.len());
    let main = html! {
        header {
            p.brand { "narrows report" }
            h1 { (title) }
        }
        section id="runs" {
            h2 { "The runs" }
            (listed(checks))
        }
        section id="rates" {
            h2 { "Side by side" }
            p.lead { "The rate of each phase. What differs, and whether it is more than noise: narrows compare." }
            (rates(checks))
        }
        @for (i, check) in checks.iter().enumerate() {
            article.run id=(format!("run-{}", i + 1)) {
                (scoped(contents(&without_told(checks, i), &describe(check), None), &format!("run-{}-", i + 1)))
                @for (run, ids) in told(checks, i) {
                    p.hint { "Findings that are told of " a href=(format!("#run-{run}")) { "run " (run) } " in the same words: " (t(&ids.join(", "))) }
                }
            }
        }
    };
    framed(&format!("narrows {title}"), version, STYLE, &main)
}

/// The first run that has a finding in the same words, from 1 on; `None` where this one has it first.
fn told_at(checks: &[Check<'_>], run: usize, finding: &Finding) -> Option<usize> {
    let same = |f: &Finding| {
        (&f.id, &f.title, &f.fix, &f.evidence) == (&finding.id, &finding.title, &finding.fix, &finding.evidence)
    };
    checks[..run].iter().position(|c| c.findings.iter().any(same)).map(|i| i + 1)
}

/// Findings that an earlier run has told, by that run.
fn told<'a>(checks: &[Check<'a>], run: usize) -> BTreeMap<usize, Vec<&'a str>> {
    let mut all: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for finding in checks[run].findings {
        if let Some(first) = told_at(checks, run, finding) {
            all.entry(first).or_default().push(&finding.id);
        }
    }
    all
}

/// A run with the findings that no earlier one has told; all of them where one of its own is new.
fn without_told<'a>(checks: &[Check<'a>], run: usize) -> Check<'a> {
    let check = checks[run];
    let known = check.findings.iter().all(|f| told_at(checks, run, f).is_some());
    Check { findings: if known { &[] } else { check.findings }, ..check }
}

/// What a run says in short.
fn short<'a>(check: &Check<'a>) -> (Option<String>, Option<&'a str>) {
    (check.answer(), check.limit_is_known().then_some(check.limit.statement.as_str()))
}

/// Of each run what it was, where its part of the page begins, and what it says.
fn listed(checks: &[Check<'_>]) -> Markup {
    html! {
        ol.runs {
            @for (i, check) in checks.iter().enumerate() {
                li {
                    a href=(format!("#run-{}", i + 1)) { (t(&check.asked())) " on " (t(&crate::identity(check.run))) }
                    " " small { (t(check.started)) ", " (t(&check.run.id)) }
                    @match checks[..i].iter().position(|c| short(c) == short(check)).filter(|_| short(check) != (None, None)) {
                        Some(first) => { small { ": says the same as run " (first + 1) } },
                        None => {
                            @if let Some(words) = short(check).0 { p { b { (t(&words)) } } }
                            @if let Some(words) = short(check).1 { p { (t(&check.bottleneck_words())) ": " (t(words)) } }
                        },
                    }
                }
            }
        }
    }
}

/// What says how fast a phase was: operations where each goes somewhere else, else bytes.
fn rate_id(phase: &PhaseRun) -> String {
    let scattered = phase.plan.streams.iter().any(|s| s.blocks().is_some_and(|s| s.block.order != Order::Sequential));
    let imported =
        || phase.metrics.iter().find(|m| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS));
    if let Some(rate) = imported().filter(|_| phase.plan.streams.is_empty()) {
        return rate.id.clone();
    }
    let rate = match scattered {
        _ if phase.plan.operates_on_files() => "files_per_s",
        true => "iops",
        false => "throughput_bytes_per_s",
    };
    format!("{}.{rate}", phase.plan.name)
}

fn rates(checks: &[Check<'_>]) -> Markup {
    let mut ids: Vec<String> = Vec::new();
    for id in checks.iter().flat_map(|c| &c.run.phases).map(rate_id) {
        if !ids.contains(&id) && checks.iter().any(|c| c.run.metric(&id).is_some()) {
            ids.push(id);
        }
    }
    // As many in each.
    let columns = checks.len().div_ceil(checks.len().div_ceil(MOST_COLUMNS).max(1)).max(1);
    html! {
        @for (part, checks) in checks.chunks(columns).enumerate() {
            @let first = part * columns + 1;
            div.scroll tabindex="0" role="region" aria-label=(format!("Rates of runs {first} to {}", first + checks.len() - 1)) {
                table.data.form {
                    thead { tr { td {} @for i in first..first + checks.len() { th scope="col" { a href=(format!("#run-{i}")) { "run " (i) } } } } }
                    tbody {
                        @for id in &ids {
                            tr {
                                th scope="row" { (t(model::MetricKey::of(id).of)) }
                                @for check in checks { td { (value(check.run, id)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The number, or why there is none.
fn value(run: &Run, id: &str) -> Markup {
    let Some(metric) = run.metric(id) else { return html! { "-" } };
    match quantity::metric(metric) {
        Some(shown) => html! { (shown.value()) },
        None => html! {
            span.status.skipped title=(t(&model::reason::joined(&metric.reasons))) { (crate::headline::status_word(metric.status)) }
        },
    }
}

/// The same with ids of its own. Quotation marks in texts are escaped, so that these stand in tags only.
fn scoped(markup: Markup, prefix: &str) -> Markup {
    let own = |text: String, before: &str| text.replace(before, &format!("{before}{prefix}"));
    let text = own(markup.into_string(), " id=\"");
    PreEscaped(own(own(text, " href=\"#"), " aria-labelledby=\""))
}
