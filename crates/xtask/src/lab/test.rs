//! `lab test`: every machine with what is asserted of it; several at a time where there are processors, one line each.

use super::evidence::{Evidence, failures, script};
use super::initrd::Job;
use super::machine::{self, Machine};
use super::session::{Conduct, Lab, Unavailable};
use super::watch::Interrupted;
use super::{interrupts, power_cut};
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// How a machine's test ended.
enum Verdict {
    /// All checks passed.
    Passed { checks: usize, release: String },
    /// What is wrong.
    Failed(Vec<String>),
    /// Why it cannot run here.
    Skipped(String),
}

/// Names in `lab/skips`: machines that may be skipped.
///
/// # Errors
/// The file cannot be read.
fn expected_skips(path: &Path) -> anyhow::Result<BTreeSet<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let names = text.lines().map(|l| l.split('#').next().unwrap_or_default().trim());
    Ok(names.filter(|n| !n.is_empty()).map(str::to_owned).collect())
}

fn one(lab: &Lab, machine: &Machine) -> anyhow::Result<Verdict> {
    let prepared = match lab.prepare(machine) {
        Ok(prepared) => prepared,
        Err(error) if error.is::<Unavailable>() => return Ok(Verdict::Skipped(format!("{error:#}"))),
        Err(error) => return Err(error),
    };
    let job = Job::script(script(&machine.checks));
    let outcome = lab.run(&prepared, &job, &Conduct::default())?;
    let mut wrong: Vec<String> = outcome.notes.clone();
    for (i, check) in machine.checks.iter().enumerate() {
        let evidence = Evidence::of(&outcome, i);
        wrong.extend(failures(check, &evidence).into_iter().map(|f| format!("{}: {f}", check.what)));
    }
    let mut checks = machine.checks.len();
    if let Some(cut) = &machine.power_cut {
        let (cuts, broken) = power_cut::run(lab, &prepared, machine, cut)?;
        checks += cuts;
        wrong.extend(broken);
    }
    Ok(if wrong.is_empty() { Verdict::Passed { checks, release: prepared.release } } else { Verdict::Failed(wrong) })
}

/// Tests these machines, all without a name.
///
/// # Errors
/// One failed, or was skipped that used to run.
pub fn run(lab: &Lab, directory: &Path, names: &[String]) -> anyhow::Result<()> {
    let mut machines = machine::all(directory)?;
    if !names.is_empty() {
        machines = names.iter().map(|name| Machine::load(directory, name)).collect::<anyhow::Result<_>>()?;
    }
    let expected = expected_skips(&directory.with_file_name("skips"))?;
    let begun = Instant::now();
    let total = machines.len();
    // The slowest first, so that none is left to run alone at the end.
    machines.sort_by_key(|m| std::cmp::Reverse(m.boot_limit));
    let queue = Mutex::new(machines.into_iter());
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    let told = Mutex::new((&mut failed, &mut skipped));
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(total.max(1));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                    let Some(machine) = next else { break };
                    if interrupts::seen() {
                        break;
                    }
                    let since = Instant::now();
                    let verdict = one(lab, &machine).unwrap_or_else(|e| Verdict::Failed(vec![format!("{e:#}")]));
                    let seconds = since.elapsed().as_secs_f64();
                    let mut told = told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    let name = &machine.name;
                    match verdict {
                        Verdict::Passed { checks, release } => {
                            println!("ok       {name:<16} {seconds:>5.1} s  {checks} checks, {release}");
                        }
                        Verdict::Failed(why) => {
                            println!("FAILED   {name:<16} {seconds:>5.1} s");
                            why.iter().for_each(|w| println!("         {w}"));
                            told.0.push(name.clone());
                        }
                        Verdict::Skipped(why) => {
                            println!("SKIPPED: {name}: {why}");
                            told.1.push(name.clone());
                        }
                    }
                }
            });
        }
    });
    if interrupts::seen() {
        return Err(Interrupted.into());
    }
    println!(
        "{} of {total} machines ok, {} failed, {} skipped, in {:.0} s",
        total - failed.len() - skipped.len(),
        failed.len(),
        skipped.len(),
        begun.elapsed().as_secs_f64()
    );
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    let risen: Vec<&str> = skipped.iter().filter(|s| !expected.contains(*s)).map(String::as_str).collect();
    if !risen.is_empty() {
        bail!("skipped, but not in lab/skips: {}", risen.join(", "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_names_with_reasons_behind() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("skips");
        fs::write(&path, "# none yet\n\norangepi   # no armhf on this host\n").expect("the file");
        assert_eq!(expected_skips(&path).expect("names"), BTreeSet::from(["orangepi".to_owned()]));
        assert!(expected_skips(&directory.path().join("none")).is_err());
    }

    #[test]
    fn those_that_may_be_skipped_are_machines() {
        let machines = super::super::machines_directory();
        let names: BTreeSet<String> = machine::all(&machines).expect("machines").into_iter().map(|m| m.name).collect();
        let skips = expected_skips(&machines.with_file_name("skips")).expect("lab/skips");
        assert!(skips.is_subset(&names), "{skips:?}");
    }
}
