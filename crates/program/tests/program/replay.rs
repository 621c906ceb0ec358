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
    phases.iter().find(|p| p["name"] == "replay" || p["plan"]["name"] == "replay").expect("the replay")
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

/// What strace writes of a program that saves a file, reads an old one, and makes and removes a directory, in two processes.
fn calls(directory: &str) -> String {
    let lines = [
        r#"70 100000.000 openat(AT_FDCWD, "DIR/conf/new", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3 <0.000100>"#,
        r#"70 100000.010 write(3, "..."..., 200000) = 200000 <0.000100>"#,
        r#"70 100000.020 fsync(3) = 0 <0.010000>"#,
        r#"71 100000.025 openat(AT_FDCWD, "DIR/old", O_RDONLY) = 3 <0.000100>"#,
        r#"71 100000.030 pread64(3, "..."..., 65536, 131072) = 65536 <0.000100>"#,
        r#"70 100000.040 close(3) = 0 <0.000100>"#,
        r#"70 100000.050 rename("DIR/conf/new", "DIR/conf/app") = 0 <0.000100>"#,
        r#"71 100000.060 mkdir("DIR/Conf", 0777) = 0 <0.000100>"#,
        r#"71 100000.070 symlink("/etc/passwd", "DIR/Conf/link") = 0 <0.000100>"#,
        r#"71 100000.080 stat("DIR/none", 0x7ff) = -1 ENOENT (No such file or directory) <0.000100>"#,
        r#"71 100000.090 unlink("DIR/Conf/link") = 0 <0.000100>"#,
        r#"71 100000.150 rmdir("DIR/Conf") = 0 <0.000100>"#,
    ];
    lines.map(|line| line.replace("DIR", directory) + "\n").concat()
}

#[test]
fn calls_on_files_are_made_again_and_nothing_else_is_touched() {
    let scratch = Scratch::new();
    let (target, named) = (scratch.target(), scratch.path().join("named"));
    std::fs::create_dir_all(named.join("conf")).unwrap();
    std::fs::write(named.join("old"), "theirs").unwrap();
    std::fs::write(target.join("conf"), "theirs, too").unwrap();
    let file = scratch.path().join("app.strace");
    std::fs::write(&file, calls(named.to_str().unwrap())).unwrap();
    let root = format!("root={}", named.display());
    let arguments = ["run", file.to_str().unwrap(), target.to_str().unwrap(), "--set", root.as_str()];
    let plan = scratch.run(arguments.iter().chain(&["--plan"]));
    let said = plan.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "12 calls of 2 threads in 150 ms: 2 opens, 1 reads, 1 writes, 1 syncs, 1 renames, 2 removals; 66 kB read and 200 kB \
                written, at its speed";
    assert!(said.contains(told), "{said}");
    let run = answer(&scratch, &arguments);
    let replay = replay_of(&run);
    let took = figure(replay, "replay.time_s");
    // A disk that stands still makes it late, and that is told; never early.
    assert!(took >= 0.15, "{took}");
    assert!(replay.to_string().contains("\"lateness\""), "{replay}");
    assert!(figure(replay, "replay.sync.latency_ns_mean") > 0.0);
    let time = replay["metrics"].as_array().unwrap().iter().find(|m| m["id"] == "replay.time_s").unwrap();
    assert_eq!(time["n"], 11, "all calls but the sync: {time}");
    let fast = answer(&scratch, &[&arguments[..], &["--set", "speed=max"]].concat());
    let fast = replay_of(&fast);
    assert!(figure(fast, "replay.time_s") > 0.0 && !fast.to_string().contains("\"lateness\""), "{fast}");
    // What the recording names, and what lies in the target, is as it was; what was made is gone.
    assert_eq!(std::fs::read(named.join("old")).unwrap(), b"theirs");
    assert_eq!(std::fs::read(target.join("conf")).unwrap(), b"theirs, too");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 1);
    let shown = scratch.run(["runs", "show", "latest"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
}

/// A program that reads a file: the file is made before, and that counts as written; a cold one comes from the device.
#[test]
fn what_a_recording_reads_is_made_before_and_counts_as_written() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let file = scratch.path().join("reader.strace");
    let mut text = "70 100000.000 openat(AT_FDCWD, \"/data/old\", O_RDONLY) = 3 <0.000100>\n".to_owned();
    for call in 0..32 {
        text += &format!("70 100000.{call:03} read(3, \"...\"..., 65536) = 65536 <0.000100>\n");
    }
    std::fs::write(&file, text).unwrap();
    let arguments = ["run", file.to_str().unwrap(), target.to_str().unwrap(), "--set", "root=/data"];
    let refused = scratch.run(arguments.iter().chain(&["--max-write", "1MiB"]));
    assert_eq!(refused.code, 3, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("max-write"), "{}", refused.stderr);
    let plan = scratch.run(arguments.iter().chain(&["--plan"]));
    assert!(plan.stdout.contains("  writes  2.2 MB at most\n"), "{}", plan.stdout);
    for cold in [false, true] {
        let set = format!("cold={cold}");
        let run = answer(&scratch, &[&arguments[..], &["--set", &set, "--max-write", "4MiB"]].concat());
        assert_eq!(run["bytes_written"], 32 * 65536, "{run}");
        let kept = scratch.archive().join("runs").join(run["run_id"].as_str().unwrap()).join("run.json");
        let kept: Value = serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap();
        let proof = &replay_of(&kept)["record"]["cold"];
        assert_eq!(proof["phase_read_bytes"].as_u64(), cold.then_some(32 * 65536), "{proof}");
    }
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn a_recording_that_asks_for_too_much_or_leads_outside_is_refused_before_anything_is_made() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let refused = |text: &str, more: &[&str], code: i32| {
        let file = scratch.path().join("app.strace");
        std::fs::write(&file, text).unwrap();
        let arguments = ["run", file.to_str().unwrap(), target.to_str().unwrap()];
        let ended = scratch.run(arguments.iter().chain(more));
        assert_eq!(ended.code, code, "{}{}", ended.stdout, ended.stderr);
        assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
        ended.stderr
    };
    let said = refused(&calls("/srv"), &[], 2);
    assert!(said.contains("--set root=DIRECTORY"), "{said}");
    let said = refused(&calls("/srv"), &["--set", "root=/home"], 2);
    assert!(said.contains("paths outside of /home, the first /srv/"), "{said}");
    let large = "1 100000.0 openat(AT_FDCWD, \"/w/x\", O_WRONLY|O_CREAT|O_TRUNC, 0600) = 3 <0.1>\n\
                 1 100000.1 ftruncate(3, 100000000000000) = 0 <0.1>\n";
    let said = refused(large, &["--set", "root=/w"], 3);
    assert!(said.contains("90.9 TiB"), "{said}");
    let file = scratch.path().join("app.strace");
    std::fs::write(&file, calls("/srv")).unwrap();
    let ended = scratch.run(["run", file.to_str().unwrap(), "null:", "--set", "root=/srv"]);
    assert!(ended.code == 3 && ended.stderr.contains("no file system"), "{}{}", ended.code, ended.stderr);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn what_a_command_does_to_files_is_recorded_and_done_again() {
    let scratch = Scratch::new();
    let (target, work, file) = (scratch.target(), scratch.path().join("work"), scratch.path().join("a.trace"));
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("there"), vec![7; 30_000]).unwrap();
    let script =
        "cd \"$0\" && cat there > copy && mkdir d && mv copy d/new && (cat d/new there | wc -c) && rm -r d; exit 9";
    let (root, recorded) = (work.to_str().unwrap(), file.to_str().unwrap());
    let ended = scratch.run(["trace", "--json", "-o", recorded, "--root", root, "--", "sh", "-c", script, root]);
    assert_eq!(ended.code, 9, "{}{}", ended.stdout, ended.stderr);
    let document: Value =
        serde_json::from_str(&ended.stdout).expect("one document, the command's own output beside it");
    assert!(document["schema"] == "narrows/trace/1" && document["exit_code"] == 9, "{document}");
    assert!(document["threads"].as_u64().unwrap() >= 5 && document["calls"].as_u64().unwrap() > 50, "{document}");
    assert!(ended.stderr.contains("60000"), "{}", ended.stderr);
    let arguments = ["run", recorded, target.to_str().unwrap(), "--set", "speed=max"];
    let refused = scratch.run([&arguments[..], &["--set", "outside=refuse"]].concat());
    assert!(refused.code == 2 && refused.stderr.contains("--set outside=skip"), "{}", refused.stderr);
    // The libraries of its programs lie elsewhere: one line says so.
    let planned = scratch.run([&arguments[..], &["--plan"]].concat());
    let said: String = planned.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("paths outside of {root}, the first /")), "{}", planned.stdout);
    assert!(planned.code == 0 && said.contains("left out; --set outside=map"), "{}", planned.stdout);
    let run = answer(&scratch, &arguments);
    let replay = run["plan"].to_string();
    assert!(replay.contains("\"replay_before\":[1,30000]"), "one file is there before, and is read whole: {replay}");
    assert!(replay.contains("\"replay_bytes\":[90000,30000]"), "three times read, once written: {replay}");
    assert!(replay.contains("\"rename\":1") && replay.contains("\"rmdir\":1"), "{replay}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);

    let none = scratch.run(["trace", "-o", recorded, "--", "no-such-command"]);
    assert!(none.code == 3 && none.stderr.contains("there is no command 'no-such-command'"), "{}", none.stderr);
    let lost = scratch.run(["trace", "-o", recorded, "--root", "/no/such", "--", "true"]);
    assert!(lost.code == 2 && lost.stderr.contains("--root /no/such"), "{}", lost.stderr);
    let killed = scratch.run(["trace", "-o", recorded, "--", "sh", "-c", "kill -TERM $$"]);
    assert_eq!(killed.code, 143, "{}", killed.stderr);
}
