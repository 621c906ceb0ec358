//! The search itself: measurements until finalists are left, or what an earlier execution of it made, and what comes of all.

use super::Prepared;
use super::candidates::{arm_settings, values};
use super::schedule::Schedule;
use super::state::{First, Made, Side, State};
use super::trial::{Cell, Tested, Trial};
use conduct::Event;
use judge::search::{Change, Search, Step};
use model::{Failure, Ns, Reason, Run, TuneMeasurement, TuneStep, Unit};
use std::time::Instant;

/// With fewer measurements the first one tells what one takes.
const LEAST_FOR_A_MEAN: u64 = 5;

/// A search under way.
pub(super) struct Walk<'a> {
    pub prepared: &'a Prepared<'a>,
    pub trial: &'a Trial<'a>,
    pub state: State,
    /// All measurements of the search in their order.
    pub measurements: Vec<TuneMeasurement>,
    began: Instant,
    /// Values and sides of the state that this execution has come by.
    passed: (usize, usize),
    /// When the search was over.
    searched_ns: Option<Ns>,
}

/// A burst of fewer operations tells nothing.
const LEAST_OPERATIONS: u64 = 8;

/// A number; what slowed a run slows others alike, and such a number is taken. So is one of a fast disk that was soon done with the bytes that it may
/// be given: it is uncertain, and how much the pairs show.
pub(super) fn value_of(run: &Run, id: &str) -> Option<f64> {
    let metric = run.metric(id)?;
    let soon_done = |reason: &Reason| {
        matches!(reason, Reason::TooLittleData { operations: LEAST_OPERATIONS.., by_bytes: true, .. })
            || ["no-interval", "warm-up-counted"].iter().any(|code| reason.is(code))
            || reason.only_worsens()
    };
    let burst = || metric.rejected_value.filter(|v| v.is_finite() && metric.reasons.iter().all(soon_done));
    metric.value.or_else(|| metric.slowed()).or_else(burst).filter(|value| *value > 0.0)
}

/// The rates of the phases that measure the target.
pub(super) fn rates(run: &Run) -> impl Iterator<Item = &model::Metric> {
    let rate = |m: &&model::Metric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS);
    run.phases.iter().filter(|p| p.plan.measures_target()).filter_map(move |p| p.metrics.iter().find(rate))
}

fn elapsed(since: Instant) -> Ns {
    u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

impl<'a> Walk<'a> {
    /// From where the state of what is prepared is.
    pub fn new(prepared: &'a Prepared<'a>, trial: &'a Trial<'a>) -> Self {
        let began = Instant::now();
        Self {
            prepared,
            trial,
            state: prepared.state.clone(),
            measurements: Vec::new(),
            began,
            passed: (0, 0),
            searched_ns: None,
        }
    }

    /// Makes what the first measurement decides, unless an earlier execution did, and walks the steps of the search.
    pub fn searched(&mut self) -> Result<Search, Failure> {
        if self.state.first.is_none() {
            let first = self.begin()?;
            self.state.first = Some(first);
            self.save()?;
        }
        let search = self.search()?;
        self.searched_ns = self.state.sides.is_empty().then(|| self.spent()).or(Some(self.first().search_ns));
        Ok(search)
    }

    /// Nothing is left to resume.
    pub fn end(&mut self) -> Result<(), Failure> {
        self.state.is_over = true;
        self.save()
    }

    /// Makes a first measurement, of the present values: whether the number can be had, how long it takes, and what its findings name.
    /// Then tries which values can be applied, without measuring.
    fn begin(&mut self) -> Result<First, Failure> {
        let Prepared { asked, candidates, stack, schedule, id, .. } = self.prepared;
        self.trial.execution.listener.on_event(Event::Measurement { number: 0, of: schedule.cells });
        let Some(run) = self.measure(&[], asked.seed)? else {
            return Err(Failure::internal("the present values cannot be applied"));
        };
        // The first one finds caches and drivers cold; what is off by more is no measure of those that follow.
        let foreseen = self.prepared.cell_ns;
        let cell_ns = elapsed(self.began).clamp(foreseen / 2, foreseen + foreseen / 2);
        let wanted = asked.objective.metric.as_deref();
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
        let (mut refused, mut why_refused) = (Vec::new(), None);
        for (candidate, of) in candidates.iter().enumerate() {
            for alternative in 0..of.values.len() {
                self.ended("1 measurement is made")?;
                let settings = arm_settings(candidates, &[Change { candidate, alternative }]);
                if let Some(why) = self.trial.try_applying(settings, id, stack)? {
                    refused.push((candidate, alternative));
                    why_refused.get_or_insert(why);
                }
            }
        }
        let schedule = Schedule::new(asked.budget_ns, cell_ns, self.prepared.guards_ns).unwrap_or(*schedule);
        Ok(First {
            metric: found.id.clone(),
            unit: found.unit,
            better,
            cell_ns,
            until_search_ns: self.spent(),
            machine: run.environment.machine.clone(),
            suggested: diagnose::suggested_settings(&run).into_iter().map(str::to_owned).collect(),
            refused,
            why_refused,
            cells: schedule.cells,
            search_ns: schedule.search_ns,
        })
    }

    /// What the first measurement decided.
    pub fn first(&self) -> &First {
        self.state.first.as_ref().expect("the first measurement is made before all others")
    }

    /// Time since the search was begun, but for what was between two executions of it.
    pub fn spent(&self) -> Ns {
        self.prepared.state.spent_ns + elapsed(self.began)
    }

    /// What one measurement takes here.
    pub fn cell_ns(&self) -> Ns {
        let made = self.state.values.len() as u64;
        let searched = self.searched_ns.unwrap_or_else(|| self.spent()).saturating_sub(self.first().until_search_ns);
        if made < LEAST_FOR_A_MEAN { self.first().cell_ns } else { searched / made }
    }

    fn save(&mut self) -> Result<(), Failure> {
        self.state.spent_ns = self.spent();
        self.state.save(self.trial.execution.archive)
    }

    /// A side that an earlier execution made.
    pub fn replayed_side(&mut self) -> Option<Side> {
        let side = self.state.sides.get(self.passed.1).cloned();
        self.passed.1 += usize::from(side.is_some());
        side
    }

    pub fn made_side(&mut self, side: Side) -> Result<(), Failure> {
        self.state.sides.push(side);
        self.passed.1 += 1;
        self.save()
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
                self.state.bytes_written += runs.iter().map(|r| r.bytes_written).sum::<u64>();
                runs.into_iter().next()
            }
        })
    }

    /// Walks the steps of the search, until it or its time is over.
    fn search(&mut self) -> Result<Search, Failure> {
        let asked = &self.prepared.asked;
        let (first, candidates) = (self.first().clone(), &self.prepared.candidates);
        let mut search = Search::new(&first.space(candidates), first.better, first.cells, asked.seed)
            .ok_or_else(|| nothing_to_search(asked.budget_ns, &first, &first.space(candidates)))?;
        let of = search.design().cells();
        let mut without = None;
        while let Some(cell) = search.next_cell() {
            let number = search.cells();
            let (made, left) = match self.state.values.get(self.passed.0) {
                Some(made) => *made,
                // What has pairs has ended.
                None if !self.state.sides.is_empty() || self.spent() > first.search_ns => {
                    search.stop();
                    break;
                }
                None => {
                    self.ended(&format!("{} of at most {of} measurements are made", number - 1))?;
                    self.trial.execution.listener.on_event(Event::Measurement { number, of });
                    let seed = asked.seed ^ (number as u64).wrapping_mul(model::random::STEP);
                    let run = self.measure(&cell, seed)?;
                    let made = match run.as_ref().map(|run| value_of(run, &first.metric)) {
                        None => Made::NotApplied,
                        Some(None) => Made::NotValid,
                        Some(Some(value)) => Made::Measured(value),
                    };
                    if let (Made::NotValid, Some(run)) = (made, &run) {
                        without = Some(without_number(run, Some(&first.metric), run.metric(&first.metric)));
                    }
                    let time = first.search_ns.saturating_sub(self.spent());
                    let left = usize::try_from(time / self.cell_ns().max(1)).unwrap_or(usize::MAX);
                    self.state.values.push((made, left));
                    self.save()?;
                    (made, left)
                }
            };
            self.passed.0 += 1;
            self.measurements.push(TuneMeasurement {
                step: match search.step() {
                    Step::Singles => TuneStep::Singles,
                    Step::Screen => TuneStep::Screen,
                    Step::Halving => TuneStep::Halving,
                    Step::Reduction | Step::Done => TuneStep::Reduction,
                },
                settings: values(candidates, &cell),
                value: if let Made::Measured(value) = made { Some(value) } else { None },
            });
            search.take(made.into());
            search.shorten(left);
        }
        let has_number = self.state.values.iter().any(|(made, _)| matches!(made, Made::Measured(_)));
        match without {
            Some(failure) if !has_number => Err(failure),
            _ => Ok(search),
        }
    }

    pub fn ended(&self, made: &str) -> Result<(), Failure> {
        if !self.trial.execution.interrupts.end() {
            return Ok(());
        }
        let message = format!("interrupted: {made}, and all settings are as they were");
        Err(Failure::invalid(message).remedy("narrows tune --resume   goes on there"))
    }
}

/// Why no search can be made: no time, or nothing can be applied.
fn nothing_to_search(budget_ns: Ns, first: &First, space: &judge::search::Space) -> Failure {
    if space.refused.len() == space.changes.len() {
        let why = first.why_refused.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        return Failure::environment(format!("no other value of any setting can be applied here{why}"))
            .remedy("narrows settings list TARGET   shows what there is");
    }
    super::too_short(budget_ns, budget_ns + first.cell_ns)
}

/// Why the first measurement has no number.
fn without_number(run: &Run, wanted: Option<&str>, found: Option<&model::Metric>) -> Failure {
    let what = wanted.unwrap_or("a rate");
    let reasons = found.map(|m| m.reasons.clone()).unwrap_or_default();
    let of_phase = || run.phases.iter().filter(|p| p.plan.measures_target()).flat_map(|p| p.reasons.clone()).collect();
    let reasons: Vec<Reason> = if reasons.is_empty() { of_phase() } else { reasons };
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
