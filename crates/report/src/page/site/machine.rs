//! A page a machine, with the history of its series; and the events of all machines.

use super::super::{elements, fold, history as plots, section, t};
use super::Context;
use super::device::{all_runs, latest};
use super::parts::{link, table};
use crate::compare::{change, metric_words};
use crate::history::{key_words, site_event_parts, state};
use crate::listing::minute;
use maud::html;
use model::{HistoryEvent, HistorySeries, SiteRun};
use std::collections::BTreeSet;

/// Series of a machine that are drawn.
const MOST_SERIES: usize = 60;
/// Runs that make a series worth drawing.
const LEAST_RUNS: usize = 4;
/// Events of all machines, the latest.
const MOST_EVENTS: usize = 1_000;

/// All machines.
pub fn list(context: &Context<'_>) -> String {
    let rows = context.machines.iter().map(|(name, runs)| {
        let board = runs.iter().rev().find_map(|r| r.board.as_deref()).unwrap_or("-");
        let devices: BTreeSet<&str> = runs.iter().filter_map(|r| r.device.as_deref()).collect();
        let events = context.site.history.events.iter().filter(|e| e.key.machine == **name).count();
        vec![
            link("machine", name, ""),
            html! { (t(board)) },
            html! { @for (i, device) in devices.iter().take(4).enumerate() { @if i > 0 { ", " } (link("device", device, "")) } @if devices.len() > 4 { " and " (devices.len() - 4) " more" } },
            html! { (runs.len()) },
            html! { (events) },
            html! { (latest(runs)) },
        ]
    });
    let head = ["machine", "board", "devices", "runs", "events", "latest"];
    let main = section("machines", "Machines", "", table(&head, rows.collect(), "No run is counted yet."));
    context.page("Machines", "", &main)
}

pub fn page(context: &Context<'_>, name: &str, runs: &[&SiteRun]) -> String {
    let h = &context.site.history;
    let events: Vec<&HistoryEvent> = h.events.iter().filter(|e| e.key.machine == name).collect();
    // The series are sorted by their keys, the machine first.
    let from = h.series.partition_point(|s| s.key.machine.as_str() < name);
    let own: Vec<&HistorySeries> = h.series[from..].iter().take_while(|s| s.key.machine == name).collect();
    let drawn: Vec<&HistorySeries> =
        own.into_iter().filter(|s| s.points.len() >= LEAST_RUNS).take(MOST_SERIES).collect();
    let none = |_: &str| None;
    let main = html! {
        @if !events.is_empty() {
            section id="events" {
                h2 { "Events" }
                @for event in &events {
                    div id=(format!("event-{}", t(&event.id))) { (elements::parts(&site_event_parts(event))) }
                }
            }
        }
        @for (i, of_key) in drawn.chunk_by(|a, b| a.key == b.key).enumerate() {
            (fold(&format!("series-{i}"), &t(&key_words(&of_key[0].key)), "metric by metric, run by run; a line marks an event", html! {
                div.series.runs { @for s in of_key {
                    @let of: Vec<&HistoryEvent> = events.iter().copied().filter(|e| e.key == s.key && e.metrics.iter().any(|m| m.id == s.metric)).collect();
                    (plots::plot(s, &of, &none))
                } }
            }))
        }
        @if drawn.is_empty() { p.hint { "No series has four runs yet." } }
        (section("runs", "All runs", "", all_runs(runs, false)))
    };
    context.page(name, "../", &main)
}

/// The events of all machines, the latest first.
pub fn history(context: &Context<'_>) -> String {
    let events = &context.site.history.events;
    let row = |event: &HistoryEvent| {
        let first = event.metrics.first();
        let more = event.metrics.len().saturating_sub(1);
        let page = format!("machine/{}.html#event-{}", super::slug(&event.key.machine), t(&event.id));
        vec![
            html! { a href=(page) { (t(&event.id)) } " " small { (t(&event.time.as_deref().map(minute).unwrap_or_default())) } },
            html! { (t(&key_words(&event.key))) },
            html! { @if let Some(m) = first { (t(&metric_words(&m.id))) @if more > 0 { " and " (more) " more" } } },
            html! { @if let Some(m) = first { (change(m.ratio)) " (" (change(m.low)) " to " (change(m.high)) ")" } },
            html! { (state(event).1) },
        ]
    };
    let rows: Vec<_> = events.iter().rev().take(MOST_EVENTS).map(row).collect();
    let head = ["event", "of", "what", "change", "direction"];
    let main = html! {
        (section("events", "Events of all machines", "Metrics that changed at the same run are one event; runs of other machines, devices, workloads or plans are never mixed", html! {
            (table(&head, rows, "No series changed."))
            @if events.len() > MOST_EVENTS { p.hint { "and " (events.len() - MOST_EVENTS) " older ones" } }
        }))
        @if !context.site.history.notes.is_empty() { (section("notes", "What has to be known of the runs", "", elements::parts(&crate::presentation::listed(context.site.history.notes.clone())))) }
    };
    context.page("History", "", &main)
}
