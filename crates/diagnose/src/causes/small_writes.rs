//! Small writes that cost more than their data: the flush behind each, and the rewriting of large erase blocks.

use super::{Cause, CauseNature, Trial};
use crate::guard::exclude;
use crate::{machine, phrase, stack_view};
use model::{Evidence, LimitLayer, PhaseStatus, Reason, Run, Step, Work};

/// A flush is most of a synchronous write from this share on.
const MOSTLY: f64 = 0.5;
/// Below this a flush is what any log can live with (etcd asks for 10 ms at the 99th percentile).
const FELT_NS: f64 = 2e6;
/// A small write that takes so many times as long as a small read, on a device that writes large ones well.
pub(crate) const SLOW_WRITE_RATIO: f64 = 5.0;
/// Time in which the same device writes this much in one piece is spent on one small write: it rewrites what is around it.
const REWRITTEN_BYTES: f64 = 65_536.0;

fn latency(run: &Run, work: Work) -> Option<f64> {
    machine::value_of_work(run, work, "latency_ns_mean")
}

fn measured(run: &Run, what: &str, value: f64, work: Work, quantity: &str) -> Evidence {
    Evidence::measured(what, value, run.metric_id_of_work(work, quantity))
}

/// The synchronous writes of the run, with the mean latency of one.
fn durable(run: &Run) -> Option<(Work, f64)> {
    let of = |work| Some((work, latency(run, work).or_else(|| of_too_few(run, work))?));
    [Work::DurableWrite, Work::LogAppend].into_iter().find_map(of)
}

/// Of synchronous writes that were so slow that too few completed for a number: how long each took was seen all the same.
fn of_too_few(run: &Run, work: Work) -> Option<f64> {
    /// Fewer are an accident.
    const FEWEST: u64 = 5;
    /// Each is so long that no accident makes it.
    const SLOW_NS: f64 = 10.0 * FELT_NS;
    let phase = run.phase_of_work(work).filter(|p| p.plan.queue_depth() == 1)?;
    let few = |r: &Reason| r.is("too-little-data");
    let only_few = phase.status == PhaseStatus::Refused && phase.reasons.iter().all(few);
    let record = phase.record.as_ref().filter(|r| r.operations >= FEWEST && only_few)?;
    Some(record.duration_ns() as f64 / record.operations as f64).filter(|each| *each >= SLOW_NS)
}

/// What a flush costs, where it is most of a synchronous write.
pub fn flush(run: &Run) -> Option<Cause> {
    let (work, each) = durable(run)?;
    let plain = latency(run, Work::RandomWrite).or_else(|| latency(run, Work::QueuedWrite).filter(|p| *p < each));
    let flush = each - plain.unwrap_or(0.0);
    exclude(flush / each < MOSTLY || flush < FELT_NS)?;
    let per_s = machine::value_of_work(run, work, "iops").unwrap_or(1e9 / each);
    let against = plain.map_or(String::new(), |p| {
        format!(" of the {} that a write and its flush take; {} without", phrase::time(each), phrase::time(p))
    });
    let statement = format!(
        "the flush after each small write: {}{against}, which leaves {} a second",
        phrase::time(flush),
        phrase::count(per_s)
    );
    Some(
        Cause::new(LimitLayer::Device, CauseNature::Path, statement)
            .with_evidence([measured(run, "mean latency of a write and its flush", each, work, "latency_ns_mean")])
            .with_evidence(
                plain.map(|p| measured(run, "mean latency without a flush", p, Work::RandomWrite, "latency_ns_mean")),
            )
            .decided_by("the same writes with several before each sync: the rate of writes rises with their number")
            .step(Step::FewerSyncs, plain.map(|p| each / p)),
    )
}

/// Small random writes for each of which the device rewrites much more.
pub fn rewritten(run: &Run) -> Option<Cause> {
    let (write, read) = (latency(run, Work::RandomWrite)?, latency(run, Work::RandomRead)?);
    let sequential = machine::direct_rate(run, Work::SequentialWrite)?;
    let block = run.phase_of_work(Work::RandomWrite)?.plan.streams.first()?.blocks()?.block.block_size_bytes as f64;
    let instead = write / 1e9 * sequential;
    exclude(
        write < read * SLOW_WRITE_RATIO
            || instead < REWRITTEN_BYTES.max(block * SLOW_WRITE_RATIO)
            || stack_view::has_heads(run),
    )?;
    let statement = format!(
        "small random writes: each takes {}, {} a read, time in which the device writes {} in one piece: it rewrites the \
         erase block around it",
        phrase::time(write),
        phrase::times(write / read),
        phrase::bytes(instead as u64)
    );
    Some(
        Cause::new(LimitLayer::Device, CauseNature::Path, statement)
            .speedup_without(Some(write / read))
            .with_evidence([
                measured(run, "mean latency of a small write", write, Work::RandomWrite, "latency_ns_mean"),
                measured(run, "mean latency of a small read", read, Work::RandomRead, "latency_ns_mean"),
                measured(
                    run,
                    "sequential write, bytes per second",
                    sequential,
                    Work::SequentialWrite,
                    "throughput_bytes_per_s",
                ),
            ])
            .decided_by(
                "random writes of growing size: the time of one stays the same up to the size that is rewritten",
            )
            .tried_by(Trial::WriteSizes)
            .step(Step::BatchOrCardForRandomWrites, None),
    )
}
