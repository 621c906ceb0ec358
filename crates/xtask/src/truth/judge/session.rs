//! One session of pairs with a known difference, as runs of an experiment.

use super::disturbance::Disturbance;
use crate::truth::draw::Draw;
use judge::Asked;
use model::{
    Better, Comparison, Environment, ExperimentPlace, Metric, PhaseKind, PhasePlan, PhaseRun, Run, Target, TargetKind,
    Unit,
};

pub struct Session<'a> {
    pub pairs: u32,
    /// How much better B is, as a share.
    pub difference: f64,
    pub margin_percent: f64,
    /// Questions that are asked at once; each is disturbed by itself.
    pub metrics: usize,
    pub disturbance: &'a Disturbance,
}

impl Session<'_> {
    /// The session of a trial, compared.
    pub fn compared(&self, draw: &mut Draw) -> Comparison {
        let orders: Vec<bool> = (0..self.pairs).map(|_| draw.share() < 0.5).collect();
        let runs = 2 * self.pairs as usize;
        let series: Vec<Vec<f64>> = (0..self.metrics).map(|_| self.disturbance.factors(runs, draw)).collect();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for (pair, b_first) in orders.iter().enumerate() {
            let one = |arm: &str, second: bool, truth: f64| {
                let at = 2 * pair + usize::from(second);
                let values = series.iter().map(|s| 1e8 * truth * s[at]);
                let metrics = values.enumerate().map(|(i, v)| {
                    Metric::measured(
                        format!("p{i}.throughput_bytes_per_s"),
                        Unit::BytesPerS,
                        Some(Better::Higher),
                        v,
                        1000,
                    )
                });
                run(metrics.collect(), place(arm, pair as u32, at as u32))
            };
            a.push(one("a", *b_first, 1.0));
            b.push(one("b", !*b_first, 1.0 + self.difference));
        }
        let asked = Asked {
            margin_percent: Some(self.margin_percent),
            primary: (0..self.metrics).map(|i| format!("p{i}.throughput_bytes_per_s")).collect(),
            ..Asked::default()
        };
        judge::compare(&a, &b, &asked)
    }
}

fn place(arm: &str, pair: u32, order: u32) -> ExperimentPlace {
    ExperimentPlace { id: "truth".into(), arm: arm.into(), pair, order: Some(order), seed: Some(1) }
}

/// A run that has nothing but its metrics.
pub fn run(metrics: Vec<Metric>, place: ExperimentPlace) -> Run {
    let plan = PhasePlan { name: "p".into(), kind: PhaseKind::Measure, ..PhasePlan::default() };
    let target = Target::named(place.arm.clone(), TargetKind::Sim);
    Run {
        id: format!("{}-{}", place.arm, place.pair),
        experiment: Some(place),
        phases: vec![PhaseRun::measured(plan, metrics, None)],
        ..Run::blank("run", target, Environment::default())
    }
}
