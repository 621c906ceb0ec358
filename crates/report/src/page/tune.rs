//! The page of a search for settings: the answer and its proof, the path of the search, what was tried and left, and the lines to keep.
//! Nothing needs scripts.

use super::chart::{Area, Axis, Chart, Line, px, sample};
use super::compare::slopes;
use super::{elements, fold, framed, section, t};
use crate::presentation::{Axis as OfSpan, Cell, Head, Row, SectionName, Span, Table};
use crate::quantity;
use crate::tune::{changes, set, subject, tuning as presented};
use maud::{Markup, html};
use model::{Better, TuneMeasurement, TuneProof, TuneStep, TuneTried, Tuning};

const STYLE: &str = "\
.search circle{fill:var(--c1);opacity:.55}.search circle.halving,.search circle.reduction{fill:var(--c3)}\
.search circle.present{fill:var(--c5);opacity:1}\
.search circle.winner{fill:var(--c2);opacity:1}";

/// A search as one HTML document.
pub fn tune_page(tuning: &Tuning, version: &str) -> String {
    let presentation = presented(tuning);
    let head = Head {
        command: "tune".to_owned(),
        subject: format!("{} on {}", tuning.asked, tuning.target),
        ..presentation.head.clone()
    };
    let parts = |name| elements::parts(presentation.all_parts(name));
    let proofs = tuning.winner.iter().chain(tuning.rejected.iter().chain(&tuning.rejected_next).map(|r| &r.proof));
    let proofs: Vec<&TuneProof> = proofs.filter(|proof| !proof.pairs.is_empty()).collect();
    let main = html! {
        (elements::head(&head))
        @if !proofs.is_empty() {
            (section("proof", "The confirmation", "Pairs of the present values and what the search left, in random order, on data that the search never saw: each line is a pair", html! {
                div.pairs { @for proof in proofs { (pairs(proof, tuning)) } }
                (parts(SectionName::Numbers))
            }))
        }
        @if !presentation.parts(SectionName::Keeping).is_empty() {
            (section("keep", "To keep it", "Names and serial numbers of the machine may be replaced on this page: copy the lines from the answer of the program", parts(SectionName::Keeping)))
        }
        @if let Some(path) = path(tuning) {
            (section("path", "The path of the search", "Each measurement in its order, and which step it is of", path))
        }
        @if !tuning.tried.is_empty() {
            (section("tried", "What was tried", "", parts(SectionName::Others)))
            (fold("all", "All that was tried", "how many times as good, with the interval by the noise: the best of many, which proves nothing", elements::table(&all(&tuning.tried))))
        }
        @if !presentation.parts(SectionName::Rejected).is_empty() {
            (section("rejected", "What was rejected or not tried, and why", "", parts(SectionName::Rejected)))
        }
        @if !tuning.measurements.is_empty() {
            (fold("measurements", "All measurements", "in the order in which they were made", elements::table(&measurements(tuning))))
        }
        (section("cost", "What it took", "", parts(SectionName::Events)))
        footer {
            p { "narrows " (t(version)) ". Search " (t(&tuning.id)) ", seed " (tuning.seed) ". MB/s is 10⁶ bytes per second." }
            p { "This page is one file and loads nothing." }
        }
    };
    framed(&format!("narrows tune {}", tuning.target), version, STYLE, &main)
}

fn pairs(proof: &TuneProof, tuning: &Tuning) -> Markup {
    let side = |of: &dyn Fn(&(f64, f64)) -> f64| proof.pairs.iter().map(|pair| Some(of(pair))).collect::<Vec<_>>();
    let (present, changed) = (side(&|pair| pair.0), side(&|pair| pair.1));
    html! {
        div {
            h3.form { (t(&changes(&proof.settings, tuning))) }
            (slopes::drawing(&tuning.metric, tuning.unit, true, [&present, &changed], ["present", "changed"]))
        }
    }
}

fn step_name(step: TuneStep) -> &'static str {
    match step {
        TuneStep::Singles => "singles",
        TuneStep::Screen => "screen",
        TuneStep::Halving => "halving",
        TuneStep::Reduction => "reduction",
    }
}

/// The metric of each measurement; those of the present values are a line.
fn path(tuning: &Tuning) -> Option<Markup> {
    let all = &tuning.measurements;
    let highest = all.iter().filter_map(|m| m.value).fold(0.0, f64::max);
    let points = || all.iter().enumerate().filter_map(|(i, m)| Some((i as f64 + 1.0, m, m.value?)));
    points().next()?;
    let wanted = tuning.winner.as_ref().or(tuning.rejected.as_ref().map(|r| &r.proof));
    let is_of_winner = |m: &TuneMeasurement| {
        let has = |s: &model::TuneSetting| m.settings.iter().any(|set| set.name == s.name && set.value == s.to);
        wanted.is_some_and(|proof| !proof.settings.is_empty() && proof.settings.iter().all(has))
    };
    let look = |m: &TuneMeasurement| match () {
        () if m.settings.is_empty() => "present",
        () if is_of_winner(m) => "winner",
        () => step_name(m.step),
    };
    let marks = |area: &Area<'_>| {
        html! {
            g.search {
                @for (at, m, value) in points() {
                    circle.(look(m)) cx=(px(area.x(at))) cy=(px(area.y(value))) r="3.6" {
                        title { (at) ", " (step_name(m.step)) ": " (t(&set_or_present(m))) ": " (quantity::quantity(value, tuning.unit)) }
                    }
                }
            }
        }
    };
    // Each step is named where it begins.
    let is_first = |i: &usize| *i == 0 || all[*i].step != all[*i - 1].step;
    let ticks = (0..all.len()).filter(is_first).map(|i| (i as f64 + 1.0, step_name(all[i].step).to_owned())).collect();
    let chart = Chart {
        label: format!("{} of each measurement of the search", tuning.metric),
        x: Axis { low: 0.5, high: all.len() as f64 + 0.5, ticks, grid: true, ..Axis::default() }
            .named(&quantity::counted(all.len() as u64, "measurement")),
        y: Axis::from_zero(highest, tuning.unit).named(&subject(&tuning.metric)),
        lines: vec![Line {
            name: "present values".to_owned(),
            class: "curve c5".to_owned(),
            points: points()
                .filter(|(_, m, _)| m.settings.is_empty())
                .map(|(at, _, value)| (at, Some(value)))
                .collect(),
        }],
        marks: Some(&marks),
        height: 280.0,
        ..Chart::default()
    };
    let better = if tuning.better == Some(Better::Lower) { "lower is better" } else { "higher is better" };
    let dot = |class: &str, name: &str| html! { li { svg.sample.search viewBox="0 0 30 10" aria-hidden="true" { circle.(class) cx="15" cy="5" r="4" {} } (name) } };
    Some(html! {
        figure { (chart.draw()) }
        ul.legend {
            @if chart.lines.iter().any(|line| !line.points.is_empty()) { li { (sample("curve c5")) "present values" } }
            (dot("singles", "changed values, alone or several at once"))
            (dot("halving", "the best against one another"))
            (dot("winner", "with what the search left"))
            li { (better) }
        }
    })
}

fn set_or_present(m: &TuneMeasurement) -> String {
    if m.settings.is_empty() { "present values".to_owned() } else { set(&m.settings) }
}

fn all(tried: &[TuneTried]) -> Table {
    let row = |t: &TuneTried| {
        let span = |ratio: f64| Span {
            axis: OfSpan::Ratio,
            point: Some(ratio.ln()),
            low: t.low.map(f64::ln),
            high: t.high.map(f64::ln),
            margin: None,
        };
        let interval =
            t.low.zip(t.high).map(|(low, high)| format!("{} to {}", quantity::ratio(low), quantity::ratio(high)));
        let cells = vec![
            t.ratio.map_or(Cell::Text("not set, or not valid".to_owned()), |ratio| Cell::Text(quantity::ratio(ratio))),
            t.ratio.map_or(Cell::Empty, |ratio| Cell::Interval(span(ratio))),
            Cell::Text(interval.unwrap_or_default()),
            Cell::Text(t.measurements.to_string()),
        ];
        Row::new(set(&t.settings), cells)
    };
    Table {
        corner: "settings",
        head: ["times", "", "interval", "measurements"].map(str::to_owned).into(),
        rows: tried.iter().map(row).collect(),
        ..Table::default()
    }
}

fn measurements(tuning: &Tuning) -> Table {
    let row = |(number, m): (usize, &TuneMeasurement)| {
        let settings = set_or_present(m);
        let value = m.value.map_or_else(|| "-".to_owned(), |value| quantity::quantity(value, tuning.unit));
        Row::new(
            (number + 1).to_string(),
            vec![Cell::Text(step_name(m.step).to_owned()), Cell::Text(value), Cell::Words(settings)],
        )
    };
    Table {
        corner: "number",
        head: ["step", "value", "settings"].map(str::to_owned).into(),
        rows: tuning.measurements.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}
