//! The search itself: measurements until one combination is left, then pairs that the search never saw.

use super::candidates::{arm_settings, changes, held, named};
use super::keep::{Machine, keep};
use super::schedule::{Schedule, pairs_in};
use super::trial::{Cell, Tested, Trial};
use super::{Prepared, order_of_pairs};
use crate::listener::Event;
use judge::search::{self, Change, GUARD_MARGIN_PERCENT, LEAST_PAIRS, Search, Value};
use model::{
    Better, ExperimentPlace, Failure, MetricStatus, NotKept, NotTried, Ns, Run, TuneGain, TuneGuard, TuneProof,
    TuneRejected, TuneTried, TuneValue, Tuning, Unit,
};
use settings::Tree;
use std::path::Path;
use std::time::Instant;

/// Arms of the confirmation.
const PRESENT: &str = "present";
const CHANGED: &str = "changed";
/// A confirmation takes no more pairs than this many times what was foreseen, whatever the noise asks for.
const MORE_PAIRS: u32 = 2;

/// The runs of one side of a pair: of what is asked about, and of the rows that must not become worse.
struct ProofRuns {
    asked: Run,
    guards: Run,
}

/// A search under way.
pub(super) struct Walk<'a> {
    prepared: &'a Prepared<'a>,
    trial: &'a Trial<'a>,
    began: Instant,
    metric: Metric,
    /// What one measurement takes here.
    cell_ns: Ns,
    bytes_written: u64,
}

/// What is to become better.
struct Metric {
    id: String,
    unit: Unit,
    better: Better,
}

impl Metric {
    /// Of a run that has it; what slowed a run slows others alike, and such a number is taken.
    fn of(&self, run: &Run) -> Option<f64> {
        value_of(run, &self.id)
    }
}

fn value_of(run: &Run, id: &str) -> Option<f64> {
    let metric = run.metric(id)?;
    metric.value.or_else(|| metric.bounded().and(metric.rejected_value)).filter(|value| *value > 0.0)
}

/// The rates of the phases that measure the target.
fn rates(run: &Run) -> impl Iterator<Item = &model::Metric> {
    let rate = |m: &&model::Metric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS);
    run.phases.iter().filter(|p| p.plan.measures_target()).filter_map(move |p| p.metrics.iter().find(rate))
}

fn elapsed(since: Instant) -> Ns {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Searches, and proves what was found.
///
/// # Errors
/// A number cannot be had at all, or it was interrupted; the settings are as they were, or the failure says what
/// is not.
pub(super) fn search(prepared: &Prepared<'_>, trial: &Trial<'_>) -> Result<Tuning, Failure> {
    let mut walk = Walk::begin(prepared, trial)?;
    let (search, winner) = walk.search()?;
    let proof = match &winner {
        Some(winner) => walk.confirmed(winner, &search)?,
        None => None,
    };
    Ok(walk.result(&search, proof))
}

impl<'a> Walk<'a> {
    /// Makes a first measurement, of the present values: whether the number can be had, and how long it takes.
    fn begin(prepared: &'a Prepared<'a>, trial: &'a Trial<'a>) -> Result<Self, Failure> {
        let began = Instant::now();
        let metric = Metric { id: String::new(), unit: Unit::Ratio, better: Better::Higher };
        let mut walk = Self { prepared, trial, began, metric, cell_ns: 0, bytes_written: 0 };
        trial.execution.listener.on_event(Event::Measurement { number: 0, of: prepared.schedule.cells });
        let Some(run) = walk.measure(&[], prepared.asked.seed)? else {
            return Err(Failure::internal("the present values cannot be applied"));
        };
        // The first one finds caches and drivers cold; what is off by more is no measure of those that follow.
        let foreseen = prepared.cell_ns;
        walk.cell_ns = elapsed(began).clamp(foreseen / 2, foreseen + foreseen / 2);
        let wanted = prepared.asked.objective.metric.as_deref();
        let found = match wanted {
            Some(id) => run.metric(id),
            None => rates(&run).next(),
        };
        let Some(found) = found.filter(|m| value_of(&run, &m.id).is_some()) else {
            return Err(without_number(&run, wanted, found));
        };
        let better = found
            .better
            .ok_or_else(|| Failure::usage(format!("{}: neither more nor less of it is better", found.id)))?;
        walk.metric = Metric { id: found.id.clone(), unit: found.unit, better };
        Ok(walk)
    }

    /// One measurement of the search; `None` where the settings could not be applied.
    fn measure(&mut self, cell: &[Change], seed: u64) -> Result<Option<Run>, Failure> {
        let Prepared { asked, candidates, stack, file, id, .. } = self.prepared;
        let cell = Cell {
            id,
            settings: arm_settings(candidates, cell),
            workloads: &[&asked.objective.workload],
            seed,
            place: None,
            pairs: 0,
        };
        Ok(match self.trial.run(&cell, stack, *file)? {
            Tested::NotApplied => None,
            Tested::Runs(runs) => {
                self.bytes_written += runs.iter().map(|r| r.bytes_written).sum::<u64>();
                runs.into_iter().next()
            }
        })
    }

    /// Walks the steps of the search, until it or its time is over.
    fn search(&mut self) -> Result<(Search, Option<Vec<Change>>), Failure> {
        let prepared = self.prepared;
        let budget = prepared.asked.budget_ns;
        let schedule = Schedule::new(budget, self.cell_ns, prepared.guards_ns).unwrap_or(prepared.schedule);
        let alternatives: Vec<usize> = prepared.candidates.iter().map(|c| c.values.len()).collect();
        let mut search = Search::new(&alternatives, self.metric.better, schedule.cells, prepared.asked.seed)
            .ok_or_else(|| super::too_short(budget, budget + self.cell_ns))?;
        let of = search.design().cells();
        while let Some(cell) = search.next_cell() {
            self.ended(&format!("{} of at most {of} measurements are made", search.cells() - 1))?;
            if elapsed(self.began) > schedule.search_ns {
                search.stop();
                break;
            }
            let number = search.cells();
            self.trial.execution.listener.on_event(Event::Measurement { number, of });
            let seed = prepared.asked.seed ^ (number as u64).wrapping_mul(model::random::STEP);
            let run = self.measure(&cell, seed)?;
            search.take(match run.map(|run| self.metric.of(&run)) {
                None => Value::NotApplied,
                Some(None) => Value::NotValid,
                Some(Some(value)) => Value::Measured(value),
            });
        }
        let winner = search.winner().map(<[Change]>::to_vec);
        Ok((search, winner))
    }

    fn ended(&self, made: &str) -> Result<(), Failure> {
        if !self.trial.execution.interrupts.end() {
            return Ok(());
        }
        let message = format!("interrupted: {made}, and all settings are as they were");
        Err(Failure::invalid(message).remedy("narrows tune   begins anew"))
    }

    /// How many pairs the noise asks for, and the time allows.
    fn pairs(&self, seen: f64, noise: Option<f64>) -> u32 {
        let prepared = self.prepared;
        let wanted = noise.map_or(LEAST_PAIRS, |noise| {
            search::pairs_of_confirmation(noise, (seen - 1.0) * 100.0, prepared.asked.margin_percent)
        });
        let left = prepared.asked.budget_ns.saturating_sub(elapsed(self.began));
        let most = pairs_in(left, self.cell_ns, prepared.guards_ns).min(prepared.schedule.pairs * MORE_PAIRS);
        wanted.min(most).max(LEAST_PAIRS)
    }

    /// Pairs of the present values and the winner, in random order; `None` where none of them is valid.
    fn confirmed(
        &mut self,
        winner: &[Change],
        search: &Search,
    ) -> Result<Option<(Option<NotKept>, TuneProof)>, Failure> {
        let prepared = self.prepared;
        let seen = search.tried().into_iter().find(|t| t.cell == winner).and_then(|t| t.ratio).unwrap_or(1.0);
        let pairs = self.pairs(seen, search.noise());
        let mut sides: [Vec<Option<ProofRuns>>; 2] = [Vec::new(), Vec::new()];
        let mut order = 0;
        for pair in 0..pairs {
            for changed in order_of_pairs(pair, prepared.asked.seed) {
                self.ended(&format!("the search left one combination, and {pair} of {pairs} pairs are made"))?;
                let cell = Cell {
                    id: &prepared.id,
                    settings: if changed { arm_settings(&prepared.candidates, winner) } else { Vec::new() },
                    workloads: &[&prepared.asked.objective.workload, &prepared.guards],
                    seed: prepared.asked.seed ^ u64::from(pair + 1).wrapping_mul(model::random::STEP.rotate_left(7)),
                    place: Some(ExperimentPlace {
                        id: prepared.id.clone(),
                        arm: if changed { CHANGED } else { PRESENT }.to_owned(),
                        pair,
                        order: Some(order),
                        seed: Some(prepared.asked.seed),
                    }),
                    pairs,
                };
                order += 1;
                let runs = match self.trial.run(&cell, &prepared.stack, prepared.file)? {
                    Tested::Runs(runs) => runs,
                    Tested::NotApplied => Vec::new(),
                };
                self.bytes_written += runs.iter().map(|r| r.bytes_written).sum::<u64>();
                self.tag(&runs, changed)?;
                let mut runs = runs.into_iter();
                let both = runs.next().zip(runs.next());
                sides[usize::from(changed)].push(both.map(|(asked, guards)| ProofRuns { asked, guards }));
            }
        }
        let margin = search.noise().map_or(GUARD_MARGIN_PERCENT, |noise| search::guard_margin_percent(noise, pairs));
        Ok(self.proof(winner, &sides, margin))
    }

    fn tag(&self, runs: &[Run], changed: bool) -> Result<(), Failure> {
        let Some(archive) = self.trial.execution.archive else { return Ok(()) };
        for (run, tag) in runs.iter().zip(&self.prepared.tags(changed)) {
            archive.tag_add(tag, &run.id)?;
        }
        Ok(())
    }

    fn proof(
        &self,
        winner: &[Change],
        sides: &[Vec<Option<ProofRuns>>; 2],
        margin: f64,
    ) -> Option<(Option<NotKept>, TuneProof)> {
        let prepared = self.prepared;
        let both: Vec<(&ProofRuns, &ProofRuns)> =
            sides[0].iter().zip(&sides[1]).filter_map(|(a, b)| a.as_ref().zip(b.as_ref())).collect();
        let pairs_of = |value: &dyn Fn(&ProofRuns) -> Option<f64>| -> Vec<(f64, f64)> {
            both.iter().filter_map(|(a, b)| value(a).zip(value(b))).collect()
        };
        let gain = search::gain(&pairs_of(&|runs| self.metric.of(&runs.asked)), self.metric.better)?;
        let first = both.first().map(|(present, _)| &present.guards);
        let metrics = first.into_iter().flat_map(rates).filter(|m| m.status != MetricStatus::NotApplicable);
        let guards: Vec<TuneGuard> = metrics
            .filter_map(|metric| {
                let pairs = pairs_of(&|runs| value_of(&runs.guards, &metric.id));
                let guard = search::guard(&pairs, metric.better.unwrap_or(Better::Higher), margin)?;
                Some(TuneGuard {
                    metric: metric.id.clone(),
                    ratio: guard.ratio,
                    low: guard.low,
                    margin_percent: margin,
                    pairs: guard.pairs,
                    passes: guard.passes,
                })
            })
            .collect();
        let settings = changes(&prepared.candidates, winner);
        let tree = Tree::machine();
        let machine = Machine { tree: &tree, stack: &prepared.stack, root: Path::new("/") };
        let not_kept = match () {
            () if !gain.is_shown(prepared.asked.margin_percent) => Some(NotKept::NoGain),
            () if guards.iter().any(|guard| !guard.passes) => Some(NotKept::Guard),
            () => None,
        };
        let keep = keep(&[settings.clone(), held(&prepared.candidates, winner)].concat(), &machine);
        let search::Gain { ratio, low, high, p, pairs } = gain;
        Some((not_kept, TuneProof { settings, gain: TuneGain { ratio, low, high, p, pairs }, guards, keep }))
    }

    fn result(&self, search: &Search, proof: Option<(Option<NotKept>, TuneProof)>) -> Tuning {
        let Prepared { asked, candidates, id, target, .. } = self.prepared;
        let (winner, rejected) = match proof {
            Some((None, proof)) => (Some(proof), None),
            Some((Some(why), proof)) => {
                (None, Some(TuneRejected { why, proof: TuneProof { keep: Vec::new(), ..proof } }))
            }
            None => (None, None),
        };
        let tried = search.tried().into_iter().map(|tried| TuneTried {
            settings: named(candidates, &tried.cell)
                .into_iter()
                .map(|(name, value)| TuneValue { name, value })
                .collect(),
            ratio: tried.ratio,
            measurements: tried.times,
        });
        let described = candidates.iter().enumerate().map(|(candidate, of)| {
            let tries = |alternative: &usize| search.tries(Change { candidate, alternative: *alternative });
            let mut described = of.described();
            let values: Vec<String> = (0..of.values.len()).filter(tries).map(|n| of.values[n].clone()).collect();
            described.not_tried = described.not_tried.or_else(|| values.is_empty().then_some(NotTried::NoTime));
            described.values = values;
            described
        });
        let was_confirmed = winner.is_some() || rejected.is_some();
        Tuning {
            id: id.clone(),
            target: target.clone(),
            asked: asked.objective.asked.clone(),
            metric: self.metric.id.clone(),
            unit: self.metric.unit,
            better: Some(self.metric.better),
            seed: asked.seed,
            margin_percent: asked.margin_percent,
            candidates: described.collect(),
            cells: search.cells(),
            noise_percent: search.noise().map(|noise| noise * 100.0),
            tried: tried.collect(),
            winner,
            rejected,
            bytes_written: self.bytes_written,
            duration_ns: elapsed(self.began),
            tags: match self.trial.execution.archive {
                Some(_) if was_confirmed => [false, true].into_iter().flat_map(|c| self.prepared.tags(c)).collect(),
                _ => Vec::new(),
            },
        }
    }
}

/// Why the first measurement has no number.
fn without_number(run: &Run, wanted: Option<&str>, found: Option<&model::Metric>) -> Failure {
    let what = wanted.unwrap_or("a rate");
    let reasons = found.map(|m| m.reasons.clone()).unwrap_or_default();
    let of_phase = || run.phases.iter().filter(|p| p.plan.measures_target()).flat_map(|p| p.reasons.clone()).collect();
    let reasons: Vec<model::Reason> = if reasons.is_empty() { of_phase() } else { reasons };
    let message = match (reasons.is_empty(), found) {
        (false, _) => format!("a measurement gives no valid {what}: {}", model::reason::joined(&reasons)),
        (true, Some(_)) => format!("a measurement gives no valid {what}"),
        (true, None) => {
            let ids: Vec<&str> = run.results().map(|m| m.id.as_str()).take(8).collect();
            return Failure::usage(format!("no measurement has the metric {what}"))
                .remedy(format!("there are {}", ids.join(", ")));
        }
    };
    Failure::invalid(message).remedy("another row: --for rand-read-qd1, or a longer --budget")
}
