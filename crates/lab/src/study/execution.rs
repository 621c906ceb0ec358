//! How a study is made: machine by machine.
//!
//! The experiment's state goes from guest to guest with its archive: where `narrows` says that the next arm needs another
//! machine, that one is booted and goes on. Images outlive the boots, so that all machines have the same disk before them.

use super::super::card::Ranked;
use super::super::evidence::{Evidence, failures, script, seen};
use super::super::initrd::{GuestJob, quoted};
use super::super::interrupts::{self, Interrupted};
use super::super::machine::{Machine, MachineCheck};
use super::super::session::{GuestResult, Lab, Prepared};
use super::super::session_options::SessionOptions;
use super::super::transport::{self, copy_directory};
use super::super::{host_archive, machines_directory, progress};
use super::Study;
use super::looked_at::StudyCheck;
use anyhow::{Context, bail};
use archive::Archive;
use experiments::experiment::State;
use model::Run;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where the guest finds the experiment.
const TEXT_IN_GUEST: &str = "lab/in/study.toml";

/// What was looked at in one boot.
pub struct Step {
    /// What it is about.
    pub title: String,
    pub machine: String,
    pub seen: Vec<StudyCheck>,
}

/// What an experiment gave.
pub struct ExperimentOutcome {
    /// What `narrows` printed at its end.
    pub text: String,
    pub pages: Vec<PathBuf>,
    pub arms: Vec<(String, Vec<Run>)>,
}

/// What a study showed.
pub struct StudyResult {
    pub steps: Vec<Step>,
    /// The experiment, if it has one.
    pub experiment: Option<ExperimentOutcome>,
    /// The ranking of its cards, if it has some.
    pub ranked: Option<Ranked>,
    /// Machines and kernels that took part.
    pub machines: Vec<String>,
}

impl StudyResult {
    /// All that was looked at.
    pub fn seen(&self) -> impl Iterator<Item = &StudyCheck> {
        self.steps.iter().flat_map(|s| &s.seen).chain(self.ranked.iter().flat_map(|r| &r.seen))
    }
}

impl Study {
    /// Makes it.
    ///
    /// # Errors
    /// A machine failed, or the experiment could not be finished. What is not as asserted is no error: it is in the result.
    pub fn run(&self, lab: &Lab) -> anyhow::Result<StudyResult> {
        let work = lab.directory.join("studies").join(&self.name);
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        let lock = File::create(work.join("lock")).context("cannot create the study's lock")?;
        if lock.try_lock().is_err() {
            progress::print_status(&format!("{} is being made by another process; waiting", self.name));
            lock.lock().context("cannot lock the study")?;
        }
        let mut machines = Machines { lab, prepared: BTreeMap::new() };
        let experiment = match &self.experiment {
            Some(text) => Some(self.experiment(&mut machines, text, &work)?),
            None => None,
        };
        let ranked = match &self.plan.cards {
            Some(cards) => {
                let workload = self.workload.as_deref().unwrap_or_default();
                let boot = |job: &GuestJob, options: &SessionOptions| machines.run(&cards.machine, job, options);
                Some(cards.run(workload, &work, boot)?)
            }
            None => None,
        };
        let mut steps = Vec::new();
        for step in &self.plan.steps {
            progress::print_status(&format!("{}: {}", step.machine, step.title));
            let outcome =
                machines.run(&step.machine, &GuestJob::script(script(&step.checks)), &SessionOptions::default())?;
            let seen = step
                .checks
                .iter()
                .enumerate()
                .map(|(i, check)| look(check, Evidence::of(&outcome, &step.checks, i)))
                .collect();
            steps.push(Step { title: step.title.clone(), machine: step.machine.clone(), seen });
        }
        let machines = machines.prepared.iter().map(|(n, (m, p))| format!("{n}: {}, kernel {}", m.title, p.release));
        Ok(StudyResult { steps, experiment, ranked, machines: machines.collect() })
    }

    /// Boots one machine after the other until all runs are made.
    fn experiment(&self, machines: &mut Machines<'_>, text: &str, work: &Path) -> anyhow::Result<ExperimentOutcome> {
        let archive = work.join("archive");
        for old in ["archive", "images"].map(|d| work.join(d)).iter().filter(|d| d.exists()) {
            fs::remove_dir_all(old).with_context(|| format!("cannot clear {}", old.display()))?;
        }
        fs::create_dir_all(work.join("images")).context("cannot create the directory of images")?;
        let image = |name: &String| (name.clone(), work.join("images").join(name));
        let options = SessionOptions {
            images: self.plan.images.iter().map(image).collect(),
            progress: true,
            ..SessionOptions::default()
        };
        let target = self.plan.target.as_deref().unwrap_or_default();
        let mut at: Option<State> = None;
        let first = self.plan.machines.values().next().cloned().unwrap_or_default();
        let mut said = String::new();
        while at.as_ref().is_none_or(|state| !state.is_complete()) {
            let next = match at.as_ref().and_then(State::next_arm) {
                Some(arm) => {
                    self.plan.machines.get(arm).cloned().with_context(|| format!("arm {arm} has no machine"))?
                }
                None => first.clone(),
            };
            let (once, command) = match at {
                None => (self.plan.once.as_str(), quoted(["narrows", "run", "/lab/in/study.toml", target])),
                // A state that comes from another machine is followed as far as the command line says the same.
                Some(_) => ("", quoted(["narrows", "run", "/lab/in/study.toml", target, "--resume"])),
            };
            let (made, all) = at.as_ref().map_or((0, 0), |state| (state.runs_made(), state.steps.len()));
            progress::print_status(&format!("{next}: {made} of {all} runs are made"));
            let mut job = GuestJob::script(format!("set -e\n{once}\n{}\nset +e\n{command}\n", self.plan.setup));
            job.files.push((TEXT_IN_GUEST.into(), 0o644, text.as_bytes().to_vec()));
            if archive.is_dir() {
                job.add_directory(&archive, "lab/out/archive")?;
            }
            let outcome = machines.run(&next, &job, &options)?;
            let new = outcome.out.path().join("archive");
            let now = State::all(&Archive::open(&new))?.pop();
            said = outcome.text("stdout");
            let step = |state: &Option<State>| state.as_ref().map(|s| (s.runs_made(), s.next_arm().map(str::to_owned)));
            if step(&now) == step(&at) {
                bail!(
                    "{next}: the experiment does not go on (exit code {}): {}; the console is kept in {}",
                    outcome.exit,
                    outcome.text("stderr").lines().next().unwrap_or("it printed nothing"),
                    outcome.console.display()
                );
            }
            if archive.exists() {
                fs::remove_dir_all(&archive).with_context(|| format!("cannot clear {}", archive.display()))?;
            }
            copy_directory(&new, &archive)?;
            at = now;
            if interrupts::is_interrupted() {
                return Err(Interrupted.into());
            }
        }
        let home = host_archive()?;
        let brought = transport::import_results(&archive, &home)?;
        progress::print_status(&format!("{} runs are in the archive", brought.runs.len()));
        // What was printed names places of the guest; they are the host's by now.
        let text = said.replace("/lab/out/archive", &home.directory().to_string_lossy());
        println!("{text}");
        let arms = self.arms.iter().map(|arm| (arm.clone(), Vec::new())).collect();
        Ok(ExperimentOutcome { text, pages: brought.reports, arms: by_arm(&Archive::open(&archive), arms)? })
    }
}

/// The runs of an archive, each to its arm.
fn by_arm(archive: &Archive, mut arms: Vec<(String, Vec<Run>)>) -> anyhow::Result<Vec<(String, Vec<Run>)>> {
    for id in archive.ids().context("the runs of the study")? {
        let run = archive.load(&id).context("a run of the study")?;
        let arm = run.experiment.as_ref().map(|place| place.arm.clone());
        if let Some((_, runs)) = arms.iter_mut().find(|(name, _)| Some(name) == arm.as_ref()) {
            runs.push(run);
        }
    }
    Ok(arms)
}

fn look(check: &MachineCheck, evidence: Evidence<'_>) -> StudyCheck {
    let command = match (&check.command, &check.target) {
        (Some(command), _) => command.trim().to_owned(),
        (None, Some(target)) => format!("narrows inspect {target} --json"),
        (None, None) => "the emulator's log".to_owned(),
    };
    let log = evidence.emulator_log.lines().filter(|l| check.emulator_log.iter().any(|t| l.contains(t.as_str())));
    let log: Vec<&str> = log.take(5).collect();
    let output = if check.emulator_log.is_empty() { evidence.out.clone() } else { log.join("\n") };
    let telling = seen(check, &evidence);
    StudyCheck { what: check.what.clone(), command, telling, output, wrong: failures(check, &evidence) }
}

/// Machines that were prepared in this study.
struct Machines<'a> {
    lab: &'a Lab,
    prepared: BTreeMap<String, (Machine, Prepared)>,
}

impl Machines<'_> {
    fn run(&mut self, name: &str, job: &GuestJob, options: &SessionOptions) -> anyhow::Result<GuestResult> {
        if !self.prepared.contains_key(name) {
            let machine = Machine::load(&machines_directory(), name)?;
            let prepared = self.lab.prepare(&machine)?;
            prepared.notes.iter().for_each(|n| progress::print_status(n));
            self.prepared.insert(name.to_owned(), (machine, prepared));
        }
        let (_, prepared) = &self.prepared[name];
        self.lab.run(prepared, job, options)
    }
}
