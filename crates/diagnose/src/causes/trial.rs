//! Measurements that decide between causes on the same target, without changing a setting: what to run, and what came out.

use super::{Cause, CauseKind, Trial, depth, probes};
use crate::guard::require;
use crate::{machine, phrase};
use model::{
    CompactSort as _, Confidence, Confirmation, Direction, Evidence, LimitLayer, MetricKey, Operation, PhaseRun, Run,
    four_figures,
};

/// Rates this near to each other are the same.
const SAME: f64 = 0.12;
/// A write of so many times the size is compared with the smallest one, and takes about as long up to this ratio.
const GROWN: f64 = 4.0;
const ALIKE: f64 = 1.5;
/// Buffered below this share of direct in each pair is a step.
const STEP: f64 = 0.8;

impl Cause {
    /// The measurement that decides it on the target of the run: of random reads it does so only for a cause that was seen in reads.
    pub fn deciding_trial(&self, run: &Run) -> Option<Trial> {
        let trial = self.trial?;
        let reads_only = matches!(trial, Trial::Depths | Trial::Sizes);
        let is_read = |phase: &PhaseRun| {
            phase.plan.streams.iter().any(|s| s.blocks().is_some_and(|s| s.block.operation == Operation::Read))
        };
        let measured = || run.phases.iter().filter(|p| p.plan.measures_target());
        let named = |p: &&PhaseRun| self.evidence.iter().any(|e| MetricKey::of(&e.source).phase() == p.plan.name);
        let seen: Vec<&PhaseRun> = measured().filter(named).collect();
        let in_reads = if seen.is_empty() { measured().any(is_read) } else { seen.into_iter().any(is_read) };
        (!reads_only || in_reads).then_some(trial)
    }
}

impl Trial {
    /// What came out of it for a cause.
    pub fn outcome(self, cause: &Cause, run: &Run) -> Confirmation {
        let found = match self {
            Self::Depths => depths(cause, run),
            Self::Sizes => sizes(cause, run),
            Self::WriteSizes => write_sizes(run),
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

/// Random writes of growing size, one at a time: what rewrites much around each takes as long for a few sectors as for many.
fn write_sizes(run: &Run) -> Found {
    let all = probes::all(run).into_iter().filter(|p| p.direct && p.random && p.direction == Direction::Write);
    let mut all: Vec<_> = all.collect();
    all.compact_sort_by(|a, b| a.block.total_cmp(&b.block));
    let (small, large) = (all.first()?, all.iter().find(|p| p.block >= GROWN * all[0].block)?);
    let time = |p: &probes::Probe<'_>| 1e9 / p.iops(run);
    let (of_small, of_large) = (time(small), time(large));
    // Of a device that went on to something else meanwhile no two sizes can be compared.
    let smallest = || all.iter().filter(|p| p.block <= small.block).map(time);
    let (least, most) = (smallest().fold(f64::INFINITY, f64::min), smallest().fold(0.0, f64::max));
    let holds = match of_large / of_small {
        _ if most > ALIKE * least || smallest().count() < 2 => None,
        ratio if ratio <= ALIKE => Some(true),
        // As its data do; what grows by more is rewritten all the same.
        ratio if (GROWN / 2.0..=GROWN * 2.0).contains(&ratio) => Some(false),
        _ => None,
    };
    let kib = |p: &probes::Probe<'_>| format!("{:.0} KiB", p.block / 1024.0);
    let again = if most > ALIKE * least {
        format!(", but one of {} took {} to {} at different times", kib(small), phrase::time(least), phrase::time(most))
    } else {
        String::new()
    };
    let statement = format!(
        "a random write of {} takes {}, one of {} {}{again}",
        kib(small),
        phrase::time(of_small),
        kib(large),
        phrase::time(of_large)
    );
    let evidence = all.iter().map(|p| {
        let what = format!("rate at {}, bytes per second", kib(p));
        Evidence::measured(what, p.bytes_per_s, p.id("throughput_bytes_per_s"))
    });
    Some((holds, statement, evidence.collect()))
}

/// Buffered against direct, pair by pair.
fn paths(run: &Run, what: &str) -> Found {
    let ratios: Vec<f64> = (1..=3)
        .filter_map(|n| {
            let buffered = machine::throughput(run, &format!("buffered-{n}"))?;
            Some(buffered / machine::direct_throughput(run, &format!("direct-{n}"))?)
        })
        .collect();
    require(ratios.len() >= 2)?;
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
