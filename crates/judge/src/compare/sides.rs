//! The two sides: which runs belong together, and what they say of one metric.

use super::processor;
use crate::group::GROUP_PART;
use model::{
    Basis, Better, ExperimentPlace, GroupPlace, Metric, MetricStatus, PhasePlan, PhaseRun, Reason, Run, RunState,
    TargetKind, Unit,
};
use std::collections::HashSet;

/// Sets of which one has so much more of its runs slowed than the other are not slowed alike.
pub(super) const MAX_UNEVEN: f64 = 0.25;

/// How the runs of the sides belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paired {
    /// By the pairs of an experiment whose order was drawn by lot.
    Drawn,
    /// Not at all, or in an order nobody drew.
    NotDrawn,
}

/// What one run says of a metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Value {
    pub value: Option<f64>,
    /// Why there is none.
    pub why_not: Option<NoValue>,
    /// What slowed the run, where the value is a bound.
    pub slowed: Option<Reason>,
}

impl Value {
    fn missing(became: Option<MetricStatus>, because: Reason) -> Self {
        Self { why_not: Some(NoValue { became, because }), ..Self::default() }
    }
}

/// Why a run has no value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NoValue {
    /// What became of the metric, where there is one.
    became: Option<MetricStatus>,
    because: Reason,
}

impl NoValue {
    fn is_like(&self, other: &Self) -> bool {
        let same = |a: &Reason, b: &Reason| a.code() == b.code() && (a.code().is_some() || a == b);
        self.became == other.became && same(&self.because, &other.because)
    }

    /// In so many of all runs.
    fn in_runs(&self, n: usize, all: usize) -> Reason {
        if let Some(status) = self.became {
            return status.because(self.because.clone(), n as u64, all as u64);
        }
        let text = format!("{} (in {n} of {all} runs)", self.because.text());
        Reason::Other { code: self.because.code().map(str::to_owned), text }
    }
}

/// What all runs say of a metric; of pairs, `a[i]` belongs to `b[i]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Values {
    pub unit: Unit,
    pub better: Option<Better>,
    /// Whether the sides give it in different units.
    pub units_differ: bool,
    pub a: Vec<Value>,
    pub b: Vec<Value>,
    pub drawn: bool,
}

impl Values {
    pub fn known_a(&self) -> Vec<f64> {
        self.a.iter().filter_map(|v| v.value).collect()
    }

    pub fn known_b(&self) -> Vec<f64> {
        self.b.iter().filter_map(|v| v.value).collect()
    }

    /// How many of each side are bounds.
    pub fn slowed(&self) -> [usize; 2] {
        [&self.a, &self.b].map(|side| side.iter().filter(|v| v.slowed.is_some()).count())
    }

    /// The same as shares of the runs of each side.
    pub fn slowed_shares(&self) -> [f64; 2] {
        let [a, b] = self.slowed();
        [a as f64 / self.a.len().max(1) as f64, b as f64 / self.b.len().max(1) as f64]
    }

    /// That runs count although something slowed them, with the first reason of each kind.
    pub fn warning(&self) -> Option<Reason> {
        let [a, b] = self.slowed();
        let mut reasons: Vec<&Reason> = Vec::new();
        for reason in self.a.iter().chain(&self.b).filter_map(|v| v.slowed.as_ref()) {
            if !reasons.iter().any(|r| r.code() == reason.code()) {
                reasons.push(reason);
            }
        }
        let why: Vec<String> = reasons.iter().map(|r| r.text()).collect();
        let [share_a, share_b] = self.slowed_shares();
        let because = match (share_a - share_b).abs() <= MAX_UNEVEN {
            true => "and count all the same, since both sides suffer alike",
            false => "and count all the same, though not as many of each side: that may be part of the difference",
        };
        (a + b > 0).then(|| {
            Reason::of(
                "slowed",
                format!(
                    "{a} of {} runs of A and {b} of {} of B were slowed {because} ({}); --strict leaves them out",
                    self.a.len(),
                    self.b.len(),
                    why.join("; ")
                ),
            )
        })
    }

    /// The values that the change is from: of pairs those of whole pairs, else all.
    pub fn compared(&self) -> [Vec<f64>; 2] {
        if !self.drawn {
            return [self.known_a(), self.known_b()];
        }
        let whole = self.a.iter().zip(&self.b).filter_map(|(a, b)| Some((a.value?, b.value?)));
        let (a, b) = whole.unzip();
        [a, b]
    }

    /// Why runs have no value, with how many of how many. What differs only in its figures is said once, with the first.
    pub fn no_value_reasons(&self) -> Vec<Reason> {
        let mut counted: Vec<(&NoValue, usize)> = Vec::new();
        for why in self.a.iter().chain(&self.b).filter_map(|v| v.why_not.as_ref()) {
            match counted.iter_mut().find(|(known, _)| known.is_like(why)) {
                Some((_, n)) => *n += 1,
                None => counted.push((why, 1)),
            }
        }
        let all = self.a.len() + self.b.len();
        counted.iter().map(|(why, n)| why.in_runs(*n, all)).collect()
    }
}

/// The place of a run whose order was drawn by lot.
fn experiment_place(run: &Run) -> Option<&ExperimentPlace> {
    run.experiment.as_ref().filter(|place| place.order.is_some())
}

/// Both sides, in pairs where there are any.
pub(super) struct Sides<'a> {
    a: Vec<&'a Run>,
    b: Vec<&'a Run>,
    paired: Paired,
    seed: Option<u64>,
    /// Runs that belong to no pair, where there are pairs.
    left_out: usize,
}

impl<'a> Sides<'a> {
    pub fn of(a: impl IntoIterator<Item = &'a Run>, b: impl IntoIterator<Item = &'a Run>) -> Self {
        let (a, b): (Vec<&Run>, Vec<&Run>) = (a.into_iter().collect(), b.into_iter().collect());
        let mut pairs: Vec<(&Run, &Run)> = Vec::new();
        let mut seed = None;
        for &first in &a {
            let Some(mine) = experiment_place(first) else { continue };
            let partner = b
                .iter()
                .copied()
                .find(|second| experiment_place(second).is_some_and(|p| p.id == mine.id && p.pair == mine.pair));
            if let Some(partner) = partner {
                pairs.push((first, partner));
                seed = seed.or(mine.seed);
            }
        }
        if pairs.len() > 1 {
            let left_out = a.len() + b.len() - 2 * pairs.len();
            let (a, b) = pairs.into_iter().unzip();
            return Self { a, b, paired: Paired::Drawn, seed, left_out };
        }
        Self { a, b, paired: Paired::NotDrawn, seed: None, left_out: 0 }
    }

    pub fn basis(&self) -> Basis {
        match (self.paired, self.a.len().min(self.b.len())) {
            (Paired::Drawn, _) => Basis::Paired,
            (Paired::NotDrawn, 0 | 1) => Basis::Single,
            (Paired::NotDrawn, _) => Basis::Unpaired,
        }
    }

    /// The runs of both sides.
    pub fn runs(&self) -> [&[&'a Run]; 2] {
        [&self.a, &self.b]
    }

    pub fn pairs(&self) -> u32 {
        let pairs = if self.paired == Paired::Drawn { self.a.len() } else { 0 };
        u32::try_from(pairs).unwrap_or(u32::MAX)
    }

    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Runs that did not come to their end, with how they ended.
    pub fn incomplete(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (side, runs) in [("A", &self.a), ("B", &self.b)] {
            let ends = [
                (RunState::Failed, "failed"),
                (RunState::Interrupted, "interrupted"),
                (RunState::Truncated, "cut off"),
            ];
            for (state, word) in ends {
                let count = runs.iter().filter(|r| r.state == state).count();
                if count > 0 {
                    reasons.push(Reason::of("incomplete", format!("{count} of the runs of {side}: {word}")));
                }
            }
        }
        reasons
    }

    /// Sides whose own runs are not of one plan: what differs between them then is in the spread.
    pub fn different_plans(&self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (side, runs) in [("A", &self.a), ("B", &self.b)] {
            let mut plans: Vec<(&str, u64, &Run)> = Vec::new();
            // What another tool printed has no plan.
            for run in runs.iter().filter(|r| r.target.kind != TargetKind::Foreign) {
                let alike = |(_, bytes, other): &&(&str, u64, &Run)| {
                    *bytes == run.plan.size.bytes && same_phases(&other.plan.phases, &run.plan.phases)
                };
                if !plans.iter().any(|known| alike(&known)) {
                    plans.push((&run.plan.name, run.plan.size.bytes, run));
                }
            }
            if plans.len() > 1 {
                let names: Vec<String> =
                    plans.iter().take(3).map(|(name, bytes, _)| format!("{name} on {} MiB", bytes >> 20)).collect();
                reasons.push(Reason::of(
                    "different-plans",
                    format!(
                        "the {} runs of {side} are of {} plans ({}{})",
                        runs.len(),
                        plans.len(),
                        names.join(", "),
                        if plans.len() > names.len() { ", ..." } else { "" }
                    ),
                ));
            }
        }
        reasons
    }

    /// Runs that are one rank's part of what a group did.
    pub fn parts_of_groups(&self) -> Option<Reason> {
        let parts: Vec<&Run> =
            self.a.iter().chain(&self.b).copied().filter(|r| r.group.as_ref().is_some_and(|g| g.rank > 0)).collect();
        let (first, group) = parts.first().and_then(|r| Some((r, r.group.as_ref()?)))?;
        let GroupPlace { rank, size, id, .. } = group;
        let text = format!(
            "{} is what rank {rank} of {size} did ({} such runs); the sums of group {id} are in the run of its rank 0",
            first.id,
            parts.len()
        );
        Some(Reason::of("one-rank-of-a-group", text))
    }

    /// How many runs are not looked at, since they belong to no pair that both sides have.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The metrics that both sides have, that only A has, and that only B has; in the order of the runs.
    pub fn metric_ids(&self) -> [Vec<String>; 3] {
        let (a, b) = (ids(&self.a), ids(&self.b));
        let lacks = |other: &[String]| {
            let other: HashSet<String> = other.iter().cloned().collect();
            move |id: &String| !other.contains(id)
        };
        let (only_a, both) = a.iter().cloned().partition(lacks(&b));
        [both, only_a, b.into_iter().filter(lacks(&a)).collect()]
    }

    /// Whether it is what a phase that measures is asked for: its first rate, or, where the rate itself is demanded, its
    /// first latency.
    pub fn is_question_of_a_phase(&self, id: &str) -> bool {
        let Some(run) = self.a.first() else { return false };
        run.phases.iter().filter(|p| p.plan.measures_target()).any(|p| question(p).is_some_and(|m| m.id == id))
    }

    /// What all runs say of a metric. Runs that something slowed count in several runs of each side, since both suffer alike; of
    /// single ones, and where `strict`, they have no value.
    pub fn values(&self, id: &str, strict: bool) -> Values {
        let bounds_count = !strict && self.basis() != Basis::Single;
        let find = |run: &&'a Run| run.metric(id).cloned().or_else(|| processor::cost(run, id));
        let (a, b): (Vec<_>, Vec<_>) = (self.a.iter().map(find).collect(), self.b.iter().map(find).collect());
        let units: Vec<Unit> = a.iter().chain(&b).flatten().map(|m| m.unit).collect();
        let unit = units.first().copied().unwrap_or(Unit::Ratio);
        Values {
            unit,
            better: a.iter().chain(&b).flatten().find_map(|m| m.better),
            units_differ: units.iter().any(|u| *u != unit),
            a: a.iter().map(|m| value(m.as_ref(), bounds_count)).collect(),
            b: b.iter().map(|m| value(m.as_ref(), bounds_count)).collect(),
            drawn: self.paired == Paired::Drawn,
        }
    }
}

/// Whether two plans ask for the same operations along the same path; seeds, and times that follow from a budget, aside.
fn same_phases(a: &[PhasePlan], b: &[PhasePlan]) -> bool {
    let same = |a: &PhasePlan, b: &PhasePlan| {
        let pairs = || a.streams.iter().zip(&b.streams);
        a.name == b.name
            && a.streams.len() == b.streams.len()
            && pairs().all(|(a, b)| a.kind == b.kind && a.path == b.path && a.durability == b.durability)
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// What a phase was made to answer: its rate, of all ranks where it has that, or where a rate is demanded its latency.
pub(crate) fn question(phase: &PhaseRun) -> Option<&Metric> {
    let paced = !phase.plan.streams.is_empty() && phase.plan.streams.iter().all(|s| s.timing.pacing.is_some());
    let is_latency = |m: &&Metric| m.unit == Unit::Ns && m.better == Some(Better::Lower);
    let is_rate = |m: &&Metric| matches!(m.unit, Unit::BytesPerS | Unit::OpsPerS | Unit::FilesPerS);
    let latency = phase.metrics.iter().find(is_latency).filter(|_| paced);
    let prefix = format!("{}.{GROUP_PART}.", phase.plan.name);
    let of_group = || phase.metrics.iter().find(|m| is_rate(m) && m.id.starts_with(&prefix));
    latency.or_else(of_group).or_else(|| phase.metrics.iter().find(is_rate))
}

/// The metrics of a side, each once.
fn ids(runs: &[&Run]) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut ids = Vec::new();
    for run in runs {
        for metric in run.results().filter(|m| m.status != MetricStatus::NotApplicable) {
            let own = std::iter::once(metric.id.clone());
            ids.extend(own.chain(processor::derived(run, &metric.id)).filter(|id| seen.insert(id.clone())));
        }
    }
    ids
}

fn value(metric: Option<&Metric>, bounds_count: bool) -> Value {
    let Some(metric) = metric else {
        return Value::missing(None, Reason::of("missing", "the run does not have it"));
    };
    if let Some(failure) = metric.failure() {
        return Value::missing(None, failure.clone());
    }
    if let Some(value) = metric.slowed().filter(|_| bounds_count) {
        let because = metric.reasons.iter().find(|r| r.only_worsens()).cloned();
        let slowed = Some(because.unwrap_or_else(|| crate::bounded::missing_reason(metric)));
        return Value { value: Some(value), why_not: None, slowed };
    }
    match metric.value.filter(|v| v.is_finite() && metric.status == MetricStatus::Measured) {
        Some(v) => Value { value: Some(v), ..Value::default() },
        None => {
            // Of a refused number that had no interval either, the refusal is why there is none.
            let of_value = metric.reasons.iter().find(|r| !r.is("no-interval"));
            let because =
                of_value.or(metric.reasons.first()).cloned().unwrap_or_else(|| Reason::uncoded("no reason was kept"));
            Value::missing(Some(metric.status), because)
        }
    }
}
