//! What the verification found, phase by phase, with every place that was kept.

use super::chart::px;
use super::t;
use crate::quantity;
use maud::{Markup, html};
use model::{DataFinding, FromDevice, PhaseRun, Run, TargetKind, VerifyRecord, VerifySource};

/// Places shown; the JSON document has all that were kept.
const PLACES: usize = 200;

fn place(f: &DataFinding) -> Markup {
    let generation = |g: Option<u32>| g.map_or("–".to_owned(), |g| g.to_string());
    let word = |v: &serde_json::Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let evidence: Vec<String> = f.evidence.iter().map(|e| format!("{}: {}", e.what, word(&e.value))).collect();
    html! {
        tr {
            th scope="row" { (quantity::count(f.lba)) }
            td { span.status.refused { (f.class.name()) } }
            td { (quantity::count(f.sectors)) }
            td { (generation(f.expected_generation)) }
            td { (generation(f.found_generation)) }
            td.why { (t(&evidence.join("; "))) }
        }
    }
}

fn read_from(source: &VerifySource) -> String {
    match source {
        VerifySource::Device(FromDevice::Direct) => "the device, past the page cache".into(),
        VerifySource::Device(FromDevice::Cold) => {
            "the device: no page was cached before, and it delivered every byte".into()
        }
        VerifySource::Memory(because) => format!("memory: {because}"),
    }
}

/// Where on the target something was wrong: its start on the left, its end on the right.
fn map(findings: &[DataFinding], bytes: u64) -> Markup {
    const WIDTH: f64 = 760.0;
    let x = |sector: u64| (sector as f64 * 512.0 / bytes as f64 * WIDTH).min(WIDTH);
    // What is one sector must be seen, too.
    let mark = |f: &DataFinding| {
        let (from, to) = (x(f.lba), x(f.lba.saturating_add(f.sectors)));
        (from.min(WIDTH - 2.0), (to - from).max(2.0))
    };
    html! {
        figure.map {
            figcaption { "Where it was wrong" }
            svg.strip viewBox="0 0 760 30" preserveAspectRatio="none" role="img" aria-label=(format!("{} places found wrong on {}", findings.len(), quantity::size(bytes))) {
                @for (from, width) in findings.iter().map(mark) { rect.stall x=(px(from)) y="0" width=(px(width)) height="30" {} }
            }
            p.hint { "from the start of the target on the left to its end at " (quantity::size(bytes)) }
        }
    }
}

fn of_phase(name: &str, v: &VerifyRecord, bytes: Option<u64>) -> Markup {
    let kinds: Vec<&str> = v.kinds.iter().map(|k| k.checks()).collect();
    html! {
        h3.form { (t(name)) " "
            @if v.tester_faults > 0 { span.chip.low { "this program is wrong" } }
            @else if v.mismatched() > 0 { span.chip.low { "data wrong" } }
            @else if v.blocks_verified == 0 { span.chip.unsure { "nothing verified" } }
            @else if v.in_memory_only().is_some() { span.chip.unsure { "verified in memory only" } }
            @else { span.chip.sure { "nothing wrong" } }
        }
        dl.environment {
            div { dt { "checked" } dd { (t(&kinds.join("; "))) } }
            div { dt { "verified" } dd { (quantity::size(v.bytes_verified)) " in " (quantity::count(v.blocks_verified)) " blocks" } }
            div { dt { "read back" } dd { (v.read_back.name()) @if let Some(ns) = v.read_back_ns { ", " (quantity::size(v.read_back_bytes)) " in " (quantity::duration(ns)) } } }
            @if let Some(source) = &v.read_from { div { dt { "read from" } dd { (t(&read_from(source))) } } }
            @if let Some(path) = &v.path { div { dt { "re-reads" } dd { (t(path)) } } }
            @for (class, n) in &v.mismatches { div { dt { (class.name()) } dd { b { (quantity::count(*n)) } @if *n == 1 { " place" } @else { " places" } } } }
            @for (reason, n) in &v.unverified { div { dt { "not verified" } dd { (quantity::count(*n)) " blocks: " (reason.reason()) } } }
        }
        @if !v.findings.is_empty() {
            @if let Some(bytes) = bytes.filter(|bytes| *bytes > 0) { (map(&v.findings, bytes)) }
            div.scroll tabindex="0" role="region" aria-label="Places found wrong" {
                table.data.places {
                    thead { tr { @for h in ["sector", "what", "sectors", "expected", "found", "evidence"] { th scope="col" { (h) } } } }
                    tbody { @for f in v.findings.iter().take(PLACES) { (place(f)) } }
                }
            }
            @let more = v.findings.len().saturating_sub(PLACES) as u64 + v.findings_dropped;
            @if more > 0 { p.hint { "and " (quantity::count(more)) " more" } }
            p.hint { "Sectors have 512 bytes and are counted from the start of the target; expected and found are generations of the data." }
        }
    }
}

/// All phases that verified; `None` if none did.
pub(super) fn verified(run: &Run) -> Option<Markup> {
    // Of a file or a device that is known; places in files of a directory are of each file.
    let bytes = run
        .target
        .size_bytes
        .or(run.target.stack.device_bytes())
        .filter(|_| run.target.kind != TargetKind::Directory || run.command == "soak");
    let of = |p: &PhaseRun| Some(of_phase(&p.plan.name, p.record.as_ref()?.verify.as_ref()?, bytes));
    let all: Vec<Markup> = run.phases.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| html! { @for one in &all { (one) } })
}
