//! The proof: pairs of the present values and a finalist in random order, on data that no step of the search saw.

use super::candidates::{arm_settings, changes, held, reach};
use super::keep::{Machine, keep};
use super::order_of_pairs;
use super::schedule::{guarded_in, pairs_in};
use super::state::{GuardValue, Side};
use super::trial::{Cell, Tested};
use super::walk::{Walk, rates, value_of};
use judge::search::{self, Change, LEAST_PAIRS, Search};
use model::{
    Better, ExperimentPlace, Failure, MetricKey, MetricStatus, NotKept, Run, TuneGuard, TuneProof, TuneRejected,
};
use settings::Tree;
use std::path::Path;

/// Arms of the confirmation.
const PRESENT: &str = "present";
const CHANGED: &str = "changed";

/// What came of the finalists: those that were not shown to be better, and the one that was.
#[derive(Default)]
pub(super) struct Confirmed {
    pub rejected: Vec<TuneRejected>,
    pub winner: Option<TuneProof>,
    /// Tags of the last finalist's runs.
    pub tags: Vec<String>,
}

impl Walk<'_> {
    /// Confirms the finalists one after the other, until one is shown to be better or the time is over.
    pub(super) fn confirmed(&mut self, search: &Search) -> Result<Confirmed, Failure> {
        let mut out = Confirmed::default();
        for (number, finalist) in search.finalists().iter().enumerate() {
            let (pairs, guarded) = match self.state.pairs.get(number) {
                Some(pairs) => *pairs,
                None => self.pairs(number, finalist, search),
            };
            if pairs == 0 {
                break;
            }
            self.state.pairs.truncate(number);
            self.state.pairs.push((pairs, guarded));
            let sides = self.sides(number, finalist, [pairs, guarded])?;
            let Some((not_kept, proof)) = self.proof(finalist, &sides) else { continue };
            out.tags = self.prepared.all_tags(number);
            match not_kept {
                None => {
                    out.winner = Some(proof);
                    break;
                }
                Some(why) => out.rejected.push(TuneRejected { why, proof: TuneProof { keep: Vec::new(), ..proof } }),
            }
        }
        Ok(out)
    }

    /// How many pairs the noise asks for, and the time allows, and how many of them have guards: all, where the time holds that; of a second finalist none, where it does not hold the fewest.
    fn pairs(&self, number: usize, finalist: &[Change], search: &Search) -> (u32, u32) {
        let prepared = self.prepared;
        let seen = search.tried().into_iter().find(|t| t.cell == finalist).and_then(|t| t.ratio).unwrap_or(1.0);
        let wanted = search.noise().map_or(LEAST_PAIRS, |noise| {
            search::pairs_of_confirmation(noise, (seen - 1.0) * 100.0, prepared.asked.margin_percent)
        });
        let left = prepared.asked.budget_ns.saturating_sub(self.spent());
        let most = pairs_in(left, self.cell_ns(), prepared.guards_ns);
        if most < LEAST_PAIRS && number > 0 {
            return (0, 0);
        }
        let pairs = wanted.min(most).max(LEAST_PAIRS);
        (pairs, guarded_in(left, pairs, self.cell_ns(), prepared.guards_ns))
    }

    /// Both sides of the pairs, the present values first; fewer, where the finalist looks like no gain at all.
    fn sides(
        &mut self,
        number: usize,
        finalist: &[Change],
        [pairs, guarded]: [u32; 2],
    ) -> Result<Vec<[Side; 2]>, Failure> {
        let mut made: Vec<[Side; 2]> = Vec::new();
        for pair in 0..pairs {
            let mut both = [Side::default(), Side::default()];
            for (second, changed) in order_of_pairs(pair, self.prepared.asked.seed).into_iter().enumerate() {
                let count = format!("finalist {}, and {pair} of {pairs} pairs are made", number + 1);
                let place = ExperimentPlace {
                    id: self.prepared.round(number),
                    arm: if changed { CHANGED } else { PRESENT }.to_owned(),
                    pair,
                    order: Some(2 * pair + second as u32),
                    seed: Some(self.prepared.asked.seed),
                };
                both[usize::from(changed)] = match self.replayed_side() {
                    Some(side) => side,
                    None => {
                        self.ended(&format!("the search has {count}"))?;
                        self.side(number, if changed { finalist } else { &[] }, place, [pairs, guarded])?
                    }
                };
            }
            made.push(both);
            if search::is_futile(&values(&made), self.first().better) {
                break;
            }
        }
        Ok(made)
    }

    fn side(
        &mut self,
        number: usize,
        cell: &[Change],
        place: ExperimentPlace,
        [pairs, guarded]: [u32; 2],
    ) -> Result<Side, Failure> {
        let prepared = self.prepared;
        let changed = place.arm == CHANGED;
        let workloads = [&prepared.asked.objective.workload, &prepared.guards];
        let is_guarded = place.pair < guarded;
        let cell = Cell {
            id: &prepared.id,
            settings: arm_settings(&prepared.candidates, cell),
            workloads: &workloads[..1 + usize::from(is_guarded)],
            seed: prepared.asked.seed ^ u64::from(place.pair + 1).wrapping_mul(model::random::STEP.rotate_left(7)),
            place: Some(place),
            pairs,
        };
        let runs = match self.trial.run(&cell, &prepared.stack, prepared.file)? {
            Tested::Runs(runs) => runs,
            Tested::NotApplied => Vec::new(),
        };
        self.state.bytes_written += runs.iter().map(|r| r.bytes_written).sum::<u64>();
        if let Some(archive) = self.trial.execution.archive {
            for (run, tag) in runs.iter().zip(&prepared.tags(number, changed)) {
                archive.tag_add(tag, &run.id)?;
            }
        }
        let value = runs.first().and_then(|run| value_of(run, &self.first().metric));
        let side = Side { value, guards: runs.get(1).map(guards).unwrap_or_default() };
        self.made_side(side.clone())?;
        Ok(side)
    }

    /// What the pairs show; `None` where none of them is valid.
    fn proof(&self, finalist: &[Change], sides: &[[Side; 2]]) -> Option<(Option<NotKept>, TuneProof)> {
        let prepared = self.prepared;
        let pairs = values(sides);
        let gain = search::gain(&pairs, self.first().better)?;
        let named =
            sides.iter().flat_map(|both| &both[0].guards).fold(Vec::<&GuardValue>::new(), |mut named, guard| {
                if named.iter().all(|other| other.metric != guard.metric) {
                    named.push(guard);
                }
                named
            });
        let in_reach = |of: &GuardValue| {
            let passes = prepared.guards.phase_passes_page_cache(MetricKey::of(&of.metric).phase());
            reach(&prepared.candidates, finalist, passes)
        };
        let guards: Vec<TuneGuard> = named.into_iter().filter_map(|of| guarded(of, sides, in_reach(of))).collect();
        let settings = changes(&prepared.candidates, finalist);
        let tree = Tree::machine();
        let machine = Machine { tree: &tree, stack: &prepared.stack, root: Path::new("/") };
        let not_kept = match () {
            () if !search::is_shown(&gain, prepared.asked.margin_percent) => Some(NotKept::NoGain),
            () if guards.iter().any(|guard| !guard.passes) => Some(NotKept::Guard),
            () => None,
        };
        let keep = keep(&[settings.clone(), held(&prepared.candidates, finalist)].concat(), &machine);
        Some((not_kept, TuneProof { settings, gain, pairs, guards, keep }))
    }
}

/// The metric on both sides of the pairs that have it on both.
fn values(sides: &[[Side; 2]]) -> Vec<(f64, f64)> {
    sides.iter().filter_map(|[present, changed]| present.value.zip(changed.value)).collect()
}

/// The rates of a run that guards.
fn guards(run: &Run) -> Vec<GuardValue> {
    let of = |metric: &model::Metric| GuardValue {
        metric: metric.id.clone(),
        better: metric.better.unwrap_or(Better::Higher),
        value: value_of(run, &metric.id),
    };
    rates(run).filter(|m| m.status != MetricStatus::NotApplicable).map(of).collect()
}

fn guarded(of: &GuardValue, sides: &[[Side; 2]], in_reach: bool) -> Option<TuneGuard> {
    let value = |side: &Side| side.guards.iter().find(|guard| guard.metric == of.metric)?.value;
    let pairs: Vec<(f64, f64)> =
        sides.iter().filter_map(|[present, changed]| value(present).zip(value(changed))).collect();
    let present: Vec<f64> = pairs.iter().map(|(present, _)| *present).collect();
    let margin_percent = search::guard_margin_percent(&present);
    let guard = search::guard(&pairs, of.better, margin_percent, in_reach)?;
    Some(TuneGuard {
        metric: of.metric.clone(),
        ratio: guard.ratio,
        low: guard.low,
        margin_percent,
        pairs: guard.pairs,
        in_reach,
        passes: guard.passes,
    })
}
