//! What the streams of one job did together: histograms merged, counts added, from the start of its first stream to the end of its
//! last one. It is told as one stream is.

use crate::record::add_errors;
use crate::{
    CompactSort as _, Direction, DirectionSummary, Histogram, Ns, PhasePlan, PhaseRecord, PlannedJob, StreamSummary,
};

impl StreamSummary {
    /// Wall time from its first stream's start to its last stream's end.
    pub fn duration_ns(&self) -> Ns {
        self.ended_ns.saturating_sub(self.started_ns)
    }

    /// The part of it that counts.
    pub fn counted_ns(&self) -> Ns {
        self.duration_ns().saturating_sub(self.cut_ns)
    }

    /// One direction, if the job has it.
    pub fn direction(&self, direction: Direction) -> Option<&DirectionSummary> {
        self.directions.iter().find(|d| d.direction == direction)
    }

    /// The directions that move data.
    pub fn data(&self) -> impl Iterator<Item = &DirectionSummary> + Clone {
        self.directions.iter().filter(|d| d.direction != Direction::Sync)
    }

    /// Operations after the warm-up cut, syncs not counted.
    pub fn counted_operations(&self) -> u64 {
        self.data().fold(0, |sum, d| sum.saturating_add(d.counted_operations))
    }

    /// Bytes after the warm-up cut.
    pub fn counted_bytes(&self) -> u64 {
        self.data().fold(0, |sum, d| sum.saturating_add(d.counted_bytes))
    }

    /// Latencies of all directions that move data. Takes a histogram's memory.
    pub fn latency(&self) -> Histogram {
        let mut all = Histogram::new();
        self.data().for_each(|d| all.merge(&d.latency));
        all
    }

    /// Takes in what another stream of the same job did beside it.
    fn merge(&mut self, stream: &Self) {
        self.started_ns = self.started_ns.min(stream.started_ns);
        self.ended_ns = self.ended_ns.max(stream.ended_ns);
        self.stop = self.stop.more_severe(stream.stop);
        self.short_operations = self.short_operations.saturating_add(stream.short_operations);
        add_errors(&mut self.errors, &stream.errors);
        self.usage = self.usage.plus(&stream.usage);
        self.mean_depth = self.mean_depth.zip(stream.mean_depth).map(|(a, b)| a + b);
        self.longest_gap_ns = self.longest_gap_ns.max(stream.longest_gap_ns);
        for one in &stream.directions {
            match self.directions.iter_mut().find(|d| d.direction == one.direction) {
                Some(into) => {
                    into.operations = into.operations.saturating_add(one.operations);
                    into.bytes = into.bytes.saturating_add(one.bytes);
                    into.counted_operations = into.counted_operations.saturating_add(one.counted_operations);
                    into.counted_bytes = into.counted_bytes.saturating_add(one.counted_bytes);
                    into.latency.merge(&one.latency);
                }
                None => self.directions.push(one.clone()),
            }
        }
    }
}

impl PhaseRecord {
    /// What a job of the phase's plan did; `None` where the record does not tell the streams apart: the phase is all one
    /// stream with one direction, or an earlier version made the record.
    pub fn job(&self, plan: &PhasePlan, job: &PlannedJob) -> Option<StreamSummary> {
        if self.streams.len() != plan.streams.len() {
            return None;
        }
        let streams: Vec<&StreamSummary> = job.streams.iter().filter_map(|i| self.streams.get(*i)).collect();
        let (first, others) = streams.split_first()?;
        let mut all = StreamSummary::clone(first);
        others.iter().for_each(|s| all.merge(s));
        let counts_from = streams.iter().map(|s| s.started_ns.saturating_add(s.cut_ns)).min().unwrap_or(all.started_ns);
        all.cut_ns = counts_from.saturating_sub(all.started_ns);
        all.directions.compact_sort_by_key(|d| d.direction);
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineKind, StopCause, StreamPlan, WorkerUsage};
    use std::collections::BTreeMap;

    fn side(direction: Direction, n: u64, latency_ns: Ns) -> DirectionSummary {
        let mut latency = Histogram::new();
        latency.record_n(latency_ns, n);
        DirectionSummary {
            direction,
            operations: n + 5,
            bytes: (n + 5) * 512,
            counted_operations: n,
            counted_bytes: n * 512,
            latency,
        }
    }

    fn stream(started_ns: Ns, ended_ns: Ns, directions: Vec<DirectionSummary>) -> StreamSummary {
        StreamSummary {
            name: "a".into(),
            group: 1,
            engine: EngineKind::Psync,
            started_ns,
            ended_ns,
            cut_ns: 100,
            depth_search: None,
            stop: StopCause::TimeUsed,
            short_operations: 1,
            errors: BTreeMap::from([("EIO".into(), 2)]),
            usage: WorkerUsage { user_ns: 10, system_ns: 20, voluntary_switches: 1, ..WorkerUsage::default() },
            mean_depth: Some(1.5),
            longest_gap_ns: Some(started_ns),
            directions,
        }
    }

    #[test]
    fn clones_are_added_and_their_histograms_merged() {
        let plan = PhasePlan {
            streams: vec![StreamPlan { name: "a".into(), group: 1, ..StreamPlan::default() }; 2],
            ..PhasePlan::default()
        };
        let mut record = crate::record::tests::empty();
        let jobs = plan.jobs();
        assert_eq!(record.job(&plan, &jobs[0]), None);
        let failed =
            StreamSummary { stop: StopCause::Failed, ..stream(50, 2_000, vec![side(Direction::Write, 3, 900)]) };
        record.streams =
            vec![stream(30, 1_000, vec![side(Direction::Sync, 2, 7), side(Direction::Write, 10, 100)]), failed];
        let job = record.job(&plan, &jobs[0]).unwrap();
        assert_eq!((job.started_ns, job.cut_ns, job.ended_ns, job.counted_ns()), (30, 100, 2_000, 1_870));
        assert_eq!((job.counted_operations(), job.counted_bytes()), (13, 13 * 512));
        assert_eq!((job.errors["EIO"], job.short_operations, job.usage.system_ns), (4, 2, 40));
        assert_eq!((job.stop, job.mean_depth, job.longest_gap_ns), (StopCause::Failed, Some(3.0), Some(50)));
        assert_eq!(job.directions.iter().map(|d| d.direction).collect::<Vec<_>>(), [Direction::Write, Direction::Sync]);
        let latency = job.latency();
        assert_eq!((latency.count(), latency.min(), latency.max()), (13, Some(100), Some(900)));
    }
}
