//! What can be wrong, and what is said then.

use crate::program::Scratch;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

/// Asserts exit code, kind of error, and a word of the message; and that there is a remedy.
fn refused(scratch: &Scratch, args: &[&str], code: i32, kind: &str, word: &str) {
    let mut with_json = args.to_vec();
    with_json.push("--json");
    let document = scratch.json(&with_json, code);
    assert_eq!(document["schema"], "narrows/error/1");
    assert_eq!(document["kind"], kind, "{document}");
    assert!(document["message"].as_str().unwrap().contains(word), "{document}");
    assert!(document["remedy"].as_str().is_some_and(|r| !r.is_empty()), "{document}");
    let text = scratch.run(args);
    assert_eq!(text.code, code);
    assert!(text.stdout.is_empty(), "errors go to stderr: {}", text.stdout);
    assert!(text.stderr.contains(word), "{}", text.stderr);
    assert!(!scratch.archive().join("runs").exists(), "nothing was measured, so nothing is kept");
}

#[test]
fn things_that_are_no_targets() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    refused(&scratch, &["check", &at("missing")], 3, "environment", "no such file");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    refused(&scratch, &["check", &at("fifo")], 3, "refused", "FIFO");
    let _socket = UnixListener::bind(at("socket")).unwrap();
    refused(&scratch, &["check", &at("socket")], 3, "refused", "socket");
    refused(&scratch, &["check", "/dev/null"], 3, "refused", "character device");
    std::fs::write(at("eight"), b"8 bytes!").unwrap();
    refused(&scratch, &["check", &at("eight")], 3, "refused", "8 bytes");
    assert_eq!(std::fs::read(at("eight")).unwrap(), b"8 bytes!");
}

#[test]
fn a_directory_without_write_permission() {
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere; the same answer comes from a file system that is read-only by nature.
        let scratch = Scratch::new();
        refused(&scratch, &["check", "/sys"], 3, "environment", "permission");
        return;
    }
    let scratch = Scratch::new();
    let target = scratch.target();
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o555)).unwrap();
    refused(&scratch, &["check", target.to_str().unwrap()], 3, "environment", "permission");
}

#[test]
fn budgets() {
    let scratch = Scratch::new();
    refused(&scratch, &["check", "sim:nvme", "--budget", "0"], 2, "usage", "budget");
    refused(&scratch, &["check", "sim:nvme", "--budget", "soon"], 2, "usage", "budget");
}

#[test]
fn simulated_devices_that_do_not_exist() {
    let scratch = Scratch::new();
    for (target, word) in [
        ("sim:a2-card", "a2-card-no-queue"),
        ("sim:nvme,jitters=1", "jitter"),
        ("sim:nvme,jitter=much", "jitter"),
        ("sim:", "known"),
    ] {
        let document = scratch.json(["check", target, "--json"], 2);
        assert!(document["message"].as_str().unwrap().contains(word), "{document}");
    }
}

#[test]
fn options_that_do_not_fit_the_target() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().unwrap();
    assert_eq!(scratch.json(["check", target, "--overwrite", "--json"], 2)["kind"], "usage");
    assert_eq!(scratch.json(["check", target, "--destroy", "x", "--json"], 2)["kind"], "usage");
    assert_eq!(scratch.json(["check", "--no-such-option", "--json"], 2)["schema"], "narrows/error/1");
    assert_eq!(scratch.run(["frobnicate"]).code, 2);
}

#[test]
fn an_archive_that_cannot_be_written() {
    let scratch = Scratch::new();
    std::fs::write(scratch.archive(), "a file").unwrap();
    let document = scratch.json(["check", "sim:nvme", "--json"], 3);
    assert_eq!(document["kind"], "environment");
    assert!(document["remedy"].as_str().unwrap().contains("--archive"), "{document}");
}

#[test]
fn a_page_that_could_not_be_written_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    refused(&scratch, &["check", "sim:nvme", "--report", "/no/such/place.html"], 3, "environment", "place.html");
    let directory = scratch.target();
    refused(&scratch, &["check", "sim:nvme", "--report", directory.to_str().unwrap()], 3, "environment", "directory");
    let page = scratch.path().join("page.html");
    let document = scratch.json(["check", "sim:nvme", "--report", "page.html", "--json"], 0);
    assert_eq!(document["report"], page.to_str().unwrap(), "absolute, for people who stand elsewhere");
    assert!(page.exists());
}

#[test]
fn a_tag_that_is_none_is_refused_before_anything_is_measured() {
    let scratch = Scratch::new();
    refused(&scratch, &["check", "sim:nvme", "--tag=no good"], 2, "usage", "tag");
}

#[test]
fn findings_and_runs_that_do_not_exist() {
    let scratch = Scratch::new();
    assert_eq!(scratch.json(["explain", "no-such-finding", "--json"], 2)["kind"], "usage");
    let near = scratch.json(["explain", "a20_sata", "--json"], 2);
    assert!(near["remedy"].as_str().is_some_and(|r| r.contains("a20-sata-fifo")), "{near}");
    assert_eq!(scratch.json(["runs", "show", "20200101T000000Z-00000000", "--json"], 2)["kind"], "usage");
    assert_eq!(scratch.run(["runs"]).code, 0, "an archive without runs is not an error");
}

#[test]
fn a_full_stdout_is_no_success() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        println!("SKIPPED: no /dev/full here");
        return;
    };
    let scratch = Scratch::new();
    for args in [["check", "sim:nvme", "--json"].as_slice(), &["explain"], &["completions", "bash"]] {
        let mut command = scratch.command(args);
        let output = command.stdout(full.try_clone().unwrap()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {stderr}");
        assert!(stderr.contains("stdout") && !stderr.contains("panicked"), "{args:?}: {stderr}");
    }
    assert_eq!(scratch.json(["runs", "--json"], 0)["runs"].as_array().unwrap().len(), 1, "the run is kept");
}

/// Every command of README.md with an argument that is wrong: what is wrong, and what to do, and no more than that.
#[test]
fn wrong_arguments_are_told_with_a_remedy() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let dir = target.to_str().unwrap();
    let wrong: [(&[&str], i32); 33] = [
        (&["check", "/no/card", "--for", "root-fs"], 3),
        (&["check", dir, "--for", "cooking"], 2),
        (&["check", dir, "--for", "video=V31"], 2),
        (&["check", dir, "--budget", "x"], 2),
        (&["check", dir, "--max-write", "1XB"], 2),
        (&["check", "sim:a1"], 2),
        (&["check", "sim:a1-card,bogus=3"], 2),
        (&["compare", "before", "after", "--fail-on", "worse"], 2),
        (&["compare", "--repeat", "6", &format!("latency {dir}"), "--with", "foo=1,2"], 2),
        (&["rate", "/dev/no-such", "--destroy", "S3R1", "--capacity", "quick"], 3),
        (&["rate", dir, "--capacity", "quick"], 3),
        (&["rate", "sim:a1-card", "--class", "Z9"], 2),
        (&["record", "plan", "/no/card", "--streams", "4x16Mbit"], 3),
        (&["record", "plan", "sim:a1", "--streams", "4x16Mbit"], 2),
        (&["record", "plan", "sim:a1-card", "--streams", "4"], 2),
        (&["record", "plan", "sim:a1-card", "--for", "0s"], 2),
        (&["record", "plan", "sim:a1-card", "--max-write", "0"], 2),
        (&["record", "plan", "sim:a1-card", "--max-write", "x"], 2),
        (&["tune", "/dev/no-such", "--for", "buffered-read"], 3),
        (&["tune", dir, "--for", "nothing"], 2),
        (&["run", "packages", "/no/card"], 3),
        (&["run", "packges", dir], 2),
        (&["rank", "/no/card-a", "/no/card-b"], 2),
        (&["rank", "sim:a1-card", "sim:nvme"], 2),
        (&["rank", dir, "/tmp"], 2),
        (&["soak", "/no/card", "--for", "8h"], 3),
        (&["soak", dir, "--for", "x"], 2),
        (&["soak", dir, "--size", "0"], 3),
        (&["fill", "sim:a1-card", "--size", "0"], 2),
        (&["runs", "wear", "no-such-disk"], 2),
        (&["inspect", "no-such-disk"], 2),
        (&["explain", "no-such-finding"], 2),
        (&["why", "no-such-run"], 2),
    ];
    for (args, code) in wrong {
        let ended = scratch.run(args);
        let text = ended.stderr.as_str();
        // What stands before it is a text that was made of the options.
        let told: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("narrows: ")).collect();
        assert!(ended.code == code && told.len() >= 2, "{args:?}: {} {text}", ended.code);
        assert!(!text.contains("os error") && !text.contains("panicked"), "{args:?}: {text}");
        assert!(told[1].starts_with("  ") && !told[1].trim().is_empty(), "{args:?}: no remedy: {text}");
        let error = scratch.json([args, &["--json"]].concat(), code);
        assert!(error["schema"] == "narrows/error/1" && error["remedy"].is_string(), "{args:?}: {error}");
    }
}
