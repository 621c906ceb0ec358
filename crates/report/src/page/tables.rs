//! Tables of the page: metrics, findings, ratings, the machine, the kernel's log.

use super::elements::{evidence, layer_word};
use super::t;
use crate::evidence::{RenderedEvidence, confidence_word};
use crate::grouped::grouped;
use crate::headline::{rating_words, status_word};
use crate::{Check, quantity, text};
use maud::{Markup, html};
use model::{Metric, MetricStatus, Run, json_name};

/// Lines of the kernel's log shown.
const LOG_LINES: usize = 200;

/// A quantity's name in words: `latency_ns_p99` is `latency p99`.
fn quantity_name(m: &Metric) -> String {
    let name = m.key().within();
    let words = name.replace("_bytes_per_s", "").replace("_ns", "").replace("_percent", "").replace("p999", "p99.9");
    t(&words.replace(['_', '.'], " ").replace("iops", "IOPS").replace("p99 9", "p99.9").replace("cpu", "CPU"))
}

fn row(m: &Metric) -> Markup {
    html! {
        tr.(json_name(&m.status)) {
            th scope="row" title=(t(&m.id)) { (quantity_name(m)) }
            td {
                @match quantity::metric(m) {
                    Some(s) => { b { (s.number) } " " (s.unit) @if let Some(h) = &s.half_width { " " span.half { "± " (h) } } },
                    None => {
                        span.status.(if m.status == MetricStatus::Refused { "refused" } else { "skipped" }) { (status_word(m.status)) }
                        @if let Some(v) = quantity::rejected(m) { " " span.rejected { "(" (v.value()) ")!" } }
                    },
                }
            }
            td.count { @if m.n > 0 { (quantity::count(m.n)) } }
            td.why { (t(&model::reason::joined(&m.reasons))) }
        }
    }
}

/// All metrics, grouped by phase.
pub(super) fn metrics(run: &Run) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="All metrics" {
            table.data.metrics {
                thead { tr { th scope="col" { "quantity" } th scope="col" { "value" } th scope="col" { "from" } th scope="col" { "remarks" } } }
                @for p in run.phases.iter().filter(|p| !p.metrics.is_empty()) {
                    tbody {
                        tr.group { th scope="rowgroup" colspan="4" { (t(&p.plan.name))
                            @if p.steady == Some(false) { " " span.chip.unsure { "not steady" } }
                        } }
                        @for m in &p.metrics { (row(m)) }
                    }
                }
            }
        }
    }
}

/// Text of several lines: each line is made safe, the breaks stay.
fn lines(of: &str) -> String {
    text::unbroken(of).iter().map(|l| t(l)).collect::<Vec<_>>().join("\n")
}

fn worded(run: &Run, evidence: &[model::Evidence]) -> Vec<RenderedEvidence> {
    evidence.iter().map(|e| RenderedEvidence::of(run, e)).collect()
}

/// The findings, each with evidence and what to do.
pub(super) fn findings(check: &Check<'_>) -> Markup {
    html! {
        @for f in check.findings {
            article.finding {
                h3 { (text::capital(&t(&f.title))) }
                p.tags { code { (t(&f.id)) } " " span.chip { (layer_word(f.layer)) } " " span.chip { (confidence_word(f.confidence)) } }
                (evidence(&worded(check.run, &f.evidence)))
                p.fix { strong { "What to do: " } (lines(&f.fix)) }
                @if let Some(g) = &f.gain {
                    p.gain {
                        @match g.at_most_ratio {
                            Some(r) => { "May bring at most " strong { (quantity::ratio(r)) " ×" } " in " code { (t(&g.metric)) } },
                            None => { "Concerns " code { (t(&g.metric)) } "; how much cannot be predicted" },
                        }
                        @if !g.basis.is_empty() { ". Rests on: " (t(&g.basis)) }
                    }
                }
                @if !f.source.is_empty() { p.source { "Source: " (t(&f.source)) } }
            }
        }
    }
}

/// The causes beside the bottleneck; `None` if there are none.
pub(super) fn other_causes(check: &Check<'_>) -> Option<Markup> {
    let others: Vec<_> = check.causes.iter().filter(|c| !c.is_limit).collect();
    (!others.is_empty()).then(|| {
        html! {
            @for c in others {
                article.finding {
                    h3 { (text::capital(&t(&c.statement))) }
                    p.tags { span.chip { (layer_word(c.layer)) } " " span.chip { (confidence_word(c.confidence)) } }
                    (evidence(&worded(check.run, &c.evidence)))
                    @if !c.decided_by.is_empty() { p.source { "Decided by: " (t(&c.decided_by)) } }
                }
            }
        }
    })
}

/// Speed classes and the conditions that were not met.
pub(super) fn ratings(check: &Check<'_>) -> Markup {
    // What is said of several classes is said once.
    let reasons = check.ratings.iter().flat_map(|r| r.reasons.iter().map(move |reason| (reason, r.class.as_str())));
    let reasons = grouped(reasons);
    html! {
        ul.ratings {
            @for r in check.ratings {
                li { b { (t(&rating_words(r))) } @if r.approximation { " " span.chip { "approximation" } } }
            }
        }
        @for (reason, classes) in &reasons {
            p.reason { @if classes.len() < check.ratings.len() { (t(&classes.join(", "))) ": " } (t(&reason.to_string())) }
        }
    }
}

/// The machine, with what could not be read and how to read it.
pub(super) fn environment(run: &Run) -> Markup {
    let e = &run.environment;
    let yes_no = |b: bool| if b { "yes" } else { "no" }.to_owned();
    let cpus: Vec<String> = e.cpus.iter().map(|c| format!("{} × {}", c.count, c.name)).collect();
    let dirty: Vec<String> = e.dirty_settings.iter().filter_map(|(k, v)| v.map(|v| format!("{k} = {v}"))).collect();
    let join = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let rows: Vec<(&str, Option<String>)> = vec![
        ("host", e.hostname.clone()),
        ("machine", e.machine.clone()),
        ("kernel", e.kernel.clone()),
        ("architecture", e.architecture.clone()),
        ("distribution", e.distribution.clone()),
        ("processors", join(&cpus)),
        ("governors", join(&e.governors)),
        ("memory", e.memory_bytes.map(quantity::memory_size)),
        ("page size", e.page_size_bytes.map(quantity::binary_size)),
        ("virtualization", e.virtualization.clone()),
        ("clock source", e.clock_source.clone()),
        ("clock synchronised", e.clock_synchronised.map(yes_no)),
        ("ran as root", e.root.map(yes_no)),
        ("kernel.io_uring_disabled", e.io_uring_disabled.map(|v| v.to_string())),
        ("locked memory limit", e.memlock_limit_bytes.map(quantity::binary_size)),
        ("writeback", join(&dirty)),
        ("boot id", e.boot_id.clone()),
        ("kernel command line", e.kernel_command_line.clone()),
    ];
    html! {
        dl.environment {
            @for (name, value) in &rows { @if let Some(v) = value { div { dt { (name) } dd { (t(v)) } } } }
        }
        @if !e.missing.is_empty() {
            p.hint { "Missing, and how to get it:" }
            ul.missing { @for m in &e.missing { li { (t(m)) } } }
        }
    }
}

/// The kernel's messages, or why there are none.
pub(super) fn kernel_log(run: &Run) -> Markup {
    html! {
        @match &run.kernel_log {
            None => { p.hint { "None are kept with this run: a simulated device has none, and to read those of the machine needs root, or the sysctl kernel.dmesg_restrict set to 0." } },
            Some(lines) => {
                pre tabindex="0" { @for l in lines.iter().take(LOG_LINES) { (t(l)) "\n" } }
                @if lines.len() > LOG_LINES { p.hint { (lines.len() - LOG_LINES) " more lines are in the run's kernel.log." } }
            },
        }
    }
}
