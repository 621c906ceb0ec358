//! `narrows import`: other tools' outputs become runs that are kept, with the bytes they came from.

use crate::program::Scratch;
use std::fs;
use std::io::Write;
use std::process::Stdio;

const THREE_FORMS: &str = include_str!("../../../exchange/tests/exchange/foreign/fio/three-forms.txt");

const SMALL: &str = "\
$ ./fio --filename=/dev/sdq j.fio
old: (groupid=0, jobs=1): err= 0: pid=77: Mon Jan  4 10:00:00 2016
  read : io=800.0MB, bw=81920KB/s, iops=10240, runt= 10000msec
     lat (usec): min=10, max=4000, avg=97.50, stdev= 1.00
  cpu          : usr=1.50%, sys=2.25%, ctx=1, majf=0, minf=1

what is this line
";

#[test]
fn runs_are_kept_with_the_bytes_they_came_from() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("small.txt"), SMALL.replace('\n', "\r\n")).unwrap();
    let document = scratch.json(["import", "small.txt", "--tag", "before", "--json"], 0);
    assert_eq!(document["schema"], "narrows/import/1");
    let run = &document["runs"][0];
    assert_eq!((&run["source_format"], &run["name"]), (&"fio-text".into(), &"/dev/sdq".into()));
    let metric = |id: &str| run["metrics"].as_array().unwrap().iter().find(|m| m["id"] == id).unwrap().clone();
    let rate = metric("old.read.throughput_bytes_per_s");
    assert_eq!(rate["value"], 81_920.0 * 1024.0);
    assert_eq!((&rate["original"]["value"], &rate["original"]["unit"]), (&"81920".into(), &"KB/s".into()));
    assert_eq!((&rate["status"], &rate["better"]), (&"measured".into(), &"higher".into()));
    assert!(rate["low"].is_null() && rate["interval"].is_null(), "{rate}");
    let rest = &document["not_understood"][0];
    assert_eq!((&rest["line"], &rest["text"]), (&7.into(), &"what is this line".into()));

    let id = run["run_id"].as_str().unwrap();
    let raw = scratch.archive().join("runs").join(id).join("raw/small.txt");
    assert_eq!(fs::read(raw).unwrap(), SMALL.replace('\n', "\r\n").as_bytes());
    assert_eq!(scratch.run(["runs", "verify"]).code, 0);
    let kept = scratch.json(["runs", "show", "before", "--json"], 0);
    assert_eq!((&kept["command"], &kept["target"]["kind"]), (&"import".into(), &"foreign".into()));
    let kept = &kept["phases"][0]["metrics"];
    assert_eq!(kept[1]["reasons"][0], serde_json::json!({"code": "printed", "text": "81920 KB/s"}));

    // What was kept is covered by the checksums.
    fs::write(scratch.archive().join("runs").join(id).join("raw/small.txt"), "other").unwrap();
    assert_eq!(scratch.run(["runs", "verify"]).code, 1);
}

#[test]
fn text_is_a_table_for_each_run_and_the_rest() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("a.txt"), SMALL).unwrap();
    fs::write(scratch.path().join("b.txt"), THREE_FORMS).unwrap();
    let ended = scratch.run(["import", "a.txt", "b.txt"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    for part in ["fio-text", "fio-json (fio-3.33)", "old.read.iops", "97.50 usec", "Not understood", "a.txt:7"] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert!(ended.stdout.lines().all(|l| l.chars().count() <= 100), "{}", ended.stdout);
    let list = scratch.json(["runs", "list", "--json"], 0);
    assert_eq!(list["runs"].as_array().unwrap().len(), 2);
    assert_eq!(scratch.run(["runs", "show", "latest"]).code, 0);
    assert_eq!(scratch.run(["report", "latest"]).code, 0);
}

#[test]
fn stdin_is_a_file() {
    let scratch = Scratch::new();
    let mut child =
        scratch.command(["import", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(SMALL.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["runs"][0]["file"], "stdin");
}

#[test]
fn nothing_understood_is_4_with_the_document() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("empty"), "").unwrap();
    fs::write(scratch.path().join("binary"), b"\x7fELF\x02\x01\0\0\0").unwrap();
    fs::write(scratch.path().join("packed.gz"), [0x1f, 0x8b, 8, 0, 0]).unwrap();
    fs::write(scratch.path().join("words"), "nothing that a tool prints\n").unwrap();
    for (file, why) in [("empty", "empty"), ("binary", "not text"), ("packed.gz", "gzip"), ("words", "no known format")]
    {
        let document = scratch.json(["import", file, "--json"], 4);
        assert_eq!(document["runs"].as_array().unwrap().len(), 0);
        let rest = &document["not_understood"][0];
        assert!(rest["why"].as_str().unwrap().contains(why), "{rest}");
        let ended = scratch.run(["import", file]);
        assert_eq!(ended.code, 4);
        assert!(ended.stderr.contains("no result of a known tool"), "{}", ended.stderr);
    }
    assert_eq!(scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().unwrap().len(), 0);
    let cut = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : [\n    {\n      \"jobname\" : \"x";
    fs::write(scratch.path().join("cut"), cut).unwrap();
    let ended = scratch.run(["import", "cut"]);
    assert!(ended.stderr.contains("cut, line 5: fio's JSON ends here: the document is cut off"), "{}", ended.stderr);
    assert_eq!(ended.code, 4, "and not that no tool is known");
    // One file with a result is an answer; the others are named.
    fs::write(scratch.path().join("good"), SMALL).unwrap();
    let document = scratch.json(["import", "empty", "good", "--json"], 0);
    assert!(document["not_understood"].as_array().unwrap().iter().any(|n| n["file"] == "empty" && n["line"].is_null()));
}

#[test]
fn files_that_cannot_be_read_keep_nothing() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("good"), SMALL).unwrap();
    fs::create_dir(scratch.path().join("directory")).unwrap();
    let huge = fs::File::create(scratch.path().join("huge")).unwrap();
    huge.set_len(3 << 30).unwrap();
    for (args, code) in [
        (vec!["import", "good", "missing", "--json"], 3),
        (vec!["import", "good", "directory", "--json"], 2),
        (vec!["import", "good", "huge", "--json"], 3),
        (vec!["import", "/dev/null", "--json"], 2),
        (vec!["import", "--json"], 2),
        (vec!["import", "-", "-", "--json"], 2),
        (vec!["import", "good", "--better", "x", "--json"], 2),
    ] {
        let error = scratch.json(args.clone(), code);
        assert_eq!(error["schema"], "narrows/error/1", "{args:?}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn a_direction_can_be_told_where_the_format_has_none() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("small.txt"), SMALL).unwrap();
    let document = scratch.json(["import", "small.txt", "--better", "cpu_percent=lower", "--json"], 0);
    let metrics = document["runs"][0]["metrics"].as_array().unwrap();
    let better = |id: &str| metrics.iter().find(|m| m["id"] == id).unwrap()["better"].clone();
    assert_eq!((better("old.cpu_percent"), better("old.cpu_user_percent").is_null()), ("lower".into(), true));
    assert_eq!(better("old.read.iops"), "higher");
}

#[test]
fn commands_that_take_runs_take_a_file_of_another_tool() {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("small.txt"), SMALL).unwrap();
    let shown = scratch.json(["runs", "show", "small.txt", "--json"], 0);
    assert_eq!((&shown["run_id"], &shown["target"]["kind"]), (&"small.txt".into(), &"foreign".into()));
    assert_eq!(scratch.json(["why", "small.txt", "--json"], 4)["limit"]["layer"], "unknown");
    let exported = scratch.run(["export", "./small.txt", "--format", "csv"]);
    assert!(exported.stdout.contains(",old.read.iops,ops_per_s,higher,10240,"), "{}", exported.stdout);
    // The name of what is written has none of the directories of what was read.
    let from = scratch.path().join("small.txt");
    let exported = scratch.run(["export", from.to_str().unwrap(), "--format", "csv", "-o", "out/"]);
    assert_eq!((exported.code, exported.stdout.as_str()), (0, "out/small.txt.csv\n"), "{}", exported.stderr);
    let refused = scratch.run(["report", "small.txt"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("small.txt is no run of the archive"), "{}", refused.stderr);
    assert_eq!(scratch.run(["report", "small.txt", "-o", "page.html"]).code, 0);
    assert!(fs::read_to_string(scratch.path().join("page.html")).unwrap().contains("imported from small.txt"));
    // Nothing of it was kept; and a tag comes before a file of that name.
    assert_eq!(scratch.json(["runs", "list", "--json"], 0)["runs"].as_array().unwrap().len(), 0);
    scratch.json(["import", "small.txt", "--tag", "before", "--json"], 0);
    fs::write(scratch.path().join("before"), "nothing that a tool prints\n").unwrap();
    assert_eq!(scratch.run(["why", "before", "--json"]).code, 4);
    assert_eq!(scratch.run(["runs", "show", "before"]).code, 0);
    assert_eq!(scratch.run(["runs", "show", "./before"]).code, 4);
    // Which of several is meant cannot be told.
    fs::write(scratch.path().join("two.csv"), "target,boot_s\na,1\nb,2\n").unwrap();
    let several = scratch.run(["why", "two.csv"]);
    assert_eq!(several.code, 2, "{}", several.stderr);
    assert!(several.stderr.contains("two.csv holds 2 results"), "{}", several.stderr);
}
