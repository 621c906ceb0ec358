//! The runs that a name on the command line stands for: of the archive (an id or its beginning, a tag, `latest`), a bundle
//! elsewhere, or a file that another tool printed, which is read and not kept.

use crate::import::{self, Purpose};
use archive::{Archive, ArchiveError, IndexEntry, IndexedRun, RunRef};
use exchange::MAX_FIGURES;
use model::{Failure, ForeignWork, Run, RunState, TargetKind};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What a name stands for.
#[derive(Default)]
pub struct RunSource {
    /// As it was given.
    pub name: String,
    pub runs: Vec<Run>,
    /// Where each run lies; of another tool's there are none.
    pub kept: Vec<RunRef>,
    /// The work behind the figures of another tool.
    pub works: Vec<ForeignWork>,
    /// Lines of another tool's file that were not understood, in words.
    pub not_understood: Vec<String>,
    /// Runs that could not be read, in words.
    pub unreadable: Vec<String>,
    /// Which runs a target's name was taken for, in words.
    pub taken: Option<String>,
    failed: Option<Failure>,
}

/// How much of a run is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    /// The metrics and how warm the machine was.
    Compared,
    /// The metrics; of a check also its series, which has the slowest second.
    Ranked,
}

/// What a command wants to know of a target that it is given by name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// What was done last.
    Newest,
    /// What the target can do: a fill, a recording, an installation or a check of a part does not hide what a check before it measured.
    Numbers,
    /// That, and how long an installation takes.
    NumbersAndInstallation,
    /// What has limits to explain: as it was made, of one run.
    Limits,
}

/// Earlier checks of a target in which is looked for what a later one of a part did not measure.
const MOST_EARLIER: usize = 8;

/// Runs of a name whose samples are read, which say how warm they were; of more, series are not to be read.
const MOST_WITH_SAMPLES: usize = 100;

/// So many older runs are looked at for one that tells a bottleneck.
const MOST_OLDER: usize = 8;

impl RunSource {
    /// The newest run that filled the target of a name; `None` where there is none, or it cannot be read.
    pub fn newest_fill(archive: &Archive, target: &OsStr) -> Option<Run> {
        let text = target.to_str()?;
        let path = std::fs::canonicalize(text).ok();
        let path = path.as_deref().and_then(Path::to_str);
        let entries = archive.list().ok()?;
        let is_fill = |run: &IndexedRun| run.command == "fill" && run.state == RunState::Complete;
        let is_it = |run: &IndexedRun| run.target == text || path.is_some() && run.target_path.as_deref() == path;
        let fills = entries.iter().filter(|entry| entry.run.as_ref().is_some_and(|run| is_fill(run) && is_it(run)));
        archive.resolve_one(&fills.max_by_key(|entry| entry.order)?.id).ok()?.load().ok()
    }

    /// All runs of a name that can be read.
    ///
    /// # Errors
    /// There is nothing of that name, or nothing of it can be read or understood.
    pub fn load(archive: &Archive, name: &OsStr, part: Part, wants: Wants) -> Result<Self, Failure> {
        let mut all = Self { name: name.to_string_lossy().into_owned(), ..Self::default() };
        let (found, of_target) = match meaning(archive, name, wants)? {
            Meaning::Kept(found) => (found, None),
            Meaning::OnTarget(on) => (on.runs.clone(), Some(on)),
            Meaning::OfAnotherTool => return Self::of_another_tool(name),
        };
        let with_samples = found.len() <= MOST_WITH_SAMPLES;
        for found in found {
            let run = match part {
                Part::Whole => found.load(),
                Part::Compared if with_samples => found.load_summary_with_samples(),
                Part::Compared => found.load_summary(),
                Part::Ranked => {
                    found.load_summary().and_then(|run| if run.is_overview() { found.load() } else { Ok(run) })
                }
            };
            match run {
                Ok(run) => {
                    all.runs.push(run);
                    all.kept.push(found);
                }
                Err(error) => {
                    all.unreadable.push(format!("{}: {error}", found.id));
                    all.failed.get_or_insert(error.into());
                }
            }
        }
        match all.failed.take_if(|_| all.runs.is_empty()) {
            Some(failure) => Err(failure),
            None => {
                of_target.into_iter().for_each(|on| on.tell(&mut all));
                Ok(all)
            }
        }
    }

    /// The one run of a name, and where it lies unless another tool made it.
    ///
    /// # Errors
    /// As [`Self::load`]; the name stands for several.
    pub fn one(archive: &Archive, name: &OsStr, wants: Wants) -> Result<(Run, Option<RunRef>), Failure> {
        match meaning(archive, name, wants)? {
            Meaning::Kept(found) => {
                let found = archive::only(text_of(name)?, found)?;
                return Ok((found.load()?, Some(found)));
            }
            Meaning::OnTarget(on) => {
                let found = on.runs[0].clone();
                let mut one = Self { runs: vec![found.load()?], ..Self::default() };
                on.tell(&mut one);
                return Ok((one.runs.remove(0), Some(found)));
            }
            Meaning::OfAnotherTool => {}
        }
        let mut source = Self::of_another_tool(name)?;
        match (source.runs.pop(), source.runs.len()) {
            (Some(run), 0) => Ok((run, None)),
            (_, others) => {
                let what = format!("{} holds {} results, and this is about one", source.name, others + 1);
                Err(Failure::usage(what).remedy("narrows import FILE   keeps each of them as a run"))
            }
        }
    }

    /// The one run of a name whose limits are asked about, and in words which one that is where the name does not say it: `latest` is the
    /// newest that has limits, and no soak after it; of one that `tells` no bottleneck by itself an older one of its target that does.
    ///
    /// # Errors
    /// As [`Self::one`].
    pub fn with_limits(
        archive: &Archive,
        name: &OsStr,
        tells: impl Fn(&Run) -> bool,
    ) -> Result<(Run, Option<String>), Failure> {
        if name != LATEST {
            let on_target = text_of(name).ok().filter(|text| archive.resolve(text).is_err());
            let (run, _) = Self::one(archive, name, Wants::Limits)?;
            let taken = on_target.map(|target| format!("{} {}, of the runs on {target}", kind_of(&run), run.id));
            return Ok((run, taken.filter(|_| !run_is_outside(name))));
        }
        let mut entries = archive.list()?;
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.order));
        let with = |entry: &&IndexEntry| entry.run.as_ref().is_some_and(has_limits);
        // A run of what the newest one is of says most; one of another target is said to be.
        let newest_of = entries.first().and_then(|newest| newest.run.as_ref()).map(|run| run.target.clone());
        let same = |entry: &&IndexEntry| entry.run.as_ref().map(|run| &run.target) == newest_of.as_ref();
        let Some(entry) = entries.iter().filter(with).find(same).or_else(|| entries.iter().find(with)) else {
            return Ok((Self::one(archive, name, Wants::Limits)?.0, None));
        };
        let mut entry = entry;
        let mut run = archive.resolve_one(&entry.id)?.load()?;
        if !tells(&run) {
            let older = entries.iter().filter(with).filter(same).filter(|other| other.id != entry.id).take(MOST_OLDER);
            for other in older {
                let Ok(other_run) = archive.resolve_one(&other.id).and_then(|found| found.load()) else { continue };
                if tells(&other_run) {
                    (entry, run) = (other, other_run);
                    break;
                }
            }
        }
        let newest = entries.first().filter(|newest| newest.id != entry.id);
        let taken = newest.map(|newest| {
            let of = newest.run.as_ref().map_or("run", |run| run.command.as_str());
            format!(
                "{} {} on {}; the newest run, {of} {}, tells no bottleneck",
                kind_of(&run),
                run.id,
                run.target.name,
                newest.id
            )
        });
        Ok((run, taken))
    }

    /// The runs of several names, each once, and where they lie unless another tool made them.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn all(archive: &Archive, names: &[OsString]) -> Result<Vec<(Run, Option<RunRef>)>, Failure> {
        let (mut all, mut known) = (Vec::new(), HashSet::new());
        for name in names {
            let source = Self::load(archive, name, Part::Whole, Wants::Newest)?;
            source.failed.map_or(Ok(()), Err)?;
            let kept = source.kept.into_iter().map(Some).chain(std::iter::repeat(None));
            all.extend(source.runs.into_iter().zip(kept).filter(|(run, _)| known.insert(run.id.clone())));
        }
        Ok(all)
    }

    /// What another tool printed, from a file or stdin (`-`); the ids of its runs are the file's name and a number.
    ///
    /// # Errors
    /// It cannot be read, is no text, or nothing in it is understood (`invalid`).
    pub fn of_another_tool(file: &OsStr) -> Result<Self, Failure> {
        let source = import::read(file, Purpose::Look, MAX_FIGURES)?;
        let name = source.input.name;
        let invalid = |what: String| Failure::invalid(format!("{name}: {what}"));
        let imported = source.read.map_err(|error| invalid(error.to_string()).remedy(error.remedy()))?;
        if imported.runs.is_empty() {
            // Of a text that was cut off before its first result, where.
            let where_from = imported.not_understood.first().map(|n| format!(": line {}: {}", n.line, n.why));
            return Err(invalid(format!("no result of a known tool was found{}", where_from.unwrap_or_default()))
                .remedy("narrows import --help lists what is understood"));
        }
        let id = |number: usize| if imported.runs.len() == 1 { name.clone() } else { format!("{name}#{}", number + 1) };
        let runs = imported.runs.iter().enumerate();
        Ok(Self {
            runs: runs.map(|(i, run)| run.to_run(&id(i), env!("CARGO_PKG_VERSION"), &name)).collect(),
            works: imported.runs.iter().flat_map(exchange::ImportedRun::works).collect(),
            not_understood: imported
                .not_understood
                .iter()
                .map(|n| format!("{name}, line {}: {}", n.line, n.why))
                .collect(),
            name: file.to_string_lossy().into_owned(),
            ..Self::default()
        })
    }
}

/// What the archive holds of the target of a name, where nothing else is called so.
struct OnTarget {
    /// The run that answers, then those that add to it.
    runs: Vec<RunRef>,
    /// Checks before it, the newest first.
    earlier: Vec<RunRef>,
    /// The one that told last how large the target really is.
    capacity: Option<RunRef>,
}

impl OnTarget {
    fn find(archive: &Archive, text: &str, wants: Wants, error: &ArchiveError) -> Option<Self> {
        if !matches!(error, ArchiveError::NotFound { .. }) {
            return None;
        }
        let path = std::fs::canonicalize(text).ok();
        let path = path.as_deref().and_then(Path::to_str);
        let is_it = |run: &IndexedRun| run.target == text || path.is_some() && run.target_path.as_deref() == path;
        let entries = archive.list().ok()?;
        let on_it = || entries.iter().filter_map(|e| Some((e, e.run.as_ref().filter(|run| is_it(run))?)));
        let of = |entry: &IndexEntry| archive.resolve_one(&entry.id).ok();
        let newest = |fits: &dyn Fn(&IndexedRun) -> bool| {
            on_it().filter(|(_, run)| fits(run)).max_by_key(|(entry, _)| entry.order).and_then(|(entry, _)| of(entry))
        };
        let answering = match wants {
            Wants::Newest => newest(&|_| true),
            Wants::Numbers | Wants::NumbersAndInstallation | Wants::Limits => on_it()
                .max_by_key(|(entry, run)| (numbers_of(run), run.state == RunState::Complete, entry.order))
                .and_then(|(entry, _)| of(entry)),
        }?;
        let installed = newest(&|run| run.workload == INSTALLATION && run.state == RunState::Complete)
            .filter(|run| wants == Wants::NumbersAndInstallation && run.id != answering.id);
        let capacity = newest(&|run| run.capacity.is_some()).filter(|_| wants != Wants::Newest);
        let adds = matches!(wants, Wants::Numbers | Wants::NumbersAndInstallation);
        let mut checks: Vec<&IndexEntry> =
            on_it().filter(|(_, run)| adds && numbers_of(run) == CHECK).map(|(e, _)| e).collect();
        checks.sort_by_key(|entry| std::cmp::Reverse(entry.order));
        let others = checks.into_iter().filter(|entry| entry.id != answering.id);
        let earlier = others.take(MOST_EARLIER).filter_map(of).collect();
        Some(Self { runs: std::iter::once(answering).chain(installed).collect(), earlier, capacity })
    }

    /// Has the runs say what they are, and how large the target really is. Another card in the same place is another target.
    fn tell(self, source: &mut RunSource) {
        let Some(first) = source.runs.first().cloned() else { return };
        source.runs.retain(|run| judge::is_same_target(run, &first));
        source.kept.retain(|kept| source.runs.iter().any(|run| run.id == kept.id));
        let known = self.capacity.and_then(|found| Some((found.load_summary().ok()?, found.id)));
        let known = known.filter(|(run, _)| judge::is_same_target(run, &first)).and_then(|(run, id)| {
            let capacity = run.capacity_found()?;
            source.runs[0].capacity = Some(capacity);
            (id != first.id).then_some(id)
        });
        let added: Vec<String> = self
            .earlier
            .iter()
            .filter_map(|earlier| {
                let adding = earlier.load().ok().filter(|run| judge::is_same_target(run, &first))?;
                let works = judge::add_what_lacks(&mut source.runs[0], adding);
                (!works.is_empty()).then(|| format!("; {} of the check {}", works.join(", "), earlier.id))
            })
            .collect();
        let runs: Vec<String> = source.runs.iter().map(|run| format!("{} {}", kind_of(run), run.id)).collect();
        let capacity = known.map_or_else(String::new, |id| format!("; its capacity is what {id} found"));
        let added = added.concat();
        source.taken =
            Some(format!("{}: of its runs the newest {}{added}{capacity}", source.name, runs.join(" and the newest ")));
    }
}

/// What is a target, and no run, has to be measured first.
fn not_measured(text: &str, error: ArchiveError) -> Failure {
    let path = Path::new(text);
    let is_target = text.starts_with("sim:") || path.is_dir() || text.contains('/') && path.exists();
    match error {
        ArchiveError::NotFound { .. } if is_target => {
            Failure::usage(format!("there is no run of {text} in the archive"))
                .remedy(format!("narrows check {text}   measures it; narrows runs list shows what is there"))
        }
        error => error.into(),
    }
}

/// The workload that installs packages.
const INSTALLATION: &str = "packages";

/// The newest run.
const LATEST: &str = "latest";

/// Whether a run measured rates of its target, which something limits: not one that looked at data, frames or memory.
fn has_limits(run: &IndexedRun) -> bool {
    !matches!(run.command.as_str(), "soak" | "record" | "copy" | "import") && run.target_kind != TargetKind::Null
}

/// The command that made it, of a workload its name.
fn kind_of(run: &Run) -> &str {
    if run.command == "run" { &run.plan.name } else { &run.command }
}

/// Whether a name is that of something beside the archive, which is taken as it is.
fn run_is_outside(name: &OsStr) -> bool {
    name == "-" || Path::new(name).is_file() || Path::new(name).join("run.json").exists()
}

/// What [`numbers_of`] a check are.
const CHECK: u8 = 2;

/// How much a run tells of what its target can do: a check all of it, a fill, a soak or a recording one thing.
fn numbers_of(run: &IndexedRun) -> u8 {
    match (run.command.as_str(), run.workload.as_str()) {
        ("check", _) => CHECK,
        ("fill" | "soak" | "record", _) | (_, INSTALLATION | "frames" | "sweep") => 0,
        _ => 1,
    }
}

fn text_of(name: &OsStr) -> Result<&str, Failure> {
    name.to_str().ok_or_else(|| {
        Failure::usage(format!("'{}' is not the name of a run", name.to_string_lossy()))
            .remedy("narrows runs   lists what there is")
    })
}

/// What a name means.
enum Meaning {
    Kept(Vec<RunRef>),
    OnTarget(OnTarget),
    /// What another tool printed: stdin, or a file that is no bundle.
    OfAnotherTool,
}

/// What a name means. As with bundles, what the archive knows by a plain name comes before a file of that name.
fn meaning(archive: &Archive, name: &OsStr, wants: Wants) -> Result<Meaning, Failure> {
    let path = Path::new(name);
    // A device is a target, and not what a tool printed.
    let readable = |m: &std::fs::Metadata| !m.is_dir() && !m.file_type().is_block_device();
    let is_file = path.metadata().is_ok_and(|m| readable(&m)) && path.file_name() != Some(OsStr::new("run.json"));
    if name != "-" && !is_file {
        let text = text_of(name)?;
        return match archive.resolve(text) {
            Ok(found) => Ok(Meaning::Kept(found)),
            Err(error) => OnTarget::find(archive, text, wants, &error)
                .map(Meaning::OnTarget)
                .ok_or_else(|| not_measured(text, error)),
        };
    }
    let plain = name.to_str().filter(|text| name != "-" && !text.contains('/'));
    let known = plain.and_then(|text| archive.resolve(text).ok());
    Ok(known.map_or(Meaning::OfAnotherTool, Meaning::Kept))
}
