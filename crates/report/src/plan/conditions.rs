//! Under which conditions a stream of a plan runs, in words: pace, limits, verification, content, processors.

use super::words::{durable, engine, noun};
use crate::quantity;
use model::{
    Arrivals, BlockPlan, BlockStream, Content, FileOrder, NumaMemory, Operation, Pacing, PhasePlan, Rate, RwFlags,
    StreamPlan, ThinkTime, Verify,
};

/// Files that are named; more are counted.
const FILES_NAMED: usize = 4;

fn flags(flags: RwFlags) -> Option<String> {
    let names = [
        (flags.hipri, "RWF_HIPRI"),
        (flags.dsync, "RWF_DSYNC"),
        (flags.sync, "RWF_SYNC"),
        (flags.nowait, "RWF_NOWAIT"),
        (flags.dontcache, "RWF_DONTCACHE"),
        (flags.atomic, "RWF_ATOMIC"),
    ];
    let set: Vec<&str> = names.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    (!set.is_empty()).then(|| set.join(", "))
}

fn rate(rate: Rate) -> String {
    match rate {
        Rate::BytesPerS(bytes) => quantity::rate(bytes as f64),
        Rate::OperationsPerS(n) => format!("{} IOPS", quantity::count(n)),
    }
}

/// Demanded rates: `paced: reads 100 IOPS, Poisson arrivals`.
fn pacing(stream: &StreamPlan, pacing: Pacing) -> String {
    let block = stream.blocks().map(|s| s.block);
    let is_trim = |block: &BlockPlan| block.operation == Operation::Trim;
    let others = match block {
        Some(block) if block.operation.changes_data() && !is_trim(block) => noun(block.operation),
        _ => "writes",
    };
    let all = [
        ("reads", pacing.read, stream.reads()),
        (others, pacing.write, stream.changes_data() && !block.is_some_and(is_trim)),
        ("trims", pacing.trim, block.is_some_and(|block| is_trim(block) || block.trim_before_write)),
    ];
    // A rate of a direction that the stream does not have says nothing.
    let parts: Vec<String> =
        all.iter().filter(|(.., used)| *used).filter_map(|(n, r, _)| r.map(|r| format!("{n} {}", rate(r)))).collect();
    let arrivals = match pacing.arrivals {
        Arrivals::Fixed => "",
        Arrivals::Poisson => ", Poisson arrivals",
    };
    format!("paced: {}{arrivals}", if parts.is_empty() { "not in this direction".into() } else { parts.join(", ") })
}

fn think(think: ThinkTime) -> String {
    let spin = match think.spin_ns {
        0 => String::new(),
        ns => format!(" ({} of it computing)", quantity::duration(ns)),
    };
    let after = match think.after_operations {
        0 | 1 => "each operation".to_owned(),
        n => format!("every {} operations", quantity::count(n.into())),
    };
    format!("pause of {}{spin} after {after}", quantity::duration(think.pause_ns))
}

fn files(stream: &StreamPlan) -> Option<String> {
    let BlockStream { block, .. } = stream.blocks()?;
    let names = &block.files;
    let order = match block.file_order {
        FileOrder::RoundRobin => "in turn",
        FileOrder::Random => "any of them each time",
        FileOrder::Sequential => "one after the other",
    };
    match names.len() {
        0 => None,
        1 => Some(format!("file {}", names[0])),
        n if n <= FILES_NAMED => Some(format!("files {}, {order}", names.join(", "))),
        n => {
            let named = names[..FILES_NAMED - 1].join(", ");
            Some(format!("{} files ({named}, ..), {order}", quantity::count(n as u64)))
        }
    }
}

fn verify(verify: Verify) -> String {
    let kind = verify.kind;
    let back = if verify.read_back { ", read back when written" } else { "" };
    let first = if verify.stop_at_first { ", the first mismatch ends it" } else { "" };
    format!("verified by {kind} stamps{back}{first}")
}

fn content(content: Content) -> Option<String> {
    let mut parts = Vec::new();
    if content.zero {
        parts.push("all zero".to_owned());
    }
    if content.compress_percent > 0 {
        parts.push(format!("{} % compressible", content.compress_percent));
    }
    if content.dedupe_percent > 0 {
        let pool = match (content.pool_percent, content.pool_shared) {
            (0, _) => String::new(),
            (n, shared) => format!(" (of a {}pool of {n} % of the region)", if shared { "common " } else { "" }),
        };
        parts.push(format!("{} % duplicates{pool}", content.dedupe_percent));
    }
    (!parts.is_empty()).then(|| format!("data {}", parts.join(", ")))
}

/// Processors as ranges: `0-3, 6`.
pub(crate) fn cpus(list: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for cpu in list {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*cpu) => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let text = |(a, b): &(u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    ranges.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Everything about a stream that its operation, sizes and depth do not say, but region and seed: neutral values, and what its
/// phase says, are left out.
pub(crate) fn conditions(stream: &StreamPlan, phase: &PhasePlan) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(files(stream));
    let path = &stream.path;
    out.extend((path.engine != phase.engine).then(|| format!("by {}", engine(path.engine))));
    out.extend((path.access != phase.access).then(|| super::access(path.access).to_owned()));
    out.extend(durable(stream));
    out.extend(flags(stream.path.rw_flags));
    match (stream.path.batch_submit, stream.path.batch_complete) {
        (None, None) => {}
        (Some(n), None) => out.push(format!("submitted up to {n} at once")),
        (None, Some(n)) => out.push(format!("{n} completions awaited at once")),
        (Some(a), Some(b)) => out.push(format!("submitted up to {a} at once, {b} completions awaited at once")),
    }
    out.extend(
        stream.blocks().and_then(|s| s.block.align_bytes).map(|a| format!("aligned to {}", quantity::binary_size(a))),
    );
    out.extend(stream.timing.pacing.map(|p| pacing(stream, p)));
    out.extend(stream.timing.think.map(think));
    if stream.timing.start_delay_ns > 0 {
        out.push(format!("starts after {}", quantity::duration(stream.timing.start_delay_ns)));
    }
    out.extend(stream.limits.time_limit_ns.map(|ns| format!("ends {} after its start", quantity::duration(ns))));
    out.extend(stream.limits.total_bytes.map(|b| format!("ends after {}", quantity::binary_size(b))));
    out.extend(stream.limits.total_operations.map(|n| format!("ends after {} operations", quantity::count(n))));
    out.extend(stream.limits.least_rate.map(|r| format!("fails below {}", rate(r))));
    out.extend(stream.limits.max_latency_ns.map(|ns| format!("fails above {}", quantity::duration(ns))));
    out.extend(stream.limits.latency_target.map(|t| {
        let share = quantity::significant(f64::from(t.percent_milli) / 1000.0, 5);
        let end = if t.goes_on { ", and goes on" } else { "" };
        let (latency, window) = (quantity::duration(t.latency_ns), quantity::duration(t.window_ns));
        format!("looks for the depth at which {share} % are within {latency}, in windows of {window}{end}")
    }));
    if stream.limits.ends_phase {
        out.push("ends the phase when it ends".into());
    }
    match (stream.limits.exit_group, stream.limits.ends_group) {
        (0, false) => {}
        (group, false) => out.push(format!("ends with exit group {group}")),
        (group, true) => out.push(format!("ends exit group {group} when it ends")),
    }
    out.extend(stream.timing.flow.map(|f| {
        let sleep =
            if f.sleep_ns == 0 { String::new() } else { format!(", looks every {}", quantity::duration(f.sleep_ns)) };
        format!("{} of what flow {} does{sleep}", quantity::counted(f.weight.into(), "part"), f.id)
    }));
    out.extend(stream.verify.map(verify));
    match stream.blocks().map_or(0, |s| s.block.verify_backlog) {
        0 => {}
        n => out.push(format!("read back after every {} writes", quantity::count(n.into()))),
    }
    out.extend(content(stream.content));
    if stream.on_error == model::ErrorPolicy::Continue {
        out.push("errors are counted and it goes on".into());
    }
    out.extend(stream.path.io_priority.map(priority));
    out.extend(stream.path.priority_shares.iter().map(|s| {
        let of = s.block_bytes.map_or(String::new(), |b| format!(" of {}", quantity::binary_size(b)));
        let operation = if s.operation == Operation::Read { "reads" } else { "writes" };
        format!("{} % of the {operation}{of} with {}", s.percent, priority(s.priority))
    }));
    if !stream.path.cpus.is_empty() {
        let word = if stream.path.cpus.len() == 1 { "CPU" } else { "CPUs" };
        out.push(format!("on {word} {}", cpus(&stream.path.cpus)));
    }
    let nodes = |n: &model::NumaNodes| match n.0.as_slice() {
        [] => "all NUMA nodes".to_owned(),
        [one] => format!("NUMA node {one}"),
        several => format!("NUMA nodes {}", cpus(several)),
    };
    out.extend(stream.path.numa.cpu_nodes.iter().map(|n| format!("on processors of {}", nodes(n))));
    out.extend(stream.path.numa.memory.iter().map(|memory| match memory {
        NumaMemory::Local => "memory of its own NUMA node".into(),
        NumaMemory::Prefer(node) => format!("memory of NUMA node {node} where it has room"),
        NumaMemory::Bind(n) => format!("memory of {}", nodes(n)),
        NumaMemory::Interleave(n) => format!("memory of {} in turn", nodes(n)),
    }));
    out.extend(serde_json::to_value(stream).ok().into_iter().flat_map(|v| by_key(&v)));
    out
}

fn priority(p: model::IoPriority) -> String {
    let hint = if p.hint == 0 { String::new() } else { format!(" and hint {}", p.hint) };
    match p.class {
        model::IoClass::RealTime => format!("real-time priority {}{hint}", p.level),
        model::IoClass::BestEffort => format!("best-effort priority {}{hint}", p.level),
        model::IoClass::Idle => format!("idle priority{hint}"),
    }
}

/// Keys of a stream in JSON that have words of their own, here or in the line before the conditions.
const WORDED: &str = "operation order block_size_bytes region_start_bytes region_bytes files file_order mix trim_before_write read_before_write zones \
    run_blocks block_sizes align_bytes copy_bytes copy_by copy_writes copy_set_bytes \
    file_operation file_count file_set file_bytes file_bytes_least file_kind file_shuffle file_by_directory directory_files directory_levels sync_directory file_renamed queue_depth batch_submit batch_complete cpus io_priority priority_shares engine access open_sync \
    rw_flags buffers pacing think start_delay_ns time_limit_ns total_bytes total_operations ends_phase sync round_bytes flush seed \
    name group verify content trace on_error replay_digest replay_span_ns replay_threads replay_speed_milli \
     replay_pauses replay_pauses_ns replay_real replay_set replay_calls replay_before replay_most replay_bytes flow numa sequence verify_backlog least_rate exit_group ends_group max_latency_ns latency_target";

/// What has none is said by its key, its unit taken from the end of it: an option is shown from the day on that it exists.
fn by_key(stream: &serde_json::Value) -> Vec<String> {
    let unworded = stream.as_object().into_iter().flatten();
    let unworded = unworded.filter(|(key, value)| !value.is_null() && !WORDED.split_whitespace().any(|k| k == *key));
    let said = |(key, value): (&String, &serde_json::Value)| {
        let amount = |unit: &str| key.strip_suffix(unit).zip(value.as_u64());
        let (key, value) = match (amount("_ns"), amount("_bytes"), value) {
            (Some((key, ns)), ..) => (key, quantity::duration(ns)),
            (_, Some((key, bytes)), _) => (key, quantity::binary_size(bytes)),
            (.., serde_json::Value::Bool(true)) => (key.as_str(), String::new()),
            (.., serde_json::Value::String(text)) => (key.as_str(), text.clone()),
            (.., other) => (key.as_str(), other.to_string()),
        };
        format!("{} {value}", key.replace('_', " ")).trim_end().to_owned()
    };
    unworded.map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::BlockPlan;

    fn stream() -> StreamPlan {
        StreamPlan { kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(), ..StreamPlan::default() }
    }

    #[test]
    fn a_plain_stream_has_no_conditions() {
        assert_eq!(conditions(&stream(), &PhasePlan::default()), Vec::<String>::new());
    }

    #[test]
    fn an_option_without_words_is_said_by_its_key() {
        let mut value = serde_json::to_value(stream()).unwrap();
        assert_eq!(by_key(&value), Vec::<String>::new());
        for (key, of) in [("gap_bytes", 4096.into()), ("hold_ns", 2_000_000.into()), ("quiet", true.into())] {
            value[key] = of;
        }
        (value["node"], value["absent"]) = ("near".into(), serde_json::Value::Null);
        assert_eq!(by_key(&value), ["gap 4 KiB", "hold 2.00 ms", "node near", "quiet"]);
    }

    #[test]
    fn what_streams_are_to_each_other_has_words() {
        let mut asked = stream();
        asked.timing.flow = Some(model::Flow { id: 1, weight: 8, sleep_ns: 0 });
        asked.limits = model::Limits {
            exit_group: 2,
            ends_group: true,
            least_rate: Some(Rate::OperationsPerS(500)),
            ..model::Limits::default()
        };
        asked.path.numa = model::Numa {
            cpu_nodes: Some(model::NumaNodes(vec![0])),
            memory: Some(NumaMemory::Interleave(model::NumaNodes(vec![0, 1]))),
        };
        let said = [
            "fails below 500 IOPS",
            "ends exit group 2 when it ends",
            "8 parts of what flow 1 does",
            "on processors of NUMA node 0",
            "memory of NUMA nodes 0-1 in turn",
        ];
        assert_eq!(conditions(&asked, &PhasePlan::default()), said);
    }

    #[test]
    fn processors_are_ranges() {
        assert_eq!(cpus(&[0, 1, 2, 3, 6]), "0-3, 6");
        assert_eq!(cpus(&[u32::MAX]), u32::MAX.to_string());
    }
}
