//! How far an experiment came: the order that was drawn, and the run of each step that is done. Replaced as a whole after
//! every run, so that a crash costs the run that was being made and nothing else.

use super::order::order;
use archive::Archive;
use conduct::WallClock;
use conduct::{Language, Source};
use model::{CompactSort as _, Failure};
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
    pub arm_name: String,
    /// The run, once it was made.
    pub run_id: Option<String>,
}

/// In which form a state is.
#[derive(Deserialize)]
struct Version {
    schema: String,
}

/// The text of the workload as it was when the experiment started.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct WorkloadState {
    name: String,
    text: String,
    fio: bool,
    directory: PathBuf,
}

/// What the command line adds to the text of an experiment.
#[derive(Clone, Debug, Default)]
pub struct CommandLineOverrides {
    /// Seed of the order.
    pub seed: u64,
    pub target: Option<String>,
    /// Other values for keys of the workload.
    pub set: Vec<(String, String)>,
    /// Whether the first arm is run twice.
    pub calibrate: bool,
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
    /// The whole text.
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

/// The tag of an arm's runs, one of `arms`. A single arm is the experiment.
pub fn tag_of(experiment: &str, arm: &str, arms: usize) -> String {
    if arms == 1 { experiment.to_owned() } else { format!("{experiment}-{arm}") }
}

impl State {
    const SCHEMA: &'static str = "narrows/experiment/1";

    /// A new execution; draws the order.
    pub fn new(
        experiment: &Experiment,
        source: &Source,
        workload: &Source,
        given: CommandLineOverrides,
        random: u32,
    ) -> Self {
        let CommandLineOverrides { seed, target, set, calibrate } = given;
        let clock = WallClock::start();
        let steps = order(experiment.pairs, experiment.arms.len(), seed);
        let named = |(pair, arm): (u32, usize)| StepState {
            pair,
            arm,
            arm_name: experiment.arms.get(arm).map(|a| a.name.clone()).unwrap_or_default(),
            run_id: None,
        };
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: format!("{}-{}-{:04x}", experiment.name, clock.compact(), random & 0xffff),
            name: experiment.name.clone(),
            file: source.name.clone(),
            directory: absolute(&source.directory),
            text: source.text.clone(),
            workload: WorkloadState::of(workload),
            target,
            set,
            calibrate,
            seed,
            started: clock.started(),
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
            language: match self.workload.fio {
                true => Language::Fio,
                false if conduct::is_trace(&self.workload.text) => Language::Trace,
                false => Language::Toml,
            },
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
            .map_err(|e| Failure::internal(format!("the state of {}: {e}", self.id)))?;
        Ok(archive.write_side_file(&path(&self.id), text.as_bytes())?)
    }

    /// How many arms it has.
    pub fn arms(&self) -> usize {
        self.steps.iter().map(|s| s.arm + 1).max().unwrap_or(0)
    }

    /// Runs that are made.
    pub fn runs_made(&self) -> usize {
        self.steps.iter().filter(|s| s.run_id.is_some()).count()
    }

    /// The arm of the next run; `None` where all are made.
    pub fn next_arm(&self) -> Option<&str> {
        self.steps.iter().find(|s| s.run_id.is_none()).map(|s| s.arm_name.as_str())
    }

    /// The state of an execution; `None` if there is none of this id.
    ///
    /// # Errors
    /// It cannot be read, or another version of the program wrote it.
    pub fn load(archive: &Archive, id: &str) -> Result<Option<Self>, Failure> {
        // An id comes from bundles and command lines: it must not lead out of the directory.
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            return Ok(None);
        }
        let Some(text) = archive.read_side_file(&path(id))? else { return Ok(None) };
        let file = archive.side_path(&path(id));
        let cannot = |e: serde_json::Error| {
            Failure::environment(format!("{}: {e}", file.display()))
                .remedy("this execution cannot be resumed; start the experiment anew")
        };
        // The version first: what another one holds may have another form.
        let Version { schema } = serde_json::from_slice(text.as_bytes()).map_err(cannot)?;
        let state = (schema == Self::SCHEMA)
            .then(|| serde_json::from_slice::<Self>(text.as_bytes()))
            .transpose()
            .map_err(cannot)?;
        state.filter(|state| state.id == id).map(Some).ok_or_else(|| {
            let message = format!("{}: not a state of this program ({schema})", file.display());
            Failure::environment(message).remedy("a newer version of the program wrote it")
        })
    }

    /// All executions of which the state can be read, in the order in which they were started.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn all(archive: &Archive) -> Result<Vec<Self>, Failure> {
        let mut states: Vec<Self> =
            ids(archive)?.iter().filter_map(|id| Self::load(archive, id).ok().flatten()).collect();
        states.compact_sort_by(|a, b| a.started.cmp(&b.started));
        Ok(states)
    }

    /// The last execution of an experiment that is not complete.
    ///
    /// # Errors
    /// As [`Self::all`].
    pub fn last_unfinished(archive: &Archive, name: &str) -> Result<Option<Self>, Failure> {
        Ok(Self::all(archive)?.into_iter().rev().find(|s| s.name == name && !s.is_complete()))
    }

    /// The execution that `--resume` means: of this id, or beginning of an id, else the last of this name.
    ///
    /// # Errors
    /// There is none, several fit, nothing is left to do, or its state cannot be read.
    pub fn to_resume(archive: &Archive, id: Option<&str>, name: Option<&str>) -> Result<Self, Failure> {
        let nothing = |message: String| Failure::usage(message).remedy("narrows run EXPERIMENT.toml starts one");
        let directory = archive.side_path(DIRECTORY);
        if let Some(id) = id {
            let mut fitting: Vec<String> = ids(archive)?.into_iter().filter(|known| known.starts_with(id)).collect();
            let state = match (fitting.pop(), fitting.is_empty()) {
                (Some(only), true) => Self::load(archive, &only)?,
                (Some(_), false) => {
                    return Err(nothing(format!("'{id}' is the beginning of several executions; name one")));
                }
                (None, _) => None,
            };
            return match state {
                Some(state) if state.is_complete() => {
                    Err(nothing(format!("{} is complete: nothing is left to do", state.id)))
                }
                Some(state) => Ok(state),
                None => Err(nothing(format!("there is no execution '{id}' in {}", directory.display()))),
            };
        }
        let of_name = |of: &str| name.is_none_or(|name| base(of) == name);
        if let Some(state) = Self::all(archive)?.into_iter().rev().find(|s| !s.is_complete() && of_name(&s.name)) {
            return Ok(state);
        }
        // One that cannot be read may be the one that is meant.
        for id in ids(archive)?.iter().rev().filter(|id| name.is_none_or(|name| id.starts_with(name))) {
            Self::load(archive, id)?;
        }
        let of = name.map_or_else(|| "any experiment".to_owned(), |n| format!("'{n}'"));
        Err(nothing(format!("no execution of {of} in {} is unfinished", directory.display())))
    }
}

/// Ids of all executions of which there is a state, whatever it says.
fn ids(archive: &Archive) -> Result<Vec<String>, Failure> {
    let names = archive.list_side_files(DIRECTORY)?;
    let ids = names.iter().filter_map(|n| n.strip_suffix(".json")).filter(|id| !id.ends_with(".restore"));
    Ok(ids.map(str::to_owned).collect())
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.json")
}

/// The name in the text: a calibration has another one.
fn base(name: &str) -> &str {
    name.strip_suffix("-calibrate").unwrap_or(name)
}
