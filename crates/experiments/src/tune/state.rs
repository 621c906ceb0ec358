//! How far a search came: what was asked, what the settings held, and what each measurement gave. The search is drawn from a seed, so that
//! these values lead it to where it was. Replaced as a whole after every measurement, so that a crash costs the one that was being made.

use super::Asked;
use super::candidate::Candidate;
use archive::Archive;
use judge::search::{Change, Space, Value};
use model::{Better, CompactSort as _, Failure, Ns, Unit};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;

/// Where the states are, below the archive.
const DIRECTORY: &str = "tune";

/// What the first measurement decides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct First {
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    /// What it took, and all until the search began.
    pub cell_ns: Ns,
    pub until_search_ns: Ns,
    /// Board or system, as it is handed on.
    #[serde(default)]
    pub machine: Option<String>,
    /// Names of settings that its findings name.
    pub suggested: Vec<String>,
    /// Which value of which candidate cannot be applied.
    pub refused: Vec<(usize, usize)>,
    /// Why the first of them cannot.
    pub why_refused: Option<String>,
    /// Measurements of the search at most, and when it has to end.
    pub cells: usize,
    pub search_ns: Ns,
}

/// What a measurement of the search gave.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Made {
    Measured(f64),
    NotValid,
    NotApplied,
}

impl From<Made> for Value {
    fn from(made: Made) -> Self {
        match made {
            Made::Measured(value) => Self::Measured(value),
            Made::NotValid => Self::NotValid,
            Made::NotApplied => Self::NotApplied,
        }
    }
}

/// What guards on one side of a pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GuardValue {
    pub metric: String,
    pub better: Better,
    pub value: Option<f64>,
}

/// One side of a pair; `None` where it could not be set or has no valid number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Side {
    pub value: Option<f64>,
    pub guards: Vec<GuardValue>,
}

/// A search, as far as it came.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    schema: String,
    pub id: String,
    pub target: String,
    /// What is to become better, as it was asked for.
    pub asked: String,
    pub only: Vec<String>,
    pub allow_unsafe: bool,
    pub allow_registers: bool,
    pub budget_ns: Ns,
    pub margin_percent: f64,
    pub seed: u64,
    /// Files of settings that are tried, what they held, and the values.
    settings: Vec<(String, String, Vec<String>)>,
    /// Time that it took up to now, and bytes that it wrote.
    pub(super) spent_ns: Ns,
    pub(super) bytes_written: u64,
    pub(super) first: Option<First>,
    /// What each measurement gave, and how many there was time for after it.
    pub(super) values: Vec<(Made, usize)>,
    /// Pairs that each finalist is to have, and how many of them have guards.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The sides of all pairs in the order in which they were made.
    pub(super) sides: Vec<Side>,
    pub(super) is_over: bool,
    /// Names and values of settings that are tried first, by what others proved.
    #[serde(default)]
    pub(super) tried_first: Vec<(String, String)>,
    /// What it proved, as it is handed on.
    #[serde(default)]
    pub(super) known: Option<serde_json::Value>,
}

impl State {
    const SCHEMA: &'static str = "narrows/tune-state/1";

    pub(super) fn new(
        asked: &Asked<'_>,
        id: &str,
        target: &str,
        candidates: &[Candidate],
        tried_first: Vec<(String, String)>,
    ) -> Self {
        Self {
            schema: Self::SCHEMA.to_owned(),
            id: id.to_owned(),
            target: target.to_owned(),
            asked: asked.objective.asked.clone(),
            only: asked.only.to_vec(),
            allow_unsafe: asked.allow_unsafe,
            allow_registers: asked.allow_registers,
            budget_ns: asked.budget_ns,
            margin_percent: asked.margin_percent,
            seed: asked.seed,
            settings: held(candidates),
            spent_ns: 0,
            bytes_written: 0,
            first: None,
            values: Vec::new(),
            pairs: Vec::new(),
            sides: Vec::new(),
            is_over: false,
            tried_first,
            known: None,
        }
    }

    /// That the machine is as it was when the search was left.
    pub(super) fn fits(&self, candidates: &[Candidate]) -> Result<(), Failure> {
        let now = held(candidates);
        if now == self.settings {
            return Ok(());
        }
        let differs = self.settings.iter().find(|was| !now.contains(was));
        let what = differs.map_or_else(
            || "there are other settings".to_owned(),
            |(path, held, _)| format!("{path} no longer holds {held}, or has other values to try"),
        );
        Err(Failure::usage(format!("{} cannot be resumed: {what}", self.id)).remedy("narrows tune   begins anew"))
    }

    pub(super) fn save(&self, archive: Option<&Archive>) -> Result<(), Failure> {
        let Some(archive) = archive else { return Ok(()) };
        let text = serde_json::to_string(self).map_err(|e| Failure::internal(format!("{}: {e}", self.id)))?;
        Ok(archive.write_side_file(&path(&self.id), text.as_bytes())?)
    }

    /// The search that was left last and not ended, of this target where one is named.
    ///
    /// # Errors
    /// There is none, or its state cannot be read.
    pub fn to_resume(archive: &Archive, target: Option<&str>) -> Result<Self, Failure> {
        let is_left = |state: &Self| !state.is_over && target.is_none_or(|target| target == state.target);
        Self::find(archive, &is_left)?.ok_or_else(|| {
            let of = target.map_or_else(String::new, |target| format!(" of {target}"));
            Failure::usage(format!("no search{of} was left unfinished")).remedy("narrows tune TARGET   begins one")
        })
    }

    /// The last search that is as asked.
    ///
    /// # Errors
    /// A state that comes before it cannot be read.
    pub(super) fn find(archive: &Archive, is_asked: &dyn Fn(&Self) -> bool) -> Result<Option<Self>, Failure> {
        let mut names = archive.list_side_files(DIRECTORY)?;
        names.sort();
        for name in names.iter().rev().filter(|name| name.ends_with(".json")) {
            let path = format!("{DIRECTORY}/{name}");
            let Some(text) = archive.read_side_file(&path)? else { continue };
            let cannot = |why: String| {
                let file = archive.side_path(&path);
                Failure::environment(format!("{}: {why}", file.display()))
                    .remedy("this search cannot be resumed: remove the file, and begin anew")
            };
            let state: Self = serde_json::from_slice(text.as_bytes()).map_err(|e| cannot(e.to_string()))?;
            if state.schema != Self::SCHEMA {
                return Err(cannot(format!("not a state of this program ({})", state.schema)));
            }
            if is_asked(&state) {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }
}

impl First {
    /// What is searched: the settings that findings name first, each in its candidates' order.
    pub fn space(&self, candidates: &[Candidate]) -> Space {
        let values: Vec<usize> = candidates.iter().map(|c| c.values.len()).collect();
        let mut space = Space::of(&values);
        let place = |candidate: usize| {
            let name = candidates[candidate].name();
            self.suggested.iter().position(|suggested| suggested == name).unwrap_or(usize::MAX)
        };
        space.changes.compact_sort_by_key(|change| place(change.candidate));
        space.suggested = (0..candidates.len()).filter(|candidate| place(*candidate) < usize::MAX).collect();
        space.refused = self
            .refused
            .iter()
            .map(|(candidate, alternative)| Change { candidate: *candidate, alternative: *alternative })
            .collect();
        space
    }
}

/// A target by a name that is the same wherever the search goes on.
///
/// # Errors
/// There is no current directory, or the name is not UTF-8.
pub fn absolute(target: &OsStr) -> Result<String, Failure> {
    let absolute = std::path::absolute(target).map_err(|e| {
        Failure::environment(format!("{}: {e}", target.display())).remedy("name it by an absolute path")
    })?;
    absolute
        .into_os_string()
        .into_string()
        .map_err(|name| Failure::usage(format!("{} is not UTF-8", name.display())).remedy("name it by another path"))
}

fn held(candidates: &[Candidate]) -> Vec<(String, String, Vec<String>)> {
    candidates.iter().filter(|c| !c.values.is_empty()).flat_map(Candidate::held).collect()
}

fn path(id: &str) -> String {
    format!("{DIRECTORY}/{id}.json")
}
