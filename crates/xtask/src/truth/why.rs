//! `cargo xtask truth why`: the confusion matrix of the attribution.

use super::draw::Draw;
use super::matrix::{self, Answer, Score};
use super::real::{self, Answered};
use super::scenario::Scenario;
use super::{kinds, laboratory};
use anyhow::Context as _;
use model::{LimitLayer, json_name};
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(clap::Args)]
pub struct Arguments {
    /// Seed of all parameters
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Two variations of each kind, and no real devices
    #[arg(long)]
    quick: bool,
    /// No real devices
    #[arg(long)]
    simulated: bool,
    /// Variations of each kind
    #[arg(long, default_value_t = 8)]
    variations: u64,
    /// Only kinds whose name contains this
    #[arg(long)]
    only: Option<String>,
    /// Tell each answer that is not right
    #[arg(long)]
    tell: bool,
}

fn ask(kind: &'static str, seed: u64, variation: u64) -> anyhow::Result<Answered> {
    let make = kinds::all().into_iter().find(|k| k.0 == kind).context("a kind of that name")?.1;
    let mut draw = Draw::of(seed, kind, variation);
    let scenario = make(&mut draw)?;
    let run = laboratory::run(&scenario.device, &scenario.plan, &scenario.fixture, draw.bits());
    let run = run.with_context(|| scenario.device.clone())?;
    Ok(answered(kind, variation, &scenario, &run))
}

fn answered(kind: &'static str, variation: u64, scenario: &Scenario, run: &model::Run) -> Answered {
    // What `why` and the card say.
    let model::Conclusions { limit, causes, .. } = conclusions::of_run(run);
    let said = |word: &str| {
        limit.statement.contains(word) || !scenario.heads && causes.iter().any(|c| c.statement.contains(word))
    };
    let right = limit.layer == scenario.truth && scenario.says.is_none_or(said);
    let worth = match (right, limit.layer) {
        (true, _) => Score::Right,
        (false, LimitLayer::Unknown) => Score::Unknown,
        (false, _) => Score::Wrong,
    };
    let mut text = format!(
        "{kind} {variation}: is {}, said {} ({:?}): {}\n  {}",
        json_name(&scenario.truth),
        json_name(&limit.layer),
        limit.confidence,
        limit.statement,
        scenario.device
    );
    for cause in &causes {
        text += &format!("\n    {:?} {:?} {}", cause.layer, cause.confidence, cause.statement);
    }
    for metric in run.metrics().filter(|m| matches!(m.key().quantity, "throughput_bytes_per_s" | "iops")) {
        let value = metric.value.map_or_else(|| model::reason::joined(&metric.reasons), |v| format!("{v:.0}"));
        text += &format!("\n      {} {value}", metric.id);
    }
    let (named, confidence) = (limit.layer, limit.confidence);
    let calibration = variation.is_multiple_of(2);
    Answered { answer: Answer { kind, calibration, truth: scenario.truth, named, confidence, worth }, text }
}

/// All answers of these kinds, on as many threads as there are processors.
fn all(kinds: &[&'static str], seed: u64, variations: u64) -> anyhow::Result<Vec<Answered>> {
    let asked: Vec<(&'static str, u64)> = kinds.iter().flat_map(|k| (0..variations).map(|v| (*k, v))).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || -> anyhow::Result<Vec<(usize, Answered)>> {
        let mut done = Vec::new();
        while let Some((kind, variation)) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
            let index = asked.iter().position(|a| a == &(*kind, *variation)).unwrap_or(0);
            let told = ask(kind, seed, *variation).with_context(|| format!("{kind} {variation}"))?;
            done.push((index, told));
        }
        Ok(done)
    };
    let mut told = std::thread::scope(|scope| -> anyhow::Result<Vec<(usize, Answered)>> {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut told = Vec::new();
        for worker in workers {
            told.extend(worker.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??);
        }
        Ok(told)
    })?;
    told.sort_by_key(|t| t.0);
    Ok(told.into_iter().map(|t| t.1).collect())
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let only = arguments.only.as_deref().unwrap_or("");
    let kinds: Vec<&'static str> = kinds::all().iter().map(|k| k.0).filter(|k| k.contains(only)).collect();
    let variations = if arguments.quick { 2 } else { arguments.variations };
    let mut told = all(&kinds, arguments.seed, variations)?;
    if !arguments.quick && !arguments.simulated {
        let (real, skipped) = real::all(only, arguments.seed, variations.div_ceil(2));
        skipped.iter().for_each(|s| println!("{s}"));
        println!("{} skipped\n", skipped.len());
        told.extend(real);
    }
    if arguments.tell {
        told.iter().filter(|t| t.answer.worth != Score::Right).for_each(|t| println!("{}\n", t.text));
    }
    print!("{}", report(&told, arguments.seed));
    Ok(())
}

fn report(told: &[Answered], seed: u64) -> String {
    let answers: Vec<&Answer> = told.iter().map(|t| &t.answer).collect();
    let half = |calibration: bool| -> Vec<&Answer> {
        answers.iter().copied().filter(|a| a.calibration == calibration).collect()
    };
    let mut out = format!("{} scenarios, seed {seed}\n\n", answers.len());
    out += "| half | right | wrong | unknown | wrong with confidence high |\n|---|---|---|---|---|\n";
    out += &matrix::summary("calibration (even)", &half(true));
    out += &matrix::summary("report (odd)", &half(false));
    out += &format!("\n{}\n{}", matrix::confusion(&answers), matrix::by_kind(&answers));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layer_that_limits_is_named() {
        let kinds: Vec<&'static str> = kinds::all().iter().map(|k| k.0).collect();
        let told = all(&kinds, 7, 1).expect("all scenarios run");
        let not_right: Vec<&str> =
            told.iter().filter(|t| t.answer.worth != Score::Right).map(|t| t.text.as_str()).collect();
        let wrong = told.iter().filter(|t| t.answer.worth == Score::Wrong).count();
        assert!(kinds.len() >= 40, "{} kinds", kinds.len());
        assert!(wrong * 50 <= told.len() && not_right.len() * 20 <= told.len(), "{}", not_right.join("\n\n"));
    }
}
