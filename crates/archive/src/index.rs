//! index.jsonl: one line per finished run, so that a list need not open every bundle. A cache: whenever it disagrees
//! with the directories, they are right, and it is written anew.

use crate::bundle::summary;
use crate::directory::Archive;
use crate::{Result, order};
use model::{Capacity, CompactSort as _, Metric, Run, RunState, TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::PathBuf;

const INDEX: &str = "index.jsonl";
const INDEX_LIMIT_BYTES: u64 = 1 << 30;

/// What a list shows of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexEntry {
    /// The run's id.
    pub id: String,
    /// Its place in the order in which runs ended; greater is later.
    pub order: u64,
    /// What the bundle says; `None` if it cannot be read.
    pub run: Option<IndexedRun>,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// The part of run.json that a list shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexedRun {
    /// Which command made it.
    pub command: String,
    /// What was executed. A line without it is of an older version: the bundle is read again.
    pub workload: String,
    /// Kernel name of the device that the target stands on; `None` where there is none.
    #[serde(deserialize_with = "Option::deserialize")]
    pub device: Option<String>,
    pub program_version: String,
    /// How far it came.
    pub state: RunState,
    /// Wall clock at the start, RFC 3339.
    pub started: Option<String>,
    /// Wall time from start to end.
    pub duration_ns: u64,
    /// Bytes written to the target.
    pub bytes_written: u64,
    /// The target as the user wrote it.
    pub target: String,
    /// What it was.
    pub target_kind: TargetKind,
    /// Its canonical name.
    pub target_path: Option<String>,
    /// Host name.
    pub hostname: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// How large the target really is, where the run tells it. A line without it is of an older version.
    #[serde(deserialize_with = "Option::deserialize")]
    pub capacity: Option<Capacity>,
    /// The metrics that a list shows.
    pub metrics: Vec<Metric>,
}

impl IndexEntry {
    fn of_run(run: &Run, order: u64) -> Self {
        let indexed = IndexedRun {
            command: run.command.clone(),
            workload: run.plan.name.clone(),
            device: run.target.stack.device_layer().map(|l| l.name.clone()),
            program_version: run.program_version.clone(),
            state: run.state,
            started: run.sessions.first().map(|s| s.started.clone()),
            duration_ns: run.duration_ns,
            bytes_written: run.bytes_written,
            target: run.target.name.clone(),
            target_kind: run.target.kind,
            target_path: run.target.path.clone(),
            hostname: run.environment.hostname.clone(),
            kernel: run.environment.kernel.clone(),
            capacity: run.capacity_found(),
            metrics: run.headlines(),
        };
        Self { id: run.id.clone(), order, run: Some(indexed), problem: None }
    }
}

fn path(archive: &Archive) -> PathBuf {
    archive.directory().join(INDEX)
}

/// What the index says, and whether every line of it could be read.
fn stored(archive: &Archive) -> (HashMap<String, IndexEntry>, bool) {
    let Ok(Some(content)) = archive.storage.read_limited(&path(archive), INDEX_LIMIT_BYTES) else {
        return (HashMap::new(), false);
    };
    let mut entries = HashMap::new();
    let mut sound = content.is_empty() || content.ends_with(b"\n");
    for line in content.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        match serde_json::from_slice::<IndexEntry>(line) {
            Ok(entry) => sound &= entries.insert(entry.id.clone(), entry).is_none(),
            Err(_) => sound = false,
        }
    }
    (entries, sound)
}

fn from_bundle(archive: &Archive, id: String) -> IndexEntry {
    let bundle = archive.run_dir(&id);
    let order = order::of_bundle(&bundle, &id);
    match summary(&bundle, Some(&id)) {
        Ok(run) => IndexEntry::of_run(&run, order),
        Err(e) => IndexEntry { id, order, run: None, problem: Some(e.to_string()) },
    }
}

fn lines(entries: &[IndexEntry]) -> Vec<u8> {
    // A bundle that cannot be read today may be mended tomorrow: it is not cached.
    let sound = entries.iter().filter(|e| e.problem.is_none());
    sound.filter_map(|e| serde_json::to_string(e).ok()).flat_map(|l| (l + "\n").into_bytes()).collect()
}

fn gather(archive: &Archive, mut known: HashMap<String, IndexEntry>) -> Result<(Vec<IndexEntry>, bool)> {
    let mut changed = false;
    let mut entries = Vec::new();
    for id in archive.ids()? {
        let entry = known.remove(&id).filter(|e| e.run.is_some()).unwrap_or_else(|| {
            let entry = from_bundle(archive, id);
            changed |= entry.problem.is_none();
            entry
        });
        entries.push(entry);
    }
    Ok((entries, changed || !known.is_empty()))
}

/// All runs, oldest first.
pub(crate) fn list(archive: &Archive) -> Result<Vec<IndexEntry>> {
    if archive.ids()?.is_empty() && !path(archive).exists() {
        return Ok(Vec::new());
    }
    let (known, sound) = stored(archive);
    let (entries, changed) = gather(archive, known)?;
    if changed || !sound {
        // Anyone may list an archive they cannot write to.
        let _ = rebuild_from_known(archive);
    }
    Ok(entries)
}

/// The highest number of a run's order, while the archive's lock is held: nothing is mended.
pub(crate) fn highest(archive: &Archive) -> Result<u64> {
    Ok(gather(archive, stored(archive).0)?.0.iter().map(|e| e.order).max().unwrap_or(0))
}

/// Mends the index under the lock; another process may have changed it since it was read.
fn rebuild_from_known(archive: &Archive) -> Result<()> {
    let _lock = archive.lock()?;
    let (entries, _) = gather(archive, stored(archive).0)?;
    archive.storage.replace(&path(archive), &lines(&entries))
}

/// Writes the index and the counter anew from the bundles alone.
pub(crate) fn rebuild(archive: &Archive) -> Result<usize> {
    let _lock = archive.lock()?;
    let (entries, _) = gather(archive, HashMap::new())?;
    archive.storage.replace(&path(archive), &lines(&entries))?;
    order::recount(archive, entries.iter().map(|e| e.order).max().unwrap_or(0))?;
    Ok(entries.len())
}

/// Adds a run. The archive's lock must be held.
pub(crate) fn append(archive: &Archive, run: &Run, order: u64) -> Result<()> {
    let path = path(archive);
    let file = archive.storage.line_file(&path)?;
    // If the last writer was cut off, only its own line is lost.
    let mut text = if file.last_line_whole { Vec::new() } else { b"\n".to_vec() };
    text.extend(lines(&[IndexEntry::of_run(run, order)]));
    archive.storage.append(&path, file.length_bytes, &text)
}

/// Removes a run. The archive's lock must be held.
pub(crate) fn drop_entry(archive: &Archive, id: &str) -> Result<()> {
    let (mut known, _) = stored(archive);
    if known.remove(id).is_none() {
        return Ok(());
    }
    let mut entries: Vec<IndexEntry> = known.into_values().collect();
    entries.compact_sort_by(|a, b| a.id.cmp(&b.id));
    archive.storage.replace(&path(archive), &lines(&entries))
}
