//! Measurements that decide between causes on the same target, without changing a setting: what to run, and what came out.

use super::{Cause, CauseKind, Trial, depth, probes};
use crate::{machine, phrase};
use model::{CompactSort as _, Confidence, Confirmation, Direction, Evidence, LimitLayer, Run, four_figures};

/// Rates this near to each other are the same.
const SAME: f64 = 0.12;
/// Buffered below this share of direct in each pair is a step.
const STEP: f64 = 0.8;

impl Trial {
    /// What came out of it for a cause.
    pub fn outcome(self, cause: &Cause, run: &Run) -> Confirmation {
        let found = match self {
            Self::Depths => depths(cause, run),
            Self::Sizes => sizes(cause, run),
            Self::WritePaths => paths(run, "writes"),
            Self::ReadPaths => paths(run, "reads"),
        };
        let (holds, statement, evidence) =
            found.unwrap_or_else(|| (None, "the measurement that would decide has no valid value".into(), vec![]));
        // A comparison of the remedy itself, in turn, is what makes a cause sure; others only agree with it.
        let compared = matches!(self, Self::WritePaths | Self::ReadPaths);
        let confidence = match holds {
            Some(true) if compared => Confidence::High,
            Some(true) => cause.confidence,
            Some(false) => Confidence::Low,
            None => cause.confidence,
        };
        Confirmation { run_id: run.id.clone(), layer: cause.layer, holds, confidence, statement, evidence }
    }
}

type Found = Option<(Option<bool>, String, Vec<Evidence>)>;

fn depths(cause: &Cause, run: &Run) -> Found {
    let scaling = depth::scaling(run, Direction::Read)?;
    let gained = phrase::times(scaling.ratio());
    let statement = format!("depth {:.0} gives {gained} the rate of depth 1", scaling.depth);
    let serial = scaling.ratio() <= depth::SERIALISED;
    let short = depth::short_queue(run).is_some();
    // A device that is the limit by exclusion neither holds nor falls with its depth law.
    let holds = match cause.layer {
        LimitLayer::Device if cause.kind != CauseKind::OneCommand => None,
        _ => Some(serial || short),
    };
    Some((holds, statement, scaling.evidence()))
}

fn sizes(cause: &Cause, run: &Run) -> Found {
    let mut all: Vec<_> = probes::all(run).into_iter().filter(|p| p.direct && p.random).collect();
    all.compact_sort_by(|a, b| a.block.total_cmp(&b.block));
    let [first, second, .., before_last, last] = all.as_slice() else { return None };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() <= SAME;
    let operations = near(first.iops(run), second.iops(run));
    let bytes = near(before_last.bytes_per_s, last.bytes_per_s);
    let evidence = all
        .iter()
        .map(|p| {
            let what = format!("rate at {:.0} KiB, bytes per second", p.block / 1024.0);
            Evidence::measured(what, p.bytes_per_s, p.id("throughput_bytes_per_s"))
        })
        .collect();
    let of_operations = cause.kind == CauseKind::Operations || cause.layer == LimitLayer::Cpu;
    let statement = match (operations, bytes) {
        (true, true) => {
            let iops = phrase::iops(first.iops(run));
            let rate = phrase::rate(last.bytes_per_s);
            format!("small blocks are limited by operations ({iops}), large ones by bytes ({rate})")
        }
        (true, false) => {
            format!("what is limited are operations: {} at both small sizes", phrase::iops(first.iops(run)))
        }
        (false, true) => format!("what is limited are bytes: {} at both large sizes", phrase::rate(last.bytes_per_s)),
        (false, false) => "neither operations nor bytes stay the same from size to size".to_owned(),
    };
    Some((Some(if of_operations { operations } else { bytes }), statement, evidence))
}

/// Buffered against direct, pair by pair.
fn paths(run: &Run, what: &str) -> Found {
    let ratios: Vec<f64> = (1..=3)
        .filter_map(|n| {
            let buffered = machine::throughput(run, &format!("buffered-{n}"))?;
            Some(buffered / machine::direct_throughput(run, &format!("direct-{n}"))?)
        })
        .collect();
    if ratios.len() < 2 {
        return None;
    }
    let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(l, m), r| (l.min(*r), m.max(*r)));
    let holds = if most < STEP {
        Some(true)
    } else if least >= STEP {
        Some(false)
    } else {
        None
    };
    let statement = format!(
        "buffered {what} reach {} to {} of direct ones in {} pairs taken in turn",
        phrase::percent(least),
        phrase::percent(most),
        ratios.len()
    );
    let shown: Vec<f64> = ratios.into_iter().map(four_figures).collect();
    let evidence = Evidence::measurement("buffered over direct, pair by pair", shown, "buffered-N, direct-N");
    Some((holds, statement, vec![evidence]))
}
