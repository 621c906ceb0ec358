//! The self-contained page: everything a run has to say, in one file that loads nothing.
//!
//! It works without scripts; only the plots over time need them, and each phase has a drawn strip of its own. Light and
//! dark follow the reader's preference, printing is always light.

mod assets;
pub mod chart;
mod compare;
mod depth;
mod distribution;
mod elements;
mod embed;
mod frame;
mod frames;
mod heat;
mod history;
mod jobs;
mod ladder;
mod layers;
mod method;
mod passes;
mod path;
mod rank;
mod reports;
mod rounds;
mod scale;
mod series;
mod several;
mod site;
mod strips;
mod tables;
mod tune;
mod verified;

pub use compare::compare_page;
pub use frame::{framed, text_of};
pub use frames::frames_page;
pub use history::history_page;
pub use layers::layers_page;
pub use rank::rank_page;
pub use several::runs_page;
pub use site::site_pages;
pub use tune::tune_page;

use crate::describe::{describe, shows_ratings};
use crate::presentation::{Part, Presentation, SectionName, Table};
use crate::run::{Form, forms};
use crate::{Check, text};
use assets::ASSETS;
use maud::{Markup, PreEscaped, html};

/// Text from outside: what could act or reorder is written as an escape; maud escapes the mark-up.
pub(super) fn t(text: &str) -> String {
    text::plain(text, false)
}

/// The page of a check, as one HTML document.
pub fn page(check: &Check<'_>) -> String {
    let run = check.run;
    let plots = series::data(run);
    let presentation = describe(check);
    let body = html! {
        a.skip href=(if reports::reports(run).is_some() { "#reports" } else { "#numbers" }) { "To the numbers" }
        main {
            (contents(check, &presentation, plots.as_ref()))
            (elements::footer(&presentation.end))
        }
        @if let Some(plots) = &plots {
            script type="application/json" id="data" { (PreEscaped(embed::json(plots))) }
            script { (PreEscaped(ASSETS.plot_script)) }
            script { (PreEscaped(ASSETS.script)) }
        }
    };
    let title = format!("narrows {} {}", check.asked(), crate::identity(run));
    let style = format!("{}\n{}", ASSETS.plot_style, ASSETS.style);
    frame::document(&title, &run.program_version, &style, &[ASSETS.plot_script, ASSETS.script], &body)
}

/// Everything between the head of the page and its last line; `plots` is what the script draws. First what everybody reads: the
/// answer, the numbers, one plot, findings; the rest is folded.
fn contents(check: &Check<'_>, presentation: &Presentation, plots: Option<&serde_json::Value>) -> Markup {
    let run = check.run;
    let reports = reports::reports(run);
    let drawn_over_time = plots.filter(|_| !check.is_check() && !is_drawn(check));
    html! {
        (elements::head(&presentation.head))
        (elements::parts(presentation.parts(SectionName::Bottleneck)))
        @if let Some(reports) = &reports {
            (section("reports", "Report by report", "What each device did, as the other tool printed it; every figure is in all numbers", html! {
                (reports)
                (elements::end(&presentation.head, &presentation.end))
            }))
        } @else {
            (section("numbers", "The numbers", "", html! {
                (numbers(check, presentation))
                (elements::parts(presentation.parts(SectionName::Limits)))
                (elements::end(&presentation.head, &presentation.end))
            }))
        }
        @if !presentation.parts(SectionName::Others).is_empty() {
            (section("group", "The group", "What all ranks did together, and the slowest with its limit", html! {
                @for curve in check.scale { (scale::plot(curve)) }
                (elements::parts(presentation.parts(SectionName::Others)))
            }))
        }
        @if check.is_check() {
            (section("ladder", "The ladder", "How much is left at each step from memory to the device", ladder::ladder(run)))
        }
        @if let Some(plots) = drawn_over_time { (section("time", "Over time", TIME, time(plots, true))) }
        @if let Some(rounds) = rounds::rounds(run).filter(|_| !check.is_check()) {
            (section("rounds", "Round by round", "The rate of each round, until the last of them are steady (SNIA PTS)", rounds))
        }
        @if let Some(passes) = passes::passes(run) {
            (section("passes", "Pass by pass", "A write that takes longer from pass to pass is a sign of wear", passes))
        }
        @if let Some(verified) = verified::verified(run).filter(|_| !check.is_check()) {
            (section("verified", "Verified data", "Each sector that was written says what it is; what came back was held against that", verified))
        }
        @if !presentation.parts(SectionName::Events).is_empty() {
            (section("events", "What happened", "Changes of rate, steady state, verification and failed operations, in the order of the phases", elements::parts(presentation.parts(SectionName::Events))))
        }
        @if !check.findings.is_empty() {
            (section("findings", "Findings", "Named conditions of this path", tables::findings(check)))
        }
        (details(check, plots.filter(|_| drawn_over_time.is_none())))
    }
}

/// Whether a plot stands beside the numbers: of a grid, of depths, or of rounds.
fn is_drawn(check: &Check<'_>) -> bool {
    let drawn = |f: &Form<'_>| matches!(f, Form::Grid(..) | Form::Depth(..));
    forms(check.run, check.depth_curves).iter().any(drawn) || rounds::rounds(check.run).is_some()
}

/// The tables with the drawings of their forms, then what stands below them.
fn numbers(check: &Check<'_>, presentation: &Presentation) -> Markup {
    let parts = presentation.parts(SectionName::Numbers);
    let (tables, below): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|p| matches!(p, Part::Table(_)));
    let forms = if check.is_check() { Vec::new() } else { forms(check.run, check.depth_curves) };
    html! {
        @for (i, part) in tables.into_iter().enumerate() {
            @if let Part::Table(table) = part {
                div.formed {
                    @match forms.get(i) {
                        Some(Form::Grid(grid, _)) => { (heat::map(grid, table)) },
                        Some(Form::Depth(curve, places)) => {
                            h3.form { (t(&table.caption)) }
                            (depth::plot(check.run, curve, places))
                            (elements::table(&Table { caption: String::new(), ..table.clone() }))
                        },
                        _ => { (elements::table(table)) },
                    }
                }
            }
        }
        (elements::parts(below))
    }
}

/// What is folded until somebody wants it.
fn details(check: &Check<'_>, plots: Option<&serde_json::Value>) -> Markup {
    let run = check.run;
    // Another tool's output says little of the machine and how it was measured.
    let own = run.target.kind != model::TargetKind::Foreign;
    html! {
        @if let Some(jobs) = jobs::jobs(run) {
            (fold("jobs", "Jobs and directions", "each with its own latencies, from intended start to completion", jobs))
        }
        @if let Some(plots) = plots { (fold("time", "Over time", TIME, time(plots, false))) }
        @if own || run.phases.iter().any(|p| p.record.is_some()) {
            (fold("phases", "Phase by phase", "the rate in each interval from start to end, with what was not counted", strips::strips(run)))
        }
        @if let Some(curves) = distribution::distribution(run) {
            (fold("latency", "Latency", "how long the slowest operations took: from the median to the last one in a hundred thousand", curves))
        }
        @if own {
            (fold("path", "The storage path", "from the file system down to the controller, as wide as the ceiling that is known", path::path(run)))
        }
        @if let Some(others) = tables::other_causes(check) {
            (fold("causes", "Other causes considered", "less telling than the bottleneck, and what would decide", others))
        }
        (fold("metrics", "All numbers", "every metric with its interval, how many observations carry it, and its status", tables::metrics(run)))
        @if shows_ratings(check) {
            (fold("ratings", "Short-test ratings", "what this short test says about published classes; not a certificate", tables::ratings(check)))
        }
        @if own { (fold("method", "How it was measured", "what was proven and what was not, for each phase", method::method(run))) }
        @if own || run.environment.kernel.is_some() { (fold("environment", "The machine", "", tables::environment(run))) }
        @if run.phases.iter().any(|p| !p.plan.streams.is_empty()) { (fold("plan", "The plan", "", method::plan(run))) }
        @if own && run.kernel_log.as_ref().is_none_or(|l| !l.is_empty()) {
            (fold("kernel", "Kernel messages during the run", "", tables::kernel_log(run)))
        }
    }
}

const TIME: &str = "All phases of the run; choose one to look closer, or drag over a plot";

fn section(id: &str, title: &str, lead: &str, body: Markup) -> Markup {
    html! {
        section id=(id) {
            h2 { (title) }
            @if !lead.is_empty() { p.lead { (lead) } }
            (body)
        }
    }
}

/// A part that is folded, and printed only when it was unfolded.
fn fold(id: &str, title: &str, lead: &str, body: Markup) -> Markup {
    html! {
        section.fold id=(id) {
            details {
                summary { h2 { (title) } @if !lead.is_empty() { " " span.lead { (lead) } } }
                div.folded { (body) }
            }
        }
    }
}

/// Places for the plots; the script fills them. All but the first are folded where they stand in the open.
fn time(plots: &serde_json::Value, folded: bool) -> Markup {
    let has = |key: &str| plots.get(key).is_some_and(|v| !v.is_null());
    let place = |id: &str, title: &str, label: &str| {
        html! {
            figure.plot {
                figcaption { (title) }
                div id=(id) role="img" aria-label=(label) {}
            }
        }
    };
    let others = html! {
        (place("plot-latency", "Latency of each interval, logarithmic", "Median, 99th percentile and maximum latency over time"))
        @if has("disk") { (place("plot-disk", "What reached the device, MB/s", "Bytes read and written at the device over time, MB/s")) }
        @if has("cpu") { (place("plot-cpu", "CPU by kind, and I/O wait, % of the whole machine", "CPU time by kind as a share of the whole machine over time")) }
        @if has("temperature") { (place("plot-temperature", "Temperature, °C", "Temperatures over time, degrees Celsius")) }
        @if has("frequency") { (place("plot-frequency", "CPU frequency, MHz", "CPU frequency over time, MHz")) }
        p.hint {
            "Max latency is that of the slowest operation of an interval. A gap is an interval in which no operation completed: its throughput \
             is 0 and it has no latency. " span.dash {} " the rate changed for good."
        }
    };
    html! {
        noscript {
            p.hint { "The plots over time need scripts. Everything else on this page, the strips of each phase included, does not." }
        }
        div.plots hidden {
            div.zoom role="group" aria-label="Phase to show" {}
            (place("plot-rate", "Throughput, MB/s", "Throughput over time, MB/s"))
            @if folded { details { summary { "Latency, what reached the device, CPU, temperature" } (others) } } @else { (others) }
        }
    }
}
