//! The runs of an archive in a row: a series for each metric of each key, and one event where several change together.
//!
//! Runs are separated by machine, device, workload and plan ([`keys`]) and never mixed. Where a metric changed is for
//! [`stats::mean_changes`] to say; changes of one key whose places are not separable are one event, at the place of the clearest.

mod differences;
mod keys;
#[cfg(test)]
mod tests;

pub use differences::change_differences;

use crate::compare::margin_percent;
use crate::rank::matches_pattern;
use crate::{Asked, compare::question};
use keys::Place;
use model::{
    Better, ChangeDirection, ChangedMetric, CompactSort as _, History, HistoryEvent, HistoryKey, HistoryPoint,
    HistorySeries, MetricKey, Run, SiteMetric, SiteRun, Unit,
};
use stats::MeanChange;
use std::collections::{BTreeMap, HashMap};

/// A gap between two runs is said where it has so many days at least.
const TELLING_GAP_DAYS: i64 = 30;
const DAY_S: i64 = 86_400;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct HistoryAsked {
    /// Patterns of metrics; empty: of each phase what was asked, and its 99th percentile of latency.
    pub metrics: Vec<String>,
    /// So many runs of each key at most, the latest; `None`: all.
    pub latest: Option<usize>,
}

/// What is kept of a run.
struct Kept {
    id: String,
    order: u64,
    time: Option<String>,
    at_s: Option<i64>,
    place: Place,
    workload: String,
    plan: u64,
    /// Number of the metric, and its value.
    values: Vec<(usize, f64)>,
}

/// A metric that some run has.
struct Known {
    id: String,
    unit: Unit,
    better: Option<Better>,
}

/// Runs on their way into a history, of each only what is shown of it: an archive of 10,000 runs takes some megabytes.
#[derive(Default)]
pub struct HistoryRuns {
    asked: HistoryAsked,
    runs: Vec<Kept>,
    metrics: Vec<Known>,
    numbers: HashMap<String, usize>,
}

impl HistoryRuns {
    pub fn new(asked: HistoryAsked) -> Self {
        Self { asked, ..Self::default() }
    }

    /// Takes a run with its place in the order of the archive, and when it began in seconds since 1970, as far as its clock knew.
    pub fn add(&mut self, run: &Run, order: u64, at_s: Option<i64>) {
        let values = self.numbered(&asked_metrics(run, &self.asked.metrics));
        self.runs.push(Kept {
            id: run.id.clone(),
            order,
            time: run.sessions.first().map(|s| s.started.clone()),
            at_s,
            place: Place::of(run),
            workload: workload(run),
            plan: keys::plan_digest(run),
            values,
        });
    }

    /// Takes a run of which no more is known than a site keeps.
    pub fn add_known(&mut self, run: &SiteRun) {
        let values = self.numbered(&run.metrics);
        let HistoryKey { machine, device, workload, .. } = run.key();
        self.runs.push(Kept {
            id: run.id.clone(),
            order: run.order,
            time: run.time.clone(),
            at_s: run.at_s,
            place: Place::named(machine, device),
            workload,
            plan: u64::from_str_radix(&run.plan, 16).unwrap_or(0),
            values,
        });
    }

    /// The numbers of metrics, with their values.
    fn numbered(&mut self, all: &[SiteMetric]) -> Vec<(usize, f64)> {
        let number = |(id, unit, better, value): &SiteMetric| {
            let number = *self.numbers.entry(id.clone()).or_insert_with(|| {
                self.metrics.push(Known { id: id.clone(), unit: *unit, better: *better });
                self.metrics.len() - 1
            });
            (number, *value)
        };
        all.iter().map(number).collect()
    }

    /// Ids of all metrics that were seen.
    pub fn metrics(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(|m| m.id.as_str())
    }

    /// The series and their events, without differences of the environment and without acknowledgements.
    pub fn history(mut self) -> History {
        self.runs.compact_sort_by(|a, b| (a.order, &a.id).cmp(&(b.order, &b.id)));
        let mut out = History { runs: self.runs.len(), ..History::default() };
        let mut places: Vec<&mut Place> = self.runs.iter_mut().map(|r| &mut r.place).collect();
        out.notes = keys::settle(&mut places);
        let mut by_key: BTreeMap<HistoryKey, Vec<usize>> = BTreeMap::new();
        for (i, run) in self.runs.iter().enumerate() {
            by_key.entry(key(run)).or_default().push(i);
        }
        let mut ordered = Vec::new();
        for (key, mut of_key) in by_key {
            let latest = self.asked.latest.unwrap_or(usize::MAX);
            of_key.drain(..of_key.len().saturating_sub(latest));
            let runs: Vec<&Kept> = of_key.iter().map(|i| &self.runs[*i]).collect();
            out.notes.extend(clock_went_back(&key, &runs));
            let first = out.series.len();
            out.series.extend(self.series(&key, &runs));
            let events = events(&key, &runs, &out.series[first..]);
            ordered.extend(events.into_iter().map(|(at, event)| (of_key[at], event)));
        }
        ordered.compact_sort_by_key(|(at, _)| *at);
        out.events = ordered.into_iter().map(|(_, event)| event).collect();
        out
    }

    fn series(&self, key: &HistoryKey, runs: &[&Kept]) -> Vec<HistorySeries> {
        let mut points: BTreeMap<usize, Vec<HistoryPoint>> = BTreeMap::new();
        for run in runs {
            for (number, value) in &run.values {
                let point = HistoryPoint { run_id: run.id.clone(), time: run.time.clone(), value: *value };
                points.entry(*number).or_default().push(point);
            }
        }
        let series = points.into_iter().map(|(number, points)| {
            let Known { id, unit, better } = &self.metrics[number];
            HistorySeries { key: key.clone(), metric: id.clone(), unit: *unit, better: *better, points }
        });
        series.collect()
    }
}

/// The metrics of a run that were measured and fit the patterns; without patterns of each phase what was asked, and its 99th percentile of
/// latency.
pub fn asked_metrics(run: &Run, patterns: &[String]) -> Vec<SiteMetric> {
    let mut found = Vec::new();
    for phase in &run.phases {
        let asked = question(phase).map(|m| m.id.as_str());
        let is_result = phase.plan.kind == model::PhaseKind::Measure && !run.is_reference(&phase.plan);
        for metric in phase.metrics.iter().filter(|_| is_result) {
            let usual = || asked == Some(metric.id.as_str()) || MetricKey::of(&metric.id).quantity == "latency_ns_p99";
            let wanted =
                if patterns.is_empty() { usual() } else { patterns.iter().any(|p| matches_pattern(p, &metric.id)) };
            if let Some(value) = metric.value.filter(|v| wanted && v.is_finite()) {
                found.push((metric.id.clone(), metric.unit, metric.better, value));
            }
        }
    }
    found
}

fn key(run: &Kept) -> HistoryKey {
    key_of(&run.place, run.workload.clone(), run.plan)
}

fn key_of(place: &Place, workload: String, plan: u64) -> HistoryKey {
    let machine = place.host.clone().unwrap_or_default();
    HistoryKey { machine, device: place.device(), workload, plan: format!("{plan:016x}") }
}

/// The key of a run by itself: without what other runs tell of its machine and disk.
pub fn history_key(run: &Run) -> HistoryKey {
    key_of(&Place::of(run), workload(run), keys::plan_digest(run))
}

fn workload(run: &Run) -> String {
    if run.plan.name.is_empty() { run.command.clone() } else { run.plan.name.clone() }
}

/// The order of the runs is that in which they ended, so that nothing is wrong with it; their times are.
fn clock_went_back(key: &HistoryKey, runs: &[&Kept]) -> Option<String> {
    let back = |pair: &&[&Kept]| pair[0].at_s.zip(pair[1].at_s).is_some_and(|(a, b)| b < a);
    let pairs: Vec<&[&Kept]> = runs.windows(2).filter(back).collect();
    let last = pairs.last()?[1];
    Some(format!(
        "the clock of {} went back {} times, the last time before run {}: its runs are in the order in which they ended",
        if key.machine.is_empty() { "the machine" } else { &key.machine },
        pairs.len(),
        last.id
    ))
}

/// A change of one series, in places of the key's runs.
struct Found<'a> {
    series: &'a HistorySeries,
    change: MeanChange,
    at: usize,
    within: (usize, usize),
    /// How clear it is: t over its limit.
    clear: f64,
}

/// The events of a key, with the place of the first run after each.
fn events(key: &HistoryKey, runs: &[&Kept], series: &[HistorySeries]) -> Vec<(usize, HistoryEvent)> {
    let place_of: HashMap<&str, usize> = runs.iter().enumerate().map(|(i, run)| (run.id.as_str(), i)).collect();
    let mut found: Vec<Found<'_>> = Vec::new();
    for series in series {
        let values: Vec<f64> = series.points.iter().map(|p| p.value).collect();
        let least_ratio = 1.0 + margin_percent(&series.metric, &Asked::default()) / 100.0;
        let place = |at: usize| series.points.get(at).and_then(|p| place_of.get(p.run_id.as_str())).copied();
        for change in stats::mean_changes(&values, least_ratio) {
            let places = place(change.at).zip(place(change.within.0).zip(place(change.within.1)));
            let Some((at, within)) = places else { continue };
            found.push(Found { series, change, at, within, clear: change.t / stats::limit(values.len()) });
        }
    }
    found.compact_sort_by(|a, b| b.clear.total_cmp(&a.clear));
    let mut events = Vec::new();
    while let Some(clearest) = found.first().map(|f| f.at) {
        // Two changes of one series are no nearer than this: nearer ones of two series are one.
        let near = |f: &Found<'_>| {
            f.at.abs_diff(clearest) < stats::LEAST_VALUES || (f.within.0..=f.within.1).contains(&clearest)
        };
        let (together, others) = found.into_iter().partition(near);
        events.push((clearest, event(key, runs, clearest, together)));
        found = others;
    }
    events
}

fn event(key: &HistoryKey, runs: &[&Kept], at: usize, mut together: Vec<Found<'_>>) -> HistoryEvent {
    let (before, after) = (runs[at.saturating_sub(1)], runs[at]);
    let first = together.iter().map(|f| f.within.0).min().unwrap_or(at).min(at);
    let last = together.iter().map(|f| f.within.1).max().unwrap_or(at).max(at);
    together.compact_sort_by(|a, b| b.change.ratio.ln().abs().total_cmp(&a.change.ratio.ln().abs()));
    // Several changes of one metric around one place are its largest.
    let mut metrics: Vec<ChangedMetric> = Vec::new();
    for found in together {
        if metrics.iter().all(|m| m.id != found.series.metric) {
            metrics.push(changed(&found));
        }
    }
    let days = before.at_s.zip(after.at_s).map_or(0, |(a, b)| (b - a) / DAY_S);
    let gap = (days >= TELLING_GAP_DAYS).then(|| format!("no run of this was made in the {days} days between the two"));
    HistoryEvent {
        id: event_id(key, &after.id),
        key: key.clone(),
        before: before.id.clone(),
        after: after.id.clone(),
        time: after.time.clone(),
        metrics,
        environment_differences: Vec::new(),
        notes: gap.into_iter().collect(),
        acknowledged: None,
        within: runs[first..=last].iter().map(|r| r.id.clone()).collect(),
    }
}

fn changed(found: &Found<'_>) -> ChangedMetric {
    let (series, change) = (found.series, &found.change);
    let direction = series.better.map(|better| {
        if (change.ratio > 1.0) == (better == Better::Higher) {
            ChangeDirection::Better
        } else {
            ChangeDirection::Worse
        }
    });
    ChangedMetric {
        id: series.metric.clone(),
        ratio: change.ratio,
        low: change.low,
        high: change.high,
        direction,
        from: change.before,
        to: change.before * change.ratio,
        unit: series.unit,
    }
}

/// The same for the same place, whatever else the archive holds.
pub fn event_id(key: &HistoryKey, after: &str) -> String {
    let text = [&key.machine, &key.device, &key.workload, &key.plan, after].join("\0");
    format!("{:08x}", keys::digest(text.as_bytes()) >> 32)
}
