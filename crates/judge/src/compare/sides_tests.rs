//! What is shown of two sides: their levels, what they were told to do, and what one of them lacks.

use super::tests::{first, pairs, rate, run};
use super::*;
use model::{BlockPlan, StreamPlan, job_options};

/// The change is no other than that of the two numbers beside it, whatever the values are like.
#[test]
fn the_levels_of_both_sides_lie_as_far_apart_as_the_change() {
    for paired in [true, false] {
        for seed in 0..20 {
            let (mut a, mut b) = pairs(8, 1.03, 0.3, seed);
            if !paired {
                a.iter_mut().chain(&mut b).for_each(|r| r.experiment = None);
            }
            let c = first(&a, &b, &Asked::default());
            let (level_a, level_b, ratio) = (c.a.expect("a"), c.b.expect("b"), c.ratio.expect("a ratio"));
            assert!((level_b / level_a / ratio - 1.0).abs() < 1e-9, "{level_a} {level_b} {ratio}");
            let known = |values: &[Option<f64>]| values.iter().flatten().copied().collect::<Vec<f64>>();
            let all = [known(&c.values_a), known(&c.values_b)].concat();
            let (low, high) = all.iter().fold((f64::MAX, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
            assert!(level_a > low && level_a < high && level_b > low && level_b < high, "seed {seed}: {c:?}");
        }
    }
    // Where nothing varies they are the values themselves.
    let (a, b) = pairs(6, 1.5, 0.0, 1);
    let c = first(&a, &b, &Asked::default());
    assert!((c.a.unwrap() - 1e8).abs() < 1.0 && (c.b.unwrap() - 1.5e8).abs() < 1.0, "{c:?}");
}

/// A run whose one job has this depth, and this seed and region.
fn with_depth(depth: u32, seed: u64) -> Run {
    let mut made = run(vec![rate("p.throughput_bytes_per_s", 1e8)], None);
    let block = BlockPlan { region_bytes: 1 << (20 + seed), block_size_bytes: 4096, ..BlockPlan::default() };
    let mut stream = StreamPlan { kind: block.into(), seed, ..StreamPlan::default() };
    stream.path.queue_depth = depth;
    made.phases[0].plan.streams = vec![stream];
    made
}

#[test]
fn own_runs_of_other_work_are_told_first() {
    let differences = |a: Run, b: Run| environment_differences(&[a], &[b]);
    let found = differences(with_depth(1, 1), with_depth(32, 2));
    assert_eq!(found[0].what, job_options::DIFFERENCE);
    assert_eq!((&found[0].a[..], &found[0].b[..]), (&["depth=1".to_owned()][..], &["depth=32".to_owned()][..]));
    let same = differences(with_depth(1, 1), with_depth(1, 2));
    assert!(same.iter().all(|d| d.what != job_options::DIFFERENCE), "{same:?}");
    let two = compare(&[with_depth(1, 1)], &[with_depth(2, 1)], &Asked::default());
    assert_eq!(two.other_work().map(EnvironmentDifference::text).as_deref(), Some("A depth=1, B depth=2"));
    // Of an experiment that is what is compared.
    let (mut a, mut b) = pairs(6, 1.2, 0.01, 1);
    for (runs, depth) in [(&mut a, 1), (&mut b, 2)] {
        let plan = with_depth(depth, 1).phases.remove(0).plan;
        runs.iter_mut().for_each(|r| r.phases[0].plan = plan.clone());
    }
    let drawn = compare(&a, &b, &Asked::default());
    assert_eq!(drawn.environment_differences[0].what, job_options::DIFFERENCE);
    assert!(drawn.other_work().is_none());
}

#[test]
fn what_a_was_made_for_and_b_lacks_is_said() {
    let two = |second: &str| {
        let mut made = run(vec![rate("p.throughput_bytes_per_s", 1e8)], None);
        let more = run(vec![rate(second, 1e8)], None).phases.remove(0);
        made.phases.push(more);
        made
    };
    let reason = |a: Run, b: Run| {
        let comparison = compare(&[a], &[b], &Asked::default());
        comparison.reasons.iter().find(|r| r.is("not-in-b")).map(Reason::text)
    };
    let said = reason(two("q.throughput_bytes_per_s"), two("r.throughput_bytes_per_s")).expect("it is said");
    assert!(said.contains("q.throughput_bytes_per_s") && !said.contains("r.throughput"), "{said}");
    assert_eq!(reason(two("q.throughput_bytes_per_s"), two("q.throughput_bytes_per_s")), None);
}

#[test]
fn groups_are_compared_by_their_sums_and_one_rank_is_told() {
    let with = |rank, sum| {
        let own = rate("p.throughput_bytes_per_s", 1e6);
        let mut run = run(vec![own, rate("p.group.throughput_bytes_per_s", sum)], None);
        let (machines, phases) = (Vec::new(), Vec::new());
        run.group = Some(model::GroupPlace { id: "g".into(), rank, size: 4, machines, phases, ended: None });
        run
    };
    let compared = compare(&[with(0, 4e6)], &[with(0, 2e6)], &Asked::default());
    let primary: Vec<(&str, Option<f64>)> =
        compared.metrics.iter().filter(|m| m.primary).map(|m| (m.id.as_str(), m.ratio)).collect();
    assert_eq!(primary, [("p.group.throughput_bytes_per_s", Some(0.5))]);
    let text = |c: &Comparison| c.reasons.iter().map(ToString::to_string).collect::<String>();
    assert!(!text(&compared).contains("rank"), "{}", text(&compared));
    let mut fewer = with(2, 1e6);
    if let Some(group) = &mut fewer.group {
        group.size = 2;
    }
    let compared = compare(&[with(0, 4e6)], &[fewer], &Asked::default());
    assert!(text(&compared).contains("is what rank 2 of 2 did"), "{}", text(&compared));
    assert!(compared.environment_differences.iter().any(|d| d.what == "ranks" && d.a == ["4"] && d.b == ["2"]));
}
