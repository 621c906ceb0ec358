//! Commands of an arm and the ends of the program: killed while one runs, interrupted twice, undone in vain.

use crate::experiment::{WORKLOAD, file, journal};
use crate::program::{Ended, Scratch, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

/// An experiment on a simulated card whose second arm has these commands.
fn experiment(scratch: &Scratch, run: &str, undo: &str) -> String {
    let text = format!(
        "[experiment]\nname = \"cut\"\npairs = 1\nseed = 1\ntarget = \"sim:a1-card\"\n{WORKLOAD}\n[[arm]]\nname = \"plain\"\n\
         [[arm]]\nname = \"changed\"\ncommand = '''{run}'''\nundo = '''{undo}'''\n"
    );
    file(scratch, "cut.toml", &text)
}

fn start(scratch: &Scratch, text: &str) -> Child {
    let mut command = scratch.command(["run", text, "--allow-commands"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

fn wait_for(path: &Path) {
    wait_until(&format!("{} is there", path.display()), || path.exists());
}

/// The process that wrote its number there, when it has done so.
fn process_of(path: &Path) -> String {
    let number = || std::fs::read_to_string(path).ok().filter(|text| text.ends_with('\n'));
    wait_until(&format!("{} says a process", path.display()), || number().is_some());
    number().expect("a number").trim().to_owned()
}

/// There is no such process, or nothing of it that could do something.
fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with(['Z', 'X']))
}

#[test]
fn a_command_ends_with_the_program_that_was_killed() {
    let scratch = Scratch::new();
    let (begun, late) = (scratch.path().join("begun"), scratch.path().join("late"));
    let run = format!("echo $$ > {}; sleep 1000; touch {}", begun.display(), late.display());
    let mut child = start(&scratch, &experiment(&scratch, &run, "true"));
    let shell = process_of(&begun);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    wait_until("the command is gone", || is_gone(&shell));
    assert!(!late.exists(), "the command went on");
    assert_eq!(scratch.run(["run", "--restore"]).code, 0, "and what it started is ended");
}

#[test]
fn what_a_killed_command_started_is_ended_before_it_is_undone() {
    let scratch = Scratch::new();
    let (begun, late) = (scratch.path().join("begun"), scratch.path().join("late"));
    // The shell of the command ends with the program; what it started in the background does not.
    let run = format!("(sleep 1000; touch {}) & echo $! > {}; wait", late.display(), begun.display());
    let mut child = start(&scratch, &experiment(&scratch, &run, &format!("rm -f {}", late.display())));
    let background = process_of(&begun);
    child.kill().expect("SIGKILL");
    child.wait().expect("it ends");
    let restored = scratch.run(["run", "--restore"]);
    assert_eq!(restored.code, 0, "{}", restored.stderr);
    let said = restored.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(": ended ") && said.contains("ran 'rm -f"), "{said}");
    assert!(is_gone(&background) && !late.exists(), "it may still change the machine after it was restored");
}

#[test]
fn a_second_signal_does_not_wait_for_an_undo_that_hangs() {
    let scratch = Scratch::new();
    let begun = scratch.path().join("undoing");
    let undo = format!("touch {}; sleep 1000", begun.display());
    let child = start(&scratch, &experiment(&scratch, "true", &undo));
    wait_for(&begun);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).expect("a signal");
    // The first one does not end what puts a setting back.
    std::thread::sleep(Duration::from_secs(1));
    kill_process(pid, Signal::INT).expect("a signal");
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    let last = ended.stderr.lines().rev().nth(1).unwrap_or_default();
    assert!(last.contains("still changed: ") && last.contains("not waited for"), "{}", ended.stderr);
    let kept = journal(&scratch).expect("the journal stays");
    assert!(ended.stderr.contains(kept.to_str().expect("a path")), "{}", ended.stderr);
}

#[test]
fn a_second_signal_lets_a_quick_undo_be_done() {
    let scratch = Scratch::new();
    let (begun, undone) = (scratch.path().join("undoing"), scratch.path().join("undone"));
    let undo = format!("touch {}; sleep 1; touch {}", begun.display(), undone.display());
    let child = start(&scratch, &experiment(&scratch, "true", &undo));
    wait_for(&begun);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::INT).expect("a signal");
    std::thread::sleep(Duration::from_millis(300));
    kill_process(pid, Signal::INT).expect("a signal");
    let ended = Ended::of(child.wait_with_output().expect("it ends"));
    assert!(undone.exists() && journal(&scratch).is_none(), "{}", ended.stderr);
}

#[test]
fn an_undo_that_fails_is_said_last_in_red_and_stays_until_it_is_done() {
    let scratch = Scratch::new();
    let flag = scratch.path().join("flag");
    let text = experiment(&scratch, "true", &format!("test -e {}", flag.display()));
    let ended = scratch.run(["run", &text, "--allow-commands", "--color", "always"]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let said = lines.iter().rposition(|l| l.contains("still changed: ")).expect("it is said");
    assert!(said + 2 == lines.len() && lines[said].starts_with("\u{1b}[31m"), "{}", ended.stderr);
    assert!(journal(&scratch).is_some());
    // Every later run tries again, and says it last.
    let run = scratch.run(["run", "latency", "sim:a1-card"]);
    assert_eq!(run.code, 4, "{}", run.stderr);
    assert!(run.stderr.lines().rev().nth(1).is_some_and(|l| l.contains("still changed")), "{}", run.stderr);
    assert!(!run.stderr.contains('\u{1b}'), "{}", run.stderr);
    assert_eq!(scratch.json(["run", "--restore", "--json"], 4)["results"][0]["ok"], false);
    std::fs::write(&flag, "").expect("written");
    assert_eq!(scratch.run(["run", "latency", "sim:a1-card"]).code, 0);
    assert!(journal(&scratch).is_none());
}

#[test]
fn a_journal_that_others_may_change_is_not_obeyed() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let flag = scratch.path().join("flag");
    let text = experiment(&scratch, "true", &format!("test -e {}", flag.display()));
    assert_eq!(scratch.run(["run", &text, "--allow-commands"]).code, 4);
    std::fs::write(&flag, "").expect("written");
    let directory = scratch.journal().join("always");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).expect("a mode");
    let refused = scratch.run(["run", "--restore"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stdout.contains("not of this user alone"), "{}", refused.stdout);
    assert!(journal(&scratch).is_some());
    let run = scratch.run(["run", &text, "--allow-commands"]);
    assert_eq!(run.code, 3, "nothing is changed that cannot be recorded: {}", run.stderr);
}
