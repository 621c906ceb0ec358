//! What the files of a bundle are called, and how a run becomes them.

use crate::{ArchiveError, Result};
use model::{PhasePlan, Run, StopRule};
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(crate) const RUN: &str = "run.json";
pub(crate) const SERIES: &str = "series.csv";
pub(crate) const SYSTEM: &str = "system.csv";
pub(crate) const LATENCY: &str = "latency.csv";
pub(crate) const KERNEL_LOG: &str = "kernel.log";
/// What foreign tools printed, byte for byte.
pub(crate) const RAW: &str = "raw";
pub(crate) const SUMS: &str = "SHA256SUMS";
/// Held by the writer of a partial bundle, removed before it is finished.
pub(crate) const WRITER_LOCK: &str = "writer.lock";

/// Every phase holds a histogram of tens of kilobytes as soon as it is parsed.
pub(crate) const PHASE_LIMIT: usize = 4096;

/// Whether a file belongs to the writing of a bundle and not to the bundle.
pub(crate) fn is_transient(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    name == WRITER_LOCK || crate::temporary::is_one(file) || (name.ends_with(".tmp") && !name.contains('/'))
}

/// Checks what the tables need: phases are told apart by name.
pub(crate) fn check(run: &Run) -> Result<()> {
    let unstorable = |reason: String| Err(ArchiveError::Unstorable { id: run.id.clone(), reason });
    if !crate::is_run_id(&run.id) {
        return unstorable(format!("'{}' is not a run's id", run.id));
    }
    let planned = run.plan.phases.iter().map(|p| &p.name);
    let executed = run.phases.iter().map(|p| &p.plan.name);
    for names in [planned.collect::<Vec<_>>(), executed.collect()] {
        let mut seen = BTreeSet::new();
        if let Some(twice) = names.into_iter().find(|n| !seen.insert(*n)) {
            return unstorable(format!("two phases are called '{twice}'"));
        }
    }
    Ok(())
}

fn is_finite(plan: &PhasePlan) -> bool {
    let stop = match plan.stop {
        StopRule::EarlyWhenSteady { half_width_ratio } => half_width_ratio,
        _ => 0.0,
    };
    stop.is_finite() && plan.warmup.share.is_finite()
}

fn make_finite(plan: &mut PhasePlan) {
    if let StopRule::EarlyWhenSteady { half_width_ratio } = &mut plan.stop
        && !half_width_ratio.is_finite()
    {
        *half_width_ratio = 0.0;
    }
    if !plan.warmup.share.is_finite() {
        plan.warmup.share = 0.0;
    }
}

/// The run as JSON can say it. JSON has no NaN and no infinity: where a value may be absent it becomes absent by
/// itself; where it may not (shares in a plan), it becomes zero, and a remark says so.
fn json_safe(run: &Run) -> Cow<'_, Run> {
    if run.plan.phases.iter().chain(run.phases.iter().map(|p| &p.plan)).all(is_finite) {
        return Cow::Borrowed(run);
    }
    let mut said = run.clone();
    said.plan.phases.iter_mut().chain(said.phases.iter_mut().map(|p| &mut p.plan)).for_each(make_finite);
    said.remarks.push("a share in the plan was not a number; it is stored as 0".to_owned());
    Cow::Owned(said)
}

pub(crate) fn run_json(run: &Run) -> Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(json_safe(run).as_ref())
        .map_err(|e| ArchiveError::Unstorable { id: run.id.clone(), reason: e.to_string() })?;
    json.push(b'\n');
    Ok(json)
}

/// kernel.log; an entry with line breaks in it becomes several.
pub(crate) fn kernel_log(entries: &[String]) -> String {
    entries.iter().flat_map(|e| [e.as_str(), "\n"]).collect()
}
