//! The search on a machine that is simulated: what is planted is found in the measurements that there are.

use super::*;
use model::random;

/// A machine with noise, whose settings do something.
struct Machine {
    state: u64,
    noise: f64,
    effect: fn(&[Change]) -> f64,
}

impl Machine {
    fn measure(&mut self, cell: &[Change]) -> f64 {
        let normal = random::normal(|| random::unit(random::next(&mut self.state)));
        100.0 * ((self.effect)(cell) + self.noise * normal).exp()
    }

    fn search(&mut self, alternatives: &[usize], better: Better, cells: usize, seed: u64) -> Search {
        let mut search = Search::new(alternatives, better, cells, seed).expect("enough measurements");
        while let Some(cell) = search.next_cell() {
            let value = self.measure(&cell);
            search.take(Value::Measured(value));
        }
        search
    }
}

fn machine(seed: u64, noise: f64, effect: fn(&[Change]) -> f64) -> Machine {
    Machine { state: seed, noise, effect }
}

const ONE: Change = Change { candidate: 4, alternative: 1 };
const OTHER: Change = Change { candidate: 9, alternative: 0 };

fn one(cell: &[Change]) -> f64 {
    if cell.contains(&ONE) { 0.2 } else { 0.0 }
}

fn pair(cell: &[Change]) -> f64 {
    if cell.contains(&ONE) && cell.contains(&OTHER) { 0.26 } else { 0.0 }
}

#[test]
fn one_setting_is_found_alone() {
    let mut alone = 0;
    for seed in 1..=10 {
        let search = machine(seed, 0.03, one).search(&[2; 20], Better::Higher, 240, seed);
        let winner = search.winner().expect("something helps");
        assert!(winner.contains(&ONE), "seed {seed}: {winner:?}");
        alone += usize::from(winner.len() == 1);
        assert!(search.cells() <= 240, "{}", search.cells());
        let noise = search.noise().unwrap();
        assert!((0.015..0.05).contains(&noise), "{noise}");
        assert!(search.tried()[0].cell.contains(&ONE));
    }
    assert!(alone >= 7, "{alone} of 10 without a change that does nothing");
}

#[test]
fn two_settings_that_only_help_together_are_found() {
    let found = (1..=10).filter(|seed| {
        let search = machine(*seed, 0.03, pair).search(&[2; 20], Better::Higher, 240, *seed);
        search.winner() == Some(&[ONE, OTHER][..])
    });
    assert!(found.count() >= 8);
}

#[test]
fn less_is_better_of_latencies() {
    let search = machine(1, 0.02, |cell| -one(cell)).search(&[2; 20], Better::Lower, 240, 1);
    assert!(search.winner().is_some_and(|winner| winner.contains(&ONE)));
}

#[test]
fn one_candidate_takes_a_handful_of_measurements() {
    let search = machine(2, 0.02, |cell| if cell.is_empty() { 0.0 } else { 1.0 }).search(&[1], Better::Higher, 5, 2);
    assert_eq!((search.winner().map(<[Change]>::len), search.cells()), (Some(1), 5));
    let worse = machine(2, 0.02, |cell| if cell.is_empty() { 0.0 } else { -1.0 }).search(&[1], Better::Higher, 5, 2);
    assert_eq!(worse.winner(), None);
    assert!(Search::new(&[1], Better::Higher, 4, 1).is_none() && Search::new(&[], Better::Higher, 99, 1).is_none());
}

#[test]
fn a_large_gain_is_found_in_a_short_search_and_changes_without_room_are_named() {
    let effect = |cell: &[Change]| if cell.contains(&Change { candidate: 0, alternative: 1 }) { 1.1 } else { 0.0 };
    for seed in 1..=10 {
        let search = machine(seed, 0.1, effect).search(&[3; 12], Better::Higher, 36, seed);
        assert_eq!(search.winner(), Some(&[Change { candidate: 0, alternative: 1 }][..]), "seed {seed}");
        assert!(search.cells() <= 36 && !search.tries(Change { candidate: 11, alternative: 2 }));
    }
}

#[test]
fn what_cannot_be_applied_is_left_out_and_what_is_not_valid_is_measured_again() {
    let mut search = Search::new(&[2, 2, 2], Better::Higher, 80, 3).unwrap();
    let mut again = 0;
    while let Some(cell) = search.next_cell() {
        if cell.contains(&Change { candidate: 0, alternative: 0 }) {
            search.take(Value::NotApplied);
        } else if cell.contains(&Change { candidate: 1, alternative: 0 }) && again < 1 {
            again += 1;
            search.take(Value::NotValid);
        } else {
            search.take(Value::Measured(if cell == [Change { candidate: 1, alternative: 0 }] { 150.0 } else { 100.0 }));
        }
    }
    assert_eq!(search.winner(), Some(&[Change { candidate: 1, alternative: 0 }][..]));
    let refused = search.tried().into_iter().find(|t| t.cell == [Change { candidate: 0, alternative: 0 }]).unwrap();
    assert_eq!((refused.ratio, refused.times), (None, 0));
}

#[test]
fn a_search_that_is_stopped_has_what_was_best_by_then() {
    let mut machine = machine(1, 0.01, one);
    for after in [0, 30, 60, 160, 200, 239] {
        let mut search = Search::new(&[2; 20], Better::Higher, 240, 1).unwrap();
        for _ in 0..after {
            let Some(cell) = search.next_cell() else { break };
            search.take(Value::Measured(machine.measure(&cell)));
        }
        search.stop();
        assert_eq!((search.next_cell(), search.step()), (None, Step::Done));
        assert!(
            after == 0 || after == 30 || search.winner().is_some_and(|w| w.contains(&ONE)),
            "{after}: {:?}",
            search.winner()
        );
    }
}

#[test]
fn the_same_seed_and_values_lead_the_same_way() {
    let run = |seed| machine(7, 0.05, pair).search(&[2; 20], Better::Higher, 240, seed).tried();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
