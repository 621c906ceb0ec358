//! `narrows site`: verified bundles of many machines as pages, only what changed, nothing that identifies, nothing that acts.

use crate::program::{Ended, Scratch};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Archives of two machines below `fleet`.
fn fleet(scratch: &Scratch) -> PathBuf {
    let fleet = scratch.path().join("fleet");
    for (machine, device) in [("one", "sim:nvme"), ("two", "sim:sata-ssd"), ("two", "sim:nvme")] {
        let job = ["run", "--rw", "randread", "--bs", "4k", "--runtime", "1", "--size", "16m", device, "--archive"];
        let ended = Ended::of(scratch.command(job).arg(fleet.join(machine)).output().unwrap());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    fleet
}

fn site(scratch: &Scratch, fleet: &Path, more: &[&str], code: i32) -> Value {
    let out = scratch.path().join("site");
    let all = [Path::new("site"), fleet, Path::new("-o"), &out, Path::new("--json")];
    scratch.json(all.into_iter().chain(more.iter().map(Path::new)), code)
}

/// Everything below a directory that is a page.
fn pages(directory: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "html") {
                let name = path.strip_prefix(directory).unwrap().display().to_string();
                all.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    all
}

fn bundles(fleet: &Path) -> Vec<PathBuf> {
    let runs = ["one", "two"].map(|m| fs::read_dir(fleet.join(m).join("runs")).unwrap().flatten().collect::<Vec<_>>());
    let mut all: Vec<PathBuf> = runs.into_iter().flatten().map(|e| e.path()).collect();
    all.retain(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'));
    all.sort();
    all
}

#[test]
fn what_changed_is_read_and_written_and_what_is_damaged_is_listed_apart() {
    let scratch = Scratch::new();
    let fleet = fleet(&scratch);
    let first = site(&scratch, &fleet, &[], 0);
    assert_eq!((&first["runs"], &first["read"], &first["devices"]), (&3.into(), &3.into(), &2.into()), "{first}");
    assert!(first["problems"].as_array().unwrap().is_empty() && first["written"].as_u64() >= first["pages"].as_u64());
    let out = scratch.path().join("site");
    let before = pages(&out);
    assert!(
        before.keys().any(|p| p.starts_with("device/nvme-solid-state-drive")) && before.contains_key("search.html")
    );
    // Nobody takes a model of a device for one that was measured.
    assert!(before["devices.html"].contains("NVMe solid-state drive, 1 TB (simulated)"), "{}", before["devices.html"]);
    let again = site(&scratch, &fleet, &[], 0);
    assert_eq!((&again["read"], &again["written"], &again["removed"]), (&0.into(), &0.into(), &0.into()), "{again}");

    // One is damaged: it is said, without a path, and nothing of it is counted.
    let all = bundles(&fleet);
    fs::write(all[0].join("system.csv"), "altered").unwrap();
    let third = site(&scratch, &fleet, &[], 0);
    assert_eq!((&third["read"], &third["runs"]), (&1.into(), &2.into()), "{third}");
    let why = third["problems"][0]["why"].as_str().unwrap();
    assert!(why.contains("altered: system.csv") && !why.contains(fleet.to_str().unwrap()), "{why}");
    let id = all[0].file_name().unwrap().to_str().unwrap();
    assert!(pages(&out)["not-counted.html"].contains(id));
    assert!(third["written"].as_u64() > Some(0) && third["written"].as_u64() < third["pages"].as_u64(), "{third}");

    // A run that lies twice counts once; without the last of a device its page goes.
    let copy = fleet.join("copies").join(all[1].file_name().unwrap());
    fs::create_dir_all(&copy).unwrap();
    for file in fs::read_dir(&all[1]).unwrap().flatten() {
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let twice = site(&scratch, &fleet, &[], 0);
    assert_eq!((&twice["runs"], &twice["duplicates"]), (&2.into(), &1.into()), "{twice}");
    fs::remove_dir_all(fleet.join("two")).unwrap();
    let fewer = site(&scratch, &fleet, &[], 0);
    assert!(fewer["removed"].as_u64() > Some(0), "{fewer}");
}

#[test]
fn names_are_replaced_unless_asked_for_and_hostile_ones_stay_text() {
    let scratch = Scratch::new();
    let fleet = fleet(&scratch);
    let hostile = "zz<script>alert(7)</script>";
    for bundle in bundles(&fleet) {
        let run = fs::read_to_string(bundle.join("run.json")).unwrap();
        let run = run.replace("\"hostname\": \"simulated\"", "\"hostname\": \"secret-host-7\"");
        let run = run.replace("\"name\": \"command line\"", &format!("\"name\": \"{hostile}\""));
        fs::write(bundle.join("run.json"), run).unwrap();
        let sums = scratch
            .around("sh")
            .args(["-c", "sha256sum $(ls | grep -v SHA256SUMS) > SHA256SUMS"])
            .current_dir(&bundle)
            .status();
        assert!(sums.unwrap().success());
    }
    let made = site(&scratch, &fleet, &[], 0);
    assert_eq!((&made["runs"], &made["machines"]), (&3.into(), &1.into()), "{made}");
    let out = scratch.path().join("site");
    for (path, html) in pages(&out) {
        assert!(!html.contains("secret-host-7") && !html.contains("0x51a7"), "{path}");
        assert!(!html.contains("<script>alert") && html.contains("default-src 'none'"), "{path}");
    }
    assert!(pages(&out).values().any(|html| html.contains("zz&lt;script&gt;")));
    site(&scratch, &fleet, &["--identify"], 0);
    assert!(pages(&out).values().any(|html| html.contains("secret-host-7")));
}

#[test]
fn nothing_that_is_no_site_is_written_over() {
    let scratch = Scratch::new();
    let fleet = fleet(&scratch);
    let out = scratch.path().join("site");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.txt"), "mine").unwrap();
    let refused = site(&scratch, &fleet, &[], 3);
    assert!(refused["message"].as_str().unwrap().contains("no site of narrows"), "{refused}");
    // A marker that somebody else wrote takes away pages of a site at most.
    fs::write(out.join("narrows-site.json"), r#"{"schema":"x","pages":["thesis.txt","../fleet","a/../../x.html"]}"#)
        .unwrap();
    site(&scratch, &fleet, &[], 0);
    assert_eq!(fs::read_to_string(out.join("thesis.txt")).unwrap(), "mine");
    std::os::unix::fs::symlink("/etc/hostname", out.join("uses2.html")).unwrap();
    fs::remove_file(out.join("uses.html")).unwrap();
    std::os::unix::fs::symlink(scratch.path().join("elsewhere"), out.join("uses.html")).unwrap();
    let linked = site(&scratch, &fleet, &[], 3);
    assert!(linked["message"].as_str().unwrap().contains("is a link"), "{linked}");
    assert!(!scratch.path().join("elsewhere").exists());
    let nothing = scratch.run([Path::new("site"), &scratch.target(), Path::new("-o"), &out]);
    assert!(nothing.code == 2 && nothing.stderr.contains("there is no run in"), "{}", nothing.stderr);
}
