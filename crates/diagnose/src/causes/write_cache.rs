//! A device that writes fast into a cache and slowly once it is full.

use super::{Cause, Standing, thermal};
use crate::{machine, phrase, series};
use model::{Confidence, Evidence, LimitLayer, Run};

/// A fall of the direct sequential write rate that stays down.
pub fn exhausted(run: &Run) -> Option<Cause> {
    let (phase, record) = machine::standing(run, "seq-write")?;
    let fall = series::fall(record)?;
    let name = &phase.plan.name;
    // Bytes up to the fall say how large such a cache would be.
    let written: u64 = record.intervals.iter().filter(|i| i.start_ns < fall.at_ns).map(|i| i.bytes).sum();
    // Throttling at the same time is the better explanation; then the fall is told there.
    let confidence = if thermal::explains(run, phase) { Confidence::Low } else { Confidence::Probable };
    Some(
        Cause::new(
            LimitLayer::Device,
            Standing::Path,
            format!(
                "the device's write cache ran out after {:.0} MB: {} before, {} after",
                written as f64 / 1e6,
                phrase::rate(fall.before),
                phrase::rate(fall.after)
            ),
        )
        .sure(confidence)
        .because([
            Evidence::measurement(
                "write rate before and after, bytes per second",
                vec![phrase::rounded(fall.before), phrase::rounded(fall.after)],
                format!("{name} series, fall at {}", phrase::seconds(fall.at_ns)),
            ),
            Evidence::measurement("bytes written before the fall", written, format!("{name} series")),
        ])
        .decided_by("the same write after some minutes of rest: a cache recovers, a full device does not")
        .step(
            "plan with the rate after the fall for long writes, or keep bursts below the cache",
            None,
            "the rate before the fall is the cache's, not one that lasts",
        ),
    )
}
