//! `narrows/watch/1`: one document a line, one line an interval.

use super::seconds;
use crate::watch::{LayerInInterval, WatchTick, WatchedLayer};
use model::{CpuActivity, DiskActivity, LayerKind, PressureActivity, RequestActivity};
use serde::Serialize;

/// What `narrows watch --json` prints for each interval. A rate that is not known is null: the disk was not there
/// before, its counter fell, or the kernel does not count it.
#[derive(Clone, Debug, Serialize)]
pub struct WatchDocument<'a> {
    /// `narrows/watch/1`.
    pub schema: &'static str,
    /// The target as it was asked for; null for all disks.
    pub target: Option<&'a str>,
    /// The end of the interval, RFC 3339 in UTC.
    pub time: &'a str,
    /// Whether the rates are means since boot (the first line).
    pub since_boot: bool,
    /// Length of the interval, time asleep left out; null if no time passed.
    pub interval_s: Option<f64>,
    /// How long the machine slept in the interval.
    pub suspended_s: Option<f64>,
    /// Shares of the time of all processors; null if some came or went.
    pub cpu: Option<WatchCpu>,
    /// I/O pressure.
    pub pressure_io: Option<WatchPressure>,
    pub pressure_cpu: Option<WatchPressure>,
    pub interrupts_per_s: Option<f64>,
    pub context_switches_per_s: Option<f64>,
    /// Sensors that were asked in this interval; those of disks are asked once in ten seconds.
    pub temperatures: Vec<WatchTemperature<'a>>,
    /// Frequency of each processor, null for one that does not tell; empty where none does.
    pub cpu_mhz: Vec<Option<f64>>,
    /// Memory waiting to be written.
    pub dirty_bytes: Option<u64>,
    /// Memory being written.
    pub writeback_bytes: Option<u64>,
    /// The layers, top to bottom.
    pub layers: Vec<WatchLayer<'a>>,
}

/// Shares of processor time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WatchCpu {
    /// User mode.
    pub user_percent: f64,
    /// User mode, low priority.
    pub nice_percent: f64,
    /// System mode.
    pub system_percent: f64,
    /// Interrupts.
    pub irq_percent: f64,
    /// Idle with I/O outstanding.
    pub iowait_percent: f64,
    /// Taken by the hypervisor.
    pub steal_percent: f64,
    pub idle_percent: f64,
}

/// Shares of the time in which tasks waited.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WatchPressure {
    /// Some task.
    pub some_percent: Option<f64>,
    /// All tasks.
    pub full_percent: Option<f64>,
}

/// One sensor.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct WatchTemperature<'a> {
    /// Zone or sensor.
    pub name: &'a str,
    /// Degrees Celsius.
    pub celsius: f64,
}

/// One layer in one interval.
#[derive(Clone, Debug, Serialize)]
pub struct WatchLayer<'a> {
    /// Kernel name.
    pub name: &'a str,
    pub kind: LayerKind,
    /// `watched`, `first-seen` (nothing to compare with yet) or `gone`.
    pub state: &'static str,
    pub reads_per_s: Option<f64>,
    pub writes_per_s: Option<f64>,
    pub discards_per_s: Option<f64>,
    pub flushes_per_s: Option<f64>,
    /// Reads merged into others.
    pub reads_merged_per_s: Option<f64>,
    /// Writes merged into others.
    pub writes_merged_per_s: Option<f64>,
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written.
    pub write_bytes_per_s: Option<f64>,
    pub discard_bytes_per_s: Option<f64>,
    /// Mean time of a read; null if none completed.
    pub read_await_ns: Option<f64>,
    /// Mean time of a write.
    pub write_await_ns: Option<f64>,
    /// Mean time of reads and writes.
    pub await_ns: Option<f64>,
    /// Mean time of a flush.
    pub flush_await_ns: Option<f64>,
    /// Mean size of a read.
    pub read_size_bytes: Option<f64>,
    /// Mean size of a write.
    pub write_size_bytes: Option<f64>,
    /// Mean number of requests in flight.
    pub queue: Option<f64>,
    /// Requests in flight at the end; null if gone.
    pub in_flight: Option<u64>,
    /// Share of the time with requests in flight.
    pub util_percent: Option<f64>,
}

impl<'a> WatchDocument<'a> {
    /// Schema of the document.
    pub const SCHEMA: &'static str = "narrows/watch/1";

    /// The document of an interval.
    pub fn new(target: Option<&'a str>, tick: &'a WatchTick, layers: &'a [WatchedLayer]) -> Self {
        let a = &tick.activity;
        let temperature =
            |t: &'a model::Temperature| WatchTemperature { name: &t.name, celsius: t.millidegrees_c as f64 / 1e3 };
        Self {
            schema: Self::SCHEMA,
            target,
            time: &tick.time,
            since_boot: tick.since_boot,
            interval_s: (a.elapsed_ns > 0).then(|| seconds(a.elapsed_ns)),
            suspended_s: tick.suspended_ns.map(seconds),
            cpu: a.cpu.map(WatchCpu::from),
            pressure_io: a.pressure_io.map(WatchPressure::from),
            pressure_cpu: a.pressure_cpu.map(WatchPressure::from),
            interrupts_per_s: a.interrupts_per_s,
            context_switches_per_s: a.context_switches_per_s,
            temperatures: tick.sample.temperatures.iter().map(temperature).collect(),
            cpu_mhz: tick.sample.cpu_khz.iter().map(|khz| khz.map(|k| k as f64 / 1e3)).collect(),
            dirty_bytes: tick.sample.memory.dirty_bytes,
            writeback_bytes: tick.sample.memory.writeback_bytes,
            layers: layers.iter().map(|l| WatchLayer::new(l, &LayerInInterval::of(a, l), a.disk(&l.name))).collect(),
        }
    }

    /// The document in one line, with the line's end.
    ///
    /// # Errors
    /// None that this document can cause.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        let mut text = model::harmless_json(serde_json::to_string(self)?);
        text.push('\n');
        Ok(text)
    }
}

impl<'a> WatchLayer<'a> {
    fn new(layer: &'a WatchedLayer, seen: &LayerInInterval<'_>, disk: Option<&DiskActivity>) -> Self {
        let state = match seen {
            LayerInInterval::Rates(_) => "watched",
            LayerInInterval::First => "first-seen",
            LayerInInterval::Gone => "gone",
        };
        let none = RequestActivity::default();
        let (read, write, both) = disk.map_or((none, none, none), |d| (d.read, d.write, d.both));
        let (discard, flush) = disk.map_or((none, none), |d| (d.discard, d.flush));
        Self {
            name: &layer.name,
            kind: layer.kind,
            state,
            reads_per_s: read.per_s,
            writes_per_s: write.per_s,
            discards_per_s: discard.per_s,
            flushes_per_s: flush.per_s,
            reads_merged_per_s: read.merged_per_s,
            writes_merged_per_s: write.merged_per_s,
            read_bytes_per_s: read.bytes_per_s,
            write_bytes_per_s: write.bytes_per_s,
            discard_bytes_per_s: discard.bytes_per_s,
            read_await_ns: read.await_ns,
            write_await_ns: write.await_ns,
            await_ns: both.await_ns,
            flush_await_ns: flush.await_ns,
            read_size_bytes: read.size_bytes,
            write_size_bytes: write.size_bytes,
            queue: disk.and_then(|d| d.mean_in_flight),
            in_flight: disk.map(|d| d.in_flight),
            util_percent: disk.and_then(|d| d.busy_ratio).map(|r| r * 100.0),
        }
    }
}

impl From<CpuActivity> for WatchCpu {
    fn from(c: CpuActivity) -> Self {
        Self {
            user_percent: c.user * 100.0,
            nice_percent: c.nice * 100.0,
            system_percent: c.system * 100.0,
            irq_percent: c.irq * 100.0,
            iowait_percent: c.iowait * 100.0,
            steal_percent: c.steal * 100.0,
            idle_percent: c.idle * 100.0,
        }
    }
}

impl From<PressureActivity> for WatchPressure {
    fn from(p: PressureActivity) -> Self {
        Self { some_percent: p.some.map(|s| s * 100.0), full_percent: p.full.map(|f| f * 100.0) }
    }
}
