//! Every statistic against SciPy and R: golden/scipy.tsv and golden/r.tsv, which golden/make.py and golden/make.R write.

use std::collections::BTreeMap;

const SCIPY: &str = include_str!("golden/scipy.tsv");
const R: &str = include_str!("golden/r.tsv");

/// A line of a golden file.
struct Case<'a> {
    statistic: &'a str,
    inputs: Vec<Vec<f64>>,
    outputs: Vec<Option<f64>>,
}

fn numbers(text: &str) -> Vec<Option<f64>> {
    text.split(',').map(|v| (v != "-").then(|| v.parse().unwrap_or_else(|_| panic!("'{v}' is not a number")))).collect()
}

fn cases(text: &str) -> impl Iterator<Item = Case<'_>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|line| {
        let [statistic, inputs, outputs] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let inputs = inputs.split(';').map(|i| numbers(i).into_iter().flatten().collect()).collect();
        Case { statistic, inputs, outputs: numbers(outputs) }
    })
}

/// What this room gives for the case, with the relative tolerance that is asked.
fn ours(case: &Case<'_>) -> (Vec<Option<f64>>, f64) {
    let i = &case.inputs;
    let pairs = || i[0].iter().copied().zip(i[1].iter().copied()).collect::<Vec<(f64, f64)>>();
    let all = |values: &[f64]| values.iter().copied().map(Some).collect::<Vec<_>>();
    // Most are sums; quantiles are found by search, and R finds ends of intervals by it as well.
    let (exact, search) = (1e-9, 1e-6);
    match case.statistic {
        "signed_rank" => {
            let t = stats::signed_rank(&i[0]).unwrap();
            (all(&[t.positive_rank_sum, t.p]), exact)
        }
        "hodges_lehmann" => {
            let t = stats::hodges_lehmann(&i[0], i[1][0]).unwrap();
            (vec![Some(t.estimate), t.low, t.high], exact)
        }
        "shift" => {
            let s = stats::shift(&i[0], &i[1], 0.95).unwrap();
            (all(&[s.estimate, s.p]), exact)
        }
        "shift_interval" => {
            let s = stats::shift(&i[0], &i[1], i[2][0]).unwrap();
            (vec![Some(s.estimate), s.low, s.high], exact)
        }
        "kendall" => {
            let k = stats::kendall(&i[0], &i[1]).unwrap();
            (all(&[k.tau, k.p]), exact)
        }
        "tau_b" => (vec![stats::tau_b(&i[0], &i[1])], exact),
        "kendall_interval" => {
            let (low, high) = stats::kendall_interval(i[0][0], i[0][1] as usize, i[0][2]).unwrap();
            (all(&[low, high]), exact)
        }
        "holm" => (all(&stats::holm(&i[0])), exact),
        "benjamini_hochberg" => (all(&stats::benjamini_hochberg(&i[0])), exact),
        "normal_quantile" => (vec![stats::normal_quantile(i[0][0])], exact),
        "t_quantile" => (vec![stats::t_quantile(i[0][0], i[0][1])], search),
        "poisson_lower" => (vec![stats::poisson_lower(i[0][0] as u64, i[0][1])], 1e-4),
        "mean" => (vec![stats::mean(&i[0])], exact),
        "variance" => (vec![stats::variance(&i[0])], exact),
        "median" => (vec![stats::median(&i[0])], exact),
        "median_absolute_deviation" => (vec![stats::median_absolute_deviation(&i[0])], exact),
        "weighted_mean" => (vec![stats::weighted_mean(pairs())], exact),
        "mean_interval" => {
            let m = stats::mean_interval(&i[0], i[1][0]).unwrap();
            (all(&[m.mean, m.low, m.high]), search)
        }
        "least_squares" => {
            let line = stats::least_squares(&pairs()).unwrap();
            (all(&[line.intercept, line.slope]), exact)
        }
        "theil_sen" => {
            let line = stats::theil_sen(&pairs()).unwrap();
            (all(&[line.intercept, line.slope]), exact)
        }
        "correlation" => (vec![stats::correlation(&pairs())], exact),
        "rank_correlation" => (vec![stats::rank_correlation(&pairs())], exact),
        "lag1" => (vec![stats::lag1(&i[0])], exact),
        "batch_interval" => {
            let b = stats::batch_interval(&i[0], i[1][0] as usize).unwrap();
            (all(&[b.mean, b.low, b.high]), search)
        }
        "change_point" => {
            let c = stats::change_point(&i[0], 2).unwrap();
            (all(&[c.at as f64, c.before, c.after]), exact)
        }
        "steadiness" => {
            let s = stats::steadiness(&i[0]).unwrap();
            (all(&[s.range_ratio, s.slope_ratio]), exact)
        }
        other => panic!("a golden value of '{other}', which nobody computes"),
    }
}

#[test]
fn as_scipy_and_r_have_them() {
    let mut counted: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases(SCIPY).chain(cases(R)) {
        *counted.entry(case.statistic).or_default() += 1;
        let (ours, tolerance) = ours(&case);
        let near = |a: &Option<f64>, b: &Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= tolerance * b.abs().max(1e-3),
            (a, b) => a.is_none() && b.is_none(),
        };
        if ours.len() != case.outputs.len() || !ours.iter().zip(&case.outputs).all(|(a, b)| near(a, b)) {
            wrong.push(format!("{} of {:?}: {ours:?}, not {:?}", case.statistic, case.inputs, case.outputs));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counted.len() >= 25, "{counted:?}");
    assert!(counted.values().all(|n| *n >= 2), "{counted:?}");
}

#[test]
fn the_files_say_who_wrote_them() {
    assert!(SCIPY.starts_with("# make.py: SciPy ") && R.starts_with("# make.R: R version "));
}
