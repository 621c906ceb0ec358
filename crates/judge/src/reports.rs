//! The reports of a tool that watches a machine, taken together: what each device did in all of them.

use model::{Metric, MetricKey, PhaseRun, Reason, Run};

/// Quantities that are means over operations: each report counts with its operations a second.
const PER_OPERATION: [&str; 3] = ["await_ns", "request_bytes_mean", "service_time_ns"];
/// How the rates of operations are called.
const OPERATIONS: [&str; 2] = ["iops", "tps_ops_per_s"];

/// Whether the phase is a report: `report[3]`, `sample[5..8]`.
fn is_report(phase: &PhaseRun) -> bool {
    phase.record.is_none() && phase.plan.name.ends_with(']') && phase.plan.name.contains('[')
}

fn is_since_boot(phase: &PhaseRun) -> bool {
    phase.metrics.iter().any(|m| m.reasons.iter().any(Reason::is_since_boot))
}

/// A metric's id without the name of its report: `sda.read.iops`.
fn bare<'a>(phase: &PhaseRun, metric: &'a Metric) -> &'a str {
    metric.id.strip_prefix(&phase.plan.name).and_then(|id| id.strip_prefix('.')).unwrap_or(&metric.id)
}

/// Operations a second of what a metric is of: of its direction, else of all that are below it.
fn operations(phase: &PhaseRun, of: &str) -> f64 {
    let own =
        OPERATIONS.iter().find_map(|name| phase.metrics.iter().find(|m| bare(phase, m) == format!("{of}.{name}")));
    let below = |m: &&Metric| {
        let id = bare(phase, m);
        id.strip_prefix(of).is_some_and(|rest| rest.starts_with('.')) && OPERATIONS.iter().any(|o| id.ends_with(o))
    };
    own.map_or_else(|| phase.metrics.iter().filter(below).filter_map(|m| m.value).sum(), |m| m.value.unwrap_or(0.0))
}

/// The mean of each figure over the reports of a run, by its id without the name of the report; `n` is how many reports it is
/// of. The average since boot counts only where nothing else is there. Empty where the run is no series of reports.
pub fn over_reports(run: &Run) -> Vec<Metric> {
    if run.phases.is_empty() || !run.phases.iter().all(is_report) {
        return Vec::new();
    }
    let mut reports: Vec<&PhaseRun> = run.phases.iter().filter(|p| !is_since_boot(p)).collect();
    if reports.is_empty() {
        reports = run.phases.iter().collect();
    }
    let mut all: Vec<(Metric, f64, f64)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for report in reports {
        for metric in &report.metrics {
            let Some(value) = metric.value else { continue };
            let id = bare(report, metric);
            let MetricKey { of, quantity, .. } = MetricKey::of(id);
            let weight = if PER_OPERATION.contains(&quantity) { operations(report, of) } else { 1.0 };
            let place = *places.entry(id.to_owned()).or_insert_with(|| {
                all.push((Metric::measured(id, metric.unit, metric.better, 0.0, 0), 0.0, 0.0));
                all.len() - 1
            });
            let (mean, sum, weights) = &mut all[place];
            mean.n += 1;
            *sum += value * weight;
            *weights += weight;
        }
    }
    // What took time where no operation was counted is no time.
    all.into_iter()
        .filter(|(.., weights)| *weights > 0.0)
        .map(|(mean, sum, weights)| Metric { value: Some(sum / weights), ..mean })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{PhasePlan, Unit};

    fn report(number: u32, figures: &[(&str, Unit, f64)]) -> PhaseRun {
        let name = format!("report[{number}]");
        let metric = |(id, unit, value): &(&str, Unit, f64)| {
            let mut m = Metric::measured(format!("{name}.{id}"), *unit, None, *value, 1);
            m.reasons.extend((number == 1).then(|| Reason::since_boot(None)));
            m
        };
        let metrics = figures.iter().map(metric).collect();
        let plan = PhasePlan { name: name.clone(), ..PhasePlan::default() };
        PhaseRun { record: None, ..test_runs::measured(plan, Default::default(), metrics) }
    }

    #[test]
    fn times_count_by_their_operations_and_the_time_since_boot_does_not_count() {
        let of = |number, iops, wait| {
            report(number, &[("sda.read.iops", Unit::OpsPerS, iops), ("sda.read.await_ns", Unit::Ns, wait)])
        };
        let mut run = test_runs::run(vec![of(1, 5000.0, 1.0), of(2, 300.0, 10.0), of(3, 100.0, 50.0)]);
        let means: Vec<_> = over_reports(&run).into_iter().map(|m| (m.id, m.value, m.n)).collect();
        assert_eq!(
            means,
            [("sda.read.iops".to_owned(), Some(200.0), 2), ("sda.read.await_ns".to_owned(), Some(20.0), 2)]
        );
        run.phases.truncate(1);
        assert_eq!(over_reports(&run)[0].value, Some(5000.0));
        run.phases[0].plan.name = "read".to_owned();
        assert_eq!(over_reports(&run), []);
    }
}
