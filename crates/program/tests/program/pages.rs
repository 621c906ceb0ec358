//! What a page says of a machine and its people: nothing that identifies, unless that is asked for.

use crate::program::Scratch;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Texts that must not be on a page, each put where a real run has it.
const SECRETS: [&str; 15] = [
    "vault-of-alice",
    "4f1c2d3e-aaaa-bbbb-cccc-0123456789ab",
    "S3Z9NB0K123456",
    "0b3c1d2e-1111-2222-3333-444455556666",
    "alice",
    "b8:27:eb:01:02:03",
    "wlp3s0",
    "HomeNetwork",
    "192.168.7.9",
    "5000c500a1b2c3d4",
    "hunter2",
    "nas.internal",
    "4C530001230615",
    "CRYPTKEY",
    "/home/alice",
];

/// A run as a machine with all of that makes it; its id.
fn made(scratch: &Scratch, host: &str) -> String {
    let document = scratch.json(["check", "sim:nvme", "--json", "--budget", "20s"], 0);
    let id = document["run_id"].as_str().unwrap().to_owned();
    let bundle = scratch.archive().join("runs").join(&id);
    let mut run: serde_json::Value = serde_json::from_slice(&fs::read(bundle.join("run.json")).unwrap()).unwrap();
    run["environment"]["hostname"] = host.into();
    run["environment"]["boot_id"] = "4f1c2d3e-aaaa-bbbb-cccc-0123456789ab".into();
    run["sessions"][0]["boot_id"] = "4f1c2d3e-aaaa-bbbb-cccc-0123456789ab".into();
    run["environment"]["kernel_command_line"] =
        "root=UUID=0b3c1d2e-1111-2222-3333-444455556666 quiet ip=192.168.7.9 cryptdevice=CRYPTKEY hunter2 nvme_core.io_timeout=5".into();
    run["target"]["name"] = "/home/alice/disk.img".into();
    run["target"]["path"] = "/home/alice/disk.img".into();
    run["target"]["stack"]["mount"] = serde_json::json!({"fstype": "nfs4", "mount_point": "/home/alice", "source": "nas.internal:/export",
        "options": ["rw", "addr=192.168.7.9", "username=alice"], "read_only": false});
    let layer = &mut run["target"]["stack"]["layers"][0];
    layer["facts"]["serial"] = "S3Z9NB0K123456".into();
    layer["facts"]["wwid"] = "naa.5000c500a1b2c3d4".into();
    run["remarks"] = serde_json::json!([
        format!("the disk S3Z9NB0K123456 of {host} answers as naa.5000c500a1b2c3d4"),
        "a temporary file in /home/alice/x is used in its place",
    ]);
    fs::write(bundle.join("run.json"), run.to_string()).unwrap();
    let log = "[1.0] <6> wlp3s0: authenticate with b8:27:eb:01:02:03\n[1.1] <6> SSID HomeNetwork\n[1.2] <6> usb 1-1: SerialNumber: \
               4C530001230615\n[1.3] <3> nvme nvme0: I/O 7 QID 1 timeout, aborting\n[1.4] <6> request from 192.168.7.9 by nas.internal\n";
    fs::write(bundle.join("kernel.log"), log).unwrap();
    id
}

fn pages(scratch: &Scratch, a: &str, b: &str, identify: bool) -> Vec<(String, String)> {
    let commands =
        [vec!["report", a, "-o"], vec!["report", a, b, "-o"], vec!["compare", a, b, "-o"], vec!["rank", a, b, "-o"]];
    let mut pages: Vec<(String, String)> = commands
        .iter()
        .enumerate()
        .map(|(i, command)| {
            let page = scratch.path().join(format!("page-{i}-{identify}.html"));
            let more = if identify { &["--identify"][..] } else { &[] };
            let ended =
                scratch.run(command.iter().copied().chain([page.to_str().unwrap()]).chain(more.iter().copied()));
            assert_eq!(ended.code, 0, "{command:?}: {}", ended.stderr);
            (command.join(" "), fs::read_to_string(page).unwrap())
        })
        .collect();
    let more = if identify { &["--identify"][..] } else { &[] };
    let ended = scratch.run(["report", a].iter().copied().chain(more.iter().copied()));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    pages.push(("report".into(), fs::read_to_string(PathBuf::from(ended.stdout.trim())).unwrap()));
    pages
}

#[test]
fn a_page_does_not_say_what_identifies_unless_it_is_asked_to() {
    let scratch = Scratch::new();
    let (a, b) = (made(&scratch, "vault-of-alice"), made(&scratch, "second-host"));
    // Two targets, so that they can be ranked.
    let second = scratch.archive().join("runs").join(&b).join("run.json");
    let other = fs::read_to_string(&second).unwrap().replace("/home/alice/disk.img", "/home/alice/other.img");
    fs::write(&second, other).unwrap();
    for (command, html) in pages(&scratch, &a, &b, false) {
        for secret in SECRETS {
            assert!(!html.contains(secret), "{command} says {secret}");
        }
        assert!(html.contains("disk.img") || html.contains(&a), "{command}: what it is about stays");
    }
    let kept = pages(&scratch, &a, &b, true);
    for secret in SECRETS.iter().filter(|s| **s != "HomeNetwork") {
        assert!(kept.iter().any(|(_, html)| html.contains(secret)), "{secret} is on no page with --identify");
    }
    let report = &pages(&scratch, &a, &b, false)[0].1;
    for stays in [
        "QID 1 timeout",
        "nvme_core.io_timeout=5",
        "/home/user/disk.img",
        "--identify keeps them",
        "lines about networks",
    ] {
        assert!(report.contains(stays), "{stays}");
    }
    // Two machines stay two on one page, and one of them the same on all of it.
    let several = &pages(&scratch, &a, &b, false)[1].1;
    let names: std::collections::BTreeSet<&str> =
        several.match_indices("host-").filter_map(|(at, _)| several.get(at..at + 9)).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn the_page_of_a_new_run_and_the_archive_are_private_and_redacted() {
    let scratch = Scratch::new();
    let (page, with) = (scratch.path().join("page.html"), scratch.path().join("with.html"));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    fs::write(scratch.path().join("job.fio"), "[j]\nrw=write\nbs=64k\nsize=4m\nruntime=1\n").unwrap();
    let target = scratch.target();
    // Whether so short a measurement stands is not asked; it is a run of this machine.
    let ended = scratch.run(["run", "job.fio", target.to_str().unwrap(), "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let id = document["run_id"].as_str().unwrap();
    let own = fs::read_to_string(scratch.archive().join(format!("reports/{id}.html"))).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| "unknown".into());
    scratch.json(["report", id, "--json", "-o", page.to_str().unwrap()], 0);
    scratch.json(["report", id, "--json", "--identify", "-o", with.to_str().unwrap()], 0);
    let (page, with) = (fs::read_to_string(page).unwrap(), fs::read_to_string(with).unwrap());
    assert!(with.contains(boot.trim()) && !page.contains(boot.trim()) && !own.contains(boot.trim()));
    assert!(with.contains(&format!("<dd>{host}</dd>")) && !page.contains(&format!(">{host}<")));
    let mut left = vec![scratch.archive()];
    while let Some(path) = left.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        assert_eq!(mode, if metadata.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
        if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        }
    }
}

#[test]
fn a_machine_that_is_called_like_a_word_of_the_form_has_a_page() {
    let scratch = Scratch::new();
    for host in ["measured", "disk", "sim", "seq-read", "read", "null", "complete", "0"] {
        let id = made(&scratch, host);
        let page = scratch.path().join(format!("{host}.html"));
        assert_eq!(scratch.run(["report", &id, "-o", page.to_str().unwrap()]).code, 0, "{host}");
        let html = fs::read_to_string(page).unwrap();
        assert!(!html.contains(&format!("<dd>{host}</dd>")), "{host}");
        assert!(html.contains("seq-read") && !html.contains("4f1c2d3e"), "{host}");
    }
}
