//! What the runs of many machines say together: devices ranked by each metric, how often something was found, which uses are met.
//!
//! A unit counts once, however often it was measured: its value is the median of its runs. A device is the geometric mean of its
//! units, with the interval of Student's t over their logarithms.

use crate::HistoryRuns;
use model::{
    Better, CompactSort as _, EnvironmentDifference, HistoryEvent, Site, SiteFinding, SiteFit, SiteProblem, SiteRank,
    SiteRanking, SiteRun, Unit,
};
use std::collections::{BTreeMap, BTreeSet};

/// Rankings that are shown: those of most devices.
const MOST_RANKINGS: usize = 200;
/// Below so many units there is no interval.
const LEAST_UNITS: usize = 3;

/// Puts together what was read.
pub fn site(mut runs: Vec<SiteRun>, problems: Vec<SiteProblem>) -> Site {
    runs.compact_sort_by(|a, b| (a.order, &a.id).cmp(&(b.order, &b.id)));
    let mut all = HistoryRuns::default();
    runs.iter().for_each(|run| all.add_known(run));
    let mut history = all.history();
    for event in &mut history.events {
        event.environment_differences = differences(&runs, event);
    }
    Site { rankings: rankings(&runs), findings: findings(&runs), fits: fits(&runs), history, problems, runs }
}

/// In what else the two runs of an event differ, as far as a site keeps it.
fn differences(runs: &[SiteRun], event: &HistoryEvent) -> Vec<EnvironmentDifference> {
    type Fact = (&'static str, fn(&SiteRun) -> Option<&String>);
    let facts: [Fact; 3] =
        [("kernel", |r| r.kernel.as_ref()), ("firmware", |r| r.firmware.as_ref()), ("machine", |r| r.board.as_ref())];
    let find = |id: &str| runs.iter().find(|r| r.id == id);
    let Some((before, after)) = find(&event.before).zip(find(&event.after)) else { return Vec::new() };
    let list = |value: Option<&String>| value.into_iter().cloned().collect::<Vec<_>>();
    let differs = |(what, of): &Fact| {
        (of(before) != of(after)).then(|| EnvironmentDifference {
            what: (*what).to_owned(),
            a: list(of(before)),
            b: list(of(after)),
        })
    };
    facts.iter().filter_map(differs).collect()
}

/// Values by unit, of a device.
type ByUnit<'a> = BTreeMap<(&'a str, &'a str), Vec<f64>>;

fn rankings(runs: &[SiteRun]) -> Vec<SiteRanking> {
    type Of<'a> = (&'a str, &'a str);
    let mut all: BTreeMap<Of<'_>, (Unit, Better, BTreeMap<&str, ByUnit<'_>>)> = BTreeMap::new();
    for run in runs {
        let Some(device) = run.device.as_deref() else { continue };
        for (id, unit, better, value) in &run.metrics {
            let Some(better) = better.filter(|_| *value > 0.0) else { continue };
            let (known, _, devices) =
                all.entry((&run.workload, id)).or_insert_with(|| (*unit, better, BTreeMap::new()));
            // A metric of the same name in another unit is another one.
            if *known == *unit {
                let of = (run.machine.as_str(), run.unit.as_str());
                devices.entry(device).or_default().entry(of).or_default().push(*value);
            }
        }
    }
    let mut rankings: Vec<SiteRanking> = all
        .into_iter()
        .map(|((workload, metric), (unit, better, devices))| {
            let mut devices: Vec<SiteRank> =
                devices.into_iter().filter_map(|(device, units)| rank(device, &units)).collect();
            let best = |a: &SiteRank, b: &SiteRank| match better {
                Better::Higher => b.value.total_cmp(&a.value),
                Better::Lower => a.value.total_cmp(&b.value),
            };
            devices.compact_sort_by(|a, b| best(a, b).then_with(|| a.device.cmp(&b.device)));
            SiteRanking { workload: workload.to_owned(), metric: metric.to_owned(), unit, better, devices }
        })
        .collect();
    if rankings.len() > MOST_RANKINGS {
        rankings.compact_sort_by_key(|r| std::cmp::Reverse(r.devices.len()));
        rankings.truncate(MOST_RANKINGS);
        rankings.compact_sort_by(|a, b| (&a.workload, &a.metric).cmp(&(&b.workload, &b.metric)));
    }
    rankings
}

fn rank(device: &str, units: &ByUnit<'_>) -> Option<SiteRank> {
    let logs: Vec<f64> = units.values().filter_map(|values| stats::median(values)).map(f64::ln).collect();
    let interval = stats::mean_interval(&logs, 0.95).filter(|_| logs.len() >= LEAST_UNITS);
    Some(SiteRank {
        device: device.to_owned(),
        value: stats::mean(&logs)?.exp(),
        interval: interval.map(|i| (i.low.exp(), i.high.exp())),
        units: units.len(),
        runs: units.values().map(Vec::len).sum(),
    })
}

fn findings(runs: &[SiteRun]) -> BTreeMap<String, SiteFinding> {
    let mut seen: BTreeMap<&str, (SiteFinding, BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for run in runs {
        for (id, title) in &run.findings {
            let (finding, machines, devices) = seen.entry(id).or_default();
            finding.title.clone_from(title);
            finding.runs += 1;
            machines.insert(&run.machine);
            devices.extend(run.device.as_deref());
        }
    }
    let counted = seen.into_iter().map(|(id, (finding, machines, devices))| {
        (id.to_owned(), SiteFinding { machines: machines.len(), devices: devices.len(), ..finding })
    });
    counted.collect()
}

fn fits(runs: &[SiteRun]) -> BTreeMap<String, BTreeMap<String, SiteFit>> {
    let mut all: BTreeMap<String, BTreeMap<String, SiteFit>> = BTreeMap::new();
    for run in runs {
        let Some(device) = &run.device else { continue };
        for (of, met) in run.fits.iter().filter_map(|(of, met)| Some((of, (*met)?))) {
            let fit = all.entry(device.clone()).or_default().entry(of.clone()).or_default();
            fit.of += 1;
            fit.met += usize::from(met);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::RunValidity;

    fn run(number: usize, device: &str, unit: &str, rate: f64) -> SiteRun {
        let metric = |id: &str, better, value| (id.to_owned(), Unit::OpsPerS, Some(better), value);
        SiteRun {
            id: format!("run-{number}"),
            order: number as u64,
            time: None,
            at_s: None,
            machine: format!("m-{unit}"),
            device: Some(device.into()),
            unit: unit.into(),
            firmware: None,
            board: None,
            kernel: None,
            workload: "check".into(),
            plan: "00".into(),
            validity: RunValidity::Valid,
            metrics: vec![metric("a.iops", Better::Higher, rate), metric("a.wait", Better::Lower, 1e6 / rate)],
            findings: vec![("slow".into(), "It is slow".into())],
            fits: vec![("etcd".into(), Some(rate > 150.0)), ("db".into(), None)],
        }
    }

    #[test]
    fn a_unit_counts_once_however_often_it_was_measured() {
        // Unit 1 was measured 50 times, three others once each.
        let mut runs: Vec<SiteRun> = (0..50).map(|i| run(i, "fast", "1", 400.0)).collect();
        runs.extend([100.0, 100.0, 100.0].iter().enumerate().map(|(i, v)| run(60 + i, "fast", &format!("u{i}"), *v)));
        runs.push(run(90, "slow", "9", 120.0));
        let site = site(runs, Vec::new());
        let of = |metric: &str| site.rankings.iter().find(|r| r.metric == metric).unwrap();
        let [fast, slow] = &of("a.iops").devices[..] else { panic!("two devices") };
        assert_eq!((fast.device.as_str(), fast.units, fast.runs), ("fast", 4, 53));
        assert!((fast.value - 400f64.powf(0.25) * 100f64.powf(0.75)).abs() < 1e-6, "{fast:?}");
        assert!(fast.interval.unwrap().0 < fast.value && slow.interval.is_none());
        assert_eq!(of("a.wait").devices[0].device, "fast", "less is better");
        let finding = &site.findings["slow"];
        assert_eq!((finding.runs, finding.machines, finding.devices), (54, 5, 2));
        assert_eq!(site.fits["fast"]["etcd"], SiteFit { met: 50, of: 53 });
        assert!(!site.fits["fast"].contains_key("db"), "what cannot be told is not counted");
    }
}
