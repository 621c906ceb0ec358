//! The page of what each layer costs: the answer, a waterfall from the disk up, and the tables.

use super::chart::{Area, Axis, Chart, px};
use super::{elements, frame, section, t};
use crate::document::LayersDocument;
use crate::layers::layers;
use crate::presentation::SectionName;
use crate::quantity;
use maud::{Markup, html};
use model::{Estimate, LevelFigures, Unit};

const STYLE: &str = "\
.fall rect{fill:currentColor;opacity:.25}.fall rect.adds{opacity:.75}.fall rect.takes{opacity:.45}\
.fall line.step{stroke:currentColor;stroke-dasharray:2 3;opacity:.6}";

/// Height of a bar with the room below it.
const ROW: f64 = 34.0;

/// The whole page.
pub fn layers_page(document: &LayersDocument) -> String {
    let presentation = layers(document);
    let body = html! {
        main {
            (elements::head(&presentation.head))
            @if document.levels.len() > 1 {
                (section("read", "A read, from the disk up", "The mean time of a single read: the lowest bar is the disk, and each bar above it begins where the one below ends", waterfall(document, |f| f.read_ns, Unit::Ns)))
                (section("rate", "The rate, from the disk up", "Large reads one after the other: what each layer leaves of the rate below it", waterfall(document, |f| f.read_rate, Unit::BytesPerS)))
                (section("costs", "What each layer costs", "Differences of both levels in the same round, with 95 % intervals", elements::parts(presentation.parts(SectionName::Numbers))))
            }
            (section("levels", "The levels", "From the top down", elements::parts(presentation.parts(SectionName::Others))))
            (elements::parts(presentation.parts(SectionName::Events)))
            footer { p { "narrows " (t(&document.program_version)) } }
        }
    };
    let style = format!("{}\n{STYLE}", super::assets::ASSETS.style);
    frame::document("narrows layers", &document.program_version, &style, &[], &body)
}

/// What is drawn of a level: its name, from where to where, and whether that is more than the level below it has.
struct Bar {
    name: String,
    from: f64,
    to: f64,
}

/// From the top down; each bar reaches from the value of the level below to its own, the lowest from zero.
fn bars(document: &LayersDocument, of: impl Fn(&LevelFigures<Estimate>) -> Option<Estimate>) -> Vec<Bar> {
    let known: Vec<(usize, f64)> =
        document.levels.iter().enumerate().filter_map(|(i, level)| Some((i, of(&level.figures)?.value))).collect();
    let below = known.iter().skip(1).map(|(_, value)| Some(*value)).chain([None]);
    let bar = |((index, to), below): (&(usize, f64), Option<f64>)| {
        let level = &document.levels[*index];
        let layer = document.layers.get(*index).filter(|layer| below.is_some() && layer.above == level.name);
        let name = layer.map_or(&level.name, |layer| &layer.layer).clone();
        Bar { name, from: below.unwrap_or(0.0), to: *to }
    };
    known.iter().zip(below).map(bar).collect()
}

fn waterfall(
    document: &LayersDocument,
    of: impl Fn(&LevelFigures<Estimate>) -> Option<Estimate>,
    unit: Unit,
) -> Markup {
    let bars = bars(document, of);
    let highest = bars.iter().map(|bar| bar.to).fold(0.0, f64::max);
    let count = bars.len() as f64;
    let place = |index: usize| count - index as f64 - 0.5;
    let ticks = bars.iter().enumerate().map(|(index, bar)| (place(index), bar.name.clone())).collect();
    let marks = |area: &Area<'_>| {
        let thick = 0.6 * (area.bottom - area.top) / count.max(1.0);
        html! {
            g.fall {
                @for (index, bar) in bars.iter().enumerate() {
                    @let (left, right) = (area.x(bar.from.min(bar.to)), area.x(bar.from.max(bar.to)));
                    @let y = area.y(place(index));
                    @let look = if index + 1 == bars.len() { "" } else if bar.to > bar.from { "adds" } else { "takes" };
                    rect class=(look) x=(px(left)) y=(px(y - thick / 2.0)) width=(px((right - left).max(1.5))) height=(px(thick)) {
                        title { (t(&bar.name)) ": " (quantity::quantity(bar.from, unit)) " to " (quantity::quantity(bar.to, unit)) }
                    }
                    @if index > 0 {
                        line.step x1=(px(area.x(bar.to))) x2=(px(area.x(bar.to))) y1=(px(y)) y2=(px(area.y(place(index - 1)))) {}
                    }
                }
            }
        }
    };
    let chart = Chart {
        label: format!("Waterfall of {}", if unit == Unit::Ns { "the time of a read" } else { "the rate" }),
        x: Axis::from_zero(highest, unit),
        y: Axis { low: 0.0, high: count, ticks, ..Axis::default() },
        marks: Some(&marks),
        height: 50.0 + ROW * count,
        ..Chart::default()
    };
    chart.draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LayerCost, LevelAccess, MeasuredLevel};

    fn figures(ns: Option<f64>) -> LevelFigures<Estimate> {
        let read_ns = ns.map(|value| Estimate { value, low: None, high: None });
        let none = None;
        LevelFigures {
            read_ns,
            read_rate: none,
            read_cpu_s_per_gb: none,
            write_ns: none,
            write_rate: none,
            write_cpu_s_per_gb: none,
        }
    }

    #[test]
    fn each_bar_begins_where_the_level_below_ends_and_hostile_names_stay_text() {
        let level = |name: &str, ns| MeasuredLevel {
            name: name.to_owned(),
            access: LevelAccess::Direct,
            same_bytes: true,
            figures: figures(ns),
            rounds: Vec::new(),
            reasons: Vec::new(),
        };
        let layer = |layer: &str, above: &str, below: &str| LayerCost {
            layer: layer.to_owned(),
            above: above.to_owned(),
            below: below.to_owned(),
            cost: figures(Some(1.0)),
            weight: None,
        };
        let document = LayersDocument {
            target: "<script>".to_owned(),
            started: String::new(),
            program_version: "1".to_owned(),
            seed: 1,
            region_bytes: 1 << 28,
            block_bytes: 4096,
            depth: 4,
            bytes_written: 0,
            levels: vec![level("file, direct", Some(140e3)), level("dm-0", Some(138e3)), level("vda", Some(100e3))],
            layers: vec![layer("ext4", "file, direct", "dm-0"), layer("dm-<crypt>", "dm-0", "vda")],
            dearest: None,
            left_out: Vec::new(),
            interrupted: false,
            page: None,
        };
        let drawn = bars(&document, |f| f.read_ns);
        let of: Vec<_> = drawn.iter().map(|bar| (bar.name.as_str(), bar.from, bar.to)).collect();
        assert_eq!(of, [("ext4", 138e3, 140e3), ("dm-<crypt>", 100e3, 138e3), ("vda", 0.0, 100e3)]);
        let page = layers_page(&document);
        assert!(page.contains("dm-&lt;crypt&gt;") && !page.contains("<script>") && !page.contains("NaN"));
    }
}
