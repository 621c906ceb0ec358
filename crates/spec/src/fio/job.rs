//! The options of one section, and the job that they make together.

use super::number::Units;
use crate::job::{Extent, Files, Job, Steady};
use crate::job_key::{block_size, cpus, milli, permille, zones};
use model::{
    Access, Arrivals, BlockSize, EngineKind, ErrorPolicy, FileOrder, OpenSync, Operation, Order, Rate, ThinkTime,
    Verify, VerifyKind,
};

pub(super) type Set = fn(&mut Draft, &str, Units) -> Result<(), String>;
type Option_ = (&'static [&'static str], Set);

/// What the options of a section have said so far.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub job: Job,
    pub stonewall: bool,
    pub new_group: bool,
    pub group_reporting: bool,
    pub directory: Option<String>,
    pub filenames: Vec<String>,
    /// What is done otherwise than the text says.
    pub notes: Vec<String>,
    kind: String,
    /// `rw=NAME:THIS`.
    modifier: Option<String>,
    per_file: Option<Extent>,
    files: u32,
    mixed_reads: u32,
    no_map: bool,
    order: Option<Order>,
    invalidate: bool,
    do_verify: bool,
    verify: Option<VerifyKind>,
    verify_fatal: bool,
    random_seed: Option<u64>,
    repeat: bool,
    steady_window_ns: u64,
    steady: Option<(bool, u32)>,
    zero: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            job: Job { engine: Some(EngineKind::Psync), together: false, ..Job::default() },
            stonewall: false,
            new_group: false,
            group_reporting: false,
            directory: None,
            filenames: Vec::new(),
            notes: Vec::new(),
            kind: "read".into(),
            modifier: None,
            per_file: None,
            files: 1,
            mixed_reads: 50,
            no_map: false,
            order: None,
            invalidate: true,
            do_verify: true,
            verify: None,
            verify_fatal: false,
            random_seed: None,
            repeat: true,
            steady_window_ns: 0,
            steady: None,
            zero: false,
        }
    }
}

fn flag(text: &str, units: Units) -> Result<bool, String> {
    match text {
        "" | "true" | "yes" => Ok(true),
        "false" | "no" => Ok(false),
        _ => units.count(text).map(|n| n != 0),
    }
}

fn count(text: &str, units: Units) -> Result<u32, String> {
    u32::try_from(units.count(text)?).map_err(|_| format!("'{text}' is too large"))
}

fn positive(text: &str, units: Units) -> Result<u32, String> {
    count(text, units).and_then(|n| if n == 0 { Err("0 is not possible".to_owned()) } else { Ok(n) })
}

fn percent(text: &str, units: Units) -> Result<u32, String> {
    let n = count(text.trim_end_matches('%'), units)?;
    if n > 100 { Err(format!("'{text}' is above 100 %")) } else { Ok(n) }
}

fn extent(text: &str, units: Units) -> Result<Extent, String> {
    match text.strip_suffix('%') {
        // Beyond 100 % a size would be one of another target.
        Some(number) => percent(number.trim(), units).map(Extent::Percent),
        None => units.bytes(text).map(Extent::Bytes),
    }
}

/// Read, write, trim: what is left out takes the one before it; what is empty stays.
fn triple<T: Clone>(
    into: &mut [T; 3],
    text: &str,
    mut read: impl FnMut(&str) -> Result<T, String>,
) -> Result<(), String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > 3 {
        return Err(format!("'{text}': at most three values: read, write, trim"));
    }
    for (at, value) in into.iter_mut().enumerate() {
        // `8k,` says reads only.
        let part = parts.get(at).copied().or_else(|| parts.last().copied()).unwrap_or_default();
        if !part.is_empty() {
            *value = read(part)?;
        }
    }
    Ok(())
}

fn block(into: &mut [BlockSize; 3], text: &str, units: Units) -> Result<(), String> {
    triple(into, text, |part| {
        // The shared grammar reads sizes by a plain function; the units of this file are resolved before.
        let mut plain = String::new();
        for piece in part.split_inclusive([':', '-', '/']) {
            let (word, mark) = match piece.char_indices().last() {
                Some((at, c)) if ":-/".contains(c) => (&piece[..at], Some(c)),
                _ => (piece, None),
            };
            let is_share = plain.ends_with('/');
            match word.trim() {
                "" => {}
                share if is_share => plain.push_str(share),
                size => plain.push_str(&units.bytes(size)?.to_string()),
            }
            plain.extend(mark);
        }
        block_size(&plain, crate::job_key::bytes)
    })
}

fn rates(draft: &mut Draft, text: &str, read: impl Fn(&str) -> Result<Rate, String>) -> Result<(), String> {
    let mut all = [draft.job.pacing.read, draft.job.pacing.write, draft.job.pacing.trim];
    triple(&mut all, text, |part| match read(part)? {
        // 0 is fio's way of saying: none.
        Rate::BytesPerS(0) | Rate::OperationsPerS(0) => Ok(None),
        rate => Ok(Some(rate)),
    })?;
    [draft.job.pacing.read, draft.job.pacing.write, draft.job.pacing.trim] = all;
    Ok(())
}

fn think(draft: &mut Draft) -> &mut ThinkTime {
    draft.job.think.get_or_insert(ThinkTime { pause_ns: 0, spin_ns: 0, after_operations: 1 })
}

fn engine(d: &mut Draft, t: &str) -> Result<(), String> {
    d.job.engine = Some(match t {
        "psync" | "pvsync" | "pvsync2" | "sync" | "vsync" => EngineKind::Psync,
        "io_uring" | "libaio" | "posixaio" => EngineKind::IoUring,
        "mmap" => EngineKind::Mmap,
        "null" => EngineKind::Null,
        _ => {
            return Err(format!(
                "engine '{t}' is not supported: io_uring, libaio, psync, sync, pvsync2, mmap, null are"
            ));
        }
    });
    d.notes.retain(|n| !n.starts_with("ioengine="));
    match t {
        "libaio" | "posixaio" => d.notes.push(format!("ioengine={t}: carried out by io_uring")),
        "sync" | "vsync" => d.notes.push(format!("ioengine={t}: carried out by pread and pwrite")),
        _ => {}
    }
    Ok(())
}

fn distribution(d: &mut Draft, t: &str) -> Result<(), String> {
    let (name, parameter) = t.split_once(':').unwrap_or((t, ""));
    let single = |least: &str| -> Result<u32, String> {
        match parameter.split_once([':', ',']) {
            None if parameter.is_empty() => milli(least),
            None => milli(parameter),
            Some(_) => Err(format!("'{t}': one parameter is supported, no centre and no second direction")),
        }
    };
    d.order = Some(match name {
        "random" => Order::Random,
        "zipf" => Order::Zipf { theta_milli: single("1.1")? },
        "pareto" => Order::Pareto { h_milli: single("0.2")? },
        "normal" => Order::Normal { deviation_percent: single("")? / 1000 },
        "zoned" if parameter.contains(',') => {
            return Err(format!("'{t}': one list of zones for all directions is supported"));
        }
        "zoned" => {
            d.job.zones = zones(parameter)?;
            Order::Zoned
        }
        _ => return Err(format!("'{name}' is not supported: random, zipf, pareto, normal, zoned are")),
    });
    Ok(())
}

fn verify(d: &mut Draft, t: &str) -> Result<(), String> {
    d.verify = match t {
        "0" | "none" | "" => None,
        "crc32c" | "crc32c-intel" => Some(VerifyKind::Crc32c),
        "xxhash" => Some(VerifyKind::Xxhash),
        _ => return Err(format!("'{t}' is not supported: crc32c, crc32c-intel, xxhash are")),
    };
    Ok(())
}

fn steady(d: &mut Draft, t: &str, _: Units) -> Result<(), String> {
    let (kind, limit) = t.split_once(':').ok_or_else(|| format!("'{t}': KIND:LIMIT%"))?;
    if !limit.trim_end().ends_with('%') {
        return Err(format!("'{t}': limits in per cent are supported"));
    }
    let slope = match kind {
        "iops" | "bw" => false,
        "iops_slope" | "bw_slope" => true,
        _ => return Err(format!("'{kind}' is not supported: iops, iops_slope, bw, bw_slope are")),
    };
    d.steady = Some((slope, permille(limit)?));
    Ok(())
}

impl Draft {
    /// Names (the first is fio's own), and what each does.
    pub const OPTIONS: &'static [Option_] = &[
        (&["rw", "readwrite"], |d, t, _| {
            let (kind, modifier) = t.split_once(':').map_or((t, None), |(k, m)| (k, Some(m)));
            d.kind = match kind {
                "read" | "write" | "trim" | "randread" | "randwrite" | "randtrim" | "rw" | "randrw" | "trimwrite"
                | "randtrimwrite" => kind.to_owned(),
                "readwrite" => "rw".to_owned(),
                _ => {
                    return Err(format!(
                        "'{kind}' is none of read, write, trim, rw, trimwrite, and these after 'rand'"
                    ));
                }
            };
            d.modifier = modifier.map(str::to_owned);
            Ok(())
        }),
        (&["rwmixread"], |d, t, u| {
            d.mixed_reads = percent(t, u)?;
            Ok(())
        }),
        (&["rwmixwrite"], |d, t, u| {
            d.mixed_reads = 100 - percent(t, u)?;
            Ok(())
        }),
        (&["bs", "blocksize", "bssplit", "bsrange", "blocksize_range"], |d, t, u| block(&mut d.job.block, t, u)),
        (&["blockalign", "ba"], |d, t, u| {
            let mut all = [None; 3];
            triple(&mut all, t, |part| u.bytes(part).map(Some))?;
            if all[0] != all[1] {
                return Err("one alignment for all directions is supported".into());
            }
            d.job.align = all[0].filter(|a| *a > 0);
            Ok(())
        }),
        (&["ioengine"], |d, t, _| engine(d, t)),
        (&["iodepth"], |d, t, u| {
            d.job.depth = positive(t, u)?;
            Ok(())
        }),
        (&["iodepth_batch", "iodepth_batch_submit"], |d, t, u| {
            d.job.batch_submit = Some(positive(t, u)?);
            Ok(())
        }),
        (&["iodepth_batch_complete", "iodepth_batch_complete_min"], |d, t, u| {
            // 0 asks fio to poll; the loop here never waits for more than it must.
            d.job.batch_complete = Some(count(t, u)?).filter(|n| *n > 0);
            Ok(())
        }),
        (&["direct"], |d, t, u| {
            d.job.access = if flag(t, u)? { Access::Direct } else { Access::Buffered };
            Ok(())
        }),
        (&["buffered"], |d, t, u| {
            d.job.access = if flag(t, u)? { Access::Buffered } else { Access::Direct };
            Ok(())
        }),
        (&["sync"], |d, t, u| {
            d.job.open_sync = match t {
                "none" => OpenSync::None,
                "sync" => OpenSync::Sync,
                "dsync" => OpenSync::Dsync,
                _ if flag(t, u)? => OpenSync::Sync,
                _ => OpenSync::None,
            };
            Ok(())
        }),
        (&["hipri"], |d, t, u| {
            d.job.rw_flags.hipri = flag(t, u)?;
            Ok(())
        }),
        (&["nowait"], |d, t, u| {
            d.job.rw_flags.nowait = flag(t, u)?;
            Ok(())
        }),
        (&["uncached"], |d, t, u| {
            d.job.rw_flags.dontcache = flag(t, u)?;
            Ok(())
        }),
        (&["atomic"], |d, t, u| {
            d.job.rw_flags.atomic = flag(t, u)?;
            Ok(())
        }),
        (&["invalidate"], |d, t, u| {
            d.invalidate = flag(t, u)?;
            Ok(())
        }),
        (&["fsync"], |d, t, u| {
            d.job.flush.fsync_every = count(t, u)?;
            Ok(())
        }),
        (&["fdatasync"], |d, t, u| {
            d.job.flush.fdatasync_every = count(t, u)?;
            Ok(())
        }),
        (&["end_fsync", "fsync_on_close"], |d, t, u| {
            d.job.flush.fsync_at_end = flag(t, u)?;
            Ok(())
        }),
        (&["numjobs"], |d, t, u| {
            d.job.copies = positive(t, u)?;
            if d.job.copies as usize > crate::workload::MOST {
                return Err(format!("more than {} jobs", crate::workload::MOST));
            }
            Ok(())
        }),
        (&["cpus_allowed"], |d, t, _| {
            d.job.cpus = cpus(t)?;
            Ok(())
        }),
        (&["cpus_allowed_policy"], |d, t, _| {
            d.job.cpus_split = match t {
                "split" => true,
                "shared" => false,
                _ => return Err(format!("'{t}' is neither shared nor split")),
            };
            Ok(())
        }),
        (&["directory"], |d, t, _| {
            d.directory = Some(t.to_owned()).filter(|t| !t.is_empty());
            Ok(())
        }),
        (&["filename"], |d, t, _| {
            // A colon separates names; one that belongs to a name is escaped.
            let text = t.replace("\\:", "\0");
            d.filenames = text.split(':').filter(|n| !n.is_empty()).map(|n| n.replace('\0', ":")).collect();
            Ok(())
        }),
        (&["nrfiles"], |d, t, u| {
            d.files = positive(t, u)?;
            if d.files > 65_536 {
                return Err("more than 65536 files".into());
            }
            Ok(())
        }),
        (&["filesize"], |d, t, u| {
            if t.contains('-') {
                return Err("one size for all files is supported".into());
            }
            d.per_file = Some(extent(t, u)?);
            Ok(())
        }),
        (&["file_service_type"], |d, t, _| {
            d.job.file_order = match t {
                "roundrobin" => FileOrder::RoundRobin,
                "random" => FileOrder::Random,
                "sequential" => FileOrder::Sequential,
                _ => return Err(format!("'{t}' is not supported: roundrobin, random, sequential are")),
            };
            Ok(())
        }),
        (&["size"], |d, t, u| {
            d.job.size = Some(extent(t, u)?);
            Ok(())
        }),
        (&["io_size", "io_limit"], |d, t, u| {
            d.job.amount = Some(extent(t, u)?);
            Ok(())
        }),
        (&["offset"], |d, t, u| {
            d.job.offset = extent(t, u)?;
            Ok(())
        }),
        (&["offset_increment"], |d, t, u| {
            d.job.offset_step = extent(t, u)?;
            Ok(())
        }),
        (&["number_ios"], |d, t, u| {
            d.job.total_operations = Some(u.count(t)?).filter(|n| *n > 0);
            Ok(())
        }),
        (&["loops"], |d, t, u| {
            d.job.loops = positive(t, u)?;
            Ok(())
        }),
        (&["runtime", "timeout"], |d, t, u| {
            d.job.time_ns = Some(u.seconds(t)?).filter(|n| *n > 0);
            Ok(())
        }),
        (&["time_based"], |d, t, u| {
            d.job.time_based = flag(t, u)?;
            Ok(())
        }),
        (&["ramp_time"], |d, t, u| {
            d.job.ramp_ns = u.seconds(t)?;
            Ok(())
        }),
        (&["startdelay", "start_delay"], |d, t, u| {
            if t.contains('-') {
                return Err("a fixed delay is supported, no range".into());
            }
            d.job.start_delay_ns = u.seconds(t)?;
            Ok(())
        }),
        (&["stonewall", "wait_for_previous"], |d, t, u| {
            d.stonewall = flag(t, u)?;
            Ok(())
        }),
        (&["group_reporting"], |d, t, u| {
            d.group_reporting = flag(t, u)?;
            Ok(())
        }),
        (&["new_group"], |d, t, u| {
            d.new_group = flag(t, u)?;
            Ok(())
        }),
        (&["overwrite"], |d, t, u| {
            d.job.laid_out = flag(t, u)?;
            Ok(())
        }),
        (&["zero_buffers"], |d, t, u| {
            d.zero = flag(t, u)?;
            Ok(())
        }),
        (&["buffer_compress_percentage"], |d, t, u| {
            d.job.content.compress_percent = percent(t, u)?;
            Ok(())
        }),
        (&["dedupe_percentage"], |d, t, u| {
            d.job.content.dedupe_percent = percent(t, u)?;
            Ok(())
        }),
        (&["randrepeat", "allrandrepeat"], |d, t, u| {
            d.repeat = flag(t, u)?;
            Ok(())
        }),
        (&["randseed"], |d, t, u| {
            d.random_seed = Some(u.count(t)?);
            Ok(())
        }),
        (&["norandommap"], |d, t, u| {
            d.no_map = flag(t, u)?;
            Ok(())
        }),
        (&["random_distribution"], |d, t, _| distribution(d, t)),
        (&["rate"], |d, t, u| rates(d, t, |p| u.bytes(p).map(Rate::BytesPerS))),
        (&["rate_iops"], |d, t, u| rates(d, t, |p| u.count(p).map(Rate::OperationsPerS))),
        (&["rate_process"], |d, t, _| {
            d.job.pacing.arrivals = match t {
                "linear" => Arrivals::Fixed,
                "poisson" => Arrivals::Poisson,
                _ => return Err(format!("'{t}' is neither linear nor poisson")),
            };
            Ok(())
        }),
        (&["thinktime"], |d, t, u| {
            think(d).pause_ns = u.microseconds(t)?;
            Ok(())
        }),
        (&["thinktime_spin"], |d, t, u| {
            think(d).spin_ns = u.microseconds(t)?;
            Ok(())
        }),
        (&["thinktime_blocks"], |d, t, u| {
            think(d).after_operations = positive(t, u)?;
            Ok(())
        }),
        (&["verify"], |d, t, _| verify(d, t)),
        (&["do_verify"], |d, t, u| {
            d.do_verify = flag(t, u)?;
            Ok(())
        }),
        (&["verify_fatal"], |d, t, u| {
            d.verify_fatal = flag(t, u)?;
            Ok(())
        }),
        (&["continue_on_error"], |d, t, _| {
            d.job.on_error = match t {
                "none" | "0" => ErrorPolicy::Stop,
                "" | "all" | "1" | "io" | "read" | "write" | "verify" => ErrorPolicy::Continue,
                _ => return Err(format!("'{t}' is none of none, read, write, io, verify, all")),
            };
            Ok(())
        }),
        (&["steadystate", "ss"], steady),
        (&["steadystate_duration", "ss_dur"], |d, t, u| {
            d.steady_window_ns = u.seconds(t)?;
            Ok(())
        }),
        (&["steadystate_ramp_time", "ss_ramp"], |d, t, u| {
            d.job.ramp_ns = u.seconds(t)?;
            Ok(())
        }),
        (&["kb_base"], |_, t, u| match u.count(t)? {
            1000 | 1024 => Ok(()),
            other => Err(format!("{other} is neither 1000 nor 1024")),
        }),
    ];

    /// The job of a section. An error names the option that does not go with the others.
    pub fn finish(mut self, name: &str, group: u32) -> Result<(Job, Vec<String>), (&'static str, String)> {
        let mut job = self.job.clone();
        job.name = name.to_owned();
        let random = self.kind.starts_with("rand");
        let operation = self.kind.strip_prefix("rand").unwrap_or(&self.kind).to_owned();
        job.read_percent = None;
        (job.operation, job.trim_before_write) = match operation.as_str() {
            "write" => (Operation::Write, false),
            "trim" => (Operation::Trim, false),
            "trimwrite" => (Operation::Write, true),
            "rw" => {
                job.read_percent = Some(self.mixed_reads);
                (Operation::Write, false)
            }
            _ => (Operation::Read, false),
        };
        job.order = if random { self.random_order() } else { Order::Sequential };
        self.modify(&mut job, random)?;
        job.content.zero = self.zero;
        if matches!(job.engine, Some(EngineKind::Psync | EngineKind::Mmap)) && job.depth > 1 {
            self.notes.push(format!(
                "job '{name}': iodepth={} with a synchronous engine is depth 1; ioengine=io_uring keeps a queue",
                job.depth
            ));
            job.depth = 1;
        }
        job.batch_submit = job.batch_submit.map(|n| n.min(job.depth));
        job.batch_complete = job.batch_complete.map(|n| n.min(job.depth));
        if job.time_based && job.time_ns.is_none() {
            return Err(("time_based", "needs runtime".into()));
        }
        job.cold = self.invalidate;
        if let Some(kind) = self.verify {
            job.verify = Some(Verify {
                kind,
                read_back: self.do_verify && job.changes_data(),
                stop_at_first: self.verify_fatal,
            });
        }
        job.seed = match (self.random_seed, self.repeat) {
            (Some(seed), _) => Some(seed),
            // The same offsets in each run, as fio does: the name makes them differ from job to job.
            (None, true) => {
                Some(name.bytes().fold(0x9e37, |seed: u64, b| seed.wrapping_mul(31).wrapping_add(u64::from(b))))
            }
            (None, false) => None,
        };
        job.shared_group = self.group_reporting.then_some(group);
        if let Some((slope, limit)) = self.steady {
            const ROUND_NS: u64 = 1_000_000_000;
            let window = (self.steady_window_ns / ROUND_NS).clamp(2, 1 << 20) as u32;
            let most =
                job.time_ns.map_or(window.saturating_mul(10), |t| (t / ROUND_NS).min(1 << 20) as u32).max(window);
            let (range_permille, slope_permille) = if slope { (u32::MAX, limit) } else { (limit, u32::MAX) };
            job.steady = Some(Steady {
                round_ns: Some(ROUND_NS),
                round_passes: false,
                window_rounds: window,
                range_permille,
                slope_permille,
                most_rounds: most,
            });
        }
        job.files = match self.filenames.as_slice() {
            [one] if one.starts_with('/') => Files::Target,
            [] => Files::Own(self.files),
            names => Files::Named(names.to_vec()),
        };
        if job.size.is_none()
            && let Some(each) = self.per_file
        {
            let files = match &job.files {
                Files::Named(names) => names.len() as u64,
                Files::Own(count) => u64::from(*count),
                Files::Target => 1,
            };
            job.size = Some(match each {
                Extent::Bytes(bytes) => Extent::Bytes(bytes.saturating_mul(files)),
                percent => percent,
            });
        }
        Ok((job, self.notes))
    }

    fn random_order(&self) -> Order {
        match self.order {
            Some(Order::Random) | None if self.no_map => Order::RandomReplace,
            None => Order::Random,
            Some(order) => order,
        }
    }

    /// What stands behind the colon of `rw`: after how many blocks a new offset is drawn, or what is added to each offset.
    fn modify(&self, job: &mut Job, random: bool) -> Result<(), (&'static str, String)> {
        let Some(text) = &self.modifier else { return Ok(()) };
        let machine = crate::workload::TextMachine { page_size_bytes: 4096, memory_bytes: 0, processors: 1 };
        let units = Units { kb_base: 1024, machine };
        let fail = |what: String| Err(("rw", what));
        if random {
            match positive(text, units) {
                Ok(blocks) => job.run_blocks = blocks,
                Err(what) => return fail(what),
            }
            return Ok(());
        }
        let added = match units.signed_bytes(text) {
            Ok(added) => added,
            Err(what) => return fail(what),
        };
        let mut sizes = job.blocks_used();
        let (Some(BlockSize::Fixed { bytes }), None) = (sizes.next(), sizes.next()) else {
            return fail("an offset is added to blocks of one size and one direction".into());
        };
        let distance = i128::from(*bytes) + i128::from(added);
        drop(sizes);
        job.order = match distance {
            d if d == -i128::from(job.largest_block()) => Order::Reverse,
            d if d >= i128::from(job.largest_block()) => match u64::try_from(d) {
                Ok(stride_bytes) => Order::Strided { stride_bytes },
                Err(_) => return fail(format!("'{text}' is too large")),
            },
            _ => {
                return fail(format!(
                    "'{text}': gaps forwards, and blocks one by one backwards (minus twice the size), are supported"
                ));
            }
        };
        Ok(())
    }
}
