//! Metrics as comma-separated values: one line for each metric of each run (RFC 4180, lines end in `\n`).

use crate::error::check_phases;
use crate::{ExchangeError, Options, Result};
use model::{Metric, PhaseRun, PlannedJob, Run, csv_text, json_name};

const COLUMNS: [&str; 17] = [
    "run",
    "target",
    "phase",
    "metric",
    "unit",
    "better",
    "value",
    "low",
    "high",
    "interval",
    "n",
    "status",
    "reasons",
    "rejected_value",
    "phase_status",
    "job",
    "direction",
];

/// The metrics of one or many runs. `value`, `low` and `high` are blank unless measured; what was refused stands in
/// `rejected_value`. Reasons are joined by `"; "`. Texts are harmless on terminals and in spreadsheets
/// ([`model::csv_text`]).
///
/// # Errors
/// A phase is named that a run does not have, or there is no metric at all.
pub fn csv(runs: &[Run], options: &Options) -> Result<String> {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    let header = text.len();
    for run in runs {
        check_phases(run, &options.phases)?;
        for phase in run.phases.iter().filter(|p| options.includes(&p.plan.name)) {
            let jobs = phase.plan.jobs();
            for metric in &phase.metrics {
                let cells = line(run, phase, &jobs, metric);
                text.push_str(&cells.join(","));
                text.push('\n');
            }
        }
    }
    if text.len() == header {
        let run = runs.iter().map(|r| r.id.as_str()).collect::<Vec<_>>().join(", ");
        return Err(ExchangeError::NothingRecorded { run, reason: "it has no metrics".to_owned() });
    }
    Ok(text)
}

fn line(run: &Run, phase: &PhaseRun, jobs: &[PlannedJob], metric: &Metric) -> [String; COLUMNS.len()] {
    let key = metric.key_in(phase).unwrap_or(metric.key());
    let (job, direction) = key.job_and_direction(jobs.len() > 1);
    [
        csv_text(&run.id),
        csv_text(&run.target.name),
        csv_text(&phase.plan.name),
        csv_text(&metric.id),
        json_name(&metric.unit),
        json_name(&metric.better),
        number(metric.value),
        number(metric.low),
        number(metric.high),
        json_name(&metric.interval),
        metric.n.to_string(),
        json_name(&metric.status),
        csv_text(&model::reason::joined(&metric.reasons)),
        number(metric.rejected_value),
        json_name(&phase.status),
        csv_text(job),
        csv_text(direction),
    ]
}

/// The shortest text that reads back as the same number; blank where there is none.
fn number(value: Option<f64>) -> String {
    value.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default()
}
