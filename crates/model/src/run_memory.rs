//! What a run holds of its series and samples, in bounded memory however many long phases it has.

use crate::{Interval, PhaseRun, Run, SystemSample};

/// Intervals of all phases together, 80 bytes each: 5 MB.
const MAX_INTERVALS: usize = 65_536;
/// What the samples of all phases together take.
const MAX_SAMPLE_BYTES: usize = 12 << 20;

impl Run {
    /// Thins what does not fit: of the phase with the most intervals, neighbours are joined; of the samples every second one
    /// goes, but for the last before and the first after each phase. The tables of the archive keep more.
    pub fn bound_memory(&mut self) {
        bound(&mut self.phases, &mut self.samples);
    }

    /// Leaves what is compared and ranked of it: machine, target, and of each phase its metrics and what was asked. Thousands
    /// of runs are held so.
    pub fn keep_results(&mut self) {
        // It may be told by what was verified, which goes.
        self.capacity = self.capacity_found().or(self.capacity.take());
        self.plan.phases = Vec::new();
        self.phases.shrink_to_fit();
        for phase in &mut self.phases {
            phase.record = None;
            phase.plan.streams.shrink_to_fit();
            phase.metrics.shrink_to_fit();
        }
    }
}

fn bound(phases: &mut [PhaseRun], samples: &mut Vec<SystemSample>) {
    fn records(phases: &mut [PhaseRun]) -> impl Iterator<Item = &mut Vec<Interval>> {
        phases.iter_mut().filter_map(|p| p.record.as_mut()).map(|r| &mut r.intervals)
    }
    let mut all: usize = records(phases).map(|intervals| intervals.len()).sum();
    while all > MAX_INTERVALS
        && let Some(longest) = records(phases).max_by_key(|intervals| intervals.len())
    {
        all -= longest.len() / 2;
        Interval::halve(longest);
        longest.shrink_to_fit();
    }
    while bytes_of(samples) > MAX_SAMPLE_BYTES {
        let before = samples.len();
        thin(phases, samples);
        if samples.len() == before {
            break;
        }
    }
}

fn thin(phases: &[PhaseRun], samples: &mut Vec<SystemSample>) {
    let mut edges = vec![samples.len() - 1];
    for record in phases.iter().filter_map(|p| p.record.as_ref()) {
        edges.push(samples.partition_point(|s| s.at_ns <= record.started_ns).saturating_sub(1));
        edges.push(samples.partition_point(|s| s.at_ns < record.ended_ns));
    }
    edges.sort_unstable();
    let mut place = 0;
    samples.retain(|_| {
        let keep = place % 2 == 0 || edges.binary_search(&place).is_ok();
        place += 1;
        keep
    });
    samples.shrink_to_fit();
}

/// What samples take, about.
fn bytes_of(samples: &[SystemSample]) -> usize {
    samples.iter().map(SystemSample::memory_bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CpuTicks, PhasePlan};

    #[test]
    fn long_phases_give_way_and_short_ones_and_edges_stay() {
        let series = |start: u64, count: u64| -> Vec<Interval> {
            (0..count)
                .map(|i| Interval { start_ns: start + i, length_ns: 1, operations: 1, ..Interval::default() })
                .collect()
        };
        let mut phases = Vec::new();
        for (start, count) in [(0, 100), (1000, 60_000), (100_000, 50_000)] {
            phases.push(PhaseRun::cut_off(PhasePlan::default(), series(start, count)).expect("a phase"));
        }
        let mut samples: Vec<SystemSample> = (0..150_000)
            .step_by(10)
            .map(|at_ns| SystemSample { at_ns, cpus: vec![CpuTicks::default(); 64], ..SystemSample::default() })
            .collect();
        let edges = [0, 100, 1000, 61_000, 100_000, 149_990];
        bound(&mut phases, &mut samples);
        let lengths: Vec<usize> = phases.iter().map(|p| p.record.as_ref().map_or(0, |r| r.intervals.len())).collect();
        assert_eq!(lengths, [100, 30_000, 25_000]);
        assert!(phases.iter().all(|p| {
            p.record.as_ref().is_some_and(|r| r.intervals.iter().map(|i| i.operations).sum::<u64>() == r.operations)
        }));
        assert!(bytes_of(&samples) <= MAX_SAMPLE_BYTES && samples.len() > 1000, "{}", samples.len());
        for edge in edges {
            assert!(samples.iter().any(|s| s.at_ns == edge), "{edge}");
        }
        assert!(samples.is_sorted_by_key(|s| s.at_ns));
    }
}
