//! What the jobs of a plan are told to do, option by option: what two runs have to have in common to be of the same work.

use super::{Access, EngineKind, Pacing, PhasePlan, Rate, StreamPlan};
use crate::{bytes_text, json_name};
use serde_json::Value;
use std::collections::BTreeMap;

/// Keys of a stream in JSON that are no options of its work: what follows from target and budget, what says how long it goes on, what
/// another key says already, and those that are put in words here.
const NO_OPTION: &str = "seed name group region_start_bytes region_bytes files round_bytes time_limit_ns total_bytes total_operations \
    engine access pacing mix replay_span_ns replay_pauses_ns replay_calls replay_before replay_most replay_bytes";
/// Keys of JSON that an option has another name than.
const NAMES: [(&str, &str); 4] =
    [("queue_depth", "depth"), ("block_size_bytes", "block-size"), ("sync", "durable"), ("open_sync", "open")];
/// A longer value is a list that nobody reads to its end.
const MAX_VALUE_CHARS: usize = 40;

/// The options of one job.
pub type JobOptions = BTreeMap<String, String>;

impl PhasePlan {
    /// The options of each of its jobs, by its name and that of the job; nothing of a phase that does not measure the target.
    pub fn job_options(&self) -> BTreeMap<String, JobOptions> {
        let mut all: BTreeMap<String, JobOptions> = BTreeMap::new();
        let mut streams: BTreeMap<String, usize> = BTreeMap::new();
        let measured = self.skip.is_none() && self.measures_target();
        for stream in self.streams.iter().filter(|_| measured) {
            let name =
                if stream.name.is_empty() { self.name.clone() } else { format!("{}.{}", self.name, stream.name) };
            *streams.entry(name.clone()).or_default() += 1;
            all.entry(name).or_insert_with(|| options(self, stream));
        }
        for (name, count) in streams {
            all.entry(name).or_default().insert("jobs".to_owned(), count.to_string());
        }
        all
    }
}

fn options(phase: &PhasePlan, stream: &StreamPlan) -> JobOptions {
    let json = serde_json::to_value(stream).ok();
    let keys = json.as_ref().and_then(Value::as_object).into_iter().flatten();
    let keys = keys.filter(|(key, value)| !value.is_null() && !NO_OPTION.split_whitespace().any(|k| k == *key));
    let mut options: JobOptions = keys.map(|(key, value)| (name(key), text(key, value))).collect();
    let access = stream.path.access;
    options.insert("access".to_owned(), json_name(&access));
    let engine = stream.path.engine;
    if !is_substitute(engine) {
        options.insert("engine".to_owned(), json_name(&engine));
    }
    // What is already in the page cache is another work only where it would be read from there.
    if phase.cold && access == Access::Buffered {
        options.insert("cold".to_owned(), "true".to_owned());
    }
    if let Some(mix) = stream.blocks().and_then(|s| s.block.mix) {
        options.insert("read-percent".to_owned(), mix.read_percent.to_string());
    }
    if let Some(pacing) = stream.timing.pacing.filter(Pacing::demands) {
        let rates = [pacing.read, pacing.write, pacing.trim];
        let mut said: Vec<String> = rates.into_iter().flatten().map(rate).collect();
        said.dedup();
        options.insert("rate".to_owned(), said.join(", "));
        options.insert("arrivals".to_owned(), json_name(&pacing.arrivals));
    }
    options
}

/// Ways of doing the same operations: which one is taken follows from the machine and the target where nobody asks.
fn is_substitute(engine: EngineKind) -> bool {
    use EngineKind::{IoUring, Null, Psync, PsyncThreads, Sim};
    matches!(engine, IoUring | Psync | PsyncThreads | Null | Sim)
}

fn rate(rate: Rate) -> String {
    match rate {
        Rate::BytesPerS(bytes) => format!("{}/s", bytes_text(bytes)),
        Rate::OperationsPerS(n) => format!("{n} IOPS"),
    }
}

fn name(key: &str) -> String {
    let own = NAMES.iter().find(|(json, _)| *json == key).map(|(_, name)| (*name).to_owned());
    let plain = || key.trim_end_matches("_bytes").trim_end_matches("_ns").replace('_', "-");
    own.unwrap_or_else(plain)
}

fn text(key: &str, value: &Value) -> String {
    let text = match (value.as_u64(), value) {
        (Some(bytes), _) if key.ends_with("_bytes") => bytes_text(bytes),
        (Some(ns), _) if key.ends_with("_ns") => format!("{} ms", ns as f64 / 1e6),
        (_, Value::String(text)) => text.clone(),
        _ => value.to_string(),
    };
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockPlan, Timing};

    fn plan(change: impl Fn(&mut StreamPlan)) -> PhasePlan {
        let block = BlockPlan { region_bytes: 1 << 30, block_size_bytes: 4096, ..BlockPlan::default() };
        let mut stream = StreamPlan { kind: block.into(), seed: 7, ..StreamPlan::default() };
        change(&mut stream);
        PhasePlan { name: "p".into(), streams: vec![stream], ..PhasePlan::default() }
    }

    fn differs(a: &PhasePlan, b: &PhasePlan) -> Vec<String> {
        let (a, b) = (a.job_options(), b.job_options());
        let (a, b) = (&a["p"], &b["p"]);
        a.keys().chain(b.keys()).filter(|key| a.get(*key) != b.get(*key)).cloned().collect()
    }

    #[test]
    fn an_option_is_told_and_what_follows_from_the_target_is_not() {
        let same = |change: fn(&mut StreamPlan)| differs(&plan(|_| ()), &plan(change));
        assert!(same(|s| s.seed = 8).is_empty());
        assert!(same(|s| s.block_mut().region_bytes = 1 << 20).is_empty());
        assert!(same(|s| s.limits.time_limit_ns = Some(5)).is_empty());
        assert!(same(|s| s.path.engine = EngineKind::Psync).is_empty());
        assert_eq!(same(|s| s.path.queue_depth = 32), ["depth", "depth"]);
        assert_eq!(same(|s| s.block_mut().block_size_bytes = 8192), ["block-size", "block-size"]);
        assert_eq!(same(|s| s.path.access = Access::Direct), ["access", "access"]);
        assert_eq!(same(|s| s.path.engine = EngineKind::Mmap), ["engine"]);
        let paced = plan(|s| {
            let pacing = Pacing { read: Some(Rate::OperationsPerS(100)), ..Pacing::default() };
            s.timing = Timing { pacing: Some(pacing), ..Timing::default() };
        });
        assert_eq!(differs(&plan(|_| ()), &paced), ["arrivals", "rate"]);
        assert_eq!(paced.job_options()["p"]["rate"], "100 IOPS");
    }
}
