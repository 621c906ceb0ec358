use super::*;
use crate::applied::{AppliedSettings, Setting};
use crate::command::CommandLine;
use crate::value::ValuePath;
use std::cell::RefCell;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A machine of regular files with a place for journals.
struct TestMachine {
    directory: TempDir,
}

impl TestMachine {
    fn new() -> Self {
        let bench = Self { directory: tempfile::tempdir().unwrap() };
        for (name, text) in [
            ("proc/sys/vm/dirty_ratio", "20\n"),
            ("proc/sys/vm/dirty_bytes", "0\n"),
            ("proc/sys/vm/swappiness", "60\n"),
            ("proc/sys/kernel/random/boot_id", "boot-1\n"),
            ("proc/sys/kernel/hostname", "bench\n"),
            ("etc/machine-id", "machine-1\n"),
        ] {
            bench.write(name, text);
        }
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        std::fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap().trim().to_owned()
    }

    fn tree(&self) -> Tree {
        Tree::below(self.directory.path()).unwrap()
    }

    fn machine(&self) -> Machine {
        Machine::of(self.directory.path())
    }

    fn places(&self) -> JournalDirectories {
        JournalDirectories::new(&|name| (name == "NARROWS_JOURNAL").then(|| OsString::from(self.at("journal"))), false)
    }

    fn in_force(&self) -> AppliedSettings {
        AppliedSettings::new(self.tree(), self.places(), self.machine(), "trial-1", "large").unwrap()
    }

    /// As after SIGKILL: nothing is undone, and the lock is gone.
    fn cut_off(&self, in_force: AppliedSettings) {
        // A copy of what it wrote survives it.
        let copies: Vec<(PathBuf, Vec<u8>)> =
            in_force.journal_paths().into_iter().map(|p| (p.clone(), std::fs::read(&p).unwrap())).collect();
        let values = ["dirty_ratio", "dirty_bytes", "swappiness"].map(|v| format!("proc/sys/vm/{v}"));
        let changed = values.clone().map(|v| self.read(&v));
        drop(in_force);
        values.iter().zip(changed).for_each(|(v, text)| self.write(v, &text));
        for (path, text) in copies {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    fn found(&self) -> OrphanedJournals {
        find(&self.places(), &self.machine())
    }

    /// What is found once nobody holds the locks any longer: a process that another test starts has copies of all descriptors,
    /// locks with them, from its fork until its exec.
    fn left(&self) -> OrphanedJournals {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let found = self.found();
            if !found.left.is_empty() || Instant::now() > until {
                return found;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn undo(&self, journal: &mut Journal) -> UndoReport {
        journal.undo(&self.tree(), &self.machine(), &PATIENT, &mut |_| {})
    }
}

const PATIENT: CommandLimits<'static> = CommandLimits { over: &|| false, at_least: Duration::ZERO };

fn value(path: &str, value: &str) -> Setting {
    Setting::Value { path: ValuePath::new(path).unwrap(), value: value.into() }
}

fn shell(text: &str) -> CommandLine {
    CommandLine::new(["/bin/sh", "-c", text].map(str::to_owned).to_vec()).unwrap()
}

fn touch(path: &Path) -> CommandLine {
    CommandLine::new(vec!["touch".into(), path.to_str().unwrap().into()]).unwrap()
}

#[test]
fn what_was_in_force_is_undone_and_leaves_no_journal() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    in_force.apply(&value("/proc/sys/vm/dirty_bytes", "1000000"), &PATIENT).unwrap();
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    in_force.verify().unwrap();
    assert_eq!(bench.read("proc/sys/vm/swappiness"), "10");
    let journals = in_force.journal_paths();
    assert!(journals.len() == 1 && journals[0].is_file());
    assert!(bench.found().left.is_empty(), "its program lives");
    let undone = in_force.undo(&PATIENT);
    assert_eq!(undone.done, ["/proc/sys/vm/swappiness is 60 again", "/proc/sys/vm/dirty_bytes is 0 again"]);
    assert!(undone.failed.is_empty() && !journals[0].exists());
}

#[test]
fn a_value_that_another_one_resets_is_not_in_force() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    bench.write("proc/sys/vm/swappiness", "30");
    assert!(in_force.verify().unwrap_err().to_string().contains("another setting made it 30"));
}

#[test]
fn what_was_cut_off_is_found_and_undone_once() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    let flag = bench.at("flag");
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    let command = Setting::Command { run: shell("true"), undo: touch(&flag) };
    in_force.apply(&command, &PATIENT).unwrap();
    bench.cut_off(in_force);
    std::fs::remove_file(&flag).unwrap();
    assert_eq!(bench.read("proc/sys/vm/swappiness"), "10");
    let mut found = bench.left();
    assert!(found.refused.is_empty() && found.left.len() == 2, "{found:?}");
    assert!(!flag.exists() && bench.read("proc/sys/vm/swappiness") == "10", "looking changes nothing");
    let shown = RefCell::new(Vec::new());
    for journal in &mut found.left {
        assert_eq!((journal.head().experiment.as_str(), journal.head().arm.as_str()), ("trial-1", "large"));
        let undone = journal.undo(&bench.tree(), &bench.machine(), &PATIENT, &mut |change| {
            shown.borrow_mut().push((change.to_string(), flag.exists()));
        });
        assert!(undone.failed.is_empty());
    }
    let shown = shown.into_inner();
    assert!(shown[0].0.starts_with("'touch ") && !shown[0].1, "commands first, and shown before they run: {shown:?}");
    assert_eq!(shown[1].0, "/proc/sys/vm/swappiness = 60");
    assert!(flag.exists() && bench.read("proc/sys/vm/swappiness") == "60");
    assert!(bench.found().left.is_empty());
}

#[test]
fn another_boot_has_forgotten_values_and_not_commands() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    let flag = bench.at("flag");
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    in_force.apply(&Setting::Command { run: shell("true"), undo: touch(&flag) }, &PATIENT).unwrap();
    bench.cut_off(in_force);
    std::fs::remove_file(&flag).unwrap();
    bench.write("proc/sys/kernel/random/boot_id", "boot-2");
    bench.write("proc/sys/vm/swappiness", "40");
    let done: Vec<String> = bench.left().left.iter_mut().flat_map(|j| bench.undo(j).done).collect();
    assert!(done.len() == 1 && done[0].starts_with("ran 'touch"), "{done:?}");
    assert_eq!(bench.read("proc/sys/vm/swappiness"), "40");
    assert!(flag.exists() && bench.found().left.is_empty());
}

#[test]
fn another_machine_undoes_nothing_and_keeps_it() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    bench.cut_off(in_force);
    bench.write("etc/machine-id", "machine-2");
    let found = bench.found();
    assert!(found.left.is_empty() && found.refused.is_empty(), "{found:?}");
    assert!(found.of_other_machines[0].contains("changed settings of bench"), "{found:?}");
    bench.write("etc/machine-id", "machine-1");
    assert_eq!(bench.left().left.len(), 1);
}

#[test]
fn what_cannot_be_undone_stays_and_is_undone_later() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    let flag = bench.at("flag");
    let undo = shell(&format!("test -e '{}'", flag.display()));
    in_force.apply(&Setting::Command { run: shell("true"), undo }, &PATIENT).unwrap();
    let undone = in_force.undo(&PATIENT);
    assert!(undone.done.is_empty() && undone.failed[0].contains("ended with"), "{undone:?}");
    assert!(!in_force.is_undone() && in_force.journal_paths()[0].is_file());
    bench.cut_off(in_force);
    let mut found = bench.left();
    assert_eq!(bench.undo(&mut found.left[0]).failed.len(), 1);
    drop(found);
    std::fs::write(&flag, "").unwrap();
    assert!(bench.undo(&mut bench.left().left[0]).failed.is_empty());
    assert!(bench.found().left.is_empty());
}

#[test]
fn a_journal_in_a_directory_that_is_not_of_this_user_alone_is_not_obeyed() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    bench.cut_off(in_force);
    let directory = bench.at("journal/until-reboot");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    let found = bench.found();
    assert!(found.left.is_empty() && found.refused[0].contains("not of this user alone"), "{:?}", found.refused);
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::rename(&directory, bench.at("elsewhere")).unwrap();
    std::os::unix::fs::symlink(bench.at("elsewhere"), &directory).unwrap();
    let found = bench.found();
    assert!(found.left.is_empty() && found.refused[0].contains("it is a link"), "{:?}", found.refused);
}

#[test]
fn a_journal_that_asks_for_more_than_a_value_is_not_understood() {
    let bench = TestMachine::new();
    let mut in_force = bench.in_force();
    in_force.apply(&value("/proc/sys/vm/swappiness", "10"), &PATIENT).unwrap();
    let path = in_force.journal_paths().remove(0);
    bench.cut_off(in_force);
    let good = std::fs::read_to_string(&path).unwrap();
    for (from, to) in [
        ("/proc/sys/vm/swappiness", "/etc/passwd"),
        ("/proc/sys/vm/swappiness", "/proc/sys/../../etc/passwd"),
        ("changing", "chaining"),
        ("narrows/journal/1", "narrows/journal/9"),
    ] {
        std::fs::write(&path, good.replace(from, to)).unwrap();
        let found = bench.found();
        assert!(found.left.is_empty() && found.refused.len() == 1, "{from} -> {to}: {found:?}");
    }
    // A line that was being written when the program was cut off is of a change that was not made.
    std::fs::write(&path, format!("{good}{{\"changing\":{{\"num")).unwrap();
    assert_eq!(bench.left().left.len(), 1);
    std::fs::write(&path, vec![b' '; MAX_BYTES as usize + 1]).unwrap();
    assert!(bench.found().refused[0].contains("too long"));
}

#[test]
fn what_is_left_of_a_command_is_ended_before_it_is_undone() {
    let bench = TestMachine::new();
    let flag = bench.at("flag");
    // What it ends is found by the experiment's name, and other tests of this process run commands of theirs.
    let mut journal = Journal::new(bench.machine(), "trial-ended", "large").unwrap();
    let run = shell(&format!("sleep 1000; touch '{}'", flag.display()));
    let change = Change::Command { run: run.clone(), undo: shell("true") };
    let number = journal.add(&bench.places(), change).unwrap();
    let mark = journal.mark(number);
    // What the arm's command started and the death of its shell did not end.
    let mut orphan = std::process::Command::new("/bin/sh")
        .args(["-c", &format!("sleep 1000; touch '{}'", flag.display())])
        .env("NARROWS_COMMAND", &mark)
        .spawn()
        .unwrap();
    let running = RunningCommand::of(orphan.id(), &mark).unwrap();
    journal.mark_started(number, running.clone()).unwrap();
    drop(journal);
    let mut found = bench.left();
    let undone = bench.undo(&mut found.left[0]);
    assert!(undone.failed.is_empty() && undone.done[0].starts_with("ended "), "{undone:?}");
    assert!(!running.is_alive() && !flag.exists());
    assert!(!orphan.wait().unwrap().success());
}

/// Journals as version 0.1.0 wrote them on 22 November 2026: the disk of one setting has gone since, and the last line was
/// being written when the program was killed.
#[test]
fn old_journals_are_undone_without_the_setting_that_has_gone() {
    let bench = TestMachine::new();
    let journals = [
        ("until-reboot", include_str!("../tests/journals/until-reboot.journal")),
        ("always", include_str!("../tests/journals/always.journal")),
    ];
    for (place, text) in journals {
        let path = bench.at(&format!("journal/{place}/trial-1.0.journal"));
        bench.write(path.strip_prefix(bench.at("")).unwrap().to_str().unwrap(), &format!("{text}{{\"changing\":{{"));
        std::fs::set_permissions(path.parent().unwrap(), std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    bench.write("proc/sys/vm/dirty_ratio", "0\n");
    bench.write("proc/sys/vm/dirty_bytes", "1000000\n");
    bench.write("proc/sys/vm/swappiness", "10\n");
    let mut found = bench.left();
    assert!(found.refused.is_empty() && found.left.len() == 2, "{found:?}");
    let undone: Vec<UndoReport> = found.left.iter_mut().map(|journal| bench.undo(journal)).collect();
    assert!(undone.iter().all(|u| u.failed.is_empty()), "{undone:?}");
    let done: Vec<&str> = undone.iter().flat_map(|u| u.done.iter().map(String::as_str)).collect();
    let wanted = [
        "ran 'exit 0'",
        "/proc/sys/vm/swappiness is 60 again",
        "/proc/sys/vm/dirty_bytes is 0 again",
        "/sys/block/sdx/queue/rq_affinity has gone, and its value with it",
    ];
    assert_eq!(done, wanted);
    assert_eq!(
        (bench.read("proc/sys/vm/dirty_ratio").as_str(), bench.read("proc/sys/vm/swappiness").as_str()),
        ("20", "60")
    );
    drop(found);
    assert!(bench.found().left.is_empty(), "nothing is left to undo");
}
