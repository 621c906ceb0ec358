//! The page of frames in several ways: the answer, the tables, and the time of every frame.

use super::{frame, said, section, t};
use crate::document::{FramesCompared, FramesDocument, FramesTried};
use crate::frames::{describe, way_name};
use crate::presentation::SectionName;
use crate::quantity;
use maud::{Markup, html};
use std::fmt::Write;

const STYLE: &str = "\
.frames{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem}\
.frames svg{width:100%;height:auto}.frames path{stroke:currentColor;stroke-width:2.2;stroke-linecap:round;fill:none;opacity:.55}\
.frames line{stroke:currentColor;stroke-width:.5;opacity:.35}.frames text{font-size:10px;fill:currentColor;opacity:.8}";

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 22.0;

/// The whole page.
pub fn frames_page(document: &FramesDocument) -> String {
    let drawn: Vec<_> =
        document.ways.iter().filter_map(|way| Some((way_name(way.way), way.compared.as_ref()?))).collect();
    let slowest = drawn.iter().flat_map(|(_, c)| &c.frames_ms).map(|[_, ms]| *ms).fold(0.1, f64::max);
    let fastest = drawn.iter().flat_map(|(_, c)| &c.frames_ms).map(|[_, ms]| *ms).fold(slowest, f64::min);
    let said = describe(document);
    let body = html! {
        main {
            (said::head(&said.head))
            (section("rates", "How much each carries", "The highest rate at which no frame was lost; its rate when frames come as fast as they are taken, all flushed; and that rate against the container's, round by round, with a 95 % interval", said::parts(said.parts(SectionName::Numbers))))
            @if !drawn.is_empty() {
                (section("costs", "What it costs", "", said::parts(said.parts(SectionName::Others))))
                (section("frames", "Every frame", "How long each took from its arrival until it was written, logarithmic, in the same scale for all", html! {
                    div.frames { @for (name, compared) in &drawn { (plot(name, compared, (fastest, slowest))) } }
                }))
            }
            (section("tried", "The search", "Frames a second of each camera, and what came of it", tried(document)))
            (said::parts(said.parts(SectionName::Events)))
            footer { p { "narrows " (t(&document.program_version)) } }
        }
    };
    frame::document("narrows frames", &document.program_version, &format!("{}\n{STYLE}", super::STYLE), &[], &body)
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

fn plot(name: &str, compared: &FramesCompared, (fastest, slowest): (f64, f64)) -> Markup {
    let end = compared.frames_ms.iter().map(|[at, _]| *at).fold(1.0, f64::max);
    let (low, high) = (fastest.max(1e-3).log10().floor(), slowest.log10().ceil());
    let x = |at: f64| LEFT + at / end * (WIDTH - LEFT - 6.0);
    let y = |ms: f64| {
        let share = (ms.max(1e-3).log10() - low) / (high - low).max(1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - 8.0)
    };
    let mut points = String::with_capacity(compared.frames_ms.len() * 16);
    for [at, ms] in &compared.frames_ms {
        let _ = write!(points, "M{:.1} {:.1}h0", x(*at), y(*ms));
    }
    let decades: Vec<f64> = (low as i32..=high as i32).map(|power| 10f64.powi(power)).collect();
    let listed = compared.frames_ms.len() as u64;
    let part = if listed < compared.frames { format!(", the slowest {listed} of them drawn") } else { String::new() };
    html! {
        figure {
            figcaption { (name) " " small { (quantity::count(compared.frames)) " frames" (part) } }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("Time of every frame, {name}")) {
                @for ms in decades {
                    line x1=(LEFT) x2=(WIDTH - 6.0) y1=(format!("{:.1}", y(ms))) y2=(format!("{:.1}", y(ms))) {}
                    text x=(LEFT - 4.0) y=(format!("{:.1}", y(ms) + 3.0)) text-anchor="end" { (quantity::latency((ms * 1e6) as u64)) }
                }
                path d=(points) {}
                text x=(LEFT) y=(HEIGHT - 6.0) { "0 s" }
                text x=(WIDTH - 6.0) y=(HEIGHT - 6.0) text-anchor="end" { (quantity::duration((end * 1e6) as u64)) }
            }
        }
    }
}
