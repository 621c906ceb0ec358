//! Signals, SIGKILL, and what is left then.

use crate::program::{Ended, Scratch, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::Duration;

/// Waits until a run is being kept and its n-th phase has been executed, or until it is over.
pub fn wait_for_partial(scratch: &Scratch, phases: usize) {
    wait_until(&format!("{phases} phases are kept, or the run is over"), || {
        let runs = std::fs::read_dir(scratch.archive().join("runs"));
        runs.into_iter().flatten().flatten().any(|entry| {
            let run = || serde_json::from_slice::<Value>(&std::fs::read(entry.path().join("run.json")).ok()?).ok();
            !entry.file_name().to_string_lossy().ends_with(".partial")
                || run().is_some_and(|run| run["phases"].as_array().is_some_and(|p| p.len() >= phases))
        })
    });
}

/// Budgets in seconds, tried in turn: on a machine that stands still for longer than the first, what is left of a check
/// is over before it can be interrupted.
const BUDGETS: [u32; 4] = [16, 32, 64, 128];

fn start(scratch: &Scratch, budget_s: u32) -> Child {
    let target = scratch.target();
    scratch
        .command(["check", target.to_str().unwrap(), "--budget", &format!("{budget_s}s"), "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: Child, signal: Signal) -> Ended {
    kill_process(Pid::from_child(&child), signal).unwrap();
    Ended::of(child.wait_with_output().unwrap())
}

/// In each phase: what was measured before is kept, the rest is skipped with the reason, nothing is left behind.
#[test]
fn ctrl_c_and_sighup_keep_what_was_measured() {
    for (phases, signal) in [(1, Signal::INT), (2, Signal::HUP), (4, Signal::INT), (5, Signal::TERM), (7, Signal::HUP)]
    {
        let (scratch, ended, document) = BUDGETS
            .iter()
            .map(|budget_s| {
                let scratch = Scratch::new();
                let child = start(&scratch, *budget_s);
                wait_for_partial(&scratch, phases);
                let ended = end(child, signal);
                let document: Value = serde_json::from_str(&ended.stdout).unwrap();
                (scratch, ended, document)
            })
            .find(|(_, _, document)| document["state"] != "complete")
            .expect("a check that is not over at once");
        assert_eq!(ended.code, 128 + signal.as_raw(), "{signal:?} after {phases} phases: {}", ended.stderr);
        assert_eq!(document["state"], "interrupted");
        let run = document["run_id"].as_str().unwrap();
        assert_eq!(scratch.run(["runs", "verify", run]).code, 0);
        assert_eq!(std::fs::read_dir(scratch.target()).unwrap().count(), 0);
        let last = document["metrics"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["status"], "skipped", "{last}");
        assert!(last["reasons"][0]["code"] == "interrupted", "{last}");
    }
}

/// Its clock ran while it asked for nothing: such a number is not the storage's.
#[test]
fn a_check_that_was_stopped_for_a_while_says_so_of_that_phase() {
    let scratch = Scratch::new();
    let child = start(&scratch, BUDGETS[0]);
    let pid = Pid::from_child(&child);
    wait_for_partial(&scratch, 2);
    // Again and again: some of the time it prepares or waits, and what stops then is of no phase. What it writes is more
    // than a pipe holds.
    let ended = std::thread::scope(|s| {
        let reader = s.spawn(|| Ended::of(child.wait_with_output().unwrap()));
        while !reader.is_finished() {
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::STOP);
            std::thread::sleep(Duration::from_millis(500));
            let _ = kill_process(pid, Signal::CONT);
            std::thread::sleep(Duration::from_millis(700));
        }
        reader.join().unwrap()
    });
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    let said = |m: &&Value| m["reasons"].to_string().contains("process-stopped");
    let stopped: Vec<&Value> = document["metrics"].as_array().unwrap().iter().filter(said).collect();
    assert!(!stopped.is_empty(), "{}", ended.stdout);
    assert!(stopped.iter().all(|m| m["status"] == "refused" && m["value"].is_null()), "{stopped:?}");
}

#[test]
fn after_sigkill_the_target_is_empty_and_the_run_can_be_recovered() {
    let scratch = BUDGETS
        .iter()
        .find_map(|budget_s| {
            let scratch = Scratch::new();
            let mut child = start(&scratch, *budget_s);
            wait_for_partial(&scratch, 4);
            assert_eq!(scratch.run(["runs", "recover"]).code, 0);
            let kept = scratch.json(["runs", "--json"], 0)["runs"].as_array().unwrap().len();
            let alive = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(kept == 0 || !alive, "a living run is left alone");
            let partial = std::fs::read_dir(scratch.archive().join("runs")).unwrap().flatten();
            let unfinished = |e: &std::fs::DirEntry| e.file_name().to_string_lossy().ends_with(".partial");
            partial.into_iter().any(|e| unfinished(&e)).then_some(scratch)
        })
        .expect("a check that is not over at once");
    assert_eq!(std::fs::read_dir(scratch.target()).unwrap().count(), 0, "nothing is left behind");

    assert_eq!(scratch.run(["runs", "recover"]).code, 0);
    let list = scratch.json(["runs", "--json"], 0);
    let run = list["runs"][0]["run_id"].as_str().expect("a recovered run").to_owned();
    assert_eq!(list["runs"][0]["state"], "truncated");
    assert_eq!(scratch.run(["runs", "verify", &run]).code, 0);
    let shown = scratch.json(["runs", "show", &run, "--json"], 0);
    assert!(shown["phases"].as_array().unwrap().len() >= 4, "the phases that were complete are there");
    assert!(scratch.run(["runs", "show", &run]).code == 0, "its card can be shown");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = Scratch::new();
    let mut child = scratch
        .command(["check", "sim:a1-card", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// What a long phase has brought is in the archive before it ends: a kill costs the time since it was last written there, and
/// not the phase.
#[test]
fn sigkill_in_a_long_phase_costs_the_last_moments_of_it() {
    let scratch = Scratch::new();
    let job = scratch.path().join("long.toml");
    let text = "name = \"long\"\n[[phase]]\nname = \"short\"\ntime = \"1s\"\n[[phase]]\nname = \"hours\"\ntime = \"2h\"\n\
                [[phase.job]]\nname = \"a\"\n[[phase.job]]\nname = \"b\"\n";
    std::fs::write(&job, text).unwrap();
    let mut child = scratch
        .command(["run", job.to_str().unwrap(), "null:", "--keep-every", "1s", "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let runs = scratch.archive().join("runs");
    let table = |name: &str| {
        let partial = std::fs::read_dir(&runs).into_iter().flatten().flatten().next()?;
        std::fs::read_to_string(partial.path().join(name)).ok()
    };
    let rows = |name: &str| table(name).map_or(0, |text| text.lines().filter(|l| l.starts_with("hours,")).count());
    let samples = || table("system.csv").map_or(0, |text| text.lines().count());
    wait_until("rows and samples come", || rows("series.csv") >= 30 && samples() >= 10);
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = rows("series.csv");

    let recovered = scratch.run(["runs", "recover"]);
    assert_eq!(recovered.code, 0, "{}", recovered.stderr);
    let list = scratch.json(["runs", "--json"], 0);
    let run = list["runs"][0]["run_id"].as_str().expect("a recovered run").to_owned();
    assert_eq!(list["runs"][0]["state"], "truncated");
    assert_eq!(scratch.run(["runs", "verify", &run]).code, 0);
    assert!(rows("series.csv") >= kept - 1, "{} of {kept}", rows("series.csv"));
    let shown = scratch.json(["runs", "show", &run, "--json"], 0);
    let phase = &shown["phases"][1];
    assert_eq!((phase["name"].as_str(), phase["status"].as_str()), (Some("hours"), Some("refused")));
    assert!(phase["reasons"][0]["code"] == "truncated", "{phase}");
    assert!(shown["duration_s"].as_f64().unwrap() > 3.0, "{}", shown["duration_s"]);
    let text = scratch.run(["runs", "show", &run]);
    assert!(text.code == 0 && text.stdout.contains("hours"), "{} {}", text.stdout, text.stderr);
    let page = scratch.path().join("page.html");
    assert_eq!(scratch.run(["report", &run, "-o", page.to_str().unwrap()]).code, 0);
    assert!(std::fs::metadata(page).unwrap().len() > 0);
}

#[test]
fn an_archive_on_the_measured_disk_is_said_to_have_been_written_to() {
    let scratch = Scratch::with_its_archive_inside();
    let job = scratch.path().join("reads.toml");
    let text = "name = \"reads\"\n[[phase]]\nname = \"reads\"\nregion = \"1MiB\"\niops = \"100\"\ntime = \"5s\"\n";
    std::fs::write(&job, text).unwrap();
    let target = scratch.target();
    let run = |every: &str| {
        let args = ["run", job.to_str().unwrap(), target.to_str().unwrap(), "--keep-every", every, "--json"];
        let ended = scratch.run(args);
        serde_json::from_str::<Value>(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {}", ended.stderr))
    };
    let said =
        |document: &Value| document["remarks"].to_string().contains("reads: the archive lies on what was measured");
    let document = run("1s");
    if !document["target"]["stack"]["layers"].as_array().unwrap().iter().any(|l| l["counted"] == true) {
        return println!("SKIPPED: no layer below the temporary files counts");
    }
    assert!(said(&document), "{}", document["remarks"]);
    let document = run("0s");
    assert!(!said(&document), "{}", document["remarks"]);
}
