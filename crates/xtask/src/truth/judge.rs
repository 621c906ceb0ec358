//! `cargo xtask truth judge`: how often the judge is right about runs of which the truth is known.
//!
//! Every trial is a session of pairs whose order is drawn by lot, disturbed in one of several ways, with a known difference
//! between the arms; it goes through [`judge::compare()`] like any experiment.

mod count;
mod disturbance;
mod rank;
mod session;

use count::{Counts, Figure};
use disturbance::Disturbance;
use session::Session;

#[derive(clap::Args)]
pub struct Arguments {
    /// Seed of all trials
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A few hundred trials of each kind instead of thousands
    #[arg(long)]
    quick: bool,
    /// Only the rankings
    #[arg(long)]
    rankings: bool,
}

const TRIALS: u32 = 10_000;
const QUICK_TRIALS: u32 = 400;
/// A ranking draws ten thousand orders itself: one for so many sessions.
const RANK_SHARE: u32 = 50;
const PAIRS: u32 = 10;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let trials = if arguments.quick { QUICK_TRIALS } else { TRIALS };
    if arguments.rankings {
        print!("{}", rank::report(arguments.seed, trials.div_ceil(RANK_SHARE)));
        return Ok(());
    }
    let figures = all(arguments.seed, trials)?;
    println!("{trials} sessions of {PAIRS} pairs for each figure, seed {}; 95 % Wilson intervals\n", arguments.seed);
    print!("{}", count::table(&figures));
    println!("\n{}", rank::report(arguments.seed, trials.div_ceil(RANK_SHARE)));
    let broken: Vec<&Figure> = figures.iter().filter(|f| !f.holds()).collect();
    anyhow::ensure!(
        broken.is_empty(),
        "not as promised: {}",
        broken.iter().map(|f| f.name()).collect::<Vec<_>>().join("; ")
    );
    Ok(())
}

/// All figures, each with what is promised of it. Each disturbance has its own thread and its own stream of numbers, so
/// that the answer is the same on every machine.
fn all(seed: u64, trials: u32) -> anyhow::Result<Vec<Figure>> {
    let disturbances = Disturbance::all()?;
    let parts = std::thread::scope(|scope| {
        let threads: Vec<_> = disturbances.iter().map(|d| scope.spawn(move || figures_of(d, seed, trials))).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Result<Vec<_>, _>>()
    });
    let parts = parts.map_err(|_| anyhow::anyhow!("a thread panicked"))?;
    Ok(parts.into_iter().flatten().collect())
}

fn figures_of(disturbance: &Disturbance, seed: u64, trials: u32) -> Vec<Figure> {
    let count = |difference: f64, margin_percent: f64, metrics: usize| {
        let session = Session { pairs: PAIRS, difference, margin_percent, metrics, disturbance };
        Counts::of(&session, seed, trials)
    };
    // A margin of nothing, so that no false alarm hides behind it.
    let one = count(0.0, 0.001, 1);
    let five = count(0.0, 0.001, 5);
    let moved = count(0.03, 5.0, 1);
    // At the margin itself "same" is an error.
    let at_margin = count(0.05, 5.0, 1);
    // These two promise something of noise of 2 % only.
    let power = count(0.03, 1.0, 1);
    let fifth = count(0.01, 5.0, 1);
    let least = disturbance.promises_power().then_some(0.8);
    vec![
        Figure::at_most("false alarms", disturbance, one.alarms, trials, 0.05),
        Figure::at_most("false alarms among 5 questions", disturbance, five.alarms, trials, 0.05),
        Figure::at_least("the 95 % interval holds the truth", disturbance, moved.covered, trials, 0.94),
        Figure::at_most("\"same\" at the margin", disturbance, at_margin.same, trials, 0.05),
        Figure::from_hits("3 % is seen", disturbance, power.right, trials, least),
        Figure::from_hits("a fifth of the margin is \"same\"", disturbance, fifth.same, trials, least),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wide bounds on a quick subset: the full figures are in docs/judging.md.
    #[test]
    fn the_promises_hold() {
        let figures = all(11, 200).expect("the series can be read");
        assert!(figures.len() >= 36, "{}", figures.len());
        let broken: Vec<String> = figures.iter().filter(|f| !f.holds()).map(Figure::name).collect();
        assert!(broken.is_empty(), "{broken:?}\n{}", count::table(&figures));
    }

    #[test]
    fn the_same_seed_gives_the_same_figures() {
        let of = |seed| count::table(&all(seed, 20).expect("the series can be read"));
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }
}
