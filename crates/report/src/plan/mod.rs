//! The plan as parts: all that a run would do, before it does it.

mod conditions;
pub(crate) mod words;

use crate::presentation::{Item, Part, Presentation, SectionName, Tone, statements};
use crate::quantity;
pub(crate) use conditions::cpus;
use model::{
    Access, BlockPlan, EngineKind, FilesPlan, IoPath, PhaseKind, PhasePlan, Plan, StopRule, StreamKind, StreamPlan,
};

/// What ends by its amount is given up after a time that nobody would wait for: from here on, it is only a limit.
const LONG_NS: u64 = 3_600 * model::NS_PER_S;

/// Buffered or direct.
pub(crate) fn access(access: Access) -> &'static str {
    match access {
        Access::Buffered => "buffered",
        Access::Direct => "direct",
    }
}

/// A plan: what it needs and costs at most, then each phase with its streams. Streams that differ only in seed, place, processors and the
/// number in their name are told once, with how many there are. `fstype`: the file system that it is for.
pub fn plan(plan: &Plan, fstype: Option<&str>) -> Presentation {
    let mut presentation = Presentation::of("", format!("Plan {}", plan.name));
    let demands = demands(plan, fstype).into_iter().map(|(name, text)| (name.to_owned(), text));
    let notes = plan.notes.iter().map(|note| Part::Sentence(Tone::Doubt, format!("Note: {note}")));
    presentation.push(SectionName::Answer, std::iter::once(statements(demands)).chain(notes).collect());
    let digits = plan.phases.len().to_string().len();
    let phase = |(i, phase): (usize, &PhasePlan)| of_phase(&format!("{:>digits$}. {}", i + 1, phase.name), phase);
    presentation.push(SectionName::Numbers, plan.phases.iter().enumerate().flat_map(phase).collect());
    presentation
}

fn demands(plan: &Plan, fstype: Option<&str>) -> Vec<(&'static str, String)> {
    let reason = &plan.size.reason;
    let because = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let mut out = vec![("target", format!("{}{because}", quantity::binary_size(plan.size.bytes)))];
    let live = || plan.phases.iter().filter(|p| p.skip.is_none());
    if let Some((phase, need)) = live().map(|p| (p, p.memory(plan.interval_ns))).max_by_key(|(_, need)| need.total()) {
        let text = format!(
            "{} at most, in {}: {} of data in flight, {} of latencies, {} of tables and threads",
            quantity::memory_size(need.total()),
            phase.name,
            quantity::memory_size(need.buffers),
            quantity::memory_size(need.histograms),
            quantity::memory_size(need.tables),
        );
        out.push(("memory", text));
    }
    let writes = match plan.device_bytes_at_most(fstype) {
        Some(0) => "nothing".to_owned(),
        Some(bytes) => format!("{} at most", quantity::size(bytes)),
        None => {
            let unbounded = live().filter(|p| p.bytes_written_at_most().is_none()).count();
            let bounded = live().filter_map(PhasePlan::bytes_written_at_most).fold(0u64, u64::saturating_add);
            let bounded = if bounded > 0 { format!(", {} in the others", quantity::size(bounded)) } else { "".into() };
            format!(
                "as much as the target takes in the time of {}{bounded}",
                quantity::counted(unbounded as u64, "phase")
            )
        }
    };
    let limit = quantity::duration(plan.budget_ns);
    let time = match time_without_limit(plan) {
        Some(time) => format!("{time}; given up after {limit}"),
        None => time_at_most(plan),
    };
    let quiet = match plan.quiet_ns {
        0 => "no quiet windows".to_owned(),
        ns => format!("quiet windows of {} around each phase", quantity::duration(ns)),
    };
    let series = format!("every {}; {quiet}", quantity::duration(plan.interval_ns));
    out.extend([("writes", writes), ("time", time), ("series", series), ("seed", plan.seed.to_string())]);
    out
}

fn of_phase(name: &str, phase: &PhasePlan) -> Vec<Part> {
    if let Some(reason) = &phase.skip {
        return vec![Part::Item(Item { tone: Tone::Doubt, ..Item::new(name, format!("left out: {reason}")) })];
    }
    let item = Part::Item(Item::new(name, phase_words(phase).join(", ")));
    if phase.copies_memory() {
        return vec![item];
    }
    vec![item, Part::List(alike(&phase.streams).iter().map(|group| streams_words(phase, group)).collect())]
}

/// How long it takes at most; and usually, where that is far less: what ends early on other than slow storage, and a layout, which takes
/// what it takes, while its limit says when it is given up.
pub fn time_at_most(plan: &Plan) -> String {
    let live = || plan.phases.iter().filter(|phase| phase.skip.is_none());
    let longer = live().fold(0u64, |sum, p| sum.saturating_add(p.time_limit_ns.saturating_sub(p.usual_time_ns())));
    let layouts = live().filter(|p| p.kind == PhaseKind::Layout);
    let layout_ns = layouts.fold(0u64, |sum, p| sum.saturating_add(p.time_limit_ns));
    let limit = quantity::duration(plan.budget_ns);
    if longer == 0 && layout_ns < plan.budget_ns / 2 {
        return format!("{limit} at most");
    }
    let usual = quantity::duration(plan.budget_ns.saturating_sub(longer).saturating_sub(layout_ns));
    let and = if layout_ns > 0 { " and the layout" } else { "" };
    format!("{usual}{and}; on slow storage {limit} at most")
}

/// How long it takes, where its limits of time say nothing of that: phases that end by their amounts, and what is done again, of which nobody
/// knows before how long it takes but for the pauses between its calls.
pub fn time_without_limit(plan: &Plan) -> Option<String> {
    let measured = || plan.phases.iter().filter(|phase| phase.kind != PhaseKind::Layout && phase.skip.is_none());
    let keeps_its_limit = |phase: &PhasePlan| phase.time_limit_ns < LONG_NS || matches!(phase.stop, StopRule::Time);
    if plan.budget_ns < LONG_NS || measured().all(keeps_its_limit) {
        return None;
    }
    if !measured().all(PhasePlan::is_replay) {
        return Some("as long as its amounts take".to_owned());
    }
    Some(match measured().filter_map(PhasePlan::pauses_ns).sum::<u64>() {
        0 => "as long as what is done again takes".to_owned(),
        pauses => format!("{} and what the storage takes", quantity::duration(pauses)),
    })
}

/// What is said of a phase as a whole.
fn phase_words(phase: &PhasePlan) -> Vec<String> {
    let mut out = Vec::new();
    if phase.copies_memory() {
        return vec![format!("memory to memory for {}", quantity::duration(phase.time_limit_ns))];
    }
    match phase.kind {
        PhaseKind::Measure => {}
        PhaseKind::Layout => out.push("not measured".to_owned()),
        PhaseKind::Precondition => out.push("no result".into()),
    }
    out.push(words::engine(phase.engine).into());
    if !matches!(phase.engine, EngineKind::Null | EngineKind::Files) {
        out.push(access(phase.access).into());
    }
    if phase.cold {
        out.push("cold".into());
    }
    let time = quantity::duration(phase.time_limit_ns);
    match phase.stop {
        StopRule::Time => out.push(time),
        StopRule::LeastOperations { .. } | StopRule::SteadyRounds(_) => {
            out.push(words::stop(phase.stop));
            out.push(format!("{time} at most"));
        }
        rule if phase.time_limit_ns < LONG_NS => {
            out.push(words::stop(rule));
            out.push(format!("{time} at most"));
        }
        rule => {
            out.push(words::stop(rule));
            out.push(format!("given up after {time}"));
        }
    }
    if let Some(ramp) = warmup(phase) {
        out.push(ramp);
    }
    out
}

fn warmup(phase: &PhasePlan) -> Option<String> {
    let w = phase.warmup;
    let [least, most] = [w.min_ns, w.max_ns].map(quantity::duration);
    if w.share > 0.0 && w.max_ns > w.min_ns {
        let share = quantity::significant(w.share * 100.0, 2);
        return Some(format!("the first {share} % ({least} to {most}) not counted"));
    }
    (w.min_ns > 0).then(|| format!("the first {least} not counted"))
}

/// The name without the number that tells copies apart: `job-3` is `job`.
fn stem(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match bare.strip_suffix('-') {
        Some(stem) if bare.len() < name.len() => stem,
        _ => name,
    }
}

/// What streams have to have in common to be told together.
fn common(stream: &StreamPlan) -> StreamPlan {
    let kind = match &stream.kind {
        StreamKind::Files(files) => FilesPlan { file_set: 0, ..files.clone() }.into(),
        StreamKind::Block(block) => {
            BlockPlan { region_start_bytes: 0, files: vec![String::new(); block.files.len()], ..block.clone() }.into()
        }
        StreamKind::Replay(_) | StreamKind::Copy(_) => stream.kind.clone(),
    };
    StreamPlan {
        kind,
        path: IoPath { cpus: Vec::new(), ..stream.path.clone() },
        seed: 0,
        group: 0,
        name: stem(&stream.name).to_owned(),
        ..stream.clone()
    }
}

/// Streams that follow one another and differ only in what [`common`] leaves out.
fn alike(streams: &[StreamPlan]) -> Vec<Vec<&StreamPlan>> {
    let mut groups: Vec<Vec<&StreamPlan>> = Vec::new();
    for stream in streams {
        match groups.last_mut() {
            Some(group) if common(group[0]) == common(stream) => group.push(stream),
            _ => groups.push(vec![stream]),
        }
    }
    groups
}

/// Where the regions of streams lie: one place, even steps, or a list.
fn regions(first: &BlockPlan, group: &[&StreamPlan]) -> String {
    let size = quantity::binary_size(first.region_bytes);
    let of = if first.files.len() > 1 { " of each" } else { "" };
    let starts: Vec<u64> = group.iter().filter_map(|s| Some(s.blocks()?.block.region_start_bytes)).collect();
    let at = |bytes: u64| if bytes == 0 { "0".into() } else { quantity::binary_size(bytes) };
    let place = match starts.as_slice() {
        [0] => String::new(),
        [first, rest @ ..] if rest.iter().all(|s| s == first) => {
            if *first == 0 {
                String::new()
            } else {
                format!(" from {}", at(*first))
            }
        }
        [first, second, rest @ ..] => {
            let step = second.checked_sub(*first);
            let mut last = *second;
            let even = rest.iter().all(|s| {
                let same = s.checked_sub(last) == step;
                last = *s;
                same
            });
            match step.filter(|_| even) {
                Some(step) => format!(" from {} in steps of {}", at(*first), at(step)),
                None => format!(" from {}", starts.iter().map(|s| at(*s)).collect::<Vec<_>>().join(", ")),
            }
        }
        _ => String::new(),
    };
    format!("region {size}{of}{place}")
}

fn seeds(group: &[&StreamPlan]) -> String {
    let seeds: Vec<u64> = group.iter().map(|s| s.seed).collect();
    match (seeds.first(), seeds.last()) {
        (Some(first), Some(last)) if first == last && seeds.iter().all(|s| s == first) => format!("seed {first}"),
        (Some(first), Some(last)) if seeds.windows(2).all(|w| w[0].checked_add(1) == Some(w[1])) => {
            format!("seeds {first} to {last}")
        }
        _ => format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn streams_words(phase: &PhasePlan, group: &[&StreamPlan]) -> String {
    let first = group[0];
    let name = match (group.len(), first.name.as_str()) {
        (_, "") => String::new(),
        (1, name) => format!("{name}: "),
        (_, name) => format!("{}: ", stem(name)),
    };
    let times = if group.len() > 1 { format!("{} x ", group.len()) } else { String::new() };
    let mut parts = match &first.kind {
        StreamKind::Replay(replay) => vec![words::replayed(replay)],
        StreamKind::Files(_) | StreamKind::Copy(_) => vec![format!("{name}{times}{}", words::work(first))],
        StreamKind::Block(block) => vec![
            format!("{name}{times}{}", words::work(first)),
            words::sizes(block),
            format!("depth {}", quantity::count(first.path.queue_depth.into())),
            regions(block, group),
        ],
    };
    let mut shown = first.clone();
    if group.len() > 1 {
        let together = group.iter().all(|s| s.group == first.group);
        parts.push(if together { "reported as one".into() } else { "reported one by one".into() });
        // Each its own: the first one's would mislead.
        if let StreamKind::Block(block) = &mut shown.kind
            && !block.files.is_empty()
            && group.iter().any(|s| s.blocks().is_some_and(|s| s.block.files != block.files))
        {
            let count = if block.files.len() == 1 { "a file".into() } else { format!("{} files", block.files.len()) };
            parts.push(format!("{count} of its own each"));
            block.files.clear();
        }
        if group.iter().any(|s| s.path.cpus != first.path.cpus) {
            parts.push("each on processors of its own".into());
            shown.path.cpus.clear();
        }
    }
    parts.extend(conditions::conditions(&shown, phase));
    parts.push(seeds(group));
    parts.join(", ")
}
