//! A device that stands still: nothing completes for a while, again and again.

use super::{Cause, Standing};
use crate::phrase;
use model::{Confidence, Evidence, LimitLayer, Ns, PhaseRecord, PhaseRun, Sync};

/// Shorter ones are an interval or two in which nothing happened to complete.
const LEAST_NS: Ns = 300_000_000;
/// So many times the usual time between two completions.
const UNUSUAL: f64 = 10.0;
/// Gaps that take this share of the time are what the rate is held by.
const MATTERS: f64 = 0.2;

/// The gaps of a phase, where they are what holds it: how many, how long, after how much.
pub(crate) fn between_gaps(phase: &PhaseRun, record: &PhaseRecord) -> Option<Cause> {
    let rounds = |s: &model::StreamPlan| matches!(s.durability.sync, Sync::FsyncPerRound | Sync::FsyncAtEnd);
    if record.operations == 0 || phase.plan.streams.iter().any(rounds) {
        return None;
    }
    let intervals = record.counted_intervals();
    let (mut gaps, mut longest, mut all, mut now) = (0u32, 0u64, 0u64, 0u64);
    let ended = |now: &mut u64, gaps: &mut u32, longest: &mut u64, all: &mut u64| {
        if *now >= LEAST_NS {
            *gaps += 1;
            *longest = (*longest).max(*now);
            *all += *now;
        }
        *now = 0;
    };
    for interval in intervals {
        match interval.operations {
            0 => now += interval.length_ns,
            _ => ended(&mut now, &mut gaps, &mut longest, &mut all),
        }
    }
    ended(&mut now, &mut gaps, &mut longest, &mut all);
    let time: u64 = intervals.iter().map(|i| i.length_ns).sum();
    let usual_ns = record.duration_ns() as f64 / record.operations as f64;
    if gaps == 0 || (all as f64) < time as f64 * MATTERS || (longest as f64) < usual_ns * UNUSUAL {
        return None;
    }
    let share = all as f64 / time as f64;
    let bytes: u64 = intervals.iter().map(|i| i.bytes).sum();
    let name = &phase.plan.name;
    Some(
        Cause::new(
            LimitLayer::Device,
            Standing::Path,
            format!(
                "the device stands still: {gaps} times in {name}, up to {}, {} of the time, each {:.0} MB",
                phrase::seconds(longest),
                phrase::percent(share),
                bytes as f64 / f64::from(gaps) / 1e6
            ),
        )
        .sure(Confidence::Probable)
        .because([
            Evidence::measurement("longest time without a completion", longest, format!("{name} series, ns")),
            Evidence::measurement(
                "share of time without a completion",
                phrase::rounded(share),
                format!("{name} series"),
            ),
            Evidence::measurement("gaps", gaps, format!("{name} series")),
        ])
        .decided_by("the same phase after some minutes of rest, and on another device")
        .step(
            "leave the device time to tidy up (discard, free space), or take one that does not stand still",
            None,
            "the rate between the gaps is what it gives without them",
        ),
    )
}
