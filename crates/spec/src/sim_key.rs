//! The parameters of a simulated device.

use crate::keys::{Key, keys};
use crate::values::{above_0, bytes, flag, per_second, positive, time, whole};
use model::{DataFault, Ns, SimCurve, SimMedia, SimModel, SimPoint, SimWriteCache, parse_bytes, parse_duration_ns};

/// No time of a model is longer, so that sums of simulated times cannot overflow.
const LONGEST_NS: Ns = 30 * 86_400 * 1_000_000_000;
/// No rate of a model is lower, bytes per second.
const MIN_RATE: u64 = 1_000;

/// Every parameter of simulated disks.
pub fn sim_keys() -> &'static [Key<SimModel>] {
    SIM_KEYS
}

fn time_within(text: &str) -> Result<Ns, String> {
    let ns = time(text)?;
    if ns <= LONGEST_NS { Ok(ns) } else { Err("longer than 30 days".to_owned()) }
}

fn rate(text: &str) -> Result<u64, String> {
    let rate = per_second(text)?;
    if rate >= MIN_RATE { Ok(rate) } else { Err("below 1 kB/s".to_owned()) }
}

fn number(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|n| (0.0..=most).contains(n));
    number.ok_or_else(|| format!("'{text}' is not a number from 0 to {most}"))
}

fn share(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%') {
        Some(percent) => number(percent, 100.0).map(|p| p / 100.0),
        None => number(text, 1.0),
    }
}

fn or_none(text: &str) -> Result<Option<u64>, String> {
    whole(text).map(above_0)
}

fn name(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() || !text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(format!("'{text}' is not a name"));
    }
    Ok(Some(text.to_owned()).filter(|t| t != "none"))
}

/// One that a device can be made to show.
fn data_fault(text: &str) -> Result<Option<DataFault>, String> {
    use DataFault::{LimboCapacity, LostOnPowerCut, ReorderedAcrossFlush, TesterFault, WrapAround};
    let not_by_one_operation = [LostOnPowerCut, ReorderedAcrossFlush, TesterFault, WrapAround, LimboCapacity];
    let mut classes = DataFault::ALL.into_iter().filter(|class| !not_by_one_operation.contains(class));
    if text == "none" {
        return Ok(None);
    }
    let known = || classes.clone().map(DataFault::name).collect::<Vec<_>>().join(", ");
    let unknown = format!("'{text}' is none of {}", known());
    classes.find(|class| class.name() == text).map(Some).ok_or(unknown)
}

/// Sets the points of a curve, as they were measured: the CPU cost, which is known by then, is taken out.
fn points(m: &mut SimModel, text: &str, curve: fn(&mut SimMedia) -> &mut SimCurve) -> Result<(), String> {
    let mut points: Vec<SimPoint> = Vec::new();
    for part in text.split('+') {
        let point = part.split_once(':').and_then(|(size, speed)| {
            let bytes = parse_bytes(size).ok().filter(|b| *b > 0)?;
            let time_ns = match speed.trim().parse::<f64>() {
                Ok(iops) if iops > 0.0 && iops.is_finite() => (1e9 / iops).round() as Ns,
                Ok(_) => return None,
                Err(_) => parse_duration_ns(speed).ok()?,
            };
            Some(SimPoint { bytes, time_ns }).filter(|p| points.last().is_none_or(|last| last.bytes < p.bytes))
        });
        points.push(point.ok_or_else(|| format!("'{part}' is no such point"))?);
    }
    if points.iter().any(|p| p.time_ns > LONGEST_NS) {
        return Err("a time is longer than 30 days".to_owned());
    }
    m.without_cpu(&mut points);
    curve(&mut m.media).points = points;
    Ok(())
}

/// A curve without points: its times are those of its overhead and its bandwidth.
fn line(curve: &mut SimCurve, text: &str) -> Result<(), String> {
    curve.overhead_ns = time_within(text)?;
    curve.points.clear();
    Ok(())
}

fn random_write(media: &mut SimMedia) -> &mut SimCurve {
    media.random_write.get_or_insert_with(|| SimCurve { points: Vec::new(), ..media.write.clone() })
}

fn cache(m: &mut SimModel) -> &mut SimWriteCache {
    let drain = (m.media.write.bytes_per_s / 4).max(MIN_RATE);
    m.media.cache.get_or_insert(SimWriteCache { bytes: 1 << 30, drain_bytes_per_s: drain, volatile: false })
}

keys! {
    SIM_KEYS of SimModel:
    "seed", "a whole number", |m, t| m.seed = whole(t)?, "Seed of all that is random.";
    "capacity", "a size such as 64MiB", |m, t| m.media.capacity_bytes = bytes(t)?, "Size of the device.";
    "filesystem", "a name, or none", |m, t| m.filesystem = name(t)?, "Type of the file system above it; none: the device as it is.";
    "read-overhead", "a time such as 200us", |m, t| line(&mut m.media.read, t)?, "Time of a read before its data, in place of read-points.";
    "read-bandwidth", "a rate above 0 such as 66MB/s", |m, t| m.media.read.bytes_per_s = rate(t)?, "Read bandwidth of the media.";
    "read-points", "SIZE:IOPS or SIZE:TIME, ascending, joined by '+', such as 4KiB:33+16KiB:500ms", |m, t| points(m, t, |media| &mut media.read)?, "Reads at depth 1 by size, as measured.";
    "write-overhead", "a time such as 200us", |m, t| line(&mut m.media.write, t)?, "Time of a sequential write before its data, in place of write-points.";
    "write-bandwidth", "a rate above 0 such as 66MB/s", |m, t| {
        m.media.write.bytes_per_s = rate(t)?;
        if let Some(random) = &mut m.media.random_write { random.bytes_per_s = m.media.write.bytes_per_s; }
    }, "Write bandwidth of the media.";
    "write-points", "SIZE:IOPS or SIZE:TIME, ascending, joined by '+', such as 4KiB:33+16KiB:500ms", |m, t| points(m, t, |media| &mut media.write)?, "Sequential writes at depth 1 by size, as measured.";
    "random-write-overhead", "a time such as 200us", |m, t| line(random_write(&mut m.media), t)?, "Time of a random write before its data, in place of random-write-points.";
    "random-write-points", "SIZE:IOPS or SIZE:TIME, ascending, joined by '+', such as 4KiB:33+16KiB:500ms", |m, t| points(m, t, random_write)?, "Random writes at depth 1 by size, as measured, erase-block penalty included.";
    "erase-block", "a size such as 64MiB", |m, t| m.media.erase_block_bytes = bytes(t)?, "Erase block (allocation unit); 64 KiB or more written at its start opens a stream.";
    "erase-penalty", "a time such as 200us", |m, t| m.media.erase_penalty_ns = time_within(t)?, "Extra time of each random write: read-modify-write of its erase block.";
    "open-streams", "a whole number from 1 on", |m, t| m.media.open_streams = positive(t)?, "Sequential write streams that the device keeps apart.";
    "units", "a whole number from 1 on", |m, t| m.media.units = positive(t)?, "Commands that the device works on at the same time.";
    "flush", "a time such as 200us", |m, t| m.media.flush_ns = time_within(t)?, "Time of a flush.";
    "jitter", "a number from 0 to 3", |m, t| m.media.jitter_sigma = number(t, 3.0)?, "Sigma of the lognormal factor (mean 1) on the command part of each time.";
    "cache", "a size such as 64MiB", |m, t| match bytes(t)? { 0 => m.media.cache = None, size => cache(m).bytes = size }, "Size of the write cache; 0: none.";
    "cache-drain", "a rate above 0 such as 66MB/s", |m, t| cache(m).drain_bytes_per_s = rate(t)?, "Rate at which the write cache empties.";
    "cache-volatile", "true or false", |m, t| cache(m).volatile = flag(t)?, "A flush waits until the write cache is empty.";
    "link", "a rate above 0 such as 66MB/s", |m, t| m.link.line_bytes_per_s = rate(t)?, "Line rate of the link.";
    "link-efficiency", "a share such as 0.3 or 30%", |m, t| m.link.efficiency = share(t)?, "Share of the line rate that carries data.";
    "host-queue", "a whole number from 1 on", |m, t| m.host.queue_depth = positive(t)?, "Commands that the host keeps with the device; 1: no NCQ, no command queue.";
    "cpu-per-command", "a time such as 200us", |m, t| m.host.cpu_per_command_ns = time_within(t)?, "CPU time of one command.";
    "cpu-ps-per-byte", "a whole number", |m, t| m.host.cpu_ps_per_byte = whole(t)?, "CPU time of one byte past the page cache, picoseconds.";
    "irq-share", "a share such as 0.3 or 30%", |m, t| m.host.irq_share = share(t)?, "Share of the commands' CPU time that is spent in interrupts.";
    "page-cache", "a rate above 0 such as 66MB/s", |m, t| m.host.page_cache_bytes_per_s = rate(t)?, "Copy rate to and from the page cache, bookkeeping included.";
    "memory-copy", "a rate above 0 such as 66MB/s", |m, t| m.host.memory_bytes_per_s = rate(t)?, "Copy rate memory to memory.";
    "read-ahead", "a size such as 64MiB", |m, t| m.host.read_ahead_bytes = bytes(t)?.max(4096), "Read-ahead window of buffered reads.";
    "writeback", "a size such as 64MiB", |m, t| m.host.writeback_bytes = bytes(t)?.max(4096), "Size of one write of writeback.";
    "dirty-background", "a size such as 64MiB", |m, t| m.host.dirty_background_bytes = bytes(t)?, "Dirty bytes above which writeback starts by itself.";
    "dirty-limit", "a size such as 64MiB", |m, t| m.host.dirty_limit_bytes = bytes(t)?, "Dirty bytes at which writers wait.";
    "resident", "a size such as 64MiB", |m, t| m.host.resident_bytes = bytes(t)?, "Bytes that stay in the page cache although they were to be dropped.";
    "cpus", "a whole number from 1 on", |m, t| m.host.cpus = positive(t)?, "Processors.";
    "cpu-khz", "a whole number", |m, t| m.host.cpu_khz = whole(t)?, "Clock of the processors, kHz.";
    "cpu-quota", "a share such as 0.3 or 30%", |m, t| m.host.cpu_quota = share(t)?, "Share of one processor that the control group grants the worker; 0: no quota.";
    "max-sectors", "a size such as 64MiB", |m, t| m.host.max_sectors_bytes = bytes(t)?, "Largest command that the block layer sends, longer ones are split; 0: not split.";
    "memory", "a size such as 64MiB", |m, t| m.host.memory_bytes = bytes(t)?, "Usable memory.";
    "steal", "a share such as 0.3 or 30%", |m, t| m.host.steal = share(t)?, "Share of every processor that the hypervisor takes.";
    "throttle-start", "a time such as 200us", |m, t| m.throttle.get_or_insert_default().start_ns = time_within(t)?, "When the device begins to slow down.";
    "throttle-ramp", "a time such as 200us", |m, t| m.throttle.get_or_insert_default().ramp_ns = time_within(t)?, "Time from full to throttled speed.";
    "throttle-factor", "a share such as 0.3 or 30%", |m, t| m.throttle.get_or_insert_default().factor = share(t)?, "Throttled speed as a share of full speed.";
    "cpu-throttle-start", "a time such as 200us", |m, t| m.cpu_throttle.get_or_insert_default().start_ns = time_within(t)?, "When the processors begin to slow down.";
    "cpu-throttle-ramp", "a time such as 200us", |m, t| m.cpu_throttle.get_or_insert_default().ramp_ns = time_within(t)?, "Time from their full to their throttled speed.";
    "cpu-throttle-factor", "a share such as 0.3 or 30%", |m, t| m.cpu_throttle.get_or_insert_default().factor = share(t)?, "Their throttled speed as a share of full speed.";
    "cap-iops", "a whole number", |m, t| m.cap.get_or_insert_default().operations_per_s = or_none(t)?, "Commands per second that are let pass, of reads and of writes; 0: all.";
    "cap-rate", "a rate above 0 such as 66MB/s", |m, t| m.cap.get_or_insert_default().bytes_per_s = Some(rate(t)?), "Bytes per second that are let pass, of reads and of writes.";
    "cap-visible", "true or false", |m, t| m.cap.get_or_insert_default().visible = flag(t)?, "The caps show as limits of this process's control group.";
    "stall-period", "a time such as 200us", |m, t| m.stalls.get_or_insert_default().period_ns = time_within(t)?, "Time from one stall to the next.";
    "stall-duration", "a time such as 200us", |m, t| m.stalls.get_or_insert_default().duration_ns = time_within(t)?, "Length of a stall.";
    "foreign", "a share such as 0.3 or 30%", |m, t| m.foreign_share = share(t)?, "Share of the device that another user takes.";
    "eio-at", "a whole number", |m, t| m.faults.eio_at = or_none(t)?, "The operation (from 1) that fails with EIO; 0: none.";
    "eio-every", "a whole number", |m, t| m.faults.eio_every = or_none(t)?, "Every n-th operation fails with EIO; 0: none.";
    "eio-start", "a size such as 64MiB", |m, t| m.faults.eio_start_bytes = bytes(t)?, "First byte of a range that fails with EIO.";
    "eio-length", "a size such as 64MiB", |m, t| m.faults.eio_bytes = bytes(t)?, "Length of the range that fails with EIO; 0: none.";
    "short-every", "a whole number", |m, t| m.faults.short_every = or_none(t)?, "Every n-th operation transfers half of its bytes; 0: none.";
    "data-fault", "a class such as lost-write, or none", |m, t| m.faults.data = data_fault(t)?, "What happens to data that are verified, once.";
    "data-fault-at", "a whole number", |m, t| m.faults.data_at = whole(t)?, "The write, read or flush (from 1) with which it happens.";
    "wraps-at", "a size such as 64MiB", |m, t| m.faults.wraps_at_bytes = above_0(bytes(t)?), "A fake (counterfeit): its real size; data beyond it lie over those at the start; 0: all is real.";
    "limbo-from", "a size such as 64MiB", |m, t| m.faults.limbo_from_bytes = above_0(bytes(t)?), "A fake (counterfeit): its real size; data beyond it are not kept; 0: all is real.";
}
