//! Workloads and experiments in TOML: read, and planned for every kind of target.

use super::fio::{inputs, plans};
use super::imports::{files, kind};
use super::{Fuzzer, mutate::hash};
use spec::WorkloadSource;
use std::collections::BTreeMap;
use std::path::Path;

struct Texts;

pub fn make(_: &Path) -> anyhow::Result<Box<dyn Fuzzer>> {
    Ok(Box::new(Texts))
}

fn workload(text: &str) -> Result<String, String> {
    let none = BTreeMap::new();
    let includes = BTreeMap::from([("x.toml".to_owned(), "[[phase]]\nname = \"included\"\n".to_owned())]);
    if spec::is_frames(text) {
        return match spec::parse_frames("my.toml", text, &[]) {
            Ok(_) => Ok("frames".to_owned()),
            Err(errors) if errors.is_empty() => Err("refused without a reason".to_owned()),
            Err(errors) => Ok(kind(&errors[0].to_string())),
        };
    }
    match spec::parse_workload(&inputs("my.toml", text, &includes, &none)) {
        Ok(workload) => Ok(plans(&workload)),
        Err(errors) if errors.is_empty() => Err("refused without a reason".to_owned()),
        Err(errors) => Ok(kind(&errors[0].to_string())),
    }
}

impl Fuzzer for Texts {
    fn corpus(&self) -> Vec<Vec<u8>> {
        files(&["experiments", "crates/spec/workloads", "crates/xtask/fuzz/texts"], |p| {
            p.extension().is_some_and(|e| e == "toml")
        })
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "[[phase]]\n",
            "[[phase.job]]\n",
            "[phase.sweep]\n",
            "[defaults]\n",
            "[experiment]\n",
            "[[arm]]\n",
            "[workload]\n",
            "[frames]\n",
            "ways = \"direct,container\"\n",
            "name = \"",
            "operation = \"",
            "order = \"zipf:1.2\"",
            "block-size = \"4KiB/60:64KiB/40\"",
            "depth = ",
            "region = \"",
            "size = \"",
            "jobs = ",
            "time = \"",
            "command = ",
            "undo = ",
            "values = ",
            "mount = ",
            "include = \"x.toml\"",
            "scale-to-fit = true",
            "{depth}",
            "access = \"direct\"",
            "verify = \"",
            "pairs = ",
            "own-files = ",
            "steady = ",
            "\"10%\"",
            "\"1GiB\"",
            "\"10s\"",
            "true",
            "[1, 2, 3]",
            "'''",
            "\"\"\"",
        ]
    }

    fn attempt(&mut self, input: &[u8]) -> Result<u64, String> {
        let text = String::from_utf8_lossy(input);
        let mut outcome = workload(&text)?;
        if spec::is_experiment(&text) {
            match spec::parse_experiment("my.toml", &text) {
                Ok(experiment) => {
                    outcome.push_str(&format!("{} arms", experiment.arms.len()));
                    if let WorkloadSource::Inline(inline) = &experiment.workload {
                        outcome.push_str(&workload(inline)?);
                    }
                    let order = experiments::experiment::order(
                        experiment.pairs,
                        experiment.arms.len(),
                        experiment.seed.unwrap_or(1),
                    );
                    if order.is_empty() {
                        return Err("an experiment without a run".to_owned());
                    }
                }
                Err(errors) if errors.is_empty() => return Err("refused without a reason".to_owned()),
                Err(errors) => outcome.push_str(&kind(&errors[0].to_string())),
            }
        }
        Ok(hash(outcome.as_bytes()))
    }
}
