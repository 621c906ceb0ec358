//! Several runs on one page: their rates side by side, then each with all that its own page has but the plots over time, which
//! need scripts.

use super::{contents, framed, t};
use crate::describe::describe;
use crate::{Check, quantity};
use maud::{Markup, PreEscaped, html};
use model::{Order, PhaseRun, Run};

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
            div.scroll tabindex="0" role="region" aria-label="Rates of all runs" { (rates(checks)) }
        }
        @for (i, check) in checks.iter().enumerate() {
            article.run id=(format!("run-{}", i + 1)) {
                (scoped(contents(check, &describe(check), None), &format!("run-{}-", i + 1)))
            }
        }
    };
    framed(&format!("narrows {title}"), version, STYLE, &main)
}

/// Of each run what it was, where its part of the page begins, and what it says.
fn listed(checks: &[Check<'_>]) -> Markup {
    html! {
        ol.runs {
            @for (i, check) in checks.iter().enumerate() {
                li {
                    a href=(format!("#run-{}", i + 1)) { (t(&check.asked())) " on " (t(&crate::identity(check.run))) }
                    " " small { (t(check.started)) ", " (t(&check.run.id)) }
                    @if let Some(words) = check.answer() { p { b { (t(&words)) } } }
                    @if check.limit_is_known() { p { "Bottleneck: " (t(&check.limit.statement)) } }
                }
            }
        }
    }
}

/// What says how fast a phase was: operations where each goes somewhere else, else bytes.
fn rate_id(phase: &PhaseRun) -> String {
    let scattered = phase.plan.streams.iter().any(|s| s.block().order != Order::Sequential);
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
    html! {
        table.data {
            thead { tr { td {} @for i in 1..=checks.len() { th scope="col" { a href=(format!("#run-{i}")) { "run " (i) } } } } }
            tbody {
                @for id in &ids {
                    tr {
                        th scope="row" { (t(id.rsplit_once('.').map_or(id.as_str(), |(phase, _)| phase))) }
                        @for check in checks { td { (value(check.run, id)) } }
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
        Some(shown) => html! { (shown.with_interval("± ")) },
        None => html! {
            span.status.skipped title=(t(&metric.reasons.join("; "))) { (crate::headline::status_word(metric.status)) }
        },
    }
}

/// The same with ids of its own. Quotation marks in texts are escaped, so that these stand in tags only.
fn scoped(markup: Markup, prefix: &str) -> Markup {
    let own = |text: String, before: &str| text.replace(before, &format!("{before}{prefix}"));
    let text = own(markup.into_string(), " id=\"");
    PreEscaped(own(own(text, " href=\"#"), " aria-labelledby=\""))
}
