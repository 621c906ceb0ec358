//! Stops the writer at every step and looks at what is left.
//!
//! Injected: the process ends before any create, write, fsync, rename, directory fsync or removal; the write it ends in
//! left nothing, or half of its bytes; and with a loss of power everything that was not yet synced is undone (contents
//! of files, creations, renames and removals in directories whose fsync had not happened). Also: one step fails with
//! ENOSPC and the program goes on.
//! Not injected: reordering among writes that were not synced, bit rot (`verify` is for that), lies of the device.
//!
//! Must hold: `recover` gives the run truncated at a complete phase, or the whole run; a run that has its final name is
//! whole; nothing stays in the way of the next run. The same while tables reach their limit and are thinned: the rows that are
//! left are a thinning of what came first, and phases before keep all of theirs.

use crate::folder::parent_of;
use crate::storage::Step;
use crate::{Archive, Recovered};
use model::{Interval, Run, RunState, SystemSample};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use test_runs::drawn::{measured_run, so_far};

/// What a crash does to what was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CrashEffect {
    /// The process was killed: the kernel still has all of it.
    Stays,
    /// As above, and the write in progress got half-way.
    Torn,
    /// The power went: it is gone.
    Gone,
}

#[derive(Debug)]
enum Undo {
    Remove { path: PathBuf },
    Restore { path: PathBuf, content: Vec<u8> },
    RenameBack { from: PathBuf, to: PathBuf, replaced: Option<Vec<u8>> },
}

/// The injected faults, and the account of what is not synced yet.
#[derive(Debug)]
pub(crate) struct Fault {
    steps: usize,
    stop_at: Option<usize>,
    fail_once_at: Option<usize>,
    unsynced: CrashEffect,
    stopped: bool,
    /// What a loss of power would undo, oldest first, with the directory or file whose fsync settles it.
    pending: Vec<(PathBuf, Undo)>,
}

impl Fault {
    fn new(unsynced: CrashEffect) -> Self {
        Self { steps: 0, stop_at: None, fail_once_at: None, unsynced, stopped: false, pending: Vec::new() }
    }

    pub(crate) fn step(&mut self, step: Step<'_>) -> io::Result<()> {
        if self.stopped {
            return Err(io::Error::other("stopped"));
        }
        let number = self.steps;
        self.steps += 1;
        if self.fail_once_at == Some(number) {
            if let Step::Write(path, content, offset) = step {
                half_written(path, content, offset);
            }
            return Err(rustix::io::Errno::NOSPC.into());
        }
        if self.stop_at == Some(number) {
            self.stopped = true;
            self.stop(step);
            return Err(io::Error::other("stopped"));
        }
        self.account(step);
        Ok(())
    }

    fn stop(&mut self, step: Step<'_>) {
        if self.unsynced == CrashEffect::Torn
            && let Step::Write(path, content, offset) = step
        {
            half_written(path, content, offset);
        }
        if self.unsynced != CrashEffect::Gone {
            return;
        }
        for (_, undo) in self.pending.drain(..).rev() {
            match undo {
                Undo::Remove { path } if path.is_dir() => std::fs::remove_dir_all(path).unwrap(),
                Undo::Remove { path } => std::fs::remove_file(path).unwrap_or_default(),
                Undo::Restore { path, content } => std::fs::write(path, content).unwrap_or_default(),
                Undo::RenameBack { from, to, replaced } => {
                    std::fs::rename(&to, &from).unwrap();
                    if let Some(content) = replaced {
                        std::fs::write(to, content).unwrap();
                    }
                }
            }
        }
    }

    fn account(&mut self, step: Step<'_>) {
        let entry_of = |path: &Path| parent_of(path).to_owned();
        match step {
            Step::CreateDir(path) => self.pending.push((entry_of(path), Undo::Remove { path: path.to_owned() })),
            Step::Link(path) => self.pending.push((entry_of(path), Undo::Remove { path: path.to_owned() })),
            Step::Write(path, ..) => match std::fs::read(path) {
                Ok(content) => self.pending.push((path.to_owned(), Undo::Restore { path: path.to_owned(), content })),
                Err(_) => self.pending.push((entry_of(path), Undo::Remove { path: path.to_owned() })),
            },
            Step::Rename(from, to) => {
                let replaced = std::fs::read(to).ok();
                let undo = Undo::RenameBack { from: from.to_owned(), to: to.to_owned(), replaced };
                self.pending.push((entry_of(to), undo));
            }
            Step::Remove(path) => {
                // A directory that was being removed may be gone or not; both are met by the other two kinds.
                if let Ok(content) = std::fs::read(path) {
                    self.pending.push((entry_of(path), Undo::Restore { path: path.to_owned(), content }));
                }
            }
            Step::SyncFile(synced) | Step::SyncDir(synced) => self.pending.retain(|(settles, _)| settles != synced),
        }
    }
}

fn half_written(path: &Path, content: &[u8], offset: u64) {
    let mut bytes = std::fs::read(path).unwrap_or_default();
    bytes.truncate(offset as usize);
    bytes.extend_from_slice(&content[..content.len() / 2]);
    std::fs::write(path, bytes).unwrap();
}

fn faulty(directory: &Path, fault: Fault) -> (Archive, Arc<Mutex<Fault>>) {
    let fault = Arc::new(Mutex::new(fault));
    let mut archive = Archive::open(directory);
    archive.storage.fault = Some(Arc::clone(&fault));
    (archive, fault)
}

/// A directory whose syncs take no time: what a loss of power undoes is injected.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A run as `check` would keep it. Returns after how many phases the writer was still sure to have stored them.
fn keep(archive: &Archive, run: &Run) -> (usize, bool) {
    let mut durable = 0;
    let Ok(mut partial) = archive.begin(&so_far(run, 0)) else { return (0, false) };
    for phases in 1..=run.phases.len() {
        if partial.phase_done(&so_far(run, phases)).is_ok() {
            durable = phases;
        }
    }
    let finished = partial.finish(run).is_ok();
    (durable, finished)
}

/// Asserts what must hold after a crash in which the first `durable` phases had been reported as stored.
fn assert_recovered(directory: &Path, run: &Run, durable: usize, finished: bool, case: &str) -> &'static str {
    let archive = Archive::open(directory);
    let already = archive.ids().unwrap();
    let outcomes = archive.recover().unwrap();
    for recovery in &outcomes {
        let fine =
            matches!(recovery.outcome, Recovered::Truncated { .. } | Recovered::Complete { .. } | Recovered::Empty);
        assert!(fine, "{case}: {outcomes:?}");
    }
    if !already.is_empty() {
        assert!(outcomes.is_empty(), "{case}: a bundle and a partial one");
    }
    let ids = archive.ids().unwrap();
    let kind = if ids.is_empty() {
        assert!(durable == 0 && !finished, "{case}: {durable} phases were lost");
        "nothing"
    } else {
        assert_eq!(ids.as_slice(), std::slice::from_ref(&run.id), "{case}");
        assert!(archive.verify(&run.id).unwrap().is_clean(), "{case}");
        let loaded = archive.load(&run.id).unwrap();
        if loaded.state == RunState::Truncated {
            assert!(!finished, "{case}: finish had said that it was whole");
            let mut phases = loaded.phases.as_slice();
            // Of the phase in progress the series may be there, as far as it was written.
            if let Some((last, complete)) = phases.split_last()
                && last.reasons.iter().any(|r| r.is("truncated"))
            {
                let whole = &run.phases[complete.len()];
                let intervals = |p: &model::PhaseRun| p.record.as_ref().unwrap().intervals.clone();
                assert_eq!(last.plan, whole.plan, "{case}");
                assert!(intervals(whole).starts_with(&intervals(last)), "{case}");
                phases = complete;
            }
            assert!(phases.len() >= durable, "{case}: {} of {durable} phases", phases.len());
            let expected = so_far(run, phases.len());
            assert_eq!(phases, expected.phases, "{case}");
            assert!(loaded.samples.starts_with(&expected.samples), "{case}");
            assert!(run.samples.starts_with(&loaded.samples), "{case}");
            "truncated"
        } else {
            assert_eq!(&loaded, run, "{case}");
            "whole"
        }
    };
    // Nothing is left behind, the index agrees, and the next run finds no obstacle.
    let runs = directory.join("runs");
    if runs.is_dir() {
        let left: Vec<_> = std::fs::read_dir(&runs).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), ids.len(), "{case}: {left:?}");
    }
    assert_eq!(archive.list().unwrap().len(), ids.len(), "{case}");
    if ids.is_empty() {
        archive.save(run).unwrap();
    }
    kind
}

#[test]
fn a_crash_at_any_step_loses_at_most_the_phase_in_progress() {
    let run = measured_run(42, 3);
    let count = {
        let directory = in_memory();
        let (archive, fault) = faulty(directory.path(), Fault::new(CrashEffect::Stays));
        assert_eq!(keep(&archive, &run), (3, true));
        let fault = fault.lock().unwrap();
        assert!(
            fault.pending.iter().all(|(settles, _)| settles.ends_with("index.jsonl") || settles == directory.path())
        );
        fault.steps
    };
    assert!(count > 80, "only {count} steps");
    for unsynced in [CrashEffect::Stays, CrashEffect::Torn, CrashEffect::Gone] {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for stop_at in 0..count {
            let directory = in_memory();
            let (archive, _) = faulty(directory.path(), Fault { stop_at: Some(stop_at), ..Fault::new(unsynced) });
            let (durable, finished) = keep(&archive, &run);
            let case = format!("{unsynced:?}, step {stop_at} of {count}");
            *kinds.entry(assert_recovered(directory.path(), &run, durable, finished, &case)).or_default() += 1;
        }
        assert_eq!(kinds.len(), 3, "{unsynced:?}: {kinds:?}");
    }
}

#[test]
fn a_recovery_that_is_cut_off_is_made_up_for() {
    let run = measured_run(43, 2);
    let partial = |directory: &Path| {
        let archive = Archive::open(directory);
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        partial.phase_done(&so_far(&run, 1)).unwrap();
    };
    let count = {
        let directory = in_memory();
        partial(directory.path());
        let (archive, fault) = faulty(directory.path(), Fault::new(CrashEffect::Stays));
        archive.recover().unwrap();
        fault.lock().unwrap().steps
    };
    for unsynced in [CrashEffect::Stays, CrashEffect::Torn, CrashEffect::Gone] {
        for stop_at in 0..count {
            let directory = in_memory();
            partial(directory.path());
            let (archive, _) = faulty(directory.path(), Fault { stop_at: Some(stop_at), ..Fault::new(unsynced) });
            let _ = archive.recover();
            let case = format!("recovery, {unsynced:?}, step {stop_at} of {count}");
            assert_eq!(assert_recovered(directory.path(), &run, 1, false, &case), "truncated", "{case}");
        }
    }
}

/// What a test's tables may have.
const SMALL_BYTES: u64 = 2_000;
/// What comes of the long phase, 1 ns each, and in so large pieces.
const FINE: u64 = 320;
const PIECE: usize = 40;

/// A run whose second phase brings more than its tables may have.
fn long_run() -> (Run, Vec<Interval>, Vec<SystemSample>) {
    let mut run = measured_run(50, 2);
    let one = |start_ns| Interval {
        start_ns,
        length_ns: 1,
        operations: 2,
        bytes: start_ns,
        latency_ns_p50: Some(1),
        latency_ns_p99: Some(2),
        latency_ns_max: Some(start_ns),
    };
    let fine: Vec<Interval> = (0..FINE).map(one).collect();
    let sample = |at_ns| SystemSample { at_ns, ..SystemSample::default() };
    let samples: Vec<SystemSample> = (1..=FINE).map(sample).collect();
    run.samples = vec![sample(0), sample(1), sample(FINE)];
    let mut coarse = fine.clone();
    (0..3).for_each(|_| Interval::halve(&mut coarse));
    run.phases[1].record.as_mut().unwrap().intervals = coarse;
    (run, fine, samples)
}

/// Keeps the long run as `check` would. Returns how many of the fine intervals the writer was still sure to have taken.
fn keep_long(archive: &Archive, run: &Run, fine: &[Interval], samples: &[SystemSample]) -> (Option<usize>, bool) {
    let Ok(mut partial) = archive.begin(&so_far(run, 0)) else { return (None, false) };
    (partial.series.limit_bytes, partial.system.limit_bytes) = (SMALL_BYTES, 4 * SMALL_BYTES);
    let one = Run { samples: run.samples[..1].to_vec(), ..so_far(run, 1) };
    if partial.phase_done(&one).is_err() {
        return (None, false);
    }
    let mut taken = 0;
    for (fine, samples) in fine.chunks(PIECE).zip(samples.chunks(PIECE)) {
        if partial.phase_grows(&run.phases[1].plan.name, &one.samples, fine, samples).is_err() {
            break;
        }
        taken += fine.len();
        assert!(std::fs::metadata(partial.directory().join("series.csv")).unwrap().len() <= SMALL_BYTES);
    }
    let done = partial.phase_done(run).is_ok();
    (Some(if done { fine.len() } else { taken }), partial.finish(run).is_ok())
}

/// Asserts that the rows are a thinning of the first of the fine intervals; gives how many of these they stand for, and the
/// largest number in one row.
fn assert_thinned(rows: &[Interval], fine: &[Interval], case: &str) -> (usize, u64) {
    let mut covered = 0;
    for row in rows {
        let of = &fine[covered..covered + row.length_ns as usize];
        let mut joined = of[0];
        let rest = &of[1..];
        rest.iter().for_each(|later| joined.append(later));
        assert_eq!(*row, joined, "{case}");
        covered += of.len();
    }
    let largest = rows.iter().map(|row| row.length_ns).max().unwrap_or(1);
    assert!(largest.is_power_of_two(), "{case}: {largest} in a row");
    // Each time that it was thinned one row may have ended before it was full.
    let short = rows.iter().filter(|row| row.length_ns < largest).count();
    assert!(short <= 1 + largest.ilog2() as usize, "{case}: {short} of {} rows", rows.len());
    (covered, largest)
}

#[test]
fn a_crash_while_tables_are_thinned_leaves_a_thinning() {
    let (run, fine, samples) = long_run();
    let count = {
        let directory = in_memory();
        let (archive, fault) = faulty(directory.path(), Fault::new(CrashEffect::Stays));
        assert_eq!(keep_long(&archive, &run, &fine, &samples), (Some(fine.len()), true));
        fault.lock().unwrap().steps
    };
    for unsynced in [CrashEffect::Stays, CrashEffect::Torn, CrashEffect::Gone] {
        let mut sizes: BTreeMap<u64, usize> = BTreeMap::new();
        for stop_at in 0..count {
            let directory = in_memory();
            let (archive, _) = faulty(directory.path(), Fault { stop_at: Some(stop_at), ..Fault::new(unsynced) });
            let (taken, finished) = keep_long(&archive, &run, &fine, &samples);
            let case = format!("{unsynced:?}, step {stop_at} of {count}");
            let archive = Archive::open(directory.path());
            archive.recover().unwrap();
            let Some(taken) = taken else { continue };
            assert!(archive.verify(&run.id).unwrap().is_clean(), "{case}");
            let loaded = archive.load(&run.id).unwrap();
            assert_eq!(loaded.phases[0], run.phases[0], "{case}: a short phase keeps all it has");
            assert!(!finished || loaded.state == run.state, "{case}");
            let rows = loaded.phases.get(1).map_or(&[][..], |p| &p.record.as_ref().unwrap().intervals);
            let (covered, largest) = assert_thinned(rows, &fine, &case);
            // What is not whole yet waits in memory.
            assert!(covered + largest as usize > taken, "{case}: {covered} of {taken}, {largest} in a row");
            *sizes.entry(largest).or_default() += 1;
            let kept = &loaded.samples;
            assert!(kept.is_sorted_by_key(|s| s.at_ns) && kept.iter().all(|s| s.at_ns <= FINE), "{case}");
            let first: Vec<u64> = kept.iter().take(2).map(|s| s.at_ns).collect();
            assert!([0, 1].starts_with(&first), "{case}: the first of a phase stays: {first:?}");
        }
        assert!(sizes.len() > 2, "{unsynced:?}: {sizes:?}");
    }
}

#[test]
fn a_full_disk_for_a_moment_costs_nothing() {
    let run = measured_run(44, 3);
    let steps = {
        let directory = in_memory();
        let (archive, fault) = faulty(directory.path(), Fault::new(CrashEffect::Stays));
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        let first = fault.lock().unwrap().steps;
        for phases in 1..=3 {
            partial.phase_done(&so_far(&run, phases)).unwrap();
        }
        let steps = fault.lock().unwrap().steps;
        first..steps
    };
    for fail_at in steps {
        let directory = in_memory();
        let (archive, _) =
            faulty(directory.path(), Fault { fail_once_at: Some(fail_at), ..Fault::new(CrashEffect::Stays) });
        let mut partial = archive.begin(&so_far(&run, 0)).unwrap();
        let errors: Vec<_> = (1..=3).filter_map(|n| partial.phase_done(&so_far(&run, n)).err()).collect();
        assert!(errors.len() == 1 && errors[0].is_full(), "step {fail_at}: {errors:?}");
        // The last call may be the one that failed; what was reported as stored must be there all the same.
        partial.phase_done(&run).unwrap();
        assert_eq!(crate::load_bundle(partial.directory()).unwrap(), run, "step {fail_at}");
        partial.finish(&run).unwrap();
        assert_eq!(archive.load(&run.id).unwrap(), run, "step {fail_at}");
    }
}
