//! The page of a history: the events, each with its plots and with what else changed, then all series. Nothing needs scripts.

use super::chart::{Area, Axis, Chart, Line, px};
use super::{elements, fold, framed, section, t};
use crate::History;
use crate::compare::metric_words;
use crate::history::{event_parts, history, key_words};
use crate::listing::minute;
use crate::presentation::SectionName;
use crate::quantity;
use maud::{Markup, html};
use model::{HistoryEvent, HistorySeries};
use std::collections::HashMap;

/// Plots of an event: those of its largest changes.
const MOST_PLOTS: usize = 4;
/// Series that are drawn; more are for a TARGET or --metric to choose from.
const MOST_SERIES: usize = 300;
/// Runs of a series that are dots, the latest; those before are in the line.
const MOST_DOTS: usize = 400;

const STYLE: &str = "\
.runs circle{fill:var(--c1)}.runs a:hover circle,.runs a:focus circle{fill:var(--c2);r:5}\
.runs line.event{stroke:var(--bad);stroke-width:1.6;stroke-dasharray:5 4}.runs line.event.known{stroke:var(--soft)}\
.series{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.6rem 1.2rem}\
.series figure{margin:0;min-width:0}.series figcaption{font-size:.86rem;color:var(--soft);overflow-wrap:anywhere}";

/// A history as one HTML document; `link` gives the page of a run, where it has one.
pub fn history_page(view: &History<'_>, version: &str, link: &dyn Fn(&str) -> Option<String>) -> String {
    let h = view.history;
    let presentation = history(view);
    let main = html! {
        (elements::head(&presentation.head))
        (elements::parts(presentation.all_parts(SectionName::Answer)))
        (content(h, link))
        @if !presentation.parts(SectionName::Others).is_empty() {
            (section("notes", "What has to be known of the runs", "", elements::parts(presentation.parts(SectionName::Others))))
        }
        footer {
            p { "narrows " (t(version)) ". Runs are in the order in which they ended. A change is the ratio of geometric means with its 95 % \
                 interval; it counts where it is beyond the margin and beyond what noise does in 1 of 1,000 such series." }
            p { "This page is one file and loads nothing." }
        }
    };
    framed(&format!("narrows history {}", view.of), version, STYLE, &main)
}

/// Events and series, without head and foot.
fn content(h: &model::History, link: &dyn Fn(&str) -> Option<String>) -> Markup {
    let mut series: HashMap<(&model::HistoryKey, &str), &HistorySeries> = HashMap::new();
    for of in &h.series {
        series.insert((&of.key, of.metric.as_str()), of);
    }
    html! {
        @if !h.events.is_empty() {
            (section("events", "Events", "Metrics that changed at the same run are one event", elements::parts(&[crate::presentation::Part::Table(crate::history::events(&h.events))])))
        }
        @for event in &h.events {
            section id=(format!("event-{}", t(&event.id))) {
                div.series.runs {
                    @for metric in event.metrics.iter().take(MOST_PLOTS) {
                        @if let Some(of) = series.get(&(&event.key, metric.id.as_str())) { (plot(of, &[event], link)) }
                    }
                }
                (elements::parts(&event_parts(event)))
            }
        }
        @for (i, of_key) in h.series[..h.series.len().min(MOST_SERIES)].chunk_by(|a, b| a.key == b.key).enumerate() {
            (fold(&format!("key-{i}"), &t(&key_words(&of_key[0].key)), &format!("{} metrics, run by run", of_key.len()), html! {
                div.series.runs { @for of in of_key { (plot(of, &events_of(of, &h.events), link)) } }
            }))
        }
        @if h.series.len() > MOST_SERIES {
            p.hint { "and " (h.series.len() - MOST_SERIES) " more series: a TARGET and --metric choose" }
        }
    }
}

fn events_of<'a>(series: &HistorySeries, events: &'a [HistoryEvent]) -> Vec<&'a HistoryEvent> {
    events.iter().filter(|e| e.key == series.key && e.metrics.iter().any(|m| m.id == series.metric)).collect()
}

/// A series run by run, with the events that it is in.
pub(super) fn plot(series: &HistorySeries, events: &[&HistoryEvent], link: &dyn Fn(&str) -> Option<String>) -> Markup {
    let points = &series.points;
    let values = || points.iter().map(|p| p.value);
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let room = ((high - low) * 0.08).max(high.abs() * 0.02).max(f64::MIN_POSITIVE);
    let marked: Vec<(f64, bool)> = events
        .iter()
        .filter_map(|e| Some((points.iter().position(|p| p.run_id == e.after)?, e.acknowledged.is_some())))
        .map(|(at, known)| (at as f64 - 0.5, known))
        .collect();
    let marks = |area: &Area<'_>| {
        html! {
            @for (at, known) in &marked {
                line.event.known[*known] x1=(px(area.x(*at))) x2=(px(area.x(*at))) y1=(px(area.top)) y2=(px(area.bottom)) {}
            }
            @for (i, point) in points.iter().enumerate().skip(points.len().saturating_sub(MOST_DOTS)) {
                a href=[link(&point.run_id)] {
                    circle cx=(px(area.x(i as f64))) cy=(px(area.y(point.value))) r="2.6" {
                        title { (t(&point.run_id)) ", " (t(&date(point.time.as_deref()))) ": " (quantity::quantity(point.value, series.unit)) }
                    }
                }
            }
        }
    };
    let last = points.len().saturating_sub(1);
    let [first_day, last_day] = [0, last].map(|i| date(points.get(i).and_then(|p| p.time.as_deref())));
    let days = if first_day == last_day { first_day } else { format!("{first_day} to {last_day}") };
    // Values that are nearly the same have one name.
    let apart = high - low > room;
    let named: Vec<f64> = if apart { vec![low, high] } else { vec![f64::midpoint(low, high)] };
    let chart = Chart {
        label: format!("{} of {} runs, the events marked", t(&series.metric), points.len()),
        x: Axis { low: -0.5, high: last as f64 + 0.5, name: days, ..Axis::default() },
        y: Axis {
            low: low - room,
            high: high + room,
            ticks: named.into_iter().map(|v| (v, quantity::quantity(v, series.unit))).collect(),
            grid: true,
            ..Axis::default()
        },
        lines: vec![Line {
            class: "curve thin c1".into(),
            points: values().enumerate().map(|(i, v)| (i as f64, Some(v))).collect(),
            ..Line::default()
        }],
        marks: Some(&marks),
        height: 190.0,
        ..Chart::default()
    };
    html! { figure { figcaption { (t(&metric_words(&series.metric))) } (chart.small()) } }
}

/// The day of a run.
fn date(time: Option<&str>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| minute(time).chars().take(10).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::changed;

    #[test]
    fn every_run_is_a_point_that_leads_to_its_page_and_the_event_is_marked() {
        let mut of = changed();
        of.series[0].key.machine = "<b>board".into();
        of.events[0].key.machine = "<b>board".into();
        let link = |id: &str| (id != "run-03").then(|| format!("reports/{id}.html"));
        let page = history_page(&History { history: &of, of: "", page: None }, "1.0", &link);
        // Once with the event, once among all series.
        assert_eq!(page.matches("<circle").count(), 120);
        assert_eq!(page.matches("href=\"reports/run-").count(), 118);
        assert_eq!(page.matches("class=\"event\"").count(), 2);
        assert!(page.contains("run-59, 2026-03-04: 90.0 MB/s") && page.contains("6.12.0"));
        assert!(!page.contains("<b>board") && page.contains("&lt;b&gt;board"));
    }
}
