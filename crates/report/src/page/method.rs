//! What was proven and what was not: engine, O_DIRECT, cold cache, real data, warm-up, foreign traffic; and the plan.

use super::t;
use crate::plan::words;
use crate::quantity;
use maud::{Markup, html};
use model::{ColdProof, DataProof, DirectProof, PhaseRecord, QuietWindow, Run, json_name};

fn proof(word: &str, good: bool, basis: &str) -> Markup {
    html! { span.proof.(if good { "good" } else { "doubt" }) { (word) } @if !basis.is_empty() { " " (t(basis)) } }
}

fn direct(d: &DirectProof) -> Markup {
    match d {
        DirectProof::Proven(b) => proof("proven", true, b),
        DirectProof::Unproven(b) => proof("unproven", false, b),
        DirectProof::Fallback(b) => proof("fallback to the page cache", false, b),
        DirectProof::NoDevice(b) => proof("from the page cache", false, b),
    }
}

fn data(d: &DataProof) -> Markup {
    match d {
        DataProof::Real(b) => proof("real", true, b),
        DataProof::NotReal(b) => proof("not real", false, b),
        DataProof::Unknown(b) => proof("unknown", false, b),
    }
}

fn cold(c: &ColdProof) -> Markup {
    let pages = c.resident_pages_before.map_or("unknown".to_owned(), quantity::count);
    let device = c.device_read_bytes.map_or("unknown".to_owned(), quantity::size);
    html! {
        (t(&c.method)) "; resident pages before: " (pages)
        "; the device read " (device) " for " (quantity::size(c.phase_read_bytes))
    }
}

fn quiet(before: Option<QuietWindow>, after: Option<QuietWindow>) -> Option<String> {
    let one = |w: QuietWindow| {
        let bytes = w.read_bytes + w.write_bytes;
        format!("{} in {}", quantity::size(bytes), quantity::duration(w.length_ns))
    };
    match (before, after) {
        (None, None) => None,
        (b, a) => {
            Some(format!("before {}, after {}", b.map_or("unknown".into(), one), a.map_or("unknown".into(), one)))
        }
    }
}

fn rows(run: &Run, r: &PhaseRecord) -> Markup {
    // A soak is put together of many passes: who carried them out, and how many operations they were, is not kept.
    let is_sum = run.command == "soak";
    let engine = format!("{}, submitting up to {}", json_name(&r.engine.kind), r.engine.batch_submit);
    let cpu = r.usage.user_ns + r.usage.system_ns;
    html! {
        @if !is_sum { div { dt { "engine" } dd {
            (engine) @if !r.engine.features.is_empty() { "; " (t(&r.engine.features.join(", "))) }
            @for m in &r.engine.missing { br; span.proof.doubt { "missing" } " " (t(m)) }
        } } }
        @if let Some(d) = &r.direct { div { dt { "direct I/O" } dd { (direct(d)) } } }
        @if let Some(c) = &r.cold { div { dt { "cold" } dd { (cold(c)) } } }
        @if let Some(d) = &r.data { div { dt { "data read" } dd { (data(d)) } } }
        div { dt { "ran" } dd {
            (quantity::duration(r.duration_ns())) @if r.operations > 0 || r.bytes == 0 { ", " (quantity::count(r.operations)) " operations" }
            ", " (quantity::size(r.bytes))
            "; ended: " (json_name(&r.stop).replace('-', " "))
        } }
        @if r.warmup.cut_ns > 0 || !r.warmup.rule.is_empty() { div { dt { "warm-up cut" } dd {
            (quantity::duration(r.warmup.cut_ns)) ", " (quantity::count(r.warmup.operations)) " operations"
            @if !r.warmup.rule.is_empty() { " (" (t(&r.warmup.rule)) ")" }
        } } }
        @if let Some(depth) = r.mean_depth { div { dt { "mean depth" } dd { (quantity::significant(depth, 3)) } } }
        @if cpu > 0 { div { dt { "own CPU" } dd { (quantity::duration(cpu)) ": user " (quantity::duration(r.usage.user_ns)) ", system " (quantity::duration(r.usage.system_ns)) } } }
        @if let Some(q) = quiet(r.quiet_before, r.quiet_after) { div { dt { "other I/O on the disk" } dd { (q) } } }
        @if r.short_operations > 0 { div { dt { "short operations" } dd { (quantity::count(r.short_operations)) } } }
        @if !r.errors.is_empty() { div { dt { "errors" } dd { @for (name, n) in &r.errors { span.proof.doubt { (t(name)) } " " (quantity::count(*n)) " " } } } }
    }
}

/// How each phase was carried out.
pub(super) fn method(run: &Run) -> Markup {
    html! {
        @for p in &run.phases {
            details.method {
                summary { b { (t(&p.plan.name)) } " "
                    @match &p.record {
                        Some(r) => {
                            // Of what has no plan it is not kept how the target was opened.
                            @if !p.plan.streams.is_empty() { span.quiet { (json_name(&r.engine.kind)) ", " (json_name(&p.plan.access)) } }
                            @match &r.direct {
                                Some(DirectProof::Proven(_)) => { " " span.proof.good { "direct proven" } },
                                Some(DirectProof::Unproven(_)) => { " " span.proof.doubt { "direct unproven" } },
                                Some(DirectProof::Fallback(_)) => { " " span.proof.doubt { "fallback" } },
                                Some(DirectProof::NoDevice(_)) => { " " span.proof.doubt { "from the page cache" } },
                                None => {},
                            }
                        },
                        None => { span.status.skipped { (json_name(&p.status).replace('-', " ")) } },
                    }
                }
                @match &p.record {
                    Some(r) => { dl.environment { (rows(run, r)) } },
                    None => { @for reason in &p.reasons { p.reason { (t(&reason.to_string())) } } },
                }
            }
        }
    }
}

/// The plan, every default explicit.
pub(super) fn plan(run: &Run) -> Markup {
    let plan = &run.plan;
    html! {
        dl.environment {
            div { dt { "measured region" } dd { (quantity::binary_size(plan.size.bytes)) " (" (t(&plan.size.reason)) ")" } }
            div { dt { "budget" } dd { (quantity::duration(plan.budget_ns)) } }
            div { dt { "interval of the series" } dd { (quantity::duration(plan.interval_ns)) } }
            div { dt { "quiet window" } dd { (quantity::duration(plan.quiet_ns)) } }
            div { dt { "seed" } dd { (plan.seed) } }
        }
        div.scroll tabindex="0" role="region" aria-label="Phases of the plan" {
            table.data.plan {
                thead { tr { @for h in ["phase", "operation", "block", "depth", "access", "durable", "time", "ends"] { th scope="col" { (h) } } } }
                tbody {
                    @for p in run.phases.iter().map(|p| &p.plan) {
                        @for s in &p.streams {
                            tr {
                                th scope="row" { (t(&p.name)) }
                                td { (words::work(s)) }
                                td { @if let Some(s) = s.blocks() { (words::sizes(s.block)) } }
                                td { (s.path.queue_depth) }
                                td { (json_name(&s.path.access)) @if p.cold { ", cold" } }
                                td { (words::durable(s).join(", ")) }
                                td { (quantity::duration(p.time_limit_ns)) }
                                td { (words::stop(p.stop)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
