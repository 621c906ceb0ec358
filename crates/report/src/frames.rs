//! The same frames in several ways.

use crate::document::{FramesDocument, FramesPlanDocument};
use crate::presentation::{Cell, Part, Presentation, Remark, Row, SectionName, State, Table, Tone};
use crate::quantity;
use crate::text::capital;
use model::{FrameWay, FramesLoad, FramesWay};

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
    capital(&answer(document))
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

fn dash<T>(value: Option<T>, words: impl Fn(T) -> String) -> Cell {
    Cell::Text(value.map_or_else(|| "-".to_owned(), words))
}

fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = (FrameWay, [Cell; N])>) -> Table {
    let rows = rows.map(|(way, cells)| Row::new(way_name(way), cells.into())).collect();
    Table { corner: "way", head: head.map(str::to_owned).into(), rows, ..Table::default() }
}

/// How much each carries.
fn rates(document: &FramesDocument) -> Table {
    let rows = document.ways.iter().map(|way| {
        let interval = way.of_container_interval.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", quantity::significant(low, 2), quantity::significant(high, 2))
        });
        let of = if way.way == FrameWay::Container { None } else { way.of_container };
        let cells = [
            dash(way.sustained_bytes_per_s, quantity::rate),
            dash(way.sustained_frames_per_s, |rate| quantity::significant(rate, 3)),
            dash(way.full_bytes_per_s_median, quantity::rate),
            dash(of, |ratio| format!("{}{interval}", quantity::significant(ratio, 2))),
        ];
        (way.way, cells)
    });
    table(["no loss up to", "frames/s", "at full rate", "of the container"], rows)
}

/// What each costs at the same rate.
fn costs(document: &FramesDocument) -> Table {
    let load = |load: &Option<FramesLoad>| {
        load.map_or_else(|| "-".to_owned(), |load| format!("{:.0}+{:.0}", 100.0 * load.busy, 100.0 * load.iowait))
    };
    let compared = document.ways.iter().filter_map(|way| Some((way.way, way.compared.as_ref()?)));
    let rows = compared.map(|(way, c)| {
        let loads = [&c.load_before, &c.load_during, &c.load_after].map(load).join(" ");
        let times = [c.write_ns_p50, c.write_ns_p99, c.write_ns_max, c.durable_ns_max];
        let [p50, p99, max, durable] = times.map(|ns| dash(ns, quantity::latency));
        (way, [p50, p99, max, durable, Cell::Text(loads)])
    });
    table(["written in", "p99", "slowest", "durable by", "CPU+wait %"], rows)
}

/// What the common rate is, and what its columns are.
fn common(document: &FramesDocument) -> Option<String> {
    let rate = document.common_frames_per_s?;
    let bytes = rate * document.frame_bytes as f64 * f64::from(document.cameras);
    Some(format!(
        "At {} frames a second ({}), which all that are listed carry: until a frame was written (median, p99, slowest) and durable \
         (oldest); CPU and I/O wait of the machine before, during and after, percent",
        quantity::significant(rate, 3),
        quantity::rate(bytes)
    ))
}

/// What was recorded, in words.
fn load_words(document: &FramesDocument) -> String {
    let jitter =
        if document.jitter > 0.0 { format!(" give or take {:.0} %", 100.0 * document.jitter) } else { String::new() };
    format!(
        "{} of {}{jitter}, seed {}; a ring of {}; durable within {} and the flush",
        if document.cameras == 1 { "One camera".to_owned() } else { format!("{} cameras", document.cameras) },
        quantity::size(document.frame_bytes),
        document.seed,
        quantity::memory_size(document.ring_bytes),
        quantity::duration(document.max_latency_ns)
    )
}

/// The answer first, then how much each carries and costs, and what is missing.
pub fn frames(document: &FramesDocument) -> Presentation {
    let tone = if document.by_rate().is_empty() { Tone::Bad } else { Tone::Good };
    let interrupted = State { words: "It was ended before it was whole.", bad: false };
    let mut presentation = Presentation::of("run frames", &document.target).answered(tone, verdict(document));
    presentation.head.when.clone_from(&document.started);
    presentation.head.about = vec![load_words(document)];
    presentation.head.state = document.interrupted.then_some(interrupted);
    presentation.push(SectionName::Numbers, vec![Part::Table(rates(document))]);
    if let Some(caption) = common(document) {
        presentation.push(SectionName::Others, vec![Part::Table(Table { caption, ..costs(document) })]);
    }
    let failed = document.ways.iter().filter_map(|way| {
        let text = way.failed.as_ref()?;
        Some(Remark { phase: way_name(way.way).to_owned(), tone: Tone::Bad, text: text.clone() })
    });
    let left_out = document.left_out.iter().map(|left| Remark {
        phase: way_name(left.way).to_owned(),
        tone: Tone::Plain,
        text: format!("not measured: {}", left.reason),
    });
    let remarks: Vec<Remark> = failed.chain(left_out).collect();
    presentation.push(SectionName::Events, if remarks.is_empty() { Vec::new() } else { vec![Part::Remarks(remarks)] });
    presentation.end.page = document.page.clone();
    presentation
}

/// What would be measured.
pub fn frames_plan(plan: &FramesPlanDocument) -> Presentation {
    let ways: Vec<&str> = plan.ways.iter().map(|way| way_name(*way)).collect();
    let text = format!(
        "Would write at most {} to {} and take at most {}: {}.",
        quantity::size(plan.bytes_at_most),
        plan.target,
        quantity::duration(plan.ns_at_most),
        ways.join(", ")
    );
    let left_out =
        plan.left_out.iter().map(|left| format!("{} would not be measured: {}", way_name(left.way), left.reason));
    let mut presentation = Presentation::of("run frames", &plan.target);
    presentation.push(SectionName::Answer, vec![Part::Sentence(Tone::Plain, text), Part::List(left_out.collect())]);
    presentation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer_of(rates: &[(FrameWay, f64)]) -> String {
        let way = |(way, rate): &(FrameWay, f64)| FramesWay {
            sustained_frames_per_s: Some(rate / 2e6),
            sustained_bytes_per_s: Some(*rate),
            ..FramesWay::of(*way)
        };
        let document = FramesDocument {
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
