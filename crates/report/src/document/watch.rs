//! `narrows/watch/1`: one document a line, one line an interval.

use super::seconds;
use crate::watch::{LayerInInterval, WatchedLayer};
use model::watched::{CPU, LAYER, Values, values};
use model::{DiskActivity, LayerKind, NfsActivity, PathActivity, PressureActivity, WatchTick};
use serde::Serialize;

/// What `narrows watch --json` prints for each interval. A rate that is not known is null: the disk was not there
/// before, its counter fell, or the kernel does not count it.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "schema", rename = "narrows/watch/1")]
pub struct WatchDocument<'a> {
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
    pub cpu: Option<Values>,
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
    /// The operations of the NFS mount that is watched of which calls ended in the interval.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub nfs: &'a [NfsActivity],
    /// What else is counted of the path and grew: an SMB client's requests, the cache of ZFS.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub path: &'a [PathActivity],
    /// The layers, top to bottom.
    pub layers: Vec<WatchLayer<'a>>,
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
    /// Rates, times and sizes; all null if gone.
    #[serde(flatten)]
    pub values: Values,
}

impl<'a> WatchDocument<'a> {
    /// The document of an interval.
    pub fn new(target: Option<&'a str>, tick: &'a WatchTick, layers: &'a [WatchedLayer]) -> Self {
        let a = &tick.activity;
        let temperature =
            |t: &'a model::Temperature| WatchTemperature { name: &t.name, celsius: t.millidegrees_c as f64 / 1e3 };
        Self {
            target,
            time: &tick.time,
            since_boot: tick.since_boot,
            interval_s: (a.elapsed_ns > 0).then(|| seconds(a.elapsed_ns)),
            suspended_s: tick.suspended_ns.map(seconds),
            cpu: a.cpu.as_ref().map(|cpu| values(&CPU, Some(cpu))),
            pressure_io: a.pressure_io.map(WatchPressure::from),
            pressure_cpu: a.pressure_cpu.map(WatchPressure::from),
            interrupts_per_s: a.interrupts_per_s,
            context_switches_per_s: a.context_switches_per_s,
            temperatures: tick.sample.temperatures.iter().map(temperature).collect(),
            cpu_mhz: tick.sample.cpu_khz.iter().map(|khz| khz.map(|k| k as f64 / 1e3)).collect(),
            dirty_bytes: tick.sample.memory.dirty_bytes,
            writeback_bytes: tick.sample.memory.writeback_bytes,
            nfs: &a.nfs,
            path: &a.path,
            layers: layers.iter().map(|l| WatchLayer::new(l, &LayerInInterval::of(a, l), a.disk(&l.name))).collect(),
        }
    }

    /// The document in one line, with the line's end.
    ///
    /// # Errors
    /// None that this document can cause.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        let mut text = model::sanitize_json(serde_json::to_string(self)?);
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
        Self { name: &layer.name, kind: layer.kind, state, values: values(&LAYER, disk) }
    }
}

impl From<PressureActivity> for WatchPressure {
    fn from(p: PressureActivity) -> Self {
        Self { some_percent: p.some.map(|s| s * 100.0), full_percent: p.full.map(|f| f * 100.0) }
    }
}
