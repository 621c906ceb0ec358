//! Simulated devices under the plan of `check` or of a workload, in simulated time, by the code that makes every run:
//! [`conduct::open`] and [`conduct::Execution`]. Nothing is kept.

use super::scenario::{Fixture, Plan as Wanted};
use anyhow::{Context as _, anyhow};
use conduct::{Budget, Execution, Interrupts, NullListener, Opened, WallClock};
use engine::{Control, Rig};
use model::{Failure, Ns, PhasePlan, PhaseRecord, Plan, Run, SystemSample};
use spec::Workload;
use std::ffi::OsStr;
use std::time::Duration;
use sys::SymlinkPolicy;

pub fn check_plan(device: &str, budget_s: u64, seed: u64) -> anyhow::Result<Plan> {
    let (workload, _) = workload(&Wanted::Check { budget_s })?;
    Ok(conduct::plan::plan(&workload, &open(device, &workload)?, seed)?)
}

/// The workload of a plan, and the command that executes it.
fn workload(wanted: &Wanted) -> anyhow::Result<(Workload, &'static str)> {
    match wanted {
        Wanted::Check { budget_s } => {
            let budget = ("budget".to_owned(), format!("{budget_s}s"));
            let workload = spec::built_in("check", &[budget]).map_err(|e| anyhow!("a check of {budget_s} s: {e:?}"))?;
            Ok((workload, "check"))
        }
        Wanted::Workload(name) => {
            let found = spec::workloads().into_iter().find(|w| w.name == *name);
            Ok((found.with_context(|| format!("no workload {name}"))?, "run"))
        }
    }
}

/// A scenario puts what it changes behind what it has drawn: the last value of each parameter counts.
fn last_of_each(device: &str) -> String {
    let (name, parameters) = device.split_once(',').unwrap_or((device, ""));
    let mut seen = std::collections::BTreeSet::new();
    let mut kept: Vec<&str> = parameters.split(',').rev().filter(|p| seen.insert(p.split('=').next())).collect();
    kept.push(name);
    kept.reverse();
    kept.retain(|part| !part.is_empty());
    kept.join(",")
}

fn open(device: &str, workload: &Workload) -> anyhow::Result<Opened> {
    let device = &*last_of_each(device);
    let wanted = conduct::Wanted {
        links: SymlinkPolicy::Refuse,
        probe: workload.has_budget().then_some(conduct::WriteAllowance::AtMost(u64::MAX)),
        ..conduct::Wanted::new(OsStr::new(device), workload.interval_ns)
    };
    Ok(conduct::open(&wanted, &Control::default(), &NullListener)?)
}

/// Executes the plan on the device; `fixture` changes what the machine shows of itself, not what it does.
pub fn run(device: &str, wanted: &Wanted, fixture: &Fixture, seed: u64) -> anyhow::Result<Run> {
    let (workload, command) = workload(wanted)?;
    let mut opened = open(device, &workload)?;
    if let Some(path) = fixture.path {
        path(&mut opened.target.stack, &mut opened.environment);
    }
    opened.rig = Box::new(RigWithFixture { rig: opened.rig, fixture: *fixture });
    let plan = conduct::plan::plan(&workload, &opened, seed)?;
    let budget = if workload.has_budget() { Budget::Kept } else { Budget::Foreseen };
    let execution = Execution {
        control: &Control::default(),
        interrupts: &Interrupts::default(),
        listener: &NullListener,
        archive: None,
        keep_every: Duration::ZERO,
        keep_shared: false,
        wait_quiet: Duration::ZERO,
        group: None,
        clock: WallClock::start(),
    };
    Ok(execution.execute(command, plan, budget, &mut opened, None)?.run)
}

/// A rig that shows the machine as it is dressed.
struct RigWithFixture {
    rig: Box<dyn Rig>,
    fixture: Fixture,
}

impl RigWithFixture {
    fn apply_fixture(&self, mut samples: Vec<SystemSample>) -> Vec<SystemSample> {
        if let Some(observed) = self.fixture.observed {
            samples.iter_mut().for_each(observed);
        }
        samples
    }
}

impl Rig for RigWithFixture {
    fn now(&self) -> Ns {
        self.rig.now()
    }

    fn run(&mut self, phase: &PhasePlan, control: &Control) -> Result<PhaseRecord, Failure> {
        let mut record = self.rig.run(phase, control)?;
        if let Some(change) = self.fixture.recorded {
            change(&mut record);
        }
        Ok(record)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.rig.flush()
    }

    fn idle(&mut self, ns: Ns, control: &Control) {
        self.rig.idle(ns, control);
    }

    fn readable_bytes(&self) -> u64 {
        self.rig.readable_bytes()
    }

    fn bytes_written(&self) -> u64 {
        self.rig.bytes_written()
    }

    fn simulated_sample(&mut self) -> Option<SystemSample> {
        let sample = self.rig.simulated_sample()?;
        self.apply_fixture(vec![sample]).pop()
    }

    fn take_simulated_samples(&mut self) -> Vec<SystemSample> {
        let samples = self.rig.take_simulated_samples();
        self.apply_fixture(samples)
    }
}
