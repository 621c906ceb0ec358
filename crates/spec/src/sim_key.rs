//! The table of a simulated device's parameters.

use model::{
    Ns, SimCap, SimCurve, SimMedia, SimModel, SimPoint, SimStalls, SimThrottle, SimWriteCache, parse_bytes,
    parse_duration_ns,
};

/// One parameter.
#[derive(Clone, Copy)]
pub struct SimKey {
    /// `read-bandwidth`.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    set: Set,
}

impl std::fmt::Debug for SimKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimKey").field("name", &self.name).field("expected", &self.expected()).finish()
    }
}

/// Type of a value, and where it goes.
#[derive(Clone, Copy)]
enum Set {
    Bytes(fn(&mut SimModel, u64)),
    Rate(fn(&mut SimModel, u64)),
    Time(fn(&mut SimModel, Ns)),
    Count(fn(&mut SimModel, u64)),
    Positive(fn(&mut SimModel, u32)),
    Share(fn(&mut SimModel, f64)),
    Sigma(fn(&mut SimModel, f64)),
    Flag(fn(&mut SimModel, bool)),
    Text(fn(&mut SimModel, &str)),
    Points(fn(&mut SimMedia) -> &mut SimCurve),
}

/// A value that was read and can be set.
pub(crate) enum Given<'a> {
    Now(Box<dyn FnOnce(&mut SimModel) + 'a>),
    /// Points, which wait until the CPU cost is known.
    Points(fn(&mut SimMedia) -> &mut SimCurve, Vec<SimPoint>),
}

impl SimKey {
    /// What a value must look like.
    pub fn expected(&self) -> &'static str {
        match self.set {
            Set::Bytes(_) => "a size such as 64MiB",
            Set::Rate(_) => "a rate above 0 such as 66MB/s",
            Set::Time(_) => "a time such as 200us",
            Set::Count(_) => "a whole number",
            Set::Positive(_) => "a whole number from 1 on",
            Set::Share(_) => "a share such as 0.3 or 30%",
            Set::Sigma(_) => "a number from 0 to 3",
            Set::Flag(_) => "true or false",
            Set::Text(_) => "a name, or none",
            Set::Points(_) => "SIZE:IOPS or SIZE:TIME, ascending, joined by '+', such as 4KiB:33+16KiB:500ms",
        }
    }

    pub(crate) fn read<'a>(&self, value: &'a str) -> Result<Given<'a>, String> {
        let expected = || self.expected().to_owned();
        Ok(Given::Now(match self.set {
            Set::Bytes(f) => {
                let v = parse_bytes(value).map_err(|e| format!("{}: {e}", expected()))?;
                Box::new(move |m| f(m, v))
            }
            Set::Rate(f) => {
                let v = parse_bytes(value.strip_suffix("/s").unwrap_or(value)).ok().filter(|v| *v > 0);
                let v = v.ok_or_else(expected)?;
                Box::new(move |m| f(m, v))
            }
            Set::Time(f) => {
                let v = parse_duration_ns(value).map_err(|e| format!("{}: {e}", expected()))?;
                Box::new(move |m| f(m, v))
            }
            Set::Count(f) => {
                let v = value.parse().map_err(|_| expected())?;
                Box::new(move |m| f(m, v))
            }
            Set::Positive(f) => {
                let v = value.parse().ok().filter(|v| *v > 0).ok_or_else(expected)?;
                Box::new(move |m| f(m, v))
            }
            Set::Share(f) => {
                let v = match value.strip_suffix('%') {
                    Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
                    None => value.parse::<f64>(),
                };
                let v = v.ok().filter(|v| (0.0..=1.0).contains(v)).ok_or_else(expected)?;
                Box::new(move |m| f(m, v))
            }
            Set::Sigma(f) => {
                let v = value.parse().ok().filter(|v| (0.0..=3.0).contains(v)).ok_or_else(expected)?;
                Box::new(move |m| f(m, v))
            }
            Set::Flag(f) => {
                let v = value.parse().map_err(|_| expected())?;
                Box::new(move |m| f(m, v))
            }
            Set::Text(f) => {
                let name = !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
                if !name {
                    return Err(expected());
                }
                Box::new(move |m| f(m, value))
            }
            Set::Points(curve) => return read_points(value).map(|p| Given::Points(curve, p)).ok_or_else(expected),
        }))
    }
}

fn read_points(text: &str) -> Option<Vec<SimPoint>> {
    let mut points: Vec<SimPoint> = Vec::new();
    for part in text.split('+') {
        let (size, speed) = part.split_once(':')?;
        let bytes = parse_bytes(size).ok().filter(|b| *b > 0)?;
        let time_ns = match speed.trim().parse::<f64>() {
            Ok(iops) if iops > 0.0 && iops.is_finite() => (1e9 / iops).round() as Ns,
            Ok(_) => return None,
            Err(_) => parse_duration_ns(speed).ok()?,
        };
        if points.last().is_some_and(|p| p.bytes >= bytes) {
            return None;
        }
        points.push(SimPoint { bytes, time_ns });
    }
    Some(points)
}

fn random_write(media: &mut SimMedia) -> &mut SimCurve {
    media.random_write.get_or_insert_with(|| SimCurve { points: Vec::new(), ..media.write.clone() })
}

fn cache(m: &mut SimModel) -> &mut SimWriteCache {
    let drain = m.media.write.bytes_per_s / 4;
    m.media.cache.get_or_insert(SimWriteCache { bytes: 1 << 30, drain_bytes_per_s: drain, volatile: false })
}

fn throttle(m: &mut SimModel) -> &mut SimThrottle {
    m.throttle.get_or_insert(SimThrottle { start_ns: 10_000_000_000, ramp_ns: 1_000_000_000, factor: 0.5 })
}

fn cpu_throttle(m: &mut SimModel) -> &mut SimThrottle {
    m.cpu_throttle.get_or_insert(SimThrottle { start_ns: 10_000_000_000, ramp_ns: 1_000_000_000, factor: 0.5 })
}

fn cap(m: &mut SimModel) -> &mut SimCap {
    m.cap.get_or_insert_default()
}

fn stalls(m: &mut SimModel) -> &mut SimStalls {
    m.stalls.get_or_insert(SimStalls { period_ns: 5_000_000_000, duration_ns: 500_000_000 })
}

macro_rules! keys {
    ($( $name:literal, $kind:ident, $set:expr, $meaning:literal; )*) => {
        /// Every parameter.
        pub(crate) const SIM_KEYS: &[SimKey] =
            &[$( SimKey { name: $name, meaning: $meaning, set: Set::$kind($set) } ),*];
    };
}

keys! {
    "seed", Count, |m, v| m.seed = v, "Seed of all that is random.";
    "capacity", Bytes, |m, v| m.media.capacity_bytes = v, "Size of the device.";
    "filesystem", Text, |m, v| m.filesystem = (v != "none").then(|| v.to_owned()), "Type of the file system above it; none: the device as it is.";
    "read-overhead", Time, |m, v| m.media.read.overhead_ns = v, "Time of a read before its data; unused where read-points are given.";
    "read-bandwidth", Rate, |m, v| m.media.read.bytes_per_s = v, "Read bandwidth of the media.";
    "read-points", Points, |m| &mut m.read, "Reads at depth 1 by size, as measured.";
    "write-overhead", Time, |m, v| m.media.write.overhead_ns = v, "Time of a sequential write before its data.";
    "write-bandwidth", Rate, |m, v| {
        m.media.write.bytes_per_s = v;
        if let Some(random) = &mut m.media.random_write { random.bytes_per_s = v; }
    }, "Write bandwidth of the media.";
    "write-points", Points, |m| &mut m.write, "Sequential writes at depth 1 by size, as measured.";
    "random-write-overhead", Time, |m, v| random_write(&mut m.media).overhead_ns = v, "Time of a random write before its data.";
    "random-write-points", Points, random_write, "Random writes at depth 1 by size, as measured, erase-block penalty included.";
    "erase-block", Bytes, |m, v| m.media.erase_block_bytes = v, "Erase block (allocation unit); 64 KiB or more written at its start opens a stream.";
    "erase-penalty", Time, |m, v| m.media.erase_penalty_ns = v, "Extra time of each random write: read-modify-write of its erase block.";
    "open-streams", Positive, |m, v| m.media.open_streams = v, "Sequential write streams that the device keeps apart.";
    "units", Positive, |m, v| m.media.units = v, "Commands that the device works on at the same time.";
    "flush", Time, |m, v| m.media.flush_ns = v, "Time of a flush.";
    "jitter", Sigma, |m, v| m.media.jitter_sigma = v, "Sigma of the lognormal factor (mean 1) on the command part of each time.";
    "cache", Bytes, |m, v| if v == 0 { m.media.cache = None } else { cache(m).bytes = v }, "Size of the write cache; 0: none.";
    "cache-drain", Rate, |m, v| cache(m).drain_bytes_per_s = v, "Rate at which the write cache empties.";
    "cache-volatile", Flag, |m, v| cache(m).volatile = v, "A flush waits until the write cache is empty.";
    "link", Rate, |m, v| m.link.line_bytes_per_s = v, "Line rate of the link.";
    "link-efficiency", Share, |m, v| m.link.efficiency = v, "Share of the line rate that carries data.";
    "host-queue", Positive, |m, v| m.host.queue_depth = v, "Commands that the host keeps with the device; 1: no NCQ, no command queue.";
    "cpu-per-command", Time, |m, v| m.host.cpu_per_command_ns = v, "CPU time of one command.";
    "cpu-ps-per-byte", Count, |m, v| m.host.cpu_ps_per_byte = v, "CPU time of one byte past the page cache, picoseconds.";
    "irq-share", Share, |m, v| m.host.irq_share = v, "Share of the commands' CPU time that is spent in interrupts.";
    "page-cache", Rate, |m, v| m.host.page_cache_bytes_per_s = v, "Copy rate to and from the page cache, bookkeeping included.";
    "memory-copy", Rate, |m, v| m.host.memory_bytes_per_s = v, "Copy rate memory to memory.";
    "read-ahead", Bytes, |m, v| m.host.read_ahead_bytes = v.max(4096), "Read-ahead window of buffered reads.";
    "writeback", Bytes, |m, v| m.host.writeback_bytes = v.max(4096), "Size of one write of writeback.";
    "dirty-background", Bytes, |m, v| m.host.dirty_background_bytes = v, "Dirty bytes above which writeback starts by itself.";
    "dirty-limit", Bytes, |m, v| m.host.dirty_limit_bytes = v, "Dirty bytes at which writers wait.";
    "resident", Bytes, |m, v| m.host.resident_bytes = v, "Bytes that stay in the page cache although they were to be dropped.";
    "cpus", Positive, |m, v| m.host.cpus = v, "Processors.";
    "cpu-khz", Count, |m, v| m.host.cpu_khz = v, "Clock of the processors, kHz.";
    "cpu-quota", Share, |m, v| m.host.cpu_quota = v, "Share of one processor that the control group grants the worker; 0: no quota.";
    "max-sectors", Bytes, |m, v| m.host.max_sectors_bytes = v, "Largest command that the block layer sends, longer ones are split; 0: not split.";
    "memory", Bytes, |m, v| m.host.memory_bytes = v, "Usable memory.";
    "steal", Share, |m, v| m.host.steal = v, "Share of every processor that the hypervisor takes.";
    "throttle-start", Time, |m, v| throttle(m).start_ns = v, "When the device begins to slow down.";
    "throttle-ramp", Time, |m, v| throttle(m).ramp_ns = v, "Time from full to throttled speed.";
    "throttle-factor", Share, |m, v| throttle(m).factor = v, "Throttled speed as a share of full speed.";
    "cpu-throttle-start", Time, |m, v| cpu_throttle(m).start_ns = v, "When the processors begin to slow down.";
    "cpu-throttle-ramp", Time, |m, v| cpu_throttle(m).ramp_ns = v, "Time from their full to their throttled speed.";
    "cpu-throttle-factor", Share, |m, v| cpu_throttle(m).factor = v, "Their throttled speed as a share of full speed.";
    "cap-iops", Count, |m, v| cap(m).operations_per_s = (v > 0).then_some(v), "Commands per second that are let pass, of reads and of writes; 0: all.";
    "cap-rate", Rate, |m, v| cap(m).bytes_per_s = Some(v), "Bytes per second that are let pass, of reads and of writes.";
    "cap-visible", Flag, |m, v| cap(m).visible = v, "The caps show as limits of this process's control group.";
    "stall-period", Time, |m, v| stalls(m).period_ns = v, "Time from one stall to the next.";
    "stall-duration", Time, |m, v| stalls(m).duration_ns = v, "Length of a stall.";
    "foreign", Share, |m, v| m.foreign_share = v, "Share of the device that another user takes.";
    "eio-at", Count, |m, v| m.faults.eio_at = (v > 0).then_some(v), "The operation (from 1) that fails with EIO; 0: none.";
    "eio-every", Count, |m, v| m.faults.eio_every = (v > 0).then_some(v), "Every n-th operation fails with EIO; 0: none.";
    "eio-start", Bytes, |m, v| m.faults.eio_start_bytes = v, "First byte of a range that fails with EIO.";
    "eio-length", Bytes, |m, v| m.faults.eio_bytes = v, "Length of the range that fails with EIO; 0: none.";
    "short-every", Count, |m, v| m.faults.short_every = (v > 0).then_some(v), "Every n-th operation transfers half of its bytes; 0: none.";
}
