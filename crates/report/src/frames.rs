//! The same frames in several ways, on a terminal. What it says, its page says, too.

use crate::document::{FramesCompared, FramesDocument, FramesLoad, FramesPlanDocument, FramesWay};
use crate::lines::Lines;
use crate::quantity;
use crate::style::{Paint, Style};
use crate::text::{plain, width};
use model::FrameWay;

/// What a way is called.
pub(crate) fn way_name(way: FrameWay) -> &'static str {
    match way {
        FrameWay::FilePerFrame => "a file per frame",
        FrameWay::GrowingFile => "one growing file",
        FrameWay::Direct => "reserved, direct",
        FrameWay::DeviceBuffered => "device, buffered",
        FrameWay::Container => "narrows' container",
    }
}

/// The answer in a sentence.
pub(crate) fn verdict(document: &FramesDocument) -> String {
    let said = answer(document);
    let first = said.chars().next().map_or_else(String::new, |first| first.to_uppercase().collect());
    first + said.get(1..).unwrap_or_default()
}

/// Rates that are nearer to one another than this are the same: the search has steps of 5 %.
const SAME: f64 = 1.1;

fn answer(document: &FramesDocument) -> String {
    let ways = document.by_rate();
    let rate = |way: &FramesWay| way.sustained_bytes_per_s.unwrap_or(0.0);
    let Some(first) = ways.first() else {
        return match document.interrupted {
            true => "It was ended before it was known which way carries most.".to_owned(),
            false => "No way was found that loses no frame.".to_owned(),
        };
    };
    let (same, less): (Vec<&FramesWay>, Vec<&FramesWay>) = ways.iter().partition(|way| rate(first) < SAME * rate(way));
    let names = same.iter().map(|way| way_name(way.way)).collect::<Vec<_>>().join(" and ");
    let next = less.first().map_or_else(String::new, |next| {
        let times = quantity::ratio(rate(first) / rate(next));
        format!(", {times} times what the next does ({})", way_name(next.way))
    });
    match &same[..] {
        [only] if less.is_empty() => format!("{names} carries {} without losing a frame.", carried(document, only)),
        [only] => format!("{names} carries most without losing a frame: {}{next}.", carried(document, only)),
        _ => format!("{names} carry about the same without losing a frame: {}{next}.", carried(document, first)),
    }
}

fn carried(document: &FramesDocument, way: &FramesWay) -> String {
    let frames = way.sustained_frames_per_s.unwrap_or(0.0);
    let of = if document.cameras > 1 { format!(" of each of {} cameras", document.cameras) } else { String::new() };
    let rate = quantity::rate(way.sustained_bytes_per_s.unwrap_or(0.0));
    format!("{rate}, {} frames a second{of}", quantity::significant(frames, 3))
}

/// A table, its first row the heads.
pub(crate) type Rows = Vec<Vec<String>>;

fn dash<T>(value: Option<T>, words: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), words)
}

/// How much each carries.
pub(crate) fn rates(document: &FramesDocument) -> Rows {
    let mut rows =
        vec![["way", "no loss up to", "frames/s", "at full rate", "of the container"].map(String::from).to_vec()];
    for way in &document.ways {
        let interval = way.of_container_interval.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", quantity::significant(low, 2), quantity::significant(high, 2))
        });
        let of = if way.way == FrameWay::Container { None } else { way.of_container };
        rows.push(vec![
            way_name(way.way).to_owned(),
            dash(way.sustained_bytes_per_s, quantity::rate),
            dash(way.sustained_frames_per_s, |rate| quantity::significant(rate, 3)),
            dash(way.full_bytes_per_s_median, quantity::rate),
            dash(of, |ratio| format!("{}{interval}", quantity::significant(ratio, 2))),
        ]);
    }
    rows
}

fn load(load: Option<FramesLoad>) -> String {
    dash(load, |load| format!("{:.0}+{:.0}", 100.0 * load.busy, 100.0 * load.iowait))
}

/// What each costs at the same rate.
pub(crate) fn costs(document: &FramesDocument) -> Rows {
    let heads = ["way", "written in", "p99", "slowest", "durable by", "CPU+wait %"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let compared = document.ways.iter().filter_map(|way| Some((way.way, way.compared.as_ref()?)));
    for (way, compared) in compared {
        let FramesCompared { load_before, load_during, load_after, .. } = compared;
        rows.push(vec![
            way_name(way).to_owned(),
            dash(compared.write_ns_p50, quantity::latency),
            dash(compared.write_ns_p99, quantity::latency),
            dash(compared.write_ns_max, quantity::latency),
            dash(compared.durable_ns_max, quantity::latency),
            [*load_before, *load_during, *load_after].map(load).join(" "),
        ]);
    }
    rows
}

fn table(out: &mut Lines<'_>, rows: &Rows) {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, room))| match i {
            0 => format!("{cell:room$}"),
            _ => format!("{}{cell}", " ".repeat(room.saturating_sub(width(cell)))),
        });
        out.line(&format!("  {}", cells.collect::<Vec<_>>().join("  ")));
    }
}

/// What the common rate is, and what its columns are.
pub(crate) fn common(document: &FramesDocument) -> Option<String> {
    let rate = document.common_frames_per_s?;
    let bytes = rate * document.frame_bytes as f64 * f64::from(document.cameras);
    Some(format!(
        "At {} frames a second ({}), which all that are listed carry: until a frame was written (median, p99, slowest) and durable \
         (oldest); CPU and I/O wait of the machine before, during and after, percent",
        quantity::significant(rate, 3),
        quantity::rate(bytes)
    ))
}

/// All of it, the answer first.
pub fn frames_text(document: &FramesDocument, style: &Style) -> String {
    let mut out = Lines::new(style);
    let said = |text: &str| plain(text, style.ascii);
    let paint = if document.by_rate().is_empty() { Paint::Bad } else { Paint::Accent };
    out.wrapped("", &said(&verdict(document)), Some(paint));
    out.line("");
    table(&mut out, &rates(document));
    if let Some(common) = common(document) {
        out.line("");
        out.wrapped("", &said(&common), None);
        table(&mut out, &costs(document));
    }
    out.line("");
    for way in document.ways.iter().filter(|way| way.failed.is_some()) {
        let text = format!("{}: {}", way_name(way.way), way.failed.as_deref().unwrap_or_default());
        out.wrapped("* ", &said(&text), Some(Paint::Bad));
    }
    for left in &document.left_out {
        out.wrapped("* ", &said(&format!("{} was not measured: {}", way_name(left.way), left.reason)), None);
    }
    if document.interrupted {
        out.wrapped("* ", "it was ended before it was whole", Some(Paint::Bad));
    }
    if let Some(page) = &document.page {
        out.line(&said(&format!("  Page  {page}")));
    }
    out.out
}

/// What would be measured.
pub fn frames_plan_text(plan: &FramesPlanDocument, style: &Style) -> String {
    let mut out = Lines::new(style);
    let ways: Vec<&str> = plan.ways.iter().map(|way| way_name(*way)).collect();
    let text = format!(
        "Would write at most {} to {} and take at most {}: {}.",
        quantity::size(plan.bytes_at_most),
        plan.target,
        quantity::duration(plan.ns_at_most),
        ways.join(", ")
    );
    out.wrapped("", &plain(&text, style.ascii), None);
    for left in &plan.left_out {
        let text = format!("{} would not be measured: {}", way_name(left.way), left.reason);
        out.wrapped("* ", &plain(&text, style.ascii), None);
    }
    out.out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(rates: &[(FrameWay, f64)]) -> String {
        let way = |(way, rate): &(FrameWay, f64)| FramesWay {
            way: *way,
            full_bytes_per_s: Vec::new(),
            full_bytes_per_s_median: None,
            of_container: None,
            of_container_interval: None,
            sustained_frames_per_s: Some(rate / 2e6),
            sustained_bytes_per_s: Some(*rate),
            tried: Vec::new(),
            compared: None,
            failed: None,
        };
        let document = FramesDocument {
            schema: FramesDocument::SCHEMA,
            target: "/mnt".into(),
            started: String::new(),
            program_version: String::new(),
            cameras: 1,
            frame_bytes: 2_000_000,
            jitter: 0.0,
            seed: 1,
            ring_bytes: 1 << 27,
            max_latency_ns: 1_000_000_000,
            ways: rates.iter().map(way).collect(),
            left_out: Vec::new(),
            common_frames_per_s: None,
            interrupted: false,
            page: None,
        };
        verdict(&document)
    }

    #[test]
    fn what_a_search_cannot_tell_apart_is_called_the_same() {
        use FrameWay::{Container, Direct, GrowingFile};
        let same = answer_of(&[(GrowingFile, 300e6), (Container, 1000e6), (Direct, 1050e6)]);
        assert!(same.starts_with("Reserved, direct and narrows' container carry about the same"), "{same}");
        assert!(same.contains("3.5 times what the next does (one growing file)"), "{same}");
        let most = answer_of(&[(GrowingFile, 300e6), (Container, 1000e6)]);
        assert!(
            most.starts_with("Narrows' container carries most without losing a frame: 1 000 MB/s, 500 frames"),
            "{most}"
        );
        assert_eq!(
            answer_of(&[(Direct, 1e9)]),
            "Reserved, direct carries 1 000 MB/s, 500 frames a second without losing a frame."
        );
        assert_eq!(answer_of(&[]), "No way was found that loses no frame.");
    }
}
