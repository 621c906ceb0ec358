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
        let mut search = Search::new(&Space::of(alternatives), better, cells, seed).expect("enough measurements");
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
    assert!(
        Search::new(&Space::of(&[1]), Better::Higher, 4, 1).is_none()
            && Search::new(&Space::default(), Better::Higher, 99, 1).is_none()
    );
}

#[test]
fn a_large_gain_is_found_in_a_short_search_and_changes_without_room_are_named() {
    let effect = |cell: &[Change]| if cell.contains(&Change { candidate: 0, alternative: 1 }) { 1.1 } else { 0.0 };
    for seed in 1..=10 {
        let search = machine(seed, 0.1, effect).search(&[3; 12], Better::Higher, 36, seed);
        assert_eq!(search.winner(), Some(&[Change { candidate: 0, alternative: 1 }][..]), "seed {seed}");
        let tried = &search.tried()[0];
        assert!(tried.cell == search.winner().unwrap() && tried.ratio.unwrap() > 2.0 && tried.times >= 6, "{tried:?}");
        assert!(search.cells() <= 36 && search.tries(Change { candidate: 11, alternative: 2 }));
        let narrow = machine(seed, 0.1, effect).search(&[60], Better::Higher, 36, seed);
        assert_eq!(narrow.winner(), Some(&[Change { candidate: 0, alternative: 1 }][..]), "seed {seed}");
        assert!(narrow.cells() <= 36 && !narrow.tries(Change { candidate: 0, alternative: 59 }));
    }
}

#[test]
fn an_order_that_is_wrong_changes_no_kind_of_result() {
    let last_first = |mut space: Space| {
        space.changes.sort_by_key(|change| (std::cmp::Reverse(change.candidate), change.alternative));
        space
    };
    let found = |space: &Space, cells: usize, effect: fn(&[Change]) -> f64| {
        let one = |seed: &u64| {
            let mut machine = machine(*seed, 0.03, effect);
            let mut search = Search::new(space, Better::Higher, cells, *seed).unwrap();
            while let Some(cell) = search.next_cell() {
                search.take(Value::Measured(machine.measure(&cell)));
            }
            search.winner().is_some_and(|winner| winner.contains(&ONE))
        };
        (1..=10).filter(one).count()
    };
    let space = Space::of(&[2; 20]);
    assert_eq!([found(&space, 240, one), found(&last_first(space.clone()), 240, one)], [10, 10]);
    assert!([&space, &last_first(space.clone())].into_iter().all(|space| found(space, 240, |_| 0.0) <= 3));
    // Where the time holds few changes, those that come first are among them.
    let mut first = space.clone();
    first.changes.sort_by_key(|change| change.candidate != ONE.candidate);
    let few = Search::new(&first, Better::Higher, 12, 1).unwrap();
    assert!(few.tries(ONE) && !few.tries(Change { candidate: 19, alternative: 1 }));
}

/// Large noise, of which one value in ten is far off.
fn brief(seed: u64, space: &Space, left: impl Fn(usize) -> usize) -> Search {
    let mut machine =
        machine(seed, 0.25, |cell| if cell.contains(&Change { candidate: 3, alternative: 1 }) { 0.6 } else { 0.0 });
    let mut search = Search::new(space, Better::Higher, 45, seed).unwrap();
    while let Some(cell) = search.next_cell() {
        let value = machine.measure(&cell);
        search.take(Value::Measured(if search.cells() % 10 == 3 { value / 3.0 } else { value }));
        search.shorten(left(search.cells()));
    }
    search
}

#[test]
fn what_findings_name_is_compared_at_last_whatever_the_screen_says() {
    let mut space = Space::of(&[3; 6]);
    let named = |search: &Search| search.winner().is_some_and(|cell| cell.iter().any(|change| change.candidate == 3));
    let enough = |_| usize::MAX;
    let without = (1..=20).filter(|seed| named(&brief(*seed, &space, enough))).count();
    space.suggested = vec![3];
    space.changes.sort_by_key(|change| change.candidate != 3);
    let with = (1..=20).filter(|seed| named(&brief(*seed, &space, enough))).count();
    assert!(with >= 17 && with >= without && without >= 12, "{with} with, {without} without");
    for seed in 1..=20 {
        let compared = brief(seed, &space, enough).halving.iter().any(|m| m.cell.iter().any(|c| c.candidate == 3));
        assert!(compared, "seed {seed}");
        let finalists = brief(seed, &space, enough).finalists();
        assert!(finalists.len() < 2 || finalists[0][0].candidate != finalists[1][0].candidate, "{finalists:?}");
    }
}

#[test]
fn a_brief_search_whose_measurements_take_longer_still_compares() {
    let search = brief(1, &Space::of(&[3; 6]), |made| 24usize.saturating_sub(made));
    assert!((16..=24).contains(&search.cells()) && !search.halving.is_empty(), "{}", search.cells());
}

#[test]
fn what_was_found_not_to_be_applied_is_not_measured() {
    let refused = Change { candidate: 0, alternative: 0 };
    let space = Space { refused: vec![refused], ..Space::of(&[2, 2, 2]) };
    let mut search = Search::new(&space, Better::Higher, 80, 1).unwrap();
    while let Some(cell) = search.next_cell() {
        assert!(!cell.contains(&refused));
        search.take(Value::Measured(100.0));
    }
    assert!(search.tried().iter().any(|tried| tried.cell == [refused] && tried.ratio.is_none()));
    assert!(Search::new(&Space { refused: vec![refused], ..Space::of(&[1]) }, Better::Higher, 80, 1).is_none());
}

#[test]
fn what_cannot_be_applied_is_left_out_and_what_is_not_valid_is_measured_again() {
    let mut search = Search::new(&Space::of(&[2, 2, 2]), Better::Higher, 80, 3).unwrap();
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
        let mut search = Search::new(&Space::of(&[2; 20]), Better::Higher, 240, 1).unwrap();
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
