//! The self-contained page: everything a run has to say, in one file that loads nothing.
//!
//! It works without scripts; only the plots over time need them, and each phase has a drawn strip of its own. Light and
//! dark follow the reader's preference, printing is always light.

mod compare;
mod depth;
mod distribution;
mod embed;
mod frame;
mod heat;
mod jobs;
mod ladder;
mod method;
mod path;
mod rank;
mod rounds;
mod run;
mod series;
mod several;
mod strips;
mod summary;
mod tables;
mod verified;

pub use compare::compare_page;
pub use frame::{framed, text_of};
pub use rank::rank_page;
pub use several::runs_page;

use crate::Check;
use crate::text;
use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");
const PLOT_STYLE: &str = include_str!("../../vendor/uplot/uPlot.min.css");
const PLOT_SCRIPT: &str = include_str!("../../vendor/uplot/uPlot.iife.min.js");
const SCRIPT: &str = include_str!("plots.js");

/// Text from outside: what could act or reorder is written as an escape; maud escapes the mark-up.
pub(super) fn t(text: &str) -> String {
    text::plain(text, false)
}

/// The page of a check, as one HTML document.
pub fn page(check: &Check<'_>) -> String {
    let run = check.run;
    let plots = series::data(run);
    let body = html! {
        a.skip href="#numbers" { "To the numbers" }
        main {
            (contents(check, plots.as_ref()))
            (summary::footer(check))
        }
        @if let Some(plots) = &plots {
            script type="application/json" id="data" { (PreEscaped(embed::json(plots))) }
            script { (PreEscaped(PLOT_SCRIPT)) }
            script { (PreEscaped(SCRIPT)) }
        }
    };
    let title = format!("narrows {} {}", check.asked(), crate::identity(run));
    let style = format!("{PLOT_STYLE}\n{STYLE}");
    frame::document(&title, &run.program_version, &style, &[PLOT_SCRIPT, SCRIPT], &body)
}

/// Everything between the head of the page and its last line; `plots` is what the script draws.
fn contents(check: &Check<'_>, plots: Option<&serde_json::Value>) -> Markup {
    let run = check.run;
    html! {
        @if check.is_check() {
            (summary::header(check))
            (summary::numbers(check))
            (section("ladder", "The ladder", "How much is left at each step from memory to the device", ladder::ladder(run)))
        } @else {
            (run::header(check))
            (run::numbers(check))
            @if let Some(events) = run::events(check) {
                (section("events", "What happened", "Changes of rate, steady state, verification and failed operations, in the order of the phases", events))
            }
            @if let Some(rounds) = rounds::rounds(run) {
                (section("rounds", "Round by round", "The rate of each round, until the last of them are steady (SNIA PTS)", rounds))
            }
            @if let Some(verified) = verified::verified(run) {
                (section("verified", "Verified data", "Each sector that was written says what it is; what came back was held against that", verified))
            }
            @if let Some(jobs) = jobs::jobs(run) {
                (section("jobs", "Jobs and directions", "Each with its own latencies, from intended start to completion", jobs))
            }
        }
        (section("path", "The storage path", "From the file system down to the controller; the pipe is as wide as the ceiling that is known", path::path(run)))
        @if !check.findings.is_empty() {
            (section("findings", "Findings", "Named conditions of this path, with what they rest on", tables::findings(check)))
        }
        @if let Some(others) = tables::other_causes(check) {
            (section("causes", "Other causes considered", "What else may hold this run back, less telling than the bottleneck, and what would decide it", others))
        }
        @if let Some(plots) = plots {
            (section("time", "Over time", "All phases of the run; choose one to look closer, or drag over a plot", time(plots)))
        }
        (section("phases", "Phase by phase", "The rate in each interval from start to end; a stall is a gap marked at the bottom", strips::strips(run)))
        @if let Some(curves) = distribution::distribution(run) {
            (section("latency", "Latency", "How long the slowest operations took: from the median to the last one in a hundred thousand", curves))
        }
        (section("metrics", "All numbers", "Every metric with its interval, how many observations carry it, and its status", tables::metrics(run)))
        @if !check.ratings.is_empty() && check.is_check() {
            (section("ratings", "Short-test ratings", "Where this short test stands to published classes. Not a certificate.", tables::ratings(check)))
        }
        (section("method", "How it was measured", "What was proven and what was not, for each phase", method::method(run)))
        (section("environment", "The machine", "", tables::environment(run)))
        (section("plan", "The plan", "", method::plan(run)))
        @if run.kernel_log.as_ref().is_none_or(|l| !l.is_empty()) {
            (section("kernel", "Kernel messages during the run", "", tables::kernel_log(run)))
        }
    }
}

fn section(id: &str, title: &str, lead: &str, body: Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (title) }
            @if !lead.is_empty() { p.lead { (lead) } }
            (body)
        }
    }
}

/// Places for the plots; the script fills them.
fn time(plots: &serde_json::Value) -> Markup {
    let has = |key: &str| plots.get(key).is_some_and(|v| !v.is_null());
    let place = |id: &str, title: &str, label: &str| {
        html! {
            figure.plot {
                figcaption { (title) }
                div id=(id) role="img" aria-label=(label) {}
            }
        }
    };
    html! {
        noscript {
            p.hint { "The plots over time need scripts. Everything else on this page, the strips of each phase included, does not." }
        }
        div.plots hidden {
            div.zoom role="group" aria-label="Phase to show" {}
            (place("plot-rate", "Throughput", "Throughput over time, MB/s"))
            (place("plot-latency", "Latency, logarithmic", "Median, 99th percentile and maximum latency over time"))
            @if has("disk") { (place("plot-disk", "What reached the device", "Bytes read and written at the device over time, MB/s")) }
            @if has("cpu") { (place("plot-cpu", "CPU by kind, and I/O wait", "CPU time by kind as a share of the whole machine over time")) }
            @if has("temperature") { (place("plot-temperature", "Temperature", "Temperatures over time, degrees Celsius")) }
            @if has("frequency") { (place("plot-frequency", "CPU frequency", "CPU frequency over time, MHz")) }
        }
    }
}
