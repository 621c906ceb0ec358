//! What each layer of a path costs.

use crate::document::{LayersDocument, LayersPlanDocument};
use crate::listing::minute;
use crate::presentation::table::PLUS_MINUS;
use crate::presentation::{Cell, Part, Presentation, Remark, Row, SectionName, State, Table, Tone, listed};
use crate::quantity;
use crate::text::capital;
use model::{Estimate, LayerCost, LevelFigures};

/// The answer in a sentence: the layer that costs most first, then the others that cost something.
pub(crate) fn verdict(document: &LayersDocument) -> String {
    if document.layers.is_empty() {
        return match document.interrupted {
            true => "It was ended before it was known what the layers cost.".to_owned(),
            false => "Only one level could be measured, so that no layer can be told from another.".to_owned(),
        };
    }
    let weight = |cost: &LayerCost| cost.weight.unwrap_or(0.0);
    let Some(dearest) =
        document.layers.iter().filter(|c| c.weight.is_some()).max_by(|a, b| weight(a).total_cmp(&weight(b)))
    else {
        return "No layer costs more than the rounds differ.".to_owned();
    };
    let others: Vec<String> =
        document.layers.iter().filter(|cost| cost.layer != dearest.layer && cost.weight.is_some()).map(price).collect();
    let first = capital(&price(dearest));
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join("; ")) };
    let most = if document.layers.len() > 1 { ", which is most" } else { "" };
    format!("{first}{most}{others}.")
}

/// `dm-crypt (dm-0) +38 us, -31 %, 0.9 s of CPU a GB`.
fn price(cost: &LayerCost) -> String {
    // What the rounds differ by is not said.
    let differs = |e: &Estimate, from: f64| e.is_above(from) || e.is_below(from);
    let LevelFigures { read_ns, read_rate, read_cpu_s_per_gb, .. } = cost.cost;
    let seconds = |s: f64| format!("{} s of CPU a GB", quantity::significant(s, 2));
    let parts = [
        read_ns.filter(|e| differs(e, 0.0)).map(|e| added(e.value)),
        read_rate.filter(|e| differs(e, 1.0)).map(|e| changed(e.value)),
        read_cpu_s_per_gb.filter(|e| e.is_above(0.0)).map(|e| seconds(e.value)),
    ];
    format!("{} {}", cost.layer, parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// `+38 us`.
fn added(ns: f64) -> String {
    let time = quantity::latency(ns.abs() as u64);
    format!("{}{time}", if ns < 0.0 { "-" } else { "+" })
}

/// `-31 %`; what is more than three times as much as a factor.
fn changed(factor: f64) -> String {
    match factor {
        f if f > 3.0 => format!("{} times the rate", quantity::significant(f, 2)),
        f => format!("{:+.0} %", 100.0 * (f - 1.0)),
    }
}

fn cell(estimate: Option<Estimate>, words: impl Fn(f64) -> String) -> Cell {
    let Some(estimate) = estimate else { return Cell::Text("-".to_owned()) };
    Cell::Text(words(estimate.value))
}

/// A value and half the width of its interval.
fn between(estimate: Option<Estimate>, words: impl Fn(f64) -> String, half: impl Fn(f64) -> String) -> Cell {
    let Some(e) = estimate else { return Cell::Text("-".to_owned()) };
    Cell::Text(match e.low.zip(e.high) {
        Some((low, high)) => format!("{} {PLUS_MINUS} {}", words(e.value), half((high - low) / 2.0)),
        None => words(e.value),
    })
}

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn cpu(seconds: f64) -> String {
    quantity::significant(seconds, 2)
}

fn time(ns: f64) -> String {
    quantity::latency(ns.max(0.0) as u64)
}

/// The numbers of each level.
fn levels(document: &LayersDocument) -> Table {
    let writes =
        document.levels.iter().any(|level| level.figures.write_ns.is_some() || level.figures.write_rate.is_some());
    let rows = document.levels.iter().map(|level| {
        let LevelFigures { read_ns, read_rate, read_cpu_s_per_gb, write_ns, write_rate, .. } = level.figures;
        let mut cells = vec![cell(read_ns, time), cell(read_rate, quantity::rate), cell(read_cpu_s_per_gb, cpu)];
        if writes {
            cells.extend([cell(write_ns, time), cell(write_rate, quantity::rate)]);
        }
        Row::new(&level.name, cells)
    });
    let rows = rows.collect();
    let names = ["a read", "reads", "CPU s/GB", "a write", "writes"];
    Table { corner: "level", head: head(&names[..if writes { 5 } else { 3 }]), rows, ..Table::default() }
}

/// What each layer adds and takes.
fn costs(document: &LayersDocument) -> Table {
    let rows = document.layers.iter().map(|layer| {
        let LevelFigures { read_ns, read_rate, read_cpu_s_per_gb, .. } = layer.cost;
        let cells = [
            between(read_ns, added, time),
            between(read_rate, changed, |half| format!("{:.0}", 100.0 * half)),
            between(read_cpu_s_per_gb, |s| format!("{s:+.2}"), |half| format!("{half:.2}")),
        ];
        Row::new(&layer.layer, cells.into())
    });
    let rows = rows.collect();
    Table { corner: "layer", head: head(&["added to a read", "rate", "CPU s/GB"]), rows, ..Table::default() }
}

/// The answer first, then what each layer costs, the levels, and what is missing.
pub fn layers(document: &LayersDocument) -> Presentation {
    let interrupted = State { words: "It was ended before it was whole.", bad: false };
    let about = format!(
        "Reads of {} one at a time, and of 1 MiB with {} in flight (through the page cache one, with its read-ahead), of the same {}; \
         means of {} rounds",
        quantity::binary_size(document.block_bytes),
        document.depth,
        quantity::size(document.region_bytes),
        document.levels.iter().map(|level| level.rounds.len()).max().unwrap_or(0)
    );
    let tone = if document.layers.is_empty() { Tone::Doubt } else { Tone::Good };
    let mut presentation = Presentation::of("run layers", &document.target).answered(tone, verdict(document));
    presentation.head.when = minute(&document.started) + " UTC";
    presentation.head.about = vec![about];
    presentation.head.state = document.interrupted.then_some(interrupted);
    if !document.layers.is_empty() {
        presentation.push(SectionName::Numbers, vec![Part::Table(costs(document))]);
    }
    presentation.push(SectionName::Others, vec![Part::Table(levels(document))]);
    let other_bytes = document.levels.iter().filter(|level| !level.same_bytes).map(|level| Remark {
        phase: level.name.clone(),
        tone: Tone::Doubt,
        text: "its bytes are not those of the level above: it is a member of an array that spreads them".to_owned(),
    });
    let reasons = document.levels.iter().flat_map(|level| {
        level.reasons.iter().map(|why| Remark { phase: level.name.clone(), tone: Tone::Doubt, text: why.clone() })
    });
    let left_out = document.left_out.iter().map(|left| Remark {
        phase: left.level.clone(),
        tone: Tone::Plain,
        text: format!("not measured: {}", left.reason),
    });
    let remarks: Vec<Remark> = other_bytes.chain(reasons).chain(left_out).collect();
    presentation.push(SectionName::Events, if remarks.is_empty() { Vec::new() } else { vec![Part::Remarks(remarks)] });
    presentation.end.page = document.page.clone();
    presentation
}

/// What would be measured.
pub fn layers_plan(plan: &LayersPlanDocument) -> Presentation {
    let written = match plan.bytes_at_most {
        0 => "Would write nothing".to_owned(),
        bytes => format!("Would write at most {} to a file of its own in {}", quantity::size(bytes), plan.target),
    };
    let text = format!(
        "{written}, and take {} or a little more: {}; the devices below a new file are found when it is written.",
        quantity::duration(plan.ns_at_most),
        plan.levels.join(", ")
    );
    let left_out = plan.left_out.iter().map(|left| format!("{} would not be measured: {}", left.level, left.reason));
    let mut presentation = Presentation::of("run layers", &plan.target);
    let mut parts = vec![Part::Sentence(Tone::Plain, text)];
    parts.extend(listed(left_out.collect()));
    presentation.push(SectionName::Answer, parts);
    presentation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(layer: &str, ns: f64, factor: f64, weight: Option<f64>) -> LayerCost {
        let one = |value| Some(Estimate { value, low: None, high: None });
        let cost = LevelFigures {
            read_ns: one(ns),
            read_rate: one(factor),
            read_cpu_s_per_gb: one(0.9),
            write_ns: None,
            write_rate: None,
            write_cpu_s_per_gb: None,
        };
        LayerCost { layer: layer.to_owned(), above: "a".to_owned(), below: "b".to_owned(), cost, weight }
    }

    fn document(layers: Vec<LayerCost>) -> LayersDocument {
        LayersDocument {
            target: "/mnt".to_owned(),
            started: String::new(),
            program_version: String::new(),
            seed: 1,
            region_bytes: 256 << 20,
            block_bytes: 4096,
            depth: 4,
            bytes_written: 0,
            levels: Vec::new(),
            dearest: None,
            layers,
            left_out: Vec::new(),
            interrupted: false,
            page: None,
        }
    }

    #[test]
    fn the_answer_names_the_dearest_layer_first_with_its_price() {
        let answer = verdict(&document(vec![
            cost("ext4", 2_000.0, 0.99, None),
            cost("dm-crypt (dm-0)", 38_000.0, 0.69, Some(0.45)),
            cost("LVM (dm-1)", 3_000.0, 0.97, Some(0.03)),
        ]));
        assert_eq!(
            answer,
            "Dm-crypt (dm-0) +38.0 us, -31 %, 0.90 s of CPU a GB, which is most; LVM (dm-1) +3.00 us, -3 %, 0.90 s of CPU a GB."
        );
        assert_eq!(
            verdict(&document(vec![cost("ext4", 1.0, 1.0, None)])),
            "No layer costs more than the rounds differ."
        );
        assert!(verdict(&document(Vec::new())).starts_with("Only one level"));
        assert_eq!((added(-2_000.0), changed(4.0)), ("-2.00 us".to_owned(), "4.0 times the rate".to_owned()));
    }
}
