//! `narrows inspect TARGET` as parts: what was found, then the storage path layer by layer.

use crate::document::CaptureEntry;
use crate::grouped::grouped;
use crate::presentation::{Item, Part, Presentation, SectionName, Tone, under};
use crate::text::and_list;
use crate::{fact, quantity, why};
use model::{CompactSort as _, Environment, Fact, Finding, Layer, LayerKind, Stack, Undecided};

/// What an inspection found, borrowed from the rooms that found it.
#[derive(Clone, Copy, Debug)]
pub struct Inspection<'a> {
    /// The target as it was asked for.
    pub target: &'a str,
    /// The captured tree that was looked at; `None` for this machine.
    pub root: Option<&'a str>,
    /// The storage path.
    pub stack: &'a Stack,
    /// The machine.
    pub environment: &'a Environment,
    /// Named conditions that hold.
    pub findings: &'a [Finding],
    /// Those that can neither be named nor ruled out.
    pub unknown: &'a [Undecided],
    /// What could not be seen, and how to get it.
    pub missing: &'a [String],
    /// Whether all is told; else what is asked first, and how much more there is.
    pub verbose: bool,
    /// Which file or specification a fact of this name is read from, to say it of facts that are not known.
    pub read_from: fn(&str) -> Option<&'static str>,
}

/// Facts that stand in a layer's heading, say where a layer is in the tree, or say once more what stands beside them: the
/// speed of a SATA link is there as a number and as the kernel prints it.
const ELSEWHERE: [&str; 3] = ["realistic_bytes_per_s", "sata_speed", "sata_speed_limit_gbit_s"];

/// The fact that holds the kernel's messages about storage.
const KERNEL_MESSAGES: &str = "kernel_log_storage";
/// Up to so many facts that are not known say what they would be read from; of more, `--json` tells it.
const FEW_UNKNOWN: usize = 6;
/// Messages that are shown.
const MESSAGES: usize = 5;

/// The whole inspection, and the capture that was made of it.
pub fn inspection(seen: &Inspection<'_>, capture: Option<&CaptureEntry>) -> Presentation {
    let root = seen.root.map_or_else(String::new, |root| format!(" in {root}"));
    let mut presentation =
        Presentation::of("inspect", format!("{}{root}", seen.target)).answered(Tone::Good, answer(seen));
    presentation.head.about = machine(seen.environment).into_iter().collect();
    let none = || vec![Part::Sentence(Tone::Plain, "No known condition was found.".to_owned())];
    let findings = why::findings(seen.findings);
    presentation.push(SectionName::Findings, if findings.is_empty() { none() } else { findings });
    let lowest = seen.stack.lowest_ceiling().map(|l| l as *const Layer);
    for (at, layer) in seen.stack.layers.iter().enumerate() {
        let is_lowest = lowest.is_some_and(|l| std::ptr::eq(l, layer));
        presentation.push(SectionName::Path, of_layer(seen, layer, is_lowest, seen.stack.layers.branches_from(at)));
    }
    if lowest.is_none() {
        let none = "No layer of this path has a known line rate, so none is marked as the lowest.";
        presentation.push(SectionName::Path, vec![Part::Sentence(Tone::Plain, none.to_owned())]);
    }
    if seen.verbose {
        let undecided = grouped(seen.unknown.iter().map(|u| (&u.how_to_get, u.id.as_str())));
        let undecided = undecided.into_iter().map(|(how, ids)| format!("{}: {how}", ids.join(", ")));
        presentation.push(SectionName::Others, listed("Could not be decided", undecided.collect()));
        presentation.push(SectionName::Others, listed("Not seen", seen.missing.to_vec()));
    } else {
        let waiting = match seen.unknown.len() {
            0 => String::new(),
            1 => "; one known condition could not be decided".to_owned(),
            n => format!("; {n} known conditions could not be decided"),
        };
        let more = format!("-v tells all that is known of each layer{waiting}");
        presentation.push(SectionName::Others, vec![Part::Hint(more)]);
    }
    presentation.push(SectionName::Events, captured(capture).into_iter().collect());
    presentation
}

/// What the path is made of, which of its layers carries least, and which known conditions hold: in a sentence.
pub(crate) fn answer(seen: &Inspection<'_>) -> String {
    let layers = &seen.stack.layers;
    let on_the_way = |l: &&Layer| !matches!(l.kind, LayerKind::Link | LayerKind::Controller | LayerKind::Host);
    let mut names: Vec<&str> = layers.iter().filter(on_the_way).map(|l| l.name.as_str()).collect();
    names.dedup();
    let path = names.join(" on ");
    if path.is_empty() {
        return "Nothing of a storage path was seen.".to_owned();
    }
    let size = seen.stack.device_bytes().map_or_else(String::new, |bytes| format!(", {}", quantity::size(bytes)));
    let ceiling = match seen.stack.lowest_ceiling() {
        Some(layer) => {
            let most = layer.ceiling_bytes_per_s.map_or_else(String::new, |c| quantity::rate(c as f64));
            format!("the lowest ceiling is that of {}, {most}", layer.name)
        }
        None => "no layer has a known line rate (narrows check measures what it gives)".to_owned(),
    };
    let ids: Vec<&str> = seen.findings.iter().map(|f| f.id.as_str()).collect();
    let found = match ids.len() {
        0 => "no known condition was found".to_owned(),
        1 => format!("one known condition: {}", ids[0]),
        n => format!("{n} known conditions: {}", and_list(&ids)),
    };
    format!("{path}{size}: {ceiling}; {found}.")
}

/// A capture that was made.
pub(crate) fn captured(capture: Option<&CaptureEntry>) -> Option<Part> {
    let CaptureEntry { path, entries, bytes, keeps_serials } = capture?;
    let serials = if *keeps_serials { "kept as they are" } else { "replaced by hashes" };
    let size = quantity::size(*bytes);
    let text = format!(
        "{path}: {entries} entries, {size}; serial numbers are {serials}. Look through it before you send it on."
    );
    Some(Part::Named("Capture", text))
}

fn listed(heading: &str, list: Vec<String>) -> Vec<Part> {
    under(heading, (!list.is_empty()).then_some(Part::List(list)).into_iter().collect())
}

fn machine(e: &Environment) -> Option<String> {
    let kernel = e.kernel.as_ref().map(|k| format!("Linux {k}"));
    let memory = e.memory_bytes.map(|b| format!("{} of memory", quantity::memory_size(b)));
    let cpus: u32 = e.cpus.iter().map(|c| c.count).sum();
    let cpus = (cpus > 0).then(|| {
        let name = e.cpus.first().map(|c| c.name.trim()).unwrap_or_default();
        if e.cpus.len() == 1 { format!("{cpus} x {name}") } else { format!("{cpus} processors, first {name}") }
    });
    let parts = [e.machine.clone(), e.distribution.clone(), kernel, cpus, memory, e.virtualization.clone()];
    let line = parts.into_iter().flatten().filter(|p| p != "none").collect::<Vec<_>>().join(", ");
    (!line.is_empty()).then_some(line)
}

fn of_layer(seen: &Inspection<'_>, layer: &Layer, is_lowest: bool, branches_from: Option<&Layer>) -> Vec<Part> {
    // A file system's driver has its name.
    let driver = layer.driver.as_ref().filter(|d| **d != layer.name);
    let driver = driver.map_or_else(String::new, |d| format!("  ({d})"));
    let below = branches_from.map_or_else(String::new, |l| format!("  below {}", l.name));
    let tone = if is_lowest { Tone::Good } else { Tone::Plain };
    let ceiling = layer.ceiling_bytes_per_s.map(|c| format!("at most {}", quantity::rate(c as f64)));
    let name = format!("{}{driver}{below}", layer.name);
    let mut parts =
        vec![Part::Item(Item { kind: kind_words(layer.kind), tone, ..Item::new(name, ceiling.unwrap_or_default()) })];
    if let Some(source) = &layer.ceiling_source {
        let practice = match layer.fact("realistic_bytes_per_s") {
            Some(Fact::Int(v)) => format!("; in practice about {}", quantity::rate(*v as f64)),
            _ => String::new(),
        };
        let lowest = if is_lowest { "THE LOWEST CEILING: " } else { "" };
        parts.push(Part::Sentence(tone, format!("{lowest}{source}{practice}")));
    }
    parts.extend(facts(seen, layer));
    parts
}

/// Facts that are known, the kernel's messages, then the names of facts that are not known.
fn facts(seen: &Inspection<'_>, layer: &Layer) -> Vec<Part> {
    let told = |n: &&String| !ELSEWHERE.contains(&n.as_str()) && (seen.verbose || fact::rank(n).is_some());
    let mut names: Vec<&String> = layer.facts.keys().filter(told).collect();
    names.compact_sort_by_key(|n| (fact::rank(n).unwrap_or(usize::MAX), n.as_str()));
    let (mut known, mut parts, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let words = fact::name(name);
        match (&layer.facts[name], fact::value(name, &layer.facts[name])) {
            (Fact::List(lines), _) if name == KERNEL_MESSAGES => parts.extend(messages(seen, lines)),
            (_, Some(value)) => known.push((words, value)),
            (Fact::Null, None) if seen.verbose => unknown.push((words, (seen.read_from)(name))),
            // An empty list or text is an answer too, but not one worth a line.
            _ => {}
        }
    }
    if !unknown.is_empty() {
        let few = unknown.len() <= FEW_UNKNOWN;
        let named = |(words, source): &(String, Option<&str>)| match source {
            Some(source) if few => format!("{words} ({source})"),
            _ => words.clone(),
        };
        let unknown: Vec<String> = unknown.iter().map(named).collect();
        parts.push(Part::Hint(format!("not known: {}", unknown.join(", "))));
    }
    (!known.is_empty()).then_some(Part::Facts(known)).into_iter().chain(parts).collect()
}

/// The kernel's messages that name a layer of this path, the newest of them.
fn messages(seen: &Inspection<'_>, lines: &[String]) -> Vec<Part> {
    let layers = || seen.stack.layers.iter().map(|l| l.name.as_str()).filter(|n| n.len() > 2);
    let ours: Vec<&String> = lines.iter().filter(|l| layers().any(|name| names(l, name))).collect();
    let shown = &ours[ours.len().saturating_sub(MESSAGES)..];
    let others = lines.len() - ours.len();
    let mut head = match (ours.len(), shown.len()) {
        (0, _) => "kernel messages about this path: none".to_owned(),
        (all, few) if all > few => format!("kernel messages about this path: {all}, the last {few}"),
        (all, _) => format!("kernel messages about this path: {all}"),
    };
    if others > 0 {
        head.push_str(&format!("; {others} about others"));
    }
    vec![Part::Sentence(Tone::Plain, head), Part::List(shown.iter().map(|line| (*line).clone()).collect())]
}

/// Whether a message has the name as a word of its own: `sda` is not in `sdaa`, nor `mmc1` in `mmc10`.
fn names(line: &str, name: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    line.match_indices(name)
        .any(|(at, _)| !part(line[..at].chars().next_back()) && !part(line[at + name.len()..].chars().next()))
}

fn kind_words(kind: LayerKind) -> &'static str {
    match kind {
        LayerKind::Filesystem => "file system",
        LayerKind::Loop => "loop",
        LayerKind::Dm => "mapping",
        LayerKind::Md => "RAID",
        LayerKind::Zram => "zram",
        LayerKind::Partition => "partition",
        LayerKind::Disk => "disk",
        LayerKind::Link => "link",
        LayerKind::Controller => "controller",
        LayerKind::Host => "host",
        LayerKind::Sim => "simulated",
    }
}
