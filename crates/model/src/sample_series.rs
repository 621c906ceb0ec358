//! The samples of one phase, in bounded memory however long it takes.

use crate::{CpuTicks, DiskCounters, NfsCounters, PathCounter, SystemSample, Temperature};

/// Memory that the samples of a phase take at most, bytes.
const LIMIT_BYTES: usize = 8 << 20;
/// Samples of a phase that are held whatever they take, and at most.
const MIN: usize = 64;
const MAX: usize = 4096;

/// Samples that come at regular times. Where there is no room for another one, every second one goes, and from then on every
/// second one that comes: counters stand as the kernel gave them, so the rates between those that stay are as true as before.
#[derive(Clone, Debug, Default)]
pub struct SampleSeries {
    samples: Vec<SystemSample>,
    most: usize,
    halvings: u32,
    came: u64,
}

impl SystemSample {
    /// What it takes, about.
    pub fn memory_bytes(&self) -> usize {
        let of_disk = size_of::<DiskCounters>() + 32;
        size_of::<Self>()
            + self.disks.len() * of_disk
            + self.nfs.len() * (size_of::<NfsCounters>() + 32)
            + self.path.len() * (size_of::<PathCounter>() + 32)
            + self.cpus.len() * size_of::<CpuTicks>()
            + (self.cpu_khz.len() + self.interrupts_by_cpu.len()) * 16
            + self.temperatures.len() * (size_of::<Temperature>() + 32)
    }
}

impl SampleSeries {
    /// Takes the next one, or leaves it.
    pub fn push(&mut self, sample: SystemSample) {
        if self.samples.is_empty() {
            // An even number: then the times between those that stay are alike.
            self.most = (LIMIT_BYTES / sample.memory_bytes()).clamp(MIN, MAX) & !1;
        }
        let place = self.came;
        self.came += 1;
        if !place.is_multiple_of(1 << self.halvings.min(63)) {
            return;
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

    /// The samples that are kept.
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
        for place in 0..20_000 {
            series.push(SystemSample { at_ns: 250_000_000 * place, ..SystemSample::default() });
        }
        let samples = series.into_samples();
        assert!((MAX / 2..=MAX).contains(&samples.len()), "{}", samples.len());
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
        assert!(samples.len() < 100, "{}", samples.len());
    }
}
