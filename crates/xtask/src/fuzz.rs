//! `fuzz`: what a stranger may hand over, changed at random, goes into the crates that read it.
//!
//! A fuzzer of our own, because it needs nothing but a stable toolchain: inputs come from the fixtures of this tree, are
//! changed by [`mutate`], and go through everything that the program does with such an input. A pool grows by the inputs
//! whose outcome was new, so that the search goes on from what led somewhere.
//!
//! The inputs are tried in a process of their own, whose memory is limited, and whose thread of watch ends it where one
//! input takes too long: a panic, an abort, an overflow of the stack, too much memory and an endless loop are all findings.
//! Each input is on disk before it is tried. A finding is made smaller, kept in `target/fuzz/NAME/`, and its command printed.

mod bundles;
mod experiments;
mod fio;
mod imports;
mod journals;
mod minimise;
mod mountstats;
mod mutate;
mod ordinary;
mod pieces;
mod recordings;
mod shares;
mod sims;
mod traces;
mod trees;
mod worker;

use crate::workspace_root;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use worker::{Ended, Report};

#[derive(clap::Args)]
pub struct Arguments {
    /// Which fuzzer (see --list), or `all`
    name: Option<String>,
    /// List the fuzzers
    #[arg(long)]
    list: bool,
    /// How long each fuzzer runs
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Instead of a time: the corpus and so many changed inputs; with a seed the same ones each time
    #[arg(long, conflicts_with = "seconds")]
    inputs: Option<u64>,
    /// Where the random numbers begin; printed, else drawn from the clock
    #[arg(long)]
    seed: Option<u64>,
    /// Try this one input, such as a finding that was kept
    #[arg(long)]
    input: Option<PathBuf>,
    /// Work in this directory: how the program starts itself
    #[arg(long, hide = true)]
    worker: Option<PathBuf>,
}

/// What is fuzzed.
pub trait Fuzzer {
    /// What to begin with: outputs, texts and trees of this repository.
    fn corpus(&self) -> Vec<Vec<u8>>;

    /// Words that mean something in such an input.
    fn words(&self) -> &'static [&'static str];

    /// Does all that the program does with such an input; gives a number that tells outcomes apart.
    ///
    /// # Errors
    /// What is wrong with the outcome.
    fn attempt(&mut self, input: &[u8]) -> Result<u64, String>;
}

/// A fuzzer's name, what it does, and how it is made; it may keep files below the directory.
struct Entry {
    name: &'static str,
    about: &'static str,
    make: fn(&Path) -> anyhow::Result<Box<dyn Fuzzer>>,
}

const ALL: &[Entry] = &[
    Entry { name: "imports", about: "outputs of other tools, in every format", make: imports::make },
    Entry { name: "ordinary-texts", about: "texts that hold no result, in ten languages", make: ordinary::make },
    Entry { name: "fio-jobs", about: "fio's job files, and the plans of them", make: fio::make },
    Entry {
        name: "traces",
        about: "traces of block I/O, recordings of calls, and the plans of them",
        make: traces::make,
    },
    Entry { name: "texts", about: "workloads and experiments in TOML, and their plans", make: experiments::make },
    Entry { name: "sims", about: "strings that describe a simulated device", make: sims::make },
    Entry { name: "bundles", about: "run bundles: loaded, verified, recovered, shown, exported", make: bundles::make },
    Entry { name: "trees", about: "captured trees of /proc and /sys, inspected", make: trees::make },
    Entry { name: "recordings", about: "recorded streams, pictures and frames of producers", make: recordings::make },
    Entry { name: "shares", about: "what the kernel counts of SMB shares and of ZFS", make: shares::make },
    Entry { name: "mountstats", about: "what the kernel counts of NFS mounts and TCP", make: mountstats::make },
    Entry { name: "journals", about: "journals of settings: found, distinguished, listed", make: journals::make },
];

/// Memory of a worker's data, bytes: far above what it takes, far below what would hurt.
const DATA_LIMIT_BYTES: u64 = 768 << 20;

fn entry(name: &str) -> anyhow::Result<&'static Entry> {
    ALL.iter().find(|e| e.name == name).with_context(|| {
        let names: Vec<&str> = ALL.iter().map(|e| e.name).collect();
        format!("there is no fuzzer '{name}'; there are: {}", names.join(", "))
    })
}

/// Runs the command.
///
/// # Errors
/// A finding, or what keeps a fuzzer from running.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.list {
        ALL.iter().for_each(|e| println!("{:12} {}", e.name, e.about));
        return Ok(());
    }
    let name = arguments.name.as_deref().context("which fuzzer? cargo xtask fuzz --list")?;
    if let Some(directory) = &arguments.worker {
        let fuzzer = (entry(name)?.make)(directory)?;
        return worker::run(fuzzer, directory, arguments);
    }
    let seed = arguments.seed.unwrap_or_else(drawn);
    let chosen: Vec<&Entry> = if name == "all" { ALL.iter().collect() } else { vec![entry(name)?] };
    let found = all(&chosen, arguments, seed)?;
    if found > 0 {
        bail!("{found} of the fuzzers found something");
    }
    Ok(())
}

fn drawn() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (now.as_nanos() as u64) ^ (u64::from(std::process::id()) << 32)
}

/// Runs fuzzers, as many at a time as there are processors; how many of them found anything.
fn all(chosen: &[&Entry], arguments: &Arguments, seed: u64) -> anyhow::Result<usize> {
    let at_a_time = std::thread::available_parallelism().map_or(1, usize::from).min(chosen.len());
    let waiting = Mutex::new(chosen.iter());
    let next = || waiting.lock().ok().and_then(|mut entries| entries.next());
    let work = || -> anyhow::Result<usize> {
        let mut found = 0;
        while let Some(entry) = next() {
            found += usize::from(one(entry, arguments, seed)?);
        }
        Ok(found)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..at_a_time).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| bail!("a fuzzer panicked"))).sum()
    })
}

/// Runs one fuzzer; whether it found anything.
fn one(entry: &Entry, arguments: &Arguments, seed: u64) -> anyhow::Result<bool> {
    let kept = workspace_root().join("target/fuzz").join(entry.name);
    std::fs::create_dir_all(&kept)?;
    let scratch = worker::scratch(entry.name)?;
    let begun = Instant::now();
    let ended = attempt(entry.name, &scratch, arguments.input.as_deref(), Some((arguments, seed)))?;
    let report = Report::read(&scratch).unwrap_or_default();
    let finding = match ended {
        Ended::Clean => None,
        Ended::Finding(what) => Some(what),
    };
    let took = begun.elapsed().as_secs_f64();
    if arguments.input.is_none() {
        println!(
            "{:10} seed {seed}: {} inputs in {took:.0} s ({:.0} a second), {:.1} s of CPU, pool {}, slowest {:.2} s: {}",
            entry.name,
            report.inputs,
            report.inputs as f64 / took.max(0.001),
            report.cpu_s,
            report.pool,
            report.slowest_s,
            if finding.is_some() { "1 finding" } else { "no finding" }
        );
    }
    if let Some(what) = &finding {
        println!("  {what}");
        if arguments.input.is_none() {
            let input = std::fs::read(worker::current(&scratch)).context("the input that did it")?;
            let small = minimise::smaller(&input, Duration::from_secs(60), |candidate| {
                let path = scratch.join("candidate");
                std::fs::write(&path, candidate)?;
                let again = attempt(entry.name, &scratch, Some(&path), None)?;
                Ok(matches!(again, Ended::Finding(other) if worker::alike(&other, what)))
            })?;
            let path = kept.join(format!("{:016x}", mutate::hash(&small)));
            std::fs::write(&path, &small)?;
            println!("  {} bytes, made {} bytes: {}", input.len(), small.len(), path.display());
            println!("  cargo xtask fuzz {} --input {}", entry.name, path.display());
        }
    }
    std::fs::remove_dir_all(&scratch).ok();
    Ok(finding.is_some())
}

/// Starts a worker: on one input, or for as long as the arguments say from a seed.
fn attempt(
    name: &str,
    scratch: &Path,
    input: Option<&Path>,
    extent: Option<(&Arguments, u64)>,
) -> anyhow::Result<Ended> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["fuzz", name, "--worker"]).arg(scratch);
    if let Some(input) = input {
        command.arg("--input").arg(input);
    }
    if let Some((arguments, seed)) = extent {
        command.args(["--seed", &seed.to_string()]);
        match arguments.inputs {
            Some(inputs) => command.args(["--inputs", &inputs.to_string()]),
            None => command.args(["--seconds", &arguments.seconds.to_string()]),
        };
    }
    worker::wait(command, scratch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the fuzzers begin with must pass, and so must a few hundred changes of it, the same ones each time.
    #[test]
    fn the_corpora_and_some_changes_of_them_pass() {
        for entry in ALL {
            let directory = tempfile::tempdir().unwrap();
            let mut fuzzer = (entry.make)(directory.path()).unwrap();
            let corpus = fuzzer.corpus();
            assert!(!corpus.is_empty(), "{}", entry.name);
            let mut outcomes = std::collections::BTreeSet::new();
            for input in &corpus {
                outcomes.insert(fuzzer.attempt(input).unwrap_or_else(|e| panic!("{}: {e}", entry.name)));
            }
            assert!(outcomes.len() > 1, "{}: all of its corpus ends alike", entry.name);
            let mut change = mutate::Mutator::new(1, fuzzer.words(), &corpus);
            for _ in 0..100 {
                let input = change.next(&corpus);
                fuzzer
                    .attempt(&input)
                    .unwrap_or_else(|e| panic!("{}: {e}\n{}", entry.name, String::from_utf8_lossy(&input)));
            }
        }
    }
}
