//! What is written for the user goes to files and pipes, never to a device, whatever the name is.

use crate::program::{BINARY, Ended, Scratch};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// An archive with two runs, and every command that writes a file.
fn two_runs() -> (Scratch, Vec<Vec<String>>) {
    let scratch = Scratch::new();
    let run = |seed: &str| {
        let document = scratch.json(["check", "sim:a1-card", "--json", "--budget", "20s", "--seed", seed], 0);
        document["run_id"].as_str().unwrap().to_owned()
    };
    let (a, b) = (run("1"), run("2"));
    let second = scratch.archive().join("runs").join(&b).join("run.json");
    let other = fs::read_to_string(&second).unwrap().replace("sim:a1-card", "sim:other");
    fs::write(&second, other).unwrap();
    let commands = [
        vec!["report", &a, "-o"],
        vec!["report", &a, &b, "-o"],
        vec!["compare", &a, &b, "-o"],
        vec!["rank", &a, &b, "-o"],
        vec!["check", "sim:a1-card", "--budget", "20s", "--report"],
        vec!["run", "depth", "sim:a1-card", "--set", "time=1s", "--report"],
        vec!["export", &a, "--format", "csv", "-o"],
        vec!["export", &a, "--format", "fio-json", "-o"],
        vec!["export", &a, "--format", "hlog", "-o"],
        vec!["inspect", "--capture"],
    ];
    let owned = commands.iter().map(|c| c.iter().map(|w| (*w).to_owned()).collect()).collect();
    (scratch, owned)
}

fn with(scratch: &Scratch, command: &[String], output: &Path) -> Ended {
    let mut command = command.to_vec();
    command.push(output.to_str().unwrap().to_owned());
    scratch.run(command)
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn no_output_goes_to_a_device() {
    let (scratch, commands) = two_runs();
    let link = scratch.path().join("link");
    symlink("/dev/full", &link).unwrap();
    let twice = scratch.path().join("twice");
    symlink("link", &twice).unwrap();
    let socket = scratch.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let devices = [Path::new("/dev/null"), Path::new("/dev/full"), &link, &twice, &socket];
    for command in &commands {
        for device in devices {
            let ended = with(&scratch, command, device);
            assert_eq!(ended.code, 3, "{command:?} {}: {}{}", device.display(), ended.stdout, ended.stderr);
            let said = ended.stderr.contains("is a character device")
                || ended.stderr.contains("is a socket")
                || ended.stderr.contains("is there already");
            assert!(said, "{command:?} {}: {}", device.display(), ended.stderr);
        }
    }
    let runs = fs::read_dir(scratch.archive().join("runs")).unwrap().count();
    assert_eq!(runs, 2, "a check whose page has no place measures nothing");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn links_to_nothing_and_directories_are_refused_and_nothing_is_created() {
    let (scratch, commands) = two_runs();
    let (dangling, aim) = (scratch.path().join("dangling"), scratch.path().join("aim"));
    symlink(&aim, &dangling).unwrap();
    for command in &commands {
        let ended = with(&scratch, command, &dangling);
        assert_eq!(ended.code, 3, "{command:?}: {}", ended.stderr);
        assert!(!aim.exists(), "{command:?}");
        // An export into a directory is one file of its own name.
        if command[0] != "export" {
            assert_eq!(with(&scratch, command, scratch.path()).code, 3, "{command:?}");
        }
        assert_eq!(with(&scratch, command, &scratch.path().join("no/such/file")).code, 3, "{command:?}");
    }
}

#[test]
fn a_file_is_private_when_new_and_keeps_its_links_and_mode_when_it_was_there() {
    let (scratch, commands) = two_runs();
    for (i, command) in commands.iter().enumerate() {
        let path = scratch.path().join(format!("new-{i}"));
        let ended = with(&scratch, command, &path);
        assert_eq!(ended.code, 0, "{command:?}: {}", ended.stderr);
        let new = fs::metadata(&path).unwrap();
        assert_eq!(new.permissions().mode() & 0o777, 0o600, "{command:?}");
        assert!(new.len() > 100, "{command:?}");
        if command[0] == "inspect" {
            continue;
        }
        let (old, linked) = (scratch.path().join(format!("old-{i}")), scratch.path().join(format!("linked-{i}")));
        fs::write(&old, "x".repeat(8 << 20)).unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&old, &linked).unwrap();
        assert_eq!(with(&scratch, command, &linked).code, 0, "{command:?}");
        let there = fs::metadata(&old).unwrap();
        assert!(linked.is_symlink() && there.len() < 8 << 20, "{command:?}: what was longer is cut off");
        assert_eq!(there.permissions().mode() & 0o777, 0o640, "{command:?}");
    }
}

#[test]
fn a_pipe_takes_an_output_and_one_that_nobody_reads_does_not_wait() {
    let (scratch, commands) = two_runs();
    let pipe = scratch.path().join("pipe");
    fifo(&pipe);
    for command in commands.iter().filter(|c| c[0] != "inspect") {
        let ended = with(&scratch, command, &pipe);
        assert_eq!(ended.code, 3, "{command:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("no process reads this pipe"), "{command:?}: {}", ended.stderr);
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read(pipe).unwrap())
        };
        // The reader has to be there first; it waits in open(2) until then.
        let mut tries = 0;
        let ended = loop {
            let ended = with(&scratch, command, &pipe);
            tries += 1;
            if ended.code != 3 || tries == 100 {
                break ended;
            }
        };
        assert_eq!(ended.code, 0, "{command:?}: {}", ended.stderr);
        assert!(reader.join().unwrap().len() > 100, "{command:?}");
    }
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn a_name_of_stdout_is_where_stdout_goes() {
    let (scratch, commands) = two_runs();
    let export = commands.iter().find(|c| c.contains(&"csv".to_owned())).unwrap();
    let direct = scratch.run(&export[..export.len() - 1]).stdout;
    for name in ["-", "/dev/stdout", "/proc/self/fd/1"] {
        let ended = with(&scratch, export, Path::new(name));
        assert_eq!(ended.code, 0, "{name}: {}", ended.stderr);
        assert!(ended.stdout.starts_with(&direct), "{name}: {}", ended.stdout);
    }
    assert!(!scratch.path().join("-").exists());
    for command in commands.iter().filter(|c| c[0] != "export" && c[0] != "inspect") {
        let ended = with(&scratch, command, Path::new("-"));
        assert_eq!(ended.code, 2, "{command:?}: {}", ended.stderr);
    }
}

#[test]
fn a_full_disk_leaves_no_half_file() {
    let (scratch, commands) = two_runs();
    for (i, command) in commands.iter().enumerate() {
        // RLIMIT_FSIZE stops a write as a full disk does, for anyone.
        let output: PathBuf = scratch.path().join(format!("short-{i}"));
        let narrows = scratch.command(command.iter().map(String::as_str).chain([output.to_str().unwrap()]));
        let args: Vec<_> = narrows.get_args().map(std::ffi::OsStr::to_owned).collect();
        if matches!(command[0].as_str(), "check" | "run") {
            continue;
        }
        let mut limited = scratch.around("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", BINARY]).args(args);
        let ended = Ended::of(limited.output().unwrap());
        assert_eq!(ended.code, 3, "{command:?}: {}{}", ended.stdout, ended.stderr);
        assert!(!output.exists(), "{command:?}");
    }
}

/// A run that was measured and shown is no run that could not begin.
#[test]
fn what_is_measured_and_cannot_be_kept_is_told_from_what_could_not_run() {
    let scratch = Scratch::new();
    let narrows = scratch.command(["run", "latency", "sim:nvme", "--set", "time=1s"]);
    let args = narrows.get_args().map(std::ffi::OsStr::to_owned);
    let limited = |blocks: &str, args: &[std::ffi::OsString]| {
        let mut limited = scratch.around("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"", "sh", blocks, BINARY]).args(args);
        Ended::of(limited.output().unwrap())
    };
    let args: Vec<std::ffi::OsString> = args.collect();
    // The bundle fits into 100 kB, and its page does not.
    let kept_in_part = limited("200", &args);
    assert_eq!(kept_in_part.code, 4, "{}{}", kept_in_part.stdout, kept_in_part.stderr);
    assert!(kept_in_part.stdout.contains("IOPS"), "{}", kept_in_part.stdout);
    // Nothing fits at all: it does not begin.
    let refused = limited("0", &args);
    assert!(refused.code == 3 && refused.stdout.is_empty(), "{}{}", refused.stdout, refused.stderr);
}
