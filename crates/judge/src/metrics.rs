//! The metrics of a phase: which there are follows from the plan, their values from the record.

use crate::Context;
use crate::context::{DeviceTraffic, own_bytes_between, transferred};
use crate::figures::{cpu, of_latency, stall};
use crate::job_metrics::JobFigures;
use crate::quantity::{self, DeviceCount, Quantity};
use crate::rate::CountedRate;
use crate::scope::{MetricOwner, Scope};
use model::{Direction, Metric, MetricStatus, PhasePlan, PhaseRecord, Reason, Sync, TargetKind};

/// What is not of blocks is counted page by page.
const PAGE_BYTES: u64 = 4096;

/// All groups of metrics of a phase: the phase itself; each job where there are several; each direction of a job that
/// has several, and its syncs where they are operations of their own.
fn scopes(plan: &PhasePlan) -> Vec<Scope> {
    let mut all =
        vec![Scope { of: MetricOwner::Phase, prefix: plan.name.clone(), quantities: quantity::of_phase(plan) }];
    let jobs = plan.jobs();
    for (place, job) in jobs.iter().enumerate() {
        let mut prefix = plan.name.clone();
        if jobs.len() > 1 {
            prefix = format!("{prefix}.{}", job.id);
            all.push(Scope { of: MetricOwner::Job(place), prefix: prefix.clone(), quantities: quantity::of_job(plan) });
        }
        for direction in &job.directions {
            if job.is_per_direction() || *direction == Direction::Sync {
                all.push(Scope {
                    of: MetricOwner::Direction(place, *direction),
                    prefix: format!("{prefix}.{}", direction.name()),
                    quantities: quantity::of_direction(plan, *direction),
                });
            }
        }
    }
    all.retain(|s| !s.quantities.is_empty());
    all
}

/// The ids of all metrics of a phase, in order, whatever becomes of it.
pub fn metric_ids(plan: &PhasePlan) -> Vec<String> {
    absent(plan, MetricStatus::Skipped, &Reason::NoData {}).into_iter().map(|m| m.id).collect()
}

/// All metrics of a phase that has no record.
pub(crate) fn absent(plan: &PhasePlan, status: MetricStatus, reason: &Reason) -> Vec<Metric> {
    let of = |scope: Scope| {
        let quantities = scope.quantities.clone();
        quantities.into_iter().map(move |q| scope.absent(q, status, reason.clone()))
    };
    scopes(plan).into_iter().flat_map(of).collect()
}

/// All metrics of a record, not yet refused.
pub(crate) fn of_record(
    plan: &PhasePlan,
    record: &PhaseRecord,
    rate: Option<&CountedRate>,
    context: &Context<'_>,
) -> Vec<Metric> {
    let jobs = JobFigures::of(plan, record, rate);
    let of = |scope: Scope| -> Vec<Metric> {
        match scope.of {
            MetricOwner::Phase => {
                scope.quantities.iter().map(|q| one(&scope, plan, record, rate, context, *q)).collect()
            }
            MetricOwner::Job(job) => jobs.job(&scope, job),
            MetricOwner::Direction(job, direction) => jobs.direction(&scope, job, direction),
        }
    };
    scopes(plan).into_iter().flat_map(of).collect()
}

fn one(
    scope: &Scope,
    plan: &PhasePlan,
    record: &PhaseRecord,
    rate: Option<&CountedRate>,
    context: &Context<'_>,
    quantity: Quantity,
) -> Metric {
    let measured = |value: f64, n: u64| scope.measured(quantity, value, n);
    let skipped = |reason: Reason| scope.skipped(quantity, reason);
    match quantity {
        Quantity::Throughput => match rate {
            Some(r) => {
                let mut metric = measured(r.bytes_per_s, r.n);
                if let Some((low, high)) = r.interval {
                    metric = metric.within_run(low, high);
                }
                metric.reasons.extend(r.remark.clone());
                metric
            }
            None => skipped(Reason::NoData {}),
        },
        Quantity::Iops | Quantity::Files => match rate.filter(|r| r.main_rate > 0.0) {
            Some(r) => {
                let iops = r.operations_per_s;
                // All operations of a phase are equally long, or a constant mix, so that the interval scales.
                let scale = iops / r.main_rate;
                let metric = measured(iops, r.operations);
                r.interval.map_or(metric.clone(), |(low, high)| metric.within_run(low * scale, high * scale))
            }
            None => skipped(Reason::NoData {}),
        },
        Quantity::Mean | Quantity::P50 | Quantity::P90 | Quantity::P99 | Quantity::P999 => {
            of_latency(scope, quantity, &record.latency)
        }
        Quantity::Max => {
            // The sync of a round is a wait like any other.
            let from = record.started_ns + record.warmup.cut_ns;
            let sync = record.rounds.iter().filter(|r| r.start_ns >= from).map(|r| r.sync_ns).max();
            let count = record.latency.count();
            record.latency.max().max(sync).map_or_else(|| skipped(Reason::NoData {}), |v| measured(v as f64, count))
        }
        Quantity::Time => measured(record.duration_ns() as f64 / 1e9, record.operations),
        Quantity::InCalls => {
            let pauses = plan.pauses_ns().unwrap_or(0);
            measured(record.duration_ns().saturating_sub(pauses) as f64 / 1e9, record.operations)
        }
        Quantity::Device(count) => match traffic_of(record, context) {
            Ok(traffic) => {
                let operations = traffic.reads + traffic.writes;
                let value = match count {
                    DeviceCount::Operations => {
                        operations as f64 * 1e9 / traffic.to_ns.saturating_sub(traffic.from_ns).max(1) as f64
                    }
                    DeviceCount::Read => traffic.read_bytes as f64,
                    DeviceCount::Written => traffic.write_bytes as f64,
                };
                measured(value, operations)
            }
            Err((status, reason)) => scope.absent(quantity, status, reason),
        },
        Quantity::Stall => stall(scope, record.longest_gap_ns, record.latency.count()),
        Quantity::Cpu(time) => {
            cpu(scope, time, record.engine.kind, record.usage, record.duration_ns(), record.operations)
        }
        Quantity::BurstRate | Quantity::BurstChange => {
            let rates = burst_rates(record);
            let third = rates.len().div_ceil(3);
            let first = stats::median(&rates[..third]);
            let value = match quantity {
                Quantity::BurstRate => stats::median(&rates),
                _ if rates.len() < 2 => {
                    return skipped(Reason::of("too-few-bursts", "there is no second one to compare with"));
                }
                _ => stats::median(&rates[rates.len() - third..]).zip(first).map(|(last, first)| last / first),
            };
            value.map_or_else(|| skipped(Reason::NoData {}), |v| measured(v, rates.len() as u64))
        }
        Quantity::WriteAmplification => amplification(plan, record, context).map_or_else(
            |(status, reason)| scope.absent(quantity, status, reason),
            |(ratio, bytes)| {
                let block = plan.streams.first().map(|s| s.blocks().map_or(PAGE_BYTES, |s| s.block.block_size_bytes));
                measured(ratio, bytes / block.unwrap_or(1).max(1))
            },
        ),
    }
}

/// The rate of each whole burst: the last one may have been cut off by the end of the phase, and a smaller one tells less.
fn burst_rates(record: &PhaseRecord) -> Vec<f64> {
    let whole = record.rounds.iter().map(|r| r.bytes).max().unwrap_or(0);
    let counted = record.rounds.iter().filter(|r| r.bytes * 2 >= whole && r.write_ns > 0);
    counted.map(|r| r.bytes as f64 * 1e9 / r.write_ns as f64).collect()
}

/// What the devices did during a phase, or why that is not known.
fn traffic_of(record: &PhaseRecord, context: &Context<'_>) -> Result<DeviceTraffic, (MetricStatus, Reason)> {
    if context.target == TargetKind::Null {
        return Err((MetricStatus::NotApplicable, Reason::of("null-target", "there is no device")));
    }
    if context.stack.lowest_counted().is_empty() {
        return Err((MetricStatus::Skipped, Reason::of("not-counted", "no layer below the target counts its traffic")));
    }
    let traffic = context.device_traffic(record);
    traffic.ok_or((MetricStatus::Skipped, Reason::of("not-counted", "no samples of the device fit this phase")))
}

/// Device bytes written over the bytes that we wrote in the same time (of a mix without its reads): journals and copy-on-write, not
/// foreign traffic.
fn amplification(
    plan: &PhasePlan,
    record: &PhaseRecord,
    context: &Context<'_>,
) -> Result<(f64, u64), (MetricStatus, Reason)> {
    if context.group.is_some() {
        let why = "the device may have written for other ranks of the group, too";
        return Err((MetricStatus::Skipped, Reason::of("group", why)));
    }
    let traffic = traffic_of(record, context)?;
    let rounds = plan.streams.iter().any(|s| s.durability.sync == Sync::FsyncPerRound);
    if rounds && record.rounds.len() < 3 {
        return Err((
            MetricStatus::Skipped,
            Reason::of("too-few-rounds", "what is still in memory would show as a gain"),
        ));
    }
    let own = own_bytes_between(record, traffic.from_ns, traffic.to_ns) * written(plan, record);
    if own < 1.0 {
        return Err((MetricStatus::Skipped, Reason::of("no-data", "nothing was written between the samples")));
    }
    Ok((traffic.write_bytes as f64 / own, own as u64))
}

/// The share of a phase's bytes that are no reads: trims and zeroing count as what the device does for them.
fn written(plan: &PhasePlan, record: &PhaseRecord) -> f64 {
    1.0 - transferred(plan, record).read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::judge_phase;
    use model::{Better, EngineKind, PhaseStatus, Stack};

    fn metric(metrics: &[Metric], id: &str) -> Metric {
        metrics.iter().find(|m| m.id == id).unwrap_or_else(|| panic!("no {id}")).clone()
    }

    #[test]
    fn the_ids_are_the_same_measured_refused_or_skipped() {
        let fixtures = [
            Fixture::random_read(),
            Fixture::sync_write(),
            Fixture::cold_read(),
            Fixture::sequential_write(),
            Fixture::buffered_write(&[1.0, 1.0, 1.0]),
        ];
        for mut f in fixtures {
            let ids = |m: &[Metric]| m.iter().map(|m| m.id.clone()).collect::<Vec<_>>();
            let want = metric_ids(&f.plan);
            let measured = f.judge();
            assert_eq!((measured.status, ids(&measured.metrics)), (PhaseStatus::Measured, want.clone()));
            f.record.short_operations = 3;
            let refused = f.judge();
            assert_eq!((refused.status, ids(&refused.metrics)), (PhaseStatus::Refused, want.clone()));
            assert!(refused.metrics.iter().all(|m| m.value.is_none()));
            f.plan.skip = Some(Reason::of("budget", "5 s do not hold this phase"));
            let context = Context {
                target: TargetKind::Directory,
                stack: &Stack::default(),
                samples: &[],
                at_start: None,
                memory_bytes_per_s: None,
                clock_step_ns: None,
                process_stopped: false,
                kept_bytes: 0,
                windows: &[],
                sequential_bytes_per_s: None,
                others: &[],
                group: None,
            };
            let skipped = judge_phase(&f.plan, None, &context);
            assert_eq!((skipped.status, ids(&skipped.metrics)), (PhaseStatus::Skipped, want));
            assert!(skipped.metrics.iter().all(|m| m.status == MetricStatus::Skipped && m.reasons == skipped.reasons));
        }
    }

    #[test]
    fn percentiles_need_operations_that_carry_them() {
        // 4,000 operations: p99 stands, p99.9 does not.
        let judged = Fixture::random_read().judge();
        assert_eq!(metric(&judged.metrics, "rand-read-qd32.latency_ns_p99").status, MetricStatus::Measured);
        let p999 = metric(&judged.metrics, "rand-read-qd32.latency_ns_p999");
        assert_eq!((p999.status, p999.value), (MetricStatus::Skipped, None));
        assert!(p999.reasons[0].to_string().starts_with("too-few-operations: 4000 "));
        for (rate, seconds, stands) in [(333, 3.0, false), (500, 2.0, true)] {
            let judged = Fixture::random_read().at_rate(rate, seconds).judge();
            let p99 = metric(&judged.metrics, "rand-read-qd32.latency_ns_p99");
            assert_eq!(p99.value.is_some(), stands, "{rate} x {seconds}");
        }
        let judged = Fixture::random_read().at_rate(2_500, 4.0).judge();
        assert!(metric(&judged.metrics, "rand-read-qd32.latency_ns_p999").value.is_some());
    }

    #[test]
    fn values_are_what_was_recorded() {
        let judged = Fixture::random_read().judge();
        let value = |id: &str| metric(&judged.metrics, &format!("rand-read-qd32.{id}")).value.unwrap();
        assert_eq!(value("iops"), 1_000.0);
        assert_eq!(value("throughput_bytes_per_s"), 4_096_000.0);
        assert_eq!(value("latency_ns_mean"), 1_000_000.0);
        assert!((value("cpu_percent") - 7.5).abs() < 1e-9);
        assert!((value("cpu_user_percent") - 2.5).abs() < 1e-9);
        assert!((value("cpu_ns_per_op") - 75_000.0).abs() < 1e-6);
        assert_eq!(judged.steady, Some(true));
    }

    #[test]
    fn the_worst_stall_of_buffered_writes_is_the_sync() {
        let judged = Fixture::buffered_write(&[1.0, 3.0, 1.0]).judge();
        assert_eq!(metric(&judged.metrics, "buffered-write.latency_ns_max").value, Some(1.5e9));
        assert!(!judged.metrics.iter().any(|m| m.id == "buffered-write.stall_ns_max"));
        assert!(!judged.metrics.iter().any(|m| m.id == "buffered-write.iops"));
    }

    #[test]
    fn a_stall_is_the_longest_time_without_completions() {
        let mut f = Fixture::random_read();
        f.record.longest_gap_ns = Some(3_000_000);
        let stall = metric(&f.judge().metrics, "rand-read-qd32.stall_ns_max");
        assert_eq!((stall.value, stall.n, stall.better), (Some(3e6), f.record.latency.count(), Some(Better::Lower)));
        // Runs of versions that did not look for it say so.
        f.record.longest_gap_ns = None;
        let stall = metric(&f.judge().metrics, "rand-read-qd32.stall_ns_max");
        assert_eq!((stall.status, stall.value), (MetricStatus::Skipped, None));
        assert!(stall.reasons[0].is("not-recorded"), "{:?}", stall.reasons);
    }

    #[test]
    fn amplification_is_null_where_nothing_counts() {
        let judged = Fixture::sync_write().judge();
        let m = metric(&judged.metrics, "sync-write.write_amplification");
        assert_eq!((m.status, m.value), (MetricStatus::Skipped, None));
        let judged = Fixture::sync_write().on_disk().judge();
        let value = metric(&judged.metrics, "sync-write.write_amplification").value.unwrap();
        assert!((value - 1.0).abs() < 0.01, "{value}");
    }

    #[test]
    fn what_a_mix_reads_is_no_part_of_what_the_device_wrote_for_it() {
        let mut mix = Fixture::sync_write().on_disk();
        mix.split_directions(&[(Direction::Read, 0.8), (Direction::Write, 0.2)]);
        // Four fifths of what the device did were reads.
        mix.each_sample(|_, sample| {
            for disk in &mut sample.disks {
                (disk.reads, disk.sectors_read) = (disk.writes * 4 / 5, disk.sectors_written * 4 / 5);
                (disk.writes, disk.sectors_written) = (disk.writes / 5, disk.sectors_written / 5);
            }
        });
        let value = metric(&mix.judge().metrics, "sync-write.write_amplification").value.unwrap();
        assert!((value - 1.0).abs() < 0.05, "{value}");
    }

    #[test]
    fn null_is_our_own_overhead_and_no_storage_rule_applies() {
        let mut f = Fixture::random_read();
        f.target = TargetKind::Null;
        f.record.engine.kind = EngineKind::Null;
        f.record.usage.user_ns = f.record.duration_ns();
        f.record.direct = None;
        f.record.data = None;
        f.plan.cold = true;
        let judged = f.judge();
        assert_eq!(judged.status, PhaseStatus::Measured);
        assert!(judged.reasons[0].is("own-overhead"));
    }

    /// The fixture, with its operations on files.
    fn on_files() -> Fixture {
        let mut f = Fixture::random_read();
        let files = model::FilesPlan { file_count: 4_000, ..model::FilesPlan::default() };
        (f.plan.streams[0].kind, f.plan.engine) = (files.into(), EngineKind::Files);
        f.record.engine.kind = EngineKind::Files;
        (f.record.bytes, f.record.direct) = (0, None);
        f.record.intervals.iter_mut().for_each(|i| i.bytes = 0);
        f
    }

    #[test]
    fn operations_on_files_have_a_rate_of_their_own_and_none_of_bytes() {
        let judged = on_files().judge();
        assert_eq!((judged.status, judged.steady), (PhaseStatus::Measured, Some(true)));
        let rate = metric(&judged.metrics, "rand-read-qd32.files_per_s");
        assert_eq!((rate.value, rate.unit, rate.n), (Some(1_000.0), model::Unit::FilesPerS, 4_000));
        assert!(rate.low.unwrap() > 990.0 && rate.high.unwrap() < 1_010.0, "{rate:?}");
        for absent in ["throughput", "iops", "amplification"] {
            assert!(!judged.metrics.iter().any(|m| m.id.contains(absent)), "{absent}");
        }
        assert!(metric(&judged.metrics, "rand-read-qd32.latency_ns_p99").value.is_some());
    }

    #[test]
    fn what_reserves_blocks_is_counted_by_operations_whatever_its_bytes_say() {
        let mut f = Fixture::sync_write();
        f.plan.set_engine(EngineKind::Fallocate);
        // Reserving is faster than memory is.
        f.memory_copy = Some(1.0);
        let judged = f.judge();
        assert_eq!(judged.status, PhaseStatus::Measured, "{:?}", judged.refusals);
        assert!(metric(&judged.metrics, "sync-write.iops").value.is_some());
        assert!(!judged.metrics.iter().any(|m| m.id.contains("throughput") || m.id.contains("amplification")));
    }
}
