//! How far an experiment came: the order that was drawn, and the run of each step that is done. Replaced as a whole after
//! every run, so that a crash costs the run that was being made and nothing else.

use crate::args::RunArgs;
use crate::run::text::{Language, Source};
use crate::wall::WallClock;
use archive::Archive;
use model::{Failure, FailureKind};
use serde::{Deserialize, Serialize};
use spec::Experiment;
use std::path::{Path, PathBuf};

/// Where the states are, below the archive.
pub const DIRECTORY: &str = "experiments";

/// One run of the order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StepState {
    /// Number of the pair, from 0 on.
    pub pair: u32,
    /// Number of the arm.
    pub arm: usize,
    /// Its name.
    pub arm_name: String,
    /// The run, once it was made.
    pub run_id: Option<String>,
}

/// The text of the workload as it was when the experiment started.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct WorkloadState {
    name: String,
    text: String,
    fio: bool,
    directory: PathBuf,
}

/// One execution of an experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    schema: String,
    /// Its name and the moment it was started.
    pub id: String,
    /// Name of the experiment.
    pub name: String,
    /// File that it was read from.
    pub file: String,
    directory: PathBuf,
    /// Its text, whole.
    pub text: String,
    workload: WorkloadState,
    /// TARGET of the command line.
    pub target: Option<String>,
    /// `--set` of the command line.
    pub set: Vec<(String, String)>,
    /// Whether its first arm is run twice.
    pub calibrate: bool,
    /// Seed of the order.
    pub seed: u64,
    /// When it was started, RFC 3339.
    pub started: String,
    /// All runs, in the order that was drawn.
    pub steps: Vec<StepState>,
}

impl WorkloadState {
    fn of(workload: &Source) -> Self {
        Self {
            name: workload.name.clone(),
            text: workload.text.clone(),
            fio: workload.language == Language::Fio,
            directory: absolute(&workload.directory),
        }
    }
}

fn absolute(directory: &Path) -> PathBuf {
    std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned())
}

/// The tag of an arm's runs.
pub fn tag_of(experiment: &str, arm: &str) -> String {
    format!("{experiment}-{arm}")
}

impl State {
    const SCHEMA: &'static str = "narrows/experiment/1";

    /// A new execution; draws the order.
    pub fn new(
        experiment: &Experiment,
        source: &Source,
        workload: &Source,
        seed: u64,
        args: &RunArgs,
        set: Vec<(String, String)>,
        random: u32,
    ) -> Self {
        let wall = WallClock::start();
        let steps = spec::order(experiment.pairs, experiment.arms.len(), seed);
        let named = |s: spec::Step| StepState {
            pair: s.pair,
            arm: s.arm,
            arm_name: experiment.arms.get(s.arm).map(|a| a.name.clone()).unwrap_or_default(),
            run_id: None,
        };
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: format!("{}-{}-{:04x}", experiment.name, wall.compact(), random & 0xffff),
            name: experiment.name.clone(),
            file: source.name.clone(),
            directory: absolute(&source.directory),
            text: source.text.clone(),
            workload: WorkloadState::of(workload),
            target: args.target.as_ref().map(|t| t.to_string_lossy().into_owned()),
            set,
            calibrate: args.calibrate,
            seed,
            started: wall.started(),
            steps: steps.into_iter().map(named).collect(),
        }
    }

    /// The experiment's text.
    pub fn source(&self) -> Source {
        Source {
            name: self.file.clone(),
            text: self.text.clone(),
            language: Language::Toml,
            directory: self.directory.clone(),
        }
    }

    /// The workload's text.
    pub fn workload(&self) -> Source {
        Source {
            name: self.workload.name.clone(),
            text: self.workload.text.clone(),
            language: if self.workload.fio { Language::Fio } else { Language::Toml },
            directory: self.workload.directory.clone(),
        }
    }

    /// Takes the texts, and where they are, from a command line instead of what this says.
    pub fn take_texts(&mut self, source: &Source, workload: &Source) {
        self.file.clone_from(&source.name);
        self.directory = absolute(&source.directory);
        self.workload = WorkloadState::of(workload);
    }

    /// All that was fixed when it was started: everything but the runs that were made.
    pub fn fixed(&self) -> String {
        let mut fixed = self.clone();
        fixed.steps.iter_mut().for_each(|s| s.run_id = None);
        serde_json::to_string(&fixed).unwrap_or_default()
    }

    /// Whether all runs were made.
    pub fn is_complete(&self) -> bool {
        self.steps.iter().all(|s| s.run_id.is_some())
    }

    /// The run that was made last; empty where there is none.
    pub fn id_of_last(&self) -> &str {
        self.steps.iter().rev().find_map(|s| s.run_id.as_deref()).unwrap_or_default()
    }

    /// Writes it; durable when this returns.
    pub fn save(&self, archive: &Archive) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Failure::new(FailureKind::Internal, format!("the state of {}: {e}", self.id)))?;
        Ok(archive.write_beside(&path(&self.id), text.as_bytes())?)
    }
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.json")
}

/// The state of an execution; `None` if there is none of this id.
pub fn load(archive: &Archive, id: &str) -> Result<Option<State>, Failure> {
    // An id comes from bundles and command lines: it must not lead out of the directory.
    if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
        return Ok(None);
    }
    let Some(text) = archive.read_beside(&path(id))? else { return Ok(None) };
    let state: State = serde_json::from_str(&text).map_err(|e| {
        let path = archive.beside(&path(id));
        Failure::new(FailureKind::Environment, format!("{}: {e}", path.display()))
            .remedy("this execution cannot go on; start the experiment anew")
    })?;
    if state.schema != State::SCHEMA || state.id != id {
        let message =
            format!("{}: not a state of this program ({})", archive.beside(&path(id)).display(), state.schema);
        return Err(Failure::new(FailureKind::Environment, message).remedy("a newer version of the program wrote it"));
    }
    Ok(Some(state))
}

/// All executions of which the state can be read, in the order in which they were started.
fn all(archive: &Archive) -> Result<Vec<State>, Failure> {
    let names = archive.list_beside(DIRECTORY)?;
    let ids = names.iter().filter_map(|n| n.strip_suffix(".json")).filter(|id| !id.ends_with(".restore"));
    let mut states: Vec<State> = ids.filter_map(|id| load(archive, id).ok().flatten()).collect();
    states.sort_by(|a, b| a.started.cmp(&b.started));
    Ok(states)
}

/// The last execution of an experiment that is not complete.
pub fn last_unfinished(archive: &Archive, name: &str) -> Result<Option<State>, Failure> {
    Ok(all(archive)?.into_iter().rev().find(|s| s.name == name && !s.is_complete()))
}

/// The execution that `--resume` means.
pub fn to_resume(archive: &Archive, id: Option<&str>, name: Option<&str>) -> Result<State, Failure> {
    let nothing =
        |message: String| Failure::new(FailureKind::Usage, message).remedy("narrows run EXPERIMENT.toml starts one");
    if let Some(id) = id {
        let mut fitting: Vec<State> = all(archive)?.into_iter().filter(|s| s.id.starts_with(id)).collect();
        return match (fitting.pop(), fitting.is_empty()) {
            (Some(state), true) if state.is_complete() => {
                Err(nothing(format!("{} is complete: nothing is left to do", state.id)))
            }
            (Some(state), true) => Ok(state),
            (Some(_), false) => Err(nothing(format!("'{id}' is the beginning of several executions; name one"))),
            (None, _) => {
                Err(nothing(format!("there is no execution '{id}' in {}", archive.beside(DIRECTORY).display())))
            }
        };
    }
    let unfinished =
        all(archive)?.into_iter().rev().find(|s| !s.is_complete() && name.is_none_or(|n| base(&s.name) == n));
    unfinished.ok_or_else(|| {
        let of = name.map_or_else(|| "any experiment".to_owned(), |n| format!("'{n}'"));
        nothing(format!("no execution of {of} in {} is unfinished", archive.beside(DIRECTORY).display()))
    })
}

/// The name in the text: a calibration has another one.
fn base(name: &str) -> &str {
    name.strip_suffix("-calibrate").unwrap_or(name)
}
