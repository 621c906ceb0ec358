//! `lab study`: one of the program's five studies, re-enacted on emulated machines with their real drivers.
//!
//! A study is one file: an experiment as `narrows run` takes it, and beside it the table `lab` with the machines that the
//! arms need and steps that are looked at and asserted. How it is made is in [`execution`].

mod execution;
mod looked_at;

#[cfg(test)]
pub use execution::Step;
pub use execution::{ExperimentOutcome, StudyResult};
pub use looked_at::StudyCheck;

use super::card::CardsPlan;
use super::machine::MachineCheck;
use super::mistakes::explained;
use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The table `lab` of a study's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// One line about it.
    pub title: String,
    /// What is shown if all is as expected: one sentence.
    pub shows: String,
    /// What was published, and what is seen here of it.
    pub about: String,
    /// The quantity of each phase that is drawn arm by arm: `iops`.
    #[serde(default)]
    pub plot: Option<String>,
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
    checks: Vec<MachineCheck>,
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
    /// The experiment's arms, in their order.
    pub arms: Vec<String>,
    /// The rest of it, if that is the workload of cards.
    workload: Option<String>,
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
        let plan = toml::from_str::<File>(text).map_err(|e| anyhow::anyhow!(explained(&e)))?.lab;
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
        let mut arms = Vec::new();
        if let Some(experiment) = &experiment {
            let parsed = spec::parse_experiment(&format!("{name}.toml"), experiment).map_err(|errors| {
                anyhow::anyhow!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            })?;
            for arm in &parsed.arms {
                ensure!(plan.machines.contains_key(&arm.name), "lab.machines names no machine for arm '{}'", arm.name);
                arms.push(arm.name.clone());
            }
            ensure!(plan.target.is_some(), "lab.target is missing: what the experiment runs on");
        }
        for (step, check) in plan.steps.iter().flat_map(|step| step.checks.iter().map(move |check| (step, check))) {
            // What its machine has, only its own file tells; the tests of the lab hold both together.
            if let Some(why) = check.contradiction(true, true) {
                bail!("step '{}', check '{}': {why}", step.title, check.what);
            }
        }
        let something = experiment.is_some() || workload.is_some() || !plan.steps.is_empty();
        ensure!(something, "there is neither an experiment nor a step");
        Ok(Self { name: name.to_owned(), plan, experiment, arms, workload })
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
    use super::super::machine::Machine;
    use super::super::machines_directory;
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
            for step in &study.plan.steps {
                let machine = Machine::load(&machines_directory(), &step.machine).expect("it was there");
                for check in &step.checks {
                    let wrong = check.contradiction(machine.card.is_some(), machine.log.is_some());
                    assert_eq!(wrong, None, "{}: {}", study.name, check.what);
                }
            }
        }
    }

    const EXPERIMENT: &str = "[experiment]\nname = \"x\"\nquestion = \"?\"\npairs = 5\nworkload = \"depth\"\n\
        [[arm]]\nname = \"a\"\n[[arm]]\nname = \"b\"\n";

    #[test]
    fn an_arm_needs_a_machine() {
        let lab = "[lab]\ntitle = \"t\"\nabout = \"x\"\nshows = \"y\"\ntarget = \"/dev/sda\"\nmachines = { a = \"pc-piix\" }\n";
        let error = Study::parse("x", &format!("{EXPERIMENT}{lab}")).expect_err("b has none").to_string();
        assert!(error.contains("arm 'b'"), "{error}");
        let lab = lab.replace("machines = {", "machines = { b = \"q35-ahci\",");
        let study = Study::parse("x", &format!("{EXPERIMENT}{lab}")).expect("sound");
        let experiment = study.experiment.expect("an experiment");
        assert!(!experiment.contains("lab") && experiment.contains("[[arm]]"), "{experiment}");
    }

    #[test]
    fn a_check_that_cannot_fail_is_refused() {
        let step = "[lab]\ntitle = \"t\"\nabout = \"x\"\nshows = \"y\"\n[[lab.step]]\ntitle = \"s\"\nmachine = \"m\"\n\
            [[lab.step.check]]\nwhat = \"w\"\ntarget = \"/dev/sda\"\nno-findings = [\"ncq-off\"]\n";
        let error = Study::parse("x", step).expect_err("no finding is called so").to_string();
        assert!(error.contains("'ncq-off'") && error.contains("step 's'"), "{error}");
        assert!(Study::parse("x", &step.replace("ncq-off", "no-ncq")).is_ok());
    }

    #[test]
    fn errors_name_the_line() {
        let error = Study::parse("x", "[lab]\ntitle = \"t\"\nabuot = \"x\"\n").expect_err("a typo").to_string();
        assert!(error.contains("line 3"), "{error}");
        let error = Study::parse("x", "[lab]\ntitle = \"t\"\nabout = \"x\"\nshows = \"y\"\n")
            .expect_err("nothing to do")
            .to_string();
        assert!(error.contains("neither"), "{error}");
    }
}
