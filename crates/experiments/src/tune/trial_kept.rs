//! Whether kept settings are still a gain: pairs of them and of what was before, in random order, by the proof of a confirmation.

use super::objective::Objective;
use super::schedule::{OVERHEAD_NS, pairs_in};
use super::trial::{Cell, Tested, Trial};
use super::verify::KeptSearch;
use super::walk::{rates, value_of};
use super::{foreseen, order_of_pairs};
use conduct::admission::FileIdentity;
use conduct::{WallClock, random_u64};
use judge::search::{self, LEAST_PAIRS};
use model::{Better, CompactSort as _, ExperimentPlace, Failure, KeptTrial, Ns, Run, Stack, TargetKind, TuneGain};
use settings::{Tree, side_effect};
use std::time::Instant;

/// More pairs show little more of a gain that was once shown.
const MOST_PAIRS: u32 = 30;
/// Whether the kept values are in force, of the sides of a pair.
const ARMS: [&str; 2] = ["before", "kept"];

/// What is compared.
struct Compared<'a> {
    id: String,
    settings: Vec<spec::Setting>,
    objective: &'a Objective,
    stack: Stack,
    file: Option<FileIdentity>,
    pairs: u32,
}

impl KeptSearch {
    /// A trial that is not made.
    pub fn not_tried(&self, target: &str, why: impl Into<String>) -> KeptTrial {
        KeptTrial {
            search: self.id.clone(),
            target: target.to_owned(),
            asked: self.asked.clone(),
            metric: None,
            better: None,
            gain: None,
            is_gain: None,
            why_not: Some(why.into()),
            tags: Vec::new(),
        }
    }

    /// Measures in pairs, and leaves the kept values in force.
    ///
    /// # Errors
    /// A measurement failed or was interrupted; the settings are as they were, or the failure says what is not.
    pub fn tried(&self, trial: &Trial<'_>, objective: &Objective, budget_ns: Ns) -> Result<KeptTrial, Failure> {
        let target = trial.target.to_string_lossy();
        match self.compared(trial, objective, budget_ns) {
            Ok(compared) => {
                let shown = compared.measured(trial, budget_ns, random_u64()?)?;
                let gain = shown.as_ref().map(|(_, _, gain)| *gain);
                let is_shown = |gain: &TuneGain| gain.p <= search::ALPHA && gain.ratio != 1.0;
                let tags = ARMS.map(|arm| format!("{}-{arm}", compared.id)).to_vec();
                Ok(KeptTrial {
                    asked: objective.asked.clone(),
                    better: shown.as_ref().map(|(_, better, _)| *better),
                    metric: shown.map(|(metric, ..)| metric),
                    gain,
                    is_gain: gain.filter(is_shown).map(|gain| gain.ratio > 1.0),
                    why_not: gain.is_none().then(|| "no pair has a valid number".to_owned()),
                    tags: trial.execution.archive.map(|_| tags).unwrap_or_default(),
                    ..self.not_tried(&target, "")
                })
            }
            Err(failure) => {
                Ok(KeptTrial { asked: objective.asked.clone(), ..self.not_tried(&target, failure.message) })
            }
        }
    }

    /// What can be wrong before anything is changed.
    fn compared<'a>(
        &self,
        trial: &Trial<'_>,
        objective: &'a Objective,
        budget_ns: Ns,
    ) -> Result<Compared<'a>, Failure> {
        let opened = trial.open(&objective.workload, None)?;
        let stack = opened.target.stack.clone();
        let disk = |path: &str| Some(path.strip_prefix("/sys/block/")?.split_once('/')?.0.to_owned());
        let mut disks = self.before.iter().filter_map(|(path, _)| disk(path.as_str()));
        if let Some(other) = disks.find(|disk| stack.layers.iter().all(|layer| layer.name != *disk)) {
            return Err(Failure::usage(format!("it does not lie on {other}, whose setting is kept: name the target")));
        }
        let cell_ns = foreseen(&objective.workload, &opened, 0)?.ns + OVERHEAD_NS;
        let pairs = pairs_in(budget_ns, cell_ns, 0).min(MOST_PAIRS);
        if pairs < LEAST_PAIRS {
            let needed = (2 * u64::from(LEAST_PAIRS) * cell_ns).div_ceil(model::NS_PER_S);
            return Err(Failure::usage(format!("the time holds no six pairs: --budget {needed}s does")));
        }
        let tree = Tree::machine();
        let mut set = self.before.clone();
        // What the kernel would set anew beside them.
        let beside = self.before.iter().filter_map(|(path, _)| side_effect(path));
        let beside: Vec<_> = beside.filter(|path| self.before.iter().all(|(other, _)| other != path)).collect();
        set.extend(beside.into_iter().filter_map(|path| Some((path.clone(), tree.read(&path).ok()?))));
        set.compact_sort_by_key(|(path, _)| settings::rank(path));
        let settings = set
            .into_iter()
            .map(|(path, value)| spec::Setting::Value { path: path.to_string(), value })
            .collect::<Vec<_>>();
        let id = format!("verify-{}-{:04x}", WallClock::start().compact(), random_u64()? & 0xffff);
        let file = opened.object.filter(|_| opened.target.kind == TargetKind::File && opened.target.writable);
        drop(opened);
        match trial.try_applying(settings.clone(), &id, &stack)? {
            Some(why) => Err(Failure::refused(why)),
            None => Ok(Compared { id, settings, objective, stack, file, pairs }),
        }
    }
}

impl Compared<'_> {
    /// The metric and the gain of the kept values, if a pair has valid numbers; fewer pairs where these look like no gain at all, or the time is over.
    fn measured(
        &self,
        trial: &Trial<'_>,
        budget_ns: Ns,
        seed: u64,
    ) -> Result<Option<(String, Better, TuneGain)>, Failure> {
        let began = Instant::now();
        let mut metric: Option<(String, Better)> = None;
        let mut made: Vec<(f64, f64)> = Vec::new();
        for pair in 0..self.pairs {
            let mut both = [None, None];
            for (second, kept) in order_of_pairs(pair, seed).into_iter().enumerate() {
                if trial.execution.interrupts.end() {
                    let message = format!(
                        "interrupted: {pair} of {} pairs are made, and all settings are as they were",
                        self.pairs
                    );
                    return Err(Failure::invalid(message));
                }
                let run = self.side(trial, pair, second as u32, kept, seed)?;
                if let (None, Some(run)) = (&metric, &run) {
                    let found = match &self.objective.metric {
                        Some(id) => run.metric(id),
                        None => rates(run).next(),
                    };
                    metric = found.and_then(|found| Some((found.id.clone(), found.better?)));
                }
                both[usize::from(kept)] = run.zip(metric.as_ref()).and_then(|(run, (id, _))| value_of(&run, id));
            }
            made.extend(both[0].zip(both[1]));
            let is_futile = metric.as_ref().is_some_and(|(_, better)| search::is_futile(&made, *better));
            if is_futile || began.elapsed().as_nanos() > u128::from(budget_ns) {
                break;
            }
        }
        let shown = |(id, better)| Some((id, better, search::gain(&made, better)?));
        Ok(metric.and_then(shown))
    }

    fn side(&self, trial: &Trial<'_>, pair: u32, second: u32, kept: bool, seed: u64) -> Result<Option<Run>, Failure> {
        let arm = ARMS[usize::from(kept)];
        let order = Some(2 * pair + second);
        let place = ExperimentPlace { id: self.id.clone(), arm: arm.to_owned(), pair, order, seed: Some(seed) };
        let cell = Cell {
            id: &self.id,
            settings: if kept { Vec::new() } else { self.settings.clone() },
            workloads: &[&self.objective.workload],
            seed: seed ^ u64::from(pair + 1).wrapping_mul(model::random::STEP),
            place: Some(place),
            pairs: self.pairs,
        };
        let Tested::Runs(runs) = trial.run(&cell, &self.stack, self.file)? else { return Ok(None) };
        if let (Some(archive), Some(run)) = (trial.execution.archive, runs.first()) {
            archive.tag_add(&format!("{}-{arm}", self.id), &run.id)?;
        }
        Ok(runs.into_iter().next())
    }
}
