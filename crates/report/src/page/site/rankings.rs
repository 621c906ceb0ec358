//! Devices ranked by each metric of each workload.

use super::super::{section, t};
use super::Context;
use super::parts::{link, slug, table, whisker};
use crate::compare::metric_words;
use crate::quantity;
use maud::{Markup, html};
use model::{Better, SiteRank, SiteRanking};

/// Devices of a ranking on the overview.
const FIRST: usize = 5;
/// Rankings on the overview; all are in the list below them.
const MOST_SHOWN: usize = 8;

/// Where a ranking has its page.
pub fn path(ranking: &SiteRanking) -> String {
    format!("ranking/{}.html", slug(&format!("{} {}", ranking.workload, ranking.metric)))
}

fn name(ranking: &SiteRanking) -> String {
    format!("{} {}", ranking.workload, metric_words(&ranking.metric))
}

fn rows(ranking: &SiteRanking, most: usize, up: &str) -> Markup {
    let ends = ranking.devices.iter().flat_map(|d| {
        let (low, high) = d.interval.unwrap_or((d.value, d.value));
        [low, high]
    });
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let row = |(i, d): (usize, &SiteRank)| {
        let value = |v: f64| quantity::quantity(v, ranking.unit);
        let interval = d.interval.map(|(low, high)| format!("{} to {}", value(low), value(high)));
        vec![
            html! { (i + 1) ". " (link("device", &d.device, up)) },
            html! { (value(d.value)) },
            html! { (interval.unwrap_or_else(|| "fewer than 3 units".to_owned())) },
            whisker(d.value, d.interval, low, high),
            html! { (d.units) },
            html! { (d.runs) },
        ]
    };
    let head = ["device", "value", "95 % interval", "", "units", "runs"];
    table(&head, ranking.devices.iter().take(most).enumerate().map(row).collect(), "No device.")
}

/// The overview.
pub fn index(context: &Context<'_>) -> String {
    let site = context.site;
    let mut shown: Vec<&SiteRanking> = site.rankings.iter().collect();
    shown.sort_by_key(|r| std::cmp::Reverse(r.devices.len()));
    shown.truncate(MOST_SHOWN);
    let figures = [
        ("runs", site.runs.len()),
        ("machines", context.machines.len()),
        ("device models", context.devices.len()),
        ("not counted", site.problems.len()),
    ];
    let all = site.rankings.iter().map(|r| {
        let best = r.devices.first().map_or_else(String::new, |d| d.device.clone());
        vec![html! { a href=(path(r)) { (t(&name(r))) } }, html! { (r.devices.len()) }, html! { (t(&best)) }]
    });
    let main = html! {
        section id="counts" {
            dl.tiles { @for (what, count) in figures { div { dt { (what) } dd { (quantity::count(count as u64)) } } } }
            @if site.runs.is_empty() { p.hint { "No run is counted yet." } }
        }
        @for ranking in &shown {
            (section(&slug(&name(ranking)), &t(&name(ranking)), direction(ranking), html! {
                (rows(ranking, FIRST, ""))
                @if ranking.devices.len() > FIRST { p.hint { a href=(path(ranking)) { "all " (ranking.devices.len()) " devices" } } }
            }))
        }
        (section("all", "All rankings", "", table(&["ranking", "devices", "first"], all.collect(), "No run has a metric with a direction.")))
    };
    context.page("Rankings", "", &main)
}

fn direction(ranking: &SiteRanking) -> &'static str {
    match ranking.better {
        Better::Higher => {
            "More is better. A unit counts once: the median of its runs; a device is the geometric mean of its units"
        }
        Better::Lower => {
            "Less is better. A unit counts once: the median of its runs; a device is the geometric mean of its units"
        }
    }
}

/// A page each ranking.
pub fn pages<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (String, String)> + 'a {
    context.site.rankings.iter().map(|ranking| {
        let main = section("ranking", &t(&name(ranking)), direction(ranking), rows(ranking, usize::MAX, "../"));
        (path(ranking), context.page(&name(ranking), "../", &main))
    })
}
