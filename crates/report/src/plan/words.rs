//! What a stream of a plan does, in words: the plan as text and the page's table of the plan say it alike.
//!
//! Names of jobs and files are returned as they are: who shows them makes them safe.

use crate::quantity;
use model::{
    BlockPlan, BlockSize, CallKind, EngineKind, FileKind, FileOperation, FilesPlan, Flush, OpenSync, Operation, Order,
    ReplayPlan, SteadyState, StopRule, StreamKind, StreamPlan, Sync, Trace, Unit,
};

/// Thousandths as a decimal number without trailing zeros: 1200 is `1.2`.
fn milli(thousandths: u32) -> String {
    let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What is done to files: `create 20 000 files of 4 KiB in random order`.
pub(crate) fn on_files(files: &FilesPlan) -> String {
    let FilesPlan { file_operation, file_count, file_bytes, file_bytes_least, file_kind, file_shuffle, .. } = *files;
    let what = match (file_operation.maker(), file_kind) {
        (FileOperation::Mkdir, _) => "directories",
        (_, FileKind::File) => "files",
        (_, FileKind::HardLink) => "hard links",
        (_, FileKind::Symlink) => "symbolic links",
    };
    let size = match file_bytes_least {
        Some(least) => format!(" of {} to {}", quantity::binary_size(least), quantity::binary_size(file_bytes)),
        None if file_bytes > 0 => format!(" of {}", quantity::binary_size(file_bytes)),
        None => String::new(),
    };
    let order = match (file_shuffle, files.file_by_directory) {
        (true, _) => " in random order",
        (_, true) => " in the order of the directory",
        _ => "",
    };
    let verb = match file_operation {
        FileOperation::Create | FileOperation::Mkdir => "create",
        FileOperation::Stat | FileOperation::StatDir => "stat",
        FileOperation::Open => "open",
        FileOperation::ReadFile => "read",
        FileOperation::Rename | FileOperation::RenameDir => "rename",
        FileOperation::Replace => "replace",
        FileOperation::Journal => "write through a journal",
        FileOperation::List => "list the directories of",
        FileOperation::Delete | FileOperation::Rmdir => "delete",
    };
    let places = match (files.directories(), files.levels()) {
        (0, _) => String::new(),
        (1, 1) => " in 1 directory".to_owned(),
        (directories, 1) => format!(" in {} directories", quantity::count(directories)),
        (directories, levels) => format!(" in {} directories, {levels} deep", quantity::count(directories)),
    };
    let synced = if files.sync_directory { ", directory synced" } else { "" };
    format!("{verb} {} {what}{size}{places}{order}{synced}", quantity::count(file_count))
}

/// How fast something is done again.
fn speed(milli_speed: u32) -> String {
    match milli_speed {
        0 => ", as fast as possible".to_owned(),
        1000 => ", at its speed".to_owned(),
        speed => format!(", at {} times its speed", milli(speed)),
    }
}

/// What is done again: `traced (1 200 operations in 3.2 s), twice as fast`.
fn traced(trace: &Trace) -> String {
    let (n, span) = (quantity::count(trace.trace_operations), trace.trace_span_ns);
    let span = quantity::quantity(span as f64, Unit::Ns);
    format!(
        "traced ({n} operations in {span}{}{})",
        speed(trace.trace_speed_milli),
        if trace.trace_pauses { ", with its pauses" } else { "" }
    )
}

/// Calls on files that are made again: `1 200 calls of 3 threads in 3.2 s again (…), at its speed`.
pub(crate) fn replayed(replay: &ReplayPlan) -> String {
    if let Some(real) = &replay.replay_real {
        let with = real.archives.as_ref().map_or_else(
            || "archives that are made for it".to_owned(),
            |directory| format!("the archives of {directory}, without their scripts"),
        );
        return format!("the machine's own dpkg, in a root of its own, with {with}");
    }
    let span = quantity::quantity(replay.replay_span_ns as f64, Unit::Ns);
    let of = |kinds: &[CallKind]| -> u64 { kinds.iter().filter_map(|kind| replay.replay_calls.get(kind)).sum() };
    let told = [
        (of(&[CallKind::Open]), "opens"),
        (of(&[CallKind::Read]), "reads"),
        (of(&[CallKind::Write]), "writes"),
        (of(&[CallKind::Fsync, CallKind::Fdatasync, CallKind::SyncRange, CallKind::SyncFs]), "syncs"),
        (of(&[CallKind::Rename]), "renames"),
        (of(&[CallKind::Unlink, CallKind::Rmdir]), "removals"),
    ];
    let told: Vec<String> =
        told.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", quantity::count(*n))).collect();
    let threads = match replay.replay_threads {
        1 => String::new(),
        n => format!(" of {n} threads"),
    };
    let [read, written] = replay.replay_bytes.map(quantity::size);
    let pauses = if replay.replay_pauses { ", with its pauses" } else { "" };
    let span = match replay.is_model() && replay.replay_speed_milli == 0 {
        true => String::new(),
        false => format!(" in {span}"),
    };
    format!(
        "{} calls{threads}{span}: {}; {read} read and {written} written{}{pauses}",
        quantity::count(replay.calls()),
        told.join(", "),
        speed(replay.replay_speed_milli)
    )
}

/// Order of the offsets, with its parameters: `zipf (theta 1.2)`.
pub(crate) fn order(block: &BlockPlan) -> String {
    let order = match block.order {
        Order::Sequential => "sequential".to_owned(),
        Order::Random => "random".into(),
        Order::RandomReplace => "random (with replacement)".into(),
        Order::Reverse => "reverse".into(),
        Order::Strided { stride_bytes } => format!("strided (by {})", quantity::binary_size(stride_bytes)),
        Order::Zipf { theta_milli } => format!("zipf (theta {})", milli(theta_milli)),
        Order::Pareto { h_milli } => format!("pareto (h {})", milli(h_milli)),
        Order::Normal { deviation_percent } => format!("normal (deviation {deviation_percent} % of the region)"),
        Order::Sequence { advances } => {
            let blocks: Vec<String> = block.sequence.iter().map(u64::to_string).collect();
            format!("{}sequence of blocks {}", if advances { "moving " } else { "" }, blocks.join(", "))
        }
        Order::Traced => block.trace.as_ref().map_or_else(String::new, traced),
        Order::Zoned => {
            let zone = |z: &model::Zone| format!("{} % in {} %", z.access_percent, z.region_percent);
            let zones: Vec<String> = block.zones.iter().map(zone).collect();
            format!("hot spots ({} of the region)", zones.join(", "))
        }
    };
    match block.run_blocks {
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

pub(super) fn noun(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "reads",
        Operation::Write => "writes",
        Operation::Trim => "trims",
        Operation::WriteZeroes => "zeroes",
    }
}

/// What a stream does: `random read`.
pub(crate) fn work(stream: &StreamPlan) -> String {
    match &stream.kind {
        StreamKind::Files(files) => on_files(files),
        StreamKind::Replay(replay) => replayed(replay),
        StreamKind::Block(block) => format!("{} {}", order(block), operation(block)),
        StreamKind::Copy(_) => "copies of memory".to_owned(),
    }
}

/// What the operations do: `read`, `mix of 70 % reads, 30 % writes`.
pub(crate) fn operation(block: &BlockPlan) -> String {
    match block.mix {
        Some(mix) => {
            let rest = 100u32.saturating_sub(mix.read_percent);
            let other = if block.read_before_write { "rewrites" } else { noun(block.operation) };
            format!("mix of {} % reads, {rest} % {other}", mix.read_percent)
        }
        None if block.trim_before_write => "trim, then write".into(),
        None if block.read_before_write => "rewrite (read, then write)".into(),
        None => verb(block.operation).into(),
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
pub(crate) fn sizes(block: &BlockPlan) -> String {
    let Some(sizes) = &block.block_sizes else {
        return quantity::binary_size(block.block_size_bytes);
    };
    let read = block.reads().then_some((Operation::Read, &sizes.read));
    let other = block.changes_data().then(|| (block.operation, sizes.of(block.operation)));
    let trim = block.trim_before_write.then_some((Operation::Trim, &sizes.trim));
    let used: Vec<(Operation, &BlockSize)> = [read, other, trim].into_iter().flatten().collect();
    match used.as_slice() {
        [] => quantity::binary_size(block.block_size_bytes),
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
        StopRule::SteadyRounds(SteadyState {
            round_ns,
            round_bytes,
            window_rounds,
            range_permille,
            slope_permille,
            most_rounds,
            by_latency,
        }) => {
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
                order(
                    StreamPlan {
                        kind: BlockPlan { order: asked, ..stream().blocks().unwrap().block.clone() }.into(),
                        ..stream()
                    }
                    .blocks()
                    .unwrap()
                    .block
                ),
                said
            );
        }
        let zones =
            vec![Zone { access_percent: 90, region_percent: 10 }, Zone { access_percent: 10, region_percent: 90 }];
        assert_eq!(
            order(
                StreamPlan {
                    kind: BlockPlan { order: Order::Zoned, zones, ..stream().blocks().unwrap().block.clone() }.into(),
                    ..stream()
                }
                .blocks()
                .unwrap()
                .block
            ),
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
                kind: BlockPlan {
                    operation: Operation::Write,
                    mix,
                    block_sizes,
                    ..stream().blocks().unwrap().block.clone()
                }
                .into(),
                ..stream()
            }
        };
        assert_eq!(sizes(of(fixed(4096), fixed(8192)).blocks().unwrap().block), "reads of 4 KiB, writes of 8 KiB");
        assert_eq!(sizes(of(split.clone(), split).blocks().unwrap().block), "4 KiB (60 %), 64 KiB (40 %)");
        let range = BlockSize::Range { min_bytes: 512, max_bytes: 65_536, step_bytes: 512 };
        assert_eq!(sizes(of(range.clone(), range).blocks().unwrap().block), "512 B to 64 KiB");
        assert_eq!(operation(of(fixed(1), fixed(1)).blocks().unwrap().block), "mix of 70 % reads, 30 % writes");
    }

    #[test]
    fn only_limits_that_are_looked_at_are_named() {
        let rule = StopRule::SteadyRounds(SteadyState {
            round_ns: Some(60_000_000_000),
            slope_permille: u32::MAX,
            ..SteadyState::default()
        });
        assert_eq!(stop(rule), "rounds of 1 min 00 s until 5 are steady (range within 20 %), at most 25");
    }
}
