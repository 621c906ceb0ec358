//! Texts that a command is told to read: what never ends is refused, who waits is told so, a signal ends the waiting, and what
//! a file holds that is no workload is not printed.

use crate::program::{Ended, Scratch};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const JOB: &str = "[one]\nrw=read\nbs=4k\nsize=64m\ntime_based\nruntime=2\n";

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Runs it, and ends it where it takes longer than any answer can: then there is no exit code.
fn bounded(mut command: Command) -> Ended {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    Ended::of(child.wait_with_output().unwrap())
}

#[test]
fn what_has_no_end_is_no_workload() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink("/dev/zero", at("zero.fio")).unwrap();
    symlink("/proc/self/status", at("status.fio")).unwrap();
    let cases = [
        ("/dev/zero", "a character device"),
        ("/dev/tty", "a character device"),
        ("/proc/kmsg", "a file of the kernel"),
        ("/proc/self/status", "a file of the kernel"),
        ("/sys/kernel/uevent_seqnum", "a file of the kernel"),
        (&at("zero.fio"), "a character device"),
        (&at("status.fio"), "a file of the kernel"),
        (&at("socket"), "a socket"),
        (&at(""), "a directory"),
    ];
    for (name, word) in cases {
        if !Path::new(name).exists() {
            println!("SKIPPED: there is no {name} here");
            continue;
        }
        for arguments in [vec!["run", name, "sim:nvme"], vec!["import", name], vec!["compare", name, "latest"]] {
            if arguments[0] == "compare" && word == "a directory" {
                continue;
            }
            let ended = bounded(scratch.command(&arguments));
            assert_eq!(ended.code, 2, "{arguments:?}: {}", ended.stderr);
            assert!(ended.stderr.contains(word), "{arguments:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn an_include_is_a_file() {
    let scratch = Scratch::new();
    fifo(&scratch.path().join("pipe"));
    for (include, word) in
        [("pipe", "a pipe"), ("/proc/kmsg", "a file of the kernel"), ("/dev/zero", "a character device")]
    {
        fs::write(scratch.path().join("j.fio"), format!("[global]\ninclude {include}\n{JOB}")).unwrap();
        fs::write(scratch.path().join("j.toml"), format!("include = \"{include}\"\n")).unwrap();
        for text in ["j.fio", "j.toml"] {
            let ended = bounded(scratch.command(["run", text, "sim:nvme"]));
            assert_eq!(ended.code, 2, "{include}: {}", ended.stderr);
            assert!(ended.stderr.contains(word), "{include}: {}", ended.stderr);
        }
    }
}

/// Whether a signal does nothing to this process and those it starts: under nohup(1), in the background of a script.
fn is_ignored(signal: rustix::process::Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(mask, 16).unwrap() >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn who_waits_for_a_pipe_is_told_and_a_signal_ends_it() {
    let scratch = Scratch::new();
    let pipe = scratch.path().join("job.fio");
    fifo(&pipe);
    let named = pipe.to_str().unwrap();
    for (arguments, source) in [(["run", "-"], "stdin"), (["run", named], named), (["import", "-"], "stdin")] {
        for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM, rustix::process::Signal::HUP] {
            if is_ignored(signal) {
                println!("SKIPPED: whoever runs this test has {signal:?} ignored");
                continue;
            }
            let mut command = scratch.command(arguments);
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut said = String::new();
            let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
            std::io::BufRead::read_line(&mut errors, &mut said).unwrap();
            assert!(said.contains(source) && said.contains("a pipe"), "{arguments:?}: {said}");
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal.as_raw()), "{arguments:?}");
        }
    }
}

#[test]
fn a_pipe_that_gives_a_workload_is_read_to_its_end() {
    let scratch = Scratch::new();
    let mut child = scratch
        .command(["run", "-", "sim:nvme", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in JOB.lines() {
        writeln!(stdin, "{line}").unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(stdin);
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("run_id"), "{}", ended.stdout);
    let job = scratch.path().join("job.fio");
    fifo(&job);
    let writer = std::thread::spawn({
        let job = job.clone();
        move || fs::write(job, JOB).unwrap()
    });
    let ended = bounded(scratch.command(["run", job.to_str().unwrap(), "sim:nvme"]));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    writer.join().unwrap();
}

/// A file of secrets in many forms; none of them may be printed or kept.
const SECRETS: &str = "root:$6$Sa1tSa1t$0123456789abcdef:19000:0:99999:7:::
hunter2
password=correct-horse
size=tr0ub4dor
[s3ction-secret
=equals-secret
${unclosed-secret
time_based=${variable-secret
rw=mode-secret
";

#[test]
fn an_included_file_that_is_no_workload_is_not_printed() {
    let scratch = Scratch::new();
    let secrets = ["$6$", "Sa1t", "hunter2", "correct-horse", "tr0ub4dor", "s3ction", "equals-secret", "-secret"];
    let silent = |ended: &Ended, case: &str| {
        for secret in secrets {
            assert!(!ended.stderr.contains(secret) && !ended.stdout.contains(secret), "{case}: {}", ended.stderr);
        }
        assert!(ended.stderr.contains("shadow:"), "{case}: file and line are named: {}", ended.stderr);
    };
    // Each line alone, so that no other error comes before it; and all of them.
    let lines: Vec<String> = SECRETS.lines().map(|l| format!("{l}\n")).chain([SECRETS.to_owned()]).collect();
    for (i, line) in lines.iter().enumerate() {
        fs::write(scratch.path().join("shadow"), line).unwrap();
        for (name, text) in [
            ("in.fio", format!("[global]\ninclude shadow\n{JOB}")),
            ("first.fio", format!("include shadow\n{JOB}")),
            ("in.toml", "include = \"shadow\"\n[[phase]]\nname = \"a\"\n".to_owned()),
        ] {
            fs::write(scratch.path().join(name), text).unwrap();
            let ended = scratch.run(["run", name, "sim:nvme"]);
            assert_eq!(ended.code, 2, "{name}, line {i}: {}", ended.stderr);
            silent(&ended, &format!("{name}, line {i}"));
        }
        // Left out with a remark, which the run keeps.
        let ended = scratch.run(["run", "in.fio", "sim:nvme", "--lenient", "--json"]);
        for secret in secrets {
            let said = ended.stdout.contains(secret) || ended.stderr.contains(secret);
            assert!(!said, "--lenient, line {i}: {}{}", ended.stdout, ended.stderr);
        }
    }
    // A file of one's own that is none: its lines are no keys.
    fs::write(scratch.path().join("shadow"), SECRETS.lines().next().unwrap()).unwrap();
    silent(&scratch.run(["run", "./shadow", "sim:nvme"]), "the text itself");
}

#[test]
fn a_slip_in_an_included_file_is_still_named() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("part.fio"), "iodepht=4\nbs=4q\n").unwrap();
    fs::write(scratch.path().join("j.fio"), format!("[global]\ninclude part.fio\n{JOB}")).unwrap();
    let ended = scratch.run(["run", "j.fio", "sim:nvme"]);
    assert!(ended.stderr.contains("part.fio:1: iodepht") && ended.stderr.contains("iodepth"), "{}", ended.stderr);
    assert!(ended.stderr.contains("part.fio:2: bs"), "{}", ended.stderr);
}
