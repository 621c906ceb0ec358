//! A virtual disk whose burst credit ran out: its rate falls in one step, to a plateau as even as only a limiter makes it.

use super::{Cause, CauseKind, CauseNature, Trial, gaps, probes};
use crate::guard::{exclude, require};
use crate::{machine, phrase, series, stack_view};
use model::{
    Access, Confidence, Direction, Evidence, LimitLayer, Ns, PhaseKind, PhaseRecord, PhaseRun, Run, Step, four_figures,
};

/// Storage is not this even; token buckets are. A few windows after a fall vary more than those of a whole phase.
const EVEN: f64 = 0.03;
/// Two plateaus of one limiter agree to this.
const SAME: f64 = 0.05;
/// Up to this size of an operation, operations are what a limiter of both counts first.
const SMALL_BYTES: f64 = 65_536.0;

/// A phase whose rate fell to an even plateau.
struct RateDrop<'a> {
    phase: &'a PhaseRun,
    direction: Direction,
    block: f64,
    at_ns: Ns,
    /// Bytes per second.
    before: f64,
    after: f64,
    spread: f64,
    /// Moved by the phase until then.
    bytes: u64,
}

fn fallen<'a>(
    run: &Run,
    phase: &'a PhaseRun,
    record: &'a PhaseRecord,
    direction: Direction,
    block: f64,
) -> Option<RateDrop<'a>> {
    exclude(gaps::gaps(run, phase, record).is_some_and(|g| g.hold_rate_down()))?;
    let fall = series::fall(record)?;
    let grain = series::grain(record, fall.after, block);
    let spread = series::spread_after(record, &fall).filter(|s| *s <= EVEN + grain)?;
    let bytes = record.intervals.iter().filter(|i| i.start_ns < fall.at_ns).map(|i| i.bytes).sum();
    Some(RateDrop { phase, direction, block, at_ns: fall.at_ns, before: fall.before, after: fall.after, spread, bytes })
}

/// The plateau at which a phase ran: where it fell, what it fell to; else its rate, if that is even.
fn plateau(run: &Run, probe: &probes::Probe<'_>) -> Option<f64> {
    if let Some(fallen) = fallen(run, probe.phase, probe.record, probe.direction, probe.block) {
        return Some(fallen.after);
    }
    let even = EVEN + series::grain(probe.record, probe.bytes_per_s, probe.block);
    series::relative_spread(probe.record).filter(|s| *s <= even).map(|_| probe.bytes_per_s)
}

/// Direct writes of a layout or preconditioning, which come before the phases that are measured.
pub(super) fn before_measuring<'a>(run: &'a Run, measured: &PhaseRun) -> impl Iterator<Item = &'a PhaseRun> {
    let at = run.phases.iter().position(|p| p.plan.name == measured.plan.name).unwrap_or(0);
    run.phases[..at].iter().filter(|p| {
        matches!(p.plan.kind, PhaseKind::Layout | PhaseKind::Precondition)
            && p.plan.access == Access::Direct
            && p.plan.is_write()
    })
}

/// A burst credit that ran out. Where both directions came to the same plateau, it is probable; so are random reads alone,
/// which no cache of the host serves at first and then no more. A fall of writes alone may be a cache behind the disk.
pub fn burst_credit_spent_cause(run: &Run) -> Option<Cause> {
    require(stack_view::is_virtual_disk(&run.target.stack, &run.environment))?;
    let all: Vec<probes::Probe<'_>> = probes::all(run).into_iter().filter(|p| p.direct).collect();
    let first = all.first()?;
    let laid_out = before_measuring(run, first.phase).filter_map(|phase| {
        let (_, record) = machine::valid_phase(run, &phase.plan.name)?;
        let block = phase.plan.streams.first()?.blocks()?.block.block_size_bytes.max(1) as f64;
        fallen(run, phase, record, Direction::Write, block)
    });
    let measured = all.iter().filter_map(|p| fallen(run, p.phase, p.record, p.direction, p.block));
    let fall = laid_out.chain(measured).min_by_key(|f| f.at_ns)?;

    let of_operations = fall.block <= SMALL_BYTES;
    let amount = |bytes_per_s: f64, block: f64| if of_operations { bytes_per_s / block } else { bytes_per_s };
    let level = amount(fall.after, fall.block);
    let later = all.iter().filter(|p| p.record.started_ns > fall.at_ns || p.name() == fall.phase.plan.name);
    // Phases of the other size meet the other limit, and those of one command at a time none.
    let kind = later.filter(|p| (p.block <= SMALL_BYTES) == of_operations && (p.depth > 1.0 || !of_operations));
    let same: Vec<&probes::Probe<'_>> = kind
        .filter(|p| p.name() != fall.phase.plan.name)
        .filter(|p| plateau(run, p).is_some_and(|v| (amount(v, p.block) / level - 1.0).abs() <= SAME))
        .collect();
    let both_ways = same.iter().any(|p| p.direction != fall.direction);
    let name = &fall.phase.plan.name;
    let random_read = fall.direction == Direction::Read && all.iter().any(|p| p.name() == name && p.random);
    let shown = |v: f64| if of_operations { phrase::iops(v) } else { phrase::rate(v) };
    let since = fall.phase.record.as_ref().map_or(0, |r| fall.at_ns.saturating_sub(r.started_ns));
    let others = match same.iter().map(|p| p.name()).collect::<Vec<_>>().as_slice() {
        [] => String::new(),
        names => format!(", which {} meets as well", names.join(", ")),
    };
    let statement = format!(
        "a burst credit that ran out: {name} fell after {} ({}) from {} to an even {}{others}",
        phrase::bytes(fall.bytes),
        phrase::seconds(since),
        shown(amount(fall.before, fall.block)),
        shown(level)
    );
    let source = format!("{name} series, fall at {}", phrase::seconds(fall.at_ns));
    // What was measured after it is the baseline that somebody set, and not the storage.
    let (standing, sure) = match both_ways || random_read {
        true => (CauseNature::Distortion, Confidence::Probable),
        false => (CauseNature::Path, Confidence::Low),
    };
    Some(
        Cause::new(LimitLayer::Throttle, standing, statement)
            .of_kind(CauseKind::BurstCredit)
            .with_confidence(sure)
            .with_evidence([
                Evidence::measurement(
                    "rate before and after, bytes per second",
                    vec![four_figures(fall.before), four_figures(fall.after)],
                    source.clone(),
                ),
                Evidence::measurement("bytes moved before the fall", fall.bytes, source.clone()),
                Evidence::measured("relative spread of windows after it", fall.spread, source),
            ])
            .with_evidence(same.iter().map(|p| {
                let what = format!("{} at the same plateau, bytes per second", p.name());
                Evidence::measured(what, p.bytes_per_s, machine::throughput_id(p.name()))
            }))
            .decided_by("the same phase after hours of rest: a credit fills up again, and the fall comes after as much")
            .tried_by(Trial::Sizes)
            .step(Step::PlanWithPlateau, None),
    )
}
