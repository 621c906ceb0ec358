//! Bencher's JSON (Bencher Metric Format): a benchmark for each phase, job and direction, a measure for each quantity, with the interval
//! of the run as its bounds. <https://bencher.dev/docs/reference/bencher-metric-format/>

use crate::{ExchangeError, Options, Result};
use model::Run;
use serde_json::{Map, Value, json};

/// The metrics of a run that stand.
///
/// # Errors
/// There is none.
pub fn bencher(run: &Run, options: &Options) -> Result<String> {
    let mut benchmarks = Map::new();
    for phase in run.phases.iter().filter(|p| options.includes(&p.plan.name) && p.plan.measures_target()) {
        for metric in &phase.metrics {
            let kept = options.keep_refused.then_some(metric.rejected_value).flatten();
            let Some(value) = metric.value.or(kept).filter(|v| v.is_finite()) else { continue };
            let key = metric.key_in(phase).unwrap_or(metric.key());
            let mut measure = json!({ "value": value });
            for (name, bound) in [("lower_value", metric.low), ("upper_value", metric.high)] {
                bound.filter(|v| v.is_finite()).into_iter().for_each(|v| measure[name] = json!(v));
            }
            let of = benchmarks.entry(key.of.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            of[key.quantity.replace('_', "-")] = measure;
        }
    }
    if benchmarks.is_empty() {
        let reason = "no metric of what is asked for was measured".to_owned();
        return Err(ExchangeError::NothingRecorded { run: run.id.clone(), reason });
    }
    let text = serde_json::to_string_pretty(&benchmarks).unwrap_or_default();
    Ok(model::sanitize_json(text) + "\n")
}
