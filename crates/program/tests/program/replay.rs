//! Traces that are done again.

use crate::program::Scratch;
use serde_json::Value;

/// 200 operations, one a millisecond, in 4 MiB of a file of this name; every tenth is a sync.
fn trace(file: &str) -> String {
    let mut text = format!("fio version 3 iolog\n0 {file} add\n0 {file} open\n");
    for i in 0..200u64 {
        let place = i * 7919 % 1024 * 4096;
        text += &match i % 10 {
            9 => format!("{} {file} sync 0 0\n", i * 1000),
            3 | 6 => format!("{} {file} write {place} 4096\n", i * 1000),
            _ => format!("{} {file} read {place} 4096\n", i * 1000),
        };
    }
    text + &format!("200000 {file} close\n")
}

/// The answer of a run, whose numbers are refused (exit code 4) where somebody else used the disk meanwhile.
fn answer(scratch: &Scratch, args: &[&str]) -> Value {
    let ended = scratch.run(args.iter().chain(&["--json"]));
    assert!(matches!(ended.code, 0 | 4), "{}{}", ended.stdout, ended.stderr);
    serde_json::from_str(&ended.stdout).expect("a document")
}

fn replay_of(run: &Value) -> &Value {
    let phases = run["phases"].as_array().unwrap();
    phases.iter().find(|p| p["name"] == "replay").expect("the replay")
}

fn figure(phase: &Value, id: &str) -> f64 {
    let metric = phase["metrics"].as_array().unwrap().iter().find(|m| m["id"] == id);
    let metric = metric.unwrap_or_else(|| panic!("{id}: {phase}"));
    metric["value"].as_f64().or(metric["rejected_value"].as_f64()).unwrap_or_else(|| panic!("{metric}"))
}

#[test]
fn a_trace_keeps_its_times_or_goes_as_fast_as_it_can() {
    let scratch = Scratch::new();
    let (target, victim) = (scratch.target(), scratch.path().join("victim"));
    std::fs::write(&victim, "theirs").unwrap();
    let file = scratch.path().join("app.log");
    std::fs::write(&file, trace(victim.to_str().unwrap())).unwrap();
    let arguments = ["run", file.to_str().unwrap(), target.to_str().unwrap()];
    let plan = scratch.run(arguments.iter().chain(&["--plan"]));
    let said = plan.stdout.replace("\n     ", " ");
    assert!(said.contains("traced (200 operations in 199 ms, at its speed)"), "{said}");
    let run = answer(&scratch, &arguments);
    let replay = replay_of(&run);
    // Syncs are no transfers: 180 operations in 199 ms, and not faster, however fast the disk is.
    let iops = figure(replay, "replay.iops");
    assert!(iops < 180.0 / 0.19, "{iops}");
    let text = replay.to_string();
    assert!(text.contains("\"lateness\"") && text.contains("of 180 more than 1 ms"), "{text}");
    let fast = answer(&scratch, &[&arguments[..], &["--set", "speed=max"]].concat());
    let text = replay_of(&fast).to_string();
    assert!(!text.contains("lateness"), "{text}");
    // What the trace names is never opened.
    assert_eq!(std::fs::read(&victim).unwrap(), b"theirs");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
    let shown = scratch.run(["runs", "show", "latest"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
}

#[test]
fn a_trace_goes_to_a_simulated_disk_too_and_one_that_does_not_fit_is_refused() {
    let scratch = Scratch::new();
    let file = scratch.path().join("app.log");
    std::fs::write(&file, trace("/dev/sdx")).unwrap();
    let file = file.to_str().unwrap();
    let run = answer(&scratch, &["run", file, "sim:a1-card", "--set", "speed=max"]);
    assert!(figure(replay_of(&run), "replay.iops") > 10.0);
    let small = scratch.path().join("small");
    std::fs::File::create(&small).unwrap().set_len(2 << 20).unwrap();
    let small = small.to_str().unwrap();
    let refused = scratch.run(["run", file, small, "--overwrite"]);
    assert!(refused.code != 0 && refused.stderr.contains("region=SIZE"), "{}", refused.stderr);
    let kept = scratch.run(["run", file, small, "--set", "region=1MiB"]);
    assert!(kept.code != 0 && kept.stderr.contains("--overwrite"), "{}", kept.stderr);
    let wrapped = answer(&scratch, &["run", file, small, "--overwrite", "--set", "region=1MiB", "--set", "speed=max"]);
    assert!(wrapped.to_string().contains("places wrap around"), "{wrapped}");
    let nonsense = scratch.run(["run", file, small, "--set", "bs=4k"]);
    assert!(nonsense.code == 2 && nonsense.stderr.contains("there are speed, depth"), "{}", nonsense.stderr);
}
