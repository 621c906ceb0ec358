//! Pages are sent on, so they say nothing that identifies a machine or a person unless `--identify` asks for it. What a page
//! shows is drawn from runs that were changed so; the runs in the archive stay as they are.

use conduct::random_u64;
use model::{Comparison, EnvironmentDifference, Failure, History, Ranking, Run};
use observe::Redaction;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;
use std::mem::swap;

/// Keys of what this program names itself, in runs and results: ids and names by which parts are found.
const OWN: [&str; 9] =
    ["id", "schema", "command", "program_version", "unit", "phase", "predictor", "predicted", "experiment"];

/// What the page says of it, beside what it lacks.
const REPLACED: &str =
    "names and serial numbers of this machine and its users, addresses: replaced on this page; --identify keeps them";

/// What becomes of the runs on a page.
pub struct OnPage {
    redaction: Option<Redaction>,
}

impl OnPage {
    /// All that stands on one page has one redaction, so that two devices stay two, and one stays one.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r Run>, identify: bool) -> Result<Self, Failure> {
        let redaction = if identify { None } else { Some(Redaction::of(runs, random_u64()?)) };
        Ok(Self { redaction })
    }

    /// The run as the page shows it.
    ///
    /// # Errors
    /// It cannot be redacted; a defect of this program.
    pub fn run<'r>(&self, run: &'r Run) -> Result<Cow<'r, Run>, Failure> {
        let Some(redaction) = &self.redaction else { return Ok(Cow::Borrowed(run)) };
        let mut shown = without_tables(run, redaction)?;
        exchange_tables(&mut shown, &mut run.clone());
        Ok(Cow::Owned(shown))
    }

    /// Shows the runs as their page does; their tables, which are most of them, are lent and not copied.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn lent<R>(&self, runs: &mut [Run], show: impl FnOnce(&[Run]) -> R) -> Result<R, Failure> {
        let Some(redaction) = &self.redaction else { return Ok(show(runs)) };
        let mut shown = runs.iter().map(|run| without_tables(run, redaction)).collect::<Result<Vec<_>, _>>()?;
        shown.iter_mut().zip(&mut *runs).for_each(|(shown, run)| exchange_tables(shown, run));
        let result = show(&shown);
        shown.iter_mut().zip(runs).for_each(|(shown, run)| exchange_tables(shown, run));
        Ok(result)
    }

    /// A text of the page.
    pub fn text(&self, text: &str) -> String {
        self.redaction.as_ref().map_or_else(|| text.to_owned(), |r| r.text(text))
    }

    /// A comparison of such runs.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn comparison(&self, comparison: &Comparison) -> Result<Comparison, Failure> {
        let Some(redaction) = &self.redaction else { return Ok(comparison.clone()) };
        let mut shown: Comparison = changed(comparison, redaction)?;
        shown.environment_differences =
            comparison.environment_differences.iter().map(|own| difference(own, redaction)).collect();
        Ok(shown)
    }

    /// A history of such runs.
    pub fn history(&self, history: &History) -> History {
        let mut shown = history.clone();
        let Some(redaction) = &self.redaction else { return shown };
        let text = |text: &mut String| *text = redaction.text(text);
        let keys = shown.series.iter_mut().map(|s| &mut s.key).chain(shown.events.iter_mut().map(|e| &mut e.key));
        for key in keys {
            key.machine = if key.machine.is_empty() { String::new() } else { redaction.host(&key.machine) };
            [&mut key.device, &mut key.workload].into_iter().for_each(text);
        }
        for event in &mut shown.events {
            let all = event.environment_differences.iter().map(|own| difference(own, redaction));
            event.environment_differences = all.collect();
            event.notes.iter_mut().chain(event.acknowledged.as_mut().map(|a| &mut a.why)).for_each(text);
        }
        shown.notes.iter_mut().chain(&mut shown.unreadable).for_each(text);
        shown
    }

    /// A ranking of their targets.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn ranking(&self, ranking: &Ranking) -> Result<Ranking, Failure> {
        self.redaction.as_ref().map_or_else(|| Ok(ranking.clone()), |r| changed(ranking, r))
    }
}

/// In what runs differ, each in the way of what it is.
fn difference(own: &EnvironmentDifference, redaction: &Redaction) -> EnvironmentDifference {
    let change: fn(&Redaction, &str) -> String = match own.what.as_str() {
        "host" => Redaction::host,
        "kernel command line" => Redaction::command_line,
        _ => Redaction::text,
    };
    let all = |texts: &[String]| texts.iter().map(|t| change(redaction, t)).collect();
    EnvironmentDifference { what: redaction.text(&own.what), a: all(&own.a), b: all(&own.b) }
}

/// The same value with other texts; read from text, as bundles are: what reads it from values would be the same code once more.
fn changed<T: Serialize + DeserializeOwned>(value: &T, redaction: &Redaction) -> Result<T, Failure> {
    let cannot = |e: serde_json::Error| {
        Failure::internal(format!("what identifies could not be taken out: {e}"))
            .remedy("--identify writes the page with all names and serial numbers")
    };
    let json = serde_json::to_value(value).map_err(cannot)?;
    let read = |redaction: &Redaction| {
        let mut json = json.clone();
        walk(&mut json, false, redaction);
        serde_json::from_slice(&serde_json::to_vec(&json)?)
    };
    // A machine may be called like a word of the form, `disk` or `measured`; then it is no word elsewhere.
    read(redaction).or_else(|_| read(&redaction.without_hosts())).map_err(cannot)
}

/// Changes texts; in a plan, names are those of phases and jobs.
fn walk(value: &mut Value, in_plan: bool, redaction: &Redaction) {
    match value {
        Value::String(text) => *text = redaction.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, in_plan, redaction)),
        Value::Object(entries) => {
            for (key, item) in entries.iter_mut() {
                let is_own = OWN.contains(&key.as_str()) || in_plan && key == "name";
                if !is_own {
                    walk(item, in_plan || key == "plan", redaction);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The run as the page shows it, but for its tables.
fn without_tables(run: &Run, redaction: &Redaction) -> Result<Run, Failure> {
    let mut shown: Run = changed(run, redaction)?;
    shown.environment.clone_from(&run.environment);
    redaction.environment(&mut shown.environment);
    redaction.stack(&mut shown.target.stack, run.environment.hostname.as_deref());
    shown.environment.missing.push(REPLACED.to_owned());
    shown.kernel_log = run.kernel_log.as_ref().map(|lines| redaction.kernel_log(lines));
    Ok(shown)
}

/// Tables hold numbers alone, and are no part of the JSON.
fn exchange_tables(one: &mut Run, other: &mut Run) {
    swap(&mut one.samples, &mut other.samples);
    for (one, other) in one.phases.iter_mut().zip(&mut other.phases) {
        let (Some(one), Some(other)) = (&mut one.record, &mut other.record) else { continue };
        swap(&mut one.intervals, &mut other.intervals);
        swap(&mut one.latency, &mut other.latency);
        for (one, other) in one.streams.iter_mut().zip(&mut other.streams) {
            for (one, other) in one.directions.iter_mut().zip(&mut other.directions) {
                swap(&mut one.latency, &mut other.latency);
            }
        }
    }
}
