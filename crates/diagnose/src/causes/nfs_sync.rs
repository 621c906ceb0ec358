//! Syncs on an NFS mount: what they wait for, by the client's counters of WRITE and COMMIT.

use super::compared::is_busy;
use super::nfs_calls::{self, during};
use super::probes;
use super::{Cause, CauseKind, CauseNature};
use crate::guard::exclude;
use model::{Direction, Evidence, LimitLayer, PhaseRun, Run, Step, Sync};

/// A sync that takes so long, and so many times a small read alone, which has the same round trip, waits for the server's disk.
const SLOW_SYNC_MS: f64 = 2.0;
const SLOW_SYNC_RATIO: f64 = 4.0;

/// A sync after each write is a call of its own, or makes the write one that the server answers when it has it on its disk.
pub(crate) fn commit_for_each_sync(run: &Run) -> Option<Cause> {
    let alone = probes::depths(run, Direction::Read).into_iter().find(|p| p.depth == 1.0)?;
    let alone = nfs_calls::of_probe(run, &alone)?;
    let of = |phase: &PhaseRun| {
        let synced = phase.plan.streams.iter().all(|s| s.durability.sync == Sync::FdatasyncEach);
        let (writes, commits) = (during(run, phase, "WRITE")?, during(run, phase, "COMMIT").unwrap_or_default());
        let each = |ms: u64| ms as f64 / writes.operations as f64;
        // On a full processor of this machine a sync waits for that.
        (synced && phase.plan.is_write() && !is_busy(run, phase))
            .then(|| (each(commits.operations), each(writes.execute_ms), each(commits.execute_ms)))
    };
    let seen = run.phases.iter().filter_map(|phase| Some((phase, of(phase)?)));
    let (phase, (commits, write_ms, commit_ms)) = seen.max_by(|a, b| (a.1.1 + a.1.2).total_cmp(&(b.1.1 + b.1.2)))?;
    let whole = write_ms + commit_ms;
    exclude(whole < SLOW_SYNC_MS || whole < SLOW_SYNC_RATIO * alone.execute)?;
    let how = if commits >= 0.5 {
        format!("a COMMIT of {commit_ms:.1} ms")
    } else {
        "a write that the server answers when it is on its disk".to_owned()
    };
    Some(
        Cause::new(
            LimitLayer::Filesystem,
            CauseNature::Path,
            format!("each sync is {how}: {whole:.1} ms in {}, a read alone {:.1} ms", phase.plan.name, alone.execute),
        )
        .of_kind(CauseKind::Elsewhere)
        .with_short("the server's disk, which each sync waits for")
        .with_evidence([
            Evidence::measured("COMMITs a write", commits, format!("{} /proc/self/mountstats", phase.plan.name)),
            Evidence::measured(
                "WRITE and COMMIT, ms a write",
                whole,
                format!("{} /proc/self/mountstats", phase.plan.name),
            ),
            Evidence::measured("a READ alone, ms", alone.execute, "/proc/self/mountstats"),
        ])
        .decided_by("the same syncs on the server's own disk (narrows there)")
        .step(Step::BatchCommits, Some(whole / alone.execute.max(0.001))),
    )
}
