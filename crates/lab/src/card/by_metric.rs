//! What was measured of cards, against what their files say: the truth that the card server injects.
//!
//! The emulator's own time comes on top of every operation, so that no figure is asserted; the order of the cards is, of those
//! whose files say that they differ enough.

use super::figures::{random, streams};
use super::slot::Slot;
use super::timing::Timing;
use judge::TargetRuns;
use model::{Operation, Order, PhasePlan, Run, Unit};

/// One card in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Name of the card.
    pub card: String,
    /// What its file says.
    pub own: f64,
    /// What was measured, as if its times had not been multiplied; `None` if nothing was.
    pub measured: Option<f64>,
}

/// All cards in one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct CardsByMetric {
    pub metric: String,
    pub unit: Unit,
    /// The cards, the best by its file first.
    pub points: Vec<Point>,
}

impl CardsByMetric {
    /// One metric of these runs; `None` if a card's file says nothing about what it measures.
    pub fn of(metric: &str, slots: &[(String, Slot)], targets: &[TargetRuns]) -> Option<Self> {
        let phase = model::MetricKey::of(metric).of;
        let mut unit = None;
        let mut points = Vec::new();
        for ((name, slot), target) in slots.iter().zip(targets) {
            let run = target.runs.first()?;
            let plan = &run.phase(phase)?.plan;
            let measured = run.metric(metric)?;
            unit = Some(measured.unit);
            let own = own(slot, plan, measured.unit)?;
            points.push(Point { card: name.clone(), own, measured: at_true_speed(run, metric, slot.slowness) });
        }
        points.sort_by(|a, b| b.own.total_cmp(&a.own));
        Some(Self { metric: metric.to_owned(), unit: unit?, points })
    }

    /// Pairs of cards whose files say that one is `apart` times as good or more, the better one first.
    fn pairs(&self, apart: f64) -> Vec<(&Point, &Point)> {
        let all = self.points.iter().flat_map(|a| self.points.iter().map(move |b| (a, b)));
        all.filter(|(a, b)| a.card != b.card && b.own * apart <= a.own).collect()
    }

    /// How many pairs there are that the files tell apart, and those of them that were not measured in that order.
    pub fn order(&self, apart: f64) -> (usize, Vec<(&Point, &Point)>) {
        let pairs = self.pairs(apart);
        let in_order = |(a, b): &(&Point, &Point)| a.measured.zip(b.measured).is_some_and(|(a, b)| a > b);
        (pairs.len(), pairs.into_iter().filter(|pair| !in_order(pair)).collect())
    }
}

fn at_true_speed(run: &Run, metric: &str, slowness: f64) -> Option<f64> {
    run.value(metric).map(|value| value * slowness)
}

/// What a card's model makes of a phase, for rates: operations or bytes a second.
fn own(slot: &Slot, plan: &PhasePlan, unit: Unit) -> Option<f64> {
    let [stream] = plan.streams.as_slice() else { return None };
    let timing = Timing::new(slot.card.clone(), slot.seed, 1.0).ok()?;
    let capacity = slot.card.capacity.0;
    let block = stream.blocks()?.block;
    let bytes = block.block_size_bytes;
    let bytes_per_s = match (block.order, block.operation) {
        (Order::Random, Operation::Read) => random(&timing, capacity, bytes).read_iops * bytes as f64,
        (Order::Random, Operation::Write) => random(&timing, capacity, bytes).write_iops * bytes as f64,
        (Order::Sequential, Operation::Read) => streams(&timing, capacity).read_bytes_per_s,
        (Order::Sequential, Operation::Write) => streams(&timing, capacity).write_bytes_per_s,
        _ => return None,
    };
    match unit {
        Unit::OpsPerS => Some(bytes_per_s / bytes as f64),
        Unit::BytesPerS => Some(bytes_per_s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against(measured: [Option<f64>; 3]) -> CardsByMetric {
        let cards = [("a", 1000.0), ("b", 900.0), ("c", 100.0)];
        let point = |((card, own), measured): ((&str, f64), Option<f64>)| Point { card: card.into(), own, measured };
        let points = cards.into_iter().zip(measured).map(point).collect();
        CardsByMetric { metric: "w.iops".into(), unit: Unit::OpsPerS, points }
    }

    #[test]
    fn only_cards_that_differ_enough_have_an_order() {
        let alike_in_any_order = against([Some(80.0), Some(90.0), Some(10.0)]);
        assert_eq!(alike_in_any_order.order(1.25), (2, Vec::new()));
        let (pairs, reversed) = alike_in_any_order.order(1.1);
        assert_eq!((pairs, reversed.len(), reversed[0].0.card.as_str()), (3, 1, "a"));
        let reversed = against([Some(5.0), None, Some(10.0)]);
        assert_eq!(reversed.order(1.25).1.len(), 2, "what was not measured is in no order");
    }
}
