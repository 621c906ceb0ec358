//! The metrics that stand for a run in a list.

use crate::{Metric, PhaseRun, Run, SmallOperations, Unit, Work};

impl Run {
    /// Of a run that measured several of these.
    pub const HEADLINES: [(Work, &'static str); 5] = [
        (Work::SequentialRead, "throughput_bytes_per_s"),
        (Work::SequentialWrite, "throughput_bytes_per_s"),
        (Work::BufferedWrite, "throughput_bytes_per_s"),
        (Work::RandomRead, "iops"),
        (Work::RandomWrite, "iops"),
    ];

    /// Of another run: so many, the rates of its first phases.
    const RATES: usize = 5;

    /// The metrics that stand for a run in a list: the main ones of its first phases.
    pub fn headlines(&self) -> Vec<Metric> {
        let of = |(work, quantity): &(Work, &str)| self.metric_of_work(*work, quantity).cloned();
        let headlines: Vec<Metric> = Self::HEADLINES.iter().filter_map(of).collect();
        let rates = || self.phases.iter().filter_map(main_rate).take(Self::RATES).cloned().collect();
        if self.is_overview() && !headlines.is_empty() {
            return headlines;
        }
        let Some(small) = self.responsiveness() else { return rates() };
        let of = |of: &SmallOperations| self.metric(&format!("{}.latency_ns_{}", of.jobs[1], of.percentile)).cloned();
        [&small.read, &small.append].into_iter().flatten().filter_map(of).collect()
    }
}

/// The rate by which a phase that measures is known: files, operations where they are small, else bytes.
fn main_rate(phase: &PhaseRun) -> Option<&Metric> {
    if phase.plan.streams.is_empty() {
        // Another tool's: whichever rate it printed first.
        let is_rate = |m: &&Metric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS);
        return phase.metrics.iter().find(is_rate);
    }
    let small = phase.plan.streams.iter().all(|s| s.blocks().is_none_or(|s| s.block.block_size_bytes <= 65_536));
    let quantity = match small {
        _ if phase.plan.operates_on_files() => "files_per_s",
        true => "iops",
        false => "throughput_bytes_per_s",
    };
    let id = format!("{}.{quantity}", phase.plan.name);
    phase.metrics.iter().find(|m| phase.plan.measures_target() && m.id == id)
}
