//! The keys of a job in the text form.

use crate::boot::boot;
use crate::job::{Files, Job};
use crate::keys::{Key, keys};
use crate::values::{
    block_size, by_direction, bytes, cpus, extent, fill_pattern, flag, milli, nodes, not_0, numa_memory, one_of,
    page_bytes, per_second, percent, permille, positive, priority_hint, priority_level, sequence, time, whole, zones,
};
use model::{
    Access, Arrivals, BlockSizes, BufferPages, EngineKind, ErrorPolicy, FileKind, FileOrder, IoClass, IoPriority, Mix,
    OpenSync, Operation, Order, PackagePart, PriorityShare, Rate, RwFlags, Sync, UnknownVerify, Verify, VerifyKind,
};

/// All keys of a job, in the order in which they are documented.
pub fn job_keys() -> &'static [Key<Job>] {
    JOB_KEYS
}

/// Gives a job what a key's text says.
pub(crate) fn set_key(job: &mut Job, key: &str, text: &str) -> Result<(), String> {
    let row = JOB_KEYS.iter().find(|row| row.name == key).ok_or_else(|| format!("no key '{key}'"))?;
    (row.set)(job, text)
}

type RwFlag = fn(&mut RwFlags) -> &mut bool;

const RW_FLAGS: [(&str, RwFlag); 6] = [
    ("hipri", |flags| &mut flags.hipri),
    ("dsync", |flags| &mut flags.dsync),
    ("sync", |flags| &mut flags.sync),
    ("nowait", |flags| &mut flags.nowait),
    ("dontcache", |flags| &mut flags.dontcache),
    ("atomic", |flags| &mut flags.atomic),
];

fn order(job: &mut Job, text: &str) -> Result<(), String> {
    let (name, parameter) = text.split_once(':').unwrap_or((text, ""));
    job.stream.block_mut().order = match name {
        "sequential" => Order::Sequential,
        "random" => Order::Random,
        "random-replace" => Order::RandomReplace,
        "reverse" => Order::Reverse,
        // Its stride follows from the copies of the job.
        "interleaved" => {
            job.stream.block_mut().run_blocks = 1;
            Order::Strided { stride_bytes: 0 }
        }
        "strided" => Order::Strided { stride_bytes: bytes(parameter)? },
        "zipf" => Order::Zipf { theta_milli: milli(parameter)? },
        "pareto" => Order::Pareto { h_milli: milli(parameter)? },
        "normal" => Order::Normal { deviation_percent: percent(parameter)? },
        "sequence" | "moving-sequence" => {
            job.stream.block_mut().sequence = sequence(parameter)?;
            Order::Sequence { advances: name == "moving-sequence" }
        }
        "hot-spot" => {
            job.stream.block_mut().zones = zones(parameter)?;
            Order::Zoned
        }
        _ => return Err(format!("no order '{text}'")),
    };
    Ok(())
}

fn file_order(job: &mut Job, text: &str) -> Result<(), String> {
    job.file_by_directory = text == "directory";
    let orders = [
        ("round-robin", FileOrder::RoundRobin),
        ("random", FileOrder::Random),
        ("sequential", FileOrder::Sequential),
        ("directory", FileOrder::Sequential),
    ];
    job.stream.block_mut().file_order = one_of(text, &orders)?;
    Ok(())
}

/// The smallest length and the largest.
fn file_lengths(text: &str) -> Result<(u64, u64), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    Ok((bytes(least)?, bytes(most)?))
}

fn rates(
    job: &mut Job,
    text: &str,
    rate: fn(u64) -> Rate,
    number: fn(&str) -> Result<u64, String>,
) -> Result<(), String> {
    let part = |text: &str| Some(text.trim()).filter(|t| !t.is_empty()).map(number).transpose();
    let parts = text.split(',').map(part).collect::<Result<Vec<Option<u64>>, String>>()?;
    let of = |at: usize| parts.get(at).or(parts.first()).copied().flatten().map(rate);
    let pacing = job.stream.timing.pacing.get_or_insert_default();
    (pacing.read, pacing.write, pacing.trim) = (of(0), of(1), of(2));
    Ok(())
}

/// `real-time:2`, `best-effort:LEVEL:HINT`, `idle`.
fn io_priority(text: &str) -> Result<IoPriority, String> {
    let mut parts = text.trim().split(':');
    let class = match parts.next() {
        Some("real-time") => IoClass::RealTime,
        Some("best-effort") => IoClass::BestEffort,
        Some("idle") if !text.contains(':') => IoClass::Idle,
        _ => return Err(format!("no priority '{text}'")),
    };
    // What the kernel takes for a process that says nothing.
    let level = parts.next().map_or(Ok(if class == IoClass::Idle { 0 } else { 4 }), priority_level)?;
    Ok(IoPriority { class, level, hint: parts.next().map_or(Ok(0), priority_hint)? })
}

/// `read/20/real-time:0, write/64KiB/5/idle`.
fn priority_shares(text: &str) -> Result<Vec<PriorityShare>, String> {
    let share = |text: &str| {
        let (operation, size, percent, priority) = match text.split('/').map(str::trim).collect::<Vec<_>>()[..] {
            [operation, percent, priority] => (operation, None, percent, priority),
            [operation, size, percent, priority] => (operation, Some(size), percent, priority),
            _ => return Err(format!("'{text}' is not a share: read/PERCENT/PRIORITY, read/SIZE/PERCENT/PRIORITY")),
        };
        Ok(PriorityShare {
            operation: one_of(operation, &[("read", Operation::Read), ("write", Operation::Write)])?,
            block_bytes: size.map(bytes).transpose()?,
            percent: crate::values::percent(percent)?,
            priority: io_priority(priority)?,
        })
    };
    text.split(',').map(str::trim).map(share).collect()
}

keys! {
    JOB_KEYS of Job:
    "operation", "read, write, mix, trim, write-zeroes, trim-write, rewrite; create, stat, open, read-file, rename, replace, journal, delete, list, mkdir, stat-dir, rename-dir, rmdir", |j, t| j.set_operation(t)?, "What it does to blocks; or to its own-files, or as many directories, each as a whole: in a directory of its own below the target, a directory. Phases whose jobs have the same name have the same files; those that are not there are created before. Each is created and deleted once; look-ups go on as long as time says.";
    "read-percent", "percent", |j, t| {
        let block = j.stream.block_mut();
        block.mix = Some(Mix { read_percent: percent(t)? });
        if block.operation == Operation::Read { block.operation = Operation::Write }
    }, "Reads among the operations of a mix.";
    "order", "sequential, random, random-replace, reverse, strided:SIZE, interleaved, zipf:THETA, pareto:H, normal:PERCENT, hot-spot:OPS/REGION:..., sequence:N,N,..., moving-sequence:N,N,...",
        |j, t| order(j, t)?, "Order of the offsets. Interleaved: the streams of a job take turns, block by block, and so do the ranks of a group in a shared file. A sequence lists blocks by number, over and over; a moving one then goes on by as many blocks as it has.";
    "run-blocks", "number", |j, t| j.stream.block_mut().run_blocks = whole(t)?, "Blocks that follow one another in a random order before the next offset is drawn, or in a strided one before the next stride.";
    "sequential-percent", "percent, or read,write,trim", |j, t| j.stream.block_mut().sequential_percents = by_direction(t)?, "So much of a random order goes on where the last operation of its direction ended.";
    "no-overlap", "true, false", |j, t| j.stream.block_mut().no_overlap = flag(t)?, "An operation waits for those in flight with which it shares bytes.";
    "block-size", "SIZE, SIZE-SIZE, SIZE/PERCENT:...", |j, t| { let b = block_size(t)?; j.block = BlockSizes { read: b.clone(), write: b.clone(), trim: b } }, "Size of the operations.";
    "read-block-size", "as block-size", |j, t| j.block.read = block_size(t)?, "Size of the reads.";
    "write-block-size", "as block-size", |j, t| j.block.write = block_size(t)?, "Size of the writes.";
    "align", "size", |j, t| j.stream.block_mut().align_bytes = Some(bytes(t)?), "Offsets are multiples of it.";
    "depth", "number", |j, t| j.stream.path.queue_depth = positive(t)?, "Operations in flight.";
    "batch-submit", "number", |j, t| j.stream.path.batch_submit = Some(positive(t)?), "Operations handed over in one call at most.";
    "batch-complete", "number", |j, t| j.stream.path.batch_complete = Some(positive(t)?), "Completions that a full queue waits for.";
    "jobs", "number", |j, t| j.copies = positive(t)?, "Streams that do this side by side.";
    "job-offset", "size or percent", |j, t| j.offset_step = extent(t)?, "From the start of one stream's region to the next's; 0: all in one region.";
    "separate", "true, false", |j, t| j.separate = flag(t)?, "Streams are reported one by one.";
    "cpus", "0-3,6", |j, t| j.stream.path.cpus = cpus(t)?, "Processors that may be used.";
    "cpus-split", "true, false", |j, t| j.cpus_split = flag(t)?, "Each stream is pinned to one of them.";
    "numa-cpus", "nodes: 0-1, or all", |j, t| j.stream.path.numa.cpu_nodes = Some(nodes(t)?), "NUMA nodes whose processors may be used.";
    "numa-memory", "default, local, prefer:NODE, bind:NODES, interleave:NODES", |j, t| j.stream.path.numa.memory = numa_memory(t)?, "Where its buffers are. Nodes that the machine does not have are left out, and the record says so.";
    "io-priority", "real-time:LEVEL, best-effort:LEVEL, idle", |j, t| j.stream.path.io_priority = Some(io_priority(t)?), "Priority of its requests, for schedulers that know of it; levels go from 0, the first, to 7. A hint may follow, as in best-effort:LEVEL:HINT: 1 to 7 are the command duration limits of a disk (Linux 6.5).";
    "priority-shares", "read/PERCENT/PRIORITY, write/SIZE/PERCENT/PRIORITY, ...", |j, t| j.stream.path.priority_shares = priority_shares(t)?, "Shares of its reads and writes, or of those of one size, with a priority of their own, as in read/20/real-time:0; drawn one by one. By io_uring with direct access. Latencies are those of all requests together.";
    "engine", "io-uring, psync, psync-threads, mmap, fallocate, ftruncate", |j, t| j.engine = Some(one_of(t, &[("io-uring", EngineKind::IoUring), ("psync", EngineKind::Psync), ("psync-threads", EngineKind::PsyncThreads), ("mmap", EngineKind::Mmap), ("fallocate", EngineKind::Fallocate), ("ftruncate", EngineKind::Ftruncate)])?), "By which calls; without it io_uring for direct access and plain calls for buffered, for one direct write at a time to a file, and for one direct operation at a time on tmpfs and ramfs. With fallocate a write reserves its blocks and sends no data, with ftruncate it sets the length of the file to its offset.";
    "access", "direct, buffered", |j, t| j.access = Some(one_of(t, &[("direct", Access::Direct), ("buffered", Access::Buffered)])?), "Past the page cache or through it.";
    "cold", "true, false", |j, t| j.cold = flag(t)?, "What is read is dropped from the page cache before.";
    "open", "plain, dsync, sync", |j, t| j.stream.path.open_sync = one_of(t, &[("plain", OpenSync::None), ("dsync", OpenSync::Dsync), ("sync", OpenSync::Sync)])?, "O_DSYNC or O_SYNC.";
    "flags", "hipri, dsync, sync, nowait, dontcache, atomic", |j, t| {
        for name in t.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            *one_of(name, &RW_FLAGS)?(&mut j.stream.path.rw_flags) = true;
        }
    }, "RWF flags of each call.";
    "buffers", "huge, pages, reserved, reserved:SIZE", |j, t| {
        j.stream.path.buffers.pages = match t.split_once(':') {
            Some(("reserved", size)) => BufferPages::Reserved { page_bytes: Some(page_bytes(bytes(size)?)?) },
            _ => one_of(t, &[("huge", BufferPages::Huge), ("pages", BufferPages::Ordinary), ("reserved", BufferPages::Reserved { page_bytes: None })])?,
        };
    }, "Pages that the buffers lie in: transparent huge pages for buffers of 64 KiB and more, ordinary pages as a program gets them that does not care, or reserved huge pages (vm.nr_hugepages). What cannot be had is done without, and the record says so.";
    "buffer-alignment", "size", |j, t| j.stream.path.buffers.alignment_bytes = page_bytes(bytes(t)?)?, "The first buffer starts on a multiple of this; a power of two.";
    "durable", "true, false, round, round:SIZE", |j, t| {
        (j.stream.durability.sync, j.stream.durability.round_bytes) = match t.split_once(':') {
            Some(("round", size)) => (Sync::FsyncPerRound, Some(not_0(bytes(size)?)?)),
            None if t == "round" => (Sync::FsyncPerRound, None),
            _ => (if flag(t)? { Sync::FdatasyncEach } else { Sync::None }, None),
        };
    }, "fdatasync after each write, the pair being one operation (fsync of each file that is created); or fsync at the end of each round of writes, the round being one sample.";
    "fsync-every", "number", |j, t| j.stream.durability.flush.fsync_every = whole(t)?, "fsync (mmap: msync) after so many writes.";
    "fdatasync-every", "number", |j, t| j.stream.durability.flush.fdatasync_every = whole(t)?, "fdatasync after so many writes.";
    "fsync-at-end", "true, false", |j, t| j.stream.durability.flush.fsync_at_end = flag(t)?, "fsync when it ends.";
    "rate", "size per second, or read,write,trim", |j, t| rates(j, t, Rate::BytesPerS, per_second)?, "Demanded rate; latency counts from the intended start.";
    "iops", "number, or read,write,trim", |j, t| rates(j, t, Rate::OperationsPerS, positive)?, "Demanded operations per second.";
    "arrivals", "fixed, poisson", |j, t| j.stream.timing.pacing.get_or_insert_default().arrivals = one_of(t, &[("fixed", Arrivals::Fixed), ("poisson", Arrivals::Poisson)])?, "How the starts of paced operations are spread.";
    "least-rate", "size per second", |j, t| j.stream.limits.least_rate = Some(Rate::BytesPerS(per_second(t)?)), "It ends, with an error, after a second in which it did less.";
    "least-iops", "number", |j, t| j.stream.limits.least_rate = Some(Rate::OperationsPerS(positive(t)?)), "The same in operations.";
    "max-latency", "time", |j, t| j.stream.limits.max_latency_ns = Some(not_0(time(t)?)?), "It ends, with an error, with an operation that took longer.";
    "latency-target", "time", |j, t| j.stream.limits.latency_target.get_or_insert_default().latency_ns = not_0(time(t)?)?, "It looks for the greatest depth, up to its own, at which latencies keep to this, and ends when that is found: what counts is a window at that depth.";
    "latency-window", "time", |j, t| j.stream.limits.latency_target.get_or_insert_default().window_ns = not_0(time(t)?)?, "How long each depth is tried, two intervals of the series or more; without it a second.";
    "latency-percent", "percent", |j, t| j.stream.limits.latency_target.get_or_insert_default().percent_milli = milli(t.trim_end_matches('%'))?, "How many operations of a window are to keep to the target; without it all.";
    "latency-goes-on", "true, false", |j, t| j.stream.limits.latency_target.get_or_insert_default().goes_on = flag(t)?, "It goes on at the depth that was found, and looks for a smaller one when that does not hold any more.";
    "flow", "number", |j, t| j.stream.timing.flow.get_or_insert_default().weight = positive(t)?, "Its weight among the streams that run beside it with the same flow-id: their operations keep to their weights.";
    "flow-id", "number", |j, t| j.stream.timing.flow.get_or_insert_default().id = whole(t)?, "Which streams keep to each other's weights.";
    "flow-sleep", "time", |j, t| j.stream.timing.flow.get_or_insert_default().sleep_ns = time(t)?, "How long a stream waits that is ahead of its weight.";
    "think", "time", |j, t| j.stream.timing.think.get_or_insert_default().pause_ns = time(t)?, "Pause after operations.";
    "think-spin", "time", |j, t| j.stream.timing.think.get_or_insert_default().spin_ns = time(t)?, "Part of the pause that is spent computing.";
    "think-after", "number", |j, t| j.stream.timing.think.get_or_insert_default().after_operations = positive(t)?, "Operations between pauses.";
    "start-delay", "time", |j, t| j.stream.timing.start_delay_ns = time(t)?, "It starts so long after the phase.";
    "start-delay-from", "phase, run", |j, t| j.stream.timing.delay_from_run = one_of(t, &[("phase", false), ("run", true)])?, "From when its start-delay counts: from the start of its phase, or of the first one that is not a layout.";
    "copy", "memcpy, call, burst, streaming, repeat, or a width such as 4", |j, t| j.copy = Some(t.parse()?), "It copies block-size bytes a time, of memory or of the region that is its target, by these accesses: single ones of so many bytes, blocks by the widest registers, the same past the caches, rep movsb, the C library's memcpy, or a call in which the kernel copies. With a region it goes round in that.";
    "region", "size or percent", |j, t| j.size = Some(extent(t)?), "How much of the target it uses.";
    "offset", "size or percent", |j, t| j.offset = extent(t)?, "Where its region starts.";
    "offset-align", "size", |j, t| j.offset_align = Some(not_0(bytes(t)?)?), "An offset in percent is rounded up to a multiple of it; without it, of the smallest block.";
    "files", "names below the target", |j, t| j.files = Files::Named(t.split(',').map(|n| n.trim().to_owned()).collect()), "Files that it uses.";
    "own-files", "number", |j, t| j.files = Files::Own(positive(t)?), "So many files for each stream.";
    "file-names", "text with $jobname, $jobnum, $filenum", |j, t| j.file_format = Some(t.to_owned()).filter(|t| !t.is_empty()), "Names of its own files; without it $jobname.$jobnum.$filenum. Streams that make the same name share the file.";
    "file-size", "size", |j, t| j.file_bytes = Some(bytes(t)?), "Length of each of its files; without it as long as its region, and empty where files are created as a whole.";
    "file-lengths", "LEAST-MOST", |j, t| j.file_lengths = Some(file_lengths(t)?), "Lengths of files that are created as a whole, drawn from this range; without a meaning for blocks.";
    "file-count", "number", |j, t| j.file_count = Some(positive(t)?), "How many files operations on whole files are done to: own-files, but without a meaning for blocks.";
    "file-kind", "file, hard-link, symlink", |j, t| j.file_kind = one_of(t, &[("file", FileKind::File), ("hard-link", FileKind::HardLink), ("symlink", FileKind::Symlink)])?, "What is created as a whole: a file, one more name of a file, or a symbolic link that leads nowhere.";
    "directory-files", "number", |j, t| j.directory_files = positive(t)?, "So many files lie in one directory, one directory after the other; without it all in one.";
    "directory-levels", "number", |j, t| j.directory_levels = positive(t)?, "Directories above each file, of which each holds ten of the next level; without it one.";
    "sync-directory", "true, false", |j, t| j.sync_directory = flag(t)?, "What changes the names in a directory is followed by an fsync of it, by a descriptor of its own, as a part of the operation.";
    "file-order", "round-robin, random, sequential, directory", |j, t| file_order(j, t)?, "How it goes from one file to the next; files as a whole also in the order in which their directory has them.";
    "packages", "install, remove, reinstall", |j, t| {
        j.packages.part = one_of(t, &PackagePart::NAMES)?;
        j.on_packages = true;
    }, "What apt and dpkg do to files while packages come and are installed, some are removed, or those are installed again from their archives; in a directory of its own below the target. Phases find what those before them left.";
    "package-count", "number", |j, t| j.packages.count = positive(t)?, "How many packages; without it 400.";
    "packages-removed", "number", |j, t| j.packages.removed = Some(whole(t)?), "How many of them are removed and installed again; without it three of eight, of 400 150.";
    "package-sync", "true, false", |j, t| j.packages.syncs = flag(t)?, "Whether each file is synced before it gets its name; without it yes. Of dpkg it is --no-force-unsafe-io.";
    "package-manager", "model, dpkg", |j, t| j.packages.is_real = one_of(t, &[("model", false), ("dpkg", true)])?, "Whether dpkg's calls are made, or the machine's own dpkg is started, in a root of its own below the target; then it thinks as it does.";
    "package-archives", "a directory", |j, t| j.packages.archives = Some(t.to_owned()), "Where the archives (*.deb) are that dpkg installs, without the scripts in them; without it they are made, like the packages of the model. Removed are packages-removed of them, in the order of their names.";
    "trace", "boot", |j, t| one_of(t, &[("boot", boot as fn(&mut Job))])?(j), "Operations that were recorded, with their order and their pauses: boot, what Debian asks its disk while it starts. Their region is the recorded one.";
    "speed", "max, or a number", |j, t| j.speed_milli = Some(model::parse_speed_milli(t)?), "How many times as fast as the recording, or the studied board, it pauses between what packages and trace do again; with max not at all. Without it packages pause as the studied board does on simulated devices and on boards like it, else not at all.";
    "amount", "size or percent", |j, t| j.amount = Some(extent(t)?), "It ends after so many bytes; a percentage is of its region.";
    "operations", "number", |j, t| j.stream.limits.total_operations = Some(positive(t)?), "It ends after so many operations.";
    "loops", "number", |j, t| j.loops = positive(t)?, "How often the amount, or the region, is done.";
    "time", "time", |j, t| { j.time_ns = Some(not_0(time(t)?)?); j.time_based = true }, "How long it measures.";
    "least-operations", "number", |j, t| j.least_operations = whole(t)?, "It goes on beyond its time until so many are done, to ten times the time at most.";
    "at-most", "time", |j, t| { j.time_ns = Some(not_0(time(t)?)?); j.time_based = false }, "A limit for what ends by its amount.";
    "ends-phase", "true, false", |j, t| j.stream.limits.ends_phase = flag(t)?, "When one of its streams ends, all that run beside it do.";
    "exit-group", "number", |j, t| j.stream.limits.exit_group = whole(t)?, "Streams with the same number may end together.";
    "ends-group", "true, false", |j, t| j.stream.limits.ends_group = flag(t)?, "When one of its streams ends, those of its exit-group do.";
    "ramp", "time", |j, t| j.ramp_ns = time(t)?, "Before the time, not counted.";
    "steady-round", "time, or pass", |j, t| {
        j.steady.get_or_insert_default().round_ns = if t == "pass" { None } else { Some(not_0(time(t)?)?) };
    }, "Runs in rounds until steady; a pass covers the region once.";
    "steady-window", "number", |j, t| j.steady.get_or_insert_default().window_rounds = positive(t)?, "Rounds that must be steady together.";
    "steady-range", "percent", |j, t| j.steady.get_or_insert_default().range_permille = permille(t)?, "Largest minus smallest, of the average.";
    "steady-slope", "percent", |j, t| j.steady.get_or_insert_default().slope_permille = permille(t)?, "Rise of the line over the window, of the average.";
    "steady-rounds", "number", |j, t| j.steady.get_or_insert_default().most_rounds = positive(t)?, "Rounds after which it is given up.";
    "steady-of", "rate, latency", |j, t| j.steady.get_or_insert_default().by_latency = one_of(t, &[("rate", false), ("latency", true)])?, "What must be steady.";
    "laid-out", "true, false", |j, t| j.laid_out = flag(t)?, "The region is written before, as it always is for reads of a new file.";
    "verify", "stamp, crc32c, xxhash, meta, off", |j, t| {
        let kind = match t {
            "off" | "false" => None,
            "true" => Some(VerifyKind::default()),
            name => Some(name.parse().map_err(|e: UnknownVerify| e.to_string())?),
        };
        j.stream.verify = kind.map(|kind| Verify { kind, read_back: true, stop_at_first: false });
    }, "Each sector carries a stamp that says what it is; mismatches are found and named.";
    "verify-backlog", "number", |j, t| j.stream.block_mut().verify_backlog = whole(t)?, "Of a stream that writes and verifies: so many blocks are written, then read and verified, and so on; at the end all are read back.";
    "compressible", "percent", |j, t| j.stream.content.compress_percent = percent(t)?, "Share of the data written that compresses to nothing.";
    "duplicates", "percent", |j, t| j.stream.content.dedupe_percent = percent(t)?, "Share of the blocks written that are copies.";
    "duplicates-from", "percent", |j, t| j.stream.content.pool_percent = percent(t)?, "Copies are of any block of a pool of this share of the region; without it, all of one block.";
    "duplicates-shared", "true, false", |j, t| j.stream.content.pool_shared = flag(t)?, "The pool is the same for all streams that say this.";
    "pattern", "0xHEX, or text", |j, t| j.stream.fill_pattern = fill_pattern(t)?, "The data written are this over and over; with compressible only that share of them is.";
    "zeroes", "true, false", |j, t| j.stream.content.zero = flag(t)?, "Writes zeroes.";
    "on-error", "stop, continue", |j, t| j.stream.on_error = one_of(t, &[("stop", ErrorPolicy::Stop), ("continue", ErrorPolicy::Continue)])?, "What a failed operation does.";
    "weight", "number", |j, t| {
        j.weight = t.parse().ok().filter(|w: &f64| *w > 0.0 && w.is_finite()).ok_or_else(|| format!("'{t}' is not a number above 0"))?;
    }, "Share of the budget that its phase has, beside those of the other phases; without it 1.";
    "only-split", "true, false", |j, t| j.only_split = flag(t)?, "Only where a request of its blocks is split for the pages that it lies in: ordinary pages have more segments than the queue of the disk takes (max_segments).";
    "only-asked", "true, false", |j, t| j.only_asked = flag(t)?, "Only where a use asks for its phase: check --for.";
    "priority", "number", |j, t| j.priority = whole(t)?, "The phase with the highest one is left out first where the budget is short.";
    "seed", "number", |j, t| j.seed = Some(whole(t)?), "Seed of offsets and data; without it, made from the run's.";
}
