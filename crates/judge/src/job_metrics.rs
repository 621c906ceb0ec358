//! The metrics of single jobs and directions.
//!
//! A job's rate is what all of its streams moved, over one time: from where its first stream began to count to where its
//! last one ended. Where the phase's own rate leaves out more than the warm-up (what was still in flight at the end, the
//! rounds before steady state), a job or direction that worked all along has its share of that rate instead: its part of
//! what counts, since nothing tells whose operations those were. So the parts of a phase add up to it. Latencies are those
//! of the merged histograms; percentiles are never averaged.

use crate::figures;
use crate::quantity::Quantity;
use crate::rate::CountedRate;
use crate::scope::Scope;
use crate::validity::{MIN_OPERATIONS, failed_operations};
use model::{
    Direction, DirectionSummary, EngineKind, Histogram, Metric, MetricStatus, Ns, PhasePlan, PhaseRecord, Reason,
    StreamSummary,
};

/// What is known of the jobs of a phase.
pub(crate) struct JobFigures<'a> {
    phase: &'a PhaseRecord,
    rate: Option<&'a CountedRate>,
    /// By place; `None` where the record does not tell streams apart.
    jobs: Vec<Option<StreamSummary>>,
    /// Operations and bytes of all jobs that count.
    all: (u64, u64),
}

/// Operations and bytes of a job or a direction that count.
fn counted<'d>(sides: impl Iterator<Item = &'d DirectionSummary>, all: bool) -> (u64, u64) {
    sides.fold((0, 0), |(n, bytes), d| {
        let one = if all { (d.operations, d.bytes) } else { (d.counted_operations, d.counted_bytes) };
        (n.saturating_add(one.0), bytes.saturating_add(one.1))
    })
}

impl<'a> JobFigures<'a> {
    pub fn of(plan: &PhasePlan, phase: &'a PhaseRecord, rate: Option<&'a CountedRate>) -> Self {
        let jobs: Vec<Option<StreamSummary>> = plan.jobs().iter().map(|job| phase.job(plan, job)).collect();
        let uncut = rate.is_some_and(|r| r.uncut);
        let all = counted(jobs.iter().flatten().flat_map(StreamSummary::data), uncut);
        Self { phase, rate, jobs, all }
    }

    pub fn job(&self, scope: &Scope, job: usize) -> Vec<Metric> {
        let Some(job) = self.jobs.get(job).and_then(Option::as_ref) else { return not_per_direction(scope) };
        let latency = job.latency();
        let sums = counted(job.data(), self.uncut());
        let operations = job.data().fold(0, |sum, d| d.operations.saturating_add(sum));
        let mut metrics = self.of_scope(scope, job, &latency, sums, operations);
        // What failed in one job is said of that job.
        if let (Some(first), Some(failed)) = (metrics.first_mut(), failed_operations(&job.errors, operations)) {
            first.reasons.push(failed);
        }
        metrics
    }

    pub fn direction(&self, scope: &Scope, job: usize, direction: Direction) -> Vec<Metric> {
        let Some(job) = self.jobs.get(job).and_then(Option::as_ref) else { return not_per_direction(scope) };
        match job.direction(direction) {
            Some(one) => {
                let sums = counted(std::iter::once(one), self.uncut());
                self.of_scope(scope, job, &one.latency, sums, one.operations)
            }
            None => scope.quantities.iter().map(|q| scope.skipped(*q, Reason::NoData {})).collect(),
        }
    }

    fn uncut(&self) -> bool {
        self.rate.is_some_and(|r| r.uncut)
    }

    fn of_scope(
        &self,
        scope: &Scope,
        job: &StreamSummary,
        latency: &Histogram,
        (counted, bytes): (u64, u64),
        operations: u64,
    ) -> Vec<Metric> {
        let one = |quantity: Quantity| match quantity {
            Quantity::Throughput => self.rate_of(scope, quantity, job, counted, self.bytes_per_s(job, bytes)),
            Quantity::Iops | Quantity::Files => {
                self.rate_of(scope, quantity, job, counted, self.operations_per_s(job, counted))
            }
            Quantity::Stall => figures::stall(scope, job.longest_gap_ns, latency.count()),
            Quantity::Cpu(_) if job.engine == EngineKind::Sim => {
                let reason = Reason::of("simulated", "the CPU time of a phase is not recorded per job");
                scope.absent(quantity, MetricStatus::NotApplicable, reason)
            }
            Quantity::Cpu(time) => figures::cpu(scope, time, job.engine, job.usage, job.duration_ns(), operations),
            _ => figures::of_latency(scope, quantity, latency),
        };
        scope.quantities.iter().map(|q| one(*q)).collect()
    }

    fn rate_of(&self, scope: &Scope, q: Quantity, job: &StreamSummary, counted: u64, value: Option<f64>) -> Metric {
        let Some(value) = value.filter(|_| counted > 0) else { return scope.skipped(q, Reason::NoData {}) };
        let mut metric = scope.measured(q, value, counted);
        // A job that covered its region is complete, however few operations that took.
        if counted < MIN_OPERATIONS && job.stop != model::StopCause::RegionDone {
            metric.refuse(&[Reason::TooLittleData {
                operations: counted,
                seconds: None,
                least_seconds: None,
                by_bytes: false,
            }]);
        }
        metric
    }

    /// The phase's rate, if this job has a share of it and no time of its own.
    fn shared(&self, job: &StreamSummary) -> Option<&'a CountedRate> {
        let rate = self.rate?;
        let phase = self.phase;
        let from = phase.started_ns.saturating_add(phase.warmup.cut_ns);
        let all_along = job.started_ns.saturating_add(job.cut_ns) <= from && job.ended_ns >= rate.ended_ns;
        (self.jobs.len() == 1 || rate.partly && all_along).then_some(rate)
    }

    fn own_time(&self, job: &StreamSummary) -> Ns {
        if self.uncut() { job.duration_ns() } else { job.counted_ns() }
    }

    fn bytes_per_s(&self, job: &StreamSummary, bytes: u64) -> Option<f64> {
        match self.shared(job) {
            Some(rate) => share(bytes, self.all.1).map(|s| s * rate.bytes_per_s),
            None => per_second(bytes, self.own_time(job)),
        }
    }

    fn operations_per_s(&self, job: &StreamSummary, operations: u64) -> Option<f64> {
        match self.shared(job) {
            Some(rate) => share(operations, self.all.0).map(|s| s * rate.operations_per_s),
            None => per_second(operations, self.own_time(job)),
        }
    }
}

fn share(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

fn per_second(n: u64, time_ns: Ns) -> Option<f64> {
    (time_ns > 0).then(|| n as f64 * 1e9 / time_ns as f64)
}

fn not_per_direction(scope: &Scope) -> Vec<Metric> {
    scope
        .quantities
        .iter()
        .map(|q| scope.skipped(*q, Reason::of("not-recorded", "this run did not tell jobs and directions apart")))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::fixture::*;
    use crate::{JudgedPhase, metric_ids};
    use model::{
        Direction, ErrorPolicy, Flush, Histogram, Interval, Metric, MetricStatus, Mix, NS_PER_S, Operation,
        PhaseStatus, SteadyRecord, SteadyRound, StreamPlan,
    };

    fn metric<'j>(judged: &'j JudgedPhase, id: &str) -> &'j Metric {
        judged
            .metrics
            .iter()
            .find(|m| m.id == id)
            .unwrap_or_else(|| panic!("no {id} in {:?}", judged.metrics.iter().map(|m| &m.id).collect::<Vec<_>>()))
    }

    /// 1,000 operations a second for 4 s, three of four of them reads.
    fn mix() -> Fixture {
        let mut f = Fixture::random_read();
        f.plan.name = "mix".into();
        let stream = &mut f.plan.streams[0];
        stream.block_mut().operation = Operation::Write;
        stream.block_mut().mix = Some(Mix { read_percent: 75 });
        f.split_directions(&[(Direction::Read, 0.75), (Direction::Write, 0.25)]);
        f
    }

    /// Two named jobs side by side, the second one of two clones.
    fn jobs() -> Fixture {
        let mut f = Fixture::random_read();
        f.plan.name = "p".into();
        let stream = f.plan.streams[0].clone();
        let named = |name: &str, group: u32| StreamPlan { name: name.into(), group, ..stream.clone() };
        f.plan.streams = vec![named("log.a", 1), named("db", 2), named("db", 2)];
        f.record.mean_depth = Some(96.0);
        f.record.longest_gap_ns = Some(7_000_000);
        f.split_directions(&[(Direction::Read, 1.0)]);
        f
    }

    #[test]
    fn a_mix_has_numbers_of_its_own_and_of_each_direction() {
        let judged = mix().judge();
        let value = |id: &str| metric(&judged, id).value.unwrap();
        assert_eq!((value("mix.iops"), value("mix.read.iops"), value("mix.write.iops")), (1_000.0, 750.0, 250.0));
        assert_eq!(value("mix.write.throughput_bytes_per_s"), 250.0 * 4096.0);
        assert_eq!((value("mix.read.latency_ns_mean"), value("mix.write.latency_ns_max")), (500_000.0, 2_000_000.0));
        assert_eq!(metric(&judged, "mix.read.latency_ns_p99").n, 3_000);
        // A quarter of 4,000 operations carries a p99, but no p99.9.
        assert_eq!(metric(&judged, "mix.write.latency_ns_p99").status, MetricStatus::Measured);
        assert!(
            metric(&judged, "mix.write.latency_ns_p999").reasons[0]
                .to_string()
                .starts_with("too-few-operations: 1000 ")
        );
        assert!(!judged.metrics.iter().any(|m| m.id.starts_with("mix.read.cpu") || m.id.starts_with("mix.read.stall")));
    }

    #[test]
    fn ids_follow_from_the_plan_whatever_was_recorded() {
        let mut syncing = mix();
        syncing.plan.streams[0].durability.flush = Flush { fsync_every: 8, ..Flush::default() };
        for f in [mix(), jobs(), syncing] {
            let want = metric_ids(&f.plan);
            let ids = |j: &JudgedPhase| j.metrics.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
            let mut unique = want.clone();
            unique.sort();
            unique.dedup();
            assert_eq!(unique.len(), want.len());
            assert_eq!(ids(&f.judge()), want);
            // A record of a version that did not tell them apart.
            let mut old = Fixture { ..f };
            old.record.streams.clear();
            let judged = old.judge();
            assert_eq!((judged.status, ids(&judged)), (PhaseStatus::Measured, want.clone()));
            let parts = judged.metrics.iter().filter(|m| m.id.matches('.').count() > 1);
            assert!(parts.clone().count() > 0);
            assert!(parts.clone().all(|m| m.value.is_none() && m.reasons[0].is("not-recorded")));
            old.record.short_operations = 1;
            assert_eq!(ids(&old.judge()), want);
        }
    }

    #[test]
    fn the_ids_of_syncs_are_latencies_only() {
        let mut f = Fixture::sync_write();
        f.plan.streams[0].durability.sync = model::Sync::None;
        f.plan.streams[0].durability.flush = Flush { fsync_at_end: true, ..Flush::default() };
        f.split_directions(&[(Direction::Write, 1.0), (Direction::Sync, 0.01)]);
        let syncs: Vec<String> = metric_ids(&f.plan)
            .into_iter()
            .filter_map(|id| id.strip_prefix("sync-write.sync.").map(str::to_owned))
            .collect();
        let quantities = [
            "latency_ns_mean",
            "latency_ns_p50",
            "latency_ns_p90",
            "latency_ns_p99",
            "latency_ns_p999",
            "latency_ns_max",
        ];
        assert_eq!(syncs, quantities);
        // The writes are all there is otherwise: the phase's own numbers say them.
        assert!(!metric_ids(&f.plan).iter().any(|id| id.starts_with("sync-write.write.")));
        let judged = f.judge();
        assert_eq!(metric(&judged, "sync-write.sync.latency_ns_mean").n, 40);
        assert_eq!(metric(&judged, "sync-write.iops").value, Some(1_000.0));
    }

    #[test]
    fn clones_are_one_job_and_jobs_add_up() {
        let judged = jobs().judge();
        let value = |id: &str| metric(&judged, id).value.unwrap();
        let (one, two) = (value("p.log-a.iops"), value("p.db.iops"));
        assert!((one - 333.25).abs() < 0.5 && (two - 666.5).abs() < 0.5, "{one} {two}");
        assert!((one + two - value("p.iops")).abs() < 1.0);
        assert_eq!(metric(&judged, "p.db.latency_ns_mean").n, 2_666);
        assert_eq!(value("p.db.stall_ns_max"), 7e6);
        // 0.1 s of user time in 4 s by all three.
        assert!((value("p.db.cpu_user_percent") - 2.5 * 2.0 / 3.0).abs() < 0.01);
        assert!(!judged.metrics.iter().any(|m| m.id.contains("db.write_amplification") || m.id.contains(".db.read.")));
    }

    #[test]
    fn a_job_that_ran_for_a_part_of_the_phase_has_its_own_time() {
        let mut f = jobs();
        let alone = &mut f.record.streams[0];
        alone.started_ns += 2 * NS_PER_S;
        let judged = f.judge();
        let rate = metric(&judged, "p.log-a.iops");
        assert!((rate.value.unwrap() - 666.5).abs() < 0.5, "{rate:?}");
        assert!((metric(&judged, "p.db.iops").value.unwrap() - 666.5).abs() < 0.5);
    }

    #[test]
    fn what_comes_after_the_end_is_no_jobs_speed() {
        let mut f = jobs();
        let before = f.judge();
        let end = f.record.ended_ns;
        let drain =
            Interval { start_ns: end, length_ns: 1_000_000, operations: 96, bytes: 96 * 4096, ..Default::default() };
        f.record.intervals.push(drain);
        f.record.ended_ns += 1_000_000;
        f.record.operations += 96;
        f.record.bytes += 96 * 4096;
        f.record.latency.record_n(1_000_000, 96);
        f.split_directions(&[(Direction::Read, 1.0)]);
        let after = f.judge();
        for id in ["p.iops", "p.db.iops", "p.log-a.throughput_bytes_per_s"] {
            let (a, b) = (metric(&before, id).value.unwrap(), metric(&after, id).value.unwrap());
            assert!((a / b - 1.0).abs() < 1e-3, "{id}: {a} {b}");
        }
        assert!(metric(&after, "p.db.latency_ns_mean").n > metric(&before, "p.db.latency_ns_mean").n);
    }

    #[test]
    fn with_steady_state_each_job_has_its_share_of_the_last_window() {
        let mut f = jobs();
        let round = |start_ns| SteadyRound {
            start_ns,
            length_ns: NS_PER_S,
            operations: 600,
            bytes: 600 * 4096,
            latency_ns_mean: None,
        };
        f.record.steady = Some(SteadyRecord {
            reached: true,
            window_rounds: 2,
            range_ratio: Some(0.0),
            slope_ratio: Some(0.0),
            rounds: (0..4).map(|i| round(f.record.started_ns + i * NS_PER_S)).collect(),
        });
        let judged = f.judge();
        assert_eq!(metric(&judged, "p.iops").value, Some(600.0));
        assert!((metric(&judged, "p.db.iops").value.unwrap() - 400.0).abs() < 0.5);
    }

    #[test]
    fn a_job_with_a_handful_of_operations_has_no_rate() {
        let mut f = jobs();
        let few = &mut f.record.streams[0].directions[0];
        (few.operations, few.counted_operations, few.latency) = (3, 3, Histogram::new());
        few.latency.record_n(5_000, 3);
        let judged = f.judge();
        let rate = metric(&judged, "p.log-a.iops");
        assert_eq!((rate.status, rate.value), (MetricStatus::Refused, None));
        assert!(
            rate.rejected_value.is_some() && rate.reasons[0].to_string().starts_with("too-little-data: 3 operations")
        );
        assert_eq!(metric(&judged, "p.log-a.latency_ns_max").value, Some(5_000.0));
        let none = &mut f.record.streams[0].directions[0];
        (none.operations, none.counted_operations, none.latency) = (0, 0, Histogram::new());
        assert!(metric(&f.judge(), "p.log-a.iops").reasons[0].is("no-data"));
    }

    #[test]
    fn what_failed_in_one_job_is_said_of_that_job() {
        let mut f = jobs();
        f.record.streams[2].errors.insert("EIO".into(), 5);
        f.record.errors.insert("EIO".into(), 5);
        assert_eq!(f.codes(), ["errors"]);
        f.plan.streams[2].on_error = ErrorPolicy::Continue;
        let judged = f.judge();
        assert_eq!(judged.status, PhaseStatus::Measured);
        assert_eq!(
            lines(&metric(&judged, "p.db.throughput_bytes_per_s").reasons),
            ["partial: 5 of 2671 operations failed (EIO 5)"]
        );
        assert!(metric(&judged, "p.log-a.throughput_bytes_per_s").reasons.is_empty());
        // The job that was to stop at errors did not.
        f.record.streams[0].errors.insert("EIO".into(), 1);
        assert_eq!(f.codes(), ["errors"]);
    }
}
