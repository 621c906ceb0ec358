//! The page of frames in several ways: the answer, the tables, and the time of every frame.

use super::chart::{Area, Axis, Chart, px};
use super::{elements, frame, section, t};
use crate::document::FramesDocument;
use crate::frames::{frames, way_name};
use crate::presentation::SectionName;
use crate::quantity;
use maud::{Markup, html};
use model::{FramesCompared, FramesTried};

const STYLE: &str = "\
.frames{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem}\
.frames path{stroke:currentColor;stroke-width:2.2;stroke-linecap:round;fill:none;opacity:.55}";

/// The whole page.
pub fn frames_page(document: &FramesDocument) -> String {
    let drawn: Vec<_> =
        document.ways.iter().filter_map(|way| Some((way_name(way.way), way.compared.as_ref()?))).collect();
    let scale = Axis::times(drawn.iter().flat_map(|(_, c)| &c.frames_ms).map(|[_, ms]| ms * 1e6)).unwrap_or_default();
    let presentation = frames(document);
    let body = html! {
        main {
            (elements::head(&presentation.head))
            (section("rates", "How much each carries", "The highest rate at which no frame was lost; its rate when frames come as fast as they are taken, all flushed; and that rate against the container's, round by round, with a 95 % interval", elements::parts(presentation.parts(SectionName::Numbers))))
            @if !drawn.is_empty() {
                (section("costs", "What it costs", "", elements::parts(presentation.parts(SectionName::Others))))
                (section("frames", "Every frame", "How long each took from its arrival until it was written, logarithmic, in the same scale for all", html! {
                    div.frames { @for (name, compared) in &drawn { (plot(name, compared, &scale)) } }
                }))
            }
            (section("tried", "The search", "Frames a second of each camera, and what came of it", tried(document)))
            (elements::parts(presentation.parts(SectionName::Events)))
            footer { p { "narrows " (t(&document.program_version)) } }
        }
    };
    frame::document(
        "narrows frames",
        &document.program_version,
        &format!("{}\n{STYLE}", super::assets::ASSETS.style),
        &[],
        &body,
    )
}

fn tried(document: &FramesDocument) -> Markup {
    html! {
        ul {
            @for way in &document.ways {
                li {
                    (way_name(way.way)) ": "
                    (way.tried.iter().map(tried_text).collect::<Vec<_>>().join(", "))
                }
            }
        }
    }
}

fn tried_text(tried: &FramesTried) -> String {
    let rate = quantity::significant(tried.frames_per_s, 3);
    match (tried.carried, tried.lost) {
        (true, _) => format!("{rate} carried"),
        (false, 0) => format!("{rate} waited longer and longer"),
        (false, lost) => format!("{rate} lost {}", quantity::count(lost)),
    }
}

fn plot(name: &str, compared: &FramesCompared, y: &Axis) -> Markup {
    let end = compared.frames_ms.iter().map(|[at, _]| *at).fold(1.0, f64::max);
    let points = |area: &Area<'_>| {
        let points =
            compared.frames_ms.iter().map(|[at, ms]| format!("M{} {}h0", px(area.x(*at)), px(area.y(ms * 1e6))));
        html! { path d=(points.collect::<String>()) {} }
    };
    let listed = compared.frames_ms.len() as u64;
    let part = if listed < compared.frames { format!(", the slowest {listed} of them drawn") } else { String::new() };
    let chart = Chart {
        label: format!("Time of every frame, {name}"),
        x: Axis::between(0.0, end, ["0 s".to_owned(), quantity::duration((end * 1e6) as u64)]),
        y: y.clone(),
        marks: Some(&points),
        height: 190.0,
        ..Chart::default()
    };
    html! {
        figure {
            figcaption { (name) " " small { (quantity::count(compared.frames)) " frames" (part) } }
            (chart.small())
        }
    }
}
