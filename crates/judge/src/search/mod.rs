//! A search for the settings that make a metric better, as a pure state machine: it hands out what is to be set for the next
//! measurement and takes its value. The same seed and values lead the same way on every machine.
//!
//! The steps: each change alone, in one block with the present values between them; what is worse is dropped; a screen in which all
//! that is left varies at once; halving of the best single changes and pairs; where a pair is left, whether
//! one of its two changes is enough. A brief search has the screen first. One combination is left, or nothing. None of it proves anything: that is for measurements which the
//! search never saw ([`gain`], [`guard`]). docs/tuning.md has its error rates.

mod change;
mod design;
mod draw;
mod measured;
mod proof;
mod screen;

pub use change::{Change, Space};
pub use design::Design;
pub use proof::{
    ALPHA, GUARD_MARGIN_PERCENT, GUARDED_PAIRS, Guard, LEAST_PAIRS, gain, guard, guard_margin_percent,
    guard_pairs_needed, is_futile, is_shown, pairs_needed, pairs_of_confirmation, provable_percent,
};

use design::{PAIRS_KEPT, REDUCTION_ROUNDS, SETTINGS_KEPT, SINGLES_KEPT, halved, repeats, round_references};
use draw::Draw;
use measured::{Measured, distance, scatter};
use model::{Better, CompactSort as _};
use screen::Pooled;
use std::collections::VecDeque;

/// A change alone is dropped where it is worse by so many standard deviations.
const WORSE: f64 = 2.5;
/// A pair is kept where it is better by so many standard errors than the better of its changes alone.
const PAIR_BETTER: f64 = 2.0;
/// A screen's effect is known so much better than that of a single measurement.
const SCREEN_WEIGHT: f64 = 8.0;
/// This share of what the halving begins with may be pairs.
const PAIRS_OF_ARMS: (usize, usize) = (2, 3);
/// A value that is not valid is measured so often again.
const AGAIN: u8 = 1;

/// Where a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Each change alone.
    Singles,
    /// All that is left at once.
    Screen,
    /// The best against one another.
    Halving,
    /// Whether one change of a pair is enough.
    Reduction,
    /// Nothing is left to measure.
    Done,
}

/// What became of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// The metric.
    Measured(f64),
    /// It was measured, and is not valid: it may be the next time.
    NotValid,
    /// The settings could not be applied: this combination is not tried again.
    NotApplied,
}

/// A measurement that is to be made.
#[derive(Clone, Debug, PartialEq)]
struct Asked {
    cell: Vec<Change>,
    failed: u8,
}

/// What is known of a combination.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// What was set.
    pub cell: Vec<Change>,
    /// How many times as good as the present values it was, more is better, on the mean of its measurements; `None` where none
    /// is valid.
    pub ratio: Option<f64>,
    /// Standard error of the ratio's logarithm, by the noise; `None` where that is not known.
    pub error: Option<f64>,
    /// How often it was measured.
    pub times: usize,
}

/// A search that is under way.
#[derive(Clone, Debug)]
pub struct Search {
    better: Better,
    design: Design,
    draw: Draw,
    step: Step,
    queue: VecDeque<Asked>,
    open: Option<Asked>,
    handed_out: usize,
    /// Changes that are tried alone, then those that are left.
    left: Vec<Change>,
    /// How good each that is left is taken to be.
    scores: Vec<(Change, f64)>,
    singles: Vec<Measured>,
    screen: Vec<Measured>,
    halving: Vec<Measured>,
    /// What the halving compares now, the best first once measured.
    arms: Vec<Vec<Change>>,
    refused: Vec<Vec<Change>>,
    not_valid: Vec<Vec<Change>>,
    winner: Option<Vec<Change>>,
    suggested: Vec<usize>,
}

impl Search {
    /// In at most so many measurements; `None` where these are too few for one change, or nothing can be changed.
    pub fn new(space: &Space, better: Better, cells: usize, seed: u64) -> Option<Self> {
        let mut left = space.usable();
        let design = Design::new(left.len(), screen::settings(&left).len(), cells)?;
        left.truncate(design.changes);
        let mut draw = Draw::new(seed);
        let singles: Vec<Vec<Change>> = left.iter().map(|change| vec![*change]).collect();
        let rounds = (0..design.rounds).map(|_| draw.spread(singles.clone(), &Vec::new(), design.references));
        let mut order: Vec<Vec<Change>> = rounds.collect::<Vec<_>>().concat();
        if design.is_brief() {
            order = screen::cells(&left, design.screen, &mut draw);
        }
        Some(Self {
            better,
            design,
            draw,
            step: if design.is_brief() { Step::Screen } else { Step::Singles },
            queue: order.into_iter().map(asked).collect(),
            open: None,
            handed_out: 0,
            left,
            scores: Vec::new(),
            singles: Vec::new(),
            screen: Vec::new(),
            halving: Vec::new(),
            arms: Vec::new(),
            refused: space.refused.iter().map(|change| vec![*change]).collect(),
            not_valid: Vec::new(),
            winner: None,
            suggested: space.suggested.clone(),
        })
    }

    /// Sizes of its steps.
    pub fn design(&self) -> Design {
        self.design
    }

    /// Where it is.
    pub fn step(&self) -> Step {
        self.step
    }

    /// Measurements that were handed out.
    pub fn cells(&self) -> usize {
        self.handed_out
    }

    /// Whether a change is among those that are tried; the others had no place in so many measurements.
    pub fn tries(&self, change: Change) -> bool {
        self.singles.iter().any(|m| m.cell == [change])
            || self.refused.iter().chain(&self.not_valid).any(|cell| cell == &[change])
            || self.queue.iter().any(|a| a.cell == [change])
            || self.left.contains(&change)
    }

    /// What is set for the next measurement, nothing for the present values; `None` where the search is over. What was handed out
    /// before and has no value is not asked for again.
    pub fn next_cell(&mut self) -> Option<Vec<Change>> {
        while self.queue.is_empty() && self.step != Step::Done {
            self.end_step();
        }
        self.open = self.queue.pop_front();
        self.handed_out += usize::from(self.open.is_some());
        self.open.as_ref().map(|asked| asked.cell.clone())
    }

    /// What came of the measurement that was handed out last.
    pub fn take(&mut self, value: Value) {
        let Some(asked) = self.open.take() else { return };
        let turned = match (value, self.better) {
            (Value::Measured(value), Better::Higher) => value.ln(),
            (Value::Measured(value), Better::Lower) => -value.ln(),
            (Value::NotValid | Value::NotApplied, _) => f64::NAN,
        };
        if turned.is_finite() {
            let measured = Measured { cell: asked.cell, value: turned, at: self.handed_out as f64 };
            match self.step {
                Step::Singles => self.singles.push(measured),
                Step::Screen => self.screen.push(measured),
                Step::Halving | Step::Reduction | Step::Done => self.halving.push(measured),
            }
        } else if value != Value::NotApplied && asked.failed < AGAIN {
            self.queue.push_back(Asked { failed: asked.failed + 1, ..asked });
        } else if !asked.cell.is_empty() && value == Value::NotApplied {
            self.queue.retain(|other| other.cell != asked.cell);
            self.refused.push(asked.cell);
        } else if !asked.cell.is_empty() {
            self.not_valid.push(asked.cell);
        }
    }

    /// So many measurements there is time for. A brief search ends its screen where it had its share of them, and compares as many changes as
    /// the rest holds: changes that were not compared tell little.
    pub fn shorten(&mut self, left: usize) {
        if self.step == Step::Screen && self.design.is_brief() && design::has_share(self.screen.len(), left) {
            self.queue.clear();
            self.design.arms = self.design.arms.min(design::most_arms(left));
        }
    }

    /// Ends it with what is known by now: its time is over.
    pub fn stop(&mut self) {
        self.queue.clear();
        match self.step {
            Step::Singles | Step::Screen => {
                self.score();
                let best = self.scores.first().filter(|(_, score)| *score > 0.0);
                self.winner = best.map(|(change, _)| vec![*change]);
            }
            Step::Halving => {
                self.rank_arms();
                self.winner = self.best_arm();
            }
            Step::Reduction | Step::Done => {}
        }
        self.step = Step::Done;
    }

    /// What is left at the end; `None` where nothing was better than the present values.
    pub fn winner(&self) -> Option<&[Change]> {
        self.winner.as_deref()
    }

    /// Standard deviation of one measurement, as a share: of the repeats of the present values, with the drift of each step taken
    /// out; of a brief search of all measurements. `None` where these are too few.
    pub fn noise(&self) -> Option<f64> {
        if self.design.is_brief() {
            return self.pooled().map(|pooled| pooled.noise);
        }
        let parts = [scatter(&self.singles), scatter(&self.halving)];
        let (squares, free) = parts.iter().fold((0.0, 0.0), |(s, f), (squares, free)| (s + squares, f + free));
        (free >= 2.0).then(|| (squares / free).sqrt())
    }

    /// All combinations that were compared with the present values, the best first.
    pub fn tried(&self) -> Vec<Tried> {
        let mut cells: Vec<&Vec<Change>> = self.halving.iter().chain(&self.singles).map(|m| &m.cell).collect();
        cells.extend(self.refused.iter().chain(&self.not_valid));
        let noise = self.noise();
        let mut out: Vec<Tried> = Vec::new();
        if self.design.is_brief() {
            out = self.pooled_tried();
        }
        for cell in cells.into_iter().filter(|cell| !cell.is_empty()) {
            if out.iter().any(|t| t.cell == *cell) {
                continue;
            }
            let parts: Vec<(f64, usize)> =
                [&self.singles, &self.halving].into_iter().filter_map(|of| distance(of, cell)).collect();
            let times = parts.iter().map(|(_, times)| times).sum();
            let sum: f64 = parts.iter().map(|(mean, times)| mean * *times as f64).sum();
            let ratio = (times > 0).then(|| (sum / times as f64).exp());
            let parts = [&self.singles, &self.halving].into_iter().filter(|of| of.iter().any(|m| m.cell == *cell));
            let others = parts.flatten().filter(|m| m.cell.is_empty()).count();
            out.push(Tried { cell: cell.clone(), ratio, error: error(noise, times, others), times });
        }
        out.compact_sort_by(|a, b| b.ratio.unwrap_or(0.0).total_cmp(&a.ratio.unwrap_or(0.0)));
        out
    }

    /// What may be confirmed, in this order: the winner, and the best without its settings that looked better than the present values. In a
    /// brief search, whose measurements tell little of each, the best change that a finding names comes before both.
    pub fn finalists(&self) -> Vec<Vec<Change>> {
        let tried = self.tried();
        let is_named = |t: &&Tried| t.cell.iter().any(|c| self.suggested.contains(&c.candidate)) && t.ratio > Some(1.0);
        let named = tried.iter().filter(|_| self.design.is_brief()).find(is_named).map(|t| &t.cell);
        let Some(first) = named.or(self.winner.as_ref()) else { return Vec::new() };
        let is_other = |cell: &Vec<Change>| cell.iter().all(|c| first.iter().all(|f| f.candidate != c.candidate));
        let better = tried.iter().filter(|t| t.ratio > Some(1.0)).map(|t| &t.cell);
        let second = self.winner.iter().chain(better).find(|cell| is_other(cell));
        std::iter::once(first).chain(second).cloned().collect()
    }

    /// What all measurements of a brief search show.
    fn pooled(&self) -> Option<Pooled> {
        let all: Vec<Measured> = self.screen.iter().chain(&self.halving).cloned().collect();
        screen::pooled(&self.left, &self.suggested, &all)
    }

    fn pooled_tried(&self) -> Vec<Tried> {
        let times = |change: &Change| {
            let measured = self.screen.iter().chain(&self.halving);
            measured.filter(|m| m.cell.contains(change)).count()
        };
        let Some(pooled) = self.pooled() else { return Vec::new() };
        let all = self.screen.len() + self.halving.len();
        let tried = |(change, effect): (Change, f64)| {
            let times = times(&change);
            let error = error(Some(pooled.noise), times, all - times);
            Tried { cell: vec![change], ratio: (times > 0).then(|| effect.exp()), error, times }
        };
        pooled.of_each.into_iter().map(tried).collect()
    }

    fn end_step(&mut self) {
        match self.step {
            Step::Singles => {
                self.drop_worse();
                self.score();
                let settings = screen::settings(&self.left).len();
                if self.design.screen > 0 && settings > 2 {
                    self.step = Step::Screen;
                    let cells = screen::cells(&self.left, self.design.screen, &mut self.draw);
                    self.queue.extend(cells.into_iter().map(asked));
                } else {
                    let pairs = self.pairs_of_best();
                    self.begin_halving(pairs);
                }
            }
            Step::Screen if self.design.is_brief() => {
                self.score();
                self.begin_halving(Vec::new());
            }
            Step::Screen => {
                self.score();
                let found = screen::effects(&self.left, &self.screen, self.noise());
                let pairs = found.map(|found| found.best_pairs(&self.screen, PAIRS_KEPT)).unwrap_or_default();
                self.begin_halving(pairs);
            }
            Step::Halving => {
                self.rank_arms();
                let refused = &self.refused;
                self.arms.retain(|arm| !refused.contains(arm));
                self.arms.truncate(halved(self.arms.len()).max(1));
                self.next_round();
            }
            Step::Reduction => {
                self.reduce();
                self.step = Step::Done;
            }
            Step::Done => {}
        }
    }

    /// Drops what is worse alone, and what cannot be set alone.
    fn drop_worse(&mut self) {
        let references = self.singles.iter().filter(|m| m.cell.is_empty()).count();
        let noise = self.noise().unwrap_or(0.0);
        let is_worse = |change: &Change| {
            distance(&self.singles, &[*change]).is_none_or(|(mean, times)| {
                mean < -WORSE * noise * (1.0 / times as f64 + 1.0 / references.max(1) as f64).sqrt()
            })
        };
        let left: Vec<Change> = self.left.iter().copied().filter(|change| !is_worse(change)).collect();
        self.left = left;
    }

    /// How good each change that is left is by all that was measured, the best first.
    fn score(&mut self) {
        if self.design.is_brief() {
            self.scores = self.pooled().map(|pooled| pooled.of_each).unwrap_or_default();
            self.scores.compact_sort_by(|a, b| b.1.total_cmp(&a.1));
            return;
        }
        let screened = screen::effects(&self.left, &self.screen, self.noise());
        let screened = screened.map(|found| found.of_each).unwrap_or_default();
        let of = |change: Change| {
            let alone = distance(&self.singles, &[change]).map(|(mean, _)| mean);
            let screened = screened.iter().find(|(other, _)| *other == change).map(|(_, effect)| *effect);
            match (alone, screened) {
                (Some(alone), Some(effect)) => (alone + SCREEN_WEIGHT * effect) / (1.0 + SCREEN_WEIGHT),
                (alone, screened) => screened.or(alone).unwrap_or(f64::NEG_INFINITY),
            }
        };
        let mut scores: Vec<(Change, f64)> = self.left.iter().map(|change| (*change, of(*change))).collect();
        scores.compact_sort_by(|a, b| b.1.total_cmp(&a.1));
        self.scores = scores;
    }

    /// All pairs of the best settings, where no screen tells which pairs are.
    fn pairs_of_best(&self) -> Vec<Vec<Change>> {
        let mut best: Vec<Change> = Vec::new();
        for (change, _) in self.scores.iter().filter(|(_, score)| *score > 0.0) {
            if best.len() < SETTINGS_KEPT && best.iter().all(|b| b.candidate != change.candidate) {
                best.push(*change);
            }
        }
        let of = |(index, first): (usize, &Change)| {
            let pair = |second: &Change| vec![*second.min(first), *second.max(first)];
            best[..index].iter().map(pair).collect::<Vec<_>>()
        };
        best.iter().enumerate().flat_map(of).collect()
    }

    /// The best single changes and pairs, as many as there is room for.
    fn begin_halving(&mut self, mut pairs: Vec<Vec<Change>>) {
        self.step = Step::Halving;
        if !self.design.pairs {
            pairs.clear();
        }
        pairs.truncate(self.design.arms * PAIRS_OF_ARMS.0 / PAIRS_OF_ARMS.1);
        let room = self.design.arms.saturating_sub(pairs.len()).clamp(1, SINGLES_KEPT);
        let is_suggested = |change: &Change| self.suggested.contains(&change.candidate);
        let [first, others] = [true, false].map(|of| {
            let those = self.scores.iter().filter(move |(change, _)| is_suggested(change) == of);
            those.filter(move |(_, score)| of || *score > 0.0)
        });
        // One place at least is not for what is suggested.
        let singles = first.take(room.saturating_sub(1)).chain(others).take(room);
        self.arms = singles.map(|(change, _)| vec![*change]).collect();
        self.arms.extend(pairs);
        self.arms.truncate(self.design.arms);
        self.next_round();
    }

    /// Measures what is left of the arms, or ends the halving.
    fn next_round(&mut self) {
        if self.arms.len() > 1 {
            let each = repeats(self.arms.len());
            let cells = self.arms.iter().flat_map(|arm| std::iter::repeat_n(arm.clone(), each)).collect();
            let order = self.draw.spread(cells, &Vec::new(), round_references(self.arms.len()));
            self.queue.extend(order.into_iter().map(asked));
            return;
        }
        self.winner = self.best_arm();
        self.step = Step::Done;
        let Some(pair) = self.winner.clone().filter(|cell| cell.len() == 2) else { return };
        self.step = Step::Reduction;
        let parts = [pair.clone(), vec![pair[0]], vec![pair[1]]];
        for _ in 0..REDUCTION_ROUNDS {
            let mut round = parts.to_vec();
            self.draw.shuffle(&mut round);
            self.queue.extend(round.into_iter().map(asked));
        }
    }

    /// The arms in the order of their means over all rounds, the best first.
    fn rank_arms(&mut self) {
        if self.design.is_brief() {
            self.score();
        }
        let mean = |arm: &Vec<Change>| self.estimate(arm).unwrap_or(f64::NEG_INFINITY);
        let mut ranked: Vec<(f64, Vec<Change>)> = self.arms.iter().map(|arm| (mean(arm), arm.clone())).collect();
        ranked.compact_sort_by(|a, b| b.0.total_cmp(&a.0));
        self.arms = ranked.into_iter().map(|(_, arm)| arm).collect();
    }

    /// The first arm, if it is better than the present values; one that was never measured again by what was known before.
    fn best_arm(&self) -> Option<Vec<Change>> {
        let arm = self.arms.first()?;
        (self.estimate(arm).or_else(|| self.score_of(arm))? > 0.0).then(|| arm.clone())
    }

    fn score_of(&self, arm: &[Change]) -> Option<f64> {
        self.scores.iter().find(|(change, _)| *arm == [*change]).map(|(_, score)| *score)
    }

    /// How good an arm is by what the halving measured, of a brief search by all that was measured.
    fn estimate(&self, arm: &[Change]) -> Option<f64> {
        if self.design.is_brief() {
            return self.score_of(arm);
        }
        distance(&self.halving, arm).map(|(mean, _)| mean)
    }

    /// Leaves one change of a winning pair where the pair is not clearly better.
    fn reduce(&mut self) {
        let Some(pair) = self.winner.clone() else { return };
        let Some((together, times)) = distance(&self.halving, &pair) else { return };
        let alone = pair.iter().filter_map(|change| Some((*change, distance(&self.halving, &[*change])?)));
        let Some((change, (mean, of))) = alone.max_by(|a, b| a.1.0.total_cmp(&b.1.0)) else { return };
        let error = self.noise().unwrap_or(0.0) * (1.0 / times as f64 + 1.0 / of as f64).sqrt();
        if together - mean < PAIR_BETTER * error && mean > 0.0 {
            self.winner = Some(vec![change]);
        }
    }
}

/// Standard error of the distance of two means of so many values.
fn error(noise: Option<f64>, times: usize, others: usize) -> Option<f64> {
    (times > 0 && others > 0).then_some(noise? * (1.0 / times as f64 + 1.0 / others as f64).sqrt())
}

fn asked(cell: Vec<Change>) -> Asked {
    Asked { cell, failed: 0 }
}

#[cfg(test)]
mod tests;
