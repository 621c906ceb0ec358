//! `narrows export`: what leaves, and what is refused.

use crate::program::Scratch;
use serde_json::Value;
use std::fs;

fn checked() -> Scratch {
    let scratch = Scratch::new();
    scratch.json(["check", "sim:nvme", "--seed", "1", "--json"], 0);
    scratch
}

#[test]
fn fio_json_on_stdout_is_one_document() {
    let scratch = checked();
    for format in ["fio-json", "fio-json+"] {
        let document = scratch.json(["export", "latest", "--format", format], 0);
        let jobs = document["jobs"].as_array().unwrap();
        let job = jobs.iter().find(|j| j["jobname"] == "rand-read-qd32").expect("the phase is a job");
        assert_eq!(job["job options"]["iodepth"], "32");
        assert_eq!(job["read"]["clat_ns"].get("bins").is_some(), format == "fio-json+");
        let run = scratch.json(["runs", "show", "latest", "--json"], 0);
        let metric = |document: &Value| {
            let phases = document["narrows"]["phases"].as_array().unwrap();
            let metrics = phases.iter().flat_map(|p| p["metrics"].as_array().unwrap());
            metrics.clone().find(|m| m["id"] == "rand-read-qd32.iops").unwrap()["value"].as_f64().unwrap()
        };
        assert!((job["read"]["iops"].as_f64().unwrap() - metric(&document)).abs() < 1e-3, "{run}");
    }
}

#[test]
fn a_directory_gets_files_that_belong_together() {
    let scratch = checked();
    let told = scratch.json(["export", "latest", "--format", "fio-logs", "-o", "plots", "--json"], 0);
    assert_eq!(told["action"], "export");
    scratch.json(["export", "latest", "--format", "fio-json", "-o", "plots/", "--json"], 0);
    for file in ["randread-iodepth-32-numjobs-1.json", "randread-iodepth-32-numjobs-1_iops.1.log"] {
        let path = scratch.path().join("plots/direct-4k").join(file);
        assert!(fs::metadata(&path).is_ok_and(|m| m.len() > 0), "{file}: {told}");
    }
}

#[test]
fn csv_and_hlog_go_to_stdout_or_a_file() {
    let scratch = checked();
    let csv = scratch.run(["export", "latest", "--format", "csv", "--phase", "rand-read-qd1"]);
    assert_eq!(csv.code, 0, "{}", csv.stderr);
    assert!(csv.stdout.starts_with("run,target,phase,metric,"), "{}", csv.stdout);
    assert!(csv.stdout.lines().skip(1).all(|l| l.contains(",rand-read-qd1,")), "{}", csv.stdout);
    assert_eq!(scratch.run(["export", "latest", "--format", "hlog", "-o", "run.hlog"]).code, 0);
    assert!(fs::read_to_string(scratch.path().join("run.hlog")).unwrap().contains("\nTag=rand-read-qd32,"));
    fs::create_dir(scratch.path().join("there")).unwrap();
    let named = scratch.run(["export", "latest", "--format", "csv", "-o", "there"]).stdout;
    assert!(scratch.path().join(named.trim()).is_file(), "{named}");
}

#[test]
fn many_runs_stand_in_a_csv_and_nowhere_else() {
    let scratch = checked();
    let first = scratch.json(["runs", "show", "latest", "--json"], 0)["run_id"].as_str().unwrap().to_owned();
    scratch.json(["check", "sim:nvme", "--seed", "2", "--json"], 0);
    let csv = scratch.run(["export", &first, "latest", "--format", "csv"]);
    assert!(csv.stdout.contains(&first) && csv.stdout.lines().any(|l| !l.contains(&first) && !l.starts_with("run,")));
    let error = scratch.json(["export", &first, "latest", "--format", "hlog", "-o", "x", "--json"], 2);
    assert_eq!(error["kind"], "usage");
}

#[test]
fn what_cannot_be_done_is_said() {
    let scratch = checked();
    let error = |args: &[&str], code: i32| {
        let args = [&["export"], args, &["--json"]].concat();
        let document = scratch.json(&args, code);
        assert_eq!(document["schema"], "narrows/error/1", "{args:?}");
        document["message"].as_str().unwrap().to_owned()
    };
    assert!(error(&["no-such-run", "--format", "csv", "-o", "x"], 2).contains("no-such-run"));
    assert!(error(&["latest", "--format", "parquet"], 2).contains("parquet"));
    assert!(error(&["latest", "--format", "fio-json", "--phase", "nope"], 2).contains("it has: copy, layout"));
    assert!(error(&["latest", "--format", "fio-logs"], 2).contains("needs one"));
    assert!(error(&["latest", "--format", "csv"], 2).contains("stdout is JSON"));
    assert!(error(&["latest", "--format", "iozone", "-o", "x"], 4).contains("not a grid"));
    fs::write(scratch.path().join("file"), "").unwrap();
    assert!(error(&["latest", "--format", "fio-logs", "-o", "file"], 2).contains("is a file"));
    assert!(error(&["latest", "--format", "csv", "-o", "file/x"], 3).contains("cannot write"));
}

/// A zero that stands for a refused number is said to be one, where a person looks who does not read the remarks of the document.
#[test]
fn numbers_that_are_not_in_an_export_are_said() {
    let scratch = Scratch::new();
    let args = ["run", "latency", "sim:nvme,steal=10%", "--seed", "1", "--set", "time=3s", "--format", "fio-json"];
    let ended = scratch.run(args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let document: Value = serde_json::from_str(&ended.stdout).expect("one document");
    assert_eq!(document["jobs"][0]["read"]["iops"], 0.0, "{document}");
    let said = |stderr: &str| stderr.contains("its numbers are refused (steal") && stderr.contains("--keep-refused");
    assert!(said(&ended.stderr), "{}", ended.stderr);
    assert!(said(&scratch.run(["export", "latest", "--format", "fio-json"]).stderr));
    let kept = scratch.run(["export", "latest", "--format", "fio-json", "--keep-refused"]);
    let document: Value = serde_json::from_str(&kept.stdout).expect("one document");
    assert!(document["jobs"][0]["read"]["iops"].as_f64() > Some(0.0) && !said(&kept.stderr), "{}", kept.stderr);
    let valid = scratch.run(["run", "latency", "sim:nvme", "--set", "time=3s", "--format", "fio-json"]);
    assert!(!valid.stderr.contains("refused"), "{}", valid.stderr);
}
