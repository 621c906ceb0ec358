//! A page a device model: its values, how far they spread over units, firmware and boards, and all runs.

use super::super::{section, t};
use super::Context;
use super::parts::{link, spread, table};
use crate::compare::metric_words;
use crate::listing::minute;
use crate::quantity;
use maud::{Markup, html};
use model::{SiteRun, Unit};
use std::collections::{BTreeMap, BTreeSet};

/// Runs of a table; the latest.
const MOST_RUNS: usize = 100;
/// Groups of a spread at either end: of hundreds of units the slowest and the fastest say most.
const GROUPS_AT_ENDS: usize = 6;
/// Metrics of which the spread is shown.
const MOST_METRICS: usize = 12;

/// All device models.
pub fn list(context: &Context<'_>) -> String {
    let distinct =
        |runs: &[&SiteRun], of: fn(&SiteRun) -> &str| runs.iter().map(|r| of(r)).collect::<BTreeSet<_>>().len();
    let rows = context.devices.iter().map(|(name, runs)| {
        vec![
            link("device", name, ""),
            html! { (distinct(runs, |r| &r.unit)) },
            html! { (distinct(runs, |r| &r.machine)) },
            html! { (runs.len()) },
            html! { (latest(runs)) },
        ]
    });
    let head = ["device", "units", "machines", "runs", "latest"];
    let main =
        section("devices", "Device models", "", table(&head, rows.collect(), "No run tells the model of its device."));
    context.page("Devices", "", &main)
}

pub fn latest(runs: &[&SiteRun]) -> String {
    runs.last().and_then(|r| r.time.as_deref()).map(minute).unwrap_or_default()
}

/// Values, each of a run.
type Values<'a> = Vec<(&'a SiteRun, f64)>;
/// What a run is of, where it tells.
type PartOf = fn(&SiteRun) -> Option<&str>;
/// Name, values by group.
type Groups<'a> = BTreeMap<&'a str, Vec<f64>>;

pub fn page(context: &Context<'_>, name: &str, runs: &[&SiteRun]) -> String {
    let mut metrics: BTreeMap<(&str, &str), (Unit, Values<'_>)> = BTreeMap::new();
    for run in runs {
        for (id, unit, _, value) in &run.metrics {
            metrics.entry((&run.workload, id)).or_insert_with(|| (*unit, Vec::new())).1.push((run, *value));
        }
    }
    let mut most: Vec<_> = metrics.into_iter().collect();
    most.sort_by_key(|(_, (_, values))| std::cmp::Reverse(values.len()));
    most.truncate(MOST_METRICS);
    let findings =
        runs.iter().flat_map(|r| &r.findings).fold(BTreeMap::new(), |mut all: BTreeMap<&str, usize>, (id, _)| {
            *all.entry(id.as_str()).or_default() += 1;
            all
        });
    let main = html! {
        @for ((workload, id), (unit, values)) in &most {
            (section(&format!("of-{}", super::slug(&format!("{workload} {id}"))), &t(&format!("{workload} {}", metric_words(id))), "Each dot is a run", html! {
                @for (what, of) in PARTS {
                    @let groups = grouped(values, of);
                    @if groups.len() > 1 || what == "unit" { (spreads(what, &groups, *unit)) }
                }
            }))
        }
        @if let Some(fits) = context.site.fits.get(name) {
            (section("uses", "What it is good for", "Of the runs that could tell, how many met what the use needs",
                table(&["use", "met"], fits.iter().map(|(of, fit)| vec![html! { (t(of)) }, html! { (fit.met) " of " (fit.of) }]).collect(), "")))
        }
        @if !findings.is_empty() {
            (section("findings", "Findings", "", table(&["finding", "runs"], findings.iter().map(|(id, n)| vec![html! { code { (t(id)) } }, html! { (n) }]).collect(), "")))
        }
        (section("runs", "All runs", "", all_runs(runs, true)))
    };
    context.page(name, "../", &main)
}

/// By what values spread.
const PARTS: [(&str, PartOf); 3] = [
    ("unit", |r| Some(if r.unit.is_empty() { "not told" } else { &r.unit })),
    ("firmware", |r| r.firmware.as_deref()),
    ("board", |r| r.board.as_deref()),
];

fn grouped<'a>(values: &[(&'a SiteRun, f64)], of: PartOf) -> Groups<'a> {
    let mut groups = Groups::new();
    for (run, value) in values {
        of(run).into_iter().for_each(|name| groups.entry(name).or_default().push(*value));
    }
    groups
}

fn spreads(what: &str, groups: &Groups<'_>, unit: Unit) -> Markup {
    let sorted = |values: &Vec<f64>| {
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    };
    let mut by_middle: Vec<(&str, Vec<f64>)> = groups.iter().map(|(name, values)| (*name, sorted(values))).collect();
    by_middle.sort_by(|(_, a), (_, b)| a[a.len() / 2].total_cmp(&b[b.len() / 2]));
    let low = by_middle.iter().map(|(_, v)| v[0]).fold(f64::INFINITY, f64::min);
    let high = by_middle.iter().map(|(_, v)| v[v.len() - 1]).fold(f64::NEG_INFINITY, f64::max);
    let between = by_middle.len().saturating_sub(2 * GROUPS_AT_ENDS);
    if between > 0 {
        by_middle.drain(GROUPS_AT_ENDS..GROUPS_AT_ENDS + between);
    }
    let row = |(name, sorted): &(&str, Vec<f64>)| {
        let value = |v: f64| quantity::quantity(v, unit);
        let ends = format!("{} to {}", value(sorted[0]), value(sorted[sorted.len() - 1]));
        vec![
            html! { (t(name)) },
            html! { (value(sorted[sorted.len() / 2])) },
            html! { (ends) },
            html! { (sorted.len()) },
            spread(sorted, low, high),
        ]
    };
    html! {
        (table(&[what, "middle", "from, to", "runs", "spread"], by_middle.iter().map(row).collect(), ""))
        @if between > 0 { p.hint { "the " (GROUPS_AT_ENDS) " lowest and the " (GROUPS_AT_ENDS) " highest; " (between) " more are between them" } }
    }
}

/// The runs, the latest first; with the machine or with the device.
pub fn all_runs(runs: &[&SiteRun], with_machine: bool) -> Markup {
    let row = |run: &&SiteRun| {
        let place = match (with_machine, &run.device) {
            (true, _) => link("machine", &run.machine, "../"),
            (false, Some(device)) => link("device", device, "../"),
            (false, None) => html! { "-" },
        };
        let main = run
            .metrics
            .first()
            .map(|(id, unit, _, value)| format!("{} {}", metric_words(id), quantity::quantity(*value, *unit)));
        let optional = |text: &Option<String>| t(text.as_deref().unwrap_or("-"));
        vec![
            html! { (t(&run.time.as_deref().map(minute).unwrap_or_default())) " " small { code { (t(&run.id)) } } },
            html! { (t(&run.workload)) },
            place,
            html! { (optional(&run.firmware)) },
            html! { (optional(&run.kernel)) },
            html! { (t(&main.unwrap_or_default())) },
            html! { (run.validity.name()) },
        ]
    };
    let head = [
        "run",
        "workload",
        if with_machine { "machine" } else { "device" },
        "firmware",
        "kernel",
        "first number",
        "validity",
    ];
    html! {
        (table(&head, runs.iter().rev().take(MOST_RUNS).map(row).collect(), "No run."))
        @if runs.len() > MOST_RUNS { p.hint { "and " (runs.len() - MOST_RUNS) " older ones, which are in the numbers above" } }
    }
}
