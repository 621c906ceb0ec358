//! The samples of one phase, in bounded memory however long it takes.

use crate::{CpuTicks, DiskCounters, SystemSample, Temperature};

/// Memory that the samples of a phase take at most, bytes: a quarter of an hour of a machine with a hundred processors.
const LIMIT_BYTES: usize = 32 << 20;
/// Samples of a phase that are held whatever they take, and at most.
const LEAST: usize = 64;
const MOST: usize = 4096;

/// Samples at regular times. Where there is no room for another one, every second one goes, and from then on they are to be
/// taken half as often: counters stand as the kernel gave them, so the rates between those that stay are as true as before.
#[derive(Clone, Debug, Default)]
pub struct SampleSeries {
    samples: Vec<SystemSample>,
    most: usize,
    halvings: u32,
}

/// What a sample takes, bytes, about.
fn bytes_of(sample: &SystemSample) -> usize {
    let of_disk = size_of::<DiskCounters>() + 32;
    size_of::<SystemSample>()
        + sample.disks.len() * of_disk
        + sample.cpus.len() * size_of::<CpuTicks>()
        + (sample.cpu_khz.len() + sample.interrupts_by_cpu.len()) * 16
        + sample.temperatures.len() * (size_of::<Temperature>() + 32)
}

impl SampleSeries {
    /// How many times as long as at first the time between two samples is now.
    pub fn times_as_long(&self) -> u64 {
        1 << self.halvings.min(63)
    }

    /// Adds the next one.
    pub fn push(&mut self, sample: SystemSample) {
        if self.samples.is_empty() {
            // An even number: then the times between those that stay are alike.
            self.most = (LIMIT_BYTES / bytes_of(&sample)).clamp(LEAST, MOST) & !1;
        }
        self.samples.push(sample);
        if self.samples.len() > self.most {
            let mut place = 0;
            self.samples.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.halvings += 1;
        }
    }

    /// Those that are left so far.
    pub fn samples(&self) -> &[SystemSample] {
        &self.samples
    }

    /// All that are left.
    pub fn into_samples(self) -> Vec<SystemSample> {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_of_weeks_keeps_as_many_as_one_of_minutes() {
        let mut series = SampleSeries::default();
        let mut at_ns = 0;
        for _ in 0..20_000 {
            series.push(SystemSample { at_ns, ..SystemSample::default() });
            at_ns += 250_000_000 * series.times_as_long();
        }
        let samples = series.into_samples();
        assert!((MOST / 2..=MOST).contains(&samples.len()), "{}", samples.len());
        assert_eq!(samples[0].at_ns, 0);
        let step = samples[1].at_ns;
        assert!(samples.windows(2).all(|w| w[1].at_ns - w[0].at_ns == step), "the times between them are alike");
    }

    #[test]
    fn large_samples_are_fewer() {
        let mut series = SampleSeries::default();
        for _ in 0..5000 {
            series.push(SystemSample { cpus: vec![CpuTicks::default(); 4096], ..SystemSample::default() });
        }
        let samples = series.into_samples();
        assert!(samples.len() < 200, "{}", samples.len());
    }
}
