//! `narrows run`: workloads of three languages through the whole program.

use crate::program::Scratch;
use serde_json::Value;

const BUILT_IN: [&str; 10] =
    ["check", "sweep", "depth", "mix", "steady", "kdiskmark", "fill", "bursts", "latency", "stream"];

fn phases(document: &Value) -> &Vec<Value> {
    document["phases"].as_array().expect("phases")
}

/// The value of a metric of any phase; panics where there is none of this id.
fn value(document: &Value, id: &str) -> Option<f64> {
    let all = || phases(document).iter().flat_map(|p| p["metrics"].as_array().expect("metrics"));
    all().find(|m| m["id"] == id).unwrap_or_else(|| {
        let ids: Vec<&str> = all().filter_map(|m| m["id"].as_str()).collect();
        panic!("no {id} in {ids:?}")
    })["value"]
        .as_f64()
}

fn file(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path().join(name);
    std::fs::write(&path, text).expect("a text");
    path.to_str().expect("a path of ours").to_owned()
}

#[test]
fn every_built_in_workload_runs_on_a_simulated_card() {
    let scratch = Scratch::new();
    for name in BUILT_IN {
        let document = scratch.json(["run", name, "sim:a1-card", "--json", "--seed", "1"], 0);
        assert_eq!(document["schema"], "narrows/run/1", "{name}");
        assert_eq!(document["state"], "complete", "{name}");
        assert_eq!(document["target"]["kind"], "sim", "{name}");
        let measured = phases(&document).iter().filter(|p| p["status"] == "measured" && p["name"] != "layout").count();
        assert!(measured > 0, "{name}");
    }
}

#[test]
fn a_run_is_kept_listed_and_exported() {
    let scratch = Scratch::new();
    let document = scratch.json(["run", "latency", "sim:a1-card", "--json", "--tag", "mine"], 0);
    let id = document["run_id"].as_str().expect("an id");
    let shown = scratch.json(["runs", "show", "mine", "--json"], 0);
    assert_eq!((shown["run_id"].as_str(), shown["command"].as_str()), (Some(id), Some("run")));
    let text = scratch.run(["runs", "show", id]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert!(text.stdout.contains("durable-write"), "{}", text.stdout);
    let exported = scratch.run(["export", id, "--format", "fio-json"]);
    let jobs = serde_json::from_str::<Value>(&exported.stdout).expect("one document");
    assert!(jobs["jobs"].as_array().is_some_and(|j| !j.is_empty()));
}

#[test]
fn a_fio_job_file_runs_as_it_is() {
    let scratch = Scratch::new();
    let job = file(
        &scratch,
        "job.fio",
        "[global]\nbs=4k\niodepth=4\ndirect=1\nioengine=libaio\nsize=16m\nruntime=1\ntime_based\n\
         [reader]\nrw=randread\n[writer]\nrw=randwrite\nrate_iops=200\n",
    );
    let document = scratch.json(["run", &job, "sim:a1-card", "--json"], 0);
    let main = phases(&document).iter().find(|p| p["name"] != "layout").expect("a phase");
    let name = main["name"].as_str().expect("a name");
    let read = value(&document, &format!("{name}.reader.iops")).expect("measured");
    let write = value(&document, &format!("{name}.writer.iops")).expect("measured");
    assert!((write - 200.0).abs() < 10.0, "paced at 200: {write}");
    assert!(read > 200.0, "{read}");
    let fio = scratch.run(["run", &job, "sim:a1-card", "--format", "fio-json"]);
    let fio: Value = serde_json::from_str(&fio.stdout).expect("one valid document");
    assert!(fio["fio version"].is_string());
}

#[test]
fn the_plan_is_printed_and_nothing_runs() {
    let scratch = Scratch::new();
    let job = file(&scratch, "j.fio", "[j]\nrw=randread\nbs=512\nsize=64m\niodepth=32\ndirect=1\nioengine=libaio\n");
    let document = scratch.json(["run", &job, "sim:nvme", "--plan", "--json"], 0);
    assert_eq!(document["schema"], "narrows/plan/1");
    let stream = &document["plan"]["phases"][1]["streams"][0];
    assert_eq!((stream["queue_depth"].as_u64(), stream["block_size_bytes"].as_u64()), (Some(32), Some(512)));
    let text = scratch.run(["run", &job, "sim:nvme", "--plan"]);
    assert!(text.code == 0 && text.stdout.contains("random"), "{}", text.stdout);
    assert!(text.stdout.lines().all(|l| l.chars().count() <= 80), "{}", text.stdout);
    assert_eq!(scratch.json(["runs", "--json"], 0)["runs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn mistakes_name_file_line_and_option() {
    let scratch = Scratch::new();
    let job = file(&scratch, "bad.fio", "[global]\nbs=4k\n[j]\nrw=randread\nsize=1m\nreplay_no_stall=1\niodeth=4\n");
    let ended = scratch.run(["run", &job, "sim:nvme"]);
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("bad.fio:6: replay_no_stall") && ended.stderr.contains("bad.fio:7: iodeth"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("iodepth"), "the nearest: {}", ended.stderr);
    let ended = scratch.run(["run", &job, "sim:nvme", "--format", "fio-json"]);
    let fio: Value = serde_json::from_str(&ended.stdout).expect("one valid document, also with errors");
    assert_eq!((ended.code, fio["schema"].as_str()), (2, Some("narrows/error/1")));
    assert!(ended.stderr.contains("bad.fio:6: replay_no_stall"), "and a person reads why: {}", ended.stderr);
    let document = scratch.json(["run", &job, "sim:nvme", "--json", "--lenient"], 0);
    let notes = document["plan"]["notes"].to_string();
    assert!(notes.contains("replay_no_stall") && notes.contains("iodeth"), "what was ignored is listed: {notes}");
    for (args, code, said) in [
        (vec!["run", "depht", "sim:nvme"], 2, "depth"),
        (vec!["run", "/no/such.fio"], 2, "/no/such.fio"),
        (vec!["run", "depth", "sim:nvme", "--set", "time"], 2, "KEY=VALUE"),
        (vec!["run", "depth", "sim:nvme", "--set", "tiem=1s"], 2, "time"),
        (vec!["run", "depth", "sim:nvme", "--json", "--format", "fio-json"], 2, "--format"),
        (vec!["run", "depth", "/no/such/target"], 3, "/no/such/target"),
    ] {
        let ended = scratch.run(&args);
        assert_eq!(ended.code, code, "{args:?}: {}{}", ended.stdout, ended.stderr);
        assert!(format!("{}{}", ended.stdout, ended.stderr).contains(said), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn an_included_text_stands_beside_the_one_that_includes_it() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("jobs")).expect("a directory");
    file(&scratch, "jobs/common.fio", "[global]\nbs=8k\nsize=8m\n");
    let job = file(&scratch, "jobs/main.fio", "include common.fio\n[j]\nrw=read\n");
    let document = scratch.json(["run", &job, "sim:nvme", "--plan", "--json"], 0);
    let phases = document["plan"]["phases"].as_array().expect("phases");
    assert_eq!(phases.last().expect("a phase")["streams"][0]["block_size_bytes"], 8192);
    let broken = file(&scratch, "jobs/broken.fio", "include nowhere.fio\n[j]\nrw=read\n");
    let ended = scratch.run(["run", &broken, "sim:nvme"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("broken.fio:1") && ended.stderr.contains("nowhere.fio"), "{}", ended.stderr);
}

#[test]
fn what_an_included_text_includes_stands_beside_it() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("jobs/parts")).expect("a directory");
    file(&scratch, "jobs/parts/sizes.fio", "size=8m\ninclude blocks.fio\ninclude above.fio\n");
    file(&scratch, "jobs/parts/blocks.fio", "bs=8k\n");
    file(&scratch, "jobs/above.fio", "; beside the text that is read\nfsync=4\n");
    let job = file(&scratch, "jobs/main.fio", "[j]\nrw=write\ninclude parts/sizes.fio\n");
    let document = scratch.json(["run", &job, "sim:nvme", "--plan", "--json"], 0);
    let stream = &document["plan"]["phases"][0]["streams"][0];
    assert_eq!((stream["block_size_bytes"].as_u64(), stream["flush"]["fsync_every"].as_u64()), (Some(8192), Some(4)));
}

/// A file of zeros: what a job of small blocks writes between its reads must not be them, nor one block again and again.
#[test]
fn what_is_written_is_incompressible_whatever_is_read_between() {
    const PIECE: usize = 4096;
    for rw in ["write", "rw", "randrw"] {
        let scratch = Scratch::new();
        let target = file(&scratch, "target.bin", &"\0".repeat(1 << 20));
        let job = file(&scratch, "job.fio", &format!("[j]\nrw={rw}\nbs=4k\nsize=1m\n"));
        let ended = scratch.run(["run", &job, &target, "--overwrite", "--json"]);
        // Numbers of a busy machine may be refused; the data are written all the same.
        assert!(ended.code == 0 || ended.code == 4, "{} {}", ended.code, ended.stderr);
        let data = std::fs::read(&target).expect("the target");
        let written: Vec<&[u8]> = data.chunks(PIECE).filter(|piece| piece.iter().any(|b| *b != 0)).collect();
        assert!(written.len() > 32, "{rw}: {} blocks were written", written.len());
        let mut words = std::collections::HashMap::new();
        for (at, piece) in written.iter().enumerate() {
            let zeros = piece.iter().filter(|b| **b == 0).count();
            assert!(zeros < PIECE / 20, "{rw}: {zeros} zeros in a block");
            // The body of a block within what a compressor looks at, without its stamp.
            let again = piece[32..].chunks_exact(16).filter(|word| {
                words.insert(word.to_vec(), at).is_some_and(|before: usize| at - before < (64 << 10) / PIECE)
            });
            let again = again.count();
            assert!(again < 8, "{rw}: {again} of 254 words of block {at} were written shortly before");
        }
    }
}

#[test]
fn more_memory_than_there_is_is_refused_with_the_figure() {
    let scratch = Scratch::new();
    let job =
        file(&scratch, "big.fio", "[j]\nrw=randread\nbs=64m\nsize=1g\niodepth=2048\nnumjobs=64\nioengine=libaio\n");
    let ended = scratch.run(["run", &job, "sim:nvme"]);
    assert_eq!(ended.code, 3, "{}", ended.stdout);
    assert!(ended.stderr.contains("memory"), "{}", ended.stderr);
}

#[test]
fn a_directory_is_left_as_it_was() {
    let scratch = Scratch::new();
    let target = scratch.target();
    std::fs::write(target.join("data"), "mine").expect("a file of the user");
    let job = file(
        &scratch,
        "d.fio",
        "[j]\nrw=randrw\nbs=4k\nsize=8m\nfilename=data\nio_size=4m\nnumjobs=2\n[k]\nstonewall\nrw=write\nbs=64k\nsize=8m\nverify=crc32c\n",
    );
    let target = target.to_str().expect("a path");
    let ended = scratch.run(["run", &job, target, "--json"]);
    let document: Value = serde_json::from_str(&ended.stdout).expect("a document");
    // Where temporary files lie in memory, nothing can be verified on a device.
    let on_device = document["verify"]["read_from"]["state"] == "device";
    assert_eq!(ended.code, if on_device { 0 } else { 4 }, "{}", ended.stderr);
    assert_eq!(document["state"], "complete");
    assert_eq!(std::fs::read_to_string(scratch.target().join("data")).expect("still there"), "mine");
    assert_eq!(std::fs::read_dir(target).expect("a directory").count(), 1);
}

#[test]
fn what_is_read_afterwards_is_not_cut_short_by_max_write() {
    let scratch = Scratch::new();
    let target = scratch.target();
    let target = target.to_str().expect("a path");
    // It reads what it wrote: a part of it would leave holes to read.
    let ior = ["run", "ior-hard", target, "--set", "region=64MiB", "--json"];
    let refused = scratch.json([&ior[..], &["--max-write", "20MB"]].concat(), 3);
    assert!(refused["message"].as_str().is_some_and(|m| m.contains("--max-write allows 20 MB")), "{refused}");
    assert!(refused["remedy"].as_str().is_some_and(|r| r.contains("--set region=")), "{refused}");
}
