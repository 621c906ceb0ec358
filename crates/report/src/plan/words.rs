//! What a stream of a plan does, in words: the plan as text and the page's table of the plan say it alike.
//!
//! Names of jobs and files are returned as they are: who shows them makes them safe.

use crate::quantity;
use model::{
    Arrivals, BlockSize, Content, EngineKind, FileOperation, FileOrder, FilesPlan, Flush, NumaMemory, OpenSync,
    Operation, Order, Pacing, Rate, RwFlags, StopRule, StreamPlan, Sync, ThinkTime, Verify,
};

/// Files that are named; more are counted.
const FILES_NAMED: usize = 4;

/// Thousandths as a decimal number without trailing zeros: 1200 is `1.2`.
fn milli(thousandths: u32) -> String {
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is done to files: `create 20 000 files of 4 KiB in random order`.
pub(crate) fn on_files(files: &FilesPlan) -> String {
    let FilesPlan { file_operation, file_count, file_bytes, file_shuffle, .. } = *files;
    let what = if file_operation.maker() == FileOperation::Mkdir { "directories" } else { "files" };
    let size = if file_bytes > 0 { format!(" of {}", quantity::binary_size(file_bytes)) } else { String::new() };
    let order = if file_shuffle { " in random order" } else { "" };
    let verb = match file_operation {
        FileOperation::Create | FileOperation::Mkdir => "create",
        FileOperation::Stat | FileOperation::StatDir => "stat",
        FileOperation::Open => "open",
        FileOperation::Delete | FileOperation::Rmdir => "delete",
    };
    format!("{verb} {} {what}{size}{order}", quantity::count(file_count))
}

/// Order of the offsets, with its parameters: `zipf (theta 1.2)`.
pub(crate) fn order(stream: &StreamPlan) -> String {
    let order = match stream.block().order {
        Order::Sequential => "sequential".to_owned(),
        Order::Random => "random".into(),
        Order::RandomReplace => "random (with replacement)".into(),
        Order::Reverse => "reverse".into(),
        Order::Strided { stride_bytes } => format!("strided (by {})", quantity::binary_size(stride_bytes)),
        Order::Zipf { theta_milli } => format!("zipf (theta {})", milli(theta_milli)),
        Order::Pareto { h_milli } => format!("pareto (h {})", milli(h_milli)),
        Order::Normal { deviation_percent } => format!("normal (deviation {deviation_percent} % of the region)"),
        Order::Sequence { advances } => {
            let blocks: Vec<String> = stream.block().sequence.iter().map(u64::to_string).collect();
            format!("{}sequence of blocks {}", if advances { "moving " } else { "" }, blocks.join(", "))
        }
        Order::Zoned => {
            let zone = |z: &model::Zone| format!("{} % in {} %", z.access_percent, z.region_percent);
            let zones: Vec<String> = stream.block().zones.iter().map(zone).collect();
            format!("hot spots ({} of the region)", zones.join(", "))
        }
    };
    match stream.block().run_blocks {
        0 | 1 => order,
        n => format!("{order}, {} blocks in a row,", quantity::count(n.into())),
    }
}

fn verb(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Trim => "trim",
        Operation::WriteZeroes => "write zeroes",
    }
}

fn noun(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Trim => "trims",
        Operation::WriteZeroes => "zeroes",
    }
}

/// What the operations do: `read`, `mix of 70 % reads, 30 % writes`.
pub(crate) fn operation(stream: &StreamPlan) -> String {
    match stream.block().mix {
        Some(mix) => {
            let rest = 100u32.saturating_sub(mix.read_percent);
            format!("mix of {} % reads, {rest} % {}", mix.read_percent, noun(stream.block().operation))
        }
        None if stream.block().trim_before_write => "trim, then write".into(),
        None => verb(stream.block().operation).into(),
    }
}

fn size(size: &BlockSize) -> String {
    match size {
        BlockSize::Fixed { bytes } => quantity::binary_size(*bytes),
        BlockSize::Range { min_bytes, max_bytes, step_bytes } => {
            let [low, high, step] = [*min_bytes, *max_bytes, *step_bytes].map(quantity::binary_size);
            if min_bytes == step_bytes {
                format!("{low} to {high}")
            } else {
                format!("{low} to {high} in steps of {step}")
            }
        }
        BlockSize::Split(shares) => {
            let sum: u64 = shares.iter().map(|s| u64::from(s.weight)).sum();
            let share = |s: &model::BlockShare| {
                let percent = quantity::significant(f64::from(s.weight) * 100.0 / sum.max(1) as f64, 3);
                let percent = percent.trim_end_matches('0').trim_end_matches('.').to_owned();
                format!("{} ({} %)", quantity::binary_size(s.bytes), if s.weight == 0 { "0".into() } else { percent })
            };
            shares.iter().map(share).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Sizes of the operations; by direction where they differ.
pub(crate) fn sizes(stream: &StreamPlan) -> String {
    let Some(sizes) = &stream.block().block_sizes else {
        return quantity::binary_size(stream.block().block_size_bytes);
    };
    let read = stream.reads().then_some((Operation::Read, &sizes.read));
    let other = stream.changes_data().then(|| (stream.block().operation, sizes.of(stream.block().operation)));
    let trim = stream.block().trim_before_write.then_some((Operation::Trim, &sizes.trim));
    let used: Vec<(Operation, &BlockSize)> = [read, other, trim].into_iter().flatten().collect();
    match used.as_slice() {
        [] => quantity::binary_size(stream.block().block_size_bytes),
        [(_, first), rest @ ..] if rest.iter().all(|(_, s)| s == first) => size(first),
        _ => used.iter().map(|(o, s)| format!("{} of {}", noun(*o), size(s))).collect::<Vec<_>>().join(", "),
    }
}

/// Who carries it out, as people call it.
pub(crate) fn engine(kind: EngineKind) -> &'static str {
    match kind {
        EngineKind::IoUring => "io_uring",
        EngineKind::Psync => "pread/pwrite",
        EngineKind::PsyncThreads => "pread/pwrite in threads",
        EngineKind::Mmap => "mmap",
        EngineKind::Null => "null",
        EngineKind::Sim => "simulated",
        EngineKind::Memory => "memory copy",
        EngineKind::Files => "file system calls",
        EngineKind::Fallocate => "fallocate",
        EngineKind::Ftruncate => "ftruncate",
    }
}

/// When data are made durable; empty where they are not.
pub(crate) fn durable(stream: &StreamPlan) -> Vec<String> {
    let mut out = Vec::new();
    match (stream.durability.sync, stream.durability.round_bytes) {
        (Sync::None, _) => {}
        (Sync::FdatasyncEach, _) if stream.files().is_some() => out.push("fsync of each".into()),
        (Sync::FdatasyncEach, _) => out.push("fdatasync after each write".into()),
        (Sync::FsyncPerRound, Some(bytes)) => {
            out.push(format!("fsync after each round of {}", quantity::binary_size(bytes)));
        }
        (Sync::FsyncPerRound, None) => out.push("fsync after each round".into()),
        (Sync::FsyncAtEnd, _) => out.push("fsync at the end".into()),
    }
    let Flush { fsync_every, fdatasync_every, fsync_at_end } = stream.durability.flush;
    for (call, every) in [("fsync", fsync_every), ("fdatasync", fdatasync_every)] {
        match every {
            0 => {}
            1 => out.push(format!("{call} after each write")),
            n => out.push(format!("{call} every {} writes", quantity::count(n.into()))),
        }
    }
    if fsync_at_end && stream.durability.sync != Sync::FsyncAtEnd {
        out.push("fsync at the end".into());
    }
    match stream.path.open_sync {
        OpenSync::None => {}
        OpenSync::Dsync => out.push("opened O_DSYNC".into()),
        OpenSync::Sync => out.push("opened O_SYNC".into()),
    }
    out
}

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

/// A weight among others: `1 part`, `3 parts`.
fn parts(weight: u32) -> String {
    format!("{weight} part{}", if weight == 1 { "" } else { "s" })
}

fn rate(rate: Rate) -> String {
    match rate {
        Rate::BytesPerS(bytes) => quantity::rate(bytes as f64),
        Rate::OperationsPerS(n) => format!("{} IOPS", quantity::count(n)),
    }
}

/// Demanded rates: `paced: reads 100 IOPS, Poisson arrivals`.
fn pacing(stream: &StreamPlan, pacing: Pacing) -> String {
    let others = if stream.block().operation.changes_data() && stream.block().operation != Operation::Trim {
        noun(stream.block().operation)
    } else {
        "writes"
    };
    let all = [
        ("reads", pacing.read, stream.reads()),
        (others, pacing.write, stream.changes_data() && stream.block().operation != Operation::Trim),
        ("trims", pacing.trim, stream.block().operation == Operation::Trim || stream.block().trim_before_write),
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
    let names = &stream.block().files;
    let order = match stream.block().file_order {
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
fn cpus(list: &[u32]) -> String {
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

/// Everything about a stream that its operation, sizes and depth do not say, but region and seed: neutral values are
/// left out.
pub(crate) fn conditions(stream: &StreamPlan) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(files(stream));
    out.extend(stream.path.engine.map(|e| format!("by {}", engine(e))));
    out.extend(stream.path.access.map(|a| super::access(a).to_owned()));
    out.extend(durable(stream));
    out.extend(flags(stream.path.rw_flags));
    match (stream.path.batch_submit, stream.path.batch_complete) {
        (None, None) => {}
        (Some(n), None) => out.push(format!("submitted up to {n} at once")),
        (None, Some(n)) => out.push(format!("{n} completions awaited at once")),
        (Some(a), Some(b)) => out.push(format!("submitted up to {a} at once, {b} completions awaited at once")),
    }
    out.extend(stream.block().align_bytes.map(|a| format!("aligned to {}", quantity::binary_size(a))));
    out.extend(stream.timing.pacing.map(|p| pacing(stream, p)));
    out.extend(stream.timing.think.map(think));
    if stream.timing.start_delay_ns > 0 {
        out.push(format!("starts after {}", quantity::duration(stream.timing.start_delay_ns)));
    }
    out.extend(stream.limits.time_limit_ns.map(|ns| format!("ends {} after its start", quantity::duration(ns))));
    out.extend(stream.limits.total_bytes.map(|b| format!("ends after {}", quantity::binary_size(b))));
    out.extend(stream.limits.total_operations.map(|n| format!("ends after {} operations", quantity::count(n))));
    out.extend(stream.limits.least_rate.map(|r| format!("fails below {}", rate(r))));
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
        format!("{} of what flow {} does{sleep}", parts(f.weight), f.id)
    }));
    out.extend(stream.verify.map(verify));
    match stream.block().verify_backlog {
        0 => {}
        n => out.push(format!("read back after every {} writes", quantity::count(n.into()))),
    }
    out.extend(content(stream.content));
    if stream.on_error == model::ErrorPolicy::Continue {
        out.push("errors are counted and it goes on".into());
    }
    out.extend(stream.path.io_priority.map(|p| match p.class {
        model::IoClass::RealTime => format!("real-time priority {}", p.level),
        model::IoClass::BestEffort => format!("best-effort priority {}", p.level),
        model::IoClass::Idle => "idle priority".into(),
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

/// Keys of a stream in JSON that have words of their own, here or in the line before the conditions.
const WORDED: &str = "operation order block_size_bytes region_start_bytes region_bytes files file_order mix trim_before_write zones \
    run_blocks block_sizes align_bytes copy_bytes \
    file_operation file_count file_set file_bytes file_shuffle queue_depth batch_submit batch_complete cpus io_priority engine access open_sync \
    rw_flags buffers pacing think start_delay_ns time_limit_ns total_bytes total_operations ends_phase sync round_bytes flush seed \
    name group verify content on_error flow numa sequence verify_backlog least_rate exit_group ends_group";

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

/// When a phase ends, beside its time.
pub(crate) fn stop(rule: StopRule) -> String {
    let percent = |permille: u32| quantity::significant(f64::from(permille) / 10.0, 3).replace(".0", "");
    match rule {
        StopRule::Time => "uses its time".into(),
        StopRule::LeastOperations { time_ns, operations } => {
            format!("{}, longer until {operations} operations are done", quantity::duration(time_ns))
        }
        StopRule::RegionOnce => "covers the region once".into(),
        StopRule::Amount => "ends when its amount is done".into(),
        StopRule::SteadyRounds {
            round_ns,
            round_bytes,
            window_rounds,
            range_permille,
            slope_permille,
            most_rounds,
            by_latency,
        } => {
            let round = match (round_ns, round_bytes) {
                (Some(ns), _) => format!("rounds of {}", quantity::duration(ns)),
                (None, Some(bytes)) => format!("rounds of {}", quantity::binary_size(bytes)),
                (None, None) => "rounds".into(),
            };
            let looked = |word: &str, permille: u32| {
                (permille != u32::MAX).then(|| format!("{word} within {} %", percent(permille)))
            };
            let limits: Vec<String> =
                [looked("range", range_permille), looked("slope", slope_permille)].into_iter().flatten().collect();
            let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join(", ")) };
            let what = if by_latency { " in latency" } else { "" };
            format!("{round} until {window_rounds} are steady{what}{limits}, at most {most_rounds}")
        }
        StopRule::EarlyWhenSteady { half_width_ratio } => {
            format!("ends early when known to ± {} %", quantity::significant(half_width_ratio * 100.0, 2))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{BlockPlan, BlockShare, BlockSizes, Mix, Zone};

    fn stream() -> StreamPlan {
        StreamPlan { kind: BlockPlan { region_bytes: 1 << 30, ..BlockPlan::default() }.into(), ..StreamPlan::default() }
    }

    #[test]
    fn orders_say_their_parameters() {
        for (asked, said) in [
            (Order::Zipf { theta_milli: 1_200 }, "zipf (theta 1.2)"),
            (Order::Pareto { h_milli: 200 }, "pareto (h 0.2)"),
            (Order::Normal { deviation_percent: 20 }, "normal (deviation 20 % of the region)"),
            (Order::Strided { stride_bytes: 17 << 20 }, "strided (by 17 MiB)"),
            (Order::RandomReplace, "random (with replacement)"),
        ] {
            assert_eq!(
                order(&StreamPlan { kind: BlockPlan { order: asked, ..stream().block().clone() }.into(), ..stream() }),
                said
            );
        }
        let zones =
            vec![Zone { access_percent: 90, region_percent: 10 }, Zone { access_percent: 10, region_percent: 90 }];
        assert_eq!(
            order(&StreamPlan {
                kind: BlockPlan { order: Order::Zoned, zones, ..stream().block().clone() }.into(),
                ..stream()
            }),
            "hot spots (90 % in 10 %, 10 % in 90 % of the region)"
        );
    }

    #[test]
    fn sizes_differ_by_direction_only_where_they_do() {
        let fixed = |bytes| BlockSize::Fixed { bytes };
        let split =
            BlockSize::Split(vec![BlockShare { bytes: 4096, weight: 60 }, BlockShare { bytes: 65_536, weight: 40 }]);
        let of = |read: BlockSize, write: BlockSize| {
            let mix = Some(Mix { read_percent: 70 });
            let block_sizes = Some(BlockSizes { read, write, trim: fixed(4096) });
            StreamPlan {
                kind: BlockPlan { operation: Operation::Write, mix, block_sizes, ..stream().block().clone() }.into(),
                ..stream()
            }
        };
        assert_eq!(sizes(&of(fixed(4096), fixed(8192))), "reads of 4 KiB, writes of 8 KiB");
        assert_eq!(sizes(&of(split.clone(), split)), "4 KiB (60 %), 64 KiB (40 %)");
        let range = BlockSize::Range { min_bytes: 512, max_bytes: 65_536, step_bytes: 512 };
        assert_eq!(sizes(&of(range.clone(), range)), "512 B to 64 KiB");
        assert_eq!(operation(&of(fixed(1), fixed(1))), "mix of 70 % reads, 30 % writes");
    }

    #[test]
    fn a_plain_stream_has_no_conditions() {
        assert_eq!(conditions(&stream()), Vec::<String>::new());
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
        assert_eq!(conditions(&asked), said);
    }

    #[test]
    fn processors_are_ranges() {
        assert_eq!(cpus(&[0, 1, 2, 3, 6]), "0-3, 6");
        assert_eq!(cpus(&[u32::MAX]), u32::MAX.to_string());
    }

    #[test]
    fn only_limits_that_are_looked_at_are_named() {
        let rule = StopRule::SteadyRounds {
            round_ns: Some(60_000_000_000),
            round_bytes: None,
            window_rounds: 5,
            range_permille: 200,
            slope_permille: u32::MAX,
            most_rounds: 25,
            by_latency: false,
        };
        assert_eq!(stop(rule), "rounds of 1 min 00 s until 5 are steady (range within 20 %), at most 25");
    }
}
