//! `lab study`: one of the program's five studies, re-enacted on emulated machines with their real drivers.
//!
//! A study is one file: an experiment as `narrows run` takes it, and beside it the table `lab` with the machines that the
//! arms need and steps that are looked at and asserted. The experiment's state goes from guest to guest with its archive:
//! where `narrows` says that the next arm needs another machine, that one is booted and goes on. Images outlive the boots, so
//! that both machines have the same disk before them.

use super::card::CardsPlan;
use super::evidence::{Evidence, failures, script};
use super::initrd::{Job, quoted};
use super::machine::{Check, Machine};
use super::session::{Conduct, Lab, Outcome, Prepared};
use super::transport::copy_directory;
use super::{interrupts, machines_directory, progress};
use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where the guest finds the experiment.
const TEXT_IN_GUEST: &str = "lab/in/study.toml";

/// The table `lab` of a study's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// One line about it.
    pub title: String,
    /// What was published, and what is seen here of it.
    pub about: String,
    /// Machine of each arm.
    #[serde(default)]
    machines: BTreeMap<String, String>,
    /// TARGET of the experiment, in the guest.
    #[serde(default)]
    target: Option<String>,
    /// Images that all machines of the experiment share, by name.
    #[serde(default)]
    images: Vec<String>,
    /// Cards that the rest of the file, then a workload, is run on.
    #[serde(default)]
    pub cards: Option<CardsPlan>,
    /// Commands of the guest's shell before the first boot's experiment.
    #[serde(default)]
    once: String,
    /// Commands of the guest's shell before each boot's experiment.
    #[serde(default)]
    setup: String,
    /// What else is looked at, each with a boot of its own.
    #[serde(default, rename = "step")]
    steps: Vec<StepPlan>,
}

/// One boot, and what is looked at in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepPlan {
    title: String,
    machine: String,
    #[serde(rename = "check")]
    checks: Vec<Check>,
}

/// A study's file.
#[derive(Debug)]
pub struct Study {
    /// Name of the file.
    pub name: String,
    /// Its table `lab`.
    pub plan: Plan,
    /// The rest of it, if that is an experiment.
    experiment: Option<String>,
    /// The rest of it, if that is the workload of cards.
    workload: Option<String>,
}

/// One thing that was looked at.
pub struct Seen {
    /// What was asserted.
    pub what: String,
    /// What was asked.
    pub command: String,
    /// What was answered.
    pub output: String,
    /// What is not as asserted.
    pub wrong: Vec<String>,
}

/// What a study showed.
pub struct Shown {
    /// Title, machine and kernel of each step, with what was seen.
    pub steps: Vec<(String, Vec<Seen>)>,
    /// What `narrows` printed at the end of the experiment, and the pages.
    pub comparison: Option<(String, Vec<PathBuf>)>,
    /// Machines and kernels that took part.
    pub machines: Vec<String>,
}

impl Study {
    /// Reads the text of a study.
    ///
    /// # Errors
    /// What is wrong, with the line.
    pub fn parse(name: &str, text: &str) -> anyhow::Result<Self> {
        #[derive(Deserialize)]
        struct File {
            lab: Plan,
        }
        // Once for errors with lines, once for the rest of the text.
        let plan = toml::from_str::<File>(text).map_err(|e| anyhow::anyhow!("{}", e.to_string().trim_end()))?.lab;
        let mut rest: toml::Table = text.parse().map_err(|e: toml::de::Error| anyhow::anyhow!("{e}"))?;
        rest.remove("lab");
        let rest = (!rest.is_empty()).then(|| toml::to_string(&rest)).transpose().context("the experiment")?;
        let (experiment, workload) = if plan.cards.is_some() { (None, rest) } else { (rest, None) };
        if let Some(cards) = &plan.cards {
            let cards = cards.slots().context("lab.cards")?;
            let text =
                workload.as_deref().with_context(|| format!("there is no workload for {} cards", cards.len()))?;
            check_workload(name, text)?;
        }
        if let Some(experiment) = &experiment {
            let parsed = spec::parse_experiment(&format!("{name}.toml"), experiment).map_err(|errors| {
                anyhow::anyhow!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            })?;
            for arm in &parsed.arms {
                ensure!(plan.machines.contains_key(&arm.name), "lab.machines names no machine for arm '{}'", arm.name);
            }
            ensure!(plan.target.is_some(), "lab.target is missing: what the experiment runs on");
        }
        let something = experiment.is_some() || workload.is_some() || !plan.steps.is_empty();
        ensure!(something, "there is neither an experiment nor a step");
        Ok(Self { name: name.to_owned(), plan, experiment, workload })
    }

    /// Reads a study's file.
    ///
    /// # Errors
    /// There is none of this name, or its text is wrong.
    pub fn load(directory: &Path, name: &str) -> anyhow::Result<Self> {
        let path = directory.join(format!("{name}.toml"));
        if !path.exists() {
            let known: Vec<String> = all(directory)?.into_iter().map(|s| s.name).collect();
            bail!("there is no study '{name}'; there are: {}", known.join(", "));
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(name, &text).with_context(|| format!("{} cannot be used", path.display()))
    }

    /// Makes it.
    ///
    /// # Errors
    /// A machine failed, or the experiment could not be finished. What is not as asserted is no error: it is in the result.
    pub fn run(&self, lab: &Lab) -> anyhow::Result<Shown> {
        let work = lab.directory.join("studies").join(&self.name);
        fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
        let lock = File::create(work.join("lock")).context("cannot create the study's lock")?;
        if lock.try_lock().is_err() {
            progress::say(&format!("{} is being made by another process; waiting", self.name));
            lock.lock().context("cannot lock the study")?;
        }
        let mut machines = Machines { lab, prepared: BTreeMap::new() };
        let comparison = match (&self.experiment, &self.plan.cards) {
            (Some(experiment), _) => Some(self.experiment(&mut machines, experiment, &work)?),
            (None, Some(cards)) => {
                let workload = self.workload.as_deref().unwrap_or_default();
                let boot = |job: &Job, conduct: &Conduct| machines.run(&cards.machine, job, conduct);
                let ranked = cards.run(workload, &work, boot)?;
                Some((ranked.text, vec![ranked.page]))
            }
            (None, None) => None,
        };
        let mut steps = Vec::new();
        for step in &self.plan.steps {
            progress::say(&format!("{}: {}", step.machine, step.title));
            let outcome = machines.run(&step.machine, &Job::script(script(&step.checks)), &Conduct::default())?;
            let seen = step.checks.iter().enumerate().map(|(i, check)| look(check, &outcome, i)).collect();
            steps.push((format!("{} ({})", step.title, step.machine), seen));
        }
        let machines = machines.prepared.iter().map(|(n, (m, p))| format!("{n}: {}, kernel {}", m.title, p.release));
        Ok(Shown { steps, comparison, machines: machines.collect() })
    }

    /// Boots one machine after the other until all runs are made.
    fn experiment(
        &self,
        machines: &mut Machines<'_>,
        text: &str,
        work: &Path,
    ) -> anyhow::Result<(String, Vec<PathBuf>)> {
        let archive = work.join("archive");
        for old in ["archive", "images"].map(|d| work.join(d)).iter().filter(|d| d.exists()) {
            fs::remove_dir_all(old).with_context(|| format!("cannot clear {}", old.display()))?;
        }
        fs::create_dir_all(work.join("images")).context("cannot create the directory of images")?;
        let image = |name: &String| (name.clone(), work.join("images").join(name));
        let conduct = Conduct {
            images: self.plan.images.iter().map(image).collect(),
            live: true,
            progress: true,
            ..Conduct::default()
        };
        let target = self.plan.target.as_deref().unwrap_or_default();
        let mut at = Progress::default();
        let first = self.plan.machines.values().next().cloned().unwrap_or_default();
        let mut said = String::new();
        while !at.is_complete() {
            let next = match &at.next_arm {
                Some(arm) => {
                    self.plan.machines.get(arm).cloned().with_context(|| format!("arm {arm} has no machine"))?
                }
                None => first.clone(),
            };
            let (once, command) = match at.total {
                0 => (self.plan.once.as_str(), quoted(["narrows", "run", "/lab/in/study.toml", target])),
                _ => ("", quoted(["narrows", "run", "--resume"])),
            };
            progress::say(&format!("{next}: {} of {} runs are made", at.done, at.total));
            let mut job = Job::script(format!("set -e\n{once}\n{}\nset +e\n{command}\n", self.plan.setup));
            job.files.push((TEXT_IN_GUEST.into(), 0o644, text.as_bytes().to_vec()));
            if archive.is_dir() {
                job.bring(&archive, "lab/out/archive")?;
            }
            let outcome = machines.run(&next, &job, &conduct)?;
            let new = outcome.out.path().join("archive");
            let now = Progress::of(&new)?;
            said = outcome.text("stdout");
            if now.total == 0 || (now.done == at.done && now.next_arm == at.next_arm) {
                bail!(
                    "{next}: the experiment does not go on (exit code {}): {}; the console is kept in {}",
                    outcome.exit,
                    outcome.text("stderr").lines().next().unwrap_or("it said nothing"),
                    outcome.console.display()
                );
            }
            if archive.exists() {
                fs::remove_dir_all(&archive).with_context(|| format!("cannot clear {}", archive.display()))?;
            }
            copy_directory(&new, &archive)?;
            at = now;
            if interrupts::seen() {
                bail!("interrupted");
            }
        }
        let home = super::host_archive()?;
        let brought = super::transport::bring_home(&archive, &home)?;
        progress::say(&format!("{} runs are in the archive", brought.runs.len()));
        // What was printed names places of the guest; they are the host's by now.
        Ok((said.replace("/lab/out/archive", &home.directory().to_string_lossy()), brought.reports))
    }
}

fn look(check: &Check, outcome: &Outcome, i: usize) -> Seen {
    let evidence = Evidence::of(outcome, i);
    let command = match (&check.command, &check.target) {
        (Some(command), _) => command.trim().to_owned(),
        (None, Some(target)) => format!("narrows inspect {target} --json"),
        (None, None) => "the emulator's log".to_owned(),
    };
    let log = evidence.emulator_log.lines().filter(|l| check.emulator_log.iter().any(|t| l.contains(t.as_str())));
    let log: Vec<&str> = log.take(5).collect();
    let output = if check.emulator_log.is_empty() { evidence.out.clone() } else { log.join("\n") };
    Seen { what: check.what.clone(), command, output, wrong: failures(check, &evidence) }
}

/// A workload that `narrows run` would refuse is refused before a machine is booted.
fn check_workload(name: &str, text: &str) -> anyhow::Result<()> {
    let inputs = spec::TextInputs {
        file: &format!("{name}.toml"),
        text,
        includes: &BTreeMap::new(),
        set: &[],
        variables: &BTreeMap::new(),
        machine: spec::TextMachine { page_size_bytes: 4096, memory_bytes: 512 << 20, processors: 2 },
        lenient: false,
    };
    spec::parse_workload(&inputs)
        .map(|_| ())
        .map_err(|errors| anyhow::anyhow!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")))
}

/// Machines that were prepared in this study.
struct Machines<'a> {
    lab: &'a Lab,
    prepared: BTreeMap<String, (Machine, Prepared)>,
}

impl Machines<'_> {
    fn run(&mut self, name: &str, job: &Job, conduct: &Conduct) -> anyhow::Result<Outcome> {
        if !self.prepared.contains_key(name) {
            let machine = Machine::load(&machines_directory(), name)?;
            let prepared = self.lab.prepare(&machine)?;
            prepared.notes.iter().for_each(|n| progress::say(n));
            self.prepared.insert(name.to_owned(), (machine, prepared));
        }
        let (_, prepared) = &self.prepared[name];
        self.lab.run(prepared, job, conduct)
    }
}

/// How far an experiment is, by the state that `narrows` keeps beside its runs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Progress {
    done: usize,
    total: usize,
    next_arm: Option<String>,
}

impl Progress {
    fn of(archive: &Path) -> anyhow::Result<Self> {
        let entries = fs::read_dir(archive.join("experiments")).into_iter().flatten().flatten();
        let states = entries.map(|e| e.path()).filter(|p| {
            let name = p.to_string_lossy();
            name.ends_with(".json") && !name.ends_with(".restore.json")
        });
        let Some(path) = states.max() else { return Ok(Self::default()) };
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self::parse(&serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?))
    }

    fn parse(state: &Value) -> Self {
        let steps = state["steps"].as_array().cloned().unwrap_or_default();
        let open: Vec<&Value> = steps.iter().filter(|s| s["run_id"].is_null()).collect();
        let next_arm = open.first().and_then(|s| s["arm_name"].as_str()).map(str::to_owned);
        Self { done: steps.len() - open.len(), total: steps.len(), next_arm }
    }

    fn is_complete(&self) -> bool {
        self.total > 0 && self.done == self.total
    }
}

/// All studies, by name.
///
/// # Errors
/// The directory, or one of the files, cannot be read or is wrong.
pub fn all(directory: &Path) -> anyhow::Result<Vec<Study>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut names: Vec<String> =
        entries.flatten().filter_map(|e| Some(e.file_name().to_str()?.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    names.iter().map(|name| Study::load(directory, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_can_be_read_and_names_machines_that_there_are() {
        let studies = all(&super::super::studies_directory()).expect("lab/studies");
        assert!(studies.iter().any(|s| s.name == "piix-vs-ahci"));
        for study in studies {
            let steps = study.plan.steps.iter().map(|s| &s.machine);
            for machine in steps.chain(study.plan.machines.values()) {
                Machine::load(&machines_directory(), machine).unwrap_or_else(|e| panic!("{}: {e:#}", study.name));
            }
        }
    }

    const EXPERIMENT: &str = "[experiment]\nname = \"x\"\nquestion = \"?\"\npairs = 5\nworkload = \"depth\"\n\
        [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

    #[test]
    fn an_arm_needs_a_machine() {
        let lab = "[lab]\ntitle = \"t\"\nabout = \"x\"\ntarget = \"/dev/sda\"\nmachines = { a = \"pc-piix\" }\n";
        let error = Study::parse("x", &format!("{EXPERIMENT}{lab}")).expect_err("b has none").to_string();
        assert!(error.contains("arm 'b'"), "{error}");
        let lab = lab.replace("machines = {", "machines = { b = \"q35-ahci\",");
        let study = Study::parse("x", &format!("{EXPERIMENT}{lab}")).expect("sound");
        let experiment = study.experiment.expect("an experiment");
        assert!(!experiment.contains("lab") && experiment.contains("[[arm]]"), "{experiment}");
    }

    #[test]
    fn errors_name_the_line() {
        let error = Study::parse("x", "[lab]\ntitle = \"t\"\nabuot = \"x\"\n").expect_err("a typo").to_string();
        assert!(error.contains("line 3"), "{error}");
        let error = Study::parse("x", "[lab]\ntitle = \"t\"\nabout = \"x\"\n").expect_err("nothing to do").to_string();
        assert!(error.contains("neither"), "{error}");
    }

    #[test]
    fn the_next_arm_is_that_of_the_first_open_step() {
        let state = serde_json::json!({"steps": [
            {"arm_name": "a", "run_id": "1"}, {"arm_name": "b", "run_id": null}, {"arm_name": "a", "run_id": null}]});
        let at = Progress::parse(&state);
        assert_eq!(at, Progress { done: 1, total: 3, next_arm: Some("b".into()) });
        assert!(!at.is_complete() && !Progress::default().is_complete());
    }
}
