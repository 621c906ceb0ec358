//! The options that are supported: what each does to a job. What an option says just as a key of ours does is set by that
//! key's row, with its value in our words.

use super::block::SizeOption;
use super::job::{ExitScope, JobOptions};
use super::number::Units;
use super::priority::class;
use super::values::{
    NEEDS_VALUE, OptionError, count, extent, flag, mask, need, one_of, pattern, percent, positive, separated, takes,
    text, triple,
};
use super::words::WORDS;
use crate::extent::Extent;
use crate::job_key::set_key;
use crate::values::{above_0, milli, not_0, page_bytes, permille, priority_hint, priority_level, sequence, zones};
use model::{Access, Arrivals, BufferPages, ErrorPolicy, FileOrder, Mix, OpenSync, Order, Rate, VerifyKind};

type Set = fn(&mut JobOptions, &str, Units) -> Result<(), OptionError>;

/// An option of fio that is understood: its name, and how it is applied.
pub(super) struct Supported {
    /// The first is fio's own.
    pub names: &'static [&'static str],
    /// The key that says it in our language, where that has another name and is one key.
    pub ours: &'static [&'static str],
    pub set: Set,
}

/// Demanded rates; 0 is fio's way of saying: none.
fn rates(into: &mut [Option<Rate>; 3], text: &str, units: Units, of: fn(u64) -> Rate) -> Result<(), String> {
    triple(into, text, |part| Ok(above_0(units.bytes(part)?).map(of)))
}

/// The least rate of a job as a whole.
fn least(d: &mut JobOptions, text: &str, units: Units, of: fn(u64) -> Rate) -> Result<(), OptionError> {
    takes(!text.contains(','), &format!("'{text}': one least rate, of all that a job does, is supported"))?;
    d.job.stream.limits.least_rate = above_0(units.bytes(text)?).map(of);
    Ok(())
}

fn engine(d: &mut JobOptions, t: &str) -> Result<(), OptionError> {
    let Some(found) = WORDS.engines.iter().find(|engine| engine.names.split(' ').any(|name| name == t)) else {
        let known: Vec<&str> = WORDS.engines.iter().flat_map(|engine| engine.names.split(' ')).collect();
        return Err(OptionError::unsupported(format!("engine '{t}' is not supported: {} are", known.join(", "))));
    };
    (d.job.engine, d.job.file_operation) = (Some(found.engine), found.operation);
    (d.maps_memory, d.burns) = (t == "libpmem", t == "cpuio");
    d.note("ioengine=", Some(format!("{t}: {}", found.says)).filter(|_| !found.says.is_empty()));
    Ok(())
}

fn distribution(d: &mut JobOptions, t: &str) -> Result<(), OptionError> {
    let (name, parameter) = t.split_once(':').unwrap_or((t, ""));
    let single = |least: &str| -> Result<u32, OptionError> {
        match parameter.split_once([':', ',']) {
            None if parameter.is_empty() => Ok(milli(least)?),
            None => Ok(milli(parameter)?),
            Some(_) => Err(OptionError::unsupported(format!(
                "'{t}': one parameter is supported, no centre and no second direction"
            ))),
        }
    };
    d.order = Some(match name {
        "random" => Order::Random,
        "zipf" => Order::Zipf { theta_milli: single("1.1")? },
        "pareto" => Order::Pareto { h_milli: single("0.2")? },
        // Without a deviation fio adds up twelve uniform numbers: that of their mean is 1/12.
        "normal" => Order::Normal { deviation_percent: (single("8")? / 1000).max(1) },
        "zoned" => {
            takes(!parameter.contains(','), &format!("'{t}': one list of zones for all directions is supported"))?;
            d.job.stream.block_mut().zones = zones(parameter)?;
            Order::Zoned
        }
        "sequence" => {
            d.job.stream.block_mut().sequence = sequence(parameter)?;
            Order::Sequence { advances: false }
        }
        _ => {
            return Err(OptionError::unsupported(format!(
                "'{name}' is not supported: random, zipf, pareto, normal, zoned, sequence are"
            )));
        }
    });
    Ok(())
}

fn verify(d: &mut JobOptions, t: &str) -> Result<(), String> {
    let mut note = None;
    d.verify = match t {
        "0" | "none" | "" => None,
        "pattern" | "md5" | "crc64" | "crc32" | "crc16" | "crc7" | "sha1" | "sha256" | "sha512" | "sha3-224"
        | "sha3-256" | "sha3-384" | "sha3-512" => {
            // What a checksum finds, a comparison of every byte finds too.
            let than = if t == "pattern" { "; each sector differs" } else { ", instead of its checksum" };
            note = Some(format!("{t}: every byte is compared with what was written{than}"));
            Some(VerifyKind::Stamp)
        }
        _ => Some(t.parse::<VerifyKind>().map_err(|e| e.to_string())?),
    };
    d.note("verify=", note);
    Ok(())
}

fn steady(d: &mut JobOptions, t: &str, _: Units) -> Result<(), OptionError> {
    let (kind, limit) = t.split_once(':').ok_or_else(|| format!("'{t}': KIND:LIMIT%"))?;
    takes(limit.trim_end().ends_with('%'), &format!("'{t}': only limits in percent are supported"))?;
    let (figure, slope) = kind.strip_suffix("_slope").map_or((kind, false), |figure| (figure, true));
    let by_latency = match figure {
        "iops" | "bw" => false,
        "lat" => true,
        _ => {
            return Err(OptionError::unsupported(format!(
                "'{kind}' is not supported: iops, bw, lat, iops_slope, bw_slope, lat_slope are"
            )));
        }
    };
    d.steady = Some((slope, by_latency, permille(limit)?));
    Ok(())
}

/// A value that is written as ours is.
fn as_it_is(text: &str, _: Units) -> Result<&str, OptionError> {
    Ok(text)
}

macro_rules! options {
    (@set $ours:literal; $read:expr;) => {
        |d, t, u| Ok(set_key(&mut d.job, $ours, &$read(t, u)?.to_string())?)
    };
    (@set $($ours:literal)?; ; |$d:pat_param, $t:pat_param, $u:pat_param| $does:expr) => {
        |$d, $t, $u| {
            $does;
            Ok(())
        }
    };
    ($($($name:literal),+ $(as $ours:literal)? $(: $read:expr)? $(=> |$d:pat_param, $t:pat_param, $u:pat_param| $does:expr)?;)*) => {
        pub(super) const OPTIONS: &[Supported] = &[$(Supported {
            names: &[$($name),+],
            ours: &[$($ours)?],
            set: options!(@set $($ours)?; $($read)?; $(|$d, $t, $u| $does)?),
        }),*];
    };
}

options! {
    "name" => |d, t, _| d.name = Some(text(t).ok_or(NEEDS_VALUE)?);
    "rw", "readwrite" as "operation" => |d, t, _| {
        let (kind, modifier) = t.split_once(':').map_or((t, None), |(k, m)| (k, Some(m)));
        let plain = if kind == "readwrite" { "rw" } else { kind };
        let known = "read write trim rw trimwrite randread randwrite randtrim randrw randtrimwrite";
        if !known.split(' ').any(|k| k == plain) {
            return Err(format!("'{kind}' is none of read, write, trim, rw, trimwrite, and these after 'rand'").into());
        }
        d.kind = plain.to_owned();
        d.modifier = modifier.map(str::to_owned);
    };
    "rw_sequencer" => |_, t, _| one_of(t, &[("sequential", ())])?;
    "thinktime_blocks_type" => |_, t, _| one_of(t, &[("complete", ())])?;
    "rwmixread" as "read-percent": percent;
    "rwmixwrite" => |d, t, u| d.job.stream.block_mut().mix = Some(Mix { read_percent: 100 - percent(t, u)? });
    "bs", "blocksize" as "block-size" => |d, t, u| d.blocks.set(SizeOption::Size, t, u).map(drop)?;
    "bsrange", "blocksize_range" as "block-size" => |d, t, u| {
        let cut = d.blocks.set(SizeOption::Range, t, u)?;
        d.note("bsrange", cut);
    };
    "bssplit" as "block-size" => |d, t, u| d.blocks.set(SizeOption::Split, t, u).map(drop)?;
    "blockalign", "ba" as "align" => |d, t, u| {
        let mut all = [None; 3];
        triple(&mut all, t, |part| u.bytes(part).map(Some))?;
        takes(all[0] == all[1], "one alignment for all directions is supported")?;
        d.job.stream.block_mut().align_bytes = all[0].and_then(above_0);
    };
    "percentage_random" => |d, t, u| {
        let mut random = [100; 3];
        triple(&mut random, t, |part| percent(part, u))?;
        d.job.stream.block_mut().sequential_percents = random.map(|percent| 100 - percent);
    };
    "serialize_overlap" as "no-overlap": flag;
    "ioengine" as "engine" => |d, t, _| engine(d, t)?;
    "stat_type" => |_, t, _| need(matches!(t, "stat" | "lstat" | "statx"), &format!("'{t}' is none of stat, lstat, statx"))?;
    "iodepth" as "depth": positive;
    "iodepth_low" => |d, t, u| d.low_depth = Some(positive(t, u)?);
    "iodepth_batch", "iodepth_batch_submit" as "batch-submit": positive;
    "iodepth_batch_complete", "iodepth_batch_complete_min" as "batch-complete" => |d, t, u| {
        // 0 asks fio to poll; the loop here never waits for more than it must.
        d.job.stream.path.batch_complete = above_0(count(t, u)?);
    };
    "direct" as "access" => |d, t, u| d.job.access = Some(if flag(t, u)? { Access::Direct } else { Access::Buffered });
    "buffered" => |d, t, u| d.job.access = Some(if flag(t, u)? { Access::Buffered } else { Access::Direct });
    "sync" as "open" => |d, t, _| d.job.stream.path.open_sync = match t {
        "none" | "0" | "false" | "no" => OpenSync::None,
        "sync" | "1" | "" | "true" | "yes" => OpenSync::Sync,
        "dsync" => OpenSync::Dsync,
        _ => return Err(format!("'{t}' is none of none, 0, sync, 1, dsync").into()),
    };
    "numa_cpu_nodes" as "numa-cpus": as_it_is;
    "numa_mem_policy" as "numa-memory": as_it_is;
    "rate_min", "ratemin" as "least-rate" => |d, t, u| least(d, t, u, Rate::BytesPerS)?;
    "rate_iops_min" as "least-iops" => |d, t, u| least(d, t, u, Rate::OperationsPerS)?;
    "flow" => |d, t, u| d.job.stream.timing.flow.get_or_insert_default().weight = positive(t, u)?;
    "flow_id" => |d, t, u| d.job.stream.timing.flow.get_or_insert_default().id = count(t, u)?;
    "flow_sleep" => |d, t, u| d.job.stream.timing.flow.get_or_insert_default().sleep_ns = u.microseconds(t)?;
    "random_sequence_stride" => |d, t, u| d.sequence_moves = flag(t, u)?;
    "verify_backlog" => |d, t, u| d.job.stream.block_mut().verify_backlog = count(t, u)?;
    "verify_pattern" => |d, t, _| d.verify_pattern = !t.is_empty();
    "steadystate_check_interval", "ss_interval" => |d, t, u| {
        d.steady_round_ns = Some(u.seconds(t)?).filter(|ns| *ns >= 1_000_000_000).ok_or("a second is the least")?;
    };
    "fill_device", "fill_fs" => |d, t, u| d.fills = flag(t, u)?;
    "cpuload" => |d, t, u| d.burn_percent = Some(above_0(percent(t, u)?).ok_or("0 computes nothing")?);
    "cpuchunks" => |d, t, u| d.burn_cycle_us = positive(t, u)?;
    "cpumode" => |d, t, _| {
        let sorts = one_of(t, &[("noop", false), ("qsort", true)])?;
        d.note("cpumode", sorts.then(|| "=qsort: computes in a loop that touches no memory".to_owned()));
    };
    "hipri" => |d, t, u| d.job.stream.path.rw_flags.hipri = flag(t, u)?;
    "nowait" => |d, t, u| d.job.stream.path.rw_flags.nowait = flag(t, u)?;
    "uncached" => |d, t, u| d.job.stream.path.rw_flags.dontcache = flag(t, u)?;
    "atomic" => |d, t, u| d.job.stream.path.rw_flags.atomic = flag(t, u)?;
    "mem", "iomem" as "buffers" => |d, t, _| {
        let ordinary = BufferPages::Ordinary;
        let reserved = BufferPages::Reserved { page_bytes: None };
        let known = [("malloc", ordinary), ("shm", ordinary), ("mmap", ordinary), ("mmapshared", ordinary), ("shmhuge", reserved), ("mmaphuge", reserved)];
        // What follows a colon names a file to map: the pages are the same.
        d.job.stream.path.buffers.pages = one_of(t.split(':').next().unwrap_or(t), &known)?;
    };
    "iomem_align", "mem_align" as "buffer-alignment" => |d, t, u| d.job.stream.path.buffers.alignment_bytes = page_bytes(u.bytes(t)?)?;
    "hugepage-size" => |d, t, u| d.hugepage_bytes = Some(page_bytes(u.bytes(t)?)?);
    "invalidate" => |d, t, u| d.job.drop_cache = flag(t, u)?;
    "fsync" as "fsync-every": count;
    "fdatasync" as "fdatasync-every": count;
    "end_fsync", "fsync_on_close" as "fsync-at-end": flag;
    "numjobs" as "jobs": positive;
    "cpus_allowed" as "cpus": as_it_is;
    "cpumask" => |d, t, u| d.job.stream.path.cpus = mask(t, u)?;
    "cpus_allowed_policy" as "cpus-split" => |d, t, _| d.job.cpus_split = one_of(t, &[("split", true), ("shared", false)])?;
    "exitall" => |d, t, u| d.exit_all = flag(t, u)?;
    "exit_what", "exitwhat" => |d, t, _| d.exit_what = one_of(t, &[("group", ExitScope::Group), ("stonewall", ExitScope::Stonewall), ("all", ExitScope::All)])?;
    "prioclass" => |d, t, u| d.priorities.class = class(t, u)?;
    "prio" => |d, t, _| d.priorities.level = Some(priority_level(t)?);
    "priohint" => |d, t, _| d.priorities.hint = Some(priority_hint(t)?);
    "cmdprio_percentage" => |d, t, u| triple(&mut d.priorities.percents, t, |part| percent(part, u))?;
    "cmdprio_class" => |d, t, u| triple(&mut d.priorities.classes, t, |part| class(part, u))?;
    "cmdprio" => |d, t, _| triple(&mut d.priorities.levels, t, priority_level)?;
    "cmdprio_hint" => |d, t, _| triple(&mut d.priorities.hints, t, priority_hint)?;
    "cmdprio_bssplit" as "priority-shares" => |d, t, u| d.priorities.set_splits(t, u)?;
    "directory" => |d, t, _| {
        let mut names = separated(t);
        takes(names.len() < 2, &format!("'{t}': one directory is supported; one job file for each"))?;
        d.directory = names.pop();
    };
    "filename" as "files" => |d, t, _| {
        // fio adds what is named to what has been named before, in [global] too.
        for name in separated(t) {
            if d.filenames.contains(&name) {
                d.notes.push(format!("filename '{name}' is named twice: fio opens it twice, here it is used once"));
            } else {
                d.filenames.push(name);
            }
        }
    };
    "libblkio_driver" => |_, t, _| need(t == "io_uring", &format!("'{t}' is not supported: io_uring is"))?;
    "libblkio_path" as "files" => |d, t, _| d.filenames = text(t).into_iter().collect();
    "nrfiles", "nr_files" as "own-files" => |d, t, u| d.files = positive(t, u)?;
    "filename_format" as "file-names" => |d, t, _| {
        takes(!t.contains("$clientuid"), "'$clientuid' is not supported: there are no clients")?;
        d.job.file_format = text(t);
    };
    "filesize" as "region" => |d, t, u| {
        takes(!t.contains('-'), "one size for all files is supported")?;
        d.per_file = above_0(u.bytes(t)?);
    };
    "file_service_type" as "file-order" => |d, t, _| d.job.stream.block_mut().file_order = one_of(t, &[("roundrobin", FileOrder::RoundRobin), ("random", FileOrder::Random), ("sequential", FileOrder::Sequential)])?;
    "size" as "region" => |d, t, u| d.job.size = Some(extent(t, u)?);
    "io_size", "io_limit" as "amount" => |d, t, u| d.job.amount = Some(extent(t, u)?).filter(|e| *e != Extent::Bytes(0));
    "offset", "fileoffset" => |d, t, u| d.job.offset = extent(t, u)?;
    "offset_increment" as "job-offset" => |d, t, u| d.job.offset_step = extent(t, u)?;
    "offset_align" as "offset-align" => |d, t, u| d.job.offset_align = above_0(u.bytes(t)?);
    "number_ios" as "operations" => |d, t, u| d.job.stream.limits.total_operations = above_0(u.bytes(t)?);
    "loops" => |d, t, u| d.job.loops = count(t, u)?.max(1);
    "runtime", "timeout" as "time" => |d, t, u| d.job.time_ns = above_0(u.seconds(t)?);
    "time_based" => |d, t, u| d.job.time_based = flag(t, u)?;
    "ramp_time" as "ramp" => |d, t, u| d.job.ramp_ns = u.seconds(t)?;
    "startdelay", "start_delay" as "start-delay" => |d, t, u| {
        takes(!t.contains('-'), "a fixed delay is supported, no range")?;
        d.job.stream.timing.start_delay_ns = u.seconds(t)?;
    };
    "stonewall", "wait_for_previous" => |d, t, u| d.stonewall = flag(t, u)?;
    "wait_for" => |d, t, _| d.wait_for = text(t);
    "zonemode" => |d, t, _| d.zones_strided = Some(one_of(t, &[("none", false), ("strided", true)])?);
    "zonesize" => |d, t, u| d.zone_size = u.bytes(t)?;
    "zonerange" => |d, t, u| d.zone_range = above_0(u.bytes(t)?);
    "zoneskip" => |d, t, u| d.zone_skip = u.bytes(t)?;
    "group_reporting" => |d, t, u| d.group_reporting = flag(t, u)?;
    "new_group" => |d, t, u| d.new_group = flag(t, u)?;
    "overwrite" as "laid-out": flag;
    "zero_buffers" as "zeroes": flag;
    "buffer_pattern" => |d, t, _| {
        // Where both are said, the pattern counts.
        (d.job.stream.fill_pattern, d.job.stream.content.zero) = (pattern(t)?, false);
    };
    "buffer_compress_percentage" as "compressible": percent;
    "dedupe_percentage" as "duplicates": percent;
    "dedupe_mode" => |d, t, _| d.working_set = one_of(t, &[("repeat", false), ("working_set", true)])?;
    "dedupe_working_set_percentage" => |d, t, u| d.working_set_percent = percent(t, u)?.max(1);
    "dedupe_global" => |d, t, u| d.job.stream.content.pool_shared = flag(t, u)?;
    "randrepeat", "allrandrepeat" => |d, t, u| d.repeat = flag(t, u)?;
    "randseed" as "seed" => |d, t, u| d.job.seed = Some(u.bytes(t)?);
    "norandommap" => |d, t, u| d.no_map = flag(t, u)?;
    "random_distribution" as "order" => |d, t, _| distribution(d, t)?;
    "rate" => |d, t, u| rates(&mut d.rates, t, u, Rate::BytesPerS)?;
    "rate_iops" as "iops" => |d, t, u| rates(&mut d.rates_iops, t, u, Rate::OperationsPerS)?;
    "rate_process" as "arrivals" => |d, t, _| d.job.stream.timing.pacing.get_or_insert_default().arrivals = one_of(t, &[("linear", Arrivals::Fixed), ("poisson", Arrivals::Poisson)])?;
    "max_latency" as "max-latency" => |d, t, u| {
        let mut all = [None; 3];
        triple(&mut all, t, |part| u.microseconds(part).map(Some))?;
        takes(all == [all[0]; 3], "one longest latency for all directions is supported")?;
        d.job.stream.limits.max_latency_ns = all[0].and_then(above_0);
    };
    "latency_target" as "latency-target" => |d, t, u| d.job.stream.limits.latency_target.get_or_insert_default().latency_ns = u.microseconds(t)?;
    "latency_window" as "latency-window" => |d, t, u| d.job.stream.limits.latency_target.get_or_insert_default().window_ns = not_0(u.microseconds(t)?)?;
    "latency_percentile" as "latency-percent" => |d, t, _| d.job.stream.limits.latency_target.get_or_insert_default().percent_milli = milli(t)?;
    "latency_run" as "latency-goes-on": flag;
    "thinktime" as "think" => |d, t, u| d.job.stream.timing.think.get_or_insert_default().pause_ns = u.microseconds(t)?;
    "thinktime_spin" as "think-spin" => |d, t, u| d.job.stream.timing.think.get_or_insert_default().spin_ns = u.microseconds(t)?;
    "thinktime_blocks" as "think-after": positive;
    "verify" => |d, t, _| verify(d, t)?;
    "verify_write_sequence" => |d, t, u| {
        let what = "=0: that the last write of each place came back is checked all the same".to_owned();
        let ignored = !flag(t, u)?;
        d.note("verify_write_sequence", ignored.then_some(what));
    };
    "do_verify" => |d, t, u| d.do_verify = flag(t, u)?;
    "verify_fatal" => |d, t, u| d.verify_fatal = flag(t, u)?;
    "continue_on_error" as "on-error" => |d, t, _| {
        let note = format!("={t}: goes on after failed operations of all kinds");
        d.note("continue_on_error", Some(note).filter(|_| matches!(t, "read" | "write")));
        d.job.stream.on_error = match t {
            // Data that do not verify never end a job, unless verify_fatal asks for that.
            "none" | "0" | "verify" => ErrorPolicy::Stop,
            "" | "all" | "1" | "io" | "read" | "write" => ErrorPolicy::Continue,
            _ => return Err(format!("'{t}' is none of none, read, write, io, verify, all").into()),
        };
    };
    "ignore_error" => |d, t, _| {
        if !t.trim_matches(',').is_empty() {
            d.note("ignore_error", Some(format!("={t}: goes on after all errors, and counts them")));
            d.job.stream.on_error = ErrorPolicy::Continue;
        }
    };
    "steadystate", "ss" => |d, t, u| steady(d, t, u)?;
    "steadystate_duration", "ss_dur" => |d, t, u| d.steady_window_ns = u.seconds(t)?;
    "steadystate_ramp_time", "ss_ramp" => |d, t, u| d.job.ramp_ns = u.seconds(t)?;
    "kb_base" => |_, t, u| match u.bytes(t)? {
        1000 | 1024 => {}
        other => return Err(format!("{other} is neither 1000 nor 1024").into()),
    };
}
