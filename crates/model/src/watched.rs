//! What is watched in an interval, and its columns, once: JSON, our own CSV and the import of that have names, values and metrics from
//! here. The unit stands at the end of a name; what is not known is null.

use crate::{Activity, CpuActivity, DiskActivity, Ns, SystemSample};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// One interval, or the time since boot.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchTick {
    /// Its end, RFC 3339 in UTC.
    pub time: String,
    /// The same in milliseconds since 1970.
    pub unix_ms: i64,
    /// Whether it covers all the time since boot.
    pub since_boot: bool,
    /// How long the machine slept in it, where that is known.
    pub suspended_ns: Option<Ns>,
    /// What happened.
    pub activity: Activity,
    /// The state at its end: temperatures, frequencies, memory.
    pub sample: SystemSample,
}

impl WatchTick {
    /// The highest temperature of any sensor that was asked, degrees Celsius.
    pub fn hottest_c(&self) -> Option<f64> {
        self.sample.temperatures.iter().map(|t| t.millidegrees_c as f64 / 1e3).max_by(f64::total_cmp)
    }

    /// The highest frequency of any processor, MHz.
    pub fn fastest_mhz(&self) -> Option<f64> {
        self.sample.cpu_khz.iter().flatten().max().map(|khz| *khz as f64 / 1e3)
    }

    /// `12:00:01` of the time.
    pub fn clock(&self) -> &str {
        self.time.get(11..19).unwrap_or(&self.time)
    }
}

/// Columns of something: the name, the metric of a run that it is, which may be none, and the value.
pub type Columns<T, const N: usize> = [(&'static str, &'static str, fn(&T) -> Value); N];

/// The machine, but for the shares of its processors.
pub const MACHINE: Columns<WatchTick, 13> = [
    ("time", "", |t| t.time.as_str().into()),
    ("since_boot", "", |t| u8::from(t.since_boot).into()),
    ("interval_s", "", |t| (t.activity.elapsed_ns > 0).then(|| t.activity.elapsed_ns as f64 / 1e9).into()),
    ("suspended_s", "", |t| t.suspended_ns.map(|ns| ns as f64 / 1e9).into()),
    ("io_some_percent", "pressure.io_some_percent", |t| percent(t.activity.pressure_io.and_then(|p| p.some))),
    ("io_full_percent", "pressure.io_full_percent", |t| percent(t.activity.pressure_io.and_then(|p| p.full))),
    ("cpu_some_percent", "pressure.cpu_some_percent", |t| percent(t.activity.pressure_cpu.and_then(|p| p.some))),
    ("interrupts_per_s", "interrupts_per_s", |t| t.activity.interrupts_per_s.into()),
    ("context_switches_per_s", "context_switches_per_s", |t| t.activity.context_switches_per_s.into()),
    // Degrees, megahertz and what is in flight at one moment are no metrics of a run.
    ("temperature_max_c", "", |t| t.hottest_c().into()),
    ("cpu_max_mhz", "", |t| t.fastest_mhz().into()),
    ("dirty_bytes", "dirty_bytes", |t| t.sample.memory.dirty_bytes.into()),
    ("writeback_bytes", "writeback_bytes", |t| t.sample.memory.writeback_bytes.into()),
];

/// What stands before the names of shares of the processors where they stand beside other columns.
pub const OF_CPU: &str = "cpu_";

/// Shares of the time of all processors.
pub const CPU: Columns<CpuActivity, 7> = [
    ("user_percent", "cpu.user_percent", |c| percent(Some(c.user))),
    ("nice_percent", "cpu.nice_percent", |c| percent(Some(c.nice))),
    ("system_percent", "cpu.system_percent", |c| percent(Some(c.system))),
    ("irq_percent", "cpu.irq_percent", |c| percent(Some(c.irq))),
    ("iowait_percent", "cpu.iowait_percent", |c| percent(Some(c.iowait))),
    ("steal_percent", "cpu.steal_percent", |c| percent(Some(c.steal))),
    ("idle_percent", "cpu.idle_percent", |c| percent(Some(c.idle))),
];

/// A layer: rates of requests, and of those that were merged into others; bytes; mean times and sizes; the mean number of requests in
/// flight, and how many there are at the end; the share of the time with requests in flight.
pub const LAYER: Columns<DiskActivity, 18> = [
    ("reads_per_s", "read.iops", |d| d.read.per_s.into()),
    ("writes_per_s", "write.iops", |d| d.write.per_s.into()),
    ("discards_per_s", "discard.iops", |d| d.discard.per_s.into()),
    ("flushes_per_s", "flush.iops", |d| d.flush.per_s.into()),
    ("read_bytes_per_s", "read.throughput_bytes_per_s", |d| d.read.bytes_per_s.into()),
    ("write_bytes_per_s", "write.throughput_bytes_per_s", |d| d.write.bytes_per_s.into()),
    ("discard_bytes_per_s", "discard.throughput_bytes_per_s", |d| d.discard.bytes_per_s.into()),
    ("reads_merged_per_s", "read.merges_per_s", |d| d.read.merged_per_s.into()),
    ("writes_merged_per_s", "write.merges_per_s", |d| d.write.merged_per_s.into()),
    ("read_await_ns", "read.await_ns", |d| d.read.await_ns.into()),
    ("write_await_ns", "write.await_ns", |d| d.write.await_ns.into()),
    ("flush_await_ns", "flush.await_ns", |d| d.flush.await_ns.into()),
    ("await_ns", "await_ns", |d| d.both.await_ns.into()),
    ("read_size_bytes", "read.request_bytes_mean", |d| d.read.size_bytes.into()),
    ("write_size_bytes", "write.request_bytes_mean", |d| d.write.size_bytes.into()),
    ("queue", "queue_depth_mean", |d| d.mean_in_flight.into()),
    ("in_flight", "", |d| d.in_flight.into()),
    ("util_percent", "util_percent", |d| percent(d.busy_ratio)),
];

fn percent(ratio: Option<f64>) -> Value {
    ratio.map(|r| r * 100.0).into()
}

/// Names and metrics of all columns.
pub fn columns() -> impl Iterator<Item = (String, &'static str)> {
    let machine = MACHINE.iter().map(|(name, metric, _)| ((*name).to_owned(), *metric));
    let cpu = CPU.iter().map(|(name, metric, _)| (format!("{OF_CPU}{name}"), *metric));
    machine.chain(cpu).chain(LAYER.iter().map(|(name, metric, _)| ((*name).to_owned(), *metric)))
}

/// All values of something; all null where it is not known.
pub fn values<T, const N: usize>(columns: &Columns<T, N>, of: Option<&T>) -> Values {
    Values(columns.iter().map(|(name, _, value)| (*name, of.map_or(Value::Null, value))).collect())
}

/// Values with their names, in the order of their columns; in JSON an object.
#[derive(Clone, Debug)]
pub struct Values(pub Vec<(&'static str, Value)>);

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_a_name_and_each_metric_a_column_of_its_own() {
        let mut names: Vec<String> = columns().map(|(name, _)| name).collect();
        let mut metrics: Vec<&str> = columns().map(|(_, metric)| metric).filter(|m| !m.is_empty()).collect();
        for all in [names.len(), metrics.len()] {
            assert!(all > 20, "{all}");
        }
        let before = (names.len(), metrics.len());
        names.sort_unstable();
        names.dedup();
        metrics.sort_unstable();
        metrics.dedup();
        assert_eq!((names.len(), metrics.len()), before);
    }

    #[test]
    fn what_is_not_known_is_null_in_its_place() {
        let json = serde_json::to_string(&values(&LAYER, None)).unwrap();
        assert!(json.starts_with("{\"reads_per_s\":null,\"writes_per_s\":null,"), "{json}");
        let cpu = CpuActivity { user: 0.5, ..CpuActivity::default() };
        assert_eq!(values(&CPU, Some(&cpu)).0[0], ("user_percent", Value::from(50.0)));
    }
}
