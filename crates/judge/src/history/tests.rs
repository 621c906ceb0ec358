use super::*;
use crate::compare::tests::run as bare;
use model::{CpuModel, Layer, LayerKind, Metric, facts};

/// Numbers of a seed around 1 with 3 % of noise.
fn noise(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut unit = || model::random::unit(model::random::next(&mut state));
    (0..n).map(|_| 1.0 + 0.03 * model::random::normal(&mut unit)).collect()
}

/// A run of host `a` on a disk, with these rates of phases `p0`, `p1`, ...
fn run(number: usize, rates: &[f64]) -> Run {
    let metric = |(i, rate): (usize, &f64)| {
        Metric::measured(format!("p{i}.throughput_bytes_per_s"), Unit::BytesPerS, Some(Better::Higher), *rate, 100)
    };
    let mut run = bare(Vec::new(), None);
    let phase = |(i, metric): (usize, Metric)| {
        let mut phase = run.phases[0].clone();
        (phase.plan.name, phase.metrics) = (format!("p{i}"), vec![metric]);
        phase
    };
    run.phases = rates.iter().enumerate().map(metric).enumerate().map(phase).collect();
    run.id = format!("run-{number:03}");
    run.plan.name = "check".into();
    run.environment.hostname = Some("a".into());
    run.environment.machine = Some("board".into());
    run.environment.cpus = vec![CpuModel { name: "core".into(), count: 4 }];
    let mut disk = Layer::new(LayerKind::Disk, "sda");
    disk.set(facts::MODEL, "SSD");
    disk.set(facts::SERIAL, "S1");
    run.target.stack.layers = vec![disk].into();
    run
}

fn of(runs: &[Run]) -> History {
    of_asked(runs, HistoryAsked::default())
}

fn of_asked(runs: &[Run], asked: HistoryAsked) -> History {
    let mut all = HistoryRuns::new(asked);
    for (i, run) in runs.iter().enumerate() {
        all.add(run, i as u64, Some(i as i64 * 86_400));
    }
    all.history()
}

/// Runs in which all of `metrics` metrics fall by 10 % from `at` on, each with noise of its own.
fn falling(runs: usize, at: usize, metrics: usize, seed: u64) -> Vec<Run> {
    let all: Vec<Vec<f64>> = (0..metrics as u64).map(|m| noise(seed * 100 + m, runs)).collect();
    let level = |i: usize| if i < at { 1e8 } else { 0.9e8 };
    (0..runs).map(|i| run(i, &all.iter().map(|values| values[i] * level(i)).collect::<Vec<f64>>())).collect()
}

#[test]
fn twelve_metrics_that_change_at_one_run_are_one_event() {
    let mut right = 0;
    for seed in 0..20 {
        let history = of(&falling(60, 40, 12, seed));
        assert_eq!(history.series.len(), 12);
        let [event] = &history.events[..] else { panic!("seed {seed}: {:?}", history.events) };
        assert!(event.metrics.len() >= 11 && event.is_worse() && history.open().count() == 1, "{event:?}");
        assert!(event.metrics.iter().all(|m| m.direction == Some(ChangeDirection::Worse) && m.ratio < 0.94));
        assert!(event.within.contains(&"run-040".to_owned()), "{event:?}");
        right += usize::from((event.before.as_str(), event.after.as_str()) == ("run-039", "run-040"));
    }
    assert!(right >= 17, "{right} of 20 at the very run");
}

#[test]
fn what_does_not_change_has_no_event_and_an_event_has_one_name() {
    let falls = of(&falling(60, 60, 12, 3));
    assert_eq!(falls.events, []);
    let (now, later) = (of(&falling(50, 40, 2, 7)), of(&falling(60, 40, 2, 7)[..55]));
    assert_eq!(now.events[0].id.len(), 8);
    assert_eq!(now.events[0].id, later.events[0].id);
}

#[test]
fn other_machines_devices_workloads_and_plans_are_never_mixed() {
    let changes: [fn(&mut Run); 5] = [
        |r| r.environment.hostname = Some("b".into()),
        |r| {
            let mut disk = Layer::new(LayerKind::Disk, "sda");
            disk.set(facts::SERIAL, "S2");
            r.target.stack.layers = vec![disk].into();
        },
        |r| r.plan.name = "mix".into(),
        |r| r.plan.size.bytes = 1 << 30,
        |r| r.target.kind = model::TargetKind::BlockDevice,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut runs = falling(40, 40, 1, 9);
        // Every second run is of something else that is a third slower.
        for run in runs.iter_mut().skip(1).step_by(2) {
            change(run);
            run.phases[0].metrics[0].value = run.phases[0].metrics[0].value.map(|v| v * 0.66);
        }
        let history = of(&runs);
        assert_eq!((history.series.len(), history.events.len()), (2, 0), "change {i}");
        assert!(history.series.iter().all(|s| s.points.len() == 20));
    }
}

#[test]
fn a_machine_that_was_renamed_is_one_and_a_disk_that_moved_is_in_two() {
    let mut renamed = falling(40, 20, 1, 4);
    renamed[20..].iter_mut().for_each(|r| r.environment.hostname = Some("new".into()));
    let history = of(&renamed);
    assert_eq!((history.series.len(), history.events.len()), (1, 1));
    assert_eq!(history.series[0].key.machine, "new");
    assert!(history.notes[0].contains("called a and is called new since run run-020"), "{:?}", history.notes);
    renamed[20..].iter_mut().for_each(|r| r.environment.machine = Some("another board".into()));
    let history = of(&renamed);
    assert_eq!((history.series.len(), history.events.len()), (2, 0));
    assert!(history.notes[0].starts_with("disk S1 was in a and is in new since run run-020"), "{:?}", history.notes);
}

#[test]
fn a_serial_number_that_only_root_could_read_is_known_of_the_others() {
    let mut runs = falling(40, 20, 1, 5);
    for run in runs.iter_mut().step_by(3) {
        let mut disk = Layer::new(LayerKind::Disk, "sda");
        disk.set(facts::MODEL, "SSD");
        run.target.stack.layers = vec![disk].into();
    }
    let history = of(&runs);
    assert_eq!((history.series.len(), history.events.len()), (1, 1));
    assert_eq!(history.series[0].key.device, "SSD S1");
}

#[test]
fn clocks_that_go_back_and_gaps_of_months_are_said() {
    let runs = falling(40, 20, 1, 6);
    let mut all = HistoryRuns::default();
    for (i, run) in runs.iter().enumerate() {
        // At run 30 the board begins in 1970 again, and 100 days lie before run 20.
        let day = if i >= 30 { i - 30 } else { i + if i >= 20 { 100 } else { 0 } };
        all.add(run, i as u64, Some(day as i64 * 86_400));
    }
    let history = all.history();
    assert_eq!(history.series[0].points[30].run_id, "run-030", "in the order in which they ended");
    assert!(history.notes[0].contains("the clock of a went back 1 times"), "{:?}", history.notes);
    assert_eq!(history.events[0].notes, ["no run of this was made in the 101 days between the two"]);
}

#[test]
fn only_the_latest_runs_and_the_metrics_that_were_asked() {
    let runs = falling(60, 20, 3, 8);
    let latest = of_asked(&runs, HistoryAsked { latest: Some(30), ..HistoryAsked::default() });
    assert!(latest.events.is_empty() && latest.series.iter().all(|s| s.points.len() == 30));
    let one = of_asked(&runs, HistoryAsked { metrics: vec!["p1.*".into()], ..HistoryAsked::default() });
    assert_eq!(one.series.iter().map(|s| s.metric.as_str()).collect::<Vec<_>>(), ["p1.throughput_bytes_per_s"]);
    assert_eq!(one.events.len(), 1);
}

#[test]
fn what_differs_between_the_two_runs_is_told_down_to_a_layer() {
    let (mut before, mut after) = (run(1, &[1.0]), run(2, &[1.0]));
    let set = |run: &mut Run, firmware: &str, hours: u64, wear: u64| {
        let mut disk = run.target.stack.layers[0].clone();
        disk.set(facts::FIRMWARE_REVISION, firmware);
        disk.set(facts::POWER_ON_HOURS, hours);
        disk.set(facts::WEAR_PERCENT, wear);
        disk.set(facts::SCHEDULER, "none");
        run.target.stack.layers = vec![disk].into();
    };
    set(&mut before, "1B2QEXM7", 100, 3);
    set(&mut after, "2B2QEXM7", 130, 9);
    (before.environment.kernel, after.environment.kernel) = (Some("6.1.0".into()), Some("6.12.0".into()));
    let differences = change_differences(&before, &after);
    let told: Vec<String> = differences.iter().map(|d| format!("{} {:?} {:?}", d.what, d.a, d.b)).collect();
    let expected = [
        r#"kernel ["6.1.0"] ["6.12.0"]"#,
        r#"sda: firmware_revision ["1B2QEXM7"] ["2B2QEXM7"]"#,
        r#"sda: wear_percent ["3"] ["9"]"#,
    ];
    assert_eq!(told, expected);
}
