//! Comparisons of runs that something slowed.

use super::tests::{Noise, first, pairs};
use super::*;
use model::Reason;
use test_runs::Draw;

/// Slows a run by a share, as steal would: its number is a bound.
fn slowed(run: &mut Run, share: f64) {
    for metric in &mut run.phases[0].metrics {
        metric.value = metric.value.map(|v| v * (1.0 - share));
        metric.refuse(&[Reason::of("steal", "the hypervisor took up to 9 % of a CPU's time")]);
        metric.bound = Some(model::Bound::AtLeast);
    }
}

#[test]
fn runs_that_something_slowed_count_in_randomised_pairs_with_a_warning() {
    let (mut a, mut b) = pairs(12, 1.2, 0.02, 8);
    a[..6].iter_mut().for_each(|r| slowed(r, 0.05));
    b[4..10].iter_mut().for_each(|r| slowed(r, 0.05));
    let c = first(&a, &b, &Asked::default());
    assert_eq!(c.verdict, Verdict::Better, "{:?}", c.reasons);
    let warning = c.reasons.iter().find(|r| r.is("slowed")).expect("a warning").text();
    assert!(warning.contains("6 of 12 runs of A and 6 of 12 of B") && warning.contains("--strict"), "{warning}");
    let strict = first(&a, &b, &Asked { strict: true, ..Asked::default() });
    assert_eq!(strict.verdict, Verdict::Invalid);
    assert!(
        strict.reasons.iter().any(|r| r.to_string().contains("refused: steal") && r.to_string().contains("12 of 24")),
        "{:?}",
        strict.reasons
    );
    assert!(warning.contains("both sides suffer alike"), "{warning}");
    // One run of a side is not slowed as the other is.
    let single = first(&a[..1], &b[..1], &Asked::default());
    assert_eq!((single.verdict, single.basis), (Verdict::Invalid, Basis::Single));
}

#[test]
fn an_arm_and_itself_do_not_differ_because_runs_were_slowed() {
    let mut draw = Noise(Draw(11));
    let wrong = (0..300u64).filter(|trial| {
        let (mut a, mut b) = pairs(10, 1.0, 0.02, 1_000 + trial);
        for run in a.iter_mut().chain(&mut b) {
            if draw.uniform() < 0.4 {
                slowed(run, 0.3 * draw.uniform());
            }
        }
        matches!(first(&a, &b, &Asked::default()).verdict, Verdict::Better | Verdict::Worse)
    });
    // 5 % of 300 are 15; 24 are more than chance gives once in a hundred times.
    let wrong = wrong.count();
    assert!(wrong <= 24, "{wrong} of 300 (seed 11)");
}

#[test]
fn a_set_that_was_slowed_more_than_the_other_is_not_worse_for_it() {
    let unpaired = |runs: Vec<Run>| runs.into_iter().map(|r| Run { experiment: None, ..r }).collect::<Vec<_>>();
    let (a, b) = pairs(10, 1.0, 0.01, 9);
    let (a, mut b) = (unpaired(a), unpaired(b));
    b.iter_mut().for_each(|r| slowed(r, 0.2));
    for (one, other) in [(&a, &b), (&b, &a)] {
        let c = first(one, other, &Asked::default());
        assert_eq!((c.verdict, c.basis), (Verdict::Unclear, Basis::Unpaired));
        assert!(c.reasons.iter().any(|r| r.is("slowed-unevenly")), "{:?}", c.reasons);
    }
    // What is faster although it was slowed is faster.
    let (a, b) = pairs(10, 1.5, 0.01, 9);
    let (a, mut b) = (unpaired(a), unpaired(b));
    b.iter_mut().for_each(|r| slowed(r, 0.1));
    assert_eq!(first(&a, &b, &Asked::default()).verdict, Verdict::Better);
}

#[test]
fn sides_of_which_one_was_slowed_more_often_do_not_suffer_alike() {
    let (a, mut b) = pairs(8, 1.2, 0.02, 8);
    b[..4].iter_mut().for_each(|r| slowed(r, 0.05));
    let c = first(&a, &b, &Asked::default());
    let warning = c.reasons.iter().find(|r| r.is("slowed")).expect("a warning").text();
    assert!(warning.contains("0 of 8 runs of A and 4 of 8 of B"), "{warning}");
    assert!(!warning.contains("alike") && warning.contains("part of the difference"), "{warning}");
}
