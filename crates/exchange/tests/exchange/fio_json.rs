//! fio's JSON against a document of fio 3.33.

use crate::runs::{Access, Operation, Order, phase, plain, refused, run, skipped, split_directions, stream};
use exchange::{ExchangeError, Options};
use model::Run;
use serde_json::{Value, json};

/// fio 3.33 on Linux: a random read at depth 4 with io_uring, random writes with fdatasync, and a mix with
/// unified_rw_reporting=mixed, printed with --output-format=json.
const FIO: &str = include_str!("fio-3.33.json");

fn export(run: &Run, options: &Options) -> Value {
    serde_json::from_str(&exchange::fio_json(run, options).unwrap()).unwrap()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(n) if n.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

/// Every key of fio's is in ours, with the same JSON type.
fn compare(path: &str, theirs: &Value, ours: &Value, wrong: &mut Vec<String>) {
    if kind(theirs) != kind(ours) {
        wrong.push(format!("{path}: {} is {}", kind(theirs), kind(ours)));
        return;
    }
    let Some(object) = theirs.as_object() else { return };
    for (key, value) in object {
        // What was asked differs; that all of it is text is what readers rely on.
        if key == "job options" || key == "global options" {
            for (option, value) in ours[key].as_object().unwrap() {
                assert!(value.is_string(), "{path}.{key}.{option}");
            }
            continue;
        }
        match ours.get(key) {
            Some(mine) => compare(&format!("{path}.{key}"), value, mine, wrong),
            None => wrong.push(format!("{path}.{key}: missing")),
        }
    }
}

#[test]
fn every_key_of_fio_is_there_with_its_type() {
    let theirs: Value = serde_json::from_str(FIO).unwrap();
    let mut read = phase("rand-read", Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 4)]);
    read.record.as_mut().unwrap().mean_depth = Some(3.9);
    let mut write = phase("sync-write", Access::Buffered, vec![stream(Operation::Write, Order::Random, 4096, 1)]);
    let round = model::Round { start_ns: 0, bytes: 4096, write_ns: 10_000, sync_ns: 1_000_000 };
    write.record.as_mut().unwrap().rounds = vec![round; 3];
    let both = vec![stream(Operation::Read, Order::Random, 4096, 1), stream(Operation::Write, Order::Random, 4096, 1)];
    let ours = export(&run(vec![read, write, phase("mix", Access::Buffered, both)]), &Options::default());
    let mut wrong = Vec::new();
    compare("top", &theirs, &ours, &mut wrong);
    for (i, job) in theirs["jobs"].as_array().unwrap().iter().enumerate() {
        compare(&format!("jobs[{i}]"), job, &ours["jobs"][i], &mut wrong);
    }
    compare("disk_util[0]", &theirs["disk_util"][0], &ours["disk_util"][0], &mut wrong);
    assert!(wrong.is_empty(), "{wrong:#?}");
    // And fio's own: directions are absent where they are reported together.
    assert!(ours["jobs"][2].get("read").is_none() && ours["jobs"][2]["mixed"]["total_ios"] == 1500);
}

#[test]
fn numbers_are_those_of_the_record() {
    let document = export(&plain(), &Options::default());
    let job = &document["jobs"][0];
    assert_eq!(job["jobname"], "rand-read-qd32");
    assert_eq!(job["error"], 0);
    for (option, value) in [
        ("rw", "randread"),
        ("bs", "4k"),
        ("iodepth", "32"),
        ("numjobs", "1"),
        ("direct", "1"),
        ("ioengine", "io_uring"),
        ("size", "256m"),
    ] {
        assert_eq!(job["job options"][option], value, "{option}");
    }
    let read = &job["read"];
    assert_eq!((&read["total_ios"], &read["io_bytes"]), (&json!(1500), &json!(1500 * 4096)));
    assert_eq!((&read["runtime"], &read["bw_bytes"], &read["bw"]), (&json!(1500), &json!(4_096_000), &json!(4000)));
    assert_eq!(read["iops"], 1000.0);
    assert_eq!((&read["bw_samples"], &read["bw_mean"], &read["bw_dev"]), (&json!(15), &json!(4000.0), &json!(0.0)));
    assert_eq!((&read["lat_ns"]["min"], &read["lat_ns"]["max"]), (&json!(1_000_000), &json!(50_000_000)));
    assert_eq!(read["lat_ns"]["N"], 1500);
    let p99 = read["clat_ns"]["percentile"]["99.000000"].as_u64().unwrap();
    assert!((1_000_000..1_008_000).contains(&p99), "{p99}");
    assert_eq!(job["write"]["total_ios"], 0);
    assert_eq!((&job["usr_cpu"], &job["sys_cpu"], &job["ctx"]), (&json!(1.0), &json!(5.0), &json!(2003)));
    assert_eq!(job["iodepth_level"]["32"], 100.0);
    let disk = &document["disk_util"][0];
    assert_eq!((&disk["name"], &disk["read_ios"], &disk["util"]), (&json!("sda"), &json!(2000), &json!(50.0)));
    assert_eq!(document["timestamp"], 1_795_210_209);
    assert_eq!(document["time"], "Fri Nov 20 21:30:09 2026");
}

#[test]
fn what_was_refused_leaves_as_nothing_but_its_reason() {
    let mut phases = plain().phases;
    phases[0] = refused(phases[0].clone());
    let run = run(phases);
    let job = &export(&run, &Options::default())["jobs"][0];
    assert_eq!(job["error"], 125);
    assert_eq!(job["desc"], "refused by narrows: foreign-traffic: 40 % by others");
    assert_eq!((&job["read"]["iops"], &job["read"]["total_ios"]), (&json!(0.0), &json!(0)));
    assert_eq!(job["read"]["clat_ns"]["N"], 0);
    assert_eq!(job["latency_ms"]["2"], 0.0);
    let document = export(&run, &Options::default());
    let note = &document["narrows"]["phases"][0];
    assert_eq!((&note["status"], &note["metrics"][1]["rejected_value"]), (&json!("refused"), &json!(1000.0)));

    let kept = export(&run, &Options { keep_refused: true, ..Options::default() });
    assert_eq!((&kept["jobs"][0]["error"], &kept["jobs"][0]["read"]["iops"]), (&json!(125), &json!(1000.0)));
    assert_eq!(kept["narrows"]["refused_kept"], true);
}

#[test]
fn a_phase_that_failed_carries_its_errno() {
    let mut failed = plain().phases.remove(0);
    let record = failed.record.as_mut().unwrap();
    record.stop = model::StopCause::Failed;
    record.errors.insert("ENOSPC".into(), 3);
    let job = &export(&run(vec![failed]), &Options::default())["jobs"][0];
    assert_eq!((&job["error"], &job["total_err"], &job["first_error"]), (&json!(28), &json!(3), &json!(28)));
    assert_eq!(job["desc"], "ended by an error");
}

#[test]
fn skipped_phases_are_no_jobs_but_are_told() {
    let mut phases = plain().phases;
    phases[1] = skipped(phases[1].clone());
    let document = export(&run(phases), &Options::default());
    assert_eq!(document["jobs"].as_array().unwrap().len(), 2);
    let notes = &document["narrows"]["phases"];
    assert_eq!((&notes[1]["job"], &notes[1]["status"]), (&Value::Null, &json!("skipped")));
    assert_eq!(notes[2]["job"], 1);
}

#[test]
fn alike_streams_are_numjobs() {
    let streams = vec![stream(Operation::Read, Order::Random, 4096, 8); 3];
    let job = &export(&run(vec![phase("p", Access::Direct, streams)]), &Options::default())["jobs"][0];
    assert_eq!((&job["job options"]["numjobs"], &job["job options"]["iodepth"]), (&json!("3"), &json!("8")));
}

#[test]
fn a_mix_in_one_stream_is_reported_as_one_and_trims_are_trims() {
    let mut mix = phase("mix", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8)]);
    mix.plan.streams[0].block_mut().mix = Some(model::Mix { read_percent: 70 });
    let document = export(
        &run(vec![mix, phase("t", Access::Direct, vec![stream(Operation::Trim, Order::Sequential, 4096, 1)])]),
        &Options::default(),
    );
    let (mix, trim) = (&document["jobs"][0], &document["jobs"][1]);
    assert_eq!((&mix["job options"]["rw"], &mix["job options"]["rwmixread"]), (&json!("randrw"), &json!("70")));
    assert_eq!(mix["mixed"]["iops"], 1000.0);
    assert_eq!((&trim["job options"]["rw"], &trim["trim"]["total_ios"]), (&json!("trim"), &json!(1500)));
    assert_eq!(trim["read"]["total_ios"], 0);
}

/// A job `log` of writes and two clones of a job `db` that reads and writes, in one phase.
fn two_jobs() -> model::PhaseRun {
    use model::Direction::{Read, Write};
    let mut p = phase("p", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8); 3]);
    for (i, s) in p.plan.streams.iter_mut().enumerate() {
        (s.name, s.group) = if i == 0 { ("log".into(), 7) } else { ("db".into(), 8) };
        s.block_mut().mix = (i > 0).then_some(model::Mix { read_percent: 50 });
    }
    split_directions(&mut p, &[(Read, 0.5), (Write, 0.5)]);
    // The first one only writes.
    p.record.as_mut().unwrap().streams[0].directions.remove(0);
    p
}

#[test]
fn each_job_is_a_job_with_its_own_reads_and_writes() {
    let document = export(&run(vec![two_jobs()]), &Options::default());
    let jobs = document["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    let (log, db) = (&jobs[0], &jobs[1]);
    assert_eq!((&log["jobname"], &db["jobname"]), (&json!("log"), &json!("db")));
    assert_eq!((&log["groupid"], &db["groupid"]), (&json!(0), &json!(0)));
    assert_eq!((&log["job options"]["numjobs"], &db["job options"]["numjobs"]), (&json!("1"), &json!("2")));
    assert_eq!((&log["job options"]["rw"], &db["job options"]["rw"]), (&json!("randwrite"), &json!("randrw")));
    // 1,500 counted operations: a third each stream, half of that each way.
    assert_eq!((&log["write"]["total_ios"], &log["read"]["total_ios"]), (&json!(250), &json!(0)));
    assert_eq!((&db["write"]["total_ios"], &db["read"]["total_ios"]), (&json!(500), &json!(500)));
    assert_eq!(db["read"]["io_bytes"], 500 * 4096);
    assert_eq!((&db["read"]["clat_ns"]["max"], &db["write"]["clat_ns"]["max"]), (&json!(500_000), &json!(2_000_000)));
    let iops = |v: &Value| v["iops"].as_f64().unwrap();
    // 500 in 1.5 s.
    assert!((iops(&db["read"]) - 333.333).abs() < 0.01 && (iops(&log["write"]) - 166.667).abs() < 0.01);
    assert_eq!((&db["read"]["iops_samples"], &db["read"]["iops_mean"]), (&json!(0), &db["read"]["iops"]));
    assert!(db.get("mixed").is_none() && db["job options"].get("unified_rw_reporting").is_none());
    assert_eq!(document["narrows"]["phases"][0]["jobs"], json!([0, 1]));
}

#[test]
fn the_rates_of_jobs_are_those_that_the_run_states() {
    let mut p = two_jobs();
    let metric = |id: &str, value: f64| {
        model::Metric::measured(id, model::Unit::OpsPerS, Some(model::Better::Higher), value, 500)
    };
    p.metrics.push(metric("p.db.iops", 600.0));
    let db = &export(&run(vec![p]), &Options::default())["jobs"][1];
    assert_eq!((&db["read"]["iops"], &db["write"]["iops"]), (&json!(300.0), &json!(300.0)));
}

#[test]
fn errors_belong_to_the_job_that_met_them() {
    let mut p = refused(two_jobs());
    let record = p.record.as_mut().unwrap();
    record.stop = model::StopCause::Failed;
    record.errors.insert("EIO".into(), 2);
    record.streams.iter_mut().for_each(|s| s.stop = model::StopCause::Failed);
    record.streams[2].errors.insert("EIO".into(), 2);
    let document = export(&run(vec![p]), &Options::default());
    let (log, db) = (&document["jobs"][0], &document["jobs"][1]);
    assert_eq!((&db["error"], &db["total_err"], &db["first_error"]), (&json!(5), &json!(2), &json!(5)));
    assert_eq!((&log["error"], log.get("total_err")), (&json!(125), None));
    assert_eq!((&log["write"]["total_ios"], &db["write"]["iops"]), (&json!(0), &json!(0.0)));
    // Errors that the job was to survive.
    let mut p = two_jobs();
    p.plan.streams[2].on_error = model::ErrorPolicy::Continue;
    let record = p.record.as_mut().unwrap();
    record.errors.insert("EIO".into(), 2);
    record.streams[2].errors.insert("EIO".into(), 2);
    let db = &export(&run(vec![p]), &Options::default())["jobs"][1];
    assert_eq!((&db["error"], &db["total_err"], &db["read"]["total_ios"]), (&json!(0), &json!(2), &json!(500)));
}

#[test]
fn one_stream_that_mixes_is_told_apart_and_syncs_are_syncs() {
    use model::Direction::{Read, Sync, Trim, Write};
    let mut mix = phase("mix", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 8)]);
    mix.plan.streams[0].block_mut().mix = Some(model::Mix { read_percent: 70 });
    mix.plan.streams[0].durability.flush.fsync_every = 8;
    split_directions(&mut mix, &[(Read, 0.7), (Write, 0.3), (Sync, 0.04)]);
    let mut trims = phase("trims", Access::Direct, vec![stream(Operation::Write, Order::Random, 4096, 1)]);
    trims.plan.streams[0].block_mut().trim_before_write = true;
    split_directions(&mut trims, &[(Write, 0.5), (Trim, 0.5)]);
    let document = export(&run(vec![mix, trims]), &Options::default());
    let mix = &document["jobs"][0];
    assert_eq!((&mix["jobname"], &mix["job options"]["fsync"]), (&json!("mix"), &json!("8")));
    assert_eq!((&mix["read"]["iops"], &mix["write"]["iops"]), (&json!(700.0), &json!(300.0)));
    assert_eq!((&mix["sync"]["total_ios"], &mix["sync"]["lat_ns"]["max"]), (&json!(60), &json!(9_000_000)));
    let trims = &document["jobs"][1];
    assert_eq!((&trims["trim"]["iops"], &trims["write"]["iops"]), (&json!(500.0), &json!(500.0)));
    assert_eq!(trims["read"]["total_ios"], 0);
}

#[test]
fn bins_only_where_asked_for() {
    let with = export(&plain(), &Options { bins: true, ..Options::default() });
    assert_eq!(with["jobs"][0]["read"]["clat_ns"]["bins"].as_object().unwrap().len(), 2);
    let without = export(&plain(), &Options::default());
    assert!(without["jobs"][0]["read"]["clat_ns"].get("bins").is_none());
}

#[test]
fn each_measured_phase_as_its_own_document() {
    let mut layout = phase("layout", Access::Direct, vec![stream(Operation::Write, Order::Sequential, 1 << 20, 8)]);
    layout.plan.kind = model::PhaseKind::Layout;
    let mut run = plain();
    run.phases.insert(0, layout);
    let files = exchange::fio_json_files(&run, &Options::default()).unwrap();
    let paths: Vec<String> = files.iter().map(|f| f.path.display().to_string()).collect();
    assert_eq!(
        paths,
        [
            "direct-4k/randread-iodepth-32-numjobs-1.json",
            "direct-4k/randwrite-iodepth-1-numjobs-1.json",
            "buffered-4k/randwrite-iodepth-1-numjobs-1.json"
        ]
    );
    let document: Value = serde_json::from_str(&files[1].text).unwrap();
    assert_eq!(document["jobs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_layout_is_no_job_unless_it_failed_or_is_asked_for() {
    let mut layout = phase("layout", Access::Direct, vec![stream(Operation::Write, Order::Sequential, 1 << 20, 8)]);
    layout.plan.kind = model::PhaseKind::Layout;
    let names = |run: &Run, options: &Options| -> Vec<String> {
        let document = export(run, options);
        let jobs = document["jobs"].as_array().unwrap();
        jobs.iter().map(|j| j["jobname"].as_str().unwrap().to_owned()).collect()
    };
    let mut with = plain();
    with.phases.insert(0, layout.clone());
    assert_eq!(names(&with, &Options::default())[0], "rand-read-qd32", "the first job is what was measured");
    let document = export(&with, &Options::default());
    assert_eq!(document["narrows"]["phases"][0]["name"], "layout");
    assert_eq!(document["narrows"]["phases"][0]["job"], Value::Null);
    let asked = Options { phases: vec!["layout".into()], ..Options::default() };
    assert_eq!(names(&with, &asked), ["layout"]);
    assert_eq!(names(&run(vec![layout.clone()]), &Options::default()), ["layout"], "there is nothing else");
    layout.record.as_mut().unwrap().stop = model::StopCause::Failed;
    with.phases[0] = layout;
    assert_eq!(names(&with, &Options::default())[0], "layout");
}

#[test]
fn a_job_keeps_its_name_as_it_was_written() {
    let named = |phase_name: &str, job: &str| {
        let mut one = phase(phase_name, Access::Direct, vec![stream(Operation::Read, Order::Random, 4096, 8)]);
        one.plan.streams[0].name = job.into();
        export(&run(vec![one]), &Options::default())["jobs"][0]["jobname"].clone()
    };
    assert_eq!(named("rand-read-4k", "rand read/4k"), "rand read/4k");
    assert_eq!(named("point-1", "reader"), "point-1", "the phase has a name of its own");
    assert_eq!(named("solo", ""), "solo");
}

#[test]
fn nothing_to_export_is_an_error() {
    let nothing = run(plain().phases.into_iter().map(skipped).collect());
    assert!(matches!(exchange::fio_json(&nothing, &Options::default()), Err(ExchangeError::NothingRecorded { .. })));
    let options = Options { phases: vec!["no-such".into()], ..Options::default() };
    let error = exchange::fio_json(&plain(), &options).unwrap_err();
    assert!(error.to_string().contains("it has: rand-read-qd32, rand-write-qd1, sync-write"), "{error}");
}
