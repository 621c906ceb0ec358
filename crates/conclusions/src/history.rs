//! The history of an archive: its runs read one by one, the two runs of each event held side by side, what people acknowledged.

use archive::{Archive, IndexedRun, RunRef};
use jiff::Timestamp;
use judge::{HistoryAsked, HistoryRuns};
use model::{Acknowledgement, Failure, History, HistoryEvent, HistoryKey, Run};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;

/// What people said of events, beside the bundles.
const ACKNOWLEDGED: &str = "acknowledged.json";
const LOCK: &str = "acknowledged.lock";
/// Of so many machines and disks names are kept, for a page that does not say them.
const MOST_NAMED: usize = 1_000;
/// A reason is a sentence or two.
const MOST_WHY_BYTES: usize = 4_096;

/// Which runs are looked at, and what of them.
#[derive(Clone, Debug, Default)]
pub struct HistoryWanted {
    /// A tag, or a target by its name, path or device; `None`: all runs.
    pub of: Option<String>,
    /// Only runs that began then or later, seconds since 1970.
    pub since_s: Option<i64>,
    pub asked: HistoryAsked,
}

/// The history, and of each machine and disk a run that names them.
pub struct Told {
    pub history: History,
    pub named: Vec<Run>,
}

/// Reads the runs that are wanted. A run that cannot be read is said and left out.
///
/// # Errors
/// The archive cannot be read; it has no run of that name, or none of them has such a metric.
pub fn history(archive: &Archive, wanted: &HistoryWanted) -> Result<Told, Failure> {
    let chosen = chosen(archive, wanted)?;
    let mut runs = HistoryRuns::new(wanted.asked.clone());
    let (mut named, mut known, mut unreadable) = (Vec::new(), HashSet::new(), Vec::new());
    for (id, order) in chosen {
        match archive.load_summary(&id) {
            Ok(mut run) => {
                let began = run.sessions.first().and_then(|s| s.started.parse::<Timestamp>().ok());
                runs.add(&run, order, began.map(Timestamp::as_second));
                let names = serde_json::to_string(&(&run.environment.hostname, &run.target.stack.layers));
                if named.len() < MOST_NAMED && known.insert(names.unwrap_or_default()) {
                    run.keep_results();
                    named.push(run);
                }
            }
            Err(error) => unreadable.push(format!("{id}: {error}")),
        }
    }
    if let Some(pattern) = wanted.asked.metrics.iter().find(|p| runs.metrics().all(|id| !judge::matches_pattern(p, id)))
    {
        let message = format!("--metric {pattern}: no run that is looked at has such a metric");
        return Err(Failure::usage(message).remedy("narrows runs show latest --json   has all ids; * matches anything"));
    }
    let mut history = History { unreadable, ..runs.history() };
    let acknowledged = read(archive)?;
    for event in &mut history.events {
        event.environment_differences = differences(archive, event);
        event.acknowledged = acknowledged.iter().find(|a| a.is_of(event)).map(Acknowledged::said);
    }
    Ok(Told { history, named })
}

/// Ids and places in the order of the archive.
fn chosen(archive: &Archive, wanted: &HistoryWanted) -> Result<Vec<(String, u64)>, Failure> {
    let tagged = wanted.of.as_ref().map(|tag| archive.tags().map(|mut tags| tags.remove(tag))).transpose()?.flatten();
    let fits = |id: &String, run: &IndexedRun| match (&tagged, &wanted.of) {
        (Some(tagged), _) => tagged.contains(id),
        (None, Some(target)) => is_of_target(run, target),
        (None, None) => true,
    };
    let since = |run: &IndexedRun| {
        let began = || run.started.as_ref()?.parse::<Timestamp>().ok().map(Timestamp::as_second);
        wanted.since_s.is_none_or(|since| began().is_some_and(|at| at >= since))
    };
    let (mut all, mut any) = (Vec::new(), false);
    for entry in archive.list()? {
        // What cannot be read may be of any target.
        any |= entry.run.as_ref().is_some_and(|run| fits(&entry.id, run));
        if entry.run.as_ref().is_none_or(|run| fits(&entry.id, run) && since(run)) {
            all.push((entry.id, entry.order));
        }
    }
    match &wanted.of {
        Some(text) if !any => {
            Err(Failure::usage(format!("no run of the archive is of '{text}', and no tag is called so"))
                .remedy("narrows runs list shows targets and tags"))
        }
        _ => Ok(all),
    }
}

fn is_of_target(run: &IndexedRun, target: &str) -> bool {
    let canonical = Path::new(target).canonicalize().ok().map(|p| p.to_string_lossy().into_owned());
    let named = [Some(target), canonical.as_deref()];
    // A simulated device is one whatever its parameters are.
    let with_parameters = || run.target.strip_prefix(target).is_some_and(|rest| rest.starts_with(','));
    run.target == target
        || target.starts_with("sim:") && with_parameters()
        || named.contains(&run.target_path.as_deref()) && run.target_path.is_some()
        || run.device.as_deref().is_some_and(|device| device == target.strip_prefix("/dev/").unwrap_or(target))
}

/// In what else the runs before and after an event differ; nothing where one of them cannot be read any more.
fn differences(archive: &Archive, event: &HistoryEvent) -> Vec<model::EnvironmentDifference> {
    let load = |id: &String| RunRef { id: id.clone(), path: archive.run_dir(id) }.load_summary_with_samples();
    match (load(&event.before), load(&event.after)) {
        (Ok(before), Ok(after)) => judge::change_differences(&before, &after),
        _ => Vec::new(),
    }
}

/// What was said of an event: the place is kept, since the run at which a change is seen best may become another with further runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Acknowledged {
    event: String,
    machine: String,
    device: String,
    workload: String,
    plan: String,
    /// Runs at which the change may have been when this was said.
    within: BTreeSet<String>,
    why: String,
    at: String,
}

impl Acknowledged {
    fn of(event: &HistoryEvent, why: &str, at: String) -> Self {
        let HistoryKey { machine, device, workload, plan } = event.key.clone();
        let within = event.within.iter().cloned().chain([event.after.clone()]).collect();
        Self { event: event.id.clone(), machine, device, workload, plan, within, why: why.to_owned(), at }
    }

    /// Of the event, or of one at the same place of the same key. A machine may have been renamed since.
    fn is_of(&self, event: &HistoryEvent) -> bool {
        let key = &event.key;
        self.event == event.id
            || (&self.device, &self.workload, &self.plan) == (&key.device, &key.workload, &key.plan)
                && self.within.contains(&event.after)
    }

    /// Whether both were said of one event.
    fn is_of_the_same(&self, other: &Self) -> bool {
        self.event == other.event
            || (&self.device, &self.workload, &self.plan) == (&other.device, &other.workload, &other.plan)
                && !self.within.is_disjoint(&other.within)
    }

    fn said(&self) -> Acknowledgement {
        Acknowledgement { why: self.why.clone(), at: self.at.clone() }
    }
}

fn read(archive: &Archive) -> Result<Vec<Acknowledged>, Failure> {
    let Some(text) = archive.read_side_file(ACKNOWLEDGED)? else { return Ok(Vec::new()) };
    serde_json::from_str(&text).map_err(|e| {
        let path = archive.side_path(ACKNOWLEDGED);
        Failure::invalid(format!("{} is damaged: {e}", path.display()))
            .remedy("correct it, or remove it and acknowledge the events again")
    })
}

fn write(archive: &Archive, all: &[Acknowledged]) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(all).map_err(|e| Failure::internal(e.to_string()))?;
    Ok(archive.write_side_file(ACKNOWLEDGED, (text + "\n").as_bytes())?)
}

/// Keeps that an event is known, why, and since when (RFC 3339, UTC); what was said of it before is replaced.
///
/// # Errors
/// There is no such event, the reason is empty or too long, or the archive cannot be written.
pub fn acknowledge(
    archive: &Archive,
    history: &History,
    id: &str,
    why: &str,
    now: String,
) -> Result<HistoryEvent, Failure> {
    let fits = |event: &&HistoryEvent| id.len() >= 4 && event.id.starts_with(id);
    let found: Vec<&HistoryEvent> = history.events.iter().filter(fits).collect();
    let [event] = found[..] else {
        let message = match found.len() {
            0 => format!("no event of this archive is called '{id}'"),
            n => format!("'{id}' fits {n} events"),
        };
        return Err(Failure::usage(message).remedy("narrows history   lists them"));
    };
    let why = why.trim();
    if why.is_empty() || why.len() > MOST_WHY_BYTES {
        return Err(Failure::usage(format!("the reason has {} bytes, and it needs 1 to {MOST_WHY_BYTES}", why.len()))
            .remedy(format!("narrows history ack {id} \"firmware 1.3: known, reported\"")));
    }
    let Some(_lock) = archive.lock_side_file(LOCK)? else {
        return Err(Failure::refused("another process is acknowledging an event").remedy("run it again"));
    };
    let mut all = read(archive)?;
    all.retain(|known| !known.is_of(event));
    all.push(Acknowledged::of(event, why, now));
    write(archive, &all)?;
    let acknowledged = all.last().map(Acknowledged::said);
    Ok(HistoryEvent { acknowledged, ..event.clone() })
}

/// Takes over what was acknowledged in another archive of events among runs that this one has; what was said here of an event stays.
///
/// # Errors
/// What one of both archives says cannot be understood, another process is acknowledging, or the archive cannot be written.
pub fn merge_acknowledged(archive: &Archive, other: &Archive) -> Result<(), Failure> {
    let theirs = read(other)?;
    if theirs.is_empty() {
        return Ok(());
    }
    let Some(_lock) = archive.lock_side_file(LOCK)? else {
        return Err(Failure::refused("another process is acknowledging an event").remedy("run it again"));
    };
    let mut all = read(archive)?;
    let known = all.len();
    for said in theirs {
        let usable = said.why.len() <= MOST_WHY_BYTES && said.within.iter().any(|id| archive.has(id));
        if usable && !all.iter().any(|ours| ours.is_of_the_same(&said)) {
            all.push(said);
        }
    }
    if all.len() == known {
        return Ok(());
    }
    write(archive, &all)
}
