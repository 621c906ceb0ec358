//! Predictors of known strength: how often the intervals of tau hold the truth, and how often chance looks like a predictor.

use super::session::run;
use crate::truth::draw::Draw;
use crate::truth::matrix::wilson;
use judge::{RankAsked, TargetRuns};
use model::{ExperimentPlace, Metric, Unit};
use std::fmt::Write as _;

/// Predictors that are tried at once.
const PREDICTORS: usize = 8;

#[derive(Default)]
struct Counts {
    covered: u32,
    shown: u32,
    closest_denied: u32,
}

/// Targets whose metrics are normal with correlation `rho` to the metric that matters; tau is then 2/pi asin(rho).
fn counts(targets: usize, rho: f64, seed: u64, trials: u32) -> Counts {
    let truth = 2.0 / std::f64::consts::PI * rho.asin();
    let mut counts = Counts::default();
    for trial in 0..trials {
        let mut draw = Draw::of(seed, "rank", u64::from(trial));
        let runs: Vec<TargetRuns> = (0..targets)
            .map(|i| {
                let work = draw.normal();
                let metric = |id: String, v: f64| Metric::measured(id, Unit::Ratio, None, v, 1);
                let mut metrics = vec![metric("work_s".into(), work)];
                metrics.extend(
                    (0..PREDICTORS)
                        .map(|p| metric(format!("m{p}"), rho * work + (1.0 - rho * rho).sqrt() * draw.normal())),
                );
                let place =
                    ExperimentPlace { id: String::new(), arm: format!("t{i}"), pair: 0, order: None, seed: None };
                TargetRuns { name: format!("t{i}"), runs: vec![run(metrics, place)] }
            })
            .collect();
        let asked =
            RankAsked { predicted: Some("work_s".into()), metrics: vec!["work_s".into()], ..RankAsked::default() };
        let Ok(ranking) = judge::rank(&runs, &asked) else { continue };
        let Some(first) = ranking.prediction.iter().find(|p| p.predictor == "m0") else { continue };
        let holds = first.low.zip(first.high).is_some_and(|(low, high)| low <= truth && truth <= high);
        counts.covered += u32::from(holds);
        counts.shown += u32::from(ranking.prediction.iter().any(|p| p.p_adjusted.is_some_and(|p| p <= 0.05)));
        counts.closest_denied += u32::from(first.as_close_as_best_p.is_some_and(|p| p <= 0.05));
    }
    counts
}

/// The figures as a Markdown table.
pub fn report(seed: u64, trials: u32) -> String {
    let mut out = format!(
        "{trials} rankings of targets with {PREDICTORS} predictors, all of them equally close\n\n\
         | targets | tau | the 95 % interval holds it | any is shown | one is called farther than the closest |\n|---|---|---|---|---|\n"
    );
    let kinds = [(8, 0.0), (8, 0.7), (20, 0.0), (20, 0.7)];
    let all: Vec<Counts> = std::thread::scope(|scope| {
        let threads = kinds.map(|(targets, rho)| scope.spawn(move || counts(targets, rho, seed, trials)));
        threads.into_iter().filter_map(|t| t.join().ok()).collect()
    });
    for ((targets, rho), counts) in kinds.into_iter().zip(all) {
        let share = |hits: u32| {
            let (low, high) = wilson(hits as usize, trials as usize).unwrap_or((0.0, 100.0));
            format!("{:.1} % ({low:.1} to {high:.1})", 100.0 * f64::from(hits) / f64::from(trials.max(1)))
        };
        let tau = 2.0 / std::f64::consts::PI * rho.asin();
        let _ = writeln!(
            out,
            "| {targets} | {tau:.2} | {} | {} | {} |",
            share(counts.covered),
            share(counts.shown),
            share(counts.closest_denied)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_tau_hold_it_and_chance_predicts_nothing() {
        for rho in [0.0, 0.7] {
            let counts = counts(8, rho, 5, 150);
            // 95 % of 150 less four standard deviations.
            assert!(counts.covered >= 132, "{rho}: {}", counts.covered);
            assert!(rho > 0.0 || counts.shown <= 18, "{}", counts.shown);
        }
    }
}
