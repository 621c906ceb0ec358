//! `narrows inspect TARGET` as text: the storage path layer by layer, in 80 columns.

use crate::evidence::{RenderedEvidence, confidence_word};
use crate::grouped::grouped;
use crate::lines::Lines;
use crate::text::{pad, shorten, unbroken, width};
use crate::{Paint, Style, fact, quantity};
use model::{Environment, Fact, Finding, Layer, LayerKind, Stack, Undecided};

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

/// Indent of what belongs to a layer.
const INDENT: usize = 4;
/// Columns of a layer's kind.
const KIND_COLUMNS: usize = 13;
/// Facts that stand in a layer's heading, say where a layer is in the tree, or say once more what stands beside them: the
/// speed of a SATA link is there as a number and as the kernel prints it.
const ELSEWHERE: [&str; 3] = ["realistic_bytes_per_s", "sata_speed", "sata_speed_limit_gbit_s"];

/// The fact that holds the kernel's messages about storage.
const KERNEL_MESSAGES: &str = "kernel_log_storage";
/// Up to so many facts that are not known say what they would be read from; of more, `--json` tells it.
const FEW_UNKNOWN: usize = 6;
/// Messages that are shown.
const MESSAGES: usize = 5;

struct Page<'a> {
    /// Names of all layers.
    names: Vec<&'a str>,
    /// [`Inspection::read_from`].
    read_from: fn(&str) -> Option<&'static str>,
    verbose: bool,
    lines: Lines<'a>,
}

/// The whole inspection. No line is wider than the style asks, but for single words that cannot be broken.
pub fn inspection_text(seen: &Inspection<'_>, style: &Style) -> String {
    let names = seen.stack.layers.iter().map(|l| l.name.as_str()).filter(|n| n.len() > 2).collect();
    let (read_from, verbose) = (seen.read_from, seen.verbose);
    let mut page = Page { names, read_from, verbose, lines: Lines::new(style) };
    page.head(seen);
    page.findings(seen.findings);
    let lowest = seen.stack.lowest_ceiling().map(|l| l as *const Layer);
    for (at, layer) in seen.stack.layers.iter().enumerate() {
        let is_lowest = lowest.is_some_and(|l| std::ptr::eq(l, layer));
        page.layer(layer, is_lowest, seen.stack.layers.branches_from(at));
    }
    if lowest.is_none() {
        page.lines.line("");
        page.lines.wrapped("  ", "No layer of this path has a known line rate, so none is marked as the lowest.", None);
    }
    if verbose {
        page.unknown(seen.unknown);
        page.missing(seen.missing);
    } else {
        let waiting = match seen.unknown.len() {
            0 => String::new(),
            1 => "; one known condition could not be decided".to_owned(),
            n => format!("; {n} known conditions could not be decided"),
        };
        page.lines.line("");
        page.lines.wrapped("", &format!("-v tells all that is known of each layer{waiting}"), Some(Paint::Dim));
    }
    page.lines.out
}

impl Page<'_> {
    fn head(&mut self, seen: &Inspection<'_>) {
        let mut words = format!("narrows inspect {}", seen.target);
        if let Some(root) = seen.root {
            words.push_str(&format!(" in {root}"));
        }
        self.lines.title(&words, "");
        let e = seen.environment;
        let kernel = e.kernel.as_ref().map(|k| format!("Linux {k}"));
        let memory = e.memory_bytes.map(|b| format!("{} of memory", quantity::memory_size(b)));
        let cpus: u32 = e.cpus.iter().map(|c| c.count).sum();
        let cpus = (cpus > 0).then(|| {
            let name = e.cpus.first().map(|c| c.name.trim()).unwrap_or_default();
            if e.cpus.len() == 1 { format!("{cpus} x {name}") } else { format!("{cpus} processors, first {name}") }
        });
        let parts = [e.machine.clone(), e.distribution.clone(), kernel, cpus, memory, e.virtualization.clone()];
        let line = parts.into_iter().flatten().filter(|p| p != "none").collect::<Vec<_>>().join(", ");
        self.lines.wrapped("", &line, Some(Paint::Dim));
    }

    fn layer(&mut self, layer: &Layer, lowest: bool, branches_from: Option<&Layer>) {
        self.lines.line("");
        let kind = pad(kind_words(layer.kind), KIND_COLUMNS);
        let name = self.lines.plain(&layer.name);
        // A file system's driver has its name.
        let driver = layer.driver.as_deref().filter(|d| *d != layer.name);
        let driver = driver.map(|d| format!("  ({})", self.lines.plain(d))).unwrap_or_default();
        let below = branches_from.map(|l| format!("  below {}", self.lines.plain(&l.name))).unwrap_or_default();
        let ceiling = layer.ceiling_bytes_per_s.map(|c| format!("at most {}", quantity::rate(c as f64)));
        let ceiling = ceiling.unwrap_or_default();
        let room = self.lines.columns.saturating_sub(KIND_COLUMNS + width(&ceiling) + 2);
        let name = shorten(&format!("{name}{driver}{below}"), room, self.lines.style.ascii);
        let fill = " ".repeat(room.saturating_sub(width(&name)) + if ceiling.is_empty() { 0 } else { 2 });
        let ceiling = if lowest { self.lines.style.paint(Paint::Accent, &ceiling) } else { ceiling };
        let head = format!(
            "{}{}{fill}{ceiling}",
            self.lines.style.paint(Paint::Dim, &kind),
            self.lines.style.paint(Paint::Title, &name)
        );
        self.lines.line(&head);
        if let Some(source) = &layer.ceiling_source {
            let mut text = source.clone();
            if let Some(Fact::Int(v)) = layer.fact("realistic_bytes_per_s") {
                text.push_str(&format!("; in practice about {}", quantity::rate(*v as f64)));
            }
            if lowest {
                text = format!("THE LOWEST CEILING: {text}");
            }
            self.lines.wrapped(&" ".repeat(INDENT), &text, lowest.then_some(Paint::Accent));
        }
        self.facts(layer);
    }

    /// Facts that are known in two columns, long ones on lines of their own; then the names of those that are not.
    fn facts(&mut self, layer: &Layer) {
        let told = |n: &&String| !ELSEWHERE.contains(&n.as_str()) && (self.verbose || fact::rank(n).is_some());
        let mut names: Vec<&String> = layer.facts.keys().filter(told).collect();
        names.sort_by_key(|n| (fact::rank(n).unwrap_or(usize::MAX), n.as_str()));
        let column = (self.lines.columns - INDENT) / 2;
        let mut left: Option<String> = None;
        let mut unknown = Vec::new();
        for name in names {
            let words = fact::name(name);
            if let Some(Fact::List(lines)) = layer.facts.get(name).filter(|_| name == KERNEL_MESSAGES) {
                self.flush(&mut left);
                self.messages(lines);
                continue;
            }
            let Some(value) = layer.facts.get(name).and_then(|f| fact::value(name, f)) else {
                // An empty list or text is an answer too, but not one worth a line.
                if self.verbose && layer.facts.get(name).is_some_and(Fact::is_null) {
                    unknown.push((words, (self.read_from)(name)));
                }
                continue;
            };
            let text = self.lines.plain(&format!("{words}: {value}"));
            if width(&text) >= column {
                self.flush(&mut left);
                self.lines.wrapped(&" ".repeat(INDENT), &text, None);
            } else if let Some(first) = left.take() {
                self.lines.line(&format!("{}{}{text}", " ".repeat(INDENT), pad(&first, column)));
            } else {
                left = Some(text);
            }
        }
        self.flush(&mut left);
        if !unknown.is_empty() {
            let few = unknown.len() <= FEW_UNKNOWN;
            let named = |(words, source): &(String, Option<&str>)| match source {
                Some(source) if few => format!("{words} ({source})"),
                _ => words.clone(),
            };
            let unknown: Vec<String> = unknown.iter().map(named).collect();
            self.lines.wrapped(&" ".repeat(INDENT), &format!("not known: {}", unknown.join(", ")), Some(Paint::Dim));
        }
    }

    /// The kernel's messages that name a layer of this path, the newest of them.
    fn messages(&mut self, lines: &[String]) {
        let ours: Vec<&String> = lines.iter().filter(|l| self.names.iter().any(|name| names(l, name))).collect();
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
        self.lines.wrapped(&" ".repeat(INDENT), &head, None);
        for line in shown {
            self.lines.wrapped(&format!("{}- ", " ".repeat(INDENT + 2)), line, None);
        }
    }

    fn flush(&mut self, left: &mut Option<String>) {
        if let Some(text) = left.take() {
            self.lines.line(&format!("{}{text}", " ".repeat(INDENT)));
        }
    }

    fn findings(&mut self, findings: &[Finding]) {
        if findings.is_empty() {
            self.lines.line("");
            self.lines.line("No known condition was found.");
            return;
        }
        self.lines.line("");
        self.lines.heading("Findings", "narrows explain ID");
        for f in findings {
            let id = self.lines.plain(&f.id);
            self.lines.line(&format!(
                "  {} ({})",
                self.lines.style.paint(Paint::Title, &id),
                confidence_word(f.confidence)
            ));
            self.lines.wrapped(&" ".repeat(INDENT), &f.title, None);
            for e in &f.evidence {
                self.lines.wrapped("    - ", &RenderedEvidence::of_fact(e).line(), None);
            }
            let fix = unbroken(&f.fix);
            if let Some(first) = fix.first() {
                self.lines.wrapped("    Do: ", first, None);
            }
        }
    }

    /// One paragraph for each way to learn more, with the ids that wait for it.
    fn unknown(&mut self, unknown: &[Undecided]) {
        if unknown.is_empty() {
            return;
        }
        self.lines.line("");
        self.lines.heading("Could not be decided", "");
        for (how, ids) in grouped(unknown.iter().map(|u| (&u.how_to_get, u.id.as_str()))) {
            self.lines.wrapped("  - ", &format!("{}: {how}", ids.join(", ")), Some(Paint::Dim));
        }
    }

    fn missing(&mut self, missing: &[String]) {
        if missing.is_empty() {
            return;
        }
        self.lines.line("");
        self.lines.heading("Not seen", "");
        for m in missing {
            self.lines.wrapped("  - ", m, Some(Paint::Dim));
        }
    }
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
