//! `lab test`: every machine with what is asserted of it; several at a time where there are processors, one line each.

use super::evidence::{Evidence, failures, script};
use super::initrd::GuestJob;
use super::machine::{self, Machine};
use super::progress::{Line, print, print_status};
use super::session::Lab;
use super::session_options::SessionOptions;
use super::transport;
use super::unavailable::Unavailable;
use super::{interrupts, power_cut, qemu};
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a machine's test ended.
enum Verdict {
    Passed {
        checks: usize,
        release: String,
    },
    /// What is wrong.
    Failed(Vec<String>),
    /// Why it cannot run here.
    Skipped(String),
    /// A signal came before it had ended.
    Interrupted,
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

fn one(lab: &Lab, machine: &Machine, keep: bool) -> anyhow::Result<Verdict> {
    let prepared = match lab.prepare(machine) {
        Ok(prepared) => prepared,
        Err(error) if error.is::<Unavailable>() => return Ok(Verdict::Skipped(format!("{error:#}"))),
        Err(error) => return Err(error),
    };
    let mut wrong = Vec::new();
    let mut checks = machine.checks.len();
    // A machine whose power is cut may have nothing else to show.
    if checks > 0 || machine.power_cut.is_none() {
        let outcome = lab.run(&prepared, &GuestJob::script(script(&machine.checks)), &SessionOptions::default())?;
        wrong.extend(outcome.notes.iter().cloned());
        for (i, check) in machine.checks.iter().enumerate() {
            let evidence = Evidence::of(&outcome, &machine.checks, i);
            wrong.extend(failures(check, &evidence).into_iter().map(|f| format!("{}: {f}", check.what)));
        }
        if keep || !wrong.is_empty() {
            let kept = lab.directory.join("out").join(outcome.out.path().file_name().unwrap_or_default());
            transport::copy_directory(outcome.out.path(), &kept)?;
            print_status(&format!("what {} left is in {}", machine.name, kept.display()));
        }
    }
    if let Some(cut) = &machine.power_cut {
        let (cuts, broken) = power_cut::run(lab, &prepared, machine, cut)?;
        checks += cuts;
        wrong.extend(broken);
    }
    Ok(if wrong.is_empty() { Verdict::Passed { checks, release: prepared.release } } else { Verdict::Failed(wrong) })
}

/// What a worker says of a machine.
enum WorkerEvent {
    Begun(String),
    Ended { name: String, seconds: f64, verdict: Verdict },
}

/// How the machines' tests ended, as they do.
struct TestProgress {
    total: usize,
    under_way: Vec<String>,
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
    line: Line,
}

impl TestProgress {
    fn hear(&mut self, news: WorkerEvent) {
        match news {
            WorkerEvent::Begun(name) => self.under_way.push(name),
            WorkerEvent::Ended { name, seconds, verdict } => {
                self.under_way.retain(|n| *n != name);
                self.line.clear();
                let mut text = String::new();
                match verdict {
                    Verdict::Passed { checks, release } => {
                        text = format!("ok       {name:<18} {seconds:>5.1} s  {checks} checks, {release}\n");
                        self.passed += 1;
                    }
                    Verdict::Failed(why) => {
                        text = format!("FAILED   {name:<18} {seconds:>5.1} s\n");
                        why.iter().for_each(|w| text.push_str(&format!("         {w}\n")));
                        self.failed.push(name);
                    }
                    Verdict::Skipped(why) => {
                        text = format!("SKIPPED: {name}: {why}\n");
                        self.skipped.push(name);
                    }
                    Verdict::Interrupted => {}
                }
                print(&text);
            }
        }
    }

    fn tick(&mut self) {
        let left = self.total - self.passed - self.failed.len() - self.skipped.len();
        let now = self.under_way.join(", ");
        if now.is_empty() {
            return;
        }
        self.line.tick(|| format!("{left} of {} machines to go, now {now}", self.total));
    }
}

/// Tests machines until there are none left or a signal comes.
fn work(lab: &Lab, keep: bool, queue: &Mutex<std::vec::IntoIter<Machine>>, news: &Sender<WorkerEvent>) {
    while !interrupts::is_interrupted() {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(machine) = next else { break };
        // Nobody stops listening before all have ended.
        let _ = news.send(WorkerEvent::Begun(machine.name.clone()));
        let since = Instant::now();
        let verdict = match one(lab, &machine, keep) {
            Ok(verdict) => verdict,
            Err(_) if interrupts::is_interrupted() => Verdict::Interrupted,
            Err(error) => Verdict::Failed(vec![format!("{error:#}")]),
        };
        let seconds = since.elapsed().as_secs_f64();
        let _ = news.send(WorkerEvent::Ended { name: machine.name, seconds, verdict });
    }
}

/// Those that were skipped and are not expected to be.
fn unexpected_skips<'a>(skipped: &'a [String], expected: &BTreeSet<String>) -> Vec<&'a str> {
    skipped.iter().filter(|s| !expected.contains(*s)).map(String::as_str).collect()
}

/// Tests these machines, all without a name. With `keep` what each guest left is kept, also where nothing is wrong.
///
/// # Errors
/// One failed, or was skipped that used to run.
pub fn run(lab: &Lab, directory: &Path, names: &[String], keep: bool) -> anyhow::Result<()> {
    let mut machines = machine::all(directory)?;
    if !names.is_empty() {
        machines = names.iter().map(|name| Machine::load(directory, name)).collect::<anyhow::Result<_>>()?;
    }
    let expected = expected_skips(&directory.with_file_name("skips"))?;
    let begun = Instant::now();
    // The slowest first, so that none is left to run alone at the end: many boots, then the time that cards put in.
    machines.sort_by_key(|m| std::cmp::Reverse((m.power_cut.is_some(), m.card.is_some(), m.boot_limit)));
    let total = machines.len();
    let archs = machines.iter().map(|m| m.arch).filter(|arch| qemu::find(*arch).is_ok()).collect();
    let line = Line::new("test", true);
    let mut progress = TestProgress { total, under_way: vec![], passed: 0, failed: vec![], skipped: vec![], line };
    let queue = Mutex::new(machines.into_iter());
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(total.max(1));
    let (sender, news) = channel();
    std::thread::scope(|scope| {
        // Meanwhile packages are fetched.
        scope.spawn(|| lab.programs.build_ahead(&archs));
        for _ in 0..workers {
            let sender = sender.clone();
            let queue = &queue;
            scope.spawn(move || work(lab, keep, queue, &sender));
        }
        drop(sender);
        loop {
            match news.recv_timeout(Duration::from_secs(1)) {
                Ok(one) => progress.hear(one),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress.tick();
        }
    });
    interrupts::check()?;
    progress.line.clear();
    print(&format!(
        "{} of {total} machines ok, {} failed, {} skipped, in {:.0} s\n",
        progress.passed,
        progress.failed.len(),
        progress.skipped.len(),
        begun.elapsed().as_secs_f64()
    ));
    if !progress.failed.is_empty() {
        bail!("failed: {}", progress.failed.join(", "));
    }
    let risen = unexpected_skips(&progress.skipped, &expected);
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
    fn a_skip_that_nobody_expects_has_risen() {
        let skipped = ["orangepi".to_owned(), "q35-nvme".to_owned()];
        assert_eq!(unexpected_skips(&skipped, &BTreeSet::from(["orangepi".to_owned()])), ["q35-nvme"]);
        assert_eq!(unexpected_skips(&[], &BTreeSet::from(["orangepi".to_owned()])), [""; 0]);
    }

    #[test]
    fn those_that_may_be_skipped_are_machines() {
        let machines = super::super::machines_directory();
        let names: BTreeSet<String> = machine::all(&machines).expect("machines").into_iter().map(|m| m.name).collect();
        let skips = expected_skips(&machines.with_file_name("skips")).expect("lab/skips");
        assert!(skips.is_subset(&names), "{skips:?}");
    }
}
